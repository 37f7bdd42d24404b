// nn::dropout: one op. Its gradient is the same op with the same key, so no mask is stored.
#pragma once
#include <optional>

#include "tandem/attrs/random.hpp"
#include "tandem/base/shape_arg.hpp"
#include "tandem/ops/dims.hpp"
#include "tandem/ops/random/generator.hpp"

namespace TANDEM_NS {
namespace nn {

struct DropoutOptions {
  TANDEM_OP_OPTIONS;
  std::optional<double> rate = {};  ///< the fraction of elements to drop, in [0, 1); required
  ShapeArg noise_shape = {};        ///< elements along an axis of size 1 are dropped together; `none`: x's size
  std::optional<i64> seed = {};     ///< selects a separate random sequence (random/generator.hpp)
  bool training = true;
  const random::Generator* generator = nullptr;  ///< default: the global generator
};

/// Sets elements to 0 with probability `.rate` and multiplies the others by 1 / (1 - rate): nn::dropout(x, {.rate =
/// 0.1}).
///   x         floating, any shape, including unknown dimensions
///   returns   same shape, dtype and device as x; x itself if the rate is 0 or .training is false
///   throws    errors::InvalidArgumentError if the rate is missing or outside [0, 1), if x is not floating, or if
///             noise_shape does not broadcast to x's shape
///   gradient  g with the same elements dropped and the same scale
TANDEM_API Tensor dropout(const Tensor& x, DropoutOptions options);

}  // namespace nn
TANDEM_OPS(dropout_ops, dropout)

namespace detail {
/// noise_shape with x's sizes for its unknown dimensions.
///   throws  errors::InvalidArgumentError, in the op's name, if it does not broadcast to x's shape
TANDEM_API Dims noise_dims(const char* op, const Tensor& x, const Shape& noise_shape);
}  // namespace detail
}  // namespace TANDEM_NS
