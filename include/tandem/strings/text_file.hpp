// Small text files, read and written as a whole. For definitions.
#pragma once
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "tandem/base/error.hpp"

namespace TANDEM_NS::strings::impl {

inline std::string read_text(const char* op, const std::string& path) {
  std::FILE* const file = std::fopen(path.c_str(), "rbe");
  if (!file && errno == ENOENT) errors::raise<errors::NotFoundError>(op, "no file " + path);
  if (!file) errors::raise<errors::UnavailableError>(op, "cannot read " + path + ": " + std::strerror(errno));
  std::string text;
  char room[1 << 14];
  for (std::size_t n; (n = std::fread(room, 1, sizeof room, file)) > 0;) text.append(room, n);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (failed) errors::raise<errors::UnavailableError>(op, "cannot read " + path + " to its end");
  return text;
}
inline void write_text(const char* op, const std::string& path, const std::string& text) {
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  const bool written = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file && std::fclose(file) == 0;
  if (!written || !closed)
    errors::raise<errors::UnavailableError>(op, "cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace TANDEM_NS::strings::impl
