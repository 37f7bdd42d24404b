// What the tests of readers share: contents of files, and checks that damaged ones are refused.
#pragma once
#include <fstream>
#include <iterator>
#include <string>

#include "tandem/base/error.hpp"
#include "tests/support/hex.hpp"
#include "tests/support/temporary_folder.hpp"

namespace testing {

inline std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
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
