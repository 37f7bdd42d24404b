// Products made of others: tandem::tensordot, linalg::kron, cross, matrix_power. Not here: matmul and matvec
// (matmul.hpp), einsum (einsum.hpp).
#pragma once
#include <initializer_list>

#include "tandem/base/axes.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/ops/linalg/band_part.hpp"
#include "tandem/ops/linalg/diagonal.hpp"

namespace TANDEM_NS {

/// The axes that tensordot sums over: a number n (the last n of a with the first n of b), or one list for each operand:
/// {{1, 2}, {0, 1}}.
class TensordotAxes {
 public:
  template <detail::AxisNumber I>
  TensordotAxes(I count) : is_count_(true), count_(static_cast<i64>(count)) {}
  TensordotAxes(const Axes& a, const Axes& b) : a_(a), b_(b) {}

  bool is_count() const { return is_count_; }
  i64 count() const { return count_; }
  const Axes& a() const { return a_; }
  const Axes& b() const { return b_; }

 private:
  Axes a_, b_;
  bool is_count_ = false;
  i64 count_ = 0;
};
/// Tensor product, summed over pairs of axes: one matrix product after transposition.
///   a, b      numbers, same dtype
///   axes      a number n, or a list for each operand; 0 gives the outer product
///   returns   the remaining axes of a, then those of b
///   throws    errors::InvalidArgumentError if dtypes or paired sizes differ, for an axis out of range or given twice,
///             or lists of different lengths
///   gradient  tensordot of g and the other operand
TANDEM_API Tensor tensordot(const Tensor& a, const Tensor& b, const TensordotAxes& axes, OpOptions = {});

namespace linalg {
using tandem::tensordot;

/// Kronecker product of matrices: every element of a multiplied by b.
///   a, b      [..., m, n] and [..., p, q], numbers of the same dtype; leading axes broadcast
///   returns   [..., m p, n q]
///   throws    errors::InvalidArgumentError for rank below 2
///   gradient  exact
TANDEM_API Tensor kron(const Tensor& a, const Tensor& b, OpOptions = {});
/// Cross product of vectors of length 3.
///   a, b      [..., 3], numbers of the same dtype; shapes that broadcast
///   returns   the broadcast shape
///   throws    errors::InvalidArgumentError if the last axis does not have size 3
///   gradient  to a: cross(b, g); to b: cross(g, a)
TANDEM_API Tensor cross(const Tensor& a, const Tensor& b, OpOptions = {});
/// Power of square matrices by repeated squaring: at most 2 log2(n) products.
///   a         [..., m, m]; dtypes as matmul
///   n         0 or more; 0 gives identity matrices
///   throws    errors::InvalidArgumentError if a is not square or n is negative
///   gradient  that of the products
TANDEM_API Tensor matrix_power(const Tensor& a, i64 n, OpOptions = {});
}  // namespace linalg

}  // namespace TANDEM_NS
