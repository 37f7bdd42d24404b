// Definitions of ops/linalg/products.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/linalg/contract.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/linalg/products.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {
namespace detail {

[[noreturn, gnu::cold]] TANDEM_INLINE void raise_pair(const char* op, const std::string& what, const Tensor& a,
                                                      const Tensor& b) {
  errors::raise<errors::InvalidArgumentError>(op, what + ": " + to_string(a.spec()) + " x " + to_string(b.spec()));
}
TANDEM_INLINE Axes trailing_axes(i64 count, int rank) {
  Axes r = Axes::none();
  for (i64 i = 0; i < count; ++i) r.push_back(rank - count + i);
  return r;
}
TANDEM_INLINE Axes leading_axes(i64 count) {
  Axes r = Axes::none();
  for (i64 i = 0; i < count; ++i) r.push_back(i);
  return r;
}

}  // namespace detail

TANDEM_INLINE Tensor tensordot(const Tensor& a, const Tensor& b, const TensordotAxes& axes, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const Shape &sa = a.spec().shape, &sb = b.spec().shape;
  const auto refuse = [&](const std::string& what) { detail::raise_pair("tensordot", what, a, b); };
  if (a.dtype() != b.dtype()) refuse("dtypes differ; cast one of them");
  if (axes.is_count() && (axes.count() < 0 || axes.count() > sa.rank() || axes.count() > sb.rank()))
    refuse("cannot sum over " + std::to_string(axes.count()) + " axes");
  const Axes in_a = axes.is_count() ? detail::trailing_axes(axes.count(), sa.rank()) : axes.a();
  const Axes in_b = axes.is_count() ? detail::leading_axes(axes.count()) : axes.b();
  if (in_a.size() != in_b.size())
    refuse("the lists have " + std::to_string(in_a.size()) + " and " + std::to_string(in_b.size()) + " axes");
  (void)in_a.mask("tensordot", sa.rank());  // raises for an axis out of range or given twice
  (void)in_b.mask("tensordot", sb.rank());
  tandem::detail::Labelled x{a, {}}, y{b, {}};
  tandem::detail::Labels keep;
  Shape paired_a, paired_b;
  for (int i = 0; i < sa.rank(); ++i) x.labels.push_back(i);
  for (int i = 0; i < sb.rank(); ++i) y.labels.push_back(max_rank + i);
  for (int k = 0; k < in_a.size(); ++k) {
    const int p = resolve_axis("tensordot", in_a[k], sa.rank()), q = resolve_axis("tensordot", in_b[k], sb.rank());
    if (sa.dim(p) != sb.dim(q) && sa.dim(p) != none && sb.dim(q) != none)
      refuse("axis " + std::to_string(p) + " of a and axis " + std::to_string(q) + " of b have different sizes");
    y.labels[static_cast<std::size_t>(q)] = p;
    paired_a.push_back(p), paired_b.push_back(q);
  }
  y.tensor = tandem::detail::same_dims(b, paired_b, a, paired_a);
  if (sa.rank() + sb.rank() - 2 * in_a.size() > max_rank)
    refuse("the result has more than " + std::to_string(max_rank) + " axes");
  for (const int l : x.labels)
    if (!tandem::detail::has_label(y.labels, l)) keep.push_back(l);
  for (const int l : y.labels)
    if (l >= max_rank) keep.push_back(l);
  return identity(tandem::detail::contract(x, y, keep).tensor, o);
}

TANDEM_INLINE Tensor linalg::kron(const Tensor& a, const Tensor& b, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const int ra = a.rank(), rb = b.rank(), most = ra > rb ? ra : rb;
  if (ra < 2 || rb < 2) tandem::detail::raise_pair("kron", "operands need rank 2 or more", a, b);
  if (most + 2 > max_rank) tandem::detail::raise_pair("kron", "too many leading axes", a, b);
  const Tensor y = expand_dims(expand_dims(a, -1), -3) * expand_dims(expand_dims(b, -2), -4);
  // a: [..., m, 1, n, 1], b: [..., 1, p, 1, q]
  const std::vector<DimValue> sizes = get_shape(y);
  Dims dims;
  const std::size_t batch = sizes.size() - 4;
  for (std::size_t i = 0; i < batch; ++i) dims.push_back(sizes[i]);
  for (std::size_t i = batch; i < sizes.size(); i += 2) {
    const DimValue &p = sizes[i], &q = sizes[i + 1];
    dims.push_back(p.is_known() && q.is_known() ? Dim(p.number * q.number) : Dim(p.value() * q.value()));
  }
  return reshape(y, dims, o);
}

TANDEM_INLINE Tensor linalg::cross(const Tensor& a, const Tensor& b, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const auto three = [&](const Tensor& x) {
    if (x.rank() == 0 || (x.spec().shape.dim(-1) != 3 && x.spec().shape.dim(-1) != none))
      tandem::detail::raise_pair("cross", "the last axis must have size 3", a, b);
    Shape s = x.spec().shape;
    if (s.dim(-1) == 3) return x;
    s.set(s.rank() - 1, 3);
    return ensure_shape(x, s);
  };
  const Tensor x = three(a), y = three(b);
  return subtract(roll(x, -1, -1) * roll(y, -2, -1), roll(x, -2, -1) * roll(y, -1, -1), o);
}

TANDEM_INLINE Tensor linalg::matrix_power(const Tensor& a, i64 n, OpOptions o) {
  const tandem::detail::CallSite call(o);
  const Shape& s = a.spec().shape;
  const auto refuse = [&](const std::string& what) {
    errors::raise<errors::InvalidArgumentError>("matrix_power", what + ": " + to_string(a.spec()));
  };
  if (s.rank() < 2) refuse("needs square matrices");
  if (s.dim(-1) != s.dim(-2) && s.dim(-1) != none && s.dim(-2) != none) refuse("the matrices are not square");
  if (n < 0) refuse("the power " + std::to_string(n) + " is negative (take the power of linalg::inv of it)");
  Tensor result, square = tandem::detail::same_dims(a, {-2}, a, {-1});
  if (n == 0) return set_diag(zeros_like(square), ones_like(diag_part(square)), {.name = o.name, .where = o.where});
  for (; n > 0; n /= 2) {
    if (n % 2) result = result.is_set() ? matmul(result, square) : square;
    if (n > 1) square = matmul(square, square);
  }
  return identity(result, o);
}

}  // namespace TANDEM_NS
