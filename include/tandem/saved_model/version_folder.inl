// Definitions of saved_model/version_folder.hpp.
//
// A folder is locked while it is being made. One whose name has the pattern, and which nobody has locked, was left
// behind by a killed process. Where folders cannot be locked, none is removed.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>

#include "tandem/core/allocator.hpp"
#include "tandem/io/crc32c.hpp"
#include "tandem/io/file.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/saved_model/version_folder.hpp"

namespace TANDEM_NS::saved_model::impl {

using io::detail::Descriptor;
using io::detail::uninterrupted;

TANDEM_INLINE i64 version_of(std::string_view name) {
  i64 version = 0;
  const auto [at, error] = std::from_chars(name.data(), name.data() + name.size(), version);
  const bool is_plain = !name.empty() && name[0] >= '1' && name[0] <= '9';
  return is_plain && error == std::errc() && at == name.data() + name.size() ? version : 0;
}

inline constexpr const char* save_op = "saved_model::save";

[[noreturn]] TANDEM_INLINE void raise_folder(const char* what, const std::string& path, int error) {
  const std::string text = std::string(what) + " " + path + ": " + std::strerror(error);
  if (io::detail::is_full(error)) errors::raise<errors::ResourceExhaustedError>(save_op, text);
  errors::raise<errors::UnavailableError>(save_op, text);
}
[[noreturn]] TANDEM_INLINE void raise_exists(const std::string& directory) {
  errors::raise<errors::AlreadyExistsError>(
      save_op, directory + " exists: save another version, or replace it with .overwrite = true");
}
inline Descriptor open_folder(const std::string& path) {
  return Descriptor(
      uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }));
}
// Makes a file, or the names in a folder, durable.
inline void sync_path(const std::string& path) {
  const Descriptor f(uninterrupted([&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC); }));
  if (f.get() < 0 || uninterrupted([&] { return ::fsync(f.get()); }) != 0) raise_folder("cannot write", path, errno);
}
// Whether a path, or what it links to, is the file that is open.
inline bool is_same_file(const Descriptor& open, const std::string& path, int flags = AT_SYMLINK_NOFOLLOW) {
  struct stat here {
  }, there{};
  return ::fstat(open.get(), &here) == 0 && ::fstatat(AT_FDCWD, path.c_str(), &there, flags) == 0 &&
         here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}
// Whether a name is that of a folder in which a version is made.
inline bool is_unfinished(std::string_view name) {
  constexpr std::string_view start = ".tmp-";
  if (!name.starts_with(start)) return false;
  name.remove_prefix(start.size());
  const std::size_t dash = name.find('-');
  return dash != name.npos && version_of(name.substr(0, dash)) && version_of(name.substr(dash + 1));
}
// Removes the folder of a save that no longer runs; returns whether it is gone.
inline bool remove_unfinished_folder(const std::string& path) {
  const Descriptor f = open_folder(path);
  struct stat s {};
  if (f.get() < 0 || ::fstat(f.get(), &s) != 0 || s.st_uid != ::geteuid()) return false;
  if (::flock(f.get(), LOCK_EX | LOCK_NB) != 0 || !is_same_file(f, path)) return false;
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
  return !std::filesystem::exists(std::filesystem::symlink_status(path, ignored));
}

struct NewVersion::State {
  std::string directory, base, folder;  // the version, what it lies in, and the temporary folder
  bool overwrite;
  Descriptor lock;
  std::map<std::string, FileEntry> files;

  State(const std::string& given, bool replace) : directory(given), overwrite(replace) {
    while (directory.size() > 1 && directory.back() == '/') directory.pop_back();
    const std::size_t slash = directory.rfind('/') + 1;  // 0 if there is none
    const std::string name = directory.substr(slash);
    base = slash ? directory.substr(0, slash) : "./";
    if (!version_of(name))
      errors::raise<errors::InvalidArgumentError>(
          save_op,
          "the folder of a model is named by its version, a number from 1 on, as base/name/1: '" + given + "'");
    if (exists() && !overwrite) raise_exists(directory);
    io::ensure_directory(base);
    folder = base + ".tmp-" + name + "-" + std::to_string(::getpid());
    remove_left();
    make_folder();
  }
  ~State() {
    std::error_code ignored;
    if (!folder.empty()) std::filesystem::remove_all(folder, ignored);
  }
  bool exists() const {
    struct stat s {};
    return uninterrupted([&] { return ::lstat(directory.c_str(), &s); }) == 0;
  }
  void remove_left() const {
    std::error_code ignored;  // a failure ends the iteration
    for (std::filesystem::directory_iterator at(base, ignored), end; at != end; at.increment(ignored))
      if (const std::string name = at->path().filename().string(); is_unfinished(name))
        remove_unfinished_folder(base + name);
  }
  // Whoever removes what is left may come between the two calls: then again.
  void make_folder() {
    for (int attempts = 0; attempts < 1000; ++attempts) {
      if (::mkdir(folder.c_str(), 0777) != 0) {
        const int error = errno;
        if (error == EEXIST)
          errors::raise<errors::AlreadyExistsError>(save_op, "another thread saves " + directory + " now");
        raise_folder("cannot make the folder", std::exchange(folder, ""), error);
      }
      lock = open_folder(folder);
      if (lock.get() < 0 && errno != ENOENT) {
        const int error = errno;
        ::rmdir(folder.c_str());
        raise_folder("cannot open the folder", std::exchange(folder, ""), error);
      }
      if (lock.get() < 0) continue;
      (void)uninterrupted([&] { return ::flock(lock.get(), LOCK_EX); });
      if (is_same_file(lock, folder)) return;
    }
    raise_folder("cannot make the folder", std::exchange(folder, ""), EEXIST);
  }
  void sync() const try {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) sync_path(entry.path().string());
    sync_path(folder);
  } catch (const std::filesystem::filesystem_error& e) {
    raise_folder("cannot read", folder, e.code().value());
  }
  // The system's rename that replaces nothing, or exchanges two folders; the plain one where there is neither.
  void rename() {
    const bool replaces = overwrite && exists();
    const unsigned flags = replaces ? RENAME_EXCHANGE : RENAME_NOREPLACE;
    if (::renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, directory.c_str(), flags) == 0) {
      if (!replaces) folder.clear();  // else it has the old version, which is removed
      return;
    }
    if (errno == EINVAL || errno == ENOSYS) {
      if (replaces)
        errors::raise<errors::UnimplementedError>(
            save_op, "this file system cannot replace " + directory + " at once: save another version");
      if (::rename(folder.c_str(), directory.c_str()) == 0) return folder.clear();  // fails for a folder with files
    }
    if (errno == EEXIST || errno == ENOTEMPTY) raise_exists(directory);
    raise_folder("cannot make the folder", directory, errno);
  }
};

TANDEM_INLINE NewVersion::NewVersion(const std::string& directory, bool overwrite)
    : state_(std::make_unique<State>(directory, overwrite)) {}
TANDEM_INLINE NewVersion::~NewVersion() = default;
TANDEM_INLINE std::string NewVersion::path(const std::string& file) const {
  const std::string path = state_->folder + "/" + file;
  io::ensure_directory(path.substr(0, path.rfind('/')));
  return path;
}
TANDEM_INLINE void NewVersion::write(const std::string& file, std::string_view bytes) {
  io::write_file(path(file), bytes);
  if (file != manifest_file) state_->files[file] = {static_cast<i64>(bytes.size()), io::crc32c(bytes)};
}
TANDEM_INLINE void NewVersion::add(const std::string& file) { state_->files[file] = entry_of_file(path(file)); }
TANDEM_INLINE const std::map<std::string, FileEntry>& NewVersion::files() const { return state_->files; }
TANDEM_INLINE void NewVersion::publish() {
  state_->sync();
  state_->rename();
  sync_path(state_->base);
}

TANDEM_INLINE ReadVersion::ReadVersion(const std::string& directory)
    : directory_(directory),
      folder_(uninterrupted([&] { return ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); })) {
  if (folder_.get() >= 0) return;
  const int error = errno;
  if (error == ENOENT || error == ENOTDIR)
    errors::raise<errors::NotFoundError>("saved_model::load", "there is no directory " + directory);
  errors::raise<errors::UnavailableError>("saved_model::load",
                                          "cannot read " + directory + ": " + std::strerror(error));
}
TANDEM_INLINE bool ReadVersion::is_current() const { return is_same_file(folder_, directory_, 0); }

TANDEM_INLINE FileEntry entry_of_file(const std::string& path) {
  io::detail::RegularFile file("saved_model", path);
  const memory::Scratch buffer(std::size_t{1} << 20);
  FileEntry e{static_cast<i64>(file.size()), 0};
  for (std::size_t at = 0; at < file.size();) {
    const std::size_t n = std::min(file.size() - at, std::size_t{1} << 20);
    file.read(buffer.data(), n);
    e.crc32c = io::crc32c({static_cast<const char*>(buffer.data()), n}, e.crc32c);
    at += n;
  }
  return e;
}
TANDEM_INLINE void check_files(const std::string& directory, const Manifest& manifest) try {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    const std::filesystem::file_status status = entry.symlink_status();
    if (std::filesystem::is_directory(status)) continue;
    const std::string path = entry.path().string(), file = path.substr(directory.size() + 1);
    if (std::filesystem::is_symlink(status)) raise_damaged_model(path, "it is a link");
    if (!std::filesystem::is_regular_file(status)) raise_damaged_model(path, "it is not a regular file");
    if (file == manifest_file) continue;
    const auto listed = manifest.files.find(file);
    if (listed == manifest.files.end() && file == batching_file) continue;
    if (listed == manifest.files.end()) raise_damaged_model(path, "the manifest does not list it");
    if (const auto bytes = static_cast<i64>(entry.file_size()); bytes != listed->second.bytes)
      raise_damaged_model(
          path, "it has " + std::to_string(bytes) + " bytes, in the manifest " + std::to_string(listed->second.bytes));
    found.insert(file);
  }
  for (const auto& [file, listed] : manifest.files) {
    const std::string path = directory + "/" + file;
    if (!found.contains(file)) raise_damaged_model(path, "it is missing");
    const FileEntry is = entry_of_file(path);
    if (is.bytes != listed.bytes || is.crc32c != listed.crc32c)
      raise_damaged_model(path, "its checksum does not match the manifest's");
  }
} catch (const std::filesystem::filesystem_error& e) {
  errors::raise<errors::UnavailableError>("saved_model",
                                          std::string("cannot read ") + directory + ": " + e.code().message());
}

}  // namespace TANDEM_NS::saved_model::impl
