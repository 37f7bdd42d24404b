// Body: programs and gradients of a graph that control flow runs, kept with the graph. For the definitions of
// graph/control/control_ops.hpp.
#pragma once
#include <mutex>

#include "tandem/graph/derivative/derivative.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

class TANDEM_API Body final : public Opaque {
 public:
  /// The Body of a graph, created on first use; lives as long as the graph.
  TANDEM_LAZY static Body& of(const Graph& graph);
  const char* kind() const override { return "body"; }

  TANDEM_LAZY ConcreteFunction& function();
  TANDEM_LAZY const Derivative& derivative();
  /// The graph that also returns the values `more` of the derivative's forward graph; created once.
  TANDEM_LAZY Ref<Graph> recorded(Span<const ValueId> more);

 private:
  explicit Body(const Graph& graph) : graph_(graph) {}
  const Graph& graph_;  // owns this
  std::mutex mutex_;
  Ref<ConcreteFunction> function_;  // this and below guarded by mutex_
  Ref<Derivative> derivative_;
  Ref<Graph> recorded_;
};

}  // namespace TANDEM_NS
