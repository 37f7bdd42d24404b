// The pass that begins work beside the program early: sums of gradients over processes travel while the rest of a
// backward pass runs. Benchmark row: distribute (all_reduce, whose time it hides).
#pragma once
#include <algorithm>

#include "tandem/graph/passes/analysis.hpp"
#include "tandem/graph/passes/passes.hpp"

namespace TANDEM_NS {

namespace detail {

class EarlyStart {
 public:
  TANDEM_LAZY explicit EarlyStart(const Graph& g) : graph_(g), analysis_(g), before_(g.nodes.size()) {}

  TANDEM_LAZY Ref<Graph> run() {
    NodeId least;  // the latest position of an op that talks to other processes
    for (const NodeId i : graph_.nodes.ids()) {
      const Node& n = graph_.nodes[i];
      if (n.op->flags.early) least = move(i, least);
      else if (is_collective(n)) least = i;
    }
    return reordered();
  }

 private:
  // Whether the op, or one in the graphs that it runs, talks to other processes.
  TANDEM_LAZY static bool is_collective(const Node& node) {
    if (node.op->flags.collective) return true;
    for (const Graph* g : subgraphs(node))
      for (const Node& n : g->nodes)
        if (is_collective(n)) return true;
    return false;
  }
  // Whether the node may go along with the op that alone uses its result.
  bool goes_along(NodeId i) const {
    const Node& n = graph_.nodes[i];
    return (n.op->loop || n.op->flags.alias) && n.outputs == 1 && analysis_.has_one_use(n.first_out) && !has_effects(n);
  }
  // The position behind which the inputs of node i are there, if the nodes that go along are moved.
  TANDEM_LAZY NodeId inputs_of(NodeId i, LeanVector<NodeId>& along) const {
    NodeId last;
    for (const ValueId v : graph_.nodes[i].in) {
      const NodeId p = analysis_.producer(v);
      const NodeId at = goes_along(p) ? inputs_of(p, along) : p;
      if (goes_along(p)) along.push_back(p);
      last = later(last, at);
    }
    return last;
  }
  static NodeId later(NodeId a, NodeId b) { return std::max(a, b); }  // of those that are set
  // Moves node i up behind its inputs and position `least`; returns where it is now.
  TANDEM_LAZY NodeId move(NodeId i, NodeId least) {
    LeanVector<NodeId> along;
    const NodeId to = later(inputs_of(i, along), least);
    for (const NodeId p : along) place(p, to);
    place(i, to);
    return to;
  }
  void place(NodeId i, NodeId behind) {
    before_[i] = behind;
    moved_.push_back(i);
  }
  TANDEM_LAZY Ref<Graph> reordered() const {
    Ref<Graph> r = graph_.copy();
    if (moved_.empty()) return r;
    ById<NodeId, Node> nodes;
    const auto add_behind = [&](NodeId position) {
      for (const NodeId i : moved_)
        if (before_[i] == position) nodes.push_back(graph_.nodes[i]);
    };
    add_behind(NodeId());
    ById<NodeId, char> is_moved(graph_.nodes.size());
    for (const NodeId i : moved_) is_moved[i] = 1;
    for (const NodeId i : graph_.nodes.ids()) {
      if (is_moved[i]) continue;
      nodes.push_back(graph_.nodes[i]);
      add_behind(i);
    }
    r->nodes = std::move(nodes);
    return r;
  }

  const Graph& graph_;
  const Analysis analysis_;
  ById<NodeId, NodeId> before_;  // of nodes that are moved: the node behind which they are put
  LeanVector<NodeId> moved_;     // in their new order
};

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> start_early(const Graph& from) { return detail::EarlyStart(from).run(); }

}  // namespace TANDEM_NS
