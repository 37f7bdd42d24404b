// Rewrite: a copy of a graph while a pass changes it. For the implementation halves of passes.
#pragma once
#include <numeric>
#include <utility>
#include <vector>

#include "tandem/graph/graph.hpp"

namespace TANDEM_NS::detail {

/// Whether the node is where a value comes from, not what computes one.
inline bool is_source(const Node& n) {
  return n.op == &argument_op || n.op == &constant_op || n.op == &read_variable_op;
}

/// Values may be replaced by others that mean the same, nodes may go, and values without inputs may be added in front.
class Rewrite {
 public:
  explicit Rewrite(const Graph& from) : graph(from.copy()), same_(from.specs.size()), gone_(from.nodes.size()) {
    std::iota(same_.begin(), same_.end(), 0);
  }
  const Ref<Graph> graph;

  /// What stands for the value now.
  int now(int value) const { return same_[static_cast<std::size_t>(value)]; }
  const Spec& spec(int value) const { return graph->spec(value); }
  /// Node i, its inputs brought up to date. To be asked for in program order.
  Node& node(std::size_t i) {
    Node& n = graph->nodes[i];
    for (int& v : n.in) v = now(v);
    return n;
  }
  /// From here on `by` stands for `value`; by was made earlier.
  void replace(int value, int by) { same_[static_cast<std::size_t>(value)] = now(by); }
  void remove(std::size_t i) { gone_[i] = true; }
  /// A value that depends on nothing; it will stand before all others.
  int add_leaf(const OpDef& op, const Attrs& attrs, const Spec& spec) {
    Graph front;
    front.specs.swap(graph->specs);
    const int v = front.add(op, attrs, {}, {&spec, 1});
    front.specs.swap(graph->specs);
    leaves_.push_back(std::move(front.nodes[0]));
    same_.push_back(v);
    return v;
  }
  Ref<Graph> finish() {
    std::vector<Node> nodes = std::move(leaves_);
    for (std::size_t i = 0; i < gone_.size(); ++i)
      if (!gone_[i]) nodes.push_back(std::move(node(i)));
    graph->nodes = std::move(nodes);
    for (int& v : graph->outputs) v = now(v);
    return graph;
  }

 private:
  std::vector<int> same_;
  std::vector<bool> gone_;
  std::vector<Node> leaves_;
};

}  // namespace TANDEM_NS::detail
