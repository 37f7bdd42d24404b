// Definitions of ops/index/gather_nd.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/index/index.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/gather_nd.hpp"
#include "tandem/ops/index/scatter.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_gather_nd(const InferCall& c) {
  const Shape &x = c.spec(0).shape, &idx = c.spec(1).shape;
  check_index_dtype(c, 1);
  const i64 batch = c.get<rules::GatherNdAttrs>().batch_dims;
  if (idx.rank() == 0 || idx.dim(-1) == none) raise_specs(c, "the indices need a last axis of known size");
  if (batch < 0 || batch >= idx.rank() || batch + idx.dim(-1) > x.rank())
    raise_specs(c,
                "index vectors of " + std::to_string(idx.dim(-1)) + " entries, batch_dims = " + std::to_string(batch));
  for (int i = 0; i < batch; ++i)
    if (x.dim(i) != idx.dim(i) && x.dim(i) != none && idx.dim(i) != none) raise_specs(c, "batch axes differ in size");
  Specs r(c.spec(0));
  Shape s = idx;
  s.resize(idx.rank() - 1);
  for (int i = static_cast<int>(batch + idx.dim(-1)); i < x.rank(); ++i) s.push_back(x.dim(i));
  r[0].shape = s;
  return r;
}
TANDEM_INLINE void gather_nd_kernel(const KernelCall& c) {
  cpu::gather_nd(c, static_cast<int>(c.attrs.get<rules::GatherNdAttrs>().batch_dims));
}
TANDEM_INLINE Grads gather_nd_gradient(const GradCall& c) {
  return {apply1(gather_nd_grad_op, c.get<rules::GatherNdAttrs>(), no_options, c.g[0], c.in[1], c.in[0]), Gradient()};
}
// Inputs: updates, indices, and the tensor whose shape the result has.
TANDEM_INLINE Specs infer_scatter_back(const InferCall& c, Specs (*forward)(const InferCall&)) {
  const Tensor* const in[] = {c.in[2], c.in[1]};
  check_upstream(c, forward, c.attrs, in);
  return Specs(Spec{c.spec(2).shape, c.spec(0).dtype, c.spec(0).device});
}
TANDEM_INLINE Specs infer_gather_nd_grad(const InferCall& c) { return infer_scatter_back(c, &infer_gather_nd); }
TANDEM_INLINE void gather_nd_grad_kernel(const KernelCall& c) {
  cpu::scatter_nd(c, 1, 0, static_cast<int>(c.attrs.get<rules::GatherNdAttrs>().batch_dims));
}
TANDEM_INLINE Grads gather_nd_grad_gradient(const GradCall& c) {
  return {gather_nd(c.g[0], c.in[1], {.batch_dims = c.get<rules::GatherNdAttrs>().batch_dims}), Gradient(), Gradient()};
}

TANDEM_INLINE Specs infer_scatter_nd(const InferCall& c) {
  check_index_dtype(c, 0);
  const Shape &idx = c.spec(0).shape, &updates = c.spec(1).shape, &to = c.get<rules::ScatterNdAttrs>().shape;
  if (!(dtypes::number | DType::complex128).has(c.spec(1).dtype)) raise_specs(c, "updates must be numbers");
  if (!to.is_fully_defined() || idx.rank() == 0 || idx.dim(-1) == none || idx.dim(-1) > to.rank())
    raise_specs(c, "index vectors do not fit the shape " + to_string(to));
  for (i64 d : to)
    if (d < 0) raise_specs(c, "the shape " + to_string(to) + " has a negative size");
  Shape want = idx;
  want.resize(idx.rank() - 1);
  for (int i = static_cast<int>(idx.dim(-1)); i < to.rank(); ++i) want.push_back(to.dim(i));
  if (!want.is_compatible_with(updates)) raise_specs(c, "updates must have the shape " + to_string(want));
  return Specs(Spec{to, c.spec(1).dtype, c.spec(1).device});
}
TANDEM_INLINE void scatter_nd_kernel(const KernelCall& c) { cpu::scatter_nd(c, 0, 1, 0); }
TANDEM_INLINE Grads scatter_nd_gradient(const GradCall& c) { return {Gradient(), gather_nd(c.g[0], c.in[0])}; }

TANDEM_INLINE Specs infer_take_along(const InferCall& c) {
  check_index_dtype(c, 1);
  const Shape &x = c.spec(0).shape, &idx = c.spec(1).shape;
  const int axis = resolve_axis(c.op.name, c.get<rules::AlongAttrs>().axis, x.rank());
  if (idx.rank() != x.rank()) raise_specs(c, "the indices must have x's rank");
  for (int i = 0; i < x.rank(); ++i)
    if (i != axis && x.dim(i) != idx.dim(i) && x.dim(i) != none && idx.dim(i) != none)
      raise_specs(c, "sizes differ on axis " + std::to_string(i));
  return Specs(Spec{idx, c.spec(0).dtype, c.spec(0).device});
}
TANDEM_INLINE Specs infer_take_along_grad(const InferCall& c) { return infer_scatter_back(c, &infer_take_along); }
TANDEM_INLINE int along_axis(const KernelCall& c) {
  return resolve_axis(c.op, c.attrs.get<rules::AlongAttrs>().axis, c.out[0].shape().rank());
}
TANDEM_INLINE void take_along_kernel(const KernelCall& c) { cpu::take_along(c, along_axis(c)); }
TANDEM_INLINE void take_along_grad_kernel(const KernelCall& c) { cpu::take_along_grad(c, along_axis(c)); }
// Scatters g back to the positions it was taken from.
TANDEM_INLINE Tensor put_along_axis(const Tensor& g, const Tensor& indices, const Tensor& like, i64 axis) {
  return apply1(take_along_axis_grad_op, rules::AlongAttrs{axis}, no_options, g, indices, like);
}
TANDEM_INLINE Grads take_along_gradient(const GradCall& c) {
  return {put_along_axis(c.g[0], c.in[1], c.in[0], c.get<rules::AlongAttrs>().axis), Gradient()};
}
TANDEM_INLINE Grads take_along_grad_gradient(const GradCall& c) {
  return {take_along_axis(c.g[0], c.in[1], c.get<rules::AlongAttrs>().axis), Gradient(), Gradient()};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef gather_nd_op{.name = "gather_nd",
                                           .input_names = "x, indices",
                                           .infer = &detail::infer_gather_nd,
                                           .cpu = &detail::gather_nd_kernel,
                                           .cuda = TANDEM_CUDA(&cuda::gather_nd),
                                           .gradient = &detail::gather_nd_gradient,
                                           .inputs = 2,
                                           .saves = Saves::inputs,
                                           .attrs = &detail::attr_type<rules::GatherNdAttrs>};
TANDEM_INLINE constexpr OpDef gather_nd_grad_op{.name = "gather_nd_grad",
                                                .input_names = "g, indices, like",
                                                .infer = &detail::infer_gather_nd_grad,
                                                .cpu = &detail::gather_nd_grad_kernel,
                                                .cuda = TANDEM_CUDA(&cuda::gather_nd_grad),
                                                .gradient = &detail::gather_nd_grad_gradient,
                                                .dtypes = dtypes::number | DType::complex128,
                                                .inputs = 3,
                                                .saves = Saves::inputs,
                                                .shape_inputs = 4,
                                                .attrs = &detail::attr_type<rules::GatherNdAttrs>};
TANDEM_INLINE constexpr OpDef scatter_nd_op{.name = "scatter_nd",
                                            .input_names = "indices, updates",
                                            .infer = &detail::infer_scatter_nd,
                                            .cpu = &detail::scatter_nd_kernel,
                                            .cuda = TANDEM_CUDA(&cuda::scatter_nd),
                                            .gradient = &detail::scatter_nd_gradient,
                                            .dtypes = dtypes::number | DType::complex128,
                                            .dtype_input = 1,
                                            .inputs = 2,
                                            .saves = Saves::inputs,
                                            .attrs = &detail::attr_type<rules::ScatterNdAttrs>};
TANDEM_INLINE constexpr OpDef take_along_axis_op{.name = "take_along_axis",
                                                 .input_names = "x, indices",
                                                 .infer = &detail::infer_take_along,
                                                 .cpu = &detail::take_along_kernel,
                                                 .cuda = TANDEM_CUDA(&cuda::take_along_axis),
                                                 .gradient = &detail::take_along_gradient,
                                                 .inputs = 2,
                                                 .saves = Saves::inputs,
                                                 .attrs = &detail::attr_type<rules::AlongAttrs>};
TANDEM_INLINE constexpr OpDef take_along_axis_grad_op{.name = "take_along_axis_grad",
                                                      .input_names = "g, indices, like",
                                                      .infer = &detail::infer_take_along_grad,
                                                      .cpu = &detail::take_along_grad_kernel,
                                                      .cuda = TANDEM_CUDA(&cuda::take_along_axis_grad),
                                                      .gradient = &detail::take_along_grad_gradient,
                                                      .dtypes = dtypes::number | DType::complex128,
                                                      .inputs = 3,
                                                      .saves = Saves::inputs,
                                                      .shape_inputs = 4,
                                                      .attrs = &detail::attr_type<rules::AlongAttrs>};

TANDEM_INLINE Tensor gather_nd(const Tensor& x, const Tensor& indices, GatherNdOptions o) {
  return apply1(gather_nd_op, rules::GatherNdAttrs{o.batch_dims}, {o.name, o.where}, x, indices);
}
TANDEM_INLINE Tensor scatter_nd(const Tensor& indices, const Tensor& updates, const Dims& shape, OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (shape.is_known())
    return apply1(scatter_nd_op, rules::ScatterNdAttrs{shape.numbers("scatter_nd")}, o, indices, updates);
  return tensor_scatter_nd_add(zeros(shape, {.dtype = updates.dtype()}), indices, updates, o);
}
TANDEM_INLINE Tensor take_along_axis(const Tensor& x, const Tensor& indices, i64 axis, OpOptions o) {
  return apply1(take_along_axis_op, rules::AlongAttrs{axis}, o, x, indices);
}

}  // namespace TANDEM_NS
