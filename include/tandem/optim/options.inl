// Definitions of optim/options.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/optim/rules.hpp"
#include "tandem/optim/clip.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/options.hpp"

namespace TANDEM_NS::detail {

TANDEM_INLINE void decay_weights(const std::vector<Gradient>& gradients, const std::vector<Variable>& variables,
                                 const Tensor& lr, const Tensor& step, double weight_decay) {
  const DecayAttrs attrs{weight_decay};
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const Gradient& g = gradients[i];
    if (!g.is_set()) continue;
    if (g.is_sparse()) {
      const IndexedSlices s = g.slices();
      const Tensor* const extra[] = {&s.values, &s.indices, &lr, &step};
      update(decay_update_sparse_op, {&variables[i], 1}, extra, attrs);
    } else {
      const Tensor* const extra[] = {&g.dense(), &lr, &step};
      update(decay_update_op, {&variables[i], 1}, extra, attrs);
    }
  }
}
TANDEM_INLINE std::vector<Gradient> clip_each_norm(const std::vector<Gradient>& gradients, double clip_norm) {
  return clip_by_norm(gradients, clip_norm);
}
TANDEM_INLINE std::vector<Gradient> clip_each_value(const std::vector<Gradient>& gradients, double clip_value) {
  return clip_by_value(gradients, -clip_value, clip_value);
}
TANDEM_INLINE std::vector<Gradient> clip_joint_norm(const std::vector<Gradient>& gradients, double clip_norm) {
  return clip_by_global_norm(gradients, clip_norm).gradients;
}

}  // namespace TANDEM_NS::detail
