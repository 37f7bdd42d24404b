// Bytes that are written as hexadecimal digits.
#pragma once
#include <string>
#include <string_view>

namespace testing {

/// from_hex("0a 10") == "\n\x10"; blanks are passed over.
inline std::string from_hex(std::string_view hex) {
  const auto value = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string r;
  int high = -1;
  for (const char c : hex) {
    if (c == ' ') continue;
    if (high >= 0) r += static_cast<char>(high * 16 + value(c));
    high = high < 0 ? value(c) : -1;
  }
  return r;
}

}  // namespace testing
