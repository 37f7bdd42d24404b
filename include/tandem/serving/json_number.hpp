// Exact numbers of JSON texts as elements of tensors. For the definitions of json_tensor.hpp. Part of the component
// tandem::serving.
#pragma once
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::serving::impl {

/// A number of a JSON text: digits times ten to a power.
struct ScannedNumber {
  const char *begin, *end;
  u64 digits = 0;                       // of the first 19
  int count = 0;                        // of digits without leading zeros
  i64 power = 0;                        // of ten, of the last of the first 19 digits
  bool negative = false, whole = true;  // whole: without a point and an exponent
};

/// Reads a number as the grammar of RFC 8259 has it; false if there is none. What follows it is not looked at.
inline bool scan_number(const char* p, const char* end, ScannedNumber& n) {
  const auto is_digit = [&] { return p != end && static_cast<unsigned char>(*p - '0') < 10; };
  const auto take = [&](i64 weight) {
    const auto d = static_cast<unsigned>(*p++ - '0');
    if (n.count || d) ++n.count;
    if (n.count <= 19) n.digits = n.digits * 10 + d, n.power += weight;
    else n.power += weight + 1;
  };
  n = {p, p};
  if (p != end && *p == '-') n.negative = true, ++p;
  if (!is_digit()) return false;
  if (*p == '0') ++p;
  else
    while (is_digit()) take(0);
  if (p != end && *p == '.') {
    n.whole = false, ++p;
    if (!is_digit()) return false;
    while (is_digit()) take(-1);
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    n.whole = false, ++p;
    const bool down = p != end && *p == '-';
    if (p != end && (*p == '-' || *p == '+')) ++p;
    if (!is_digit()) return false;
    i64 e = 0;
    for (; is_digit(); ++p)
      if (e < 1'000'000'000) e = e * 10 + (*p - '0');
    n.power += down ? -e : e;
  }
  n.end = p;
  return true;
}

// The number as one multiplication or division of doubles, for powers of ten that are doubles; false for others. It is
// exact up to 2^53 (Clinger, "How to Read Floating Point Numbers Accurately", 1990), otherwise off by up to 2 units.
inline bool small_double(const ScannedNumber& n, double& to) {
  static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (n.count > 19 || n.power < -22 || n.power > 22) return false;
  const auto x = static_cast<double>(n.digits);
  to = n.power < 0 ? x / powers[-n.power] : x * powers[n.power];
  if (n.negative) to = -to;
  return true;
}

/// The number as a floating T, correctly rounded; false if T has no such number: if it is too large, or a whole number
/// that T rounds.
template <class T>
  requires std::is_floating_point_v<T>
bool to_element(const ScannedNumber& n, T& to) {
  double wide = 0;
  bool exact = small_double(n, wide);
  if constexpr (sizeof(T) == 4) {  // rounding twice is right unless the double is near the middle of two floats
    const u64 rest = std::bit_cast<u64>(wide) & 0x1fffffff;
    exact =
        exact && rest - (0x10000000 - 3) > 6 && (wide == 0 || std::fabs(wide) >= 1.2e-38) && std::fabs(wide) < 3.4e38;
  } else {
    exact = exact && n.digits <= u64{1} << 53;
  }
  if (exact) {
    to = static_cast<T>(wide);
  } else if (std::from_chars(n.begin, n.end, to).ec != std::errc()) {
    if (n.count && n.power + (n.count < 19 ? n.count : 19) > 0) return false;  // too large, not too small
    to = n.negative ? -T(0) : T(0);
  }
  // A whole number of more than 19 digits is given to few digits by nobody who needs them.
  if (n.whole && n.count <= 19 && n.digits > u64{1} << std::numeric_limits<T>::digits) {
    const auto bits = static_cast<unsigned>(64 - std::countl_zero(n.digits) - std::countr_zero(n.digits));
    return bits <= static_cast<unsigned>(std::numeric_limits<T>::digits);
  }
  return true;
}
/// The number as an integer T; false if it has a point or an exponent, or is out of T's range.
template <class T>
  requires std::is_integral_v<T>
bool to_element(const ScannedNumber& n, T& to) {
  if (!n.whole) return false;
  const std::from_chars_result r = std::from_chars(n.begin, n.end, to);
  if (r.ec == std::errc() && r.ptr == n.end) return true;
  to = 0;  // "-0" is a number of unsigned types, too
  return n.digits == 0;
}
/// Half precision rounds its numbers as casts do.
template <class T>
  requires(std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>)
bool to_element(const ScannedNumber& n, T& to) {
  float wide;
  if (!to_element(n, wide)) return false;
  to = T(wide);
  return std::isfinite(static_cast<float>(to));
}

}  // namespace TANDEM_NS::serving::impl
