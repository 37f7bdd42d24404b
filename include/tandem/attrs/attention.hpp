// The attributes of attention, shared by the ops and their kernels.
#pragma once
#include "tandem/attrs/attrs.hpp"

namespace TANDEM_NS::rules {

struct AttentionAttrs {
  bool causal;
  bool by_width;  // the scale is 1 / sqrt(d), which may not be known yet
  double scale;
  bool steps_first = false;  // operands and result are [..., steps, heads, width], not [..., heads, steps, width]
  double dropout = 0;        // of the weights; above 0 the last input is its key
  TANDEM_ATTRS(AttentionAttrs, causal, by_width, scale, steps_first, dropout);

  /// The shape of an operand as [..., heads, steps, width]: that of the scores, the mask and lse.
  Shape heads_first(Shape s) const {
    if (!steps_first || s.rank() < 3) return s;
    const i64 heads = s.dim(-2);
    s.set(s.rank() - 2, s.dim(-3));
    s.set(s.rank() - 3, heads);
    return s;
  }
};

}  // namespace TANDEM_NS::rules
