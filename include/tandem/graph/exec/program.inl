// Definitions of graph/exec/program.hpp and planned.hpp: how a program is compiled, and its steps.
#pragma once
#include <exception>
#include <mutex>

#include "tandem/graph/exec/planned.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_LAZY_INLINE void PlannedProgram::add_operand(ValueId value, ById<ValueId, LeanVector<Use>>& uses) {
  uses[base(value)].push_back({static_cast<std::uint32_t>(operand_values_.size()), plan_.offset[value]});
  operand_values_.push_back(value);
}
TANDEM_LAZY_INLINE void PlannedProgram::add_kernel(NodeId node, ById<ValueId, LeanVector<Use>>& uses) {
  const Node& n = graph_->nodes[node];
  const Device device = device_of(*graph_, n);
  Step s{.kind = n.op->rare.resolve ? Step::resolved : Step::kernel,
         .stream = Stream{device},
         .op = n.op,
         .node = &n,
         .call = static_cast<std::uint32_t>(calls_.size()),
         .fresh = static_cast<std::uint32_t>(fresh_.size())};
  calls_.push_back(
      {static_cast<std::uint32_t>(operand_values_.size()), n.in.size(), static_cast<std::uint32_t>(n.outputs), node});
  for (ValueId v : n.in) add_operand(v, uses);
  for (int k = 0; k < n.outputs; ++k) {
    const ValueId v = n.first_out + k;
    add_operand(v, uses);
    if (plan_.kind[v] == Plan::fresh) fresh_.push_back(v), ++s.freshes;
  }
  steps_.push_back(s);
}
// By Variable: whether all its assignments are nodes of this graph. Assignments in a body are not visible here, so
// values read before them are retained.
TANDEM_LAZY_INLINE ById<VariableIndex, char> PlannedProgram::directly_assigned() const {
  ById<VariableIndex, char> r(graph_->variables.size());
  for (const Node& n : graph_->nodes)
    if (n.op == &assign_variable_op) r[variable_index(n)] = 1;
  VariableIndices indices(*graph_);
  for (const Node& n : graph_->nodes)
    for (const VariableIndex v : indices.assigned_in_bodies(n)) r[v] = 0;
  return r;
}
TANDEM_LAZY_INLINE void PlannedProgram::compile() {
  ById<ValueId, LeanVector<Use>> uses(graph_->specs.size());
  const ById<VariableIndex, char> is_assigned = directly_assigned();
  const ById<NodeId, char> is_early = early_reads();
  ById<VariableIndex, NodeId> last_use(graph_->variables.size());  // the last use of any read so far
  ById<NodeId, std::size_t> first_step;                            // the number of steps before it
  for (const NodeId i : graph_->nodes.ids()) {
    const Node& n = graph_->nodes[i];
    first_step.push_back(steps_.size());
    if (n.op == &argument_op || n.op == &constant_op || n.op->flags.alias) continue;
    if (n.op == &read_variable_op) {
      const VariableIndex at = variable_index(n);
      last_use[at] = std::max(last_use[at], plan_.last_use[n.first_out]);
      (is_early[i] ? early_ : steps_)
          .push_back({.kind = Step::read, .locked = static_cast<bool>(is_assigned[at]), .node = &n, .variable = at});
    } else if (n.op == &assign_variable_op) {
      const VariableIndex at = variable_index(n);
      const bool last = last_use[at] < i;
      steps_.push_back({.kind = Step::assign,
                        .locked = static_cast<bool>(is_assigned[at]),
                        .last = last,
                        .node = &n,
                        .variable = at});
    } else if (n.op->rare.host_kernel) {
      steps_.push_back({.kind = Step::execute, .node = &n});
    } else {
      add_kernel(i, uses);
    }
  }
  for (const LeanVector<Use>& of_base : uses) {
    first_use_.push_back(static_cast<std::uint32_t>(uses_.size()));
    uses_.append(of_base.begin(), of_base.end());
  }
  first_use_.push_back(static_cast<std::uint32_t>(uses_.size()));
  find_packers();
  find_early_begins();
  first_step.push_back(steps_.size());
  find_branches(first_step);
  find_segments();
}
TANDEM_LAZY_INLINE void PlannedProgram::find_branches(const ById<NodeId, std::size_t>& first_step) {
  const auto number = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
  for (const Branches::Region& r : plan_.branches.regions) {
    const std::size_t first = first_step[r.first], end = first_step[r.end];
    branches_.push_back(
        {number(first), number(end), number(branch_start_.size()), number(static_cast<std::size_t>(r.count))});
    for (int branch = 0; branch < r.count; ++branch) {
      branch_start_.push_back(number(branch_steps_.size()));
      for (std::size_t i = first; i < end; ++i)
        if (plan_.branches.of_node[graph_->id_of(*steps_[i].node)] == branch) branch_steps_.push_back(number(i));
    }
  }
  branch_start_.push_back(number(branch_steps_.size()));
}

TANDEM_LAZY_INLINE void PlannedProgram::find_early_begins() {
  for (std::size_t i = 0; i < steps_.size(); ++i)
    if (steps_[i].op && steps_[i].op->rare.hold) early_begins_.push_back(static_cast<std::uint32_t>(i));
}
// A call has failed. What early ops have begun may still write to the call's memory, for as long as other processes
// take: it is theirs, and is released when the last of them has ended.
TANDEM_LAZY_INLINE void PlannedProgram::leave_early_work(Lease& lease) const {
  struct Left final : Opaque {
    explicit Left(std::unique_ptr<Execution> e) : execution(std::move(e)) {}
    const char* kind() const override { return "execution"; }
    const std::unique_ptr<Execution> execution;
  };
  const auto left = make_ref<Left>(lease.take());
  const Ref<Opaque> holder(left.get());
  Execution& e = *left->execution;
  for (const std::uint32_t i : early_begins_) {
    const Step& s = steps_[i];
    const Operand& result = e.operands[calls_[s.call].operands + calls_[s.call].inputs];
    const Tensor& own = e.tensors[base(s.node->first_out)];
    s.op->rare.hold(s.node->attrs, own.is_set() ? own : Tensor::borrow(result.data, *result.spec, holder));
  }
  e.clear();
}
TANDEM_LAZY_INLINE void PlannedProgram::find_packers() {
  ById<ValueId, LeanVector<std::uint32_t>> packers(graph_->specs.size());
  for (const Step& s : steps_)
    if (s.op && s.op->flags.keeps_packed && base(s.node->in[1]) == s.node->in[1])
      packers[s.node->in[1]].push_back(s.call);
  for (const LeanVector<std::uint32_t>& p : packers) {
    first_packer_.push_back(static_cast<std::uint32_t>(packers_.size()));
    packers_.append(p.begin(), p.end());
  }
  first_packer_.push_back(static_cast<std::uint32_t>(packers_.size()));
}

TANDEM_LAZY_INLINE PlannedProgram::Execution::Execution(PlannedProgram& p)
    : program(p), tensors(p.graph_->specs.size()), in_place(p.graph_->specs.size()) {
  arenas.reserve(p.plan_.arenas.size());
  for (const Plan::Arena& a : p.plan_.arenas) arenas.emplace_back(a);
  for (ValueId v : p.operand_values_) operands.push_back({nullptr, &p.graph_->spec(v)});
  for (const ValueId r : p.plan_.kind.ids())
    if (p.plan_.kind[r] == Plan::arena && p.plan_.base[r] == r)
      point(r, arena(p.graph_->spec(r).device) + p.plan_.arena_offset[r]);
  for (const CallAt& c : p.calls_) {
    const Node& n = p.graph_->nodes[c.node];
    const Operand* first = operands.data() + c.operands;
    void* workspace =
        p.plan_.workspace_bytes[c.node] ? arena(device_of(*p.graph_, n)) + p.plan_.workspace_offset[c.node] : nullptr;
    calls.push_back(kernel_call(*n.op, first, c.inputs, c.outputs, n.attrs, workspace));
  }
  for (const Node& n : p.graph_->nodes)
    if (const Tensor* t = constant_of(n); t && !t->is_symbolic()) t->keep_packed_forms(), point(n.first_out, *t);
  for (const Segment& s : p.segments_) {
    const Stream stream = p.steps_[s.first].stream;
    segments.push_back(std::unique_ptr<SegmentState>(
        new SegmentState{Captures(stream), DeviceMemory({stream.device, s.result_bytes})}));
  }
}
TANDEM_LAZY_INLINE Tensor PlannedProgram::Execution::tensor(ValueId value, Inputs arguments) const {
  const Graph& g = program.graph();
  const ValueId base = program.base(value);
  Tensor t;
  if (program.plan_.kind[base] == Plan::argument)
    t = *arguments[argument_index(g.nodes[program.producers_[base]]).index()];
  else if (program.plan_.kind[base] == Plan::constant) t = *constant_of(g.nodes[program.producers_[base]]);
  else t = tensors[base];
  return base == value ? t : Tensor::view_of(t, g.spec(value), program.plan_.offset[value]);
}

TANDEM_LAZY_INLINE void PlannedProgram::bind_output(std::uint32_t fresh, Execution& e) const {
  const ValueId v = fresh_[fresh];
  if (const VariableIndex over = plan_.overwrites[v]; over.is_set()) {
    if (Tensor& now = VariableAccess::value(variable(over)); now.is_unique()) {
      e.filled.push_back(v);  // first: what clear() does not find stays set in later calls
      e.in_place[v] = 1;
      e.point(v, now.raw());
      return;
    }
  }
  Tensor t = take_donated(plan_.donor[v], e);
  if (!t.is_set()) t = Tensor::allocate(graph_->spec(v));
  e.point(v, t.raw());
  e.hold(v, std::move(t));
}
TANDEM_LAZY_INLINE void PlannedProgram::bind_outputs(const Step& s, Execution& e) const {
  for (std::uint32_t i = s.fresh; i < s.fresh + s.freshes; ++i) bind_output(i, e);
}
TANDEM_LAZY_INLINE Tensor PlannedProgram::take_donated(ArgumentIndex argument, Execution& e) {
  if (argument.index() >= e.donated.size()) return {};
  Tensor& x = e.donated[argument.index()];
  if (!x.is_set() || !x.is_unique()) return {};
  x.renew_id();
  return std::exchange(x, Tensor());
}
TANDEM_LAZY_INLINE void PlannedProgram::read(const Step& s, Execution& e) const {
  const ValueId v = s.node->first_out;
  const Variable& x = variable(s.variable);
  if (s.locked && !plan_.escapes[v]) return e.point(v, VariableAccess::value(x));
  Tensor t = CallValues::value_of(x);
  e.point(v, t);
  e.hold(v, std::move(t));
}
TANDEM_LAZY_INLINE void PlannedProgram::assign(const Step& s, Execution& e, Inputs arguments) const {
  const ValueId v = s.node->in[0];
  Tensor& value = VariableAccess::value(variable(s.variable));
  if (e.in_place[v]) {
    value.renew_id();
    if (plan_.last_use[v] > graph_->id_of(*s.node)) e.tensors[v] = value;  // already in `filled`
    return;
  }
  Tensor next = e.tensor(v, arguments);
  if (!s.last) e.retired.push_back(value);
  std::swap(value, next);
  value.keep_packed_forms();
}
TANDEM_LAZY_INLINE void PlannedProgram::execute(const Node& n, Execution& e, Inputs arguments) const {
  Tensors in;
  InlinedVector<const Tensor*, 8, memory::Blocks> pointers;
  in.reserve(n.in.size());
  for (ValueId v : n.in) in.push_back(e.tensor(v, arguments));
  for (const Tensor& t : in) pointers.push_back(&t);
  Tensors out = n.op->rare.host_kernel({pointers.begin(), pointers.size()}, n.attrs);
  for (int k = 0; k < n.outputs; ++k) {
    Tensor& t = out[static_cast<std::size_t>(k)];
    e.point(n.first_out + k, t.raw());
    e.hold(n.first_out + k, std::move(t));
  }
}
// The plan has the sizes that the shape rule gave. Data on a device is not read: no op there has known sizes that
// depend on it.
TANDEM_LAZY_INLINE void PlannedProgram::check_sizes(const Step& s, const Execution& e) const {
  const KernelCall& call = e.calls[s.call];
  if (s.stream.device.kind != Device::cpu && !has_host_inputs(*s.op, call.in.size())) return;
  const Specs sizes = s.op->rare.resolve(call);
  check_resolved(*s.op, sizes, {&graph_->spec(s.node->first_out), static_cast<std::size_t>(s.node->outputs)});
}
TANDEM_LAZY_INLINE void PlannedProgram::run_step(const Step& s, Execution& e, Inputs arguments) const {
  named(s, [&] {
    switch (s.kind) {
      case Step::resolved: check_sizes(s, e); [[fallthrough]];
      case Step::kernel:
        if (s.freshes) bind_outputs(s, e);
        return invoke(*s.op, e.calls[s.call], s.stream);
      case Step::read: return read(s, e);
      case Step::assign: return assign(s, e, arguments);
      case Step::execute: return execute(*s.node, e, arguments);
    }
  });
}

TANDEM_LAZY_INLINE void PlannedProgram::run_steps(const LeanVector<Step>& steps, Execution& e, Inputs arguments) const {
  if (is_profiling()) return run_timed_steps(steps, e, arguments);
  const CallScope* const limits = call_scope;
  for (const Step& s : steps) {
    if (limits) [[unlikely]]
      check_limits(*limits, *graph_, *s.node);
    run_step(s, e, arguments);
  }
}
// Runs the steps in order, but those of a segment as one launch, and those of a region branch by branch, at the same
// time.
TANDEM_LAZY_INLINE void PlannedProgram::run_parts(Execution& e, Inputs arguments) const {
  const CallScope* const limits = call_scope;
  std::size_t i = 0, segment = 0;
  const auto run_until = [&](std::size_t end) {
    while (i < end) {
      if (segment < segments_.size() && segments_[segment].first == i) {
        run_segment(segment, e);
        i = segments_[segment++].end;
        continue;
      }
      if (limits) check_limits(*limits, *graph_, *steps_[i].node);
      run_step(steps_[i++], e, arguments);
    }
  };
  if (config::inter_op_parallelism_threads() > 1)
    for (const Region& r : branches_) {
      run_until(r.first);
      run_region(r, e);
      i = r.end;
    }
  run_until(steps_.size());
}
// Nothing in a region has effects. So its reads, and the memory of results that leave the call, may come first, and of
// several errors of kernels that of the first step in order is raised, as if the steps had run in order.
TANDEM_LAZY_INLINE void PlannedProgram::run_region(const Region& r, Execution& e) const {
  for (std::uint32_t i = r.first; i < r.end; ++i) {
    const Step& s = steps_[i];
    if (s.kind == Step::read) named(s, [&] { read(s, e); });
    else if (s.freshes) named(s, [&] { bind_outputs(s, e); });
  }
  struct Running {
    const PlannedProgram& program;
    const Region& region;
    Execution& execution;
    const CallScope* limits;            // of the thread that calls
    std::atomic<std::uint32_t> failed;  // the first step that has, or the end
    std::mutex mutex;
    std::exception_ptr error;  // its error; guarded by the mutex

    void run(std::uint32_t branch) {
      const std::uint32_t* const start = program.branch_start_.data() + region.first_branch + branch;
      for (std::uint32_t k = start[0]; k < start[1]; ++k) {
        const std::uint32_t i = program.branch_steps_[k];
        if (i >= failed.load(std::memory_order_relaxed)) return;
        const Step& s = program.steps_[i];
        try {
          if (limits) check_limits(*limits, program.graph(), *s.node);
          named(s, [&] {
            if (s.kind == Step::resolved) program.check_sizes(s, execution);
            invoke(*s.op, execution.calls[s.call], s.stream);
          });
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (i < failed.load(std::memory_order_relaxed)) failed.store(i), error = std::current_exception();
          return;
        }
      }
    }
  } running{*this, r, e, call_scope, r.end, {}, nullptr};
  run_tasks(
      static_cast<int>(r.branches), config::inter_op_parallelism_threads(),
      [](void* self, i64 begin, i64 end) {
        for (i64 b = begin; b < end; ++b) static_cast<Running*>(self)->run(static_cast<std::uint32_t>(b));
      },
      &running);
  if (!running.error) return;
  try {
    std::rethrow_exception(running.error);
  } catch (errors::OpError& error) {
    errors::detail::place_error(error);  // the call is this thread's
    throw;
  }
}
TANDEM_LAZY_INLINE void PlannedProgram::run_timed_steps(const LeanVector<Step>& steps, Execution& e,
                                                        Inputs arguments) const {
  for (const Step& s : steps) {
    if (call_scope) check_limits(*call_scope, *graph_, *s.node);
    const i64 start = profile_now();
    run_step(s, e, arguments);
    profile_node(*graph_, *s.node, start);
  }
}

// The virtual functions belong to a lazy class, because they cannot be lazy themselves.
TANDEM_LAZY class PlannedRun final : public PlannedProgram {
 public:
  explicit PlannedRun(Ref<Graph> graph) : PlannedProgram(std::move(graph)) {}
  std::string plan() const override { return text_of_plan(); }
  Tensors run(Inputs arguments, Span<Tensor> donated) override { return run_plan(arguments, donated); }
};

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Program> Program::make(Ref<Graph> graph, bool planned) {
  if (planned && can_plan(*graph)) return Ref<Program>(new detail::PlannedRun(std::move(graph)));
  return detail::make_interpreter(
      std::move(graph),
      planned ? "no plan: a size depends on data, or an op has no kernel for its device" : "planning is disabled");
}

}  // namespace TANDEM_NS
