// Definition of the cond op: shape rule, execution, gradient.
#pragma once
#include <algorithm>

#include "tandem/core/apply.hpp"
#include "tandem/graph/control/backward_body.hpp"
#include "tandem/graph/control/bodies.hpp"
#include "tandem/graph/control/body.hpp"
#include "tandem/graph/control/control_code.hpp"
#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/control/loop_layout.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/ir/bind.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
namespace detail {

// The most specific spec that covers both; dims that differ become unknown.
TANDEM_LAZY TANDEM_INLINE Spec joined_branches(const InferCall& c, std::size_t result, const Spec& a, const Spec& b) {
  if (a.dtype != b.dtype || !(a.device == b.device) || a.shape.rank() != b.shape.rank())
    errors::raise<errors::InvalidArgumentError>(
        c.op.name, "the branches differ: result " + std::to_string(result) + " is " + to_string(a) + " on " +
                       to_string(a.device) + " in the first, " + to_string(b) + " on " + to_string(b.device) +
                       " in the second; both must have one dtype and rank");
  Spec s = a;
  for (int i = 0; i < s.shape.rank(); ++i)
    if (a.shape.dim(i) != b.shape.dim(i)) s.shape.set(i, none);
  return s;
}
TANDEM_LAZY_INLINE Specs infer_cond(const InferCall& c) {
  const auto& a = c.get<rules::CondAttrs>();
  const std::size_t first = a.then->arguments.size(), second = a.otherwise->arguments.size();
  const std::size_t results = count_of(a.results);
  if (c.in.size() != 1 + first + second || a.results < 0 || results > a.then->outputs.size() ||
      results > a.otherwise->outputs.size())
    errors::raise<errors::InvalidArgumentError>(c.op.name, "the branches do not fit the inputs and results");
  const Spec& condition = c.spec(0);
  if (condition.dtype != DType::bool_ || (condition.shape.is_fully_defined() && condition.shape.size() != 1))
    errors::raise<errors::InvalidArgumentError>(
        c.op.name, "the condition must be one bool, not " + to_string(condition) + " (compare: x > 0, or reduce_any)");
  const bool now = runs_now(c), taken = now && c.in[0]->item<bool>();
  if (!now || taken) check_arguments(c, *a.then, 1, first);
  if (!now || !taken) check_arguments(c, *a.otherwise, 1 + first, second);
  Ref<Graph> then = a.then, otherwise = a.otherwise;
  if (!now) {
    then = bound_body(then, input_specs(c, 1, first));
    otherwise = bound_body(otherwise, input_specs(c, 1 + first, second));
  }
  Specs r;
  for (std::size_t i = 0; i < results; ++i)
    r.push_back(joined_branches(c, i, output_spec(*then, i), output_spec(*otherwise, i)));
  for (const Graph* g : {then.get(), otherwise.get()})
    for (std::size_t i = results; i < g->outputs.size(); ++i) r.push_back(output_spec(*g, i));
  return r;
}

TANDEM_LAZY_INLINE Tensors execute_cond(Inputs in, const Attrs& attrs) {
  const auto& a = attrs.get<rules::CondAttrs>();
  const bool taken = in[0]->item<bool>();
  const std::size_t first = a.then->arguments.size(), results = count_of(a.results);
  const Graph &run = taken ? *a.then : *a.otherwise, &other = taken ? *a.otherwise : *a.then;
  const Inputs arguments = in.subspan(taken ? 1 : 1 + first, run.arguments.size());
  InlinedVector<Spec, 8, memory::Blocks> specs;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    check_argument("cond", run, i, specs.push_back(arguments[i]->spec()));
  Tensors made = Body::of(run).function().program_for({specs.begin(), specs.size()})->run(arguments);
  Tensors rest, out;
  for (std::size_t i = results; i < other.outputs.size(); ++i) rest.push_back(placeholder(output_spec(other, i)));
  for (std::size_t i = 0; i < results; ++i) out.push_back(std::move(made[i]));
  if (!taken)
    for (Tensor& t : rest) out.push_back(std::move(t));
  for (std::size_t i = results; i < run.outputs.size(); ++i) out.push_back(std::move(made[i]));
  if (taken)
    for (Tensor& t : rest) out.push_back(std::move(t));
  return out;
}

// The graph that returns all that its gradients read, including the gradients with respect to those additional
// outputs, which higher-order gradients need.
TANDEM_LAZY TANDEM_INLINE Ref<Graph> recorded_branch(Ref<Graph> g) {
  for (;;) {
    Body& body = Body::of(*g);
    const LeanVector<ValueId> needed = needed_values(body.derivative(), std::vector<char>(g->arguments.size(), 1), 0);
    if (needed.empty()) return g;
    g = body.recorded(needed);
  }
}
TANDEM_LAZY TANDEM_INLINE Attrs recording_cond(const rules::CondAttrs& a) {
  return rules::CondAttrs{recorded_branch(a.then), recorded_branch(a.otherwise), a.results};
}

// A cond whose branches are the gradients of the branches. Each has separate arguments: the inputs of the cond,
// outputs and incoming gradients that it reads.
TANDEM_LAZY class CondGradient {
 public:
  explicit CondGradient(const GradCall& c)
      : c_(c), a_(c.get<rules::CondAttrs>()), set_(c.in.size() - 1), index_specs_(c.in.size() - 1) {}
  Grads run() {
    const Branch then{*a_.then, 0, count_of(a_.results)},
        otherwise{*a_.otherwise, a_.then->arguments.size(), a_.then->outputs.size()};
    Derivative::Backward of_then = derive(then), of_otherwise = derive(otherwise);
    rules::CondAttrs back{};
    back.then = trace(then, std::move(of_then));
    back.otherwise = trace(otherwise, std::move(of_otherwise));
    back.results = static_cast<i64>(back.then->outputs.size());
    Grads r;
    r.resize(static_cast<unsigned>(c_.in.size()));
    if (!back.results) return r;
    InlinedVector<const Tensor*, 16> in;
    in.push_back(&c_.in[0]);
    for (const Tensor& t : given_) in.push_back(&t);
    Tensors g = apply_control(cond_op, {in.begin(), in.size()}, back, count_of(back.results));
    for (std::size_t i = 0, next = 0; i < set_.size(); ++i) {
      if (set_[i] == sparse) r[i + 1] = IndexedSlices{g[next], g[next + 1], c_.in[i + 1]}, next += 2;
      else if (set_[i] == dense) r[i + 1] = std::move(g[next++]);
    }
    return r;
  }

 private:
  enum Kind : char { no_gradient, dense, sparse };
  struct Branch {
    const Graph& graph;
    std::size_t first;  // index of its first argument, among the cond's inputs without the condition
    std::size_t rest;   // index of its first additional output
    const Derivative& derivative = Body::of(graph).derivative();
  };
  std::size_t output(const Branch& b, std::size_t i) const {
    return i < count_of(a_.results) ? i : b.rest + i - count_of(a_.results);
  }
  RequestedGradients demand(const Branch& b) const {
    RequestedGradients d = b.derivative.full_demand();
    for (std::size_t i = 0; i < d.upstream.size(); ++i) d.upstream[i] = d.upstream[i] && c_.g[output(b, i)].is_set();
    for (std::size_t i = 0; i < d.wanted.size(); ++i)
      d.wanted[i] = d.wanted[i] && i < b.graph.arguments.size() && c_.needs(1 + b.first + i);
    return d;
  }
  Derivative::Backward derive(const Branch& b) {
    Derivative::Backward r = b.derivative.backward(demand(b));
    for (std::size_t i = 0, next = 0; i < b.graph.arguments.size(); ++i) {
      if (!r.set[i]) continue;
      set_[b.first + i] = r.sparse[i] ? sparse : dense;
      if (r.sparse[i]) index_specs_[b.first + i] = output_spec(*r.graph, next + 1);
      next += r.sparse[i] ? 2 : 1;
    }
    return r;
  }
  Ref<Graph> trace(const Branch& b, Derivative::Backward backward) {
    const Derivative& d = b.derivative;
    const std::size_t arguments = b.graph.arguments.size();
    BackwardBody body(d, std::move(backward));
    const auto from_output = [&](ValueId value) {
      return body.argument(c_.out[output(b, body.output_of(value))], d.forward().spec(value));
    };
    for (std::size_t i = 0; i < d.inputs(); ++i)
      if (body.reads_input(i))
        body.input(i, i < arguments ? body.argument(c_.in[1 + b.first + i], d.forward().spec(d.input_value(i)))
                                    : from_output(d.input_value(i)));
    for (std::size_t i = 0; i < d.saved().size(); ++i)
      if (body.reads_saved(i)) body.saved(i, from_output(d.saved()[i]));
    const RequestedGradients wants = demand(b);
    for (std::size_t i = 0; i < wants.upstream.size(); ++i)
      if (wants.upstream[i]) body.upstream(body.argument(c_.g[output(b, i)], d.forward().spec(d.forward().outputs[i])));
    const std::vector<Gradient> gradients = body.gradients();
    std::vector<Tensor> outputs;
    for (std::size_t i = 0; i < set_.size(); ++i) {
      if (!set_[i]) continue;
      const bool own = i >= b.first && i < b.first + arguments;
      if (set_[i] == sparse) {
        const IndexedSlices s = own ? gradients[i - b.first].slices() : no_rows(body, i);
        outputs.push_back(s.values), outputs.push_back(s.indices);
      } else {
        outputs.push_back(own ? gradients[i - b.first].dense() : zeros(body, c_.in[1 + i]));
      }
    }
    Ref<Graph> traced = body.finish(outputs);
    given_.insert(given_.end(), body.outer().begin(), body.outer().end());
    return traced;
  }
  // An empty row-sparse gradient, for the other branch.
  IndexedSlices no_rows(BackwardBody& body, std::size_t input) const {
    const Tensor indices = zeros_like(Tensor::symbol({{0}, index_specs_[input].dtype, index_specs_[input].device}));
    Spec rows = c_.in[1 + input].spec();
    rows.shape.set(0, 0);
    if (rows.shape.is_fully_defined()) return {zeros_like(Tensor::symbol(rows)), indices, {}};
    const Tensor& like = c_.in[1 + input];
    return {zeros_like(body.argument(like, like.spec())(Slice(0, 0))), indices, {}};
  }
  static Tensor zeros(BackwardBody& body, const Tensor& like) {
    if (like.shape().is_fully_defined()) return zeros_like(Tensor::symbol(like.spec()));
    return zeros_like(body.argument(like, like.spec()));
  }

  const GradCall& c_;
  const rules::CondAttrs& a_;
  LeanVector<Kind> set_;           // by input of the cond: the kind of gradient that reaches it
  std::vector<Spec> index_specs_;  // by input of the cond: the spec of a row-sparse gradient's indices
  std::vector<Tensor> given_;      // the arguments of both branches
};
TANDEM_LAZY_INLINE Grads cond_gradient(const GradCall& c) { return CondGradient(c).run(); }

}  // namespace detail

TANDEM_INLINE constexpr OpDef cond_op{
    .name = "cond",
    .infer = [](const InferCall& c) { return detail::control_code().cond.infer(c); },
    .gradient = [](const GradCall& c) { return detail::control_code().cond.gradient(c); },
    .dtype_input = -1,
    .inputs = at_least(1),
    .outputs = -1,
    .attrs = &detail::attr_type<rules::CondAttrs>,
    .rare = {.host_kernel = [](Inputs in, const Attrs& a) { return detail::control_code().cond.execute(in, a); }}};

TANDEM_LAZY_INLINE Attrs recording(const OpDef& op, const Attrs& attrs) {
  if (&op == &cond_op) return detail::recording_cond(attrs.get<rules::CondAttrs>());
  if (attrs.holds<rules::LoopAttrs>()) return detail::recording_loop(attrs.get<rules::LoopAttrs>());
  return attrs;
}
TANDEM_LAZY_INLINE Tensors apply_control(const OpDef& op, Inputs in, const Attrs& attrs, std::size_t results,
                                         const OpOptions& options) {
  Tensors out = apply(op, in, context.observers ? recording(op, attrs) : attrs, options);
  out.resize(static_cast<unsigned>(results));
  return out;
}

}  // namespace TANDEM_NS
