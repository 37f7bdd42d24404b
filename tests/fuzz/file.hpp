// A file with the bytes that a fuzzer has made.
#pragma once
#include <unistd.h>

#include <cstdio>
#include <string>

/// Removed with the process, also by a crash.
class FuzzFile {
 public:
  explicit FuzzFile(const std::string& content) : file_(std::tmpfile()) {
    std::fwrite(content.data(), 1, content.size(), file_);
    std::fflush(file_);
  }
  FuzzFile(const FuzzFile&) = delete;
  ~FuzzFile() { std::fclose(file_); }
  std::string path() const { return "/proc/self/fd/" + std::to_string(::fileno(file_)); }

 private:
  std::FILE* file_;
};
