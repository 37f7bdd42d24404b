// Replacing a file as a whole (implementation half of io/safetensors.hpp).
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "tandem/io/safetensors.hpp"

namespace TANDEM_NS::io {

namespace detail {

[[noreturn]] TANDEM_INLINE void raise_system(const char* what, const std::string& path, int error) {
  const std::string text = std::string(what) + " " + path + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG)
    errors::raise<errors::ResourceExhaustedError>("save", text + " (the previous file is untouched)");
  errors::raise<errors::UnavailableError>("save", text);
}

// The temporary file; removed unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target)
      : name_(target + ".partial." + std::to_string(::getpid())), target_(target) {
    fd_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd_ < 0) raise_system("cannot write", name_, errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (fd_ >= 0) ::close(fd_);
    if (!name_.empty()) ::unlink(name_.c_str());
  }
  void write(const void* data, std::size_t size) {
    const char* p = static_cast<const char*>(data);
    while (size) {
      const ssize_t n = ::write(fd_, p, size);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) raise_system("cannot write", name_, errno);
      p += n;
      size -= static_cast<std::size_t>(n);
    }
  }
  void replace() {
    if (::fsync(fd_) != 0) raise_system("cannot flush", name_, errno);
    const int fd = std::exchange(fd_, -1);
    if (::close(fd) != 0) raise_system("cannot close", name_, errno);
    if (::rename(name_.c_str(), target_.c_str()) != 0) raise_system("cannot replace", target_, errno);
    name_.clear();
    const std::size_t slash = target_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
    if (const int f = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC); f >= 0) {  // makes the new name last
      ::fsync(f);
      ::close(f);
    }
  }

 private:
  std::string name_, target_;
  int fd_ = -1;
};

}  // namespace detail

TANDEM_INLINE void replace_file(const std::string& path,
                                const std::vector<std::pair<const void*, std::size_t>>& parts) {
  detail::TemporaryFile file(path);
  for (const auto& [data, size] : parts) file.write(data, size);
  file.replace();
}

}  // namespace TANDEM_NS::io
