// A folder with the files of a test.
#pragma once
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

namespace testing {

/// A temporary folder, removed with all that is in it.
struct TemporaryFolder {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tandem_test_" + std::to_string(std::random_device()()))).string();
  TemporaryFolder() { std::filesystem::create_directory(path); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, std::string_view content) const {
    std::ofstream(path + "/" + name, std::ios::binary) << content;
    return path + "/" + name;
  }
};

}  // namespace testing
