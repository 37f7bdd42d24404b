// Byte sources of the readers: regular files at user-supplied paths (the type is checked after opening), and memory.
// For definitions.
#pragma once
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::io::detail {

/// Names the type of a file that is not a regular file: "a directory".
inline const char* kind_of_file(mode_t mode) {
  return S_ISDIR(mode)    ? "a directory"
         : S_ISFIFO(mode) ? "a pipe"
         : S_ISSOCK(mode) ? "a socket"
         : S_ISCHR(mode)  ? "a character device"
         : S_ISBLK(mode)  ? "a block device"
                          : "not a file";
}

/// Calls a system function until no signal interrupts it. On FUSE and NFS, signals interrupt open(), fstat() and
/// fsync() too.
template <class F>
auto uninterrupted(const F& call) {
  for (;;)
    if (const auto result = call(); result != -1 || errno != EINTR) return result;
}

/// Whether a write has failed for want of room: a full disk, a quota, a limit of the size of files.
inline bool is_full(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

/// A file descriptor that is closed at the end of its scope.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& o) noexcept : fd_(std::exchange(o.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& o) noexcept {
    std::swap(fd_, o.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

/// A regular file, read sequentially from its beginning or at an offset; `op` is used in error messages.
class RegularFile {
 public:
  RegularFile(const char* op, const std::string& path)
      : op_(op), path_(path), fd_(uninterrupted([&] {
          return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // not to wait for a pipe's writer
        })) {
    struct stat s {};
    if (fd_.get() < 0 || uninterrupted([&] { return ::fstat(fd_.get(), &s); }) != 0)
      errors::raise<errors::NotFoundError>(op, "cannot read " + path + ": " + std::strerror(errno));
    if (!S_ISREG(s.st_mode))
      errors::raise<errors::NotFoundError>(
          op, "cannot read " + path + ": it is " + kind_of_file(s.st_mode) + ", not a regular file");
    size_ = static_cast<std::size_t>(s.st_size);
  }
  std::size_t size() const { return size_; }
  int descriptor() const { return fd_.get(); }
  void read(void* to, std::size_t size) {
    read_at(to, at_, size);
    at_ += size;
  }
  void read_at(void* to, std::size_t offset, std::size_t size) {
    char* p = static_cast<char*>(to);
    while (size) {
      const ssize_t n = uninterrupted(
          [&] { return ::pread(fd_.get(), p, std::min(size, std::size_t{1} << 30), static_cast<off_t>(offset)); });
      if (n <= 0)
        errors::raise<errors::UnavailableError>(
            op_, "cannot read " + path_ + " to its end: " + (n < 0 ? std::strerror(errno) : "it became shorter"));
      p += n;
      offset += static_cast<std::size_t>(n);
      size -= static_cast<std::size_t>(n);
    }
  }

 private:
  const char* op_;
  const std::string& path_;
  Descriptor fd_;
  std::size_t size_ = 0, at_ = 0;
};

/// The content of a regular file.
inline std::string read_regular_file(const char* op, const std::string& path) {
  RegularFile file(op, path);
  std::string content(file.size(), '\0');
  file.read(content.data(), content.size());
  return content;
}

/// Bytes in memory, read sequentially from their beginning or at an offset.
class MemorySource {
 public:
  MemorySource(const char* data, std::size_t size) : data_(data), size_(size) {}
  std::size_t size() const { return size_; }
  void read(void* to, std::size_t n) {
    read_at(to, at_, n);
    at_ += n;
  }
  void read_at(void* to, std::size_t offset, std::size_t n) const {
    if (n) std::memcpy(to, data_ + offset, n);
  }

 private:
  const char* data_;
  std::size_t size_, at_ = 0;
};

}  // namespace TANDEM_NS::io::detail
