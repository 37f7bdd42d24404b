// The attributes of the ops of tandem::linalg, shared by the ops and their kernels.
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
