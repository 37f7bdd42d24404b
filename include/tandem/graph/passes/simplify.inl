// Algebraic simplification that changes no bit of a result, and advice on rewrites that would. Benchmark row:
// lstm_step @cells_traced (broadcasts of gradients are not materialized).
#pragma once
#include <bit>
#include <cstring>
#include <map>
#include <string>

#include "tandem/attrs/reduce.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/ops/softmax/softmax.hpp"

namespace TANDEM_NS {
namespace detail {

// A graph being simplified. A rule gets a node whose inputs are up to date; it replaces the node's value or changes
// the node, and returns whether it did.
struct Simplifier {
  Rewrite rewrite;
  NodeId at;                              // the node
  std::map<std::string, ValueId> shapes;  // by spec: a value that has a shape and no data

  TANDEM_LAZY explicit Simplifier(const Graph& g) : rewrite(g) {}

  const Spec& spec(ValueId value) const { return rewrite.spec(value); }
  const Node* producer(ValueId value) const {
    const NodeId i = rewrite.producer(value);
    return i.is_set() ? &rewrite.graph->nodes[i] : nullptr;
  }
  const Node* produced_by(ValueId value, const OpDef& op) const {
    const Node* n = producer(value);
    return n && n->op == &op ? n : nullptr;
  }
  /// Replaces the node's output by the value, if their specs are guaranteed to be equal.
  bool replace(const Node& n, ValueId value) {
    if (!(spec(n.first_out) == spec(value))) return false;
    rewrite.replace(n.first_out, value);
    return true;
  }
  /// Whether the value is a constant of one element with these bits, given as a double (floats) or an integer.
  TANDEM_LAZY bool is_number(ValueId value, double number) const {
    const Node* n = producer(value);
    const Tensor* t = n ? constant_of(*n) : nullptr;
    if (!t || t->is_symbolic() || t->device().kind != Device::cpu || t->size() != 1) return false;
    switch (t->dtype()) {
      case DType::float32: return std::bit_cast<u64>(double{t->data<float>()[0]}) == std::bit_cast<u64>(number);
      case DType::float64: return std::bit_cast<u64>(t->data<double>()[0]) == std::bit_cast<u64>(number);
      case DType::int32: return t->data<std::int32_t>()[0] == static_cast<i64>(number);
      case DType::int64: return t->data<i64>()[0] == static_cast<i64>(number);
      default: return false;
    }
  }
};

TANDEM_LAZY TANDEM_INLINE bool drop_identity(Simplifier& s, Node& n) {
  if (n.op == &identity_op || n.op == &stop_gradient_op || n.op == &ensure_shape_op) return s.replace(n, n.in[0]);
  if ((n.op == &sum_to_like_op || n.op == &broadcast_like_op) && s.spec(n.in[0]).shape.is_fully_defined())
    return s.replace(n, n.in[0]);
  return (n.op == &cast_op || n.op == &whole_cast_op) && s.replace(n, n.in[0]);
}

TANDEM_LAZY TANDEM_INLINE bool is_view_of_all(const OpDef* op) {
  return op == &reshape_op || op == &expand_dims_op || op == &squeeze_op || op == &collapse_dims_op;
}
// Collapses a view of a view into a view of the first; drops a view that keeps the shape.
TANDEM_LAZY TANDEM_INLINE bool merge_views(Simplifier& s, Node& n) {
  const Shape& shape = s.spec(n.first_out).shape;
  if (!is_view_of_all(n.op)) return false;
  if (shape.is_fully_defined() && s.replace(n, n.in[0])) return true;
  const Node* inner = s.producer(n.in[0]);
  if (!inner || !is_view_of_all(inner->op)) return false;
  if (n.op != &reshape_op) {  // the others count the axes of their input
    if (!shape.is_fully_defined()) return false;
    n.op = &reshape_op, n.attrs = rules::ReshapeAttrs{shape};
  }
  n.in[0] = inner->in[0];
  return true;
}

using Permutation = InlinedVector<int, 8>;
TANDEM_LAZY TANDEM_INLINE Permutation permutation_of(const Node& n, int rank) {
  const Axes& perm = n.attrs.get<rules::TransposeAttrs>().perm;
  Permutation r;
  for (int i = 0; i < rank; ++i) r.push_back(!perm.given() ? rank - 1 - i : perm[i] < 0 ? perm[i] + rank : perm[i]);
  return r;
}
TANDEM_LAZY TANDEM_INLINE bool is_ordered(const Permutation& p) {
  for (int i = 0; i < static_cast<int>(p.size()); ++i)
    if (p[static_cast<std::size_t>(i)] != i) return false;
  return true;
}
TANDEM_LAZY TANDEM_INLINE bool conjugates(const Simplifier& s, const Node& n) {
  return n.attrs.get<rules::TransposeAttrs>().conjugate && is_complex(s.spec(n.first_out).dtype);
}
TANDEM_LAZY TANDEM_INLINE bool merge_transposes(Simplifier& s, Node& n) {
  if (n.op != &transpose_op) return false;
  const int rank = s.spec(n.first_out).shape.rank();
  Permutation perm = permutation_of(n, rank);
  const bool conjugate = conjugates(s, n);
  if (!conjugate && is_ordered(perm)) return s.replace(n, n.in[0]);
  const Node* inner = s.produced_by(n.in[0], transpose_op);
  if (!inner) return false;
  const Permutation first = permutation_of(*inner, rank);
  rules::TransposeAttrs a{Axes::none(), conjugate != conjugates(s, *inner)};
  for (int& p : perm) a.perm.push_back(p = first[static_cast<std::size_t>(p)]);
  n.attrs = a, n.in[0] = inner->in[0];
  return true;
}
TANDEM_LAZY TANDEM_INLINE bool swaps_last_axes(Permutation perm) {
  if (perm.size() < 2) return false;
  std::swap(perm[perm.size() - 1], perm[perm.size() - 2]);
  return is_ordered(perm);
}
TANDEM_LAZY TANDEM_INLINE bool transpose_in_matmul(Simplifier& s, Node& n) {
  if (n.op != &matmul_op) return false;
  auto a = n.attrs.get<rules::MatmulAttrs>();
  bool changed = false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Node* t = s.produced_by(n.in[i], transpose_op);
    if (!t || !swaps_last_axes(permutation_of(*t, s.spec(n.in[i]).shape.rank()))) continue;
    bool &transposed = i ? a.transpose_b : a.transpose_a, &conjugated = i ? a.conjugate_b : a.conjugate_a;
    transposed = !transposed, conjugated = conjugated != conjugates(s, *t);
    n.in[i] = t->in[0];
    changed = true;
  }
  if (changed) n.attrs = a;
  return changed;
}

// Drops x * 1, x / 1 and similar. Excludes x + 0, since -0 + 0 is 0, and complex numbers, whose product has more
// terms.
TANDEM_LAZY TANDEM_INLINE bool drop_neutral_number(Simplifier& s, Node& n) {
  const bool integral = n.in.size() == 2 && is_integer(s.spec(n.in[0]).dtype);
  if (n.op == &multiply_op)
    return (s.is_number(n.in[1], 1) && s.replace(n, n.in[0])) || (s.is_number(n.in[0], 1) && s.replace(n, n.in[1]));
  if (n.op == &divide_op) return s.is_number(n.in[1], 1) && s.replace(n, n.in[0]);
  if (n.op == &subtract_op) return s.is_number(n.in[1], 0) && s.replace(n, n.in[0]);
  if (n.op != &add_op) return false;
  const double zero = integral ? 0. : -0.;
  return (s.is_number(n.in[1], zero) && s.replace(n, n.in[0])) || (s.is_number(n.in[0], zero) && s.replace(n, n.in[1]));
}
TANDEM_LAZY TANDEM_INLINE bool drop_double_negation(Simplifier& s, Node& n) {
  const Node* inner = n.op == &negative_op || n.op == &conj_op ? s.produced_by(n.in[0], *n.op) : nullptr;
  return inner && s.replace(n, inner->in[0]);
}

// The shape of x with sizes of 1 inserted for the axes of `full` that it lacks, following broadcast_like's rule.
TANDEM_LAZY TANDEM_INLINE Shape with_lacking_axes(const Shape& x, const Shape& full, std::uint32_t lacks) {
  Shape r = full;
  int d = x.rank() - 1;
  for (int i = full.rank() - 1; i >= 0; --i) r.set(i, lacks >> i & 1u || d < 0 ? 1 : x.dim(d--));
  return r;
}
// The operand that the value broadcasts, in a shape that broadcasts to the value's own; not set if it does not
// broadcast.
TANDEM_LAZY TANDEM_INLINE ValueId repeated_value(Simplifier& s, ValueId value) {
  const Node* n = s.producer(value);
  if (!n || n->op != &broadcast_like_op) return n && n->op == &broadcast_to_op ? n->in[0] : ValueId();
  const ValueId x = n->in[0];
  const Shape& full = s.spec(value).shape;
  const std::uint32_t lacks = n->attrs.get<rules::LikeAttrs>().axis.mask("broadcast_like", full.rank());
  if (lacks == 0 || !s.spec(x).shape.is_fully_defined()) return lacks ? ValueId() : x;
  Spec spec = s.spec(x);
  spec.shape = with_lacking_axes(spec.shape, full, lacks);
  return s.rewrite.add_before(s.at, reshape_op, rules::ReshapeAttrs{spec.shape}, {&x, 1}, spec);
}
// Whether an input other than `changed` already determines the node's shape, so that `changed` may shrink.
TANDEM_LAZY TANDEM_INLINE bool others_span(const Simplifier& s, const Node& n, std::size_t changed) {
  const Shape& shape = s.spec(n.first_out).shape;
  for (std::size_t i = 0; i < n.in.size(); ++i)
    if (i != changed && s.spec(n.in[i]).shape == shape) return shape.is_fully_defined();
  return false;
}
// Removes explicit broadcasts before elementwise ops, which broadcast their inputs themselves.
TANDEM_LAZY TANDEM_INLINE bool repeat_when_read(Simplifier& s, Node& n) {
  if (!n.op->flags.pointwise) return false;
  for (std::size_t i = 0; i < n.in.size(); ++i) {
    const ValueId x = others_span(s, n, i) ? repeated_value(s, n.in[i]) : ValueId();
    if (!x.is_set()) continue;
    n.in[i] = x;
    return true;
  }
  return false;
}

// Replaces an input of which only the shape is read: it need not be computed, nor stay live until then.
TANDEM_LAZY TANDEM_INLINE bool forget_data(Simplifier& s, Node& n) {
  for (std::size_t i = 0; i < n.in.size(); ++i) {
    const Spec spec = s.spec(n.in[i]);
    const Node* made = s.producer(n.in[i]);
    if (!names_input(n.op->shape_inputs, i) || !spec.shape.is_fully_defined() || !made || is_leaf(*made)) continue;
    const auto [known, fresh] = s.shapes.try_emplace(to_string(spec) + to_string(spec.device));
    if (fresh) {
      const rules::ConstantAttrs a{make_ref<TensorBox>(Tensor::symbol(spec))};
      known->second = s.rewrite.add_before(NodeId(0), constant_op, a, {}, spec);
    }
    n.in[i] = known->second;
  }
  return false;
}

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> simplify(const Graph& from) {
  using Rule = bool (*)(detail::Simplifier&, Node&);
  static constexpr Rule rules[] = {&detail::drop_identity,       &detail::merge_views,
                                   &detail::merge_transposes,    &detail::transpose_in_matmul,
                                   &detail::drop_neutral_number, &detail::drop_double_negation,
                                   &detail::repeat_when_read,    &detail::forget_data};
  detail::Simplifier s(from);
  for (const NodeId i : from.nodes.ids()) {
    Node& n = s.rewrite.node(s.at = i);
    const auto replaced = [&] { return n.outputs > 0 && s.rewrite.now(n.first_out) != n.first_out; };
    for (bool changed = true; changed && !replaced();) {
      changed = false;
      for (const Rule rule : rules) changed = changed || rule(s, n);
    }
  }
  return s.rewrite.finish();
}

namespace detail {

struct Advice {
  const OpDef *outer, *inner;
  const char *pattern, *why, *instead;
};
TANDEM_LAZY TANDEM_INLINE std::string location_of(const Node& n) {
  const std::string line = line_text(n.where), &location = line.empty() ? n.name : line;
  return location.empty() ? "" : location + ": ";
}

}  // namespace detail

TANDEM_LAZY_INLINE std::vector<std::string> advice(const Graph& g) {
  static const detail::Advice list[] = {
      {&log_op, &softmax_op, "log(softmax(x))", "is -inf where a probability underflows", "nn::log_softmax(x)"},
      {&log_op, &sigmoid_op, "log(sigmoid(x))", "is -inf where sigmoid underflows", "log_sigmoid(x)"},
      {&log_op, &exp_op, "log(exp(x))", "overflows for x above 88", "x"},
  };
  std::vector<std::string> r;
  const detail::Analysis analysis(g);
  for (const Node& n : g.nodes)
    for (const detail::Advice& a : list) {
      if (n.op != a.outer) continue;
      const Node& inner = g.nodes[analysis.producer(n.in[0])];
      if (inner.op == a.inner) r.push_back(detail::location_of(n) + a.pattern + " " + a.why + ": use " + a.instead);
    }
  return r;
}

}  // namespace TANDEM_NS
