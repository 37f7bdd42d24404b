// KnownVariables: which values Variables have while one goes through a graph (for passes and prune()).
#pragma once
#include <algorithm>
#include <vector>

#include "tandem/graph/graph.hpp"

namespace TANDEM_NS::detail {

class KnownVariables {
 public:
  explicit KnownVariables(const Graph& g) : value_(g.variables.size(), -1) {}
  /// An earlier value that the read gives for sure, or -1. To be asked in program order, between calls of pass().
  int known(const Graph& g, const Node& read) {
    int& v = value_[place(read)];
    if (v >= 0 && g.spec(v) == g.spec(read.first_out)) return v;
    v = read.first_out;
    return -1;
  }
  /// Tells it of every node.
  void pass(const Node& n) {
    if (n.op == &assign_variable_op) value_[place(n)] = n.in[0];
    else if (has_effects(n)) std::fill(value_.begin(), value_.end(), -1);  // a body's assignments, a callback's
  }

 private:
  static std::size_t place(const Node& n) { return static_cast<std::size_t>(n.attrs.get<IndexAttrs>().index); }
  std::vector<int> value_;  // by Variable
};

}  // namespace TANDEM_NS::detail
