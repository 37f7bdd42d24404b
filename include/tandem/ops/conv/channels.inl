// Definitions of ops/conv/channels.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/conv/channels.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/operands.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::nn {

TANDEM_INLINE Tensor bias_add(const Tensor& x, const Tensor& bias, BiasAddOptions o) {
  const tandem::detail::CallSite call(o);
  const int rank = x.rank(), axis = o.data_format == DataFormat::channels_first ? 1 : rank - 1;
  if (rank < 2 || !bias.shape().is_compatible_with({x.shape().dim(axis)}))
    tandem::detail::raise_operands("bias_add", "needs an input of rank 2 or more and a bias for each channel", x, bias);
  const bool known = bias.shape().is_fully_defined() && x.shape().dim(axis) != none;
  const Tensor spread = axis == rank - 1 && known ? bias : tandem::detail::along_axes(bias, 1u << axis, x);
  return add(x, spread, {o.name, o.where});
}

TANDEM_INLINE Tensor crelu(const Tensor& x, CreluOptions o) {
  const tandem::detail::CallSite call(o);
  return concat({relu(x), relu(negative(x))}, o.axis, {o.name, o.where});
}

}  // namespace TANDEM_NS::nn
