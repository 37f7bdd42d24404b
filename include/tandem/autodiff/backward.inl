// Backward pass: one reverse loop over a tape's entries; no sort, no recursion.
#pragma once
#include <algorithm>
#include <string_view>

#include "tandem/autodiff/gradient_sum.hpp"
#include "tandem/autodiff/log.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace detail {

// The value of a fused op as a composition of small ops: its decomposition, or, for a backward op, the derivative of
// the forward op's decomposition.
TANDEM_INLINE Tensors reference_value(const OpDef& op, Span<const Tensor> in, const Attrs& attrs) {
  if (op.rare.decomposition) return op.rare.decomposition(in, attrs);
  const BackwardOf& at = *op.rare.backward_of;
  GradientTape tape({.watch_accessed_variables = false});
  Tensors forward;
  std::vector<Tensor> sources, targets, upstream;
  for (std::size_t i = 0; i < at.inputs; ++i) {
    sources.push_back(forward.push_back(identity(in[i])));
    tape.watch(sources.back());
  }
  for (std::size_t i = at.upstream + at.outputs; i < in.size(); ++i) forward.push_back(in[i]);
  const Tensors y = at.forward->rare.decomposition({forward.begin(), forward.size()}, no_attrs);
  for (std::size_t i = 0; i < at.outputs; ++i) targets.push_back(y[i]), upstream.push_back(in[at.upstream + i]);
  Tensors r;
  for (Tensor& g :
       tape.gradient(targets, sources,
                     {.output_gradients = std::move(upstream), .unconnected_gradients = UnconnectedGradients::zero}))
    r.push_back(std::move(g));
  return r;
}

// Gradient of an op without a rule of its own but with a decomposition: the tape differentiates the decomposition.
TANDEM_INLINE Grads gradient_by_reference(const GradCall& c) {
  GradientTape tape({.watch_accessed_variables = false});
  std::vector<Tensor> sources, targets, upstream;
  InlinedVector<std::size_t, 4> at;
  Tensors in;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    in.push_back(c.in[i]);
    if (!c.needs(i) || !is_floating(c.in[i].dtype())) continue;
    in[i] = identity(c.in[i]);  // distinct ids: one tensor may be two inputs
    tape.watch(in[i]);
    sources.push_back(in[i]);
    at.push_back(i);
  }
  const Tensors y = reference_value(c.op, {in.begin(), in.size()}, c.attrs);
  for (std::size_t i = 0; i < y.size(); ++i)
    if (c.g[i].is_set()) targets.push_back(y[i]), upstream.push_back(c.g[i]);
  const std::vector<Tensor> g = tape.gradient(targets, sources, {.output_gradients = std::move(upstream)});
  Grads r;
  r.resize(static_cast<unsigned>(c.in.size()));
  for (std::size_t i = 0; i < sources.size(); ++i) r[at[i]] = g[i];
  return r;
}

}  // namespace detail

// The gradients by slot during one call of gradient().
struct GradientTape::Backward {
  GradientTape::Log& tape;
  Span<const Source> sources;
  LeanVector<detail::GradientSum> sums;
  // By slot: 0, or 1 + the slot that accumulates its sum, which a source will read. Reads of a Variable that is a
  // source share one sum, which is accumulated during the walk: a loop may have read it a thousand times.
  std::vector<int> wanted;
  // By slot: whether a source is computed into it, so that its gradient is needed; empty if that holds for all.
  std::vector<bool> needed = {};

  bool needs(int slot) const { return slot >= 0 && (needed.empty() || needed[static_cast<std::size_t>(slot)]); }
  bool needs_any(const Entry& e) const {
    const Span<const int> in(e.in_slots(), e.n_in);
    return std::any_of(in.begin(), in.end(), [&](int slot) { return needs(slot); });
  }
  detail::GradientSum& sum_of(int slot) {
    const int at = wanted[static_cast<std::size_t>(slot)];
    return sums[static_cast<std::size_t>(at ? at - 1 : slot)];
  }
  // A read that is itself a source keeps a separate sum.
  void want() {
    int single, found = 0;
    for (const bool variables : {false, true})
      for (const Source& s : sources) {
        if (s.is_variable() != variables) continue;
        int first = -1;
        for (int slot : tape.slots_of(s, single)) {
          int& w = wanted[static_cast<std::size_t>(slot)];
          found += !w;
          if (!w) w = 1 + (first < 0 ? first = slot : first);
        }
      }
    if (found < tape.leaves_) find_needed();
  }
  void find_needed() {
    LeanVector<const Entry*> entries;
    for (const Entry* e = tape.last_; e; e = e->prev) entries.push_back(e);
    needed.resize(wanted.size());
    for (std::size_t slot = 0; slot < wanted.size(); ++slot) needed[slot] = wanted[slot] != 0;
    for (std::size_t k = entries.size(); k-- > 0;) {
      const Entry& e = *entries[k];
      if (e.op->flags.non_differentiable || !needs_any(e)) continue;
      for (std::uint32_t i = 0; i < e.n_out; ++i) needed[static_cast<std::size_t>(e.first_out) + i] = true;
    }
  }
  Gradient total(const Source& s) const {
    detail::GradientSum sum;
    int single;
    for (int slot : tape.slots_of(s, single))
      if (const auto at = static_cast<std::size_t>(slot); at < sums.size()) sum.add(sums[at]);  // not read by a rule
    return std::move(sum.value());
  }

  void start(Span<const Tensor> targets, const std::vector<Tensor>& upstream) {
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const int slot = tape.map_.find(targets[i].id());
      if (slot < 0) continue;
      const bool given = i < upstream.size() && upstream[i].is_set();
      if (given &&
          (upstream[i].dtype() != targets[i].dtype() || !upstream[i].shape().is_compatible_with(targets[i].shape())))
        errors::raise<errors::InvalidArgumentError>("gradient", "output gradient " + to_string(upstream[i].spec()) +
                                                                    " for a target of " + to_string(targets[i].spec()));
      if (is_differentiable(targets[i].dtype())) sum_of(slot).add(given ? upstream[i] : ones_like(targets[i]));
    }
  }

  // A number that is not finite in a gradient below a where: often from the branch that it has not taken. By the op's
  // name, because naming the op would compile its kernels into every program.
  std::string advice(const errors::OpError& error, const Entry& e) const {
    if (std::string_view(error.what()).find("check_numerics") == std::string_view::npos) return {};
    for (const Entry* later = tape.last_; later && later != &e; later = later->prev)
      if (later->op->name == std::string_view("select"))
        return "; both branches of where are computed: make the operand safe inside it, as log(where(x > 0, x, 1))";
    return {};
  }
  Grads rule(Entry& e, Span<const Tensor> g) {
    std::uint64_t wants = 0;
    for (std::uint32_t i = 0; i < e.n_in; ++i)
      wants |= static_cast<std::uint64_t>(needs(e.in_slots()[i])) << (i < 63 ? i : 63);
    const GradCall call{*e.op, g, {e.saved(), e.n_in}, {e.saved() + e.n_in, e.n_out}, e.attrs(), wants};
    const SourceLocation where{e.file, nullptr, e.line};
    const detail::CallSite site(where, *e.op);
    try {
      if (e.op->gradient) return e.op->gradient(call);
      if (e.op->rare.decomposition || e.op->rare.backward_of) return detail::gradient_by_reference(call);
    } catch (errors::OpError& error) {
      error.set_context("in the gradient of " + display_name(*e.op) + advice(error, e));
      throw;
    }
    const std::string from = tape.source_of(e, sources);
    errors::raise<errors::UnimplementedError>(e.op->name, "has no gradient (" + display_name(*e.op) +
                                                              " has no backward function and is on the path" +
                                                              (from.empty() ? "" : " from " + from) + ")");
  }

  // The gradient of an output; released here unless a source will read it.
  Tensor take(std::size_t slot) { return wanted[slot] ? sums[slot].value().tensor() : sums[slot].take_dense(); }
  // The gradients that the rule returns; none where no gradient flows. The upstream gradients are released here,
  // before those of the next op are computed.
  Grads pull(Entry& e) {
    Tensors upstream;
    bool any = false;
    const auto first = static_cast<std::size_t>(e.first_out);
    for (std::size_t i = 0; i < e.n_out; ++i) {
      any |= sums[first + i].is_set();
      upstream.push_back(take(first + i));
    }
    if (!any || e.op->flags.non_differentiable || !needs_any(e)) return {};
    return rule(e, {upstream.begin(), upstream.size()});
  }
  // Equal unknown dims may still differ at run time: [None] + [None] of sizes 3 and 1.
  static bool may_differ(const Tensor& a, const Tensor& b) {
    return !(a.shape() == b.shape()) || (a.is_symbolic() && !a.shape().is_fully_defined());
  }
  void step(Entry& e) {
    Grads r = pull(e);
    const int* slots = e.in_slots();
    for (std::size_t i = 0; i < e.n_in && i < r.size(); ++i) {
      Gradient& x = r[i];
      // Integers that are computed from a watched tensor, as its argmax, have slots too.
      if (!needs(slots[i]) || !x.is_set() || !is_differentiable(x.dtype())) continue;
      const Tensor& saved = e.saved()[i];
      if (e.op->flags.pointwise && saved.is_set() && may_differ(saved, x.dense()))
        x = tandem::detail::sum_to_like(x.dense(), saved);
      sum_of(slots[i]).add(std::move(x));
    }
  }
};

TANDEM_INLINE Span<const int> GradientTape::Log::slots_of(const Source& s, int& single) const {
  if (!s.is_variable()) return (single = map_.find(s.id())) < 0 ? Span<const int>() : Span<const int>(&single, 1);
  const int at = variables_.find(s.id());
  if (at < 0) return {};
  const Reads& r = reads_[static_cast<std::size_t>(at)];
  return {r.slots.begin(), r.slots.size()};
}

TANDEM_INLINE std::vector<Gradient> GradientTape::Log::differentiate(const Targets& targets, Span<const Source> sources,
                                                                     const GradientOptions& options) {
  if (spent_)
    errors::raise<errors::FailedPreconditionError>(
        "gradient", "this tape has already been used; create it with {.persistent = true} to take several gradients");
  if (!options_.persistent) {  // a persistent tape goes on: it records what follows behind the entries of this walk
    leave();
    spent_ = true;
  }
  Backward b{*this, sources, LeanVector<detail::GradientSum>(static_cast<std::size_t>(slots_)),
             std::vector<int>(static_cast<std::size_t>(slots_))};
  b.want();
  Entry* const newest = last_;  // what the walk itself adds has no place in `sums`
  b.start(targets.list(), options.output_gradients);
  for (Entry* e = newest; e; e = e->prev) {
    b.step(*e);
    if (!options_.persistent) release_saved(*e);  // lowers peak memory during the walk
  }
  std::vector<Gradient> result;
  for (const Source& s : sources) {
    Gradient sum = b.total(s);
    if (!sum.is_set()) {
      const std::string why = why_unset(s, targets.list());
      if (options.unconnected_gradients == UnconnectedGradients::error)
        errors::raise<errors::InvalidArgumentError>("gradient", why);
      sum = options.unconnected_gradients == UnconnectedGradients::zero ? zeros_like(s.like()) : Tensor::unset(why);
    }
    result.push_back(std::move(sum));
  }
  return result;
}

// The name of the first source from which the op is reached; empty if there is none.
TANDEM_INLINE std::string GradientTape::Log::source_of(const Entry& op, Span<const Source> sources) const {
  LeanVector<Entry*> order;
  for (Entry* e = last_; e; e = e->prev) order.push_back(e);
  for (const Source& source : sources) {
    std::vector<char> reached(static_cast<std::size_t>(slots_));
    int single;
    for (int slot : slots_of(source, single)) reached[static_cast<std::size_t>(slot)] = 1;
    for (std::size_t k = order.size(); k-- > 0;) {
      const Entry& e = *order[k];
      const Span<const int> in(e.in_slots(), e.n_in);
      if (std::none_of(in.begin(), in.end(), [&](int s) { return s >= 0 && reached[static_cast<std::size_t>(s)]; }))
        continue;
      if (&e == &op) return source.name();
      for (std::uint32_t i = 0; i < e.n_out; ++i) reached[static_cast<std::size_t>(e.first_out) + i] = 1;
    }
  }
  return {};
}

// Forward search from the source: is the target reached at all, and through which non-differentiable op?
[[gnu::cold]] TANDEM_INLINE std::string GradientTape::Log::why_unset(const Source& source,
                                                                     Span<const Tensor> targets) const {
  LeanVector<Entry*> order;
  for (Entry* e = last_; e; e = e->prev) order.push_back(e);
  std::vector<char> reached(static_cast<std::size_t>(slots_));
  std::vector<const OpDef*> blocker(static_cast<std::size_t>(slots_));
  int single;
  for (int slot : slots_of(source, single)) reached[static_cast<std::size_t>(slot)] = 1;
  for (std::size_t k = order.size(); k-- > 0;) {
    const Entry& e = *order[k];
    bool from = false;
    const OpDef* by = nullptr;
    for (std::uint32_t i = 0; i < e.n_in; ++i)
      if (const int s = e.in_slots()[i]; s >= 0 && reached[static_cast<std::size_t>(s)]) {
        from = true;
        if (blocker[static_cast<std::size_t>(s)]) by = blocker[static_cast<std::size_t>(s)];
      }
    if (!from) continue;
    for (std::uint32_t i = 0; i < e.n_out; ++i) {
      reached[static_cast<std::size_t>(e.first_out) + i] = 1;
      blocker[static_cast<std::size_t>(e.first_out) + i] = by ? by : e.op->flags.non_differentiable ? e.op : nullptr;
    }
  }
  for (const Tensor& t : targets)
    if (const int s = map_.find(t.id()); s >= 0 && reached[static_cast<std::size_t>(s)])
      if (const OpDef* by = blocker[static_cast<std::size_t>(s)])
        return "no gradient: the path from " + source.name() +
               " to the target passes through the non-differentiable op " + display_name(*by);
  return "no gradient: no path from " + source.name() + " to the target" + why_apart(source, targets);
}
// Why there is no path: what the tape has not seen of the source or of the targets, if that is it.
[[gnu::cold]] TANDEM_INLINE std::string GradientTape::Log::why_apart(const Source& source,
                                                                     Span<const Tensor> targets) const {
  int single;
  if (slots_of(source, single).empty()) {
    if (!is_differentiable(source.spec().dtype)) return ": its dtype has no gradient";
    if (!source.is_variable()) return ": the tape does not watch it; call watch() before its first use";
    if (variables_.find(source.id()) >= 0) return ": it has not been read since watch()";
    if (!source.is_trainable()) return ": it is not trainable, and the tape does not watch it";
    if (!options_.watch_accessed_variables) return ": the tape does not watch it (.watch_accessed_variables = false)";
    return ": the tape has not seen it read; compute the target while the tape records";
  }
  const auto is_recorded = [&](const Tensor& t) { return map_.find(t.id()) >= 0; };
  if (std::any_of(targets.begin(), targets.end(), is_recorded)) return {};
  return ", which the tape has not recorded as computed from anything that it watches; call watch() before the first "
         "use";
}

TANDEM_INLINE std::vector<Gradient> GradientTape::gradients(const Targets& targets, Span<const Source> sources,
                                                            const GradientOptions& options) {
  const detail::ShapeChecks lenient(false);
  return log_->differentiate(targets, sources, options);
}

}  // namespace TANDEM_NS
