// Small text files, written as a whole. For definitions. Not here: reading (io/regular_file.hpp).
#pragma once
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "tandem/base/error.hpp"

namespace TANDEM_NS::strings::impl {

inline void write_text(const char* op, const std::string& path, const std::string& content) {
  std::FILE* const file = std::fopen(path.c_str(), "wbe");
  const bool written = file && std::fwrite(content.data(), 1, content.size(), file) == content.size();
  const bool closed = file && std::fclose(file) == 0;
  if (!written || !closed)
    errors::raise<errors::UnavailableError>(op, "cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace TANDEM_NS::strings::impl
