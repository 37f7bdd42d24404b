// What the shape and gradient rules of tandem::linalg share.
#pragma once
#include "tandem/attrs/linalg.hpp"
#include "tandem/core/apply.hpp"

namespace TANDEM_NS::linalg::impl {

/// Raises unless input i is a matrix or a batch of them.
void check_matrix(const InferCall& c, std::size_t i = 0);
/// The same for square matrices. Returns the shape.
const Shape& check_square(const InferCall& c, std::size_t i = 0);
/// float32 for complex64, float64 for complex128, itself for floating.
DType real_dtype(DType d);
DType complex_dtype(DType d);
/// A shape without its last `axes` axes.
Shape leading(const Shape& s, int axes);

/// a b, a^H b, a b^H.
Tensor product(const Tensor& a, const Tensor& b);
Tensor adjoint_product(const Tensor& a, const Tensor& b);
Tensor product_adjoint(const Tensor& a, const Tensor& b);
/// The columns of x, times the numbers of s: x diag(s). s is real or of x's dtype.
Tensor scaled_columns(const Tensor& x, const Tensor& s);
/// diag(s) as dtype d.
Tensor diagonal(const Tensor& s, DType d);
/// 1 / x, or 0 where x is 0; no intermediate value is infinite.
Tensor inverse_or_zero(const Tensor& x);
/// g summed to the shape of x, whose leading axes were broadcast.
Gradient back_to_batch(const Tensor& g, const Tensor& x);
/// a + b, where either may be unset.
Tensor plus(const Tensor& a, const Tensor& b);

}  // namespace TANDEM_NS::linalg::impl
