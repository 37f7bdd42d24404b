// Definitions of graph/ir/prune.hpp.
#pragma once
#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>

#include "tandem/graph/ir/known_variables.hpp"
#include "tandem/graph/ir/prune.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_LAZY [[noreturn, gnu::cold]] inline void raise_prune(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("prune", what);
}

// Finds the ops between fed and fetched values.
TANDEM_LAZY class Pruner {
 public:
  Pruner(const Graph& g, Span<const ValueId> feeds)
      : graph_(g), producers_(g.producers()), fed_(g.specs.size()), assigned_(g.specs.size()), feeds_(feeds) {
    KnownVariables variables(g);
    for (const Node& n : g.nodes) {
      variables.pass(n);
      if (n.op == &read_variable_op) assigned_[n.first_out] = variables.known(g, n);
    }
    for (ValueId v : feeds) {
      check(v);
      if (std::exchange(fed_[v], 1)) raise_prune("'" + name_of(v) + "' is fed twice");
    }
  }
  Ref<Graph> graph(Span<const ValueId> fetches, Span<const NodeId> run) {
    for (ValueId v : fetches) check(v);
    for (const NodeId node : run)
      if (!graph_.nodes.contains(node))
        errors::raise<errors::OutOfRangeError>("prune", "the graph has no node " + std::to_string(node.number()));
    const ById<NodeId, char> needed = needed_for(fetches, run);
    check_arguments(needed, fetches);
    new_value_.resize(graph_.specs.size());
    auto out = make_ref<Graph>();
    out->name = graph_.name;
    for (ValueId v : feeds_) {
      const Node& n = graph_.nodes[producers_[v]];
      const bool keeps_name = n.outputs == 1 && !needed[producers_[v]];
      new_value_[v] = out->add_argument(graph_.spec(v), keeps_name ? n.name : name_of(v));
    }
    for (const NodeId i : needed.ids())
      if (needed[i]) copy_node(*out, graph_.nodes[i]);
    for (ValueId v : fetches) out->outputs.push_back(new_value_[source(v)]);
    return out;
  }

 private:
  void check(ValueId v) const {
    if (!producers_.contains(v) || !producers_[v].is_set())
      errors::raise<errors::OutOfRangeError>("prune", "the graph has no value %" + std::to_string(v.number()));
  }
  // The value's source: for a read after an assignment, the assigned value.
  ValueId source(ValueId v) const {
    while (!fed_[v] && assigned_[v].is_set()) v = assigned_[v];
    return v;
  }
  std::string name_of(ValueId v) const {
    const Node& n = graph_.nodes[producers_[v]];
    return n.name + ":" + std::to_string(v - n.first_out);
  }
  // By node: whether it is needed. Inputs are produced before their uses, so one backward walk finds all.
  ById<NodeId, char> needed_for(Span<const ValueId> fetches, Span<const NodeId> run) const {
    ById<NodeId, char> nodes(graph_.nodes.size());
    const auto want = [&](ValueId v) {
      v = source(v);
      if (!fed_[v]) nodes[producers_[v]] = 1;
    };
    for (ValueId v : fetches) want(v);
    for (const NodeId node : run) nodes[node] = 1;
    for (NodeId i = nodes.end_id(); i-- > NodeId(0);)
      if (nodes[i])
        for (ValueId v : graph_.nodes[i].in) want(v);
    return nodes;
  }
  void check_arguments(const ById<NodeId, char>& needed, Span<const ValueId> fetches) const {
    for (ValueId a : graph_.arguments) {
      const NodeId node = producers_[a];
      if (!needed[node]) continue;
      std::string by;
      for (ValueId v : fetches)
        if (by.empty() && needed_for({&v, 1}, {})[node]) by = "'" + name_of(v) + "'";
      raise_prune("input '" + graph_.nodes[node].name + "' is not fed and has no default; " +
                  (by.empty() ? "an op that must run" : by) + " depends on it (feed it, or a value on the way)");
    }
  }
  void copy_node(Graph& out, Node n) {
    for (ValueId& v : n.in) v = new_value_[source(v)];
    if (n.op == &read_variable_op || n.op == &assign_variable_op)
      n.attrs = rules::PositionAttrs{out.index_of(variable_of(graph_, n)).number()};
    const ValueId first = std::exchange(n.first_out, out.specs.end_id());
    for (int k = 0; k < n.outputs; ++k) {
      if (!fed_[first + k]) new_value_[first + k] = n.first_out + k;
      out.specs.push_back(graph_.spec(first + k));
    }
    out.nodes.push_back(std::move(n));
  }

  const Graph& graph_;
  const ById<ValueId, NodeId> producers_;
  ById<ValueId, char> fed_;
  ById<ValueId, ValueId> assigned_;  // for a read, the earlier value with the same contents
  Span<const ValueId> feeds_;
  ById<ValueId, ValueId> new_value_;
};

// An op of the graph and one of its values, if it has any.
struct Endpoint {
  NodeId node;
  ValueId value;
};
using NodesByName = std::map<std::string_view, NodeId>;
TANDEM_LAZY TANDEM_INLINE NodesByName nodes_by_name(const Graph& g) {
  NodesByName r;
  for (const Node& n : g.nodes) r.try_emplace(n.name, g.id_of(n));
  return r;
}
TANDEM_LAZY [[noreturn]] TANDEM_INLINE void raise_unknown_node(const Graph& g, std::string_view name) {
  std::string known;
  for (const Node& n : g.nodes) {
    if (known.size() < 200) known += (known.empty() ? "" : ", ") + n.name;
    else if (!known.ends_with("...")) known += ", ...";
  }
  errors::raise<errors::NotFoundError>(
      "prune", "graph '" + g.name + "' has no op named '" + std::string(name) + "' (it has " + known + ")");
}
// Resolves "a:1", or "a" if the op has one output.
TANDEM_LAZY TANDEM_INLINE Endpoint find_tensor(const Graph& g, const NodesByName& nodes, const std::string& tensor) {
  std::string_view name = tensor;
  int output = -1;
  const char *const end = name.data() + name.size(), *const digits = name.data() + (name.rfind(':') + 1);
  const auto [stop, error] = std::from_chars(digits, end, output);
  if (digits != name.data() && stop == end && error == std::errc())
    name.remove_suffix(static_cast<std::size_t>(end - digits) + 1);
  else output = -1;
  const auto found = nodes.find(name);
  if (found == nodes.end()) raise_unknown_node(g, name);
  const NodeId at = found->second;
  const Node& n = g.nodes[at];
  if (output < 0 && n.outputs == 0) return {at, {}};
  if (output < 0 && n.outputs > 1)
    raise_prune("'" + tensor + "' has " + std::to_string(n.outputs) + " outputs: use '" + n.name + ":0' or another");
  if (output >= n.outputs) raise_prune("'" + n.name + "' has no output " + std::to_string(output));
  return {at, n.first_out + std::max(output, 0)};
}

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> prune(const Graph& graph, Span<const ValueId> feeds, Span<const ValueId> fetches,
                                    Span<const NodeId> run) {
  return detail::Pruner(graph, feeds).graph(fetches, run);
}
TANDEM_LAZY_INLINE Ref<Graph> prune(const Graph& graph, Span<const std::string> feeds,
                                    Span<const std::string> fetches) {
  const detail::NodesByName nodes = detail::nodes_by_name(graph);
  LeanVector<ValueId> fed, fetched;
  LeanVector<NodeId> run;
  for (const std::string& name : feeds) {
    fed.push_back(detail::find_tensor(graph, nodes, name).value);
    if (!fed.back().is_set()) detail::raise_prune("'" + name + "' has no output to feed");
  }
  for (const std::string& name : fetches) {
    const auto [node, value] = detail::find_tensor(graph, nodes, name);
    if (value.is_set()) fetched.push_back(value);
    else run.push_back(node);
  }
  return prune(graph, fed, fetched, run);
}

}  // namespace TANDEM_NS
