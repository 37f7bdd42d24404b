// Definitions of graph/exec/replay.hpp.
#pragma once
#include "tandem/graph/exec/replay.hpp"
#include "tandem/graph/exec/replay_ops.hpp"
#include "tandem/ops/random/element_keys.hpp"

namespace TANDEM_NS {
TANDEM_LAZY_INLINE Tensors replay(const Graph& g, Inputs arguments) {
  const detail::ShapeChecks lenient(false);
  const auto variable = [&](const Node& n) -> const Variable& {
    const Variable& v = variable_of(g, n);
    return context.stager ? v : random::detail::own_or_same(v);
  };
  return detail::replay_ops(
      g, arguments, [&](const Node& n) { return variable(n).read_value(); },
      [&](const Node& n, const Tensor& value) { variable(n).assign(value); });
}

}  // namespace TANDEM_NS
