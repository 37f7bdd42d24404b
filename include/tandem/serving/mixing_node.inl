// Definitions of serving/mixing_node.hpp.
#pragma once
#include <exception>
#include <vector>

#include "tandem/graph/exec/concrete.hpp"
#include "tandem/serving/mixing_node.hpp"
#include "tandem/serving/rows.hpp"
#include "tandem/serving/warm_up.hpp"

namespace TANDEM_NS::serving::impl {

// The nodes that compute something, in their order, in groups whose values take about this much memory for a few rows.
TANDEM_INLINE std::vector<std::vector<NodeId>> groups_of_nodes(const Graph& g) {
  constexpr double most = 64 << 20, unknown = 8;
  std::vector<std::vector<NodeId>> r;
  double bytes = most;
  for (const NodeId i : g.nodes.ids()) {
    const Node& n = g.nodes[i];
    if (is_leaf(n) || n.outputs == 0) continue;
    if (bytes >= most) r.emplace_back(), bytes = 0;
    r.back().push_back(i);
    for (int k = 0; k < n.outputs; ++k) {
      const Spec& s = g.spec(n.first_out + k);
      double size = static_cast<double>(size_of(s.dtype));
      for (int d = 0; d < s.shape.rank(); ++d)
        size *= s.shape.dim(d) == none ? unknown : static_cast<double>(s.shape.dim(d));
      bytes += size;
    }
  }
  return r;
}
// Whether a node is another one, or one that computes what it takes.
TANDEM_INLINE bool is_before(const Graph& g, NodeId before, NodeId node) {
  const ById<ValueId, NodeId> producers = g.producers();
  ById<NodeId, char> needed(g.nodes.size());
  needed[node] = 1;
  for (NodeId i = node; i > before; --i)
    if (needed[i])
      for (const ValueId v : g.nodes[i].in) needed[producers[v]] = 1;
  return needed[before] != 0;
}
TANDEM_INLINE std::string text_of_node(const Node& n) {
  const std::string line = tandem::detail::line_text(n.where);
  return "node '" + n.name + "' (" + n.op->name + ")" + (line.empty() ? "" : " at " + line);
}

// Runs a signature's graph with rows, and with one of them alone.
class RowTrial {
 public:
  RowTrial(ConcreteFunction& function, i64 row) : function_(function), graph_(function.graph()), row_(row) {}
  void add(const Tensor& rows) {
    rows_ = rows.shape().dim(0);
    together_.push_back(rows), alone_.push_back(rows(Slice(row_, row_ + 1)));
  }
  // The node that mixes rows among those of a group, or an earlier one.
  std::string find(const std::vector<NodeId>& group) {
    std::vector<ValueId> fetches;
    for (const NodeId i : group)
      for (int k = 0; k < graph_.nodes[i].outputs; ++k) fetches.push_back(graph_.nodes[i].first_out + k);
    const Ref<ConcreteFunction> part =
        function_.prune(Span<const ValueId>(graph_.arguments.data(), graph_.arguments.size()),
                        Span<const ValueId>(fetches.data(), fetches.size()));
    const std::vector<Tensor> together = (*part)(together_), alone = (*part)(alone_);
    std::size_t at = 0;
    for (const NodeId i : group)
      for (int k = 0; k < graph_.nodes[i].outputs; ++k, ++at) {
        const Tensor &x = together[at], &y = alone[at];
        if (has_rows(x, y)) {
          if (!agree(y, x(Slice(row_, row_ + 1)))) return text_of_node(graph_.nodes[first_suspect(i)]);
        } else if ((is_floating(x.dtype()) || is_complex(x.dtype())) && x.shape() == y.shape() && !agree(x, y)) {
          suspects_.push_back(i);
        }
      }
    return {};
  }

 private:
  bool has_rows(const Tensor& together, const Tensor& alone) const {
    return together.rank() > 0 && alone.rank() == together.rank() && together.shape().dim(0) == rows_ &&
           alone.shape().dim(0) == 1;
  }
  NodeId first_suspect(NodeId node) const {
    for (const NodeId i : suspects_)
      if (is_before(graph_, i, node)) return i;
    return node;
  }

  ConcreteFunction& function_;
  const Graph& graph_;
  const i64 row_;
  i64 rows_ = 0;
  std::vector<Tensor> together_, alone_;
  std::vector<NodeId> suspects_;  // their values have no rows, and differ
};

TANDEM_INLINE std::string mixing_node(const saved_model::Loaded& model, const std::string& signature,
                                      const saved_model::NamedTensors& rows, i64 row) {
  const saved_model::Signature& s = model.signatures().at(signature);
  if (!s.features.empty()) return {};
  ConcreteFunction& function = model.function(signature);
  RowTrial trial(function, row);
  for (const TensorInfo& in : s.inputs) trial.add(rows.at(in.name));
  try {
    for (const std::vector<NodeId>& group : groups_of_nodes(function.graph()))
      if (std::string found = trial.find(group); !found.empty()) return found;
  } catch (const errors::CancelledError&) {
    throw;  // the server ends
  } catch (const std::exception&) {
    return {};  // a part that cannot run alone, or no memory: the warning does without a name
  }
  return {};
}

}  // namespace TANDEM_NS::serving::impl
