// Definitions of core/variable.hpp: state, locks, in-place writes.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <functional>
#include <mutex>
#include "tandem/util/format.hpp"

#include "tandem/core/apply_inputs.hpp"
#include "tandem/core/print.hpp"
#include "tandem/core/profile.hpp"
#include "tandem/core/replication.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/core/variable.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/util/at_fork.hpp"

namespace TANDEM_NS {

struct Variable::State final : Opaque {
  detail::ForkMutex mutex{detail::ForkMutex::variable};
  std::atomic<const ThreadContext*> holder = nullptr;  // the thread whose call of a graph holds the mutex
  Tensor value;                                        // guarded by mutex
  const Tensor initial;                                // shares the first value's memory
  const Spec spec;
  const std::string name;
  const u64 id;
  const bool trainable, aggregate;
  const i64 whole_rows;
  const Constraint constraint;

  State(const Tensor& v, std::string n, const VariableOptions& o)
      : value(Tensor::view_of(v, v.spec())),  // a header of its own: packed forms go with it, `initial` stays
        initial(v),
        spec(v.spec()),
        name(std::move(n)),
        id(new_id(context)),
        trainable(o.trainable),
        aggregate(o.aggregate),
        whole_rows(o.whole_rows),
        constraint(o.constraint) {
    value.keep_packed_forms();
  }
  const char* kind() const override { return "variable"; }
  // Without the mutex: a thread finds its own address only if it has stored it.
  bool is_held_here() const { return holder.load(std::memory_order_relaxed) == &context; }
};

namespace detail {
// The initial value in the dtype that the user asks for, if that loses no more than rounding.
TANDEM_INLINE Tensor initial_as(const Tensor& initial, DType to) {
  const DType from = initial.dtype();
  if (from == to) return initial;
  if (!is_floating(to) || !(is_floating(from) || is_integer(from)))
    errors::raise<errors::InvalidArgumentError>(
        "variable",
        std::string("dtype ") + name(to) + " of the initial value " + to_string(initial.spec()) + ": cast the value");
  const OutsideTrace outside;
  return cast(initial, to, no_options);
}
}  // namespace detail

TANDEM_INLINE Variable::Variable(const Tensor& initial, VariableOptions options) {
  if (initial.is_symbolic() && !context.stager) detail::raise_no_value("variable", initial);
  if (initial.is_symbolic())
    errors::raise<errors::TraceError>("variable", "its initial value " + to_string(initial.spec()) +
                                                      " is computed inside a traced function; compute it outside, or "
                                                      "with an initializer, which runs outside of the trace");
  Tensor value = options.dtype ? detail::initial_as(initial, *options.dtype) : initial;
  if (const Shape* shape = options.shape.get(); shape && !shape->is_compatible_with(value.shape()))
    errors::raise<errors::InvalidArgumentError>(
        "variable", "the initial value " + to_string(initial.spec()) + " does not have the shape " + to_string(*shape));
  if (options.constraint) options.constraint.code()->check(options.constraint, value);
  if (Replication* const r = detail::replication; r && options.trainable && options.aggregate)
    value = TANDEM_VIRTUAL(*r, Replication::initial)(value);
  state_ = Ref<Opaque>(new State(value, scoped_name(options.name.str("Variable")), options));
  if (Stager* s = context.stager) TANDEM_VIRTUAL(*s, Stager::created)(*this);
  if (const detail::VariableMade made = detail::variable_made.load(std::memory_order_acquire))
    made(*this, options.name.view());
}
TANDEM_INLINE Variable::State& Variable::state() const {
  if (!state_) errors::raise<errors::FailedPreconditionError>("variable", "the handle is empty (made by Variable())");
  return static_cast<State&>(*state_);
}
TANDEM_INLINE const std::string& Variable::name() const { return state().name; }
TANDEM_INLINE bool Variable::trainable() const { return state().trainable; }
TANDEM_INLINE bool Variable::aggregate() const { return state().aggregate; }
TANDEM_INLINE i64 Variable::whole_rows() const { return state().whole_rows; }
TANDEM_INLINE const Spec& Variable::spec() const { return state().spec; }
TANDEM_INLINE const Constraint& Variable::constraint() const { return state().constraint; }
TANDEM_INLINE u64 Variable::id() const { return state().id; }

TANDEM_INLINE bool VariableAccess::is_before(const Variable& a, const Variable& b) {
  return std::less<>()(address(a), address(b));
}
TANDEM_INLINE void VariableAccess::lock(const Variable& v) {
  v.state().mutex.lock();
  v.state().holder.store(&context, std::memory_order_relaxed);
}
TANDEM_INLINE void VariableAccess::lock_in_turn(const Variable& v) {
  v.state().mutex.lock_in_turn();
  v.state().holder.store(&context, std::memory_order_relaxed);
}
TANDEM_INLINE bool VariableAccess::try_lock_in_turn(const Variable& v, i64 nanoseconds) {
  if (!v.state().mutex.try_lock_in_turn(nanoseconds)) return false;
  v.state().holder.store(&context, std::memory_order_relaxed);
  return true;
}
TANDEM_INLINE bool VariableAccess::has_waiting(const Variable& v) { return v.state().mutex.has_waiting(); }
TANDEM_INLINE void VariableAccess::unlock(const Variable& v) {
  v.state().holder.store(nullptr, std::memory_order_relaxed);
  v.state().mutex.unlock();
}
TANDEM_INLINE void VariableAccess::check_free(const Variable& v) {
  if (v.state().is_held_here()) [[unlikely]]
    errors::raise<errors::FailedPreconditionError>(
        "assign", "the variable '" + v.name() +
                      "' is assigned by the traced function that is running; a host function that it calls may read "
                      "the variable, not assign it");
}
TANDEM_INLINE Tensor& VariableAccess::value(const Variable& v) { return v.state().value; }

namespace detail {
// Locks a Variable for a read. A host function reads what the graph that calls it has locked on the same thread.
class ReadLock {
 public:
  explicit ReadLock(Variable::State& s) : mutex_(s.is_held_here() ? nullptr : &s.mutex) {
    if (mutex_) mutex_->lock_in_turn();
  }
  ReadLock(const ReadLock&) = delete;
  ~ReadLock() {
    if (mutex_) mutex_->unlock();
  }

 private:
  ForkMutex* const mutex_;
};
}  // namespace detail

TANDEM_INLINE Tensor Variable::value_untracked() const {
  State& s = state();
  const detail::ReadLock lock(s);
  return s.value;
}
TANDEM_INLINE void Variable::set_untracked(const Tensor& value) const {
  check_assignable("assign", value);
  detail::check_value("assign", value);
  VariableAccess::check_free(*this);
  Tensor old = value;  // destroyed after the lock is released
  State& s = state();
  s.mutex.lock_in_turn();
  const std::lock_guard lock(s.mutex, std::adopt_lock);
  std::swap(s.value, old);
  s.value.keep_packed_forms();
}
// Tapes identify values by their ids. A read gets a unique id: different from an earlier read, which a tape may not
// have seen, from the assigned value, and from another Variable that holds the same tensor.
TANDEM_INLINE Tensor Variable::read_value() const {
  const ThreadContext& c = context;
  if (!c.observers) return c.stager ? TANDEM_VIRTUAL(*c.stager, Stager::read)(*this) : value_untracked();
  const auto observed = [this] {
    State& s = state();
    const detail::ReadLock lock(s);
    return Tensor::view_of(s.value, s.spec);
  };
  Tensor v = c.stager ? TANDEM_VIRTUAL(*c.stager, Stager::read)(*this) : observed();
  for (Observer* o = c.observers; o; o = o->next) TANDEM_VIRTUAL(*o, Observer::read)(*this, v);
  return v;
}
TANDEM_INLINE void Variable::check_assignable(const char* op, const Tensor& value) const {
  const Spec &want = spec(), &got = value.spec();
  if (want.dtype != got.dtype || !want.shape.is_compatible_with(got.shape))
    errors::raise<errors::InvalidArgumentError>(
        op, "variable '" + name() + "' is " + to_string(want) + ", but the value is " + to_string(got));
}
TANDEM_INLINE Tensor Variable::assign(const Tensor& value) const {
  check_assignable("assign", value);
  Tensor there = value.device() == device() ? value : value.to(device());
  if (Stager* s = context.stager) TANDEM_VIRTUAL(*s, Stager::assign)(*this, there);
  else set_untracked(there);
  return there;
}
TANDEM_INLINE Tensor Variable::assign_add(const Tensor& delta) const {
  const Tensor* const extra[] = {&delta};
  update(add_op, {this, 1}, extra);
  return read_value();
}
TANDEM_INLINE Tensor Variable::assign_sub(const Tensor& delta) const {
  const Tensor* const extra[] = {&delta};
  update(subtract_op, {this, 1}, extra);
  return read_value();
}
TANDEM_INLINE Tensor Variable::number(Scalar value, DType dtype) {
  return detail::scalar_like(value, Tensor::symbol({Shape{}, dtype, {}}));
}
TANDEM_INLINE Tensor Variable::number_for(const char* op, Scalar value) const {
  if (!value.fits(dtype())) [[unlikely]]
    detail::raise_unfit(op, value, dtype(), "variable '" + name() + "', " + to_string(spec()));
  return number(value, dtype());
}
TANDEM_INLINE Tensor Variable::assign(Scalar value) const {
  const Tensor one = number_for("assign", value);
  if (rank() == 0) return assign(one);
  const Tensor full = Tensor::allocate({shape(), dtype(), {}});
  const std::size_t bytes = size_of(dtype());
  for (std::size_t at = 0; at < spec().bytes(); at += bytes)
    std::memcpy(static_cast<char*>(full.raw()) + at, one.raw(), bytes);
  return assign(full);
}
TANDEM_INLINE Tensor Variable::assign_add(Scalar delta) const { return assign_add(number_for("assign_add", delta)); }
TANDEM_INLINE Tensor Variable::assign_sub(Scalar delta) const { return assign_sub(number_for("assign_sub", delta)); }
TANDEM_INLINE void Variable::reset() const { assign(state().initial); }

namespace detail {

TANDEM_INLINE void check_constraint(const Constraint& constraint, const Tensor& initial) {
  const Unobserved quiet;
  const Tensor projected = constraint(initial);
  if (projected.dtype() != initial.dtype() || !(projected.shape() == initial.shape()))
    errors::raise<errors::InvalidArgumentError>(
        "variable", "the constraint makes " + to_string(projected.spec()) + " of " + to_string(initial.spec()));
}
TANDEM_INLINE void apply_constraint(const Constraint& constraint, const Variable& v) {
  v.assign(constraint(v.read_value()));
}
TANDEM_INLINE constinit const ConstraintCode constraint_code{&check_constraint, &apply_constraint};

// The variables' locks, acquired in address order so that two updates cannot deadlock.
class Locks {
 public:
  explicit Locks(Span<Variable::State* const> states) {
    for (Variable::State* s : states) order_.push_back(s);
    std::sort(order_.begin(), order_.end());
    Variable::State** end = std::unique(order_.begin(), order_.end());
    count_ = static_cast<unsigned>(end - order_.begin());
    for (unsigned i = 0; i < count_; ++i) order_[i]->mutex.lock_in_turn();
  }
  Locks(const Locks&) = delete;
  ~Locks() {
    for (unsigned i = count_; i-- > 0;) order_[i]->mutex.unlock();
  }

 private:
  InlinedVector<Variable::State*, 8> order_;
  unsigned count_ = 0;
};

inline void check_updated(const OpDef& op, const Spec& want, const Spec& got, const std::string& name) {
  if (!(want == got))
    errors::raise<errors::InvalidArgumentError>(
        op.name, "variable '" + name + "' is " + to_string(want) + ", but its new value would be " + to_string(got));
}

// The extra inputs copied to the variables' device, except those that are always on the host.
class Extras {
 public:
  Extras(const OpDef& op, Span<const Variable> variables, Inputs extra) {
    moved_.reserve(static_cast<unsigned>(extra.size()));
    for (std::size_t i = 0; i < extra.size(); ++i) {
      const bool stays = lives_on_host(op, variables.size() + i, variables.size() + extra.size()) ||
                         variables.empty() || extra[i]->device() == variables[0].device();
      at_.push_back(stays ? extra[i] : &moved_.push_back(extra[i]->to(variables[0].device())));
    }
  }
  Inputs list() const { return {at_.begin(), at_.size()}; }

 private:
  InlinedVector<Tensor, 4> moved_;
  InlinedVector<const Tensor*, 4> at_;
};
// Infers the new values' specs: of all variables, or of the first if the op only reads the others.
inline Specs infer_update_of(const InferCall& call, std::size_t variables) {
  const OpDef& op = call.op;
  const auto n = static_cast<int>(call.in.size());
  if (op.inputs < 0 ? n < -1 - op.inputs : n != op.inputs)
    raise_specs(call, "does not accept " + std::to_string(variables) + " variables with " +
                          std::to_string(call.in.size() - variables) + " other inputs");
  if (!check_inputs(call)) raise_specs(call, "the variables are on different devices");
  if (!has_kernel_dtype(call)) {
    const Spec& s = call.spec(static_cast<std::size_t>(op.dtype_input));
    raise_dtype(call, s.dtype, s.device);
  }
  Specs specs = op.infer(call);
  if (specs.size() > variables)
    raise_specs(call, "returns " + std::to_string(specs.size()) + " new values for " + std::to_string(variables) +
                          " variables");
  return specs;
}

TANDEM_INLINE void stage_update(Stager& stager, const OpDef& op, Span<const Variable> variables, Inputs extra,
                                const Attrs& attrs) {
  InlinedVector<Tensor, 4> values;
  InlinedVector<const Tensor*, 8> in;
  for (const Variable& v : variables) values.push_back(TANDEM_VIRTUAL(stager, Stager::read)(v));
  for (const Tensor& t : values) in.push_back(&t);
  for (const Tensor* t : extra) in.push_back(t);
  const InferCall call{op, {in.begin(), in.size()}, attrs, no_options};
  const Specs specs = infer_update_of(call, variables.size());
  for (unsigned i = 0; i < specs.size(); ++i) check_updated(op, variables[i].spec(), specs[i], variables[i].name());
  const Tensors out = TANDEM_VIRTUAL(stager, Stager::stage)(call, specs);
  for (unsigned i = 0; i < out.size(); ++i) TANDEM_VIRTUAL(stager, Stager::assign)(variables[i], out[i]);
}

// Returns the replaced values if `keeps` is set; otherwise buffers may be written in place.
TANDEM_INLINE Tensors run_update(const OpDef& op, Span<Variable::State* const> states, Inputs extra, const Attrs& attrs,
                                 bool keeps) {
  Tensors out;
  const Locks locks(states);
  InlinedVector<const Tensor*, 8> in;
  for (Variable::State* s : states) in.push_back(&s->value);
  for (const Tensor* t : extra) in.push_back(t);
  const InferCall call{op, {in.begin(), in.size()}, attrs, no_options};
  const Specs specs = infer_update_of(call, states.size());
  const bool observed = is_every_op_observed();  // an observer may refuse the new values
  InlinedVector<Tensor, 4> reuse;
  for (unsigned i = 0; i < specs.size(); ++i) {
    check_updated(op, states[i]->spec, specs[i], states[i]->name);
    bool borrowed = keeps || observed;  // or the buffer is also an extra input, which an in-place write would change
    for (const Tensor* t : extra) borrowed |= t->raw() == states[i]->value.raw();
    reuse.push_back(!borrowed && states[i]->value.is_unique() ? states[i]->value : Tensor());
  }
  const Span<const Tensor> buffers(reuse.begin(), reuse.size());
  out = is_profiling() ? run_timed("op", call, specs, buffers) : run(op, call.in, attrs, specs, buffers);
  reuse.clear();
  for (Observer* o = observed ? context.observers : nullptr; o; o = o->next)
    if (o->every_op) TANDEM_VIRTUAL(*o, Observer::record)({op, call.in, attrs, {out.begin(), out.size()}});
  for (unsigned i = 0; i < out.size(); ++i) {
    std::swap(states[i]->value, out[i]);
    states[i]->value.renew_id();
    states[i]->value.keep_packed_forms();
  }
  return out;  // replaced values are destroyed after the locks are released
}

}  // namespace detail

TANDEM_INLINE void update(const OpDef& op, Span<const Variable> variables, Inputs given, const Attrs& attrs) {
  const detail::Extras extras(op, variables, given);
  if (Stager* s = context.stager) return detail::stage_update(*s, op, variables, extras.list(), attrs);
  InlinedVector<Variable::State*, 8> states;
  for (const Variable& v : variables) VariableAccess::check_free(v), states.push_back(&v.state());
  detail::run_update(op, {states.begin(), states.size()}, extras.list(), attrs, false);
}
TANDEM_INLINE Tensor fetch_update(const OpDef& op, const Variable& variable, Inputs given, const Attrs& attrs) {
  const detail::Extras extras(op, {&variable, 1}, given);
  if (Stager* s = context.stager) {
    Tensor old = TANDEM_VIRTUAL(*s, Stager::read)(variable);
    detail::stage_update(*s, op, {&variable, 1}, extras.list(), attrs);
    return old;
  }
  VariableAccess::check_free(variable);
  Variable::State* const states[] = {&variable.state()};
  return std::move(detail::run_update(op, states, extras.list(), attrs, true)[0]);
}

TANDEM_INLINE std::string to_string(const Variable& v) {
  std::string s = "tandem.Variable(" + detail::escaped_text(v.name());
  if (!context.stager) {
    const Tensor value = v.value_untracked();
    s += (value.rank() > 1 ? "," : ", ") + detail::values_text(value);
  }
  return s + detail::spec_text(v.spec());
}
TANDEM_INLINE std::ostream& operator<<(std::ostream& out, const Variable& v) { return out << to_string(v); }

}  // namespace TANDEM_NS
