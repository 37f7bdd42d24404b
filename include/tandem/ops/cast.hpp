// Conversion between dtypes: cast, saturate_cast, bitcast. The kernel: cpu/pointwise/cast.hpp. Strings: strings/.
#pragma once
#include <concepts>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

/// Converts a tensor to another dtype. Float to integer truncates toward zero and saturates; NaN becomes 0. Integer
/// to a narrower integer wraps modulo 2^n. Number to bool_ is x != 0, so NaN is true. Complex to real keeps the real
/// part. Quantized numbers are cast as their integer codes.
///   x         any dtype except string; any shape and device
///   returns   same shape and device as x, dtype `to`; x itself if it already has that dtype
///   throws    errors::InvalidArgumentError for strings
///   gradient  g cast to x's dtype; none (non-differentiable) if either dtype is an integer, quantized or bool_
TANDEM_API Tensor cast(const Tensor& x, DType to, OpOptions = {});
template <std::same_as<const char*> Text>
Tensor cast(const Tensor& x, Text dtype, OpOptions = {}) = delete;  // not a name, "float32": write float32
/// Converts a tensor to another dtype, clamping values outside the range of `to` to its nearest limit, also from
/// integer to integer. Between floating dtypes, infinity becomes the largest finite number that both dtypes can
/// represent, as in TensorFlow; NaN stays NaN. Otherwise as cast.
///   gradient  g cast to x's dtype inside the range, 0 outside
TANDEM_API Tensor saturate_cast(const Tensor& x, DType to, OpOptions = {});
/// Reinterprets the bytes of a tensor as another dtype. If the new elements are smaller, a last axis is added for those
/// of one old element; if they are larger, the last axis must have the elements of one new one, and disappears.
///   x         any dtype except string
///   returns   shape of x, or with an axis more or less; dtype `to`. A copy.
///   throws    errors::InvalidArgumentError for strings, or a last axis of another size
///   gradient  none (non-differentiable)
TANDEM_API Tensor bitcast(const Tensor& x, DType to, OpOptions = {});

namespace rules {
struct CastAttrs {
  DType to;
  TANDEM_ATTRS(CastAttrs, to);
};
}  // namespace rules
/// Two op definitions of cast: whole_cast_op is non-differentiable and is used wherever either dtype is an integer or
/// bool_.
TANDEM_OPS(cast_ops, cast, whole_cast, bitcast)

}  // namespace TANDEM_NS
