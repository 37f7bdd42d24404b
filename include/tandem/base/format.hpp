// Formats numbers and bytes as text, independently of the locale. For definitions only.
#pragma once
#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::detail {

/// The shortest decimal form that reads back as x: "0.1", "1", "1e+16", "-inf", "nan". Powers of ten from -4 up to
/// 15 are written without an exponent. A NaN's sign and payload are omitted: x86 sets the sign of the result of 0/0,
/// other machines do not.
template <class F>
std::string shortest_text(F x) {
  if (x != x) return "nan";
  char at[32];
  std::string s(at, std::to_chars(at, at + sizeof at, x, std::chars_format::scientific).ptr);
  const std::size_t e = s.find('e');
  if (e == std::string::npos) return s;
  const int power = std::atoi(s.c_str() + e + 1);
  if (power < -4 || power > 15) return s;
  s.resize(e);
  const std::size_t first = s[0] == '-', whole = first + static_cast<std::size_t>(power < 0 ? 0 : power) + 1;
  if (s.size() > first + 1) s.erase(first + 1, 1);  // the decimal point
  if (power < 0) s.insert(first, static_cast<std::size_t>(-power), '0');
  if (s.size() < whole) s.append(whole - s.size(), '0');
  if (s.size() > whole) s.insert(whole, 1, '.');
  return s;
}
/// Formats x with at most `digits` significant digits, as printf's %g.
inline std::string rounded_text(double x, int digits) {
  if (x != x) return "nan";
  char at[48];
  return {at, std::to_chars(at, at + sizeof at, x, std::chars_format::general, digits).ptr};
}

/// The length in bytes of the well-formed UTF-8 character (RFC 3629) at s[i]; 0 if there is none.
inline std::size_t utf8_length(std::string_view s, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u; };
  const unsigned first = byte(i);
  const std::size_t n = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  for (std::size_t k = 1; k < n; ++k)
    if ((byte(i + k) & 0xc0u) != 0x80) return 0;
  const unsigned second = byte(i + 1);
  const bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                   (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return bad ? 0 : n;
}
inline bool is_utf8(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const std::size_t n = utf8_length(s, i);
    if (n == 0) return false;
    i += n;
  }
  return true;
}
/// Quotes s with double quotes. Control characters and bytes that are not valid UTF-8 are escaped ("\xff").
[[gnu::cold]] inline std::string escaped_text(std::string_view s) {
  std::string r = "\"";
  for (std::size_t i = 0; i < s.size(); ++i) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (const std::size_t n = utf8_length(s, i); n > 1) {
      r.append(s, i, n);
      i += n - 1;
    } else if (c == '"' || c == '\\') {
      (r += '\\') += s[i];
    } else if (c == '\n') {
      r += "\\n";
    } else if (c == '\t') {
      r += "\\t";
    } else if (c < 0x20 || c > 0x7e) {
      ((r += "\\x") += "0123456789abcdef"[c / 16]) += "0123456789abcdef"[c % 16];
    } else {
      r += s[i];
    }
  }
  return r + '"';
}

}  // namespace TANDEM_NS::detail
