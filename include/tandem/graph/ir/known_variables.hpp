// KnownVariables: tracks which values Variables have while a graph is walked (for passes and prune()).
#pragma once
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::detail {

class KnownVariables {
 public:
  TANDEM_LAZY explicit KnownVariables(const Graph& g) : known_(g.variables.size()) {}
  /// An earlier value that the read is guaranteed to yield, if any. Must be called in program order, between calls of
  /// pass().
  TANDEM_LAZY ValueId known(const Graph& g, const Node& read) {
    Known& k = known_[variable_index(read)];
    if (k.since == effects_ && g.spec(k.value) == g.spec(read.first_out)) return k.value;
    k = {read.first_out, effects_};
    return {};
  }
  /// Advances past a node; must be called for every node.
  TANDEM_LAZY void pass(const Node& n) {
    if (n.op == &assign_variable_op) known_[variable_index(n)] = {n.in[0], effects_};
    else if (has_effects(n)) ++effects_;  // assignments by a body or a callback: forget everything
  }

 private:
  struct Known {
    ValueId value;
    int since = -1;  // valid while effects_ == since
  };
  ById<VariableIndex, Known> known_;
  int effects_ = 0;
};

}  // namespace TANDEM_NS::detail
