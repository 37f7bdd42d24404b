// Rewrite: a copy of a graph while a pass changes it. For the definitions of passes.
#pragma once
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/graph/passes/analysis.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::detail {

/// Values may be replaced by equivalent ones, nodes may be changed or removed, and nodes may be added. The analysis is
/// that of the original graph.
class Rewrite : public Analysis {
 public:
  TANDEM_LAZY explicit Rewrite(const Graph& from)
      : Analysis(from), graph(from.copy()), same_(from.specs.size()), gone_(from.nodes.size()) {
    std::iota(same_.begin(), same_.end(), ValueId(0));
  }
  const Ref<Graph> graph;

  /// The current replacement of the value.
  ValueId now(ValueId value) const {
    while (same_[value] != value) value = same_[value];
    return value;
  }
  const Spec& spec(ValueId value) const { return graph->spec(value); }
  /// Node i with its inputs updated.
  Node& node(NodeId i) {
    for (ValueId& v : graph->nodes[i].in) v = now(v);
    return graph->nodes[i];
  }
  /// Replaces `value` by `by`, which must not depend on it.
  void replace(ValueId value, ValueId by) { same_[value] = now(by); }
  void remove(NodeId i) { gone_[i] = 1; }
  /// Adds a node before node i, or earlier if a node before i needs it; returns its first output.
  TANDEM_LAZY ValueId add_before(NodeId i, const OpDef& op, const Attrs& attrs, Span<const ValueId> in,
                                 Span<const Spec> out, const Node* named_after = nullptr) {
    Node n;
    n.op = &op, n.attrs = attrs;
    for (ValueId v : in) n.in.push_back(v);
    n.first_out = graph->specs.end_id(), n.outputs = static_cast<int>(out.size());
    if (named_after) n.name = named_after->name, n.where = named_after->where;
    for (const Spec& s : out) same_.push_back(same_.end_id()), graph->specs.push_back(s);
    added_.push_back({i, std::move(n)});
    return added_.back().node.first_out;
  }
  TANDEM_LAZY ValueId add_before(NodeId i, const OpDef& op, const Attrs& attrs, Span<const ValueId> in,
                                 const Spec& out) {
    return add_before(i, op, attrs, in, {&out, 1});
  }
  /// The rewritten graph, in the original order as far as inputs precede their uses; ends the rewrite.
  TANDEM_LAZY Ref<Graph> finish();

 private:
  struct Added {
    NodeId before;
    Node node;
  };
  TANDEM_LAZY ById<NodeId, Node> all_nodes();
  // Views cost nothing and cannot raise, so they follow where their source goes.
  bool is_view(const Node& n) const {
    return n.op->flags.alias && !n.op->flags.stateful && n.in.size() == 1 && spec(n.in[0]).shape.is_fully_defined() &&
           spec(n.first_out).shape.is_fully_defined();
  }
  TANDEM_LAZY static void append_with_inputs(NodeId i, ById<NodeId, Node>& all, const ById<ValueId, NodeId>& producers,
                                             ById<NodeId, char>& done, ById<NodeId, Node>& to);

  ById<ValueId, ValueId> same_;
  ById<NodeId, char> gone_;
  LeanVector<Added> added_;
};

// The remaining and the added nodes, each of these at its place.
TANDEM_LAZY_INLINE inline ById<NodeId, Node> Rewrite::all_nodes() {
  ById<NodeId, Node> all;
  all.reserve(gone_.size() + added_.size());
  std::stable_sort(added_.begin(), added_.end(), [](const Added& a, const Added& b) { return a.before < b.before; });
  auto next = added_.begin();
  for (const NodeId i : gone_.ids()) {
    for (; next != added_.end() && next->before == i; ++next) all.push_back(std::move(next->node));
    if (!gone_[i]) all.push_back(std::move(graph->nodes[i]));
  }
  for (Node& n : all)
    for (ValueId& v : n.in) v = now(v);
  return all;
}
// Appends node i after the nodes that it needs and that are not yet there.
TANDEM_LAZY_INLINE inline void Rewrite::append_with_inputs(NodeId i, ById<NodeId, Node>& all,
                                                           const ById<ValueId, NodeId>& producers,
                                                           ById<NodeId, char>& done, ById<NodeId, Node>& to) {
  for (LeanVector<NodeId> pending{i}; !pending.empty();) {
    const NodeId n = pending.back();
    if (!done[n])
      for (ValueId v : all[n].in)
        if (const NodeId p = producers[v]; !done[p]) pending.push_back(p);
    if (pending.back() != n) continue;
    pending.pop_back();
    if (!std::exchange(done[n], char{1})) to.push_back(std::move(all[n]));
  }
}
TANDEM_LAZY_INLINE inline Ref<Graph> Rewrite::finish() {
  ById<NodeId, Node> all = all_nodes();
  ById<ValueId, NodeId> producers(graph->specs.size());
  for (const NodeId i : all.ids())
    for (int k = 0; k < all[i].outputs; ++k) producers[all[i].first_out + k] = i;
  ById<NodeId, char> done(all.size());
  graph->nodes.clear();
  graph->nodes.reserve(all.size());
  for (ValueId& v : graph->outputs) v = now(v);
  for (const NodeId i : all.ids())
    if (!is_view(all[i])) append_with_inputs(i, all, producers, done, graph->nodes);
  for (ValueId v : graph->outputs) append_with_inputs(producers[v], all, producers, done, graph->nodes);
  return graph;
}

}  // namespace TANDEM_NS::detail
