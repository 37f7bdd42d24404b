// The forward ops again, then the gradients, in one graph, and what both derivative graphs are extracted from it.
#pragma once
#include <algorithm>
#include <utility>

#include "tandem/autodiff/gradient_sum.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/derivative/derivative.hpp"
#include "tandem/graph/exec/replay.hpp"
#include "tandem/graph/exec/replay_ops.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/graph/trace/trace.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

struct Derivative::Joint {
  Ref<Graph> graph;
  NodeId forward_end;               // behind the forward ops, which come first
  ById<ValueId, ValueId> value_of;  // of a value of the forward graph: the joint graph's value, if any
  LeanVector<ValueId> inputs;       // by input (arguments, then reads): the joint graph's argument
  LeanVector<ValueId> upstream;     // by result: the joint graph's argument, if any
  std::vector<char> set, sparse;    // by input: whether a gradient reaches it, and of which kind
};

// What a joint trace computes with; values that it does not have are not set.
struct Derivative::Symbols {
  std::vector<Tensor> in;        // by input
  std::vector<Tensor> upstream;  // by result: its incoming gradient
  ById<ValueId, Tensor> values;  // by value of the forward graph
};

namespace detail {

// A copy whose control flow also returns what its gradients need. Ops with additional outputs get new values, since
// an op's outputs are numbered consecutively.
TANDEM_LAZY TANDEM_INLINE Ref<Graph> recordable(const Graph& graph) {
  Ref<Graph> g = graph.copy();
  ById<ValueId, ValueId> now(g->specs.size());
  for (const ValueId v : now.ids()) now[v] = v;
  ById<ValueId, Tensor> known(g->specs.size());
  for (Node& n : g->nodes) {
    for (ValueId& v : n.in) v = now[v];
    Specs specs;
    if (n.op->rare.host_kernel) {
      n.attrs = recording(*n.op, n.attrs);
      specs = infer_again(n, known);
    }
    if (static_cast<int>(specs.size()) > n.outputs) {
      const ValueId first = g->specs.end_id();
      for (int k = 0; k < n.outputs; ++k) now[n.first_out + k] = first + k;
      g->specs.append(specs.begin(), specs.end());
      n.first_out = first, n.outputs = static_cast<int>(specs.size());
      known.resize(g->specs.size());
    }
    for (ValueId v = n.first_out; v < n.first_out + n.outputs; ++v)
      known[v] = constant_of(n) ? *constant_of(n) : Tensor::symbol(g->spec(v));
  }
  for (ValueId& v : g->outputs) v = now[v];
  return g;
}

}  // namespace detail

TANDEM_LAZY_INLINE Derivative::Derivative(const Graph& graph) {
  const detail::OutsideTrace detached;
  forward_ = detail::recordable(graph);
  const ById<ValueId, int> uses = forward_->uses();
  ById<ValueId, ArgumentIndex> argument(forward_->specs.size());
  for (std::size_t i = 0; i < forward_->arguments.size(); ++i) argument[forward_->arguments[i]] = ArgumentIndex(i);
  for (const NodeId i : forward_->nodes.ids())
    if (const Node& n = forward_->nodes[i]; n.op == &read_variable_op && uses[n.first_out]) {
      reads_.push_back(i);
      stands_for_.push_back(n.in.empty() ? ArgumentIndex() : argument[n.in[0]]);
    }
  results_ = forward_->outputs;
  find_saved();
  results_.append(saved_.begin(), saved_.end());
}
TANDEM_LAZY_INLINE ValueId Derivative::input_value(std::size_t i) const {
  const std::size_t arguments = forward_->arguments.size();
  if (i < arguments) return forward_->arguments[i];
  return forward_->nodes[reads_[i - arguments]].first_out;
}
TANDEM_LAZY_INLINE RequestedGradients Derivative::full_demand() const {
  RequestedGradients d;
  for (ValueId v : forward_->outputs) d.upstream.push_back(detail::has_derivative(forward_->spec(v)));
  for (std::size_t i = 0; i < inputs(); ++i) d.wanted.push_back(detail::has_derivative(forward_->spec(input_value(i))));
  return d;
}

// For the value of a read: the argument that represents its Variable, if any.
TANDEM_LAZY_INLINE ArgumentIndex Derivative::argument_of_read(std::size_t input) const {
  const std::size_t arguments = forward_->arguments.size();
  return input < arguments ? ArgumentIndex() : stands_for_[input - arguments];
}
TANDEM_LAZY_INLINE bool Derivative::is_asked_for(const RequestedGradients& demand, std::size_t input) const {
  const ArgumentIndex argument = argument_of_read(input);
  return demand.wanted[input] || (argument.is_set() && demand.wanted[argument.index()]);
}
TANDEM_LAZY_INLINE void Derivative::pass_on(const RequestedGradients& demand, std::vector<Gradient>& by_input) const {
  LeanVector<detail::GradientSum> sums(forward_->arguments.size());
  for (std::size_t i = sums.size(); i < by_input.size(); ++i) {
    const ArgumentIndex argument = argument_of_read(i);
    if (!argument.is_set() || !demand.wanted[argument.index()] || !by_input[i].is_set()) continue;
    detail::GradientSum& sum = sums[argument.index()];
    if (Gradient& own = by_input[argument.index()]; own.is_set() && !sum.is_set()) sum.add(Gradient(own));
    sum.add(Gradient(by_input[i]));
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    if (sums[i].is_set()) by_input[i] = std::move(sums[i].value());
}

// The values of the forward ops, computed again in the present trace from its inputs.
TANDEM_LAZY_INLINE void Derivative::replay_forward(Symbols& s) const {
  const Graph& forward = *forward_;
  std::size_t next_read = forward.arguments.size();
  const auto is_input = [&](const Node& n) {
    return std::binary_search(reads_.begin(), reads_.end(), forward.id_of(n));
  };
  InlinedVector<const Tensor*, 8> arguments;
  for (std::size_t i = 0; i < forward.arguments.size(); ++i) arguments.push_back(&s.in[i]);
  detail::replay_ops(
      forward, {arguments.begin(), arguments.size()},
      [&](const Node& n) { return is_input(n) ? s.in[next_read++] : Tensor(); }, [](const Node&, const Tensor&) {},
      &s.values);
  for (const Node& n : forward.nodes)  // a constant without data is not a value of the trace
    if (const Tensor* t = constant_of(n); t && t->is_symbolic()) s.values[n.first_out] = Tensor();
}
// By input; not set where none is wanted, or none arrives.
TANDEM_LAZY_INLINE std::vector<Gradient> Derivative::gradients_of(const Symbols& s, const RequestedGradients& demand,
                                                                  GradientTape& tape) const {
  std::vector<Tensor> targets, output_gradients;
  for (std::size_t i = 0; i < s.upstream.size(); ++i)
    if (s.upstream[i].is_set()) targets.push_back(s.values[results_[i]]), output_gradients.push_back(s.upstream[i]);
  LeanVector<Source> sources;
  for (std::size_t i = 0; i < s.in.size(); ++i)
    if (is_asked_for(demand, i)) sources.push_back(s.in[i]);
  std::vector<Gradient> g = tape.gradients(targets, sources, {.output_gradients = output_gradients}),
                        by_input(s.in.size());
  for (std::size_t i = 0, k = 0; i < s.in.size(); ++i)
    if (is_asked_for(demand, i)) by_input[i] = std::move(g[k++]);
  pass_on(demand, by_input);
  return by_input;
}
// Ends the trace. The symbols are resolved before, in one list after the gradients.
TANDEM_LAZY_INLINE void Derivative::finish(Tracer& tracer, const Symbols& s, std::vector<Tensor> gradients, Joint& j) {
  const std::size_t count = gradients.size();
  for (const Span<const Tensor> list : {Span<const Tensor>(s.in), {s.upstream}, {s.values}})
    for (const Tensor& t : list)
      if (t.is_set()) gradients.push_back(t);
  j.graph = tracer.finish(gradients);
  std::size_t at = count;
  const auto places = [&](Span<const Tensor> list, LeanVector<ValueId>& values) {
    for (const Tensor& t : list) values.push_back(t.is_set() ? j.graph->outputs[at++] : ValueId());
  };
  places(s.in, j.inputs);
  places(s.upstream, j.upstream);
  places(s.values, j.value_of);
  j.graph->outputs.resize(count);
}

TANDEM_LAZY_INLINE Derivative::Joint Derivative::trace(const RequestedGradients& demand) const {
  const detail::ShapeChecks lenient(false);
  Joint j;
  Tracer tracer("gradient of " + forward_->name);
  Symbols s;
  for (std::size_t i = 0; i < inputs(); ++i) s.in.push_back(tracer.argument(forward_->spec(input_value(i))));
  for (std::size_t i = 0; i < demand.upstream.size(); ++i)
    s.upstream.push_back(demand.upstream[i] ? tracer.argument(forward_->spec(results_[i])) : Tensor());
  GradientTape tape({.watch_accessed_variables = false});
  for (std::size_t i = 0; i < s.in.size(); ++i)
    if (is_asked_for(demand, i)) tape.watch(s.in[i]);
  replay_forward(s);
  j.forward_end = tracer.graph().nodes.end_id();
  const std::vector<Gradient> by_input = gradients_of(s, demand, tape);
  std::vector<Tensor> gradients;
  j.set.resize(by_input.size()), j.sparse.resize(by_input.size());
  for (std::size_t i = 0; i < by_input.size(); ++i) {
    if (!demand.wanted[i]) continue;
    const Gradient& x = by_input[i];
    j.set[i] = x.is_set(), j.sparse[i] = x.is_sparse();
    if (x.is_sparse()) gradients.push_back(x.values()), gradients.push_back(x.slices().indices);
    else if (x.is_set()) gradients.push_back(x.dense());
  }
  finish(tracer, s, std::move(gradients), j);
  return j;
}

// Values of the forward part that the gradients read, except known shapes and what the caller has anyway.
TANDEM_LAZY_INLINE void Derivative::find_saved() {
  const Joint j = trace(full_demand());
  ById<ValueId, char> read(j.graph->specs.size());
  for (const NodeId i : IdRange(j.forward_end, j.graph->nodes.end_id())) {
    const Node& n = j.graph->nodes[i];
    for (unsigned k = 0; k < n.in.size(); ++k)
      if (!names_input(n.op->shape_inputs, k) || !j.graph->spec(n.in[k]).shape.is_fully_defined()) read[n.in[k]] = 1;
  }
  for (ValueId v : j.graph->outputs) read[v] = 1;
  for (const Node& n : forward_->nodes) {
    if (is_leaf(n)) continue;
    for (int k = 0; k < n.outputs; ++k) {
      const ValueId v = n.first_out + k, at = j.value_of[v];
      if (at.is_set() && (read[at] || has_effects(n))) saved_.push_back(v);
    }
  }
  const Ref<Graph> gradients = cut(j);
  const ById<ValueId, int> uses = gradients->uses();
  for (std::size_t i = 0; i < inputs(); ++i) reads_input_.push_back(uses[gradients->arguments[i]] > 0);
}

// Extracts the gradients: saved values become arguments; of the rest of the forward part only what they need stays.
TANDEM_LAZY_INLINE Ref<Graph> Derivative::cut(const Joint& j) const {
  const Graph& from = *j.graph;
  auto to = make_ref<Graph>();
  to->name = from.name;
  to->variables = from.variables;
  ById<ValueId, ValueId> map(from.specs.size());
  for (ValueId v : j.inputs) map[v] = to->add_argument(from.spec(v), "input");
  for (ValueId v : saved_) {
    const ValueId at = j.value_of[v], argument = to->add_argument(forward_->spec(v), "saved");
    if (at.is_set() && !map[at].is_set()) map[at] = argument;
  }
  for (ValueId v : j.upstream)
    if (v.is_set()) map[v] = to->add_argument(from.spec(v), "upstream");
  const auto shape_only = [&](const Node& n, unsigned k) {
    return names_input(n.op->shape_inputs, k) && from.spec(n.in[k]).shape.is_fully_defined();
  };
  ById<ValueId, char> needed(from.specs.size());
  for (ValueId v : from.outputs) needed[v] = 1;
  ById<NodeId, char> keep(from.nodes.size());
  for (NodeId i = from.nodes.end_id(); i-- > NodeId(0);) {
    const Node& n = from.nodes[i];
    for (ValueId v = n.first_out; v < n.first_out + n.outputs; ++v)
      keep[i] |= static_cast<char>(needed[v] && !map[v].is_set());
    keep[i] |= static_cast<char>(i >= j.forward_end && has_effects(n));
    if (!keep[i]) continue;
    for (unsigned k = 0; k < n.in.size(); ++k)
      if (!shape_only(n, k)) needed[n.in[k]] = 1;
  }
  for (const NodeId i : from.nodes.ids()) {
    const Node& n = from.nodes[i];
    if (!keep[i]) continue;
    InlinedVector<ValueId, 8> in;
    for (unsigned k = 0; k < n.in.size(); ++k) {
      const ValueId v = map[n.in[k]];
      in.push_back(v.is_set() ? v : to->add_constant(Tensor::symbol(from.spec(n.in[k])), "shape"));
    }
    const Span<const Spec> specs(from.specs.data() + n.first_out.index(), static_cast<std::size_t>(n.outputs));
    const ValueId first = to->add(*n.op, n.attrs, {in.begin(), in.size()}, specs, n.name, n.where);
    for (int k = 0; k < n.outputs; ++k)
      if (ValueId& v = map[n.first_out + k]; !v.is_set()) v = first + k;
  }
  for (ValueId v : from.outputs) to->outputs.push_back(map[v]);
  return to;
}
TANDEM_LAZY_INLINE Derivative::Backward Derivative::backward(const RequestedGradients& demand) const {
  const detail::OutsideTrace detached;
  Joint j = trace(demand);
  Ref<Graph> graph = cut(j);
  return {std::move(graph), std::move(j.set), std::move(j.sparse)};
}

}  // namespace TANDEM_NS
