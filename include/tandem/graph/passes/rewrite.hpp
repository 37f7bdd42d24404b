// Rewrite: a copy of a graph while a pass changes it. For the definitions of passes.
#pragma once
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS::detail {

/// Values may be replaced by equivalent ones, nodes may be removed, and values without inputs may be added at the
/// front.
class Rewrite {
 public:
  explicit Rewrite(const Graph& from) : graph(from.copy()), same_(from.specs.size()), gone_(from.nodes.size()) {
    std::iota(same_.begin(), same_.end(), 0);
  }
  const Ref<Graph> graph;

  /// The current replacement of the value.
  int now(int value) const { return same_[static_cast<std::size_t>(value)]; }
  const Spec& spec(int value) const { return graph->spec(value); }
  /// Node i with its inputs updated. Must be called in program order.
  Node& node(std::size_t i) {
    Node& n = graph->nodes[i];
    for (int& v : n.in) v = now(v);
    return n;
  }
  /// Replaces `value` by `by` from here on; `by` must be produced earlier.
  void replace(int value, int by) { same_[static_cast<std::size_t>(value)] = now(by); }
  void remove(std::size_t i) { gone_[i] = true; }
  /// Adds a value whose node will be inserted before node i. Must be called in the order of i.
  int add_before(std::size_t i, const OpDef& op, const Attrs& attrs, std::span<const int> in, const Spec& spec) {
    return add(added_, i, op, attrs, in, spec);
  }
  /// Adds a value that depends on nothing; its node will be placed before all others.
  int add_leaf(const OpDef& op, const Attrs& attrs, const Spec& spec) { return add(leaves_, 0, op, attrs, {}, spec); }
  Ref<Graph> finish() {
    std::vector<Node> nodes;
    for (Added& a : leaves_) nodes.push_back(std::move(a.node));
    auto next = added_.begin();
    for (std::size_t i = 0; i < gone_.size(); ++i) {
      for (; next != added_.end() && next->before == i; ++next) nodes.push_back(std::move(next->node));
      if (!gone_[i]) nodes.push_back(std::move(node(i)));
    }
    graph->nodes = std::move(nodes);
    for (int& v : graph->outputs) v = now(v);
    return graph;
  }

 private:
  struct Added {
    std::size_t before;
    Node node;
  };
  int add(std::vector<Added>& to, std::size_t before, const OpDef& op, const Attrs& attrs, std::span<const int> in,
          const Spec& spec) {
    Node n;
    n.op = &op, n.attrs = attrs, n.first_out = static_cast<int>(graph->specs.size());
    for (int v : in) n.in.push(v);
    graph->specs.push_back(spec);
    same_.push_back(n.first_out);
    to.push_back({before, std::move(n)});
    return to.back().node.first_out;
  }

  std::vector<int> same_;
  std::vector<bool> gone_;
  std::vector<Added> leaves_, added_;
};

}  // namespace TANDEM_NS::detail
