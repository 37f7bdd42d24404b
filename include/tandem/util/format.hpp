// Formats numbers and bytes as text, independently of the locale. For definitions only.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::detail {

/// Writes the shortest decimal form that reads back as x to at most 32 characters, and returns their end: "0.1", "1",
/// "1e+16", "-inf", "nan". Powers of ten from -4 up to 15 are written without an exponent. A NaN's sign and payload are
/// omitted: x86 sets the sign of the result of 0/0, other machines do not.
template <class F>
char* write_shortest(char* to, F x) {
  if (x != x) return std::copy_n("nan", 3, to);
  char* const end = std::to_chars(to, to + 32, x, std::chars_format::scientific).ptr;
  char* const e = std::find(end - std::min<std::ptrdiff_t>(end - to, 5), end, 'e');
  if (e == end) return end;  // inf
  int power = 0;
  std::from_chars(e + (e[1] == '+' ? 2 : 1), end, power);
  if (power < -4 || power > 15) return end;
  char* const first = to + (*to == '-');
  char* digits_end = e;
  if (e - first > 1) digits_end = std::copy(first + 2, e, first + 1);  // without the decimal point
  if (power < 0) {
    const std::ptrdiff_t zeros = -power;
    std::copy_backward(first, digits_end, digits_end + zeros + 1);
    std::fill_n(first, zeros + 1, '0');
    first[1] = '.';
    return digits_end + zeros + 1;
  }
  char* const point = first + power + 1;
  while (digits_end < point) *digits_end++ = '0';
  if (digits_end == point) return point;
  std::copy_backward(point, digits_end, digits_end + 1);
  *point = '.';
  return digits_end + 1;
}
/// The same as a string.
template <class F>
std::string shortest_text(F x) {
  char at[40];
  return {at, write_shortest(at, x)};
}
/// Formats x with at most `digits` significant digits, as printf's %g.
inline std::string rounded_text(double x, int digits) {
  if (x != x) return "nan";
  char at[48];
  return {at, std::to_chars(at, at + sizeof at, x, std::chars_format::general, digits).ptr};
}
/// Formats x with that number of decimals, as printf's %f.
inline std::string fixed_text(double x, int decimals) {
  if (x != x) return "nan";
  char at[384];  // the largest numbers have 309 digits before the point
  return {at, std::to_chars(at, at + sizeof at, x, std::chars_format::fixed, decimals).ptr};
}

/// What stands at a position of UTF-8 text (RFC 3629): a character, or bytes that no character begins with.
struct Utf8Unit {
  std::size_t bytes;
  bool is_character;
};
/// The character at s[i], or else the maximal subpart of an ill-formed sequence (Unicode 15, section 3.9): the bytes
/// that begin a character which is cut off, or one byte. i < s.size().
inline Utf8Unit utf8_unit(std::string_view s, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < s.size() ? static_cast<unsigned char>(s[k]) : 0u; };
  const unsigned first = byte(i);
  const std::size_t n = first < 0x80   ? 1
                        : first < 0xc2 ? 0
                        : first < 0xe0 ? 2
                        : first < 0xf0 ? 3
                        : first < 0xf5 ? 4
                                       : 0;
  if (n < 2) return {1, n == 1};
  const unsigned second = byte(i + 1);
  const unsigned low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (second < low || second > high) return {1, false};
  for (std::size_t k = 2; k < n; ++k)
    if ((byte(i + k) & 0xc0u) != 0x80) return {k, false};
  return {n, true};
}
/// The length in bytes of the well-formed character at s[i]; 0 if there is none.
inline std::size_t utf8_length(std::string_view s, std::size_t i) {
  const Utf8Unit unit = utf8_unit(s, i);
  return unit.is_character ? unit.bytes : 0;
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
