// Definitions of base/scalar.hpp.
#pragma once
#include <charconv>
#include <cstring>

#include "tandem/base/error.hpp"
#include "tandem/base/scalar.hpp"

namespace TANDEM_NS {

TANDEM_INLINE std::string Scalar::text() const {
  if (!is_real_) return is_high_ ? std::to_string(static_cast<u64>(whole_)) : std::to_string(whole_);
  char digits[32] = "";
  const auto write = [&](int count) {  // as printf's %g, with a point in every locale
    *std::to_chars(digits, digits + sizeof digits - 1, real_, std::chars_format::general, count).ptr = 0;
  };
  write(6);
  if (has_fraction() && !std::strpbrk(digits, ".e")) write(17);
  return digits;
}

namespace detail {

// The smallest and largest value of an integer dtype or bool_.
[[gnu::cold]] TANDEM_INLINE std::string range_text(DType d) {
  if (d == DType::bool_) return "0 and 1";
  const int bits = 8 * static_cast<int>(size_of(d));
  if (dtypes::unsigned_integer.has(d)) return "0 to " + std::to_string(~u64(0) >> (64 - bits));
  const i64 high = INT64_MAX >> (64 - bits);
  return std::to_string(-high - 1) + " to " + std::to_string(high);
}
[[gnu::cold]] TANDEM_INLINE void raise_unfit(const char* op, const Scalar& x, DType d, const std::string& meets) {
  std::string why = " has a fraction";
  if (x.real() != x.real()) why = " is not a number";
  else if (!x.has_fraction()) why = std::string(" is out of range for ") + name(d) + " (" + range_text(d) + ")";
  errors::raise<errors::InvalidArgumentError>(op, x.text() + why + " and is not representable in " + meets);
}

}  // namespace detail
}  // namespace TANDEM_NS
