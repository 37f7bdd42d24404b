// Definitions of ops/index/rows.hpp.
#pragma once
#include "tandem/cpu/index/rows.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/index/common.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/rows.hpp"

namespace TANDEM_NS {

namespace detail {

inline void check_has_rows(const InferCall& c) {
  if (!c.spec(0).shape.rank()) raise_specs(c, "a scalar has no rows");
}
inline void check_scalar_index(const InferCall& c, std::size_t i) {
  check_index_dtype(c, i);
  if (c.spec(i).shape.rank()) raise_specs(c, "the index must be a scalar");
}
inline void check_marks(const InferCall& c, std::size_t i) {
  if (c.spec(i).dtype != DType::bool_ || c.spec(i).shape.rank() != 1) raise_specs(c, "the marks must be bool [n]");
}
inline void check_rows_fit(const InferCall& c, const Shape& rows) {
  if (c.spec(2).dtype != c.spec(0).dtype || !rows.is_compatible_with(c.spec(2).shape))
    raise_specs(c, "the new rows must be " + to_string(Spec{rows, c.spec(0).dtype, {}}));
}
TANDEM_INLINE Specs infer_update_row(const InferCall& c) {
  check_has_rows(c);
  check_scalar_index(c, 1);
  Shape row = c.spec(0).shape;
  row.erase(0);
  check_rows_fit(c, row);
  return Specs(c.spec(0));
}
TANDEM_INLINE Specs infer_add_rows(const InferCall& c) {
  check_has_rows(c);
  check_index_dtype(c, 1);
  if (c.spec(1).shape.rank() != 1) raise_specs(c, "the indices must have rank 1");
  Shape rows = c.spec(0).shape;
  rows.set(0, c.spec(1).shape.dim(0));
  check_rows_fit(c, rows);
  return Specs(c.spec(0));
}
TANDEM_INLINE Specs infer_mark_written(const InferCall& c) {
  check_marks(c, 0);
  check_scalar_index(c, 1);
  return Specs(c.spec(0));
}
TANDEM_INLINE Specs infer_check_written(const InferCall& c) {
  check_index_dtype(c, 0);
  check_marks(c, 1);
  return Specs(c.spec(0));
}
TANDEM_INLINE Specs infer_check_all_written(const InferCall& c) {
  check_has_rows(c);
  check_marks(c, 1);
  const i64 rows = c.spec(0).shape.dim(0), marks = c.spec(1).shape.dim(0);
  if (rows != marks && rows != none && marks != none) raise_specs(c, "there must be one mark for each row");
  return Specs(c.spec(0));
}
TANDEM_INLINE Grads update_row_gradient(const GradCall& c) {
  const Tensor row = gather(c.g[0], c.in[1]);  // read before update_row may write into g
  return {c.needs(0) ? Gradient(update_row(c.g[0], c.in[1], zeros_like(row))) : Gradient(), Gradient(), row};
}
TANDEM_INLINE Grads add_rows_gradient(const GradCall& c) {
  return {c.g[0], Gradient(), c.needs(2) ? Gradient(gather(c.g[0], c.in[1])) : Gradient()};
}
TANDEM_INLINE Grads check_all_written_gradient(const GradCall& c) { return {c.g[0], Gradient()}; }

}  // namespace detail

TANDEM_INLINE constexpr OpDef update_row_op{.name = "update_row",
                                            .input_names = "x, index, row",
                                            .infer = &detail::infer_update_row,
                                            .cpu = &cpu::update_row,
                                            .cuda = TANDEM_CUDA(&cuda::update_row),
                                            .gradient = &detail::update_row_gradient,
                                            .inputs = 3,
                                            .saves = Saves::inputs,
                                            .flags = {.in_place = true}};
TANDEM_INLINE constexpr OpDef add_rows_op{.name = "add_rows",
                                          .input_names = "x, indices, rows",
                                          .infer = &detail::infer_add_rows,
                                          .cpu = &cpu::add_rows,
                                          .cuda = TANDEM_CUDA(&cuda::add_rows),
                                          .gradient = &detail::add_rows_gradient,
                                          .dtypes = dtypes::number | DType::complex128,
                                          .inputs = 3,
                                          .saves = Saves::inputs,
                                          .flags = {.in_place = true}};
TANDEM_INLINE constexpr OpDef mark_written_op{.name = "mark_written",
                                              .input_names = "written, index",
                                              .infer = &detail::infer_mark_written,
                                              .cpu = &cpu::mark_row,
                                              .cuda = TANDEM_CUDA(&cuda::mark_row),
                                              .inputs = 2,
                                              .flags = {.in_place = true, .non_differentiable = true}};
TANDEM_INLINE constexpr OpDef check_written_op{.name = "check_written",
                                               .input_names = "index, written",
                                               .infer = &detail::infer_check_written,
                                               .cpu = &cpu::check_row,
                                               .cuda = TANDEM_CUDA(&cuda::check_row),
                                               .inputs = 2,
                                               .flags = {.non_differentiable = true}};
TANDEM_INLINE constexpr OpDef check_all_written_op{.name = "check_all_written",
                                                   .input_names = "x, written",
                                                   .infer = &detail::infer_check_all_written,
                                                   .cpu = &cpu::check_rows,
                                                   .cuda = TANDEM_CUDA(&cuda::check_rows),
                                                   .gradient = &detail::check_all_written_gradient,
                                                   .inputs = 2,
                                                   .saves = Saves::nothing,
                                                   .flags = {.in_place = true}};

TANDEM_INLINE Tensor detail::update_row(const Tensor& x, const Tensor& i, const Tensor& row, OpOptions o) {
  return apply1(update_row_op, no_attrs, o, x, i, row);
}
TANDEM_INLINE Tensor detail::add_rows(const Tensor& x, const Tensor& indices, const Tensor& rows, OpOptions o) {
  return apply1(add_rows_op, no_attrs, o, x, indices, rows);
}
TANDEM_INLINE Tensor detail::mark_written(const Tensor& written, const Tensor& i, OpOptions o) {
  return apply1(mark_written_op, no_attrs, o, written, i);
}
TANDEM_INLINE Tensor detail::check_written(const Tensor& i, const Tensor& written, OpOptions o) {
  return apply1(check_written_op, no_attrs, o, i, written);
}
TANDEM_INLINE Tensor detail::check_all_written(const Tensor& x, const Tensor& written, OpOptions o) {
  return apply1(check_all_written_op, no_attrs, o, x, written);
}

}  // namespace TANDEM_NS
