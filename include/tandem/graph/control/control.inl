// Traces code into the graphs of control flow.
#pragma once
#include <algorithm>

#include "tandem/graph/control/bodies.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/traced_body.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/graph/ir/variable_set.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {
namespace control {

TANDEM_LAZY_INLINE bool is_tracing(const char* op) {
  if (context.stager && !Tracer::current())
    errors::raise<errors::FailedPreconditionError>(op, "can only be traced by function()");
  return context.stager != nullptr;
}
TANDEM_LAZY_INLINE void raise_structure(const char* op, const char* what) {
  errors::raise<errors::InvalidArgumentError>(
      op, std::string(what) +
              " a different structure, or different numbers or strings: what changes must be a tensor, "
              "and the number and positions of the tensors must stay the same");
}

TANDEM_LAZY_INLINE TracedBody trace_body(std::string name, Span<const Spec> arguments, Code code) {
  Tracer tracer(std::move(name), {.outer = Tracer::current()});
  std::vector<Tensor> symbols;
  for (const Spec& s : arguments) symbols.push_back(tracer.argument(s));
  const std::vector<Tensor> outputs = code.call(code.self, symbols);
  Ref<Graph> graph = tracer.finish(outputs);
  return {std::move(graph), tracer.captures()};
}
TANDEM_LAZY_INLINE void hoist_steady_reads(std::initializer_list<TracedBody*> bodies) {
  for (const TracedBody* b : bodies)
    if (std::any_of(b->graph->nodes.begin(), b->graph->nodes.end(),
                    [](const Node& n) { return detail::runs_host_code(n); }))
      return;
  hoist_reads(bodies);
}
TANDEM_LAZY_INLINE void hoist_reads(std::initializer_list<TracedBody*> bodies) {
  detail::VariableSet assigned;
  for (const TracedBody* b : bodies)
    for (const Variable& v : assigned_variables(*b->graph)) assigned.insert(v);
  for (TracedBody* b : bodies)
    for (Node& n : b->graph->nodes) {
      if (n.op != &read_variable_op) continue;
      const Variable& v = tandem::variable_of(*b->graph, n);
      if (assigned.contains(v)) continue;
      b->captures.push_back(v.read_value());
      n.op = &argument_op;
      n.attrs = rules::PositionAttrs{static_cast<i64>(b->graph->arguments.size())};
      b->graph->arguments.push_back(n.first_out);
    }
}
TANDEM_LAZY_INLINE void pass_in_read_variables(TracedBody& b) {
  Graph& g = *b.graph;
  const NodeId before = g.nodes.end_id();
  ById<VariableIndex, ValueId> argument(g.variables.size());
  for (const NodeId i : IdRange(NodeId(0), before)) {
    const Node& n = g.nodes[i];
    if (n.op != &read_variable_op || !detail::has_derivative(g.spec(n.first_out))) continue;
    const VariableIndex at = variable_index(n);
    if (argument[at].is_set()) continue;
    const Variable& v = g.variable(at);
    b.captures.push_back(v.read_value());
    argument[at] = g.add_argument(v.spec(), "captured/" + v.name());
  }
  std::rotate(g.nodes.begin(), g.nodes.begin() + before.number(), g.nodes.end());
  for (Node& n : g.nodes)
    if (n.op == &read_variable_op && argument[variable_index(n)].is_set()) n.in.push_back(argument[variable_index(n)]);
}
TANDEM_LAZY_INLINE std::vector<Tensor> listed(Tensors tensors) {
  return {std::make_move_iterator(tensors.begin()), std::make_move_iterator(tensors.end())};
}

TANDEM_LAZY_INLINE bool value_of(const Tensor& condition, const char* op) {
  if (condition.dtype() != DType::bool_ || condition.size() != 1)
    errors::raise<errors::InvalidArgumentError>(
        op, "the condition must be one bool, not " + to_string(condition.spec()) + " (compare: x > 0, or reduce_any)");
  return condition.item<bool>();
}
TANDEM_LAZY_INLINE std::vector<Tensor> stage_cond(const Tensor& condition, Code then, Code otherwise,
                                                  const OpOptions& options) {
  TracedBody a = trace_body("cond, if true", {}, then), b = trace_body("cond, if false", {}, otherwise);
  hoist_steady_reads({&a, &b});
  for (TracedBody* body : {&a, &b}) pass_in_read_variables(*body);
  if (a.graph->outputs.size() != b.graph->outputs.size()) raise_structure("cond", "the branches return");
  InlinedVector<const Tensor*, 16> in;
  in.push_back(&condition);
  for (const TracedBody* body : {&a, &b})
    for (const Tensor& t : body->captures) in.push_back(&t);
  const std::size_t results = a.graph->outputs.size();
  const rules::CondAttrs attrs{a.graph, b.graph, static_cast<i64>(results)};
  return listed(apply_control(cond_op, {in.begin(), in.size()}, attrs, results, options));
}

TANDEM_LAZY inline Tensor count_true(const std::vector<Tensor>& conditions) {
  std::vector<Tensor> scalars;
  for (const Tensor& t : conditions) scalars.push_back(reshape(cast(t, DType::int32), {}));
  return reduce_sum(stack(scalars));
}
TANDEM_LAZY_INLINE void check_at_most_one(const std::vector<Tensor>& conditions) {
  debugging::assert_less(count_true(conditions), 2,
                         {.message = "case_: more than one condition is true, and .exclusive is set"});
}
TANDEM_LAZY_INLINE void check_any(const std::vector<Tensor>& conditions) {
  debugging::assert_positive(count_true(conditions),
                             {.message = "case_: no condition is true, and there is no code for that"});
}
TANDEM_LAZY TANDEM_INLINE void check_index(const Tensor& index) {
  if (!dtypes::index.has(index.dtype()) || index.rank() != 0)
    errors::raise<errors::InvalidArgumentError>(
        "switch_case", "the index must be an int32 or int64 scalar, not " + to_string(index.spec()));
}
TANDEM_LAZY_INLINE Tensor is_below(const Tensor& index, i64 limit) { return index < limit; }
TANDEM_LAZY_INLINE Tensor is_outside(const Tensor& index, i64 limit) {
  check_index(index);
  return (index < 0) | (index >= limit);
}

}  // namespace control
}  // namespace TANDEM_NS
