// nn::layer_norm and nn::rms_norm, each one kernel forward and one backward for trailing axes; nn::group_norm and
// nn::instance_norm, composed of moments.
// Not here: statistics over the batch (batch_norm.hpp).
#pragma once
#include "tandem/attrs/norm.hpp"
#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace nn {

struct LayerNormOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = -1;          ///< the axes that are normalized together
  double epsilon = 0.001;  ///< added to the variance
  Tensor scale = {};       ///< gamma, with the shape of these axes; default: 1
  Tensor offset = {};      ///< beta, with the shape of these axes; default: 0
};
/// Layer normalization: (x - mean) / sqrt(variance + epsilon) * scale + offset, where mean and population variance are
/// those of the elements along `.axis`, separately for each index of the other axes. Trailing axes are one pass over
/// memory.
///   x         floating, rank >= 1; over trailing axes of the whole range of its dtype, where squares overflow or
///             underflow, too (on the CPU). Over other axes, squares of differences from the mean must not overflow
///   returns   same shape and dtype as x; an empty tensor if x is empty
///   throws    errors::InvalidArgumentError for an axis out of range, or if scale or offset has another dtype or shape
///   gradient  exact, to x, scale and offset, by one kernel
///   source    Ba, Kiros and Hinton 2016, "Layer Normalization"
TANDEM_API Tensor layer_norm(const Tensor& x, LayerNormOptions = {});
TANDEM_AXES_OVERLOADS(layer_norm, LayerNormOptions, axis)

struct RmsNormOptions {
  TANDEM_OP_OPTIONS;
  Axes axis = -1;
  double epsilon = 1e-6;  ///< added to the mean square
  Tensor scale = {};
};
/// Root-mean-square normalization: x / sqrt(mean(x^2) + epsilon) * scale. Otherwise as layer_norm.
///   source    Zhang and Sennrich 2019, "Root Mean Square Layer Normalization"
TANDEM_API Tensor rms_norm(const Tensor& x, RmsNormOptions = {});
TANDEM_AXES_OVERLOADS(rms_norm, RmsNormOptions, axis)

struct GroupNormOptions {
  TANDEM_OP_OPTIONS;
  i64 axis = -1;  ///< of the channels; axis 0 is the batch
  double epsilon = 0.001;
  Tensor scale = {};   ///< [channels]; default: 1
  Tensor offset = {};  ///< [channels]; default: 0
};
/// Group normalization: as layer_norm over all axes except the batch, separately for each of `groups` groups of
/// adjacent channels; scale and offset are per channel.
///   x         floating, rank >= 2, [batch, ..., channels] or with the channels on `.axis`; squares of differences
///             from the mean must not overflow: in float32, below 1e19
///   groups    divides the number of channels
///   throws    errors::InvalidArgumentError if groups is not positive or does not divide the channels, if the axis is
///             out of range or that of the batch, or if scale or offset does not have the shape [channels]
///   gradient  exact
///   source    Wu and He 2018, "Group Normalization"
TANDEM_API Tensor group_norm(const Tensor& x, i64 groups, GroupNormOptions = {});
/// Instance normalization: group_norm with a group for each channel.
///   source    Ulyanov, Vedaldi and Lempitsky 2016, "Instance Normalization"
TANDEM_API Tensor instance_norm(const Tensor& x, GroupNormOptions = {});

}  // namespace nn

TANDEM_OPS(layer_norm_ops, layer_norm, layer_norm_grad, rms_norm, rms_norm_grad)

namespace detail {
/// Gives t, with one axis for each axis of x in `mask`, axes of size 1 for the others, so that it broadcasts to x.
TANDEM_API Tensor along_axes(Tensor t, std::uint32_t mask, int rank);
/// The same for a parameter, whose sizes must be those of x. Sizes that are not known yet are checked when it runs.
///   throws  errors::InvalidArgumentError if the numbers of elements differ
TANDEM_API Tensor along_axes(const Tensor& t, std::uint32_t mask, const Tensor& x);
}  // namespace detail

}  // namespace TANDEM_NS
