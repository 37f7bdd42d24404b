// The attributes of the creation ops, shared by the ops and their kernels.
// Not here: public functions (fill.hpp, range.hpp).
#pragma once
#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS::rules {

struct FullLikeAttrs {
  double real;
  i64 whole;
  DType dtype;
  TANDEM_ATTRS(FullLikeAttrs, real, whole, dtype);
};
struct SequenceMaskAttrs {
  DType dtype;
  TANDEM_ATTRS(SequenceMaskAttrs, dtype);
};

}  // namespace TANDEM_NS::rules
