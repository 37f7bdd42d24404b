// Tensors of one value: zeros, ones, fill, their *_like forms, and eye. Those whose sizes are known are host constants
// (in a trace: captured, no node); those made from a tensor's shape or from computed sizes are ops.
// Not here: constants from literals (constant.hpp), sequences (range.hpp).
#pragma once
#include "tandem/base/scalar.hpp"
#include "tandem/ops/create/attrs.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {

struct CreateOptions {
  TANDEM_OP_OPTIONS;
  DType dtype = DType::float32;
};
struct LikeOptions {
  TANDEM_OP_OPTIONS;
  std::optional<DType> dtype = {};  ///< default: that of `like`
};
struct EyeOptions {
  TANDEM_OP_OPTIONS;
  i64 num_columns = none;  ///< default: n
  Shape batch_shape = {};  ///< as many equal matrices, as leading axes
  DType dtype = DType::float32;
};

/// A tensor of zeros (false, empty strings) on the current device.
///   shape     numbers, or integer tensors: {2, 3}, {n, 3} with a scalar tensor n, shape(x)
///   throws    errors::InvalidArgumentError for a negative or open size
///   gradient  none
TANDEM_API Tensor zeros(const Dims& shape, CreateOptions options = {});
/// A tensor of ones (true); errors as zeros, and for strings.
TANDEM_API Tensor ones(const Dims& shape, CreateOptions options = {});
/// The same with the dtype by position: zeros({2, 3}, float64).
template <std::same_as<DType> D>  // a template: {} is no dtype
Tensor zeros(const Dims& shape, D dtype, CreateOptions o = {}) {
  return o.dtype = dtype, zeros(shape, o);
}
template <std::same_as<DType> D>
Tensor ones(const Dims& shape, D dtype, CreateOptions o = {}) {
  return o.dtype = dtype, ones(shape, o);
}
/// A tensor full of one literal, of its dtype or of `.dtype`: fill({2}, 7), fill({3}, "a").
///   throws    errors::InvalidArgumentError for a negative or open size, braces as the value, or a number that `.dtype`
///             cannot hold
///   gradient  none
TANDEM_API Tensor fill(const Dims& dims, const Literal& value, LikeOptions options = {});
/// A tensor full of a rank-0 tensor's value.
///   value     rank 0, any dtype
///   returns   shape dims, value's dtype and device
///   throws    errors::InvalidArgumentError for a negative size, or if value or dims has another rank
///   gradient  to value: the sum of g
TANDEM_API Tensor fill(const Dims& dims, const Tensor& value, OpOptions options = {});

/// Zeros, ones or a number in the shape and on the device of `like`, which is read for its shape alone.
///   throws    errors::InvalidArgumentError for a number that the dtype cannot hold (a fraction or 300 in int8), or for
///             strings that are not to be empty
///   gradient  none (blocked)
TANDEM_API Tensor zeros_like(const Tensor& like, LikeOptions options = {});
TANDEM_API Tensor ones_like(const Tensor& like, LikeOptions options = {});
TANDEM_API Tensor full_like(const Tensor& like, Scalar value, LikeOptions options = {});
template <std::same_as<DType> D>
Tensor zeros_like(const Tensor& like, D dtype, LikeOptions o = {}) {
  return o.dtype = dtype, zeros_like(like, o);
}
template <std::same_as<DType> D>
Tensor ones_like(const Tensor& like, D dtype, LikeOptions o = {}) {
  return o.dtype = dtype, ones_like(like, o);
}

/// The n x n identity matrix (n x num_columns, batched by `.batch_shape`); n may be an integer scalar tensor.
///   throws    errors::InvalidArgumentError for a negative size or a dtype that holds no numbers
///   gradient  none
TANDEM_API Tensor eye(i64 n, EyeOptions options = {});
template <detail::AxisNumber I>
Tensor eye(i64 n, I num_columns, EyeOptions o = {}) {
  o.num_columns = static_cast<i64>(num_columns);
  return eye(n, o);
}
TANDEM_API Tensor eye(const Tensor& n, EyeOptions options = {});
template <detail::AxisNumber I>
Tensor eye(const Tensor& n, I num_columns, EyeOptions o = {}) {
  o.num_columns = static_cast<i64>(num_columns);
  return eye(n, o);
}

extern TANDEM_API const OpDef fill_op, full_like_op;
inline constexpr const OpDef* fill_ops[] = {&fill_op, &full_like_op};

}  // namespace TANDEM_NS
