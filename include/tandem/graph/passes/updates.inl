// Multi-tensor (foreach) update: combines the updates of many Variables into one op. Benchmark rows: adam @traced,
// tiny_step and mlp_step @traced, char_rnn_step @traced (with the factor of its clipping).
//
// Consecutive updates are held back until an op follows that must not be moved across an assignment. Then one op
// replaces them, followed directly by their assignments, so that it may write into the Variables' buffers.
#pragma once
#include <algorithm>

#include "tandem/core/backend.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_LAZY class UpdateCombiner {
 public:
  explicit UpdateCombiner(const Graph& g)
      : from_(g),
        to_(g.copy()),
        copies_(std::exchange(to_->nodes, {})),
        analysis_(g),
        now_(g.specs.size()),
        held_since_(g.nodes.size(), -1),
        assigned_since_(g.variables.size(), -1) {
    std::iota(now_.begin(), now_.end(), ValueId(0));
  }
  Ref<Graph> run() {
    to_->nodes.reserve(copies_.size());
    for (const Node& n : from_.nodes) {
      if (is_leaf(n) && n.op != &assign_variable_op && !reads_assigned(n)) {
        append(n);
      } else if (is_assignment(n)) {
        hold_assignment(n);
      } else if (continues_run(n)) {
        hold_update(n);
      } else {
        close();
        if (can_combine(n)) hold_update(n);
        else append(n);
      }
    }
    close();
    for (ValueId& v : to_->outputs) v = now_[v];
    return to_;
  }

 private:
  static std::size_t count(int n) { return static_cast<std::size_t>(n); }
  const Node& producer(ValueId value) const { return from_.nodes[analysis_.producer(value)]; }
  static Span<const ValueId> rest(const Node& n) { return Span<const ValueId>(n.in).subspan(count(n.op->outputs) + 1); }

  // Whether everything about the update is known, so that it cannot raise.
  bool can_combine(const Node& n) const {
    if (!n.op->rare.multi_tensor) return false;
    const Spec& weight = from_.spec(n.in[0]);
    for (int k = 0; k <= n.op->outputs; ++k) {  // the dtypes fit: the slots of half precision are float32
      const Spec& s = from_.spec(n.in[count(k)]);
      if (!(s.shape == weight.shape) || s.device != weight.device) return false;
    }
    return weight.shape.is_fully_defined() && has_kernel(*n.op->rare.multi_tensor, weight.device);
  }
  bool is_held(ValueId value) const { return held_since_[analysis_.producer(value)] == run_; }
  bool continues_run(const Node& n) const {
    if (updates_.empty() || !can_combine(n)) return false;
    const Node& first = *updates_[0];
    const Spec &weight = from_.spec(n.in[0]), &first_weight = from_.spec(first.in[0]);
    return n.op == first.op && n.attrs == first.attrs && weight.dtype == first_weight.dtype &&
           weight.device == first_weight.device && std::ranges::equal(rest(n), rest(first)) &&
           std::none_of(n.in.begin(), n.in.end(), [&](ValueId v) { return is_held(v); });
  }
  bool is_assignment(const Node& n) const { return n.op == &assign_variable_op && is_held(n.in[0]); }
  bool reads_assigned(const Node& n) const {
    return n.op == &read_variable_op && assigned_since_[variable_index(n)] == run_;
  }

  void hold_update(const Node& n) {
    updates_.push_back(&n);
    held_since_[from_.id_of(n)] = run_;
  }
  void hold_assignment(const Node& n) {
    assignments_.push_back(&n);
    assigned_since_[variable_index(n)] = run_;
  }
  void append(const Node& n) {
    Node& copy = to_->nodes.emplace_back(std::move(copies_[from_.id_of(n)]));
    for (ValueId& v : copy.in) v = now_[v];
  }
  void close() {
    if (updates_.size() > 1) append_combined();
    else if (updates_.size() == 1) append(*updates_[0]);
    for (const Node* a : assignments_) append(*a);
    updates_.clear(), assignments_.clear(), ++run_;
  }
  void append_combined() {
    const Node& first = *updates_[0];
    const ValueId factor = common_factor();
    LeanVector<ValueId> in;
    std::vector<Spec> specs;
    for (const Node* n : updates_)
      for (int k = 0; k < n->outputs; ++k) {
        in.push_back(n->in[count(k)]);
        specs.push_back(from_.spec(n->first_out + k));
      }
    for (const Node* n : updates_) in.push_back(factor.is_set() ? scaled(*n, factor) : gradient(*n));
    if (factor.is_set()) in.push_back(factor);
    in.append(rest(first).begin(), rest(first).end());
    for (ValueId& v : in) v = now_[v];
    ValueId out = to_->add(*first.op->rare.multi_tensor, first.attrs, in, specs, first.name, first.where);
    for (const Node* n : updates_)
      for (int k = 0; k < n->outputs; ++k) now_[n->first_out + k] = out++;
  }

  static ValueId gradient(const Node& n) { return n.in[count(n.op->outputs)]; }
  // The gradient's factor, if the gradient is its product with a scalar; else none. The kernel multiplies as
  // `multiply` does, but in half precision would not round the product.
  ValueId scaled(const Node& n, ValueId factor) const {
    const Node& product = producer(gradient(n));
    if (product.op != &multiply_op) return {};
    for (std::size_t i = 0; i < 2; ++i)
      if (product.in[i] == factor && from_.spec(product.in[1 - i]) == from_.spec(gradient(n))) return product.in[1 - i];
    return {};
  }
  ValueId common_factor() const {
    const Node& product = producer(gradient(*updates_[0]));
    if (product.op != &multiply_op || !dtypes::floating.has(from_.spec(gradient(*updates_[0])).dtype)) return {};
    for (const ValueId factor : product.in)
      if (from_.spec(factor).shape.rank() == 0 &&
          std::all_of(updates_.begin(), updates_.end(), [&](const Node* n) { return scaled(*n, factor).is_set(); }))
        return factor;
    return {};
  }

  const Graph& from_;
  const Ref<Graph> to_;
  ById<NodeId, Node> copies_;
  const Analysis analysis_;
  ById<ValueId, ValueId> now_;
  LeanVector<const Node*> updates_, assignments_;  // held back
  ById<NodeId, int> held_since_;                   // the run of updates that it belongs to
  ById<VariableIndex, int> assigned_since_;        // likewise
  int run_ = 0;
};

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> combine_updates(const Graph& from) { return detail::UpdateCombiner(from).run(); }

}  // namespace TANDEM_NS
