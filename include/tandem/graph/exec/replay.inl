// Definitions of graph/exec/replay.hpp.
#pragma once
#include "tandem/graph/exec/replay.hpp"
#include "tandem/graph/exec/replay_ops.hpp"

namespace TANDEM_NS {
TANDEM_LAZY_INLINE Tensors replay(const Graph& g, Inputs arguments) {
  const detail::ShapeChecks lenient(false);
  return detail::replay_ops(
      g, arguments, [&](const Node& n) { return detail::variable_of(g, n).read_value(); },
      [&](const Node& n, const Tensor& value) { detail::variable_of(g, n).assign(value); });
}

}  // namespace TANDEM_NS
