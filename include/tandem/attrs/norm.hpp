// The attributes of the normalization ops, shared by the ops and their kernels.
#pragma once
#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS::rules {

struct LayerNormAttrs {
  i64 axes;  // the number of trailing axes that are normalized together
  double epsilon;
  bool scale, offset;  // which parameters are inputs
  TANDEM_ATTRS(LayerNormAttrs, axes, epsilon, scale, offset);
};
struct BatchNormAttrs {
  i64 axis;  // of the channels
  double epsilon;
  TANDEM_ATTRS(BatchNormAttrs, axis, epsilon);
};

}  // namespace TANDEM_NS::rules
