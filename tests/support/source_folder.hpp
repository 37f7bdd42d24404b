// Where tests find the files of the repository that they read.
#pragma once
#include <cstdlib>
#include <string>

namespace testing {
/// The repository's folder: TANDEM_SOURCE, where the program runs on another machine, or where it was compiled.
inline std::string source_folder() {
  const char* const folder = std::getenv("TANDEM_SOURCE");
  return folder ? folder : TANDEM_SOURCE_DIR;
}
}  // namespace testing
