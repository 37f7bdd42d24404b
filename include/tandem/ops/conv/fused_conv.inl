// Definitions of ops/conv/fused_conv.hpp. The inputs are x, w and up to three vectors: bias, scale and offset.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/conv/conv.hpp"
#include "tandem/ops/conv/fused_conv.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/linalg/dense.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/like.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Specs infer_fused_conv(const InferCall& c) {
  if (c.in.size() > 5) raise_specs(c, "too many inputs");
  const auto& a = c.get<rules::FusedConvAttrs>();
  for (std::size_t i = 1; i < c.in.size(); ++i)
    if (c.spec(i).dtype != c.spec(0).dtype) raise_specs(c, "dtypes differ", cast_hint(c, 0, i));
  Specs r(c.spec(0));
  r[0].shape = conv_shape(c, a, c.spec(0).shape, c.spec(1).shape);
  for (std::size_t i = 2; i < c.in.size(); ++i)
    if (!c.spec(i).shape.is_compatible_with(Shape{c.spec(1).shape.dim(-1)}))
      raise_specs(c, "bias, scale and offset must have one element for each output channel");
  return r;
}
// The convolution plus the bias.
inline Tensor before_scale(Span<const Tensor> in, const Attrs& attrs) {
  const rules::ConvAttrs& a = attrs.get<rules::FusedConvAttrs>();
  const Tensor y = apply1(*conv_by_axes[a.strides.rank() - 1], a, no_options, in[0], in[1]);
  return in.size() > 2 ? y + in[2] : y;
}
TANDEM_INLINE Tensors fused_conv_reference(Span<const Tensor> in, const Attrs& attrs) {
  Tensor y = before_scale(in, attrs);
  if (in.size() > 3) y = y * in[3];
  if (in.size() > 4) y = y + in[4];
  return Tensors(fused_activation(y, attrs.get<rules::FusedConvAttrs>().activation));
}
TANDEM_INLINE Grads fused_conv_gradient(const GradCall& c) {
  const auto& fused = c.get<rules::FusedConvAttrs>();
  const rules::ConvAttrs& a = fused;
  const Tensor outer = before_activation(c.g[0], c.out[0], fused.activation);
  const Tensor g = c.in.size() > 3 ? outer * c.in[3] : outer;
  Grads r;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    const Tensor &x = c.in[0], &w = c.in[1], &own = c.in[i];
    const int axes = a.strides.rank() - 1;
    r.push_back(!c.needs(i) ? Gradient()
                : i == 0    ? Gradient(apply1(*conv_transpose_by_axes[axes], a, no_options, g, w, x))
                : i == 1    ? Gradient(apply1(*conv_filter_grad_by_axes[axes], a, no_options, x, g, w))
                : i == 3    ? Gradient(sum_to_like(outer * before_scale(c.in, c.attrs), own))
                            : Gradient(sum_to_like(i == 2 ? g : outer, own)));
  }
  return r;
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef fused_conv_op{
    .name = "fused_conv",
    .input_names = "x, w, bias, scale, offset",
    .infer = &detail::infer_fused_conv,
    .cpu = &cpu::fused_conv,
    .cuda = TANDEM_CUDA(&cuda::fused_conv),
    .gradient = &detail::fused_conv_gradient,
    .dtypes = dtypes::floating,
    .inputs = at_least(2),
    .flags = {.keeps_packed = true, .takes_half = kernels_take_half, .cuda_takes_half = true},
    .attrs = &detail::attr_type<rules::FusedConvAttrs>,
    .rare = {
        .decomposition = &detail::fused_conv_reference, .with_epilogue = &fused_conv_op, .in_errors = "convolution"}};

TANDEM_INLINE Tensor detail::call_fused_conv(int spatial, const Tensor& x, const Tensor& w, const Tensor& b,
                                             const nn::ConvOptions& o, FusedActivation activation) {
  const CallSite call(o);
  const OpDef& op = *conv_by_axes[spatial - 1];
  rules::FusedConvAttrs a;
  static_cast<rules::ConvAttrs&>(a) = conv_attrs_of(op, spatial, x, w, o);
  a.activation = activation;
  if (!b.is_set()) return apply1(fused_conv_op, a, {o.name, o.where}, x, w);
  return apply1(fused_conv_op, a, {o.name, o.where}, x, w, b);
}

}  // namespace TANDEM_NS
