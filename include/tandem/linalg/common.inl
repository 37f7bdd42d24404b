// Definitions of linalg/common.hpp.
#pragma once
#include "tandem/linalg/common.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::linalg::impl {

TANDEM_INLINE void check_matrix(const InferCall& c, std::size_t i) {
  if (c.spec(i).shape.rank() < 2)
    tandem::detail::raise_specs(c, "needs matrices: tensors of rank 2 or more",
                                i ? "expand_dims(b, -1) makes a vector a matrix" : "");
}
TANDEM_INLINE const Shape& check_square(const InferCall& c, std::size_t i) {
  check_matrix(c, i);
  const Shape& s = c.spec(i).shape;
  if (s.dim(-1) != s.dim(-2) && s.dim(-1) != none && s.dim(-2) != none)
    tandem::detail::raise_specs(c, "the matrices are not square");
  return s;
}
TANDEM_INLINE DType real_dtype(DType d) {
  if (d == DType::complex64) return DType::float32;
  return d == DType::complex128 ? DType::float64 : d;
}
TANDEM_INLINE DType complex_dtype(DType d) {
  if (d == DType::float32) return DType::complex64;
  return d == DType::float64 ? DType::complex128 : d;
}
TANDEM_INLINE Shape leading(const Shape& s, int axes) {
  return Shape(Span(s.begin(), static_cast<std::size_t>(s.rank() - axes)));
}

TANDEM_INLINE Tensor product(const Tensor& a, const Tensor& b) { return matmul(a, b); }
TANDEM_INLINE Tensor adjoint_product(const Tensor& a, const Tensor& b) { return matmul(a, b, {.adjoint_a = true}); }
TANDEM_INLINE Tensor product_adjoint(const Tensor& a, const Tensor& b) { return matmul(a, b, {.adjoint_b = true}); }
TANDEM_INLINE Tensor scaled_columns(const Tensor& x, const Tensor& s) {
  return x * expand_dims(cast(s, x.dtype()), -2);
}
TANDEM_INLINE Tensor diagonal(const Tensor& s, DType d) { return linalg::diag(cast(s, d)); }
TANDEM_INLINE Tensor inverse_or_zero(const Tensor& x) {
  const Tensor zero = equal(x, 0);
  return where(zero, 0, 1 / where(zero, 1, x));
}
TANDEM_INLINE Gradient back_to_batch(const Tensor& g, const Tensor& x) {
  const Shape &a = g.spec().shape, &b = x.spec().shape;
  return Gradient(a.is_fully_defined() && a == b ? g : tandem::detail::sum_to_like(g, x));
}
TANDEM_INLINE Tensor plus(const Tensor& a, const Tensor& b) {
  if (!a.is_set()) return b;
  return b.is_set() ? a + b : a;
}

}  // namespace TANDEM_NS::linalg::impl
