// A traced call under a tape: it runs the forward graph that also returns what the backward graph needs, and is one
// op on the tape.
#pragma once
#include <map>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/derivative/derivative.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/exec/recorded.hpp"
#include "tandem/graph/exec/replay_ops.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS {

namespace detail {

struct CallAttrs {
  Ref<Opaque> derivative;
  static constexpr auto fields = field_list(field("function", &CallAttrs::derivative));
};
[[noreturn]] TANDEM_INLINE Specs infer_call(const InferCall& c) {
  errors::raise<errors::InternalError>(c.op.name, "can only be recorded by tapes");
}

TANDEM_LAZY TANDEM_INLINE const OpDef& call_function_op() {
  static constexpr OpDef op{.name = "call_function",
                            .infer = &infer_call,
                            .gradient = [](const GradCall& c) { return ConcreteFunction::gradient(c); },
                            .dtype_input = -1,
                            .inputs = -1};
  return op;
}

}  // namespace detail

TANDEM_LAZY_INLINE ConcreteFunction::Recorded::Recorded(const Graph& g, const ExecutionOptions& o)
    : derivative(g), options(o) {
  const Graph& forward = derivative.forward();
  Ref<Graph> more = forward.copy();
  for (const NodeId read : derivative.reads()) more->outputs.push_back(forward.nodes[read].first_out);
  more->outputs.append(derivative.saved().begin(), derivative.saved().end());
  in_bodies = variables_read_in_bodies(forward);
  augmented = make_ref<ConcreteFunction>(more, options);
}
TANDEM_LAZY_INLINE const ConcreteFunction::Recorded::Backward& ConcreteFunction::Recorded::backward(
    const RequestedGradients& demand) {
  {
    const std::lock_guard lock(mutex);
    if (const auto at = backwards.find(demand); at != backwards.end()) return at->second;
  }
  // Not under the lock: custom gradients may call, and so trace, functions that other threads trace.
  const detail::OutsideTrace detached;
  Derivative::Backward b = derivative.backward(demand);
  Backward made{make_ref<ConcreteFunction>(b.graph, options), std::move(b.set), std::move(b.sparse)};
  const std::lock_guard lock(mutex);
  return backwards.emplace(demand, std::move(made)).first->second;  // the first one wins
}

TANDEM_INLINE ConcreteFunction::~ConcreteFunction() = default;

TANDEM_LAZY_INLINE Ref<ConcreteFunction::Recorded> ConcreteFunction::recorded() {
  {
    const std::lock_guard lock(mutex_);
    if (recorded_) return recorded_;
  }
  const detail::OutsideTrace detached;  // not under the lock either, like a backward function
  Ref<Recorded> made = make_ref<Recorded>(*traced_, options_);
  const std::lock_guard lock(mutex_);
  if (!recorded_) recorded_ = std::move(made);
  return recorded_;
}
TANDEM_LAZY_INLINE Tensors ConcreteFunction::run_recorded(Inputs arguments) {
  const Ref<Recorded> d = recorded();
  Tensors all = d->augmented->run(arguments);
  const std::size_t outputs = traced_->outputs.size(), reads = d->derivative.reads().size();
  InlinedVector<const Tensor*, 8> in;
  IdMap seen;  // a tape identifies values by id: a value that is read, returned twice, or passed through gets a new one
  for (const Tensor* t : arguments) in.push_back(t), seen.insert(t->id(), 0);
  for (const Variable& v : d->in_bodies) seen.insert(v.value_untracked().id(), 0);
  for (std::size_t i = 0; i < reads; ++i) {
    Tensor& value = all[outputs + i];
    seen.insert(value.id(), 0);
    value = Tensor::view_of(value, value.spec());
    in.push_back(&value);
    const Graph& forward = d->derivative.forward();
    const Node& n = forward.nodes[d->derivative.reads()[i]];
    for (Observer* o = context.observers; o; o = o->next) o->read(variable_of(forward, n), value);
  }
  Tensors out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i >= outputs && i < outputs + reads) continue;
    const Tensor& t = out.push_back(seen.find(all[i].id()) < 0 ? all[i] : Tensor::view_of(all[i], all[i].spec()));
    seen.insert(t.id(), 0);
  }
  const detail::CallAttrs attrs{Ref<Opaque>(d.get())};
  for (Observer* o = context.observers; o; o = o->next)
    o->record({detail::call_function_op(), {in.begin(), in.size()}, attrs, {out.begin(), out.size()}});
  out.resize(static_cast<unsigned>(outputs));
  return out;
}

TANDEM_LAZY_INLINE Grads ConcreteFunction::gradient(const GradCall& c) {
  auto& d = static_cast<Recorded&>(*c.get<detail::CallAttrs>().derivative);
  RequestedGradients demand;
  for (const Tensor& g : c.g) demand.upstream.push_back(g.is_set());
  for (std::size_t i = 0; i < c.in.size(); ++i)
    demand.wanted.push_back(c.needs(i) && detail::has_derivative(c.in[i].spec()));
  const Recorded::Backward& b = d.backward(demand);
  InlinedVector<const Tensor*, 16> in;
  for (const Tensor& t : c.in) in.push_back(&t);
  for (std::size_t i = d.derivative.forward().outputs.size(); i < c.out.size(); ++i) in.push_back(&c.out[i]);
  for (const Tensor& g : c.g)
    if (g.is_set()) in.push_back(&g);
  const Tensors out = b.function->call_fitting({in.begin(), in.size()});
  Grads r;
  unsigned at = 0;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    if (!b.set[i]) r.push_back(Gradient());
    else if (b.sparse[i]) r.push_back(Gradient(IndexedSlices{out[at], out[at + 1], c.in[i]})), at += 2;
    else r.push_back(Gradient(out[at++]));
  }
  return r;
}

}  // namespace TANDEM_NS
