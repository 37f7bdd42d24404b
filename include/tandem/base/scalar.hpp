// Scalar: a C++ number as an operand; it takes the dtype of the tensor it meets.
#pragma once
#include <type_traits>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS {

class Scalar {
 public:
  template <class T>
    requires std::is_arithmetic_v<T>
  constexpr Scalar(T x) : real_(static_cast<double>(x)), whole_(to_whole(x)), is_real_(std::is_floating_point_v<T>) {}

  constexpr double real() const { return real_; }
  constexpr i64 whole() const { return whole_; }
  /// Written with a fraction: it may not meet an integer tensor.
  constexpr bool has_fraction() const { return is_real_ && real_ != static_cast<double>(whole_); }

 private:
  template <class T>
  static constexpr i64 to_whole(T x) {
    if constexpr (std::is_floating_point_v<T>) return x >= T(-9.2e18) && x <= T(9.2e18) ? static_cast<i64>(x) : 0;
    else return static_cast<i64>(x);
  }
  double real_;
  i64 whole_;
  bool is_real_;
};

}  // namespace TANDEM_NS
