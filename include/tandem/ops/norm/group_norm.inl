// Definitions of nn::group_norm and nn::instance_norm (ops/norm/layer_norm.hpp).
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE int channel_axis(const char* op, const Tensor& x, const nn::GroupNormOptions& o) {
  const auto fail = [&](const std::string& what) {
    errors::raise<errors::InvalidArgumentError>(op, what + ": " + to_string(x.spec()));
  };
  if (x.rank() < 2) fail("needs an input of rank 2 or more, [batch, ..., channels]");
  check_floating(op, x);
  const int axis = resolve_axis(op, o.axis, x.rank());
  if (axis == 0) fail("axis 0 is the batch, not the channels");
  for (const Tensor* t : {&o.scale, &o.offset})
    if (t->is_set() && (t->dtype() != x.dtype() || !t->shape().is_compatible_with({x.shape().dim(axis)})))
      fail("scale and offset need x's dtype and the shape [channels], not " + to_string(t->spec()) + ", for an input");
  return axis;
}
// y is what x was normalized to, in the dtype that is computed in.
TANDEM_INLINE Tensor with_channel_params(Tensor y, const Tensor& x, int axis, const nn::GroupNormOptions& o) {
  const OpOptions named{o.name, o.where};
  if (o.scale.is_set()) y = multiply(y, along_axes(widened(o.scale), 1u << axis, x), named);
  if (o.offset.is_set()) y = add(y, along_axes(widened(o.offset), 1u << axis, x), named);
  return cast(y, x.dtype());
}
// Over axes that need not be the last ones.
TANDEM_INLINE Tensor normalized_over(const Tensor& x, const Axes& axes, double epsilon) {
  if (axes.size() == 0) return x - x;  // one element is its own mean
  const ReduceOptions over{.axis = axes, .keepdims = true};
  const Tensor d = x - reduce_mean(x, over);
  return d * rsqrt(reduce_mean(square(d), over) + scalar_like(epsilon, x));
}

}  // namespace detail

TANDEM_INLINE Tensor nn::group_norm(const Tensor& x, i64 groups, GroupNormOptions o) {
  const tandem::detail::CallSite call(o, "group_norm");
  const int axis = tandem::detail::channel_axis("group_norm", x, o);
  const i64 channels = x.shape().dim(axis);
  if (groups < 1 || (channels != none && channels % groups != 0))
    errors::raise<errors::InvalidArgumentError>(
        "group_norm", std::to_string(groups) + " groups do not divide the channels of " + to_string(x.spec()));
  Dims split;  // the channels as [groups, channels / groups]
  const std::vector<DimValue> sizes = get_shape(x);
  for (int d = 0; d < x.rank(); ++d) {
    const DimValue& size = sizes[static_cast<std::size_t>(d)];
    if (d == axis) split.push_back(groups);
    // Not -1 for open channels: it would be ambiguous next to an axis of size 0.
    split.push_back(d != axis         ? Dim(size)
                    : size.is_known() ? Dim(channels / groups)
                                      : Dim(floordiv(size.tensor, groups)));
  }
  Axes over = Axes::none();
  for (int d = 1; d <= x.rank(); ++d)
    if (d != axis) over.push_back(d);
  const Tensor grouped = reshape(tandem::detail::widened(x), split);
  // Channels first: what is normalized together is contiguous.
  const Tensor y = axis == 1 ? layer_norm(grouped, {.axis = over, .epsilon = o.epsilon})
                             : tandem::detail::normalized_over(grouped, over, o.epsilon);
  return tandem::detail::with_channel_params(tandem::detail::reshape_like(y, x), x, axis, o);
}
TANDEM_INLINE Tensor nn::instance_norm(const Tensor& x, GroupNormOptions o) {
  const tandem::detail::CallSite call(o, "instance_norm");
  const int axis = tandem::detail::channel_axis("instance_norm", x, o);
  Axes over = Axes::none();
  for (int d = 1; d < x.rank(); ++d)
    if (d != axis) over.push_back(d);
  const Tensor wide = tandem::detail::widened(x);
  const Tensor y = axis == 1 && x.rank() > 2 ? layer_norm(wide, {.axis = over, .epsilon = o.epsilon})
                                             : tandem::detail::normalized_over(wide, over, o.epsilon);
  return tandem::detail::with_channel_params(y, x, axis, o);
}

}  // namespace TANDEM_NS
