// Definitions of ops/index/gather.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/index/index.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS {

namespace detail {

// Validates axis, batch_dims and the batch sizes, and returns the non-negative axis.
TANDEM_INLINE int gather_axis(const InferCall& c, const Shape& x, const Shape& idx) {
  const auto& a = c.get<rules::GatherAttrs>();
  const int axis = resolve_axis(c.op.name, a.axis, x.rank());
  if (a.batch_dims < 0 || a.batch_dims > axis || a.batch_dims > idx.rank())
    raise_specs(c, "batch_dims = " + std::to_string(a.batch_dims) +
                       " must be between 0 and both the axis and the indices' rank");
  for (int i = 0; i < a.batch_dims; ++i)
    if (x.dim(i) != idx.dim(i) && x.dim(i) != none && idx.dim(i) != none) raise_specs(c, "batch axes differ in size");
  return axis;
}
TANDEM_INLINE Specs infer_gather(const InferCall& c) {
  const Shape &x = c.spec(0).shape, &idx = c.spec(1).shape;
  check_index_dtype(c, 1);
  const int axis = gather_axis(c, x, idx);
  Specs r(c.spec(0));
  Shape& s = r[0].shape;
  s.resize(axis);
  for (int i = static_cast<int>(c.get<rules::GatherAttrs>().batch_dims); i < idx.rank(); ++i) s.push_back(idx.dim(i));
  for (int i = axis + 1; i < x.rank(); ++i) s.push_back(x.dim(i));
  return r;
}
TANDEM_INLINE void gather_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::GatherAttrs>();
  cpu::gather(c, resolve_axis(c.op, a.axis, c.in[0].shape().rank()), static_cast<int>(a.batch_dims));
}
// Stands in for x where only its shape is needed, so that the gradient does not keep the table's buffer alive.
TANDEM_INLINE Tensor shape_only(const Tensor& x) { return x.is_symbolic() ? x : Tensor::symbol(x.spec()); }
TANDEM_INLINE Grads gather_gradient(const GradCall& c) {
  const auto& a = c.get<rules::GatherAttrs>();
  const Tensor &x = c.in[0], &idx = c.in[1], &g = c.g[0];
  if (a.batch_dims || resolve_axis("gather", a.axis, x.rank()))
    return {apply1(gather_grad_op, a, no_options, g, idx, shape_only(x)), Gradient()};
  if (idx.rank() == 1) return {IndexedSlices{g, idx, shape_only(x)}, Gradient()};
  return {IndexedSlices{collapse_leading(g, idx.rank()), collapse_leading(idx, idx.rank()), shape_only(x)}, Gradient()};
}

TANDEM_INLINE Specs infer_scatter_like(const InferCall& c) {
  const Attrs rows = rules::GatherAttrs{0, 0};
  const Tensor* const forward[] = {c.in[2], c.in[1]};
  check_upstream(c, &infer_gather, c.attrs.empty() ? rows : c.attrs, forward);
  return Specs(Spec{c.spec(2).shape, c.spec(0).dtype, c.spec(0).device});
}
TANDEM_INLINE void gather_grad_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::GatherAttrs>();
  cpu::gather_grad(c, resolve_axis(c.op, a.axis, c.out[0].shape().rank()), static_cast<int>(a.batch_dims));
}
TANDEM_INLINE Grads gather_grad_gradient(const GradCall& c) {
  return {apply1(gather_op, c.get<rules::GatherAttrs>(), no_options, c.g[0], c.in[1]), Gradient(), Gradient()};
}
TANDEM_INLINE void slices_to_dense_kernel(const KernelCall& c) { cpu::gather_grad(c, 0, 0); }
TANDEM_INLINE Grads slices_to_dense_gradient(const GradCall& c) {
  return {gather(c.g[0], c.in[1]), Gradient(), Gradient()};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef gather_op{.name = "gather",
                                        .input_names = "x, indices",
                                        .infer = &detail::infer_gather,
                                        .cpu = &detail::gather_kernel,
                                        .cuda = TANDEM_CUDA(&cuda::gather),
                                        .gradient = &detail::gather_gradient,
                                        .inputs = 2,
                                        .saves = Saves::inputs,
                                        .attrs = &detail::attr_type<rules::GatherAttrs>};
TANDEM_INLINE constexpr OpDef gather_grad_op{.name = "gather_grad",
                                             .input_names = "g, indices, like",
                                             .infer = &detail::infer_scatter_like,
                                             .cpu = &detail::gather_grad_kernel,
                                             .cuda = TANDEM_CUDA(&cuda::gather_grad),
                                             .gradient = &detail::gather_grad_gradient,
                                             .dtypes = dtypes::number | DType::complex128,
                                             .inputs = 3,
                                             .saves = Saves::inputs,
                                             .shape_inputs = 4,
                                             .attrs = &detail::attr_type<rules::GatherAttrs>};
TANDEM_INLINE constexpr OpDef slices_to_dense_op{.name = "slices_to_dense",
                                                 .input_names = "values, indices, like",
                                                 .infer = &detail::infer_scatter_like,
                                                 .cpu = &detail::slices_to_dense_kernel,
                                                 .cuda = TANDEM_CUDA(&cuda::slices_to_dense),
                                                 .gradient = &detail::slices_to_dense_gradient,
                                                 .dtypes = dtypes::number | DType::complex128,
                                                 .inputs = 3,
                                                 .saves = Saves::inputs,
                                                 .shape_inputs = 4};

TANDEM_INLINE Tensor gather(const Tensor& x, const Tensor& indices, GatherOptions o) {
  return apply1(gather_op, rules::GatherAttrs{o.axis.value_or(o.batch_dims), o.batch_dims}, {o.name, o.where}, x,
                indices);
}
// Converts negative indices, which gather does not accept.
TANDEM_INLINE Tensor Tensor::operator[](const Tensor& i) const {
  if (!dtypes::index.has(i.dtype()))
    errors::raise<errors::InvalidArgumentError>("x[i]", "an index must be int32 or int64, not " + to_string(i.spec()));
  if (i.rank() == 0 && !i.is_symbolic() && i.device().kind == Device::cpu)
    return (*this)[i.dtype() == DType::int32 ? i.item<std::int32_t>() : i.item<i64>()];
  const i64 n = shape()[0].number_or_none();
  const Tensor rows = n != none ? tandem::detail::scalar_like(n, i) : tandem::shape(*this, {.out_type = i.dtype()})[0];
  return gather(*this, where(i < 0, i + rows, i), 0);
}
TANDEM_INLINE Tensor nn::embedding_lookup(const Tensor& table, const Tensor& ids, EmbeddingLookupOptions o) {
  const Tensor rows = gather(table, ids, {.name = o.name, .where = o.where, .axis = 0});
  if (!o.max_norm) return rows;
  const tandem::detail::CallSite call(o);
  if (!(*o.max_norm > 0))
    errors::raise<errors::InvalidArgumentError>("embedding_lookup",
                                                "max_norm must be positive, not " + detail::shortest_text(*o.max_norm));
  Axes axes = Axes::none();
  for (int d = ids.rank(); d < rows.rank(); ++d) axes.push_back(d);
  const Tensor norm = reduce_euclidean_norm(rows, {.axis = axes, .keepdims = true});
  const Tensor most = tandem::detail::scalar_like(*o.max_norm, rows);
  return rows * (most / maximum(norm, most));
}
TANDEM_INLINE Tensor nn::batch_gather(const Tensor& x, const Tensor& indices, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const i64 batch = indices.rank() - 1;
  if (batch < 0) errors::raise<errors::InvalidArgumentError>("batch_gather", "the indices must have rank 1 or more");
  return apply1(gather_op, rules::GatherAttrs{batch, batch}, o, x, indices);
}
TANDEM_INLINE Tensor convert_to_tensor(const IndexedSlices& s) {
  return apply1(slices_to_dense_op, no_attrs, no_options, s.values, s.indices, s.like);
}

}  // namespace TANDEM_NS
