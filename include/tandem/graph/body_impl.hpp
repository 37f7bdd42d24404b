// Body: what control flow makes of a graph that it runs: its programs, and its gradients. Kept with the graph
// (implementation half of graph/control_ops.hpp).
#pragma once
#include <mutex>

#include "tandem/graph/concrete.hpp"
#include "tandem/graph/derivative.hpp"

namespace TANDEM_NS {

class TANDEM_API Body final : public Opaque {
 public:
  /// The graph's, made when it is first asked for; lives as long as the graph.
  static Body& of(const Graph& graph);
  const char* kind() const override { return "body"; }

  ConcreteFunction& function();
  const Derivative& derivative();
  /// The graph that also returns `more` values of the derivative's forward graph; made once.
  Ref<Graph> recorded(std::span<const int> more);

 private:
  explicit Body(const Graph& graph) : graph_(graph) {}
  const Graph& graph_;  // owns this
  std::mutex mutex_;
  Ref<ConcreteFunction> function_;  // this and below guarded by mutex_
  Ref<Derivative> derivative_;
  Ref<Graph> recorded_;
};

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_CONTROL
#include "tandem/graph/common_impl.hpp"
namespace TANDEM_NS {

TANDEM_INLINE Body& Body::of(const Graph& graph) {
  if (Opaque* const made = graph.body.get()) return static_cast<Body&>(*made);
  return static_cast<Body&>(*graph.body.keep(Ref<Opaque>(new Body(graph))));
}
TANDEM_INLINE ConcreteFunction& Body::function() {
  const std::lock_guard lock(mutex_);
  const detail::Alone alone;
  if (!function_) function_ = make_ref<ConcreteFunction>(graph_.copy());
  return *function_;
}
TANDEM_INLINE const Derivative& Body::derivative() {
  {
    const std::lock_guard lock(mutex_);
    if (derivative_) return *derivative_;
  }
  Ref<Derivative> made = make_ref<Derivative>(graph_);  // not under the lock: custom gradients may call functions
  const std::lock_guard lock(mutex_);
  if (!derivative_) derivative_ = std::move(made);
  return *derivative_;
}
TANDEM_INLINE Ref<Graph> Body::recorded(std::span<const int> more) {
  const Graph& forward = derivative().forward();
  const std::lock_guard lock(mutex_);
  if (!recorded_) {
    recorded_ = forward.copy();
    recorded_->outputs.insert(recorded_->outputs.end(), more.begin(), more.end());
  }
  return recorded_;
}

}  // namespace TANDEM_NS
#endif
