// Dimension: the type of shape()[i], a size that may be unknown while a function is traced.
#pragma once
#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <string>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS {

/// The value of an unknown dimension. A distinct constant, so that arithmetic on sizes cannot produce it by accident.
inline constexpr i64 none = INT64_MIN;

[[noreturn]] TANDEM_API void raise_unknown_dimension();

/// The size of an axis. Converts to an integer. If the size is unknown (a traced function whose signature leaves the
/// dimension unspecified), it compares equal to `none` and any use as a number raises.
///   throws  errors::TraceError, which lists the ways to get the size as a tensor
class Dimension {
 public:
  constexpr explicit Dimension(i64 n) : number_(n) {}
  constexpr bool is_known() const { return number_ != none; }
  constexpr operator i64() const {
    if (number_ == none) [[unlikely]]
      raise_unknown_dimension();
    return number_;
  }
  /// The number, or `none`.
  constexpr i64 number_or_none() const { return number_; }
  template <std::integral I>  // a template, so that no conversion of b makes the call ambiguous
  friend constexpr bool operator==(Dimension a, I b) {
    return static_cast<i64>(b) == none ? !a.is_known() : static_cast<i64>(a) == static_cast<i64>(b);
  }
  friend constexpr bool operator==(Dimension a, Dimension b) { return static_cast<i64>(a) == static_cast<i64>(b); }

 private:
  i64 number_;
};
/// The number, or "None".
TANDEM_API std::string to_string(Dimension d);
/// Streams a dimension as to_string writes it.
TANDEM_API std::ostream& operator<<(std::ostream& out, Dimension d);

}  // namespace TANDEM_NS
