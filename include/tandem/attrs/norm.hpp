// The attributes of the normalization ops, shared by the ops and their kernels.
#pragma once
#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS {

struct LayerNormAttrs {
  i64 axes;  // the number of trailing axes that are normalized together
  double epsilon;
  bool scale, offset;  // which parameters are inputs
  static constexpr auto fields =
      field_list(field("axes", &LayerNormAttrs::axes), field("epsilon", &LayerNormAttrs::epsilon),
                 field("scale", &LayerNormAttrs::scale), field("offset", &LayerNormAttrs::offset));
};
struct BatchNormAttrs {
  i64 axis;  // of the channels
  double epsilon;
  static constexpr auto fields =
      field_list(field("axis", &BatchNormAttrs::axis), field("epsilon", &BatchNormAttrs::epsilon));
};

}  // namespace TANDEM_NS
