// The attributes of attention, shared by the ops and their kernels.
#pragma once
#include "tandem/base/attrs.hpp"

namespace TANDEM_NS {
struct AttentionAttrs {
  bool causal;
  bool by_width;  // the scale is 1 / sqrt(d), which may not be known yet
  double scale;
  static constexpr auto fields =
      field_list(field("causal", &AttentionAttrs::causal), field("by_width", &AttentionAttrs::by_width),
                 field("scale", &AttentionAttrs::scale));
};
}  // namespace TANDEM_NS
