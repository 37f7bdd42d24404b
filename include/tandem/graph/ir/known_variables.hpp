// KnownVariables: which values Variables have while one goes through a graph (for passes and prune()).
#pragma once
#include <vector>

#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS::detail {

class KnownVariables {
 public:
  explicit KnownVariables(const Graph& g) : known_(g.variables.size()) {}
  /// An earlier value that the read gives for sure, or -1. To be asked in program order, between calls of pass().
  int known(const Graph& g, const Node& read) {
    Known& k = known_[place(read)];
    if (k.since == effects_ && g.spec(k.value) == g.spec(read.first_out)) return k.value;
    k = {read.first_out, effects_};
    return -1;
  }
  /// Tells it of every node.
  void pass(const Node& n) {
    if (n.op == &assign_variable_op) known_[place(n)] = {n.in[0], effects_};
    else if (has_effects(n)) ++effects_;  // a body's assignments, a callback's: forget all
  }

 private:
  static std::size_t place(const Node& n) { return static_cast<std::size_t>(n.attrs.get<IndexAttrs>().index); }
  struct Known {
    int value = -1, since = -1;  // valid while effects_ is `since`
  };
  std::vector<Known> known_;  // by Variable
  int effects_ = 0;
};

}  // namespace TANDEM_NS::detail
