// open, fsync, fstat and fchmod, replaced by functions that fail where a test says so. For one unit of a program alone.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>

namespace failing_calls {
/// The error of a function's next calls, and how many of them fail.
struct Plan {
  int error = 0, left = 0, failed = 0;
  bool fails() {
    if (left == 0) return false;
    --left, ++failed;
    errno = error;
    return true;
  }
};
inline constinit thread_local Plan open, fsync, fstat, fchmod;
}  // namespace failing_calls

extern "C" {
[[gnu::noinline]] int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  if (failing_calls::open.fails()) return -1;
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
[[gnu::noinline]] int fsync(int fd) {
  return failing_calls::fsync.fails() ? -1 : static_cast<int>(::syscall(SYS_fsync, fd));
}
[[gnu::noinline]] int fstat(int fd, struct stat* to) noexcept {
  return failing_calls::fstat.fails() ? -1 : static_cast<int>(::syscall(SYS_fstat, fd, to));
}
[[gnu::noinline]] int fchmod(int fd, mode_t mode) noexcept {
  return failing_calls::fchmod.fails() ? -1 : static_cast<int>(::syscall(SYS_fchmod, fd, mode));
}
}
