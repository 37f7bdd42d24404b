// A traced call under a tape: the forward graph that also returns what the backward one needs, and the backward graphs,
// each traced when it is first asked for (implementation half of graph/concrete.hpp).
#pragma once
#include <map>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/concrete.hpp"
#include "tandem/graph/trace.hpp"

namespace TANDEM_NS {

namespace detail {

// Which results have an incoming gradient and which inputs want one.
struct Demand {
  std::vector<bool> upstream, wanted;
  friend auto operator<=>(const Demand&, const Demand&) = default;
};

// The forward ops once more, then the gradients, in one graph: what both derivatives are cut out of.
struct Joint {
  Ref<Graph> graph;
  std::size_t forward_nodes = 0;  // the first ones
  std::vector<int> value_of;      // by value of the forward graph: the joint graph's, or -1
  std::vector<int> inputs;        // by input (arguments, then reads): the joint graph's argument
  std::vector<int> upstream;      // by result: the joint graph's argument, or -1
  std::vector<char> set, sparse;  // by input: whether a gradient reaches it, and of which kind
};

}  // namespace detail

// Inputs of the recorded op: the arguments, then the value of each read of a Variable. Its outputs: the results, then
// the saved values.
struct ConcreteFunction::Derivative final : Opaque {
  const char* kind() const override { return "derivative"; }
  explicit Derivative(const Graph& g, const ExecutionOptions& o);

  detail::Joint trace(const detail::Demand& demand) const;
  Ref<Graph> cut(const detail::Joint& joint) const;
  void find_saved();
  /// The backward function for a demand, and which of its outputs belong to which input.
  struct Backward {
    Ref<ConcreteFunction> function;
    std::vector<char> set, sparse;
  };
  const Backward& backward(const detail::Demand& demand);
  detail::Demand full_demand() const;
  bool is_differentiable(int value) const {
    return is_floating(forward.spec(value).dtype) || is_complex(forward.spec(value).dtype);
  }

  const Graph& forward;
  ExecutionOptions options;
  std::vector<int> reads;    // nodes
  std::vector<int> results;  // values: outputs, then saved ones
  std::vector<int> saved;
  Ref<ConcreteFunction> augmented;  // returns outputs, reads, saved
  std::mutex mutex;
  std::map<detail::Demand, Backward> backwards;  // guarded by mutex
};

namespace detail {

struct CallAttrs {
  Ref<Opaque> derivative;
  static constexpr auto fields = field_list(field("function", &CallAttrs::derivative));
};
TANDEM_INLINE Grads call_gradient(const GradCall& c);
[[noreturn]] TANDEM_INLINE Specs infer_call(const InferCall& c) {
  errors::raise<errors::InternalError>(c.op.name, "is recorded by tapes alone");
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef call_function_op{.name = "call_function",
                                               .infer = &detail::infer_call,
                                               .gradient = &detail::call_gradient,
                                               .typed = -1,
                                               .inputs = -1};

TANDEM_INLINE ConcreteFunction::Derivative::Derivative(const Graph& g, const ExecutionOptions& o)
    : forward(g), options(o), results(g.outputs) {
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    if (g.nodes[i].op == &read_variable_op) reads.push_back(static_cast<int>(i));
  find_saved();
  results.insert(results.end(), saved.begin(), saved.end());
  Ref<Graph> more = g.copy();
  for (int node : reads) more->outputs.push_back(g.nodes[static_cast<std::size_t>(node)].first_out);
  more->outputs.insert(more->outputs.end(), saved.begin(), saved.end());
  augmented = make_ref<ConcreteFunction>(more, options);
}
TANDEM_INLINE detail::Demand ConcreteFunction::Derivative::full_demand() const {
  detail::Demand d;
  for (int v : forward.outputs) d.upstream.push_back(is_differentiable(v));
  for (int v : forward.arguments) d.wanted.push_back(is_differentiable(v));
  for (int n : reads) d.wanted.push_back(is_differentiable(forward.nodes[static_cast<std::size_t>(n)].first_out));
  return d;
}

TANDEM_INLINE detail::Joint ConcreteFunction::Derivative::trace(const detail::Demand& demand) const {
  detail::Joint j;
  Tracer tracer("gradient of " + forward.name);
  std::vector<Tensor> in, upstream, values;
  for (int v : forward.arguments) in.push_back(tracer.argument(forward.spec(v)));
  for (int n : reads) in.push_back(tracer.argument(forward.spec(forward.nodes[static_cast<std::size_t>(n)].first_out)));
  std::vector<Tensor> targets;
  for (std::size_t i = 0; i < demand.upstream.size(); ++i)
    upstream.push_back(demand.upstream[i] ? tracer.argument(forward.spec(results[i])) : Tensor());
  GradientTape tape({.watch_accessed_variables = false});
  std::vector<Source> sources;
  for (std::size_t i = 0; i < in.size(); ++i)
    if (demand.wanted[i]) tape.watch(in[i]), sources.push_back(in[i]);
  std::size_t next_read = forward.arguments.size();
  Small<const Tensor*, 8> arguments;
  for (std::size_t i = 0; i < forward.arguments.size(); ++i) arguments.push(&in[i]);
  detail::replay_ops(
      forward, {arguments.begin(), arguments.size()}, [&](const Node&) { return in[next_read++]; },
      [](const Node&, const Tensor&) {}, &values);
  j.forward_nodes = tracer.graph().nodes.size();
  std::vector<Tensor> given;
  for (std::size_t i = 0; i < demand.upstream.size(); ++i)
    if (demand.upstream[i])
      targets.push_back(values[static_cast<std::size_t>(results[i])]), given.push_back(upstream[i]);
  const std::vector<Gradient> g = tape.gradients(targets, sources, {.output_gradients = given});
  std::vector<Tensor> outputs;
  j.set.resize(in.size()), j.sparse.resize(in.size());
  for (std::size_t i = 0, k = 0; i < in.size(); ++i) {
    if (!demand.wanted[i]) continue;
    const Gradient& x = g[k++];
    j.set[i] = x.is_set(), j.sparse[i] = x.is_sparse();
    if (x.is_sparse()) outputs.push_back(x.slices().values), outputs.push_back(x.slices().indices);
    else if (x.is_set()) outputs.push_back(x.dense());
  }
  // Everything is looked up before the trace ends, in one list behind the outputs.
  const std::size_t count = outputs.size();
  for (const Tensor& t : in) outputs.push_back(t);
  for (const Tensor& t : upstream)
    if (t.is_set()) outputs.push_back(t);
  for (const Tensor& t : values)
    if (t.is_set()) outputs.push_back(t);
  j.graph = tracer.finish(outputs);
  std::size_t at = count;
  for (std::size_t i = 0; i < in.size(); ++i) j.inputs.push_back(j.graph->outputs[at++]);
  for (const Tensor& t : upstream) j.upstream.push_back(t.is_set() ? j.graph->outputs[at++] : -1);
  for (const Tensor& t : values) j.value_of.push_back(t.is_set() ? j.graph->outputs[at++] : -1);
  j.graph->outputs.resize(count);
  return j;
}

// What the gradients read of the forward part, except shapes that are known and what the caller has anyway.
TANDEM_INLINE void ConcreteFunction::Derivative::find_saved() {
  const detail::Joint j = trace(full_demand());
  std::vector<char> read(j.graph->specs.size());
  for (std::size_t i = j.forward_nodes; i < j.graph->nodes.size(); ++i) {
    const Node& n = j.graph->nodes[i];
    for (unsigned k = 0; k < n.in.size(); ++k)
      if (!names_input(n.op->shape_inputs, k) || !j.graph->spec(n.in[k]).shape.is_fully_defined())
        read[static_cast<std::size_t>(n.in[k])] = 1;
  }
  for (int v : j.graph->outputs) read[static_cast<std::size_t>(v)] = 1;
  for (const Node& n : forward.nodes) {
    if (detail::is_leaf(n)) continue;
    for (int k = 0; k < n.outputs; ++k) {
      const int v = n.first_out + k, at = j.value_of[static_cast<std::size_t>(v)];
      if (at >= 0 && (read[static_cast<std::size_t>(at)] || has_effects(n))) saved.push_back(v);
    }
  }
}

// The gradients alone: saved values become arguments, of the rest of the forward part only what they need stays.
TANDEM_INLINE Ref<Graph> ConcreteFunction::Derivative::cut(const detail::Joint& j) const {
  const Graph& from = *j.graph;
  auto to = make_ref<Graph>();
  to->name = from.name;
  to->variables = from.variables;
  std::vector<int> map(from.specs.size(), -1);
  for (int v : j.inputs) map[static_cast<std::size_t>(v)] = to->add_argument(from.spec(v), "input");
  for (int v : saved) {
    const int at = j.value_of[static_cast<std::size_t>(v)], place = to->add_argument(forward.spec(v), "saved");
    if (at >= 0 && map[static_cast<std::size_t>(at)] < 0) map[static_cast<std::size_t>(at)] = place;
  }
  for (int v : j.upstream)
    if (v >= 0) map[static_cast<std::size_t>(v)] = to->add_argument(from.spec(v), "upstream");
  const auto shape_only = [&](const Node& n, unsigned k) {
    return names_input(n.op->shape_inputs, k) && from.spec(n.in[k]).shape.is_fully_defined();
  };
  std::vector<char> needed(from.specs.size());
  for (int v : from.outputs) needed[static_cast<std::size_t>(v)] = 1;
  std::vector<char> keep(from.nodes.size());
  for (std::size_t i = from.nodes.size(); i-- > 0;) {
    const Node& n = from.nodes[i];
    for (int k = 0; k < n.outputs; ++k) {
      const auto v = static_cast<std::size_t>(n.first_out + k);
      keep[i] |= static_cast<char>(needed[v] && map[v] < 0);
    }
    keep[i] |= static_cast<char>(i >= j.forward_nodes && has_effects(n));
    if (!keep[i]) continue;
    for (unsigned k = 0; k < n.in.size(); ++k)
      if (!shape_only(n, k)) needed[static_cast<std::size_t>(n.in[k])] = 1;
  }
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    const Node& n = from.nodes[i];
    if (!keep[i]) continue;
    Small<int, 8> in;
    for (unsigned k = 0; k < n.in.size(); ++k) {
      int& v = map[static_cast<std::size_t>(n.in[k])];
      in.push(v < 0 ? to->add_constant(Tensor::symbol(from.spec(n.in[k])), "shape") : v);
    }
    const std::span<const Spec> specs(from.specs.data() + n.first_out, static_cast<std::size_t>(n.outputs));
    const int first = to->add(*n.op, n.attrs, {in.begin(), in.size()}, specs, n.name, n.where);
    for (int k = 0; k < n.outputs; ++k)
      if (int& v = map[static_cast<std::size_t>(n.first_out + k)]; v < 0) v = first + k;
  }
  for (int v : from.outputs) to->outputs.push_back(map[static_cast<std::size_t>(v)]);
  return to;
}
TANDEM_INLINE const ConcreteFunction::Derivative::Backward& ConcreteFunction::Derivative::backward(
    const detail::Demand& demand) {
  const std::lock_guard lock(mutex);
  const auto at = backwards.find(demand);
  if (at != backwards.end()) return at->second;
  struct Off {  // whatever goes on around: this is a trace of its own
    Stager* stager = std::exchange(context.stager, nullptr);
    ~Off() { context.stager = stager; }
  } off;
  detail::Joint j = trace(demand);
  Backward b{make_ref<ConcreteFunction>(cut(j), options), std::move(j.set), std::move(j.sparse)};
  return backwards.emplace(demand, std::move(b)).first->second;
}

TANDEM_INLINE ConcreteFunction::~ConcreteFunction() = default;

TANDEM_INLINE Ref<ConcreteFunction::Derivative> ConcreteFunction::derivative() {
  const std::lock_guard lock(mutex_);
  if (!derivative_) {
    const detail::Unobserved quiet;
    derivative_ = make_ref<Derivative>(*traced_, options_);
  }
  return derivative_;
}
TANDEM_INLINE Tensors ConcreteFunction::run_recorded(Inputs arguments) {
  const Ref<Derivative> d = derivative();
  Tensors all = d->augmented->run(arguments);
  const std::size_t outputs = traced_->outputs.size(), reads = d->reads.size();
  Small<const Tensor*, 8> in;
  for (const Tensor* t : arguments) in.push(t);
  for (std::size_t i = 0; i < reads; ++i) {
    const Tensor& value = all[outputs + i];
    in.push(&value);
    const Node& n = traced_->nodes[static_cast<std::size_t>(d->reads[i])];
    for (Observer* o = context.observers; o; o = o->next) o->read(detail::variable_of(*traced_, n), value);
  }
  Tensors out;
  IdMap seen;  // a tape tells values apart by their ids: what is returned twice, or passed through, gets another
  for (const Tensor* t : in) seen.insert(t->id(), 0);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i >= outputs && i < outputs + reads) continue;
    const Tensor& t = out.push(seen.find(all[i].id()) < 0 ? all[i] : Tensor::view_of(all[i], all[i].spec()));
    seen.insert(t.id(), 0);
  }
  const detail::CallAttrs attrs{Ref<Opaque>(d.get())};
  for (Observer* o = context.observers; o; o = o->next)
    o->record({call_function_op, {in.begin(), in.size()}, attrs, {out.begin(), out.size()}});
  out.resize(static_cast<unsigned>(outputs));
  return out;
}

namespace detail {

TANDEM_INLINE Grads call_gradient(const GradCall& c) { return ConcreteFunction::gradient(c); }

}  // namespace detail

TANDEM_INLINE Grads ConcreteFunction::gradient(const GradCall& c) {
  auto& d = static_cast<Derivative&>(*c.get<detail::CallAttrs>().derivative);
  detail::Demand demand;
  for (const Tensor& g : c.g) demand.upstream.push_back(g.is_set());
  for (std::size_t i = 0; i < c.in.size(); ++i)
    demand.wanted.push_back(c.needs(i) && (is_floating(c.in[i].dtype()) || is_complex(c.in[i].dtype())));
  const Derivative::Backward& b = d.backward(demand);
  Small<const Tensor*, 16> in;
  for (const Tensor& t : c.in) in.push(&t);
  for (std::size_t i = d.forward.outputs.size(); i < c.out.size(); ++i) in.push(&c.out[i]);
  for (const Tensor& g : c.g)
    if (g.is_set()) in.push(&g);
  const Tensors out = b.function->call({in.begin(), in.size()});
  Grads r;
  unsigned at = 0;
  for (std::size_t i = 0; i < c.in.size(); ++i) {
    if (!b.set[i]) r.push(Gradient());
    else if (b.sparse[i]) r.push(Gradient(IndexedSlices{out[at], out[at + 1], c.in[i]})), at += 2;
    else r.push(Gradient(out[at++]));
  }
  return r;
}

}  // namespace TANDEM_NS
