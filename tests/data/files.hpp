// What the tests of data share: compressed texts, big-endian numbers, and the real data
// beside the project where there are any.
#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "tandem/io/zip.hpp"
#include "tests/support/hex.hpp"
#include "tests/support/source_folder.hpp"
#include "tests/support/temporary_folder.hpp"

namespace testing {

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
