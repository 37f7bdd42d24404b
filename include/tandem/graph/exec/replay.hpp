// replay: applies a graph's ops one by one. Not here: running a graph as one program (program.hpp).
#pragma once
#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

/// Applies the graph's ops one by one, as if they had been called here: eagerly, recorded or traced.
TANDEM_LAZY TANDEM_API Tensors replay(const Graph& graph, Inputs arguments);

}  // namespace TANDEM_NS
