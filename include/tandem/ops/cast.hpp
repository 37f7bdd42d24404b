// Conversion between dtypes: cast, saturate_cast. The kernel: cpu/cast.hpp. Strings: ops/string.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

/// x in another dtype. A float becomes an integer by truncation toward zero, saturating, NaN 0; an integer becomes a
/// narrower one modulo 2^n; a number becomes bool_ as x != 0 (NaN is true); a complex number keeps its real part.
///   x         any dtype but string, any shape and device
///   returns   same shape and device, dtype `to`; x itself where it has that dtype
///   throws    errors::InvalidArgumentError for strings
///   gradient  g cast back; stops (blocked) where either dtype is an integer or bool_
TANDEM_API Tensor cast(const Tensor& x, DType to, OpOptions = {});
/// As cast, but what lies outside of `to`'s range becomes its nearest end, also from integer to integer. Between
/// floating dtypes, infinity becomes the largest finite number that both have, as in TensorFlow; NaN stays.
///   gradient  g cast back inside the range, 0 outside
TANDEM_API Tensor saturate_cast(const Tensor& x, DType to, OpOptions = {});

struct CastAttrs {
  DType to;
  static constexpr auto fields = field_list(field("to", &CastAttrs::to));
};
/// Two rows: the gradient stops at the second, which serves wherever an integer or bool_ takes part.
extern TANDEM_API const OpDef cast_op, whole_cast_op;
inline constexpr const OpDef* cast_ops[] = {&cast_op, &whole_cast_op};

}  // namespace TANDEM_NS
