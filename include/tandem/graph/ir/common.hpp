// Small helpers shared by several definitions in graph/.
#pragma once
#include <algorithm>

#include "tandem/core/apply.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::detail {

TANDEM_LAZY inline bool agree(const Spec& a, const Spec& b) {
  return a.dtype == b.dtype && a.device == b.device && a.shape.is_compatible_with(b.shape);
}
TANDEM_LAZY inline std::vector<Spec> specs_of(Inputs tensors) {
  std::vector<Spec> r;
  for (const Tensor* t : tensors) r.push_back(t->spec());
  return r;
}
/// The device on which a node's kernel runs: that of its outputs, of its first input where it has none.
TANDEM_LAZY inline Device device_of(const Graph& g, const Node& n) {
  return n.outputs ? g.spec(n.first_out).device : n.in.empty() ? Device{} : g.spec(n.in[0]).device;
}
/// Whether the node runs code of the user (a host function), which may assign any Variable.
TANDEM_LAZY inline bool runs_host_code(const Node& n) {
  if (n.op->flags.stateful && n.op->rare.host_kernel) return true;
  for (const Graph* body : subgraphs(n))
    if (std::any_of(body->nodes.begin(), body->nodes.end(), [](const Node& inner) { return runs_host_code(inner); }))
      return true;
  return false;
}
TANDEM_LAZY inline bool has_derivative(const Spec& s) { return is_differentiable(s.dtype); }

/// Reruns the op's shape rule for inputs of these specs; constants are passed with their values.
TANDEM_LAZY Specs infer_again(const Node& n, const ById<ValueId, Tensor>& by_value);

}  // namespace TANDEM_NS::detail
