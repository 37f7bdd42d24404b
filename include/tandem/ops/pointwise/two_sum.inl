// Definitions of ops/pointwise/two_sum.hpp.
#pragma once
#include "tandem/cpu/pointwise/two_sum.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/scatter.hpp"
#include "tandem/ops/pointwise/two_sum.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

inline void check_same_specs(const InferCall& c) {
  if (c.spec(1).dtype != c.spec(0).dtype) raise_specs(c, "dtypes differ", cast_hint(c, 0, 1));
  if (!c.spec(1).shape.is_compatible_with(c.spec(0).shape)) raise_specs(c, "shapes differ");
}
inline Specs two_like_the_first(const InferCall& c) {
  Specs r(c.spec(0));
  r[0].shape = r[0].shape.merge_with(c.spec(1).shape);
  r.push_back(Spec(r[0]));
  return r;
}
TANDEM_INLINE Specs infer_two_sum(const InferCall& c) {
  check_same_specs(c);
  return two_like_the_first(c);
}
TANDEM_INLINE Specs infer_two_sum_rows(const InferCall& c) {
  check_same_specs(c);
  if (!c.spec(0).shape.rank()) raise_specs(c, "a scalar has no rows");
  check_index_dtype(c, 2);
  if (c.spec(2).shape.rank() != 1) raise_specs(c, "the indices must have rank 1");
  Shape rows = c.spec(0).shape;
  rows.set(0, c.spec(2).shape.dim(0));
  if (c.spec(3).dtype != c.spec(0).dtype || !rows.is_compatible_with(c.spec(3).shape))
    raise_specs(c, "the new rows must be " + to_string(Spec{rows, c.spec(0).dtype, {}}));
  return two_like_the_first(c);
}
TANDEM_INLINE Grads two_sum_gradient(const GradCall& c) {
  if (!c.g[0].is_set()) return {Gradient(), Gradient()};
  return {c.g[0], c.g[0]};
}
TANDEM_INLINE Grads two_sum_rows_gradient(const GradCall& c) {
  const Tensor of_x = c.g[0].is_set() ? c.g[0] : zeros_like(c.g[1]);
  const Tensor of_errors = c.g[1].is_set() ? c.g[1] : zeros_like(c.g[0]);
  const Tensor rows = gather(of_x, c.in[2]);
  if (!c.needs(1)) return {of_x, Gradient(), Gradient(), rows};
  return {of_x, tensor_scatter_nd_update(of_errors, expand_dims(c.in[2], 1), rows), Gradient(), rows};
}
inline constexpr DTypes error_free = dtypes::floating | dtypes::complex | DType::complex128;

}  // namespace detail

TANDEM_INLINE constexpr OpDef two_sum_op{.name = "two_sum",
                                         .input_names = "x, y",
                                         .infer = &detail::infer_two_sum,
                                         .cpu = &cpu::two_sum,
                                         .cuda = TANDEM_CUDA(&cuda::two_sum),
                                         .gradient = &detail::two_sum_gradient,
                                         .dtypes = detail::error_free,
                                         .inputs = 2,
                                         .outputs = 2,
                                         .saves = Saves::nothing,
                                         .flags = {.in_place = true, .own_width = true}};
TANDEM_INLINE constexpr OpDef two_sum_rows_op{.name = "two_sum_rows",
                                              .input_names = "x, errors, indices, rows",
                                              .infer = &detail::infer_two_sum_rows,
                                              .cpu = &cpu::two_sum_rows,
                                              .cuda = TANDEM_CUDA(&cuda::two_sum_rows),
                                              .gradient = &detail::two_sum_rows_gradient,
                                              .dtypes = detail::error_free,
                                              .inputs = 4,
                                              .outputs = 2,
                                              .saves = Saves::inputs,
                                              .flags = {.in_place = true, .own_width = true}};

TANDEM_INLINE Tensors detail::two_sum(const Tensor& x, const Tensor& y, OpOptions o) {
  const Tensor* const in[] = {&x, &y};
  return apply(two_sum_op, in, no_attrs, o);
}
TANDEM_INLINE Tensors detail::two_sum_rows(const Tensor& x, const Tensor& errors, const Tensor& indices,
                                           const Tensor& rows, OpOptions o) {
  const Tensor* const in[] = {&x, &errors, &indices, &rows};
  return apply(two_sum_rows_op, in, no_attrs, o);
}

}  // namespace TANDEM_NS
