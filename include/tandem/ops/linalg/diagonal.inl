// Definitions of ops/linalg/diagonal.hpp.
#pragma once
#include <algorithm>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/layout/layout.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS {
namespace detail {

inline constexpr i64 max_diagonal = i64{1} << 40;  // so that sums with sizes do not overflow

// Returns the requested size, or else the size that a diagonal of n elements needs.
TANDEM_INLINE i64 diag_size(i64 n, i64 shift, i64 other_shift, i64 given, bool square) {
  if (given != none || n == none) return given;
  if (n > INT64_MAX - max_diagonal) return n;  // too large for a tensor: the size check raises
  return n + (square ? std::max(shift, other_shift) : shift);
}
TANDEM_INLINE Specs infer_diag(const InferCall& c) {
  const auto& a = c.get<rules::DiagAttrs>();
  const Shape& v = c.spec(0).shape;
  if (v.rank() < 1) raise_specs(c, "the diagonal must have rank 1 or more");
  if (a.k > max_diagonal || a.k < -max_diagonal || a.rows < none || a.columns < none)
    raise_specs(c, "k = " + std::to_string(a.k) + " or the number of rows or columns is out of range");
  const i64 n = v.dim(-1), down = std::max<i64>(-a.k, 0), right = std::max<i64>(a.k, 0);
  const bool square = a.rows == none && a.columns == none;
  const i64 rows = diag_size(n, down, right, a.rows, square), columns = diag_size(n, right, down, a.columns, square);
  if (n != none && cpu::diagonal_length(rows, columns, a.k) != n)
    raise_specs(c, "diagonal " + std::to_string(a.k) + " of a matrix of " + std::to_string(rows) + " x " +
                       std::to_string(columns) + " does not have " + std::to_string(n) + " elements");
  Specs r(c.spec(0));
  r[0].shape.set(v.rank() - 1, rows);
  r[0].shape.push_back(columns);
  return r;
}
TANDEM_INLINE Shape diag_part_shape(const InferCall& c, i64 k) {
  Shape s = c.spec(0).shape;
  if (s.rank() < 2) raise_specs(c, "needs a matrix, or a batch of matrices");
  if (k > max_diagonal || k < -max_diagonal) raise_specs(c, "k = " + std::to_string(k) + " is out of range");
  const i64 rows = s.dim(-2), columns = s.dim(-1);
  s.resize(s.rank() - 1);
  s.set(s.rank() - 1, rows == none || columns == none ? none : cpu::diagonal_length(rows, columns, k));
  return s;
}
TANDEM_INLINE Specs infer_diag_part(const InferCall& c) {
  Specs r(c.spec(0));
  r[0].shape = diag_part_shape(c, c.get<rules::DiagPartAttrs>().k);
  return r;
}
TANDEM_INLINE Specs infer_set_diag(const InferCall& c) {
  const Shape want = diag_part_shape(c, c.get<rules::DiagPartAttrs>().k);
  if (c.spec(0).dtype != c.spec(1).dtype) raise_specs(c, "dtypes differ", "cast one of them");
  if (!want.is_compatible_with(c.spec(1).shape)) raise_specs(c, "the diagonal must have shape " + to_string(want));
  return Specs(c.spec(0));
}
TANDEM_INLINE void diag_kernel(const KernelCall& c) { cpu::diag(c, c.attrs.get<rules::DiagAttrs>().k); }
TANDEM_INLINE void diag_part_kernel(const KernelCall& c) { cpu::diag_part(c, c.attrs.get<rules::DiagPartAttrs>().k); }
TANDEM_INLINE void set_diag_kernel(const KernelCall& c) { cpu::set_diag(c, c.attrs.get<rules::DiagPartAttrs>().k); }

TANDEM_INLINE Grads diag_gradient(const GradCall& c) {
  return {Gradient(linalg::diag_part(c.g[0], {.k = c.get<rules::DiagAttrs>().k}))};
}
TANDEM_INLINE Grads diag_part_gradient(const GradCall& c) {
  return {Gradient(linalg::set_diag(zeros_like(c.in[0]), c.g[0], {.k = c.get<rules::DiagPartAttrs>().k}))};
}
TANDEM_INLINE Grads set_diag_gradient(const GradCall& c) {
  const i64 k = c.get<rules::DiagPartAttrs>().k;
  return {c.needs(0) ? Gradient(linalg::set_diag(c.g[0], zeros_like(c.in[1]), {.k = k})) : Gradient(),
          c.needs(1) ? Gradient(linalg::diag_part(c.g[0], {.k = k})) : Gradient()};
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef diag_op{.name = "diag",
                                      .input_names = "diagonal",
                                      .infer = &detail::infer_diag,
                                      .cpu = &detail::diag_kernel,
                                      .cuda = TANDEM_CUDA(&detail::diag_kernel),
                                      .gradient = &detail::diag_gradient,
                                      .saves = Saves::nothing,
                                      .attrs = &detail::attr_type<rules::DiagAttrs>};
TANDEM_INLINE constexpr OpDef diag_part_op{.name = "diag_part",
                                           .infer = &detail::infer_diag_part,
                                           .cpu = &detail::diag_part_kernel,
                                           .cuda = TANDEM_CUDA(&detail::diag_part_kernel),
                                           .gradient = &detail::diag_part_gradient,
                                           .saves = Saves::shape,
                                           .attrs = &detail::attr_type<rules::DiagPartAttrs>};
TANDEM_INLINE constexpr OpDef set_diag_op{.name = "set_diag",
                                          .input_names = "x, diagonal",
                                          .infer = &detail::infer_set_diag,
                                          .cpu = &detail::set_diag_kernel,
                                          .cuda = TANDEM_CUDA(&detail::set_diag_kernel),
                                          .gradient = &detail::set_diag_gradient,
                                          .inputs = 2,
                                          .saves = Saves::shape,
                                          .flags = {.in_place = true},
                                          .attrs = &detail::attr_type<rules::DiagPartAttrs>};

TANDEM_INLINE Tensor linalg::diag(const Tensor& diagonal, DiagOptions o) {
  return apply1(diag_op, rules::DiagAttrs{o.k, o.num_rows.value_or(none), o.num_cols.value_or(none)}, {o.name, o.where},
                diagonal);
}
TANDEM_INLINE Tensor linalg::diag_part(const Tensor& x, DiagPartOptions o) {
  return apply1(diag_part_op, rules::DiagPartAttrs{o.k}, {o.name, o.where}, x);
}
TANDEM_INLINE Tensor linalg::set_diag(const Tensor& x, const Tensor& diagonal, DiagPartOptions o) {
  return apply1(set_diag_op, rules::DiagPartAttrs{o.k}, {o.name, o.where}, x, diagonal);
}
TANDEM_INLINE Tensor linalg::trace(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o);
  return reduce_sum(diag_part(x, {.where = o.where}), {.name = o.name, .where = o.where, .axis = {-1}});
}
TANDEM_INLINE Tensor linalg::tensor_diag(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const std::vector<DimValue> sizes = get_shape(x);
  if (2 * sizes.size() > max_rank)
    errors::raise<errors::InvalidArgumentError>(
        "tensor_diag", "the result of " + to_string(x.spec()) + " has more than " + std::to_string(max_rank) + " axes");
  Dims twice;
  for (int k = 0; k < 2; ++k)
    for (const DimValue& n : sizes) twice.push_back(n);
  return reshape(diag(reshape(x, {-1}), {.where = o.where}), twice, o);
}
TANDEM_INLINE Tensor linalg::tensor_diag_part(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const int half = x.rank() / 2;
  const Shape s = x.shape();
  bool fits = x.rank() % 2 == 0;
  for (int d = 0; fits && d < half; ++d)
    fits = s.dim(d) == s.dim(half + d) || s.dim(d) == none || s.dim(half + d) == none;
  if (!fits)
    errors::raise<errors::InvalidArgumentError>(
        "tensor_diag_part", "needs a shape whose second half equals its first half, not " + to_string(x.spec()));
  Shape first, second;
  for (int d = 0; d < half; ++d) first.push_back(d), second.push_back(half + d);
  const Tensor y = tandem::detail::same_dims(x, second, x, first);
  const std::vector<DimValue> sizes = get_shape(y);
  Dims kept;
  for (int d = 0; d < half; ++d) kept.push_back(sizes[static_cast<std::size_t>(d)]);
  const Tensor n = reduce_prod(tandem::shape(y, {.out_type = DType::int64})(Slice(0, half)));
  return reshape(diag_part(reshape(y, {n, n}), {.where = o.where}), kept, o);
}

}  // namespace TANDEM_NS
