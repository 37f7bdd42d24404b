// Scalar: a C++ number as an operand. It adopts the dtype of the tensor operand, if that dtype can represent it.
#pragma once
#include <string>
#include <type_traits>

#include "tandem/base/dimension.hpp"

namespace TANDEM_NS {

/// The dtype of a number of type T when no tensor determines it: float32 for float and double, otherwise T's own.
template <class T>
  requires std::is_arithmetic_v<T>
inline constexpr DType literal_dtype = std::is_floating_point_v<T> ? DType::float32 : dtype_of_v<T>;

class Scalar {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T x)
      : real_(static_cast<double>(x)),
        whole_(to_whole(x)),
        is_real_(std::is_floating_point_v<T>),
        is_high_(is_high(x)) {}
  constexpr Scalar(Dimension d) : Scalar(static_cast<i64>(d)) {}

  constexpr double real() const { return real_; }
  /// The integer part modulo 2^64; 0 for a floating-point number outside the ranges of int64 and uint64.
  constexpr i64 whole() const { return whole_; }
  /// The integer part in 65 bits.
  constexpr __int128 wide() const { return is_high_ ? static_cast<__int128>(static_cast<u64>(whole_)) : whole_; }
  /// True if the number has a fractional part, so no integer dtype can represent it.
  constexpr bool has_fraction() const {
    return is_real_ && real_ > -0x1p53 && real_ < 0x1p53 && real_ != static_cast<double>(whole_);
  }
  /// Whether a dtype can represent this number. An integer dtype must represent it exactly and bool_ only 0 and 1.
  /// Floating and complex dtypes round. Non-numeric dtypes are not checked here.
  constexpr bool fits(DType d) const { return !must_hold_exactly.has(d) || fits_exactly(d); }
  /// The number as text, with as many digits as a fraction needs.
  TANDEM_API std::string text() const;

 private:
  static constexpr DTypes must_hold_exactly = dtypes::integer | dtypes::boolean;

  constexpr bool fits_exactly(DType d) const {
    if (is_real_ && real_ != (is_high_ ? static_cast<double>(static_cast<u64>(whole_)) : static_cast<double>(whole_)))
      return false;  // a fraction, beyond 64 bits, infinite or NaN
    if (d == DType::bool_) return !is_high_ && (whole_ == 0 || whole_ == 1);
    const int spare = 64 - 8 * static_cast<int>(size_of(d));
    if (dtypes::unsigned_integer.has(d))
      return (is_high_ || whole_ >= 0) && static_cast<u64>(whole_) << spare >> spare == static_cast<u64>(whole_);
    return !is_high_ && static_cast<i64>(static_cast<u64>(whole_) << spare) >> spare == whole_;
  }
  template <class T>
  static constexpr i64 to_whole(T x) {
    if constexpr (std::is_floating_point_v<T>) {
      if (is_high(x)) return static_cast<i64>(static_cast<u64>(x));
      return x >= T(-0x1p63) && x < T(0x1p63) ? static_cast<i64>(x) : 0;
    } else {
      return static_cast<i64>(x);
    }
  }
  template <class T>
  static constexpr bool is_high(T x) {
    if constexpr (std::is_floating_point_v<T>) return x >= T(0x1p63) && x < T(0x1p64);
    else if constexpr (std::is_unsigned_v<T> && sizeof(T) == 8) return x > static_cast<T>(INT64_MAX);
    else return false;
  }
  double real_;
  i64 whole_;
  bool is_real_, is_high_;  // high: whole_ holds the bits of a u64 above int64's range
};

namespace detail {
/// Raises the error for a number that a dtype cannot represent: "300 is out of range for uint8 (0 to 255) and is not
/// representable in uint8[2]; cast the tensor first", where `meets` is the text from "uint8[2]" on.
///   throws  errors::InvalidArgumentError in the op's name
[[noreturn]] TANDEM_API void raise_unfit(const char* op, const Scalar& x, DType d, const std::string& meets);
}  // namespace detail

}  // namespace TANDEM_NS
