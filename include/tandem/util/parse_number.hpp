// Parsing of one number, without regard to the locale. For definitions.
#pragma once
#include <algorithm>
#include <charconv>
#include <limits>
#include <string_view>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::detail {

/// Whether a text that is out of a floating type's range is too small: its magnitude is below 1.
inline bool is_below_one(std::string_view s) {
  const std::size_t e = std::min(s.find_first_of("eE"), s.size()), point = std::min(s.find('.'), e);
  const std::size_t digit = s.find_first_of("123456789");
  if (digit >= e) return true;  // 0
  // The power of ten of the first digit that is not 0, without the exponent.
  const auto own = static_cast<i64>(point) - static_cast<i64>(digit) - (digit < point);
  i64 power = 0;
  if (e < s.size()) {
    const std::size_t from = e + 1 + (e + 1 < s.size() && s[e + 1] == '+');
    if (std::from_chars(s.data() + from, s.data() + s.size(), power).ec == std::errc::result_out_of_range)
      return s[from] == '-';
  }
  return power < -own;
}
/// Parses all of s as a T; false if it is not one. White space around it is ignored, as is a plus sign.
template <class T>
bool parse_number(std::string_view s, T& to) {
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  if (s.size() > 1 && s[0] == '+' && s[1] != '-' && s[1] != '+') s.remove_prefix(1);
  const char* const end = s.data() + s.size();
  const std::from_chars_result r = std::from_chars(s.data(), end, to);
  if (r.ptr != end || s.empty() || r.ec == std::errc::invalid_argument) return false;
  if (r.ec == std::errc()) return true;
  if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    to = is_below_one(s) ? T(0) : std::numeric_limits<T>::infinity();
    if (s[0] == '-') to = -to;
    return true;
  }
}

}  // namespace TANDEM_NS::detail
