// Definitions of train/run_directory.hpp.
#pragma once
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "tandem/io/file.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/train/run_directory.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/host_name.hpp"

namespace TANDEM_NS::train {

namespace impl {

[[noreturn]] TANDEM_INLINE void raise_unusable(const std::string& what) {
  errors::raise<errors::UnavailableError>("RunDirectory", what);
}

// Locks a file of the folder, in which it names this process. The file stays: a process that removed it could remove
// the one that another has just locked.
TANDEM_INLINE io::detail::Descriptor lock_run(const std::string& folder) {
  using io::detail::uninterrupted;
  const std::string path = folder + "/run.lock";
  io::detail::Descriptor file(
      uninterrupted([&] { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666); }));
  if (file.get() < 0) raise_unusable("cannot write in " + folder + ": " + std::strerror(errno));
  if (uninterrupted([&] { return ::flock(file.get(), LOCK_EX | LOCK_NB); }) != 0) {
    if (errno != EWOULDBLOCK)
      raise_unusable("cannot lock " + path + ": " + std::strerror(errno) +
                     " (with .lock = false other processes are not kept away)");
    char text[512];
    const ssize_t n = ::pread(file.get(), text, sizeof text, 0);
    const std::string user = n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "another process\n";
    raise_unusable(folder + " is in use by " + user.substr(0, user.find('\n')) +
                   "; wait until it has ended, or name another folder");
  }
  const std::string user = "process " + std::to_string(::getpid()) + " on " + tandem::detail::host_name() + "\n";
  const auto size = static_cast<ssize_t>(user.size());
  if (::ftruncate(file.get(), 0) != 0 || ::pwrite(file.get(), user.data(), user.size(), 0) != size)
    raise_unusable("cannot write " + path + ": " + std::strerror(errno));
  return file;
}

struct RunFile {
  Metadata configuration, notes;

  static RunFile read(const std::string& path) try {
    const nlohmann::json all = nlohmann::json::parse(io::detail::read_regular_file("RunDirectory", path));
    return {all.at("configuration").get<Metadata>(), all.at("notes").get<Metadata>()};
  } catch (const nlohmann::json::exception&) {
    errors::raise<errors::DataLossError>(
        "RunDirectory", path + " is damaged (remove it to go on with the checkpoints beside it all the same)");
  }
  void write(const std::string& path) const {
    check_text(configuration), check_text(notes);
    const nlohmann::json all{{"configuration", configuration}, {"notes", notes}};
    io::write_file(path, all.dump(2) + "\n");
  }

 private:
  static void check_text(const Metadata& texts) {
    for (const auto& [key, value] : texts)
      if (!tandem::detail::is_utf8(key) || !tandem::detail::is_utf8(value))
        errors::raise<errors::InvalidArgumentError>("RunDirectory", tandem::detail::escaped_text(key) + ": " +
                                                                        tandem::detail::escaped_text(value) +
                                                                        " is not UTF-8, which JSON requires");
  }
};

// A line for each key that differs.
TANDEM_INLINE std::string differences(const Metadata& was, const Metadata& is) {
  std::string r;
  const auto quoted = [](const std::string& text) { return tandem::detail::escaped_text(text); };
  for (const auto& [key, value] : was) {
    const auto at = is.find(key);
    if (at == is.end()) r += "\n  " + key + " was " + quoted(value) + ", is not given";
    else if (at->second != value) r += "\n  " + key + " was " + quoted(value) + ", is " + quoted(at->second);
  }
  for (const auto& [key, value] : is)
    if (!was.contains(key)) r += "\n  " + key + " was not given, is " + quoted(value);
  return r;
}

}  // namespace impl

struct RunDirectory::State {
  std::string path;
  io::detail::Descriptor lock;
  impl::RunFile run;
  bool is_new = false;
};

TANDEM_INLINE RunDirectory::RunDirectory(std::string path, const Metadata& configuration,
                                         const RunDirectoryOptions& options)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.path = std::move(path);
  io::ensure_directory(s.path);
  if (options.lock) s.lock = impl::lock_run(s.path);
  const std::string run = file("run.json");
  struct stat there {};
  s.is_new = ::stat(run.c_str(), &there) != 0;
  if (s.is_new) {
    s.run = {configuration, options.notes};
    s.run.write(run);
    return;
  }
  s.run = impl::RunFile::read(run);
  if (const std::string wrong = impl::differences(s.run.configuration, configuration); !wrong.empty())
    errors::raise<errors::FailedPreconditionError>(
        "RunDirectory",
        s.path + " has a run of another configuration; name another folder, or go on as it began:" + wrong);
}
TANDEM_INLINE RunDirectory::RunDirectory(RunDirectory&&) noexcept = default;
TANDEM_INLINE RunDirectory& RunDirectory::operator=(RunDirectory&&) noexcept = default;
TANDEM_INLINE RunDirectory::~RunDirectory() = default;
TANDEM_INLINE bool RunDirectory::is_new() const { return state_->is_new; }
TANDEM_INLINE const std::string& RunDirectory::path() const { return state_->path; }
TANDEM_INLINE const Metadata& RunDirectory::configuration() const { return state_->run.configuration; }
TANDEM_INLINE const Metadata& RunDirectory::notes() const { return state_->run.notes; }

}  // namespace TANDEM_NS::train
