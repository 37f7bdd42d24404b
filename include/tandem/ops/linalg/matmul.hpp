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
/// The matrix product a b over the last two axes, the leading ones broadcast.
///   a, b      [..., m, k] and [..., k, n] (after their flags); float32, float64, complex64, 32- and 64-bit integers
///   returns   [..., m, n], same dtype; zeros where k is 0
///   throws    errors::InvalidArgumentError if dtypes or inner dimensions differ, batches do not broadcast, or an
///             operand has rank below 2
///   gradient  g b^H, a^H g, by flags: nothing is transposed in memory
TANDEM_API Tensor matmul(const Tensor& a, const Tensor& b, MatmulOptions = {});

namespace linalg {
using tandem::matmul;
struct MatvecOptions {
  TANDEM_OP_OPTIONS;
  bool transpose_a = false;
  bool adjoint_a = false;
};
/// The matrix-vector product a v.
///   a, v      [..., m, k] and [..., k]; dtypes as matmul
///   returns   [..., m]
///   gradient  g v^H, a^H g
TANDEM_API Tensor matvec(const Tensor& a, const Tensor& v, MatvecOptions = {});
}  // namespace linalg

extern TANDEM_API const OpDef matmul_op;
inline constexpr const OpDef* matmul_ops[] = {&matmul_op};

namespace rules {
struct MatmulAttrs {
  bool transpose_a = false, transpose_b = false;
  bool conjugate_a = false, conjugate_b = false;
  static constexpr auto fields =
      field_list(field("transpose_a", &MatmulAttrs::transpose_a), field("transpose_b", &MatmulAttrs::transpose_b),
                 field("conjugate_a", &MatmulAttrs::conjugate_a), field("conjugate_b", &MatmulAttrs::conjugate_b));
};
}  // namespace rules
namespace detail {
/// matmul with its flags in order; conjugation is left out for real numbers.
Tensor flagged_product(const Tensor& a, bool transpose_a, bool conjugate_a, const Tensor& b, bool transpose_b,
                       bool conjugate_b);
}  // namespace detail

}  // namespace TANDEM_NS
