// Definitions of graph/control/while_loop.hpp.
#pragma once
#include "tandem/graph/control/loop_rows.hpp"
#include "tandem/graph/control/traced_body.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS::control {

TANDEM_LAZY_INLINE i64 count_rows(const char* op, const std::vector<Tensor>& tensors) {
  if (tensors.empty()) errors::raise<errors::InvalidArgumentError>(op, "needs at least one tensor to iterate over");
  i64 n = none;
  for (const Tensor& t : tensors) {
    if (!t.rank())
      errors::raise<errors::InvalidArgumentError>(op, to_string(t.spec()) + " has no rows to iterate over");
    if (t.shape().dim(0) == none) continue;
    if (n != none && n != t.shape().dim(0))
      errors::raise<errors::InvalidArgumentError>(op, "the tensors have " + std::to_string(n) + " and " +
                                                          std::to_string(t.shape().dim(0)) +
                                                          " rows; the numbers must be equal");
    n = t.shape().dim(0);
  }
  return n;
}
TANDEM_LAZY_INLINE void check_same_dtypes(const char* op, const std::vector<Tensor>& before,
                                          const std::vector<Tensor>& after) {
  for (std::size_t i = 0; i < before.size() && i < after.size(); ++i)
    if (before[i].dtype() != after[i].dtype())
      errors::raise<errors::InvalidArgumentError>(
          op, "loop variable " + std::to_string(i) + " is " + to_string(before[i].spec()) + " before and " +
                  to_string(after[i].spec()) + " after an iteration; a loop variable must keep its dtype");
}

TANDEM_LAZY TANDEM_INLINE std::vector<Spec> carried_specs(const LoopRequest& r) {
  std::vector<Spec> specs;
  for (const Tensor& t : r.start) specs.push_back(t.spec());
  if (r.invariants.empty()) return specs;
  if (r.invariants.size() != specs.size())
    errors::raise<errors::InvalidArgumentError>(r.op, std::to_string(r.invariants.size()) + " shape invariants for " +
                                                          std::to_string(specs.size()) + " loop variables");
  for (std::size_t i = 0; i < specs.size(); ++i) {
    bool fits = r.invariants[i].rank() == specs[i].shape.rank();
    for (int d = 0; fits && d < specs[i].shape.rank(); ++d)
      fits = r.invariants[i].dim(d) == none || r.invariants[i].dim(d) == specs[i].shape.dim(d);
    if (!fits)
      errors::raise<errors::InvalidArgumentError>(r.op, "loop variable " + std::to_string(i) + " starts as " +
                                                            to_string(specs[i]) + ", which its shape invariant " +
                                                            to_string(r.invariants[i]) + " does not allow");
    specs[i].shape = r.invariants[i];
  }
  return specs;
}
TANDEM_LAZY TANDEM_INLINE void check_kept(const LoopRequest& r, const std::vector<Spec>& carried, const Graph& body) {
  if (body.outputs.size() < carried.size()) raise_structure(r.op, "the body returns");
  for (std::size_t i = 0; i < carried.size(); ++i) {
    const Spec &want = carried[i], &got = detail::output_spec(body, i);
    const std::string name = "loop variable " + std::to_string(i);
    if (want.dtype != got.dtype || !(want.device == got.device))
      errors::raise<errors::InvalidArgumentError>(
          r.op, name + " is " + to_string(want) + " on " + to_string(want.device) + " before and " + to_string(got) +
                    " on " + to_string(got.device) +
                    " after an iteration; a loop variable must keep its dtype and device");
    bool kept = want.shape.rank() == got.shape.rank();
    for (int d = 0; kept && d < want.shape.rank(); ++d)
      kept = want.shape.dim(d) == none || want.shape.dim(d) == got.shape.dim(d);
    if (!kept)
      errors::raise<errors::InvalidArgumentError>(
          r.op, name + " changes its shape: " + to_string(want) + " before, " + to_string(got) +
                    " after an iteration; mark the dims that change with .shape_invariants = {..., {none}}, or "
                    "collect values in a TensorArray");
  }
}
TANDEM_LAZY TANDEM_INLINE Tensor limit_of(const LoopRequest& r) {
  if (r.rows.empty()) return constant(r.limit == none ? INT64_MAX : r.limit);
  if (const i64 n = count_rows(r.op, r.rows); n != none) return constant(n);
  return shape(r.rows[0], {.out_type = DType::int64})[0];
}
TANDEM_LAZY_INLINE std::vector<Tensor> stage_loop(const LoopRequest& r, const OpOptions& options) {
  const std::vector<Spec> carried = carried_specs(r);
  std::vector<Spec> specs = carried;
  for (const Tensor& t : r.rows) specs.push_back(detail::row_of(t.spec()));
  TracedBody body = trace_body(std::string(r.op) + ", body", specs, r.body);
  if (r.again && *r.again) return {};
  check_kept(r, carried, *body.graph);
  TracedBody condition{make_ref<Graph>(), {}};
  if (r.condition) {
    condition = trace_body(std::string(r.op) + ", condition", carried, *r.condition);
    const Spec& s = detail::output_spec(*condition.graph, 0);
    if (s.dtype != DType::bool_ || (s.shape.is_fully_defined() && s.shape.size() != 1))
      errors::raise<errors::InvalidArgumentError>(r.op, "the condition must be one bool, not " + to_string(s));
  }
  hoist_steady_reads({&condition, &body});
  pass_in_read_variables(body);
  const Tensor limit = limit_of(r);
  InlinedVector<const Tensor*, 16> in;
  in.push_back(&limit);
  const std::vector<Tensor>* const lists[] = {&r.start, &r.rows, &condition.captures, &body.captures};
  for (const std::vector<Tensor>* list : lists)
    for (const Tensor& t : *list) in.push_back(&t);
  const rules::LoopAttrs attrs{condition.graph,
                               body.graph,
                               static_cast<i64>(carried.size()),
                               static_cast<i64>(r.rows.size()),
                               r.reverse,
                               {},
                               {}};
  OpOptions named = options;
  if (!named.name) named.name = r.op;
  return listed(apply_control(loop_op, {in.begin(), in.size()}, attrs, body.graph->outputs.size(), named));
}

}  // namespace TANDEM_NS::control
