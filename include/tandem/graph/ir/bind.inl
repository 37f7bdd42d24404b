// Definitions of graph/ir/bind.hpp.
#pragma once
#include <algorithm>

#include "tandem/core/apply.hpp"
#include "tandem/graph/ir/bind.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
namespace detail {

inline constexpr i64 largest_shape_value = 1024;  // in elements; values that follow from shapes are small

// Whether the op's value follows from what is known about its inputs: their values, or their shapes where those
// suffice.
TANDEM_LAZY TANDEM_INLINE bool follows_from_shapes(const Node& n, const Specs& specs,
                                                   const ById<ValueId, Tensor>& known) {
  if (n.op->flags.random || has_effects(n) || n.op->rare.host_kernel || !n.outputs) return false;
  for (const Spec& s : specs)
    if (!s.shape.is_fully_defined() || s.shape.size() > largest_shape_value || is_floating(s.dtype) ||
        s.dtype == DType::string)
      return false;
  for (unsigned i = 0; i < n.in.size(); ++i) {
    const Tensor& t = known[n.in[i]];
    if (t.is_symbolic() && !(names_input(n.op->shape_inputs, i) && t.shape().is_fully_defined())) return false;
  }
  return true;
}
// Sizes that have become known may overflow when multiplied; rules and plans compute products of them.
TANDEM_LAZY TANDEM_INLINE void check_countable(const Node& n, const Spec& s) {
  i64 bytes = static_cast<i64>(size_of(s.dtype));
  for (i64 d : s.shape)
    if (d != none && (d < 0 || __builtin_mul_overflow(bytes, std::max<i64>(d, 1), &bytes)))
      errors::raise<errors::InvalidArgumentError>(
          n.op->name, "no tensor can have the shape " + to_string(s) + ", which '" + n.name + "' has in this call");
}
TANDEM_LAZY TANDEM_INLINE void bind_node(Graph& g, NodeId at, ById<ValueId, Tensor>& known, ById<NodeId, Node>& out) {
  Node& n = g.nodes[at];
  InlinedVector<const Tensor*, 8> in;
  for (ValueId v : n.in) in.push_back(&known[v]);
  const Inputs inputs(in.begin(), in.size());
  const Specs specs = n.op->infer({*n.op, inputs, n.attrs, no_options});
  for (const Spec& s : specs) check_countable(n, s);
  Tensors values;
  if (follows_from_shapes(n, specs, known)) values = run(*n.op, inputs, n.attrs, specs);
  for (int k = 0; k < n.outputs; ++k) {
    const ValueId v = n.first_out + k;
    const auto i = static_cast<std::size_t>(k);
    g.specs[v] = specs[i];
    known[v] = values.empty() ? Tensor::symbol(specs[i]) : values[i];
    if (values.empty()) continue;
    Node& c = out.emplace_back();
    c.op = &constant_op, c.attrs = rules::ConstantAttrs{make_ref<TensorBox>(values[i])};
    c.first_out = v, c.name = n.name, c.where = n.where;
  }
  if (values.empty()) out.push_back(std::move(n));
}

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> bind(const Graph& graph, Span<const Spec> arguments) {
  Ref<Graph> g = graph.copy();
  ById<ValueId, Tensor> known(g->specs.size());
  ById<NodeId, Node> out;
  for (const NodeId i : g->nodes.ids()) {
    Node& n = g->nodes[i];
    if (!is_leaf(n)) {
      detail::bind_node(*g, i, known, out);
      continue;
    }
    const ValueId v = n.first_out;
    if (n.op == &argument_op) g->specs[v] = arguments[argument_index(n).index()];
    if (n.outputs) known[v] = n.op == &constant_op ? *constant_of(n) : Tensor::symbol(g->specs[v]);
    out.push_back(std::move(n));
  }
  g->nodes = std::move(out);
  return g;
}

}  // namespace TANDEM_NS
