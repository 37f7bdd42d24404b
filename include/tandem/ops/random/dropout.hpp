// nn::dropout: one op whose gradient is itself with the same key, so that no mask is stored.
#pragma once
#include <optional>

#include "tandem/ops/random/attrs.hpp"
#include "tandem/ops/random/generator.hpp"
#include "tandem/ops/shape_arg.hpp"

namespace TANDEM_NS {
namespace nn {

struct DropoutOptions {
  TANDEM_OP_OPTIONS;
  std::optional<double> rate = {};  ///< the share that is dropped, in [0, 1); has to be given
  ShapeArg noise_shape = {};        ///< where it is 1, elements share their fate; `none`: as x
  std::optional<i64> seed = {};     ///< a sequence of its own (random/generator.hpp)
  bool training = true;
  const random::Generator* generator = nullptr;  ///< default: the global one
};

/// Sets elements to 0 with probability `.rate` and multiplies the others by 1 / (1 - rate): nn::dropout(x, {.rate =
/// 0.1}).
///   x         floating, any shape; open dims are fine
///   returns   x's shape, dtype and device; x itself for rate 0 or training = false
///   throws    errors::InvalidArgumentError without a rate or for one outside [0, 1), if x is not floating, or if
///             noise_shape does not broadcast to x's shape
///   gradient  g, dropped and scaled alike
TANDEM_API Tensor dropout(const Tensor& x, DropoutOptions options);

}  // namespace nn
extern TANDEM_API const OpDef dropout_op;
inline constexpr const OpDef* dropout_ops[] = {&dropout_op};
}  // namespace TANDEM_NS
