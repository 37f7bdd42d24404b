// Definitions of graph/control/body.hpp.
#pragma once
#include "tandem/graph/control/body.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS {

TANDEM_LAZY_INLINE Body& Body::of(const Graph& graph) {
  if (Opaque* const made = graph.body.get()) return static_cast<Body&>(*made);
  return static_cast<Body&>(*graph.body.keep(Ref<Opaque>(new Body(graph))));
}
TANDEM_LAZY_INLINE ConcreteFunction& Body::function() {
  const std::lock_guard lock(mutex_);
  const detail::OutsideTrace detached;
  if (!function_) function_ = make_ref<ConcreteFunction>(graph_.copy());
  return *function_;
}
TANDEM_LAZY_INLINE const Derivative& Body::derivative() {
  {
    const std::lock_guard lock(mutex_);
    if (derivative_) return *derivative_;
  }
  Ref<Derivative> made = make_ref<Derivative>(graph_);  // not under the lock: custom gradients may call functions
  const std::lock_guard lock(mutex_);
  if (!derivative_) derivative_ = std::move(made);
  return *derivative_;
}
TANDEM_LAZY_INLINE Ref<Graph> Body::recorded(Span<const ValueId> more) {
  const Graph& forward = derivative().forward();
  const std::lock_guard lock(mutex_);
  if (!recorded_) {
    recorded_ = forward.copy();
    recorded_->outputs.append(more.begin(), more.end());
  }
  return recorded_;
}

}  // namespace TANDEM_NS
