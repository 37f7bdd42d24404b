// Analysis: what passes ask about the graph that they get: producers, uses, effects. Not here: changing it
// (rewrite.hpp), which buffer a view is in (graph/ir/views.hpp).
#pragma once
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::detail {

inline constexpr std::size_t no_node = static_cast<std::size_t>(-1);

class Analysis {
 public:
  TANDEM_LAZY explicit Analysis(const Graph& g) : producers_(g.producers()), uses_(g.uses()) {
    effects_.reserve(g.nodes.size());
    for (const Node& n : g.nodes) effects_.push_back(count_), count_ += has_effects(n);
  }
  /// The index of the node that produces the value; no_node if a pass has added it since.
  std::size_t producer(int value) const {
    const auto v = static_cast<std::size_t>(value);
    return v < producers_.size() ? static_cast<std::size_t>(producers_[v]) : no_node;
  }
  /// Whether one input or output of the graph uses the value, so that what replaces that use replaces the value.
  bool has_one_use(int value) const { return uses_[static_cast<std::size_t>(value)] == 1; }
  /// The number of effects before node i. Ops may change places only if it is equal for them.
  int effects_before(std::size_t i) const { return effects_[i]; }

 private:
  std::vector<int> producers_, uses_, effects_;
  int count_ = 0;
};

}  // namespace TANDEM_NS::detail
