// Builds, verifies and prints graphs.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/core/print.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS {

namespace detail {

// Collects the graphs among an op's attributes.
TANDEM_LAZY struct GraphFinder final : AttrVisitor {
  InlinedVector<const Graph*, 2> found;

  void number(const char*, i64) override {}
  void real(const char*, double) override {}
  void text(const char*, const std::string&) override {}
  void numbers(const char*, const i64*, int) override {}
  void opaque(const char*, const Opaque* value) override {
    if (const auto* g = dynamic_cast<const Graph*>(value)) found.push_back(g);
  }
};
TANDEM_LAZY inline bool changes(const Graph& g) {
  for (const Node& n : g.nodes)
    if (has_effects(n)) return true;
  return false;
}
TANDEM_LAZY inline bool reads(const Graph& g) {
  for (const Node& n : g.nodes)
    if (reads_state(n)) return true;
  return false;
}

}  // namespace detail

TANDEM_LAZY_INLINE InlinedVector<const Graph*, 2> subgraphs(const Node& node) {
  if (!node.op->rare.host_kernel) return {};  // only control flow has sub-graphs, and it executes them itself
  detail::GraphFinder finder;
  node.attrs.visit(finder);
  return std::move(finder.found);
}
TANDEM_LAZY_INLINE bool has_effects(const Node& node) {
  if (node.op->flags.stateful) return true;
  for (const Graph* g : subgraphs(node))
    if (detail::changes(*g)) return true;
  return false;
}
TANDEM_LAZY_INLINE bool reads_state(const Node& node) {
  if (node.op == &read_variable_op) return true;
  for (const Graph* g : subgraphs(node))
    if (detail::reads(*g)) return true;
  return false;
}

TANDEM_INLINE MadeOnce::~MadeOnce() {
  if (Opaque* const made = get()) made->release();
}
TANDEM_LAZY_INLINE Opaque* MadeOnce::keep(Ref<Opaque> made) const {
  Opaque* other = nullptr;
  if (!made_.compare_exchange_strong(other, made.get(), std::memory_order_acq_rel)) return other;
  made->retain();
  return made.get();
}

TANDEM_LAZY_INLINE Ref<Graph> Graph::copy() const {
  auto g = make_ref<Graph>();
  g->nodes = nodes, g->specs = specs, g->arguments = arguments, g->outputs = outputs;
  g->variables = variables, g->name = name;
  return g;
}
TANDEM_LAZY_INLINE ValueId Graph::add(const OpDef& op, const Attrs& attrs, Span<const ValueId> in, Span<const Spec> out,
                                      std::string node_name, SourceLocation where) {
  Node n;
  n.op = &op;
  n.attrs = attrs;
  n.first_out = specs.end_id();
  n.outputs = static_cast<int>(out.size());
  n.name = std::move(node_name);
  n.where = where;
  for (ValueId v : in) n.in.push_back(v);
  nodes.make_room();
  specs.append(out.begin(), out.end());
  nodes.push_back(std::move(n));
  return nodes.back().first_out;
}
TANDEM_LAZY_INLINE ValueId Graph::add_argument(const Spec& spec, std::string node_name) {
  const ValueId v =
      add(argument_op, rules::PositionAttrs{static_cast<i64>(arguments.size())}, {}, {&spec, 1}, std::move(node_name));
  arguments.push_back(v);
  return v;
}
TANDEM_LAZY_INLINE ValueId Graph::add_constant(const Tensor& value, std::string node_name) {
  return add(constant_op, rules::ConstantAttrs{make_ref<TensorBox>(value)}, {}, {&value.spec(), 1},
             std::move(node_name));
}
TANDEM_LAZY_INLINE VariableIndex Graph::index_of(const Variable& v) {
  for (; indexed_ < variables.size(); ++indexed_)  // copies and loaded graphs already have their list
    if (indices_.find(variables[indexed_].id()) < 0)
      indices_.insert(variables[indexed_].id(), static_cast<int>(indexed_));
  if (const int at = indices_.find(v.id()); at >= 0) return VariableIndex(at);
  indices_.make_room();
  variables.push_back(v);
  indices_.insert(v.id(), static_cast<int>(indexed_++));
  return VariableIndex(variables.size() - 1);
}
TANDEM_LAZY_INLINE ById<ValueId, NodeId> Graph::producers() const {
  ById<ValueId, NodeId> r(specs.size());
  for (const NodeId i : nodes.ids())
    for (int k = 0; k < nodes[i].outputs; ++k) r[nodes[i].first_out + k] = i;
  return r;
}
TANDEM_LAZY_INLINE ById<ValueId, int> Graph::uses() const {
  ById<ValueId, int> r(specs.size());
  for (const Node& n : nodes)
    for (ValueId v : n.in) ++r[v];
  for (ValueId v : outputs) ++r[v];
  return r;
}
TANDEM_LAZY_INLINE bool Graph::is_static() const {
  for (const Node& n : nodes)
    for (int k = 0; k < n.outputs; ++k)
      if (!spec(n.first_out + k).shape.is_fully_defined()) return false;
  return true;
}
TANDEM_LAZY_INLINE const Tensor* constant_of(const Node& node) {
  return node.op == &constant_op ? &node.attrs.get<rules::ConstantAttrs>().value->value : nullptr;
}

namespace detail {

TANDEM_LAZY [[noreturn]] TANDEM_INLINE void raise_invalid(const Graph& g, const Node& n, const std::string& what) {
  errors::raise<errors::InternalError>(
      "verify", "graph '" + g.name + "', node " + (n.name.empty() ? n.op->name : n.name) + ": " + what);
}
TANDEM_LAZY inline void check_agree(const Graph& g, const Node& n, const Spec& is, const Spec& wanted) {
  if (!agree(is, wanted)) raise_invalid(g, n, "is " + to_string(is) + ", not " + to_string(wanted));
}
TANDEM_LAZY inline const Spec& leaf_spec(const Graph& g, const Node& n) {
  if (n.op == &argument_op) return g.spec(n.first_out);
  return n.op == &constant_op ? constant_of(n)->spec() : variable_of(g, n).spec();
}
// Checks a leaf against its attributes; it has no shape rule.
TANDEM_LAZY TANDEM_INLINE void verify_leaf(const Graph& g, const Node& n) {
  const bool stands_for_variable = n.op == &read_variable_op && n.in.size() == 1;
  if ((static_cast<int>(n.in.size()) != n.op->inputs && !stands_for_variable) || n.outputs != n.op->outputs)
    raise_invalid(g, n, "does not have the number of inputs or outputs of its op definition");
  if (n.op == &constant_op) return check_agree(g, n, leaf_spec(g, n), g.spec(n.first_out));
  if (n.op == &argument_op) {
    const std::size_t at = argument_index(n).index();
    if (at >= g.arguments.size() || g.arguments[at] != n.first_out)
      raise_invalid(g, n,
                    "is not argument " + std::to_string(n.attrs.get<rules::PositionAttrs>().index) + " of the graph");
  } else if (variable_index(n).index() >= g.variables.size()) {
    raise_invalid(g, n, "refers to a Variable that the graph does not have");
  } else {
    if (n.outputs) check_agree(g, n, leaf_spec(g, n), g.spec(n.first_out));
    if (!n.in.empty()) check_agree(g, n, leaf_spec(g, n), g.spec(n.in[0]));
  }
}
// Reruns the op's shape rule for inputs of these specs; constants are passed with their values.
TANDEM_LAZY_INLINE Specs infer_again(const Node& n, const ById<ValueId, Tensor>& by_value) {
  InlinedVector<const Tensor*, 8> in;
  for (ValueId v : n.in) in.push_back(&by_value[v]);
  return checked_specs(*n.op, {in.begin(), in.size()}, n.attrs);
}
TANDEM_LAZY_INLINE void Verified::add(const Graph& g, const Node& n) {
  const Tensor* const value = constant_of(n);
  for (ValueId v = n.first_out; v < n.first_out + n.outputs; ++v) {
    known[v] = value ? *value : Tensor::symbol(g.spec(v));
    lacks_data[v] = value && value->is_symbolic();
  }
}
// Kernels read their inputs' data unchecked; the trace creates constants without data only for inputs of which only
// the shape is read.
TANDEM_LAZY TANDEM_INLINE void verify_data(const Graph& g, const Node& n, const Verified& values) {
  for (unsigned i = 0; i < n.in.size(); ++i)
    if (values.lacks_data[n.in[i]] && !names_input(n.op->shape_inputs, i))
      raise_invalid(g, n, "reads the values of %" + std::to_string(n.in[i].number()) + ", a constant without data");
}
TANDEM_LAZY_INLINE Specs verified_specs(const Graph& g, const Node& n, const Verified& values) {
  if (n.op->attrs && n.attrs.type() != n.op->attrs)
    raise_invalid(g, n, "does not have the attributes of its op definition");
  verify_data(g, n, values);
  Specs is;
  if (is_leaf(n)) {
    verify_leaf(g, n);
    if (n.outputs) is.push_back(leaf_spec(g, n));
    return is;
  }
  try {
    is = infer_again(n, values.known);
  } catch (const errors::OpError& e) {
    raise_invalid(g, n, e.message());
  }
  if (static_cast<int>(is.size()) != n.outputs) raise_invalid(g, n, "has the wrong number of outputs");
  for (int k = 0; k < n.outputs; ++k) check_agree(g, n, is[static_cast<std::size_t>(k)], g.spec(n.first_out + k));
  return is;
}

}  // namespace detail

TANDEM_LAZY_INLINE void verify(const Graph& g) {
  detail::Verified values(g.specs.size());
  for (const Node& n : g.nodes) {
    for (ValueId v : n.in)
      if (!values.is_made(v)) detail::raise_invalid(g, n, "uses %" + std::to_string(v.number()) + " before it is made");
    if (!n.first_out.is_set() || n.outputs < 0 || g.specs.end_id() - n.first_out < n.outputs)
      detail::raise_invalid(g, n, "makes a value that the graph does not have");
    for (const Graph* body : subgraphs(n)) verify(*body);
    detail::verified_specs(g, n, values);
    for (ValueId v = n.first_out; v < n.first_out + n.outputs; ++v)
      if (values.is_made(v)) detail::raise_invalid(g, n, "makes %" + std::to_string(v.number()) + " a second time");
    values.add(g, n);
  }
  for (const LeanVector<ValueId>* list : {&g.arguments, &g.outputs})
    for (ValueId v : *list)
      if (!values.is_made(v) || values.lacks_data[v])
        errors::raise<errors::InternalError>(
            "verify", "graph '" + g.name + "' takes or returns %" + std::to_string(v.number()) +
                          (values.is_made(v) ? ", a constant without data" : ", which no node makes"));
}

namespace detail {
TANDEM_LAZY TANDEM_INLINE std::string joined(const LeanVector<ValueId>& values) {
  std::string s;
  for (ValueId v : values) s += (s.empty() ? "%" : ", %") + std::to_string(v.number());
  return s;
}
TANDEM_LAZY_INLINE std::string describe(const Graph& g, const Node& n) {
  if (n.op == &read_variable_op || n.op == &assign_variable_op) return "'" + variable_of(g, n).name() + "'";
  const Tensor* value = constant_of(n);
  if (value && !value->is_symbolic() && value->size() == 1 && value->device().kind == Device::cpu)
    return element_to_string({value->raw(), &value->spec()}, 0);
  return to_string(n.attrs);
}
TANDEM_LAZY TANDEM_INLINE std::string line_of(const Graph& g, const Node& n) {
  std::string s = "  ";
  for (int k = 0; k < n.outputs; ++k) s += (k ? ", %" : "%") + std::to_string((n.first_out + k).number());
  s += std::string(n.outputs ? " = " : "") + n.op->name + "(";
  for (unsigned i = 0; i < n.in.size(); ++i) s += (i ? ", %" : "%") + std::to_string(n.in[i].number());
  s += ")";
  if (const std::string what = describe(g, n); !what.empty()) s += " " + what;
  for (int k = 0; k < n.outputs; ++k) s += (k ? ", " : " : ") + to_string(g.spec(n.first_out + k));
  if (!n.name.empty()) s += "  # " + n.name;
  return s + "\n";
}
}  // namespace detail

TANDEM_LAZY_INLINE std::string to_string(const Graph& g) {
  std::string s = g.name + "(" + detail::joined(g.arguments) + ") {\n";
  for (const Node& n : g.nodes) s += detail::line_of(g, n);
  return s + "  return " + detail::joined(g.outputs) + "\n}\n";
}
TANDEM_LAZY_INLINE std::string to_dot(const Graph& g) {
  const ById<ValueId, NodeId> producers = g.producers();
  const auto quoted = [](std::string s) {
    for (std::size_t i = 0; (i = s.find_first_of("\"\\", i)) != std::string::npos; i += 2) s.insert(i, 1, '\\');
    return '"' + s + '"';
  };
  std::string s = "digraph " + quoted(g.name) + " {\n  node [shape=box];\n";
  const auto node = [](NodeId i) { return "n" + std::to_string(i.number()); };
  for (const NodeId i : g.nodes.ids()) {
    const Node& n = g.nodes[i];
    s += "  " + node(i) + " [label=" + quoted(n.name.empty() ? n.op->name : n.name) + "];\n";
    for (ValueId v : n.in)
      s += "  " + node(producers[v]) + " -> " + node(i) + " [label=" + quoted(to_string(g.spec(v))) + "];\n";
  }
  for (ValueId v : g.outputs)
    s += "  " + node(producers[v]) + " -> output [label=" + quoted(to_string(g.spec(v))) + "];\n";
  return s + "}\n";
}

namespace detail {
// Leaves and effects have no kernel: programs handle them directly.
[[noreturn]] TANDEM_INLINE Specs infer_leaf(const InferCall& c) {
  errors::raise<errors::InternalError>(c.op.name, "can only appear in graphs");
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef argument_op{.name = "argument",
                                          .infer = &detail::infer_leaf,
                                          .dtype_input = -1,
                                          .inputs = 0,
                                          .attrs = &detail::attr_type<rules::PositionAttrs>};
TANDEM_INLINE constexpr OpDef constant_op{.name = "constant",
                                          .infer = &detail::infer_leaf,
                                          .dtype_input = -1,
                                          .inputs = 0,
                                          .attrs = &detail::attr_type<rules::ConstantAttrs>,
                                          .rare = {.display = "Const"}};
TANDEM_INLINE constexpr OpDef read_variable_op{.name = "read_variable",
                                               .infer = &detail::infer_leaf,
                                               .dtype_input = -1,
                                               .inputs = 0,
                                               .attrs = &detail::attr_type<rules::PositionAttrs>};
TANDEM_INLINE constexpr OpDef assign_variable_op{.name = "assign_variable",
                                                 .infer = &detail::infer_leaf,
                                                 .dtype_input = -1,
                                                 .inputs = 1,
                                                 .outputs = 0,
                                                 .flags = {.stateful = true},
                                                 .attrs = &detail::attr_type<rules::PositionAttrs>};

}  // namespace TANDEM_NS
