// Decimal numbers, read faster than std::from_chars reads them where few digits make that exact. For the definitions of
// data/csv_reader.hpp. Not here: numbers with exponents and with more than 15 digits, which it leaves to
// util/parse_number.hpp.
#pragma once
#include <bit>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tandem/util/parse_number.hpp"

namespace TANDEM_NS::data::detail {

/// Reads a text such as "-12.625" with at most 15 digits; false if it is another one.
///   source  W. D. Clinger, "How to Read Floating Point Numbers Accurately", 1990: a quotient of two integers that a
///           double represents is rounded once
inline bool read_decimal(std::string_view s, double& x) {
  static constexpr double powers[] = {1,   1e1, 1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                      1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
  const char *p = s.data(), *const end = p + s.size();
  const bool negative = p != end && *p == '-';
  p += negative;
  const std::ptrdiff_t digits = end - p;
  std::uint64_t number = 0;
  for (unsigned d; p != end && (d = static_cast<unsigned>(*p) - '0') < 10; ++p) number = number * 10 + d;
  std::ptrdiff_t decimals = 0, point = 0;
  if (p != end && *p == '.') {
    const char* const first = ++p;
    for (; end - p >= 4; p += 4) {  // the products of four digits do not wait for each other
      const unsigned a = static_cast<unsigned>(p[0]) - '0', b = static_cast<unsigned>(p[1]) - '0',
                     c = static_cast<unsigned>(p[2]) - '0', d = static_cast<unsigned>(p[3]) - '0';
      if (a >= 10 || b >= 10 || c >= 10 || d >= 10) break;
      number = number * 10000 + (a * 1000 + b * 100 + c * 10 + d);
    }
    for (unsigned d; p != end && (d = static_cast<unsigned>(*p) - '0') < 10; ++p) number = number * 10 + d;
    decimals = p - first, point = 1;
  }
  if (p != end || digits <= point || digits - point > 15) return false;
  x = static_cast<double>(static_cast<std::int64_t>(number)) / powers[decimals];
  x = std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ std::uint64_t{negative} << 63);  // without a branch
  return true;
}
/// Parses all of s as a T, as parse_number does.
template <class T>
bool parse_decimal(std::string_view s, T& to) {
  double x;
  if constexpr (std::is_floating_point_v<T>) {
    if (read_decimal(s, x)) {
      // Rounded twice, which only differs from once where the double lies in the middle between two floats.
      constexpr std::uint64_t below = (std::uint64_t{1} << 29) - 1, middle = std::uint64_t{1} << 28;
      if (std::is_same_v<T, double> || (std::bit_cast<std::uint64_t>(x) & below) != middle) {
        to = static_cast<T>(x);
        return true;
      }
    }
  }
  return tandem::detail::parse_number(s, to);
}

}  // namespace TANDEM_NS::data::detail
