// Branches: nodes of a graph that a program may run at the same time. Not here: where their values lie (plan.hpp), the
// threads (util/inter_op.hpp).
#pragma once
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

/// Stretches of successive nodes that fall into branches: no branch uses what another one computes, all of them are
/// kernels on the CPU, and none has effects.
struct Branches {
  struct Region {
    NodeId first, end;
    int count;  // of its branches
  };
  LeanVector<Region> regions;  // in order; they do not overlap
  ById<NodeId, int> of_node;   // the branch of a node in its region; -1 for leaves and outside of regions
};

namespace detail {
/// The time that a node takes on one thread, in nanoseconds; a rough estimate from the sizes of its operands.
TANDEM_LAZY double estimated_time(const Graph& graph, const Node& node);
/// Finds regions in which branches on `threads` threads take less time than their nodes one after another, each on up
/// to `within` threads.
///   may_branch   whether a node may be in a region
TANDEM_LAZY Branches find_branches(const Graph& graph, const ById<NodeId, char>& may_branch, int threads, int within);
}  // namespace detail

}  // namespace TANDEM_NS
