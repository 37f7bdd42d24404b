// Passes that remove ops, and optimize() itself. Benchmark rows:
//   dead-code elimination             lstm_step b1_T50_h32 @cells_traced (100 ops fewer: unused gradients)
//   constant folding                  lstm_step @cells_traced, @traced; tiny_step @traced (what follows from shapes)
//   common-subexpression elimination  adam @traced, tiny_step @traced (Variables are read once)
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string_view>

#include "tandem/core/apply.hpp"
#include "tandem/core/invoke.hpp"
#include "tandem/graph/ir/known_variables.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE TANDEM_API constinit thread_local u64 pass_steps = 0;
}

TANDEM_LAZY_INLINE Ref<Graph> eliminate_dead_code(const Graph& from) {
  detail::Rewrite r(from);
  ById<ValueId, char> wanted(from.specs.size());
  for (ValueId v : from.outputs) wanted[v] = 1;
  for (NodeId i = from.nodes.end_id(); i-- > NodeId(0);) {
    const Node& n = from.nodes[i];
    bool keep = n.op == &argument_op || has_effects(n);
    for (int k = 0; k < n.outputs; ++k) keep = keep || wanted[n.first_out + k];
    if (!keep) {
      r.remove(i);
      continue;
    }
    for (ValueId v : n.in) wanted[v] = 1;
  }
  return r.finish();
}

namespace detail {

inline constexpr std::size_t foldable_bytes = 1 << 20;  // limit for a result that is larger than its inputs

// Whether the node is a pure function of its inputs, with a kernel that may run at any time.
TANDEM_LAZY TANDEM_INLINE bool is_pure_kernel(const Node& n) {
  return !is_leaf(n) && !has_effects(n) && !n.op->flags.random && !n.op->flags.nondeterministic &&
         subgraphs(n).empty() && (n.op->flags.alias || n.op->cpu);
}
TANDEM_LAZY inline bool on_host(const Spec& s) { return s.device.kind == Device::cpu; }

// The outputs' specs, inferred with the inputs' data.
TANDEM_LAZY TANDEM_INLINE Specs specs_of(const Node& n, Inputs in) {
  Specs specs = n.op->infer({*n.op, in, n.attrs, no_options});
  if (!n.op->rare.resolve) return specs;
  InlinedVector<Operand, 4> operands;
  for (const Tensor* t : in) operands.push_back(Operand{t->raw(), &t->spec()});
  Specs resolved = n.op->rare.resolve(kernel_call(*n.op, operands.begin(), in.size(), 0, n.attrs));
  check_resolved(*n.op, resolved, {specs.begin(), specs.size()});
  return resolved;
}
// The outputs, if they can be computed now: every input is a constant, or only its known shape is read.
TANDEM_LAZY TANDEM_INLINE Tensors folded(const Graph& g, const Node& n, const ById<ValueId, Tensor>& known) {
  if (!is_pure_kernel(n)) return {};
  Tensors held;
  InlinedVector<const Tensor*, 4> in;
  std::size_t bytes = 0;
  for (unsigned i = 0; i < n.in.size(); ++i) {
    const Tensor& t = known[n.in[i]];
    const Spec& s = g.spec(n.in[i]);
    if (t.is_set() && !t.is_symbolic()) held.push_back(t);
    else if (names_input(n.op->shape_inputs, i) && s.shape.is_fully_defined()) held.push_back(Tensor::symbol(s));
    else return {};
    if (n.op->rare.resolve && !on_host(s)) return {};
    bytes += held[i].is_symbolic() ? 0 : s.bytes();
  }
  for (const Tensor& t : held) in.push_back(&t);
  try {
    const Specs specs = specs_of(n, {in.begin(), in.size()});
    std::size_t result = 0;
    for (const Spec& s : specs) result += s.bytes();
    if (result > std::max(bytes, foldable_bytes)) return {};
    return run(*n.op, {in.begin(), in.size()}, n.attrs, specs);
  } catch (const errors::OpError&) {
    return {};  // raised at run time, if the op is reached
  }
}

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> fold_constants(const Graph& from) {
  Ref<Graph> g = from.copy();
  ById<NodeId, Node> nodes = std::exchange(g->nodes, {});
  ById<ValueId, Tensor> known(g->specs.size());
  for (Node& n : nodes) {
    const ValueId first = n.first_out;
    if (const Tensor* value = constant_of(n)) known[first] = *value;
    const Tensors values = detail::folded(*g, n, known);
    if (values.empty()) {
      g->nodes.push_back(std::move(n));
      continue;
    }
    for (int k = 0; k < static_cast<int>(values.size()); ++k) {
      const Tensor& value = values[static_cast<std::size_t>(k)];
      Node& c = g->nodes.emplace_back();
      c.op = &constant_op, c.attrs = rules::ConstantAttrs{make_ref<TensorBox>(value)};
      c.first_out = first + k, c.name = n.name, c.where = n.where;
      if (k) c.name += ":" + std::to_string(k);
      g->specs[first + k] = value.spec();
      known[first + k] = value;
    }
  }
  return g;
}

namespace detail {

inline constexpr std::size_t comparable_bytes = 4096;  // larger constants are equal only if they are the same tensor

// A key for constants: equal exactly if they are known to be equal.
TANDEM_LAZY TANDEM_INLINE std::string constant_text(const Tensor& t) {
  const Spec& s = t.spec();
  std::string key = to_string(s) + std::to_string(s.device.kind) + "." + std::to_string(s.device.index);
  const bool known_shape = s.shape.is_fully_defined();
  if (t.is_symbolic() && known_shape) return key + " shape";
  if (t.is_symbolic() || !on_host(s) || s.dtype == DType::string || s.bytes() > comparable_bytes)
    return key + " at " + std::to_string(t.id());
  return key + std::string(static_cast<const char*>(t.raw()), s.bytes());
}
// A hash that is equal for equal attributes.
TANDEM_LAZY struct AttrHash final : AttrVisitor {
  std::size_t value = 0;

  void mix(u64 x) { value = (value ^ static_cast<std::size_t>(x)) * 0x9e3779b97f4a7c15u, value ^= value >> 29; }
  void number(const char*, i64 x) override { mix(static_cast<u64>(x)); }
  void real(const char*, double x) override { mix(std::bit_cast<u64>(x)); }
  void text(const char*, const std::string& x) override { mix(std::hash<std::string>()(x)); }
  void numbers(const char*, const i64* x, int count) override {
    mix(static_cast<u64>(count));
    for (int i = 0; i < count; ++i) mix(static_cast<u64>(x[i]));
  }
  void opaque(const char*, const Opaque* x) override { mix(reinterpret_cast<std::uintptr_t>(x)); }
};
// A key: nodes with equal keys and equal attributes compute the same. `effects`: the number of effects before the
// node.
TANDEM_LAZY TANDEM_INLINE std::string meaning(const Node& n, int effects) {
  if (const Tensor* value = constant_of(n)) return "constant " + constant_text(*value);
  std::string key = n.op->name + std::to_string(reinterpret_cast<std::uintptr_t>(n.op));
  for (ValueId v : n.in) key += " " + std::to_string(v.number());
  if (reads_state(n)) key += " after " + std::to_string(effects);
  AttrHash attrs;
  n.attrs.visit(attrs);
  return key + " with " + std::to_string(attrs.value);  // many nodes differ only in their attributes, such as x[i]
}

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> eliminate_common_subexpressions(const Graph& from) {
  detail::Rewrite r(from);
  detail::KnownVariables variables(from);
  std::multimap<std::string, NodeId> seen;
  int effects = 0;
  for (const NodeId i : from.nodes.ids()) {
    const Node& n = r.node(i);
    effects += has_effects(n);
    variables.pass(n);
    if (n.op == &read_variable_op) {
      if (const ValueId value = variables.known(*r.graph, n); value.is_set())
        r.replace(n.first_out, value), r.remove(i);
      continue;
    }
    if (has_effects(n) || n.op == &argument_op || n.op->flags.random || n.op->flags.nondeterministic) continue;
    const std::string key = detail::meaning(n, effects);
    const auto [begin, end] = seen.equal_range(key);
    const auto twin = std::find_if(begin, end, [&](const auto& other) {
      ++detail::pass_steps;
      return n.op == &constant_op || r.graph->nodes[other.second].attrs == n.attrs;
    });
    if (twin == end) {
      seen.emplace(key, i);
      continue;
    }
    const Node& first = r.graph->nodes[twin->second];
    for (int k = 0; k < n.outputs; ++k) r.replace(n.first_out + k, first.first_out + k);
    r.remove(i);
  }
  return r.finish();
}

TANDEM_LAZY_INLINE Ref<Graph> optimize(const Graph& graph, const PassOptions& o) {
  Ref<Graph> g = graph.copy();
  const auto pass = [&g](bool on, Ref<Graph> (*rewrite)(const Graph&)) {
    if (!on) return;
    detail::pass_steps += g->nodes.size();
    g = rewrite(*g);
#ifndef NDEBUG
    verify(*g);
#endif
  };
  pass(o.eliminate_dead_code, &eliminate_dead_code);
  pass(o.simplify, &simplify);
  pass(o.fold_constants, &fold_constants);
  pass(o.eliminate_common_subexpressions, &eliminate_common_subexpressions);
  pass(o.simplify, &simplify);  // folding and merging expose equal values
  pass(o.combine_updates, &combine_updates);
  pass(o.eliminate_dead_code, &eliminate_dead_code);
  pass(o.fuse_epilogues, &fuse_epilogues);
  pass(o.combine_products, &combine_products);
  pass(o.fuse, &fuse);
  pass(o.fuse_reductions, &fuse_reductions);
  pass(true, &start_early);
  return g;
}

}  // namespace TANDEM_NS
