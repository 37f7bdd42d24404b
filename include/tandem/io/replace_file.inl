// Definitions of io/replace_file.hpp.
//
// The bytes are written to a temporary file next to the target, which is then flushed and renamed. Its name is
// unique to each call, so threads and processes may save to the same path: the last one wins. The file is locked
// while it is being written. A file whose name has this pattern and the boot id of this machine, and which nobody
// has locked, was therefore left behind by a killed process.
#pragma once
#include <dirent.h>
#include <sys/file.h>

#include <atomic>
#include <cstdio>
#include <memory>
#include <utility>

#include "tandem/io/regular_file.hpp"
#include "tandem/io/replace_file.hpp"

namespace TANDEM_NS::io {

namespace detail {

[[noreturn]] TANDEM_INLINE void raise_system(const char* what, const std::string& path, int error) {
  const std::string text = std::string(what) + " " + path + ": " + std::strerror(error);
  if (is_full(error)) errors::raise<errors::ResourceExhaustedError>("save", text + " (the previous file is untouched)");
  errors::raise<errors::UnavailableError>("save", text);
}

// The path that is written. Symbolic links are followed as open() would, including one to a file that does not exist
// yet.
struct Target {
  const std::string& given;  // by the caller; named in errors
  std::string folder, name;  // "" or ending in '/'
  mode_t mode = 0;           // of the replaced file; 0 if there is none

  explicit Target(const std::string& path) : given(path) {
    if (path.empty()) errors::raise<errors::FailedPreconditionError>("save", "cannot save to '': the path is empty");
    std::string at = path;
    for (int links = 0;; ++links) {
      const std::size_t slash = at.rfind('/') + 1;  // 0 if there is none
      folder = at.substr(0, slash), name = at.substr(slash);
      struct stat s {};
      if (name.empty() || name == "." || name == "..") refuse(path, "a directory");
      if (uninterrupted([&] { return ::lstat(at.c_str(), &s); }) != 0) {
        if (errno != ENOENT) raise_system("cannot write", path, errno);
        return;
      }
      mode = s.st_mode;
      if (S_ISREG(mode)) return;
      if (!S_ISLNK(mode)) refuse(path, kind_of_file(mode));
      if (links == 40) raise_system("cannot write", path, ELOOP);
      const std::string to = link_at(at, path);
      at = to.starts_with('/') ? to : folder + to;
      mode = 0;
    }
  }
  std::string path() const { return folder + name; }

 private:
  [[noreturn]] static void refuse(const std::string& path, const std::string& what) {
    errors::raise<errors::FailedPreconditionError>(
        "save", "cannot save to '" + path + "': it is " + what + ", not a regular file");
  }
  static std::string link_at(const std::string& link, const std::string& path) {
    std::string to(4096, '\0');
    const ssize_t n = uninterrupted([&] { return ::readlink(link.c_str(), to.data(), to.size()); });
    if (n <= 0) raise_system("cannot write", path, n < 0 ? errno : ENOENT);
    to.resize(static_cast<std::size_t>(n));
    return to;
  }
};

// Identifies one boot of one machine: locks and process ids are meaningful only within it. Empty if unknown.
TANDEM_INLINE std::string boot_id() {
  const Descriptor f(::open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC));
  char text[36];
  std::string hex;
  if (f.get() >= 0 && ::read(f.get(), text, sizeof text) == static_cast<ssize_t>(sizeof text))
    for (char c : text)
      if (c != '-') hex += c;
  return hex.size() == 32 ? hex : std::string();
}

// The names of the temporary files of a target: NAME.partial.BOOT.NUMBER.
class TemporaryName {
 public:
  explicit TemporaryName(const std::string& target) : TemporaryName(target, boot_id()) {}
  /// Returns a new name at each call.
  std::string next() const {
    static std::atomic<std::uint32_t> count{0};
    char number[17];
    std::snprintf(number, sizeof number, "%08x%08x", static_cast<unsigned>(::getpid()), count.fetch_add(1));
    return start_ + number;
  }
  /// Whether next() created this name on this machine since it was booted.
  bool has_made(std::string_view name) const {
    return boot_known_ && name.size() == start_.size() + 16 && name.starts_with(start_) &&
           name.find_first_not_of("0123456789abcdef", start_.size()) == name.npos;
  }

 private:
  static constexpr std::size_t most = 9 + 32 + 1 + 16;  // bytes appended to the target's name
  TemporaryName(const std::string& target, const std::string& boot)
      : boot_known_(!boot.empty()),
        start_(target.substr(0, 255 - most) + ".partial." + (boot_known_ ? boot : std::string(32, '0')) + ".") {}
  bool boot_known_;
  std::string start_;
};

// The temporary file; removed on destruction unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const Target& target) : target_(target), names_(target.name) {
    for (int attempts = 0; !open(); ++attempts)
      if (attempts == 1000) fail("cannot create a file beside", EEXIST);
    // The permissions of the old file. Where they cannot be set, the umask narrows those that open() gave.
    if (target.mode) (void)uninterrupted([&] { return ::fchmod(fd_.get(), target.mode & 07777); });
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (!path_.empty()) ::unlink(path_.c_str());
  }
  void write(const void* data, std::size_t size) {
    const char* p = static_cast<const char*>(data);
    while (size) {
      const ssize_t n = uninterrupted([&] { return ::write(fd_.get(), p, std::min(size, std::size_t{1} << 30)); });
      if (n < 0) fail("cannot write", errno);
      p += n;
      size -= static_cast<std::size_t>(n);
    }
  }
  const std::string& path() const { return path_; }
  void replace() {
    if (sync(fd_) != 0) fail("cannot write", errno);
    const std::string path = target_.path(), folder = target_.folder.empty() ? "." : target_.folder;
    if (::rename(path_.c_str(), path.c_str()) != 0) fail("cannot replace", errno);
    path_.clear();
    if (const Descriptor f(uninterrupted([&] { return ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); }));
        f.get() >= 0)
      sync(f);  // makes the rename durable
  }

 private:
  // Returns false if the name already existed or the file was removed before it was locked.
  bool open() {
    std::string path = target_.folder + names_.next();
    const mode_t mode = target_.mode ? target_.mode & 0777 : 0666;  // at no time more than the old file's
    fd_ =
        Descriptor(uninterrupted([&] { return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode); }));
    if (fd_.get() < 0) {
      if (errno == EEXIST) return false;
      fail("cannot create a file beside", errno);
    }
    path_ = std::move(path);
    // On a system without locks no file is removed either.
    (void)uninterrupted([&] { return ::flock(fd_.get(), LOCK_EX); });
    struct stat s {};
    return uninterrupted([&] { return ::lstat(path_.c_str(), &s); }) == 0;
  }
  static int sync(const Descriptor& f) {
    return uninterrupted([&] { return ::fsync(f.get()); });
  }
  [[noreturn]] void fail(const char* what, int error) const { raise_system(what, target_.given, error); }

  const Target& target_;
  const TemporaryName names_;
  std::string path_;
  Descriptor fd_;
};

// Removes a temporary file whose writer no longer exists. Only the holder of its lock removes a file, and only if
// the name still refers to it; so a file that is being written is never removed.
TANDEM_INLINE void remove_abandoned(const std::string& path) {
  const Descriptor f(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC); }));
  struct stat here {
  }, there{};
  if (f.get() < 0 || ::fstat(f.get(), &here) != 0 || !S_ISREG(here.st_mode) || here.st_uid != ::geteuid()) return;
  if (::flock(f.get(), LOCK_EX | LOCK_NB) != 0) return;
  if (::lstat(path.c_str(), &there) == 0 && there.st_dev == here.st_dev && there.st_ino == here.st_ino)
    ::unlink(path.c_str());
}
// Calls f with the name of each entry of a folder.
template <class F>
void for_each_entry(const std::string& folder, const F& f) {
  struct Close {
    void operator()(DIR* d) const { ::closedir(d); }
  };
  const std::unique_ptr<DIR, Close> entries(::opendir(folder.empty() ? "." : folder.c_str()));
  if (!entries) return;
  while (const dirent* const entry = ::readdir(entries.get())) f(entry->d_name);
}
TANDEM_INLINE void remove_abandoned(const Target& target) {
  const TemporaryName names(target.name);
  for_each_entry(target.folder, [&](const char* name) {
    if (names.has_made(name)) remove_abandoned(target.folder + name);
  });
}
TANDEM_INLINE void remove_abandoned(const std::string& folder, const std::string& start) {
  for_each_entry(folder, [&](const std::string& name) {
    const std::size_t end = name.rfind(".partial.");
    if (!name.starts_with(start) || end == name.npos) return;
    if (TemporaryName(name.substr(0, end)).has_made(name)) remove_abandoned(folder + "/" + name);
  });
}

struct Replacement::State {
  explicit State(const std::string& path) : given(path), target(given), file(target) {}
  const std::string given;
  const Target target;
  TemporaryFile file;
};
TANDEM_INLINE Replacement::Replacement(const std::string& path) : state_(std::make_unique<State>(path)) {}
TANDEM_INLINE Replacement::~Replacement() = default;
TANDEM_INLINE const std::string& Replacement::path() const { return state_->file.path(); }
TANDEM_INLINE void Replacement::commit() {
  state_->file.replace();
  remove_abandoned(state_->target);
}

}  // namespace detail

TANDEM_INLINE void replace_file(const std::string& path,
                                const std::vector<std::pair<const void*, std::size_t>>& parts) {
  const detail::Target target(path);
  detail::TemporaryFile file(target);
  for (const auto& [data, size] : parts) file.write(data, size);
  file.replace();
  detail::remove_abandoned(target);
}

}  // namespace TANDEM_NS::io
