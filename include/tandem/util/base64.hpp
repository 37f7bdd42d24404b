// Base64 (RFC 4648). For definitions only.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::detail {

inline constexpr char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// The alphabet for URLs and names of files (section 5).
inline constexpr char base64_url_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Appends the encoding of bytes. pad: with '=' at the end, so that the length is a multiple of four.
inline void append_base64(std::string& to, std::string_view bytes, const char* digits, bool pad) {
  to.reserve(to.size() + (bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = std::min<std::size_t>(bytes.size() - i, 3);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k <= n; ++k) to += digits[bits >> (18 - 6 * k) & 63];
    if (pad) to.append(3 - n, '=');
  }
}
/// Appends the bytes that s encodes, with '=' at its end or without; false if it is not valid. Bits behind the last
/// byte are not looked at (RFC 4648, section 3.5), as by TensorFlow and Python.
inline bool decode_base64(std::string_view s, std::string& to, const char* digits) {
  if (s.size() % 4 == 0)
    for (int k = 0; k < 2 && !s.empty() && s.back() == '='; ++k) s.remove_suffix(1);
  if (s.size() % 4 == 1) return false;
  std::uint8_t values[256];
  std::fill(values, values + 256, std::uint8_t{64});
  for (std::uint8_t i = 0; i < 64; ++i) values[static_cast<unsigned char>(digits[i])] = i;
  to.reserve(to.size() + s.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned count = 0;
  for (const char x : s) {
    const std::uint8_t value = values[static_cast<unsigned char>(x)];
    if (value == 64) return false;
    bits = bits << 6 | value;
    if ((count += 6) < 8) continue;
    count -= 8;
    to += static_cast<char>(bits >> count & 0xff);
  }
  return true;
}

}  // namespace TANDEM_NS::detail
