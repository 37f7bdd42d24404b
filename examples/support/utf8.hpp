// Text that other programs will read as UTF-8.
#pragma once
#include <string>
#include <string_view>

namespace utf8 {

inline constexpr std::string_view replacement = "\xef\xbf\xbd";  // U+FFFD

namespace detail {
/// The length of the character at the beginning of the bytes; 0 if they are not one.
inline std::size_t length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4 || !follows(1)) return 0;
  if (first < 0xe0) return 2;
  // Not longer than needed, no surrogates, nothing above U+10FFFF.
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
      (first == 0xf4 && second > 0x8f) || !follows(2))
    return 0;
  if (first < 0xf0) return 3;
  return follows(3) ? 4 : 0;
}
}  // namespace detail

/// The bytes, with U+FFFD in place of each one that does not belong to a character.
inline std::string repaired(std::string_view bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t n = detail::length(bytes);
    text += n ? bytes.substr(0, n) : replacement;
    bytes.remove_prefix(n ? n : 1);
  }
  return text;
}

}  // namespace utf8
