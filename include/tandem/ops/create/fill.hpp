// Tensors filled with one value: zeros, ones, fill, their *_like forms, and eye. If all sizes are known, they are
// host constants (in a trace they are captured and add no node); from a tensor's shape or from computed sizes they
// are ops.
// Not here: constants from literals (constant.hpp), sequences (range.hpp).
#pragma once
#include "tandem/attrs/create.hpp"
#include "tandem/base/scalar.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {

namespace detail {
/// A tensor filled with one number, on the current device; never an op of a trace.
TANDEM_API Tensor filled(const char* what, const Shape& shape, DType dtype, double number);
/// fill() by its op, with a shape that may be computed.
TANDEM_API Tensor fill_computed(const char* what, const Dims& dims, const Tensor& value, const OpOptions& options);
}  // namespace detail

struct CreateOptions {
  TANDEM_OP_OPTIONS;
  DType dtype = DType::float32;
};
struct LikeOptions {
  TANDEM_OP_OPTIONS;
  std::optional<DType> dtype = {};  ///< default: the dtype of `like`; for fill, that of the literal
};
struct EyeOptions {
  TANDEM_OP_OPTIONS;
  i64 num_columns = none;  ///< default: n
  Shape batch_shape = {};  ///< leading axes over which the matrix is repeated
  DType dtype = DType::float32;
};

/// Creates a tensor of zeros (false for bool_, empty strings for string) on the current device.
///   shape     numbers or integer tensors: {2, 3}, {n, 3} with a scalar tensor n, shape(x)
///   throws    errors::InvalidArgumentError for a negative or unknown size
///   gradient  none
TANDEM_API Tensor zeros(const Dims& shape, CreateOptions options = {});
/// Creates a tensor of ones (true for bool_). Arguments and errors as zeros; strings are an error too.
TANDEM_API Tensor ones(const Dims& shape, CreateOptions options = {});
/// As above, with the dtype as a positional argument: zeros({2, 3}, float64).
template <std::same_as<DType> D>  // a template so that {} does not convert to a dtype
Tensor zeros(const Dims& shape, D dtype, CreateOptions o = {}) {
  return o.dtype = dtype, zeros(shape, o);
}
template <std::same_as<DType> D>
Tensor ones(const Dims& shape, D dtype, CreateOptions o = {}) {
  return o.dtype = dtype, ones(shape, o);
}
template <std::same_as<const char*> Text>
Tensor zeros(const Dims& shape, Text dtype, CreateOptions = {}) = delete;  // not a name, "float32": write float32
template <std::same_as<const char*> Text>
Tensor ones(const Dims& shape, Text dtype, CreateOptions = {}) = delete;  // not a name, "float32": write float32
/// Creates a tensor filled with a literal, with the literal's dtype or `.dtype`: fill({2}, 7), fill({3}, "a").
///   throws    errors::InvalidArgumentError for a negative or unknown size, a value in braces, or a number that
///             `.dtype` cannot represent
///   gradient  none
TANDEM_API Tensor fill(const Dims& dims, const Literal& value, LikeOptions options = {});
/// Creates a tensor filled with the value of a rank-0 tensor.
///   value     rank 0, any dtype
///   returns   shape dims, dtype and device of value
///   throws    errors::InvalidArgumentError for a negative size, or if value or dims has the wrong rank
///   gradient  to value: the sum of g
TANDEM_API Tensor fill(const Dims& dims, const Tensor& value, OpOptions options = {});

/// Creates a tensor of zeros, ones or a given number with the shape and on the device of `like`, of which only the
/// shape is read.
///   throws    errors::InvalidArgumentError for a number that the dtype cannot represent (a fraction or 300 in
///             int8), or for a value other than 0 with dtype string
///   gradient  none (non-differentiable)
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
template <std::same_as<const char*> Text>
Tensor zeros_like(const Tensor& like, Text dtype, LikeOptions = {}) = delete;  // not a name, "float32": write float32
template <std::same_as<const char*> Text>
Tensor ones_like(const Tensor& like, Text dtype, LikeOptions = {}) = delete;  // not a name, "float32": write float32

/// Creates the n x n identity matrix (n x num_columns if given, repeated over `.batch_shape`). n may be an integer
/// scalar tensor.
///   throws    errors::InvalidArgumentError for a negative size or a non-numeric dtype
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

TANDEM_OPS(fill_ops, fill, full_like)

}  // namespace TANDEM_NS
