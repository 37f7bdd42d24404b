// bind: from a graph with open dims to one whose sizes are known, for arguments of given specs.
#pragma once
#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS {

/// The graph for arguments of these specs: each op's shape rule runs again, and integers that follow from shapes alone
/// (what shape(x) feeds) become constants. Dims that depend on data stay open.
///   arguments  as many as the graph has, each compatible with its argument's spec
///   throws     what the shape rule of an op raises that does not fit these sizes
TANDEM_API Ref<Graph> bind(const Graph& graph, std::span<const Spec> arguments);

}  // namespace TANDEM_NS
