// Definitions of ops/index/scatter.hpp, and of the scatter functions of Variable.
#pragma once
#include "tandem/core/indexed_slices.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/cpu/index/scatter.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/gather_nd.hpp"
#include "tandem/ops/index/scatter.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_scatter_into(const InferCall& c) {
  check_index_dtype(c, 1);
  const Shape &x = c.spec(0).shape, &idx = c.spec(1).shape;
  if (c.spec(2).dtype != c.spec(0).dtype) raise_specs(c, "dtypes differ", "cast one of them");
  if (idx.rank() == 0 || idx.dim(-1) == none) raise_specs(c, "the indices need a last axis of known size");
  const i64 width = idx.dim(-1);
  if (width > x.rank()) raise_specs(c, "index vectors of " + std::to_string(width) + " entries");
  Shape want = idx;
  want.resize(idx.rank() - 1);
  for (int i = static_cast<int>(width); i < x.rank(); ++i) want.push_back(x.dim(i));
  if (!want.is_compatible_with(c.spec(2).shape)) raise_specs(c, "updates must have the shape " + to_string(want));
  return Specs(c.spec(0));
}
template <cpu::ScatterMode M>
void scatter_kernel(const KernelCall& c) {
  cpu::scatter_into(c, M);
}
TANDEM_INLINE Grads scatter_update_gradient(const GradCall& c) {
  const Tensor updates = gather_nd(c.g[0], c.in[1]);
  return {c.needs(0) ? Gradient(tensor_scatter_nd_update(c.g[0], c.in[1], zeros_like(updates))) : Gradient(),
          Gradient(), updates};
}
TANDEM_INLINE Grads scatter_add_gradient(const GradCall& c) {
  return {c.g[0], Gradient(), c.needs(2) ? Gradient(gather_nd(c.g[0], c.in[1])) : Gradient()};
}
// Shares g among the elements, of x and of the updates, that equal the result.
TANDEM_INLINE Grads scatter_extreme_gradient(const GradCall& c) {
  const Tensor &idx = c.in[1], &y = c.out[0];
  const DType d = y.dtype();
  const Tensor kept = cast(equal(c.in[0], y), d), chosen = cast(equal(c.in[2], gather_nd(y, idx)), d);
  const Tensor share = c.g[0] / maximum(tensor_scatter_nd_add(kept, idx, chosen), 1);
  return {c.needs(0) ? Gradient(kept * share) : Gradient(), Gradient(),
          c.needs(2) ? Gradient(chosen * gather_nd(share, idx)) : Gradient()};
}
constexpr OpDef scatter_row(const char* name, KernelFn kernel, KernelFn cuda, Grads (*gradient)(const GradCall&),
                            DTypes dtypes, Saves saves) {
  return {.name = name,
          .input_names = "x, indices, updates",
          .infer = &infer_scatter_into,
          .cpu = kernel,
          .cuda = cuda,
          .gradient = gradient,
          .dtypes = dtypes,
          .inputs = 3,
          .saves = saves,
          .flags = {.in_place = true}};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef tensor_scatter_nd_update_op = detail::scatter_row(
    "tensor_scatter_nd_update", &detail::scatter_kernel<cpu::ScatterMode::update>,
    TANDEM_CUDA(&cuda::tensor_scatter_nd_update), &detail::scatter_update_gradient, dtypes::all, Saves::inputs);
TANDEM_INLINE constexpr OpDef tensor_scatter_nd_add_op = detail::scatter_row(
    "tensor_scatter_nd_add", &detail::scatter_kernel<cpu::ScatterMode::add>, TANDEM_CUDA(&cuda::tensor_scatter_nd_add),
    &detail::scatter_add_gradient, dtypes::number | DType::complex128, Saves::inputs);
TANDEM_INLINE constexpr OpDef tensor_scatter_nd_max_op = detail::scatter_row(
    "tensor_scatter_nd_max", &detail::scatter_kernel<cpu::ScatterMode::max>, TANDEM_CUDA(&cuda::tensor_scatter_nd_max),
    &detail::scatter_extreme_gradient, dtypes::real, Saves::all);
TANDEM_INLINE constexpr OpDef tensor_scatter_nd_min_op = detail::scatter_row(
    "tensor_scatter_nd_min", &detail::scatter_kernel<cpu::ScatterMode::min>, TANDEM_CUDA(&cuda::tensor_scatter_nd_min),
    &detail::scatter_extreme_gradient, dtypes::real, Saves::all);

TANDEM_INLINE Tensor tensor_scatter_nd_update(const Tensor& x, const Tensor& indices, const Tensor& updates,
                                              OpOptions o) {
  return apply1(tensor_scatter_nd_update_op, no_attrs, o, x, indices, updates);
}
TANDEM_INLINE Tensor tensor_scatter_nd_add(const Tensor& x, const Tensor& indices, const Tensor& updates, OpOptions o) {
  return apply1(tensor_scatter_nd_add_op, no_attrs, o, x, indices, updates);
}
TANDEM_INLINE Tensor tensor_scatter_nd_sub(const Tensor& x, const Tensor& indices, const Tensor& updates, OpOptions o) {
  const detail::CallSite call(o);
  return detail::in_name_of("tensor_scatter_nd_sub",
                            [&] { return apply1(tensor_scatter_nd_add_op, no_attrs, o, x, indices, -updates); });
}
TANDEM_INLINE Tensor tensor_scatter_nd_max(const Tensor& x, const Tensor& indices, const Tensor& updates, OpOptions o) {
  return apply1(tensor_scatter_nd_max_op, no_attrs, o, x, indices, updates);
}
TANDEM_INLINE Tensor tensor_scatter_nd_min(const Tensor& x, const Tensor& indices, const Tensor& updates, OpOptions o) {
  return apply1(tensor_scatter_nd_min_op, no_attrs, o, x, indices, updates);
}

namespace detail {
TANDEM_INLINE Tensor scatter_variable(const Variable& v, const OpDef& op, const Tensor& indices,
                                      const Tensor& updates) {
  if (dtypes::half_floating.has(v.dtype()) && !op.dtypes.has(v.dtype())) {  // no kernel that writes in place
    const Unobserved quiet;                                                 // as update(): not recorded by tapes
    v.assign(apply1(op, no_attrs, no_options, v.read_value(), indices, updates));
  } else {
    const Tensor* const extra[] = {&indices, &updates};
    update(op, {&v, 1}, extra);
  }
  return v.read_value();
}
// Scatters the rows of slices.
TANDEM_INLINE Tensor scatter_rows(const Variable& v, const OpDef& op, const IndexedSlices& rows) {
  return scatter_variable(v, op, expand_dims(rows.indices, -1), rows.values);
}
}  // namespace detail

TANDEM_INLINE Tensor Variable::scatter_nd_update(const Tensor& indices, const Tensor& updates) const {
  return detail::in_name_of("scatter_nd_update", [&] {
    return detail::scatter_variable(*this, tensor_scatter_nd_update_op, indices, updates);
  });
}
TANDEM_INLINE Tensor Variable::scatter_nd_add(const Tensor& indices, const Tensor& updates) const {
  return detail::in_name_of(
      "scatter_nd_add", [&] { return detail::scatter_variable(*this, tensor_scatter_nd_add_op, indices, updates); });
}
TANDEM_INLINE Tensor Variable::scatter_nd_sub(const Tensor& indices, const Tensor& updates) const {
  return detail::in_name_of(
      "scatter_nd_sub", [&] { return detail::scatter_variable(*this, tensor_scatter_nd_add_op, indices, -updates); });
}
TANDEM_INLINE Tensor Variable::scatter_update(const IndexedSlices& rows) const {
  return detail::in_name_of("scatter_update",
                            [&] { return detail::scatter_rows(*this, tensor_scatter_nd_update_op, rows); });
}
TANDEM_INLINE Tensor Variable::scatter_add(const IndexedSlices& rows) const {
  return detail::in_name_of("scatter_add", [&] { return detail::scatter_rows(*this, tensor_scatter_nd_add_op, rows); });
}
TANDEM_INLINE Tensor Variable::scatter_sub(const IndexedSlices& rows) const {
  return detail::in_name_of("scatter_sub", [&] {
    return detail::scatter_rows(*this, tensor_scatter_nd_add_op, {-rows.values, rows.indices, rows.like});
  });
}
TANDEM_INLINE Tensor Variable::scatter_max(const IndexedSlices& rows) const {
  return detail::in_name_of("scatter_max", [&] { return detail::scatter_rows(*this, tensor_scatter_nd_max_op, rows); });
}
TANDEM_INLINE Tensor Variable::scatter_min(const IndexedSlices& rows) const {
  return detail::in_name_of("scatter_min", [&] { return detail::scatter_rows(*this, tensor_scatter_nd_min_op, rows); });
}

}  // namespace TANDEM_NS
