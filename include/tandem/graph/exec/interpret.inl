// A program that runs a graph op by op: for sizes that depend on data, strings and devices.
#pragma once
#include <algorithm>

#include "tandem/core/profile.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tandem/graph/exec/run_node.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_LAZY inline void collect_assigned(const Graph& g, std::vector<Variable>& out) {
  for (const Node& n : g.nodes) {
    if (n.op == &assign_variable_op) out.push_back(variable_of(g, n));
    for (const Graph* inner : subgraphs(n)) collect_assigned(*inner, out);
  }
}
// Sorted by address, each once.
TANDEM_LAZY inline std::vector<Variable> sorted_variables(std::vector<Variable> r) {
  std::sort(r.begin(), r.end(), &VariableAccess::is_before);
  r.erase(std::unique(r.begin(), r.end(), [](const Variable& a, const Variable& b) { return a.is_same(b); }), r.end());
  return r;
}
TANDEM_LAZY inline void collect_read_in_bodies(const Graph& g, bool is_body, std::vector<Variable>& out) {
  for (const Node& n : g.nodes) {
    if (is_body && n.op == &read_variable_op) out.push_back(variable_of(g, n));
    for (const Graph* body : subgraphs(n)) collect_read_in_bodies(*body, true, out);
  }
}
TANDEM_LAZY class Interpreter final : public Program {
 public:
  Interpreter(Ref<Graph> graph, std::string why)
      : Program(std::move(graph)), why_(std::move(why)), is_early_(early_reads()) {
    dies_.resize(graph_->nodes.size());
    last_.resize(graph_->specs.size());
    is_repeated_.resize(graph_->specs.size());
    for (const NodeId i : graph_->nodes.ids())
      for (ValueId v : graph_->nodes[i].in) {
        is_repeated_[v] = last_[v] == i;
        last_[v] = i;
      }
    for (ValueId v : graph_->outputs) last_[v] = {};
    for (const ValueId v : last_.ids())
      if (last_[v].is_set()) dies_[last_[v]].push_back(v);
    find_updates();
  }
  std::string plan() const override { return why_; }

  Tensors run(Inputs arguments, Span<Tensor> donated) override {
    ById<ValueId, Tensor> values(graph_->specs.size());
    CallValues in_bodies(read_in_bodies_);
    const VariableLocks locks(to_lock(), only_read_, [&] {
      in_bodies.read();  // first: the early reads take its values
      for (const NodeId i : graph_->nodes.ids())
        if (const Node& n = graph_->nodes[i]; is_early_[i]) values[n.first_out] = CallValues::value_of(variable(n));
    });
    try {
      run_nodes(arguments, donated, values);
    } catch (...) {
      leave_early_work(values);
      throw;
    }
    Tensors out;
    for (ValueId v : graph_->outputs) out.push_back(values[v]);
    return out;
  }

 private:
  void run_nodes(Inputs arguments, Span<Tensor> donated, ById<ValueId, Tensor>& values) const {
    const CallScope* const limits = call_scope;
    for (const NodeId i : graph_->nodes.ids()) {
      if (limits) [[unlikely]]
        check_limits(*limits, *graph_, graph_->nodes[i]);
      step(i, arguments, donated, values);
      for (ValueId v : dies_[i]) values[v] = Tensor();
    }
  }
  // As PlannedProgram::leave_early_work.
  void leave_early_work(const ById<ValueId, Tensor>& values) const {
    for (const Node& n : graph_->nodes)
      if (n.op->rare.hold && values[n.first_out].is_set()) n.op->rare.hold(n.attrs, values[n.first_out]);
  }
  void step(NodeId node, Inputs arguments, Span<Tensor> donated, ById<ValueId, Tensor>& values) const {
    const Node& n = graph_->nodes[node];
    const ValueId first = n.first_out;
    if (n.op == &argument_op) {
      const std::size_t at = argument_index(n).index();
      if (at < donated.size()) values[first] = std::move(donated[at]);
      else values[first] = *arguments[at];
    } else if (n.op == &constant_op) {
      values[first] = *constant_of(n);
    } else if (n.op == &read_variable_op) {
      if (!values[first].is_set()) values[first] = CallValues::value_of(variable(n));
    } else if (n.op == &assign_variable_op) {
      Tensor& value = values[n.in[0]];
      check_assigned(variable(n), value.spec());
      Tensor next = dies_at(n.in[0], node) ? std::move(value) : value;
      std::swap(VariableAccess::value(variable(n)), next);
      VariableAccess::value(variable(n)).keep_packed_forms();
    } else {
      apply_op(node, values);
    }
  }
  const Variable& variable(const Node& n) const { return Program::variable(variable_index(n)); }
  bool dies_at(ValueId value, NodeId node) const { return last_[value] == node; }
  void apply_op(NodeId node, ById<ValueId, Tensor>& values) const {
    const Node& n = graph_->nodes[node];
    InlinedVector<const Tensor*, 8, memory::Blocks> in;
    for (ValueId v : n.in) in.push_back(&values[v]);
    for (const auto& [at, node_of_read] : updated_[node]) {  // the Variable remains the only owner of its value
      const Tensor& own = VariableAccess::value(variable(graph_->nodes[node_of_read]));
      Tensor& read = values[n.in[at]];
      if (own.is_same(read)) in[static_cast<unsigned>(at)] = &own, read = Tensor();
    }
    try {
      const ShapeChecks lenient(false);
      const InferCall call{*n.op, {in.begin(), in.size()}, n.attrs, no_options};
      const Specs specs = n.op->rare.host_kernel ? Specs() : n.op->infer(call);
      if (!n.op->rare.resolve)
        for (const Spec& s : specs)
          if (!s.shape.is_fully_defined()) raise_specs(call, "the size of " + to_string(s) + " cannot be determined");
      const Tensors reuse = reusable(node, specs, call.in);
      const Span<const Tensor> buffers(reuse.begin(), reuse.size());
      const OpOptions user{n.name.c_str(), n.where};
      Tensors out = is_profiling() ? run_timed("step", {*n.op, call.in, n.attrs, user}, specs, buffers)
                                   : ::tandem::run(*n.op, call.in, n.attrs, specs, buffers);
      for (unsigned k = 0; k < out.size(); ++k) {
        if (!reuse.empty() && reuse[k].is_set()) out[k].renew_id();
        values[n.first_out + static_cast<int>(k)] = std::move(out[k]);
      }
    } catch (errors::OpError& e) {
      name_error(e, n);
      throw;
    }
  }
  // Finds updates in the place of Variables: an op that may write into what was read of a Variable, and whose result is
  // assigned to it right behind the op.
  void find_updates() {
    const auto& nodes = graph_->nodes;
    updated_.resize(nodes.size());
    ById<ValueId, NodeId> read_by(graph_->specs.size());  // the node that reads it from a Variable
    for (const NodeId i : nodes.ids()) {
      if (nodes[i].op == &read_variable_op) read_by[nodes[i].first_out] = i;
      if (!nodes[i].op->flags.in_place) continue;
      for (NodeId j = i + 1; j < nodes.end_id() && nodes[j].op == &assign_variable_op; ++j) {
        const auto k = static_cast<std::size_t>(nodes[j].in[0] - nodes[i].first_out);  // huge for earlier values
        if (k >= static_cast<std::size_t>(nodes[i].outputs) || k >= nodes[i].in.size()) continue;
        const ValueId v = nodes[i].in[k];
        if (!read_by[v].is_set() || !dies_at(v, i) || is_repeated_[v]) continue;
        const NodeId read = read_by[v];
        if (variable_index(nodes[read]) == variable_index(nodes[j])) updated_[i].push_back({k, read});
      }
    }
  }
  // By output: the buffer of an input that is dead after this op, if the op may write into it.
  Tensors reusable(NodeId node, const Specs& specs, Inputs in) const {
    const Node& n = graph_->nodes[node];
    Tensors r;
    if (!n.op->flags.in_place || n.op->rare.resolve) return r;
    r.resize(specs.size());
    for (unsigned k = 0; k < specs.size() && k < n.in.size(); ++k) {
      const ValueId v = n.in[k];
      const Tensor& x = *in[k];
      if (!dies_at(v, node) || is_repeated_[v]) continue;
      if (x.is_unique() && x.spec() == specs[k] && x.device().kind == Device::cpu) r[k] = x;
    }
    return r;
  }

  std::string why_;
  ById<NodeId, char> is_early_;             // early_reads()
  ById<NodeId, LeanVector<ValueId>> dies_;  // the values that are dead after it
  ById<ValueId, NodeId> last_;              // the node where it dies, if it does
  struct Updated {
    std::size_t at;  // of the input
    NodeId node_of_read;
  };
  ById<NodeId, LeanVector<Updated>> updated_;  // find_updates(): inputs that a node reads from its Variable
  ById<ValueId, char> is_repeated_;            // whether the last node that reads it does so more than once
};

TANDEM_LAZY_INLINE Ref<Program> make_interpreter(Ref<Graph> graph, std::string why) {
  return Ref<Program>(new Interpreter(std::move(graph), std::move(why)));
}

}  // namespace detail

TANDEM_LAZY_INLINE Program::Program(Ref<Graph> graph)
    : graph_(std::move(graph)), assigned_(assigned_variables(*graph_)) {
  std::optional<i64> op_seed;
  for (std::size_t i = 0; i < graph_->variables.size(); ++i)
    if (random::detail::is_sequence(graph_->variables[i], op_seed)) sequences_.push_back({VariableIndex(i), op_seed});
  for (const Variable& v : assigned_)
    if (!random::detail::is_sequence(v, op_seed)) unshared_.push_back(v);
  draws_ = unshared_.size() != assigned_.size();
  if (std::none_of(graph_->nodes.begin(), graph_->nodes.end(), [](const Node& n) { return detail::runs_host_code(n); }))
    for (const Variable& v : variables_read_in_bodies(*graph_))
      if (!assigns(v) && !random::detail::is_sequence(v, op_seed)) read_in_bodies_.push_back(v);
  only_read_ = read_in_bodies_;
  const ById<NodeId, char> is_early = early_reads();
  for (const NodeId i : is_early.ids())
    if (is_early[i]) only_read_.push_back(variable_of(*graph_, graph_->nodes[i]));
  only_read_ = detail::sorted_variables(std::move(only_read_));
}
TANDEM_LAZY_INLINE ById<NodeId, char> Program::early_reads() const {
  ById<NodeId, char> r;
  bool after_host_code = false;
  for (const Node& n : graph_->nodes) {
    after_host_code = after_host_code || detail::runs_host_code(n);
    r.push_back(!after_host_code && n.op == &read_variable_op && !assigns(variable_of(*graph_, n)));
  }
  return r;
}
TANDEM_LAZY_INLINE std::vector<Variable> assigned_variables(const Graph& graph) {
  std::vector<Variable> r;
  detail::collect_assigned(graph, r);
  return detail::sorted_variables(std::move(r));
}
TANDEM_LAZY_INLINE std::vector<Variable> variables_read_in_bodies(const Graph& graph) {
  std::vector<Variable> r;
  detail::collect_read_in_bodies(graph, false, r);
  return detail::sorted_variables(std::move(r));
}

}  // namespace TANDEM_NS
