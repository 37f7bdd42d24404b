// FileVersion: whether a file is still what it was. For the components io and data.
#pragma once
#include <sys/stat.h>

#include <string>

#include "tandem/base/dtype.hpp"
#include "tandem/io/regular_file.hpp"

namespace TANDEM_NS::io::detail {

/// Size, and modification time in nanoseconds, of which those before 1970 are numbers modulo 2^64.
struct FileVersion {
  u64 size = 0, time = 0;
  friend bool operator==(const FileVersion&, const FileVersion&) = default;
};
inline FileVersion version_of(const struct stat& s) {
  return {static_cast<u64>(s.st_size),
          static_cast<u64>(s.st_mtim.tv_sec) * 1'000'000'000 + static_cast<u64>(s.st_mtim.tv_nsec)};
}
/// The present version of a file; zeros if there is none.
inline FileVersion version_of(const std::string& path) {
  struct stat s {};
  return uninterrupted([&] { return ::stat(path.c_str(), &s); }) == 0 ? version_of(s) : FileVersion{};
}
/// That of an open file; zeros if the system cannot tell it.
inline FileVersion version_of(const RegularFile& file) {
  struct stat s {};
  return uninterrupted([&] { return ::fstat(file.descriptor(), &s); }) == 0 ? version_of(s) : FileVersion{};
}

}  // namespace TANDEM_NS::io::detail
