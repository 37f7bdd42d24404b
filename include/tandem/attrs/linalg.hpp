// The attributes of the ops of tandem::linalg, and how their operands are batches of matrices. Shared by the ops and
// their kernels.
#pragma once
#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS::rules {

struct CholeskyAttrs {
  double tolerance;  // a pivot of up to this times the element on the diagonal counts as 0
  TANDEM_ATTRS(CholeskyAttrs, tolerance);
};
struct TriangularSolveAttrs {
  bool lower, adjoint;
  TANDEM_ATTRS(TriangularSolveAttrs, lower, adjoint);
};
struct SolveAttrs {
  bool adjoint;
  TANDEM_ATTRS(SolveAttrs, adjoint);
};
struct LuAttrs {
  DType output_idx_type;
  TANDEM_ATTRS(LuAttrs, output_idx_type);
};
struct QrAttrs {
  bool full_matrices;
  TANDEM_ATTRS(QrAttrs, full_matrices);
};
struct SvdAttrs {
  bool full_matrices;
  TANDEM_ATTRS(SvdAttrs, full_matrices);
};
struct PinvAttrs {
  double rcond;
  TANDEM_ATTRS(PinvAttrs, rcond);
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS::linalg::impl {

inline constexpr DTypes matrix_dtypes = dtypes::floating | dtypes::complex | DType::complex128;

/// The number of matrices of a batch.
inline i64 matrices_of(const Shape& s, int axes = 2) {
  i64 n = 1;
  for (int i = 0; i < s.rank() - axes; ++i) n *= s.dim(i);
  return n;
}
/// Which matrix of an operand belongs to matrix i of the output, whose leading axes the operand's broadcast to.
inline i64 matrix_at(const Shape& operand, const Shape& out, i64 i) {
  i64 at = 0, step = 1;
  for (int d = out.rank() - 3, o = operand.rank() - 3; d >= 0; --d, --o) {
    if (o >= 0 && operand.dim(o) != 1) at += i % out.dim(d) * step, step *= operand.dim(o);
    i /= out.dim(d);
  }
  return at;
}

}  // namespace TANDEM_NS::linalg::impl
