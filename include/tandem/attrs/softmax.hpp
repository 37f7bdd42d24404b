// The attributes of the softmax family, shared by the ops and their kernels.
#pragma once
#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS::rules {

struct SoftmaxAttrs {
  i64 axis;
  TANDEM_ATTRS(SoftmaxAttrs, axis);
};

}  // namespace TANDEM_NS::rules
