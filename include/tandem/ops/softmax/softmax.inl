// Definitions of ops/softmax/softmax.hpp.
#pragma once
#include "tandem/cpu/softmax/softmax.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/softmax/softmax.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Specs infer_softmax(const InferCall& c) {
  (void)resolve_axis(c.op.name, c.get<rules::SoftmaxAttrs>().axis, c.spec(0).shape.rank());
  for (std::size_t i = 1; i < c.in.size(); ++i)
    if (c.spec(i).dtype != c.spec(0).dtype || !c.spec(i).shape.is_compatible_with(c.spec(0).shape))
      raise_specs(c, "shapes or dtypes differ");
  return Specs(c.spec(0));
}
TANDEM_INLINE Grads gradient_softmax(const GradCall& c) {
  return Grads(Gradient(apply1(softmax_grad_op, c.attrs, no_options, c.g[0], c.out[0])));
}
TANDEM_INLINE Grads gradient_log_softmax(const GradCall& c) {
  return Grads(Gradient(apply1(log_softmax_grad_op, c.attrs, no_options, c.g[0], c.out[0])));
}
inline ReduceOptions along(const Attrs& a) { return {.axis = a.get<rules::SoftmaxAttrs>().axis, .keepdims = true}; }
TANDEM_INLINE Tensors reference_softmax(Span<const Tensor> in, const Attrs& a) {
  const Tensor e = exp(in[0] - reduce_max(in[0], along(a)));
  return Tensors(e / reduce_sum(e, along(a)));
}
TANDEM_INLINE Tensors reference_log_softmax(Span<const Tensor> in, const Attrs& a) {
  const Tensor shifted = in[0] - reduce_max(in[0], along(a));
  return Tensors(shifted - log(reduce_sum(exp(shifted), along(a))));
}
TANDEM_INLINE Tensors reference_softmax_grad(Span<const Tensor> in, const Attrs& a) {
  return Tensors(in[1] * (in[0] - reduce_sum(in[0] * in[1], along(a))));
}
TANDEM_INLINE Tensors reference_log_softmax_grad(Span<const Tensor> in, const Attrs& a) {
  return Tensors(in[0] - exp(in[1]) * reduce_sum(in[0], along(a)));
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef softmax_op{.name = "softmax",
                                         .infer = &detail::infer_softmax,
                                         .cpu = &cpu::softmax,
                                         .cuda = TANDEM_CUDA(&cuda::softmax),
                                         .gradient = &detail::gradient_softmax,
                                         .dtypes = dtypes::floating,
                                         .saves = Saves::outputs,
                                         .flags = {.takes_half = kernels_take_half},
                                         .attrs = &detail::attr_type<rules::SoftmaxAttrs>,
                                         .rare = {.decomposition = &detail::reference_softmax}};
TANDEM_INLINE constexpr OpDef log_softmax_op{.name = "log_softmax",
                                             .infer = &detail::infer_softmax,
                                             .cpu = &cpu::log_softmax,
                                             .cuda = TANDEM_CUDA(&cuda::log_softmax),
                                             .gradient = &detail::gradient_log_softmax,
                                             .dtypes = dtypes::floating,
                                             .saves = Saves::outputs,
                                             .flags = {.takes_half = kernels_take_half},
                                             .attrs = &detail::attr_type<rules::SoftmaxAttrs>,
                                             .rare = {.decomposition = &detail::reference_log_softmax}};
TANDEM_INLINE constexpr OpDef softmax_grad_op{.name = "softmax_grad",
                                              .input_names = "g, y",
                                              .infer = &detail::infer_softmax,
                                              .cpu = &cpu::softmax_grad,
                                              .cuda = TANDEM_CUDA(&cuda::softmax_grad),
                                              .dtypes = dtypes::floating,
                                              .inputs = 2,
                                              .saves = Saves::inputs,
                                              .flags = {.takes_half = kernels_take_half},
                                              .attrs = &detail::attr_type<rules::SoftmaxAttrs>,
                                              .rare = {.decomposition = &detail::reference_softmax_grad}};
TANDEM_INLINE constexpr OpDef log_softmax_grad_op{.name = "log_softmax_grad",
                                                  .input_names = "g, y",
                                                  .infer = &detail::infer_softmax,
                                                  .cpu = &cpu::log_softmax_grad,
                                                  .cuda = TANDEM_CUDA(&cuda::log_softmax_grad),
                                                  .dtypes = dtypes::floating,
                                                  .inputs = 2,
                                                  .saves = Saves::inputs,
                                                  .flags = {.takes_half = kernels_take_half},
                                                  .attrs = &detail::attr_type<rules::SoftmaxAttrs>,
                                                  .rare = {.decomposition = &detail::reference_log_softmax_grad}};

TANDEM_INLINE Tensor nn::softmax(const Tensor& x, SoftmaxOptions o) {
  return apply1(softmax_op, rules::SoftmaxAttrs{o.axis}, {o.name, o.where}, x);
}
TANDEM_INLINE Tensor nn::log_softmax(const Tensor& x, SoftmaxOptions o) {
  return apply1(log_softmax_op, rules::SoftmaxAttrs{o.axis}, {o.name, o.where}, x);
}

}  // namespace TANDEM_NS
