// Matrix products: matmul, linalg::matvec. Not here: products with bias and activation (dense.hpp), einsum, solvers.
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {

struct MatmulOptions {
  TANDEM_OP_OPTIONS;
  bool transpose_a = false;
  bool transpose_b = false;
  bool adjoint_a = false;  ///< transposed and conjugated
  bool adjoint_b = false;
};
/// Multiplies matrices: the product a b over the last two axes, with the leading axes broadcast.
///   a, b      [..., m, k] and [..., k, n] (after applying the flags); numbers, same dtype; integers of 8 and
///             16 bits are multiplied in 32 and wrap
///   returns   [..., m, n], same dtype; zeros if k is 0
///   throws    errors::InvalidArgumentError if dtypes or inner dimensions differ, batch dimensions do not broadcast,
///             or an operand has rank below 2
///   gradient  to a: g b^H; to b: a^H g; computed with flags, so nothing is transposed in memory
TANDEM_API Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions = {});

namespace linalg {
using tandem::matmul;
struct MatvecOptions {
  TANDEM_OP_OPTIONS;
  bool transpose_a = false;
  bool adjoint_a = false;
};
/// Multiplies a matrix and a vector: a v.
///   a, v      [..., m, k] and [..., k]; dtypes as matmul
///   returns   [..., m]
///   gradient  to a: g v^H; to v: a^H g
TANDEM_API Tensor matvec(const Tensor& a, const Tensor& v, MatvecOptions = {});
}  // namespace linalg

TANDEM_OPS(matmul_ops, matmul)

namespace rules {
struct MatmulAttrs {
  bool transpose_a = false, transpose_b = false;
  bool conjugate_a = false, conjugate_b = false;
  TANDEM_ATTRS(MatmulAttrs, transpose_a, transpose_b, conjugate_a, conjugate_b);
};
}  // namespace rules
namespace detail {
/// matmul with positional flags. Conjugation is skipped for real numbers.
Tensor flagged_product(const Tensor& a, bool transpose_a, bool conjugate_a, const Tensor& b, bool transpose_b,
                       bool conjugate_b);
}  // namespace detail

}  // namespace TANDEM_NS
