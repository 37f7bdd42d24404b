// Arguments and results of the graphs that control-flow ops run. For the definitions of control_ops.hpp and
// control.hpp.
#pragma once
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/derivative/derivative.hpp"
#include "tandem/graph/ir/bind.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS::detail {

TANDEM_LAZY inline std::size_t count_of(i64 n) { return static_cast<std::size_t>(n); }
TANDEM_LAZY inline const Spec& output_spec(const Graph& g, std::size_t i) { return g.spec(g.outputs[i]); }
// Binds the graph to arguments of these specs; returns it unchanged unless the specs are more specific than its own.
TANDEM_LAZY inline Ref<Graph> bound_body(const Ref<Graph>& g, Span<const Spec> arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!(g->spec(g->arguments[i]) == arguments[i])) return tandem::bind(*g, arguments);
  return g;
}
// Whether the call runs eagerly. The inputs of the branch that will not run are then placeholders and need not fit.
TANDEM_LAZY inline bool runs_now(const InferCall& c) {
  return std::all_of(c.in.begin(), c.in.end(), [](const Tensor* t) { return t->has_data(); });
}
// Checks the inputs from `first` on against the arguments of the graph from `argument` on.
TANDEM_LAZY inline void check_arguments(const InferCall& c, const Graph& g, std::size_t first, std::size_t count,
                                        std::size_t argument = 0) {
  for (std::size_t i = 0; i < count; ++i)
    if (const Spec& wanted = g.spec(g.arguments[argument + i]); !agree(c.spec(first + i), wanted))
      errors::raise<errors::InvalidArgumentError>(c.op.name, "input " + std::to_string(first + i) + " is " +
                                                                 to_string(c.spec(first + i)) + ", the graph '" +
                                                                 g.name + "' takes " + to_string(wanted));
}
// Checks argument i. A program relies on its graph's specs, but the shape rule accepts unknown dimensions, which are
// known only at run time.
TANDEM_LAZY inline void check_argument(const char* op, const Graph& g, std::size_t i, const Spec& is) {
  if (!agree(is, g.spec(g.arguments[i])))
    errors::raise<errors::InvalidArgumentError>(op, "argument " + std::to_string(i) + " of the graph '" + g.name +
                                                        "' is " + to_string(is) + ", it takes " +
                                                        to_string(g.spec(g.arguments[i])));
}
TANDEM_LAZY inline std::vector<Spec> input_specs(const InferCall& c, std::size_t first, std::size_t count) {
  std::vector<Spec> r;
  for (std::size_t i = 0; i < count; ++i) r.push_back(c.spec(first + i));
  return r;
}
// Placeholder for what the branch that did not run would have saved; only that branch's gradient would read it, and
// observers of every op, for which it is 0.
TANDEM_LAZY inline Tensor placeholder(Spec s) {
  for (int i = 0; i < s.shape.rank(); ++i)
    if (s.shape.dim(i) == none) s.shape.set(i, 0);
  if (!is_every_op_observed() || !has_derivative(s)) return Tensor::allocate(s);
  const Tensor zero = Tensor::allocate({s.shape, s.dtype, {}});
  if (const std::size_t bytes = s.bytes()) std::memset(zero.raw(), 0, bytes);
  return zero.to(s.device);
}
// Values of the derivative's forward graph that the backward graph reads and that are available neither as an input
// nor as an output from `first` on.
TANDEM_LAZY inline LeanVector<ValueId> needed_values(const Derivative& d, const std::vector<char>& is_at_hand,
                                                     std::size_t first) {
  LeanVector<ValueId> needed = d.saved();
  for (std::size_t i = 0; i < d.inputs(); ++i)
    if (d.reads_input()[i] && (i >= is_at_hand.size() || !is_at_hand[i])) needed.push_back(d.input_value(i));
  const LeanVector<ValueId>& has = d.forward().outputs;
  LeanVector<ValueId> r;
  for (const ValueId v : needed)
    if (std::find(has.begin() + first, has.end(), v) == has.end()) r.push_back(v);
  return r;
}

}  // namespace TANDEM_NS::detail
