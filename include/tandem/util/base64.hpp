// Base64 (RFC 4648). For definitions only. Not here: decoding (strings/codec.inl).
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

}  // namespace TANDEM_NS::detail
