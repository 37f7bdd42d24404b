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
  Pruner(const Graph& g, Span<const int> feeds)
      : graph_(g), producers_(g.producers()), fed_(g.specs.size(), 0), assigned_(g.specs.size(), -1), feeds_(feeds) {
    KnownVariables variables(g);
    for (const Node& n : g.nodes) {
      variables.pass(n);
      if (n.op == &read_variable_op) assigned_[at(n.first_out)] = variables.known(g, n);
    }
    for (int v : feeds) {
      check(v);
      if (std::exchange(fed_[at(v)], 1)) raise_prune("'" + name_of(v) + "' is fed twice");
    }
  }
  Ref<Graph> graph(Span<const int> fetches, Span<const int> run) {
    for (int v : fetches) check(v);
    for (int node : run)
      if (node < 0 || at(node) >= graph_.nodes.size())
        errors::raise<errors::OutOfRangeError>("prune", "the graph has no node " + std::to_string(node));
    const std::vector<char> needed = needed_for(fetches, run);
    check_arguments(needed, fetches);
    new_value_.assign(graph_.specs.size(), -1);
    auto out = make_ref<Graph>();
    out->name = graph_.name;
    for (int v : feeds_) {
      const Node& n = graph_.nodes[at(producers_[at(v)])];
      const bool keeps_name = n.outputs == 1 && !needed[at(producers_[at(v)])];
      new_value_[at(v)] = out->add_argument(graph_.spec(v), keeps_name ? n.name : name_of(v));
    }
    for (std::size_t i = 0; i < needed.size(); ++i)
      if (needed[i]) copy_node(*out, graph_.nodes[i]);
    for (int v : fetches) out->outputs.push_back(new_value_[at(source(v))]);
    return out;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  void check(int v) const {
    if (v < 0 || at(v) >= producers_.size() || producers_[at(v)] < 0)
      errors::raise<errors::OutOfRangeError>("prune", "the graph has no value %" + std::to_string(v));
  }
  // The value's source: for a read after an assignment, the assigned value.
  int source(int v) const {
    while (!fed_[at(v)] && assigned_[at(v)] >= 0) v = assigned_[at(v)];
    return v;
  }
  std::string name_of(int v) const {
    const Node& n = graph_.nodes[at(producers_[at(v)])];
    return n.name + ":" + std::to_string(v - n.first_out);
  }
  // By node: whether it is needed. Inputs are produced before their uses, so one backward walk finds all.
  std::vector<char> needed_for(Span<const int> fetches, Span<const int> run) const {
    std::vector<char> nodes(graph_.nodes.size(), 0);
    const auto want = [&](int v) {
      v = source(v);
      if (!fed_[at(v)]) nodes[at(producers_[at(v)])] = 1;
    };
    for (int v : fetches) want(v);
    for (int node : run) nodes[at(node)] = 1;
    for (std::size_t i = nodes.size(); i-- > 0;)
      if (nodes[i])
        for (int v : graph_.nodes[i].in) want(v);
    return nodes;
  }
  void check_arguments(const std::vector<char>& needed, Span<const int> fetches) const {
    for (int a : graph_.arguments) {
      const std::size_t node = at(producers_[at(a)]);
      if (!needed[node]) continue;
      std::string by;
      for (int v : fetches)
        if (by.empty() && needed_for({&v, 1}, {})[node]) by = "'" + name_of(v) + "'";
      raise_prune("input '" + graph_.nodes[node].name + "' is not fed and has no default; " +
                  (by.empty() ? "an op that must run" : by) + " depends on it (feed it, or a value on the way)");
    }
  }
  void copy_node(Graph& out, Node n) {
    for (int& v : n.in) v = new_value_[at(source(v))];
    if (n.op == &read_variable_op || n.op == &assign_variable_op)
      n.attrs = IndexAttrs{out.index_of(graph_.variables[static_cast<std::size_t>(n.attrs.get<IndexAttrs>().index)])};
    const int first = std::exchange(n.first_out, static_cast<int>(out.specs.size()));
    for (int k = 0; k < n.outputs; ++k) {
      if (!fed_[at(first + k)]) new_value_[at(first + k)] = n.first_out + k;
      out.specs.push_back(graph_.spec(first + k));
    }
    out.nodes.push_back(std::move(n));
  }

  const Graph& graph_;
  const std::vector<int> producers_;
  std::vector<char> fed_;      // indexed by value
  std::vector<int> assigned_;  // by value: for a read, the earlier value with the same contents
  Span<const int> feeds_;
  std::vector<int> new_value_;
};

// An op of the graph and one of its values, or -1 if it has none.
struct Endpoint {
  int node, value;
};
using NodesByName = std::map<std::string_view, int>;
TANDEM_LAZY TANDEM_INLINE NodesByName nodes_by_name(const Graph& g) {
  NodesByName r;
  for (const Node& n : g.nodes) r.try_emplace(n.name, static_cast<int>(&n - g.nodes.data()));
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
  const int at = found->second;
  const Node& n = g.nodes[static_cast<std::size_t>(at)];
  if (output < 0 && n.outputs == 0) return {at, -1};
  if (output < 0 && n.outputs > 1)
    raise_prune("'" + tensor + "' has " + std::to_string(n.outputs) + " outputs: use '" + n.name + ":0' or another");
  if (output >= n.outputs) raise_prune("'" + n.name + "' has no output " + std::to_string(output));
  return {at, n.first_out + std::max(output, 0)};
}

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> prune(const Graph& graph, Span<const int> feeds, Span<const int> fetches,
                                    Span<const int> run) {
  return detail::Pruner(graph, feeds).graph(fetches, run);
}
TANDEM_LAZY_INLINE Ref<Graph> prune(const Graph& graph, Span<const std::string> feeds,
                                    Span<const std::string> fetches) {
  const detail::NodesByName nodes = detail::nodes_by_name(graph);
  std::vector<int> fed, fetched, run;
  for (const std::string& name : feeds) {
    fed.push_back(detail::find_tensor(graph, nodes, name).value);
    if (fed.back() < 0) detail::raise_prune("'" + name + "' has no output to feed");
  }
  for (const std::string& name : fetches) {
    const auto [node, value] = detail::find_tensor(graph, nodes, name);
    if (value >= 0) fetched.push_back(value);
    else run.push_back(node);
  }
  return prune(graph, fed, fetched, run);
}

}  // namespace TANDEM_NS
