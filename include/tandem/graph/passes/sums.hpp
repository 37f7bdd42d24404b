// Sums: finds trees of additions and their terms. For passes that replace them.
#pragma once
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/ops/pointwise/arith.hpp"

namespace TANDEM_NS {
namespace detail {

struct SumTree {
  std::size_t root;               // the last addition
  std::vector<std::size_t> adds;  // the others, which have no other uses
  std::vector<int> terms;         // values
};

// An addition of floating numbers of known shape without broadcasting.
inline bool is_plain_addition(const Graph& g, const Node& n) {
  if (n.op != &add_op) return false;
  const Spec& s = g.spec(n.first_out);
  return s.shape.is_fully_defined() && dtypes::floating.has(s.dtype) && g.spec(n.in[0]) == s && g.spec(n.in[1]) == s;
}

// All addition trees of the graph, none nested in another. `makers` and `uses` are the graph's.
inline std::vector<SumTree> find_sums(const Graph& g, const std::vector<int>& makers, const std::vector<int>& uses) {
  std::vector<SumTree> found;
  std::vector<bool> inside(g.nodes.size());
  for (std::size_t root = g.nodes.size(); root-- > 0;) {
    if (inside[root] || !is_plain_addition(g, g.nodes[root])) continue;
    SumTree& tree = found.emplace_back(SumTree{root, {}, {}});
    for (std::vector<std::size_t> pending{root}; !pending.empty();) {
      const Node& n = g.nodes[pending.back()];
      pending.pop_back();
      for (int v : n.in) {
        const auto by = static_cast<std::size_t>(makers[static_cast<std::size_t>(v)]);
        if (uses[static_cast<std::size_t>(v)] != 1 || !is_plain_addition(g, g.nodes[by])) {
          tree.terms.push_back(v);
          continue;
        }
        inside[by] = true;
        tree.adds.push_back(by);
        pending.push_back(by);
      }
    }
  }
  return found;
}

}  // namespace detail
}  // namespace TANDEM_NS
