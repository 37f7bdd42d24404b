// Definitions of ops/norm/layer_norm.hpp, the fused ops.
#pragma once
#include <string>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/norm/layer_norm.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"

namespace TANDEM_NS {
namespace detail {

inline Shape trailing(const Shape& s, i64 axes) {
  Shape r;
  for (int d = s.rank() - static_cast<int>(axes); d < s.rank(); ++d) r.push_back(s.dim(d));
  return r;
}
// Checks the attributes and the parameters from input `first` on; x is input `first` - 1.
TANDEM_INLINE void check_layer_norm(const InferCall& c, std::size_t first, std::size_t inputs) {
  const rules::LayerNormAttrs& a = c.get<rules::LayerNormAttrs>();
  const Spec& x = c.spec(first - 1);
  if (a.axes < 1 || a.axes > x.shape.rank()) raise_specs(c, "cannot normalize " + std::to_string(a.axes) + " axes");
  if (c.in.size() != inputs) raise_specs(c, "the number of inputs does not match the parameters");
  const Shape want = trailing(x.shape, a.axes);
  for (std::size_t i = first; i < inputs; ++i)
    if (c.spec(i).dtype != x.dtype || !c.spec(i).shape.is_compatible_with(want))
      raise_specs(c, "scale and offset need x's dtype and the shape of the normalized axes, " + to_string(want));
}
TANDEM_INLINE Specs infer_layer_norm(const InferCall& c) {
  const rules::LayerNormAttrs& a = c.get<rules::LayerNormAttrs>();
  check_layer_norm(c, 1, 1 + std::size_t{a.scale} + std::size_t{a.offset});
  return Specs(c.spec(0));
}
TANDEM_INLINE Specs infer_layer_norm_grad(const InferCall& c) {
  const rules::LayerNormAttrs& a = c.get<rules::LayerNormAttrs>();
  check_layer_norm(c, 2, 2 + std::size_t{a.scale});
  const Spec& x = c.spec(1);
  if (c.spec(0).dtype != x.dtype || !c.spec(0).shape.is_compatible_with(x.shape))
    raise_specs(c, "gradient shape does not match result shape");
  Specs out(x);
  for (int i = 0; i < int{a.scale} + int{a.offset}; ++i)
    out.push_back(Spec{trailing(x.shape, a.axes), x.dtype, x.device});
  return out;
}
TANDEM_INLINE Grads layer_norm_gradient(const OpDef& grad, const GradCall& c) {
  InlinedVector<const Tensor*, 8> in(&c.g[0], &c.in[0]);
  if (c.get<rules::LayerNormAttrs>().scale) in.push_back(&c.in[1]);
  Grads r;
  for (Tensor& t : apply(grad, {in.begin(), in.size()}, c.attrs)) r.push_back(Gradient(std::move(t)));
  return r;
}
TANDEM_INLINE Grads gradient_layer_norm(const GradCall& c) { return layer_norm_gradient(layer_norm_grad_op, c); }
TANDEM_INLINE Grads gradient_rms_norm(const GradCall& c) { return layer_norm_gradient(rms_norm_grad_op, c); }
TANDEM_INLINE std::size_t layer_norm_scratch(Span<const Spec> in, const Attrs& a) {
  return cpu::layer_norm_grad_workspace(in[1], a.get<rules::LayerNormAttrs>());
}

inline Axes last_axes(i64 n) {
  Axes r = Axes::none();
  for (i64 d = 1; d <= n; ++d) r.push_back(-d);
  return r;
}
inline Axes first_axes(i64 n) {
  Axes r = Axes::none();
  for (i64 d = 0; d < n; ++d) r.push_back(d);
  return r;
}
// (x - mean) / sqrt(variance + epsilon) over `axes`, and the factor.
struct Standardized {
  Tensor value, factor;
};
TANDEM_INLINE Standardized standardized(const Tensor& x, const Axes& axes, bool centered, double epsilon) {
  const ReduceOptions over{.axis = axes, .keepdims = true};
  const Tensor d = centered ? x - reduce_mean(x, over) : x;
  const Tensor factor = rsqrt(reduce_mean(square(d), over) + scalar_like(epsilon, x));
  return {d * factor, factor};
}
TANDEM_INLINE Tensors composed_norm(Span<const Tensor> in, const rules::LayerNormAttrs& a, bool centered) {
  Tensor y = standardized(in[0], last_axes(a.axes), centered, a.epsilon).value;
  if (a.scale) y = y * in[1];
  if (a.offset) y = y + in[in.size() - 1];
  return Tensors(y);
}
TANDEM_INLINE Tensors composed_norm_grad(Span<const Tensor> in, const rules::LayerNormAttrs& a, bool centered) {
  const ReduceOptions over{.axis = last_axes(a.axes), .keepdims = true};
  const Standardized z = standardized(in[1], over.axis, centered, a.epsilon);
  const Tensor h = a.scale ? in[0] * in[2] : in[0];
  Tensor dx = h - z.value * reduce_mean(h * z.value, over);
  if (centered) dx = dx - reduce_mean(h, over);
  Tensors out(z.factor * dx);
  const Axes rows = first_axes(in[0].rank() - a.axes);
  if (a.scale) out.push_back(reduce_sum(in[0] * z.value, {.axis = rows}));
  if (a.offset) out.push_back(reduce_sum(in[0], {.axis = rows}));
  return out;
}
TANDEM_INLINE Tensors reference_layer_norm(Span<const Tensor> in, const Attrs& a) {
  return composed_norm(in, a.get<rules::LayerNormAttrs>(), true);
}
TANDEM_INLINE Tensors reference_rms_norm(Span<const Tensor> in, const Attrs& a) {
  return composed_norm(in, a.get<rules::LayerNormAttrs>(), false);
}
TANDEM_INLINE Tensors reference_layer_norm_grad(Span<const Tensor> in, const Attrs& a) {
  return composed_norm_grad(in, a.get<rules::LayerNormAttrs>(), true);
}
TANDEM_INLINE Tensors reference_rms_norm_grad(Span<const Tensor> in, const Attrs& a) {
  return composed_norm_grad(in, a.get<rules::LayerNormAttrs>(), false);
}

TANDEM_INLINE Tensor along_axes(Tensor t, std::uint32_t mask, int rank) {
  for (int d = 0; d < rank; ++d)
    if (!(mask >> d & 1u)) t = expand_dims(t, d);
  return t;
}
TANDEM_INLINE Tensor along_axes(const Tensor& t, std::uint32_t mask, const Tensor& x) {
  const std::vector<DimValue> sizes = get_shape(x);
  bool known = t.shape().is_fully_defined();
  Dims dims;
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    const bool own = mask >> d & 1u;
    known = known && (!own || sizes[d].is_known());
    dims.push_back(own ? Dim(sizes[d]) : Dim(1));
  }
  return known ? along_axes(t, mask, x.rank()) : reshape(t, dims);
}
// By the fused op if the axes are the last ones, otherwise composed.
TANDEM_INLINE Tensor norm_over(const OpDef& op, const Tensor& x, const Axes& axes, double epsilon, const Tensor& scale,
                               const Tensor& offset, const OpOptions& o) {
  const int rank = x.rank();
  if (rank == 0) Axes::raise_range(op.name, -1, 0);
  const std::uint32_t mask = axes.mask(op.name, rank), all = (1u << rank) - 1;
  int n = 0;
  while (n < rank && mask >> (rank - 1 - n) & 1u) ++n;
  if (n > 0 && mask == (all & ~((1u << (rank - n)) - 1))) {
    InlinedVector<const Tensor*, 8> in(&x);
    if (scale.is_set()) in.push_back(&scale);
    if (offset.is_set()) in.push_back(&offset);
    return apply_one(op, {in.begin(), in.size()}, rules::LayerNormAttrs{n, epsilon, scale.is_set(), offset.is_set()},
                     o);
  }
  if (mask == 0) errors::raise<errors::InvalidArgumentError>(op.name, "needs at least one axis");
  Shape want;
  for (int d = 0; d < rank; ++d)
    if (mask >> d & 1u) want.push_back(x.shape().dim(d));
  for (const Tensor* t : {&scale, &offset})
    if (t->is_set() && (t->dtype() != x.dtype() || !t->shape().is_compatible_with(want)))
      errors::raise<errors::InvalidArgumentError>(
          op.name, "scale and offset need x's dtype and the shape of the normalized axes, " + to_string(want) + ": " +
                       to_string(x.spec()) + " x " + to_string(t->spec()));
  Tensor y = standardized(widened(x), axes, &op == &layer_norm_op, epsilon).value;
  if (scale.is_set()) y = multiply(y, along_axes(widened(scale), mask, x), o);
  if (offset.is_set()) y = add(y, along_axes(widened(offset), mask, x), o);
  return cast(y, x.dtype());
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef layer_norm_op{.name = "layer_norm",
                                            .input_names = "x, parameters...",
                                            .infer = &detail::infer_layer_norm,
                                            .cpu = &cpu::layer_norm,
                                            .cuda = TANDEM_CUDA(&cuda::layer_norm),
                                            .gradient = &detail::gradient_layer_norm,
                                            .dtypes = dtypes::floating,
                                            .inputs = at_least(1),
                                            .saves = Saves::inputs,
                                            .flags = {.takes_half = kernels_take_half},
                                            .attrs = &detail::attr_type<rules::LayerNormAttrs>,
                                            .rare = {.decomposition = &detail::reference_layer_norm}};
TANDEM_INLINE constexpr OpDef layer_norm_grad_op{.name = "layer_norm_grad",
                                                 .input_names = "g, x, scale",
                                                 .infer = &detail::infer_layer_norm_grad,
                                                 .cpu = &cpu::layer_norm_grad,
                                                 .cuda = TANDEM_CUDA(&cuda::layer_norm_grad),
                                                 .workspace = &detail::layer_norm_scratch,
                                                 .dtypes = dtypes::floating,
                                                 .inputs = at_least(2),
                                                 .outputs = -1,
                                                 .saves = Saves::inputs,
                                                 .flags = {.takes_half = kernels_take_half},
                                                 .attrs = &detail::attr_type<rules::LayerNormAttrs>,
                                                 .rare = {.decomposition = &detail::reference_layer_norm_grad}};
TANDEM_INLINE constexpr OpDef rms_norm_op{.name = "rms_norm",
                                          .input_names = "x, parameters...",
                                          .infer = &detail::infer_layer_norm,
                                          .cpu = &cpu::rms_norm,
                                          .cuda = TANDEM_CUDA(&cuda::rms_norm),
                                          .gradient = &detail::gradient_rms_norm,
                                          .dtypes = dtypes::floating,
                                          .inputs = at_least(1),
                                          .saves = Saves::inputs,
                                          .flags = {.takes_half = kernels_take_half},
                                          .attrs = &detail::attr_type<rules::LayerNormAttrs>,
                                          .rare = {.decomposition = &detail::reference_rms_norm}};
TANDEM_INLINE constexpr OpDef rms_norm_grad_op{.name = "rms_norm_grad",
                                               .input_names = "g, x, scale",
                                               .infer = &detail::infer_layer_norm_grad,
                                               .cpu = &cpu::rms_norm_grad,
                                               .cuda = TANDEM_CUDA(&cuda::rms_norm_grad),
                                               .workspace = &detail::layer_norm_scratch,
                                               .dtypes = dtypes::floating,
                                               .inputs = at_least(2),
                                               .outputs = -1,
                                               .saves = Saves::inputs,
                                               .flags = {.takes_half = kernels_take_half},
                                               .attrs = &detail::attr_type<rules::LayerNormAttrs>,
                                               .rare = {.decomposition = &detail::reference_rms_norm_grad}};

TANDEM_INLINE Tensor nn::layer_norm(const Tensor& x, LayerNormOptions o) {
  const tandem::detail::CallSite call(o);
  return tandem::detail::norm_over(layer_norm_op, x, o.axis, o.epsilon, o.scale, o.offset, {o.name, o.where});
}
TANDEM_INLINE Tensor nn::rms_norm(const Tensor& x, RmsNormOptions o) {
  const tandem::detail::CallSite call(o);
  return tandem::detail::norm_over(rms_norm_op, x, o.axis, o.epsilon, o.scale, {}, {o.name, o.where});
}

}  // namespace TANDEM_NS
