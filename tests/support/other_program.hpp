// Programs of others as independent readers: gzip, djpeg, pngcheck. Tests skip where one is not installed.
#pragma once
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/support/temporary_folder.hpp"

namespace testing {

inline bool has_program(const std::string& name) {
  return std::system(("command -v " + name + " > /dev/null 2>&1").c_str()) == 0;
}
struct ProgramResult {
  bool accepted;       // the exit status is 0
  std::string output;  // of the standard output
};
inline ProgramResult run_program(const std::string& command) {
  const TemporaryFolder folder;
  const bool accepted = std::system((command + " > " + (folder / "out") + " 2> /dev/null").c_str()) == 0;
  std::ifstream output(folder / "out", std::ios::binary);
  return {accepted, {std::istreambuf_iterator<char>(output), {}}};
}

}  // namespace testing
