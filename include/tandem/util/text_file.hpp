// Writes small text files, so that an error does not cost the old content. For definitions. Not here: files that
// several processes write, data that must be on the disk (io/replace_file.hpp); reading (io/regular_file.hpp).
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "tandem/base/error.hpp"

namespace TANDEM_NS::detail {

/// Writes all bytes and closes the file. Returns an error number, or 0.
inline int write_and_close(int fd, const std::string& text) {
  int error = 0;
  for (std::size_t at = 0; !error && at < text.size();) {
    const ssize_t n = ::write(fd, text.data() + at, text.size() - at);
    if (n >= 0) at += static_cast<std::size_t>(n);
    else if (errno != EINTR) error = errno;
  }
  return ::close(fd) != 0 && !error ? errno : error;
}
/// Opens a file for writing. Returns -1 and sets errno if that fails.
inline int open_to_write(const std::string& path, int flags, mode_t mode) {
  for (;;)
    if (const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode); fd >= 0 || errno != EINTR)
      return fd;
}
/// Makes this text the content of a file, in place. Returns an error number, or 0.
inline int overwrite_text_file(const std::string& path, const std::string& text) {
  const int fd = open_to_write(path, O_TRUNC, 0666);
  return fd < 0 ? errno : write_and_close(fd, text);
}
/// Whether an error of open() or rename() means that the folder's files cannot be replaced; they may be writable.
inline bool cannot_replace(int error) {
  return error == EACCES || error == EPERM || error == EROFS || error == EBUSY;  // EBUSY: a mount point
}
/// Replaces the regular file at `path`, whose permissions are `mode`, by one with this text; writes in place if the
/// folder does not allow that. Returns an error number, or 0; the old file is unchanged after an error of a
/// replacement.
inline int replace_text_file(const std::string& path, mode_t mode, const std::string& text) {
  static std::atomic<unsigned> count{0};
  const std::unique_ptr<char, void (*)(void*)> target(::realpath(path.c_str(), nullptr), &std::free);  // follows links
  if (!target) return errno;
  const std::string beside =
      target.get() + (".partial." + std::to_string(::getpid()) + "." + std::to_string(count.fetch_add(1)));
  const int fd = open_to_write(beside, O_EXCL, mode & 0777);
  if (fd < 0) return cannot_replace(errno) ? overwrite_text_file(path, text) : errno;
  (void)::fchmod(fd, mode & 07777);  // where it fails, the umask has narrowed the permissions
  int error = write_and_close(fd, text);
  const bool renames = !error;
  if (renames && ::rename(beside.c_str(), target.get()) != 0) error = errno;
  if (error) ::unlink(beside.c_str());
  return renames && cannot_replace(error) ? overwrite_text_file(path, text) : error;
}
/// Makes this text the content of a file. The content of a regular file is replaced once the new one is complete, so an
/// error leaves it unchanged. A device or a pipe is written to, and so is a file in a folder that cannot be written, or
/// on which something is mounted: such a file may be left incomplete.
///   throws  errors::UnavailableError, with the path, in the name of `op`
inline void write_text_file(const char* op, const std::string& path, const std::string& text) {
  struct stat s {};
  int error = 0;
  if (::stat(path.c_str(), &s) == 0 && S_ISREG(s.st_mode)) {
    error = replace_text_file(path, s.st_mode, text);
  } else {
    error = overwrite_text_file(path, text);
  }
  if (error) errors::raise<errors::UnavailableError>(op, "cannot write " + path + ": " + std::strerror(error));
}

}  // namespace TANDEM_NS::detail
