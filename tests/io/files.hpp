// What the tests of readers share: files in a temporary folder, and checks that damaged files are refused.
#pragma once
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

#include "tandem/base/error.hpp"

namespace testing {

/// A temporary folder with the files of a test.
struct IoFolder {
  std::string path =
      (std::filesystem::temp_directory_path() / ("tandem_io_" + std::to_string(std::random_device()()))).string();
  IoFolder() { std::filesystem::create_directory(path); }
  IoFolder(const IoFolder&) = delete;
  ~IoFolder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  /// Writes a file and returns its path.
  std::string file(const std::string& name, std::string_view content) const {
    std::ofstream(path + "/" + name, std::ios::binary) << content;
    return path + "/" + name;
  }
};
inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
inline std::string bytes_of_hex(std::string_view hex) {
  std::string r, digits;
  for (const char c : hex) {
    if (c == ' ') continue;
    digits += c;
    if (digits.size() == 2) r += static_cast<char>(std::stoi(digits, nullptr, 16)), digits.clear();
  }
  return r;
}

/// Calls f(bytes, whether they are a prefix) with every prefix of `good` that is shorter, and with every bit of it
/// flipped.
template <class F>
void for_each_damage(const std::string& good, const F& f) {
  for (std::size_t n = 0; n < good.size(); ++n) f(good.substr(0, n), true);
  for (std::size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::string flipped = good;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    f(flipped, false);
  }
}

/// Whether f raises one of the library's errors; other exceptions pass.
template <class F>
bool raises(const F& f) {
  try {
    f();
  } catch (const tandem::errors::OpError&) {
    return true;
  }
  return false;
}

}  // namespace testing
