// Applies a graph's ops one by one, with caller-defined reads and assignments.
#pragma once
#include <optional>
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/core/context.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/exec/run_node.hpp"
#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::detail {

// The call of a node's layer, for a scope.
class InLayer {
 public:
  TANDEM_LAZY explicit InLayer(const Node::Layer& l) : here_{nullptr, l.state.get(), l.place, layer_call} {
    layer_call = &here_;
  }
  InLayer(const InLayer&) = delete;
  InLayer& operator=(const InLayer&) = delete;
  ~InLayer() { layer_call = here_.outer; }

 private:
  LayerCall here_;
};
// Applies a node's op as a part of what it was a part of when it was traced.
TANDEM_LAZY inline Tensors replay_node(const Node& n, Inputs in) {
  std::optional<CallSite> gradient, called;
  std::optional<InLayer> layer;
  if (n.gradient_of) gradient.emplace(n.where, *n.gradient_of);
  if (n.called) called.emplace(no_options, n.called);
  if (n.layer.state) layer.emplace(n.layer);
  // In another trace the nodes get names of their own.
  const OpOptions options{.name = context.stager ? Name() : Name(n.name), .where = n.where};
  try {
    return n.op->rare.host_kernel && context.observers ? apply(*n.op, in, recording(*n.op, n.attrs), options)
                                                       : apply(*n.op, in, n.attrs, options);
  } catch (errors::OpError& e) {
    name_gradient(e, n);
    throw;
  }
}
// Applies a graph's ops; the caller defines reads and assignments.
template <class Read, class Assign>
Tensors replay_ops(const Graph& g, Inputs arguments, const Read& read, const Assign& assign,
                   ById<ValueId, Tensor>* by_value = nullptr) {
  ById<ValueId, Tensor> own;
  ById<ValueId, Tensor>& values = by_value ? *by_value : own;
  values.resize(g.specs.size());
  for (const Node& n : g.nodes) {
    const ValueId first = n.first_out;
    if (n.op == &argument_op) {
      values[first] = *arguments[argument_index(n).index()];
    } else if (n.op == &constant_op) {
      values[first] = *constant_of(n);
    } else if (n.op == &read_variable_op) {
      values[first] = read(n);
    } else if (n.op == &assign_variable_op) {
      assign(n, values[n.in[0]]);
    } else {
      InlinedVector<const Tensor*, 8> in;
      for (ValueId v : n.in) in.push_back(&values[v]);
      Tensors out = replay_node(n, {in.begin(), in.size()});
      for (int k = 0; k < n.outputs; ++k) values[first + k] = std::move(out[static_cast<std::size_t>(k)]);
    }
  }
  Tensors out;
  for (ValueId v : g.outputs) out.push_back(values[v]);
  return out;
}

}  // namespace TANDEM_NS::detail
