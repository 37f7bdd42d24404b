// Analysis: what passes ask about the graph that they get: producers, uses, effects. Not here: changing it
// (rewrite.hpp), which buffer a view is in (graph/ir/views.hpp).
#pragma once
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::detail {

class Analysis {
 public:
  TANDEM_LAZY explicit Analysis(const Graph& g) : producers_(g.producers()), uses_(g.uses()) {
    effects_.reserve(g.nodes.size());
    for (const Node& n : g.nodes) effects_.push_back(count_), count_ += has_effects(n);
  }
  /// The node that produces the value; not set if a pass has added it since.
  NodeId producer(ValueId value) const { return producers_.contains(value) ? producers_[value] : NodeId(); }
  /// Whether one input or output of the graph uses the value, so that what replaces that use replaces the value.
  bool has_one_use(ValueId value) const { return uses_[value] == 1; }
  /// The number of effects before node i. Ops may change places only if it is equal for them.
  int effects_before(NodeId i) const { return effects_[i]; }

 private:
  ById<ValueId, NodeId> producers_;
  ById<ValueId, int> uses_;
  ById<NodeId, int> effects_;
  int count_ = 0;
};

}  // namespace TANDEM_NS::detail
