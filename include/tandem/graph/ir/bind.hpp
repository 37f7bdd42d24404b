// bind: turns a graph with unknown dimensions into one with known sizes, for arguments of given specs.
#pragma once
#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

/// Binds the graph to arguments of these specs: reruns each op's shape rule and turns integers that follow from
/// shapes (what shape(x) feeds) into constants. Dimensions that depend on data stay unknown.
///   arguments  as many as the graph has, each compatible with its argument's spec
///   throws     what an op's shape rule raises if these sizes do not fit
TANDEM_LAZY TANDEM_API Ref<Graph> bind(const Graph& graph, Span<const Spec> arguments);

}  // namespace TANDEM_NS
