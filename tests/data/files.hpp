// What the tests of data share: files in a temporary folder, compressed texts, big-endian numbers, and the real data
// beside the project where there are any.
#pragma once
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>

#include "tandem/io/zip.hpp"
#include "tests/support/source_folder.hpp"

namespace testing {

/// A temporary folder with the files of a test.
struct DataFolder {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tandem_data_" + std::to_string(std::random_device()()))).string();
  DataFolder() { std::filesystem::create_directory(path); }
  DataFolder(const DataFolder&) = delete;
  ~DataFolder() { std::filesystem::remove_all(path); }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, std::string_view content) const {
    std::ofstream(path + "/" + name, std::ios::binary) << content;
    return path + "/" + name;
  }
};

inline std::string from_hex(std::string_view hex) {
  std::string r;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
    r += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  return r;
}
/// A gzip member of one block that is not compressed; for up to 65,535 bytes.
inline std::string gzip_of(std::string_view content) {
  using tandem::io::detail::append_number;
  std::string s = from_hex("1f8b0800000000000003") + '\1';
  append_number(s, content.size(), 2);
  append_number(s, ~content.size(), 2);
  s += content;
  append_number(s, tandem::io::detail::crc_by_tables(content.data(), content.size()), 4);
  append_number(s, content.size(), 4);
  return s;
}
inline std::string big_endian(std::uint64_t x, int bytes) {
  std::string s;
  for (int i = bytes - 1; i >= 0; --i) s += static_cast<char>(x >> 8 * i);
  return s;
}

/// The path of a file of the data sets beside the project; empty if there is none.
inline std::string real_data(const std::string& name) {
  const std::string path = testing::source_folder() + "/../shared/data/" + name;
  return std::filesystem::exists(path) ? path : "";
}

}  // namespace testing
