// nn::softmax and nn::log_softmax, each with a backward op of one pass. Losses on top of them: cross_entropy.hpp.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/nn/softmax_attrs.hpp"

namespace TANDEM_NS {
namespace nn {

struct SoftmaxOptions {
  TANDEM_OP_OPTIONS;
  int axis = -1;
};

/// e^x / sum(e^x) along an axis, shifted by the maximum: no overflow.
///   x         floating, rank >= 1
///   returns   x's shape and dtype; NaN along an axis that is all -inf or has +inf or NaN; an empty axis gives an empty
///             tensor
///   throws    errors::InvalidArgumentError for an axis out of range
///   gradient  y (g - sum(g y))
TANDEM_API Tensor softmax(const Tensor& x, SoftmaxOptions = {});
/// x - logsumexp(x) along an axis, without overflow; as softmax.
///   gradient  g - e^y sum(g)
TANDEM_API Tensor log_softmax(const Tensor& x, SoftmaxOptions = {});

TANDEM_ONE_AXIS_OVERLOAD(softmax, SoftmaxOptions, axis)
TANDEM_ONE_AXIS_OVERLOAD(log_softmax, SoftmaxOptions, axis)

}  // namespace nn

extern TANDEM_API const OpDef softmax_op, log_softmax_op, softmax_grad_op, log_softmax_grad_op;
inline constexpr const OpDef* softmax_ops[] = {&softmax_op, &log_softmax_op, &softmax_grad_op, &log_softmax_grad_op};

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_NN_OPS
#include "tandem/cpu/softmax.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#if defined(TANDEM_WITH_CUDA) && TANDEM_WITH_CUDA
namespace TANDEM_NS::cuda {
void softmax(const KernelCall& c);
void log_softmax(const KernelCall& c);
void softmax_grad(const KernelCall& c);
void log_softmax_grad(const KernelCall& c);
}  // namespace TANDEM_NS::cuda
#endif
namespace TANDEM_NS {
namespace detail {

TANDEM_INLINE Specs infer_softmax(const InferCall& c) {
  (void)resolve_axis(c.op.name, c.get<SoftmaxAttrs>().axis, c.spec(0).shape.rank());
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
inline ReduceOptions along(const Attrs& a) { return {.axis = a.get<SoftmaxAttrs>().axis, .keepdims = true}; }
TANDEM_INLINE Tensors reference_softmax(std::span<const Tensor> in, const Attrs& a) {
  const Tensor e = exp(in[0] - reduce_max(in[0], along(a)));
  return Tensors(e / reduce_sum(e, along(a)));
}
TANDEM_INLINE Tensors reference_log_softmax(std::span<const Tensor> in, const Attrs& a) {
  const Tensor shifted = in[0] - reduce_max(in[0], along(a));
  return Tensors(shifted - log(reduce_sum(exp(shifted), along(a))));
}
TANDEM_INLINE Tensors reference_softmax_grad(std::span<const Tensor> in, const Attrs& a) {
  return Tensors(in[1] * (in[0] - reduce_sum(in[0] * in[1], along(a))));
}
TANDEM_INLINE Tensors reference_log_softmax_grad(std::span<const Tensor> in, const Attrs& a) {
  return Tensors(in[0] - exp(in[1]) * reduce_sum(in[0], along(a)));
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef softmax_op{.name = "softmax",
                                         .infer = &detail::infer_softmax,
                                         .cpu = &cpu::softmax,
                                         .cuda = TANDEM_CUDA(&cuda::softmax),
                                         .gradient = &detail::gradient_softmax,
                                         .reference = &detail::reference_softmax,
                                         .dtypes = dtypes::floating,
                                         .saves = Saves::outputs,
                                         .attrs = &detail::attr_type<SoftmaxAttrs>};
TANDEM_INLINE constexpr OpDef log_softmax_op{.name = "log_softmax",
                                             .infer = &detail::infer_softmax,
                                             .cpu = &cpu::log_softmax,
                                             .cuda = TANDEM_CUDA(&cuda::log_softmax),
                                             .gradient = &detail::gradient_log_softmax,
                                             .reference = &detail::reference_log_softmax,
                                             .dtypes = dtypes::floating,
                                             .saves = Saves::outputs,
                                             .attrs = &detail::attr_type<SoftmaxAttrs>};
TANDEM_INLINE constexpr OpDef softmax_grad_op{.name = "softmax_grad",
                                              .infer = &detail::infer_softmax,
                                              .cpu = &cpu::softmax_grad,
                                              .cuda = TANDEM_CUDA(&cuda::softmax_grad),
                                              .reference = &detail::reference_softmax_grad,
                                              .dtypes = dtypes::floating,
                                              .inputs = 2,
                                              .saves = Saves::inputs,
                                              .attrs = &detail::attr_type<SoftmaxAttrs>};
TANDEM_INLINE constexpr OpDef log_softmax_grad_op{.name = "log_softmax_grad",
                                                  .infer = &detail::infer_softmax,
                                                  .cpu = &cpu::log_softmax_grad,
                                                  .cuda = TANDEM_CUDA(&cuda::log_softmax_grad),
                                                  .reference = &detail::reference_log_softmax_grad,
                                                  .dtypes = dtypes::floating,
                                                  .inputs = 2,
                                                  .saves = Saves::inputs,
                                                  .attrs = &detail::attr_type<SoftmaxAttrs>};

TANDEM_INLINE Tensor nn::softmax(const Tensor& x, SoftmaxOptions o) {
  return apply1(softmax_op, SoftmaxAttrs{o.axis}, {o.name, o.where}, x);
}
TANDEM_INLINE Tensor nn::log_softmax(const Tensor& x, SoftmaxOptions o) {
  return apply1(log_softmax_op, SoftmaxAttrs{o.axis}, {o.name, o.where}, x);
}

}  // namespace TANDEM_NS
#endif
