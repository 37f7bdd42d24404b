// Definitions of ops/norm/batch_norm.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/norm/batch_norm.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/norm/batch_norm.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"

namespace TANDEM_NS {
namespace detail {

// x [..., channels, ...] is input `at`; the inputs after it are numbers per channel, the last `wide` of them float32 if
// x has half precision. Returns their spec.
TANDEM_INLINE Spec check_batch_norm(const InferCall& c, std::size_t at, std::size_t wide) {
  const Spec& x = c.spec(at);
  if (x.shape.rank() < 2) raise_specs(c, "needs an input of rank 2 to 5: [batch, ..., channels]");
  const int axis = resolve_axis(c.op.name, c.get<rules::BatchNormAttrs>().axis, x.shape.rank());
  const Spec params{{x.shape.dim(axis)}, x.dtype, x.device};
  for (std::size_t i = at + 1; i < c.in.size(); ++i)
    if (c.spec(i).dtype != (i + wide < c.in.size() ? x.dtype : widened(x.dtype)) ||
        !c.spec(i).shape.is_compatible_with(params.shape))
      raise_specs(c, "scale, offset and statistics need x's dtype and the shape " + to_string(params.shape) +
                         " of its channels");
  return params;
}
TANDEM_INLINE Specs infer_batch_norm(const InferCall& c) {
  Spec params = check_batch_norm(c, 0, 0);
  params.dtype = widened(params.dtype);  // the gradient reads the statistics
  Specs out(c.spec(0));
  out.push_back(params);
  out.push_back(params);
  return out;
}
TANDEM_INLINE Specs infer_batch_norm_grad(const InferCall& c) {
  const Spec params = check_batch_norm(c, 1, 2);
  if (c.spec(0).dtype != c.spec(1).dtype || !c.spec(0).shape.is_compatible_with(c.spec(1).shape))
    raise_specs(c, "gradient shape does not match result shape");
  Specs out(c.spec(1));
  out.push_back(params);
  out.push_back(params);
  return out;
}
TANDEM_INLINE std::size_t batch_norm_scratch(Span<const Spec> in, const Attrs& a) {
  return cpu::batch_norm_workspace(in[0], a.get<rules::BatchNormAttrs>());  // g and x have one shape
}

// The axis of the channels, the others, and numbers per channel in a shape that broadcasts to x.
struct Channels {
  int axis, rank;
  Axes others = Axes::none();
  Channels(const char* op, i64 at, int rank_of_x) : axis(resolve_axis(op, at, rank_of_x)), rank(rank_of_x) {
    for (int d = 0; d < rank; ++d)
      if (d != axis) others.push_back(d);
  }
  Tensor spread(const Tensor& t) const { return axis == rank - 1 ? t : along_axes(t, 1u << axis, rank); }
};
TANDEM_INLINE Tensors reference_batch_norm(Span<const Tensor> in, const Attrs& a) {
  const Channels ch("fused_batch_norm", a.get<rules::BatchNormAttrs>().axis, in[0].rank());
  const Tensor x = widened(in[0]), scale = widened(in[1]), offset = widened(in[2]);
  const Tensor mean = reduce_mean(x, {.axis = ch.others}), d = x - ch.spread(mean);
  const Tensor variance = reduce_mean(square(d), {.axis = ch.others});
  const Tensor factor = scale * rsqrt(variance + scalar_like(a.get<rules::BatchNormAttrs>().epsilon, x));
  return {cast(d * ch.spread(factor) + ch.spread(offset), in[0].dtype()), mean, variance};
}
// As a function of g, x, scale and the statistics, each on its own.
TANDEM_INLINE Tensors reference_batch_norm_grad(Span<const Tensor> in, const Attrs& a) {
  const Channels ch("fused_batch_norm", a.get<rules::BatchNormAttrs>().axis, in[0].rank());
  const Tensor factor = rsqrt(in[4] + scalar_like(a.get<rules::BatchNormAttrs>().epsilon, in[4]));
  const Tensor g = widened(in[0]), x = widened(in[1]), scale = widened(in[2]);
  const Tensor z = (x - ch.spread(in[3])) * ch.spread(factor), n = size_over(x, ch.others, x.dtype());
  const Tensor doffset = reduce_sum(g, {.axis = ch.others}), dscale = reduce_sum(g * z, {.axis = ch.others});
  const Tensor dx = ch.spread(scale * factor) * (g - ch.spread(doffset / n) - z * ch.spread(dscale / n));
  const DType dtype = in[1].dtype();
  return {cast(dx, dtype), cast(dscale, dtype), cast(doffset, dtype)};
}
// The statistics are results too: their gradients reach x as those of a mean and a variance do.
TANDEM_INLINE Grads gradient_batch_norm(const GradCall& c) {
  const Tensor &x = c.in[0], &mean = c.out[1];
  const Tensor g = c.g[0].is_set() ? c.g[0] : zeros_like(x);
  const Tensor* const in[] = {&g, &x, &c.in[1], &mean, &c.out[2]};
  Tensors d = apply(fused_batch_norm_grad_op, in, c.attrs);
  const Channels ch(c.op.name, c.get<rules::BatchNormAttrs>().axis, x.rank());
  const Tensor n = c.g[1].is_set() || c.g[2].is_set() ? size_over(x, ch.others, mean.dtype()) : Tensor();
  Tensor dx = n.is_set() ? widened(d[0]) : d[0];
  if (c.g[1].is_set()) dx = dx + ch.spread(c.g[1] / n);
  if (c.g[2].is_set()) dx = dx + (widened(x) - ch.spread(mean)) * ch.spread(2 * c.g[2] / n);
  return {Gradient(cast(dx, x.dtype())), Gradient(std::move(d[1])), Gradient(std::move(d[2]))};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef fused_batch_norm_op{
    .name = "fused_batch_norm",
    .input_names = "x, scale, offset",
    .infer = &detail::infer_batch_norm,
    .cpu = &cpu::batch_norm,
    .cuda = TANDEM_CUDA(&cuda::batch_norm),
    .gradient = &detail::gradient_batch_norm,
    .workspace = &detail::batch_norm_scratch,
    .dtypes = dtypes::floating,
    .inputs = 3,
    .outputs = 3,
    .flags = {.takes_half = kernels_take_half},
    .attrs = &detail::attr_type<rules::BatchNormAttrs>,
    .rare = {.decomposition = &detail::reference_batch_norm, .wide_outputs = 1u << 1 | 1u << 2}};
TANDEM_INLINE constexpr OpDef fused_batch_norm_grad_op{
    .name = "fused_batch_norm_grad",
    .input_names = "g, x, scale, mean, variance",
    .infer = &detail::infer_batch_norm_grad,
    .cpu = &cpu::batch_norm_grad,
    .cuda = TANDEM_CUDA(&cuda::batch_norm_grad),
    .workspace = &detail::batch_norm_scratch,
    .dtypes = dtypes::floating,
    .inputs = 5,
    .outputs = 3,
    .saves = Saves::inputs,
    .flags = {.takes_half = kernels_take_half},
    .attrs = &detail::attr_type<rules::BatchNormAttrs>,
    .rare = {.decomposition = &detail::reference_batch_norm_grad, .wide_inputs = 1u << 3 | 1u << 4}};

namespace nn {

TANDEM_INLINE Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                                         const Tensor& offset, const Tensor& scale, double variance_epsilon,
                                         OpOptions o) {
  const tandem::detail::CallSite call(o, "batch_normalization");
  tandem::detail::check_floating("batch_normalization", x);
  Tensor factor = rsqrt(variance + tandem::detail::scalar_like(variance_epsilon, variance));
  if (scale.is_set()) factor = factor * scale;
  const Tensor y = multiply(x - mean, factor, o);
  return offset.is_set() ? add(y, offset, o) : y;
}

TANDEM_INLINE FusedBatchNorm fused_batch_norm(const Tensor& x, const Tensor& scale, const Tensor& offset,
                                              FusedBatchNormOptions o) {
  constexpr const char* op = "fused_batch_norm";
  const tandem::detail::CallSite call(o, op);
  const auto fail = [](const std::string& what) { errors::raise<errors::InvalidArgumentError>(op, what); };
  const bool blends = o.is_training && o.exponential_avg_factor != 1;
  if (x.rank() < 2 || x.rank() > 5) fail("needs an input of rank 2 to 5, not " + to_string(x.spec()));
  if ((!o.is_training || blends) && !(o.mean.is_set() && o.variance.is_set()))
    fail("needs .mean and .variance unless it is training with an average factor of 1");
  const i64 axis = o.data_format == DataFormat::channels_first ? 1 : x.rank() - 1;
  const tandem::detail::Channels ch(op, axis, x.rank());
  const Shape channels{x.shape().dim(ch.axis)};
  const Tensor* const params[] = {&scale, &offset, &o.mean, &o.variance};
  for (const Tensor* t : params)
    if (t->is_set() && (t->dtype() != x.dtype() || !t->shape().is_compatible_with(channels)))
      fail("scale, offset and statistics need x's dtype and the shape " + to_string(channels) +
           " of its channels: " + to_string(x.spec()) + " x " + to_string(t->spec()));
  if (!o.is_training) {
    const auto spread = [&](const Tensor& t) {
      return t.is_set() ? tandem::detail::along_axes(tandem::detail::widened(t), 1u << axis, x) : t;
    };
    const Tensor y = batch_normalization(tandem::detail::widened(x), spread(o.mean), spread(o.variance), spread(offset),
                                         spread(scale), o.epsilon, {o.name, o.where});
    return {cast(y, x.dtype()), o.mean, o.variance};
  }
  const Tensor* const in[] = {&x, &scale, &offset};
  Tensors out = apply(fused_batch_norm_op, in, rules::BatchNormAttrs{axis, o.epsilon}, {o.name, o.where});
  const Tensor n = tandem::detail::size_over(x, ch.others, tandem::detail::widened(x.dtype()));
  Tensor mean = cast(out[1], x.dtype()), variance = cast(out[2] * (n / maximum(n - 1, 1)), x.dtype());
  if (blends) {
    mean = o.mean * (1 - o.exponential_avg_factor) + mean * o.exponential_avg_factor;
    variance = o.variance * (1 - o.exponential_avg_factor) + variance * o.exponential_avg_factor;
  }
  return {std::move(out[0]), std::move(mean), std::move(variance)};
}

}  // namespace nn
}  // namespace TANDEM_NS
