// Binds, runs and replays functions.
#pragma once
#include <algorithm>

#include "tandem/core/observer.hpp"
#include "tandem/core/profile.hpp"
#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/exec/concrete.hpp"
#include "tandem/graph/exec/recorded.hpp"
#include "tandem/graph/exec/replay.hpp"
#include "tandem/graph/ir/bind.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE bool& checking_slot() {
  static constinit thread_local bool checking = false;
  return checking;
}
TANDEM_INLINE bool is_checking() { return checking_slot(); }

inline constexpr std::size_t most_bound_programs = 16;

// What a program runs of the graph: a custom gradient's backward function and its inputs are not needed, only its
// value.
TANDEM_LAZY TANDEM_INLINE Ref<Graph> forward_part(const Graph& from) {
  Ref<Graph> g = from.copy();
  for (Node& n : g->nodes)
    if (n.op == &traced_gradient_op) {
      const ValueId value = n.in[0];
      n.op = &identity_op, n.attrs = no_attrs;
      n.in.clear();
      n.in.push_back(value);
    }
  return g;
}

}  // namespace detail

TANDEM_LAZY_INLINE ConcreteFunction::ConcreteFunction(Ref<Graph> traced, ExecutionOptions options)
    : traced_(std::move(traced)), options_(options), static_(traced_->is_static()) {
  const detail::ShapeChecks lenient(false);
  PassOptions passes = options_.passes;
  passes.fuse &= static_, passes.fuse_reductions &= static_;  // else fused once the sizes are known
  optimized_ = optimize(*detail::forward_part(*traced_), passes);
  if (static_) program_ = Program::make(optimized_, options_.plan);
}

TANDEM_LAZY_INLINE void ConcreteFunction::check_count(std::size_t arguments) const {
  if (arguments != traced_->arguments.size())
    errors::raise<errors::InvalidArgumentError>(
        traced_->name.c_str(),
        "takes " + std::to_string(traced_->arguments.size()) + " tensors, not " + std::to_string(arguments));
}
TANDEM_LAZY_INLINE void ConcreteFunction::check_argument(std::size_t i, const Spec& got) const {
  const Spec& want = traced_->spec(traced_->arguments[i]);
  if (want.dtype != got.dtype || want.device != got.device || !want.shape.is_compatible_with(got.shape))
    errors::raise<errors::InvalidArgumentError>(
        traced_->name.c_str(), "argument " + std::to_string(i) + " is " + to_string(got) + " on " +
                                   to_string(got.device) + ", the function was traced for " + to_string(want) + " on " +
                                   to_string(want.device));
}
TANDEM_LAZY_INLINE void ConcreteFunction::check(Inputs arguments) const {
  check_count(arguments.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) check_argument(i, arguments[i]->spec());
}
TANDEM_LAZY_INLINE Ref<Program> ConcreteFunction::make_program(Span<const Spec> arguments) const {
  const detail::ShapeChecks lenient(false);
  Ref<Graph> bound;
  try {
    bound = tandem::bind(*optimized_, arguments);
  } catch (const errors::OpError&) {
    // An op does not fit these sizes. Run op by op: the effects before it happen, and the error is raised in order.
    return Program::make(optimized_, false);
  }
  if (!can_plan(*bound)) return Program::make(std::move(bound));  // or an assignment does not fit: also raised in order
  return Program::make(optimize(*bound, options_.passes), options_.plan);
}
TANDEM_LAZY_INLINE Ref<Program> ConcreteFunction::program_for(Span<const Spec> arguments) {
  if (static_) return program_;
  const std::lock_guard lock(mutex_);
  for (Bound& b : bound_)
    if (std::equal(arguments.begin(), arguments.end(), b.arguments.begin(), b.arguments.end())) {
      b.used = ++clock_;
      return b.program;
    }
  Ref<Program> program = make_program(arguments);
  if (bound_.size() == detail::most_bound_programs)
    bound_.erase(
        std::min_element(bound_.begin(), bound_.end(), [](const Bound& a, const Bound& b) { return a.used < b.used; }));
  bound_.push_back({{arguments.begin(), arguments.end()}, program, ++clock_});
  return program;
}
TANDEM_LAZY_INLINE Tensors ConcreteFunction::run(Inputs arguments) {
  if (detail::is_profiling()) {
    const ProfileScope span("call", traced_->name);
    return run_program(arguments);
  }
  return run_program(arguments);
}
TANDEM_LAZY_INLINE Tensors ConcreteFunction::run_program(Inputs arguments) {
  if (static_) return program_->check_free(), program_->run(arguments);
  InlinedVector<Spec, 8, memory::Blocks> specs;
  for (const Tensor* t : arguments) specs.push_back(t->spec());
  const Ref<Program> program = program_for({specs.begin(), specs.size()});
  program->check_free();
  return program->run(arguments);
}
TANDEM_LAZY_INLINE Tensors ConcreteFunction::call_fitting(Inputs arguments) {
  ThreadContext& c = context;
  if (c.stager) return replay(*traced_, arguments);
  for (const Tensor* t : arguments) detail::check_value(traced_->name.c_str(), *t);
  if (c.observers) detail::drop_ended(&c.observers);
  if (c.observers) {
    const bool op_by_op = detail::is_checking() || detail::is_every_op_observed();
    return op_by_op ? replay(*traced_, arguments) : run_recorded(arguments);
  }
  return run(arguments);
}
TANDEM_LAZY_INLINE Tensors ConcreteFunction::call(Inputs arguments) {
  check(arguments);
  return call_fitting(arguments);
}
TANDEM_LAZY_INLINE std::vector<Tensor> ConcreteFunction::operator()(const std::vector<Tensor>& arguments) {
  InlinedVector<const Tensor*, 8> in;
  for (const Tensor& t : arguments) in.push_back(&t);
  Tensors out = call({in.begin(), in.size()});
  return {std::make_move_iterator(out.begin()), std::make_move_iterator(out.end())};
}
TANDEM_LAZY_INLINE std::vector<Spec> ConcreteFunction::specs_or_own(Span<const Spec> arguments) const {
  std::vector<Spec> own;
  for (ValueId v : traced_->arguments) own.push_back(traced_->spec(v));
  if (!arguments.empty()) {
    check_count(arguments.size());
    for (std::size_t i = 0; i < arguments.size(); ++i) check_argument(i, arguments[i]);
    own.assign(arguments.begin(), arguments.end());
  }
  return own;
}
TANDEM_LAZY_INLINE MemoryUse ConcreteFunction::memory_for(Span<const Spec> arguments) {
  const std::vector<Spec> own = specs_or_own(arguments);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (!own[i].shape.is_fully_defined())
      errors::raise<errors::InvalidArgumentError>(
          traced_->name.c_str(), "memory_for: argument " + std::to_string(i) + " is " + to_string(own[i]) +
                                     ", and memory depends on its size: give the specs of a call");
  const detail::OutsideTrace outside;
  return memory_of(program_for(own)->graph(), options_.plan);
}
TANDEM_LAZY_INLINE std::string ConcreteFunction::plan(Span<const Spec> arguments) {
  const std::vector<Spec> own = specs_or_own(arguments);
  for (std::size_t i = 0; i < own.size(); ++i)
    if (!own[i].shape.is_fully_defined())
      return "no plan: argument " + std::to_string(i) + " is " + to_string(own[i]) +
             ", and each size has a plan of its own; give the specs of a call: plan(specs)";
  return program_for(own)->plan();
}

}  // namespace TANDEM_NS
