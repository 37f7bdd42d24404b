// The calls by which files and folders are made, replaced by functions that count, and kill the process before one of
// them, or do something else before a file is opened. For one unit of a program alone.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdarg>
#include <cstdio>

namespace counted_calls {
/// The calls that remain before this process is killed; negative: it is not.
inline constinit int left = -1;
/// Called with the path before a file is opened, if it is set.
using Opening = void (*)(const char* path);
inline constinit Opening opening = nullptr;
inline void count() {
  if (left == 0) ::kill(::getpid(), SIGKILL);
  if (left > 0) --left;
}
}  // namespace counted_calls

extern "C" {
[[gnu::noinline]] int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0;
  va_end(more);
  counted_calls::count();
  if (counted_calls::opening) counted_calls::opening(path);
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
[[gnu::noinline]] ssize_t write(int fd, const void* data, size_t n) {
  counted_calls::count();
  return ::syscall(SYS_write, fd, data, n);
}
[[gnu::noinline]] int fsync(int fd) {
  counted_calls::count();
  return static_cast<int>(::syscall(SYS_fsync, fd));
}
[[gnu::noinline]] int mkdir(const char* path, mode_t mode) noexcept {
  counted_calls::count();
  return static_cast<int>(::syscall(SYS_mkdirat, AT_FDCWD, path, mode));
}
[[gnu::noinline]] int rename(const char* from, const char* to) noexcept {
  counted_calls::count();
  return static_cast<int>(::syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0u));
}
[[gnu::noinline]] int renameat2(int from_at, const char* from, int to_at, const char* to, unsigned flags) noexcept {
  counted_calls::count();
  return static_cast<int>(::syscall(SYS_renameat2, from_at, from, to_at, to, flags));
}
}
