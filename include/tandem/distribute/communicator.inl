// Definitions of distribute/communicator.hpp: groups, their time limits and their errors. Not here: the comparison of
// operations (communicator_checks.inl).
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <mutex>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/core/backend.hpp"
#include "tandem/distribute/bucket.hpp"
#include "tandem/distribute/call_timer.hpp"
#include "tandem/distribute/communicator.hpp"
#include "tandem/distribute/communicator_state.hpp"
#include "tandem/distribute/lone.hpp"
#include "tandem/distribute/texts.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::distribute {

namespace impl {
TANDEM_API std::unique_ptr<Transport> make_world(const WorldOptions& o);  // launch.inl

// The groups of one rank by name.
struct Registry {
  std::mutex mutex;
  std::map<std::string, Communicator> groups;
  std::string failure;  // why there is no world: not tried again, as other ranks may still wait in the first try
};
inline constinit thread_local Registry* simulated = nullptr;  // of the simulated rank whose thread this is
inline constinit std::atomic<Registry*> of_process{nullptr};  // never destroyed: threads use it while the process exits
TANDEM_INLINE Registry& registry() {
  if (simulated) return *simulated;
  Registry* made = of_process.load(std::memory_order_acquire);
  if (made) return *made;
  Registry* const own = new Registry;
  if (of_process.compare_exchange_strong(made, own, std::memory_order_acq_rel)) return *own;
  delete own;
  return *made;
}

}  // namespace impl

struct Running::Call {
  Ref<Opaque> group;  // unset: the group keeps it
  Communicator::State* state;
  std::unique_ptr<Pending> pending;
  std::string op, label;
  Collective what;  // for the timer: its buffers and sizes by rank are not read
  impl::CallTimer timer;
};
TANDEM_INLINE void Running::Delete::operator()(Call* c) const { delete c; }

// A child of fork() has neither the threads of the transport nor connections of its own. A process without a launcher
// needs none.
TANDEM_INLINE void Communicator::State::check_process(const char* op) const {
  if (::getpid() != process && std::strcmp(transport->kind(), "none") != 0)
    errors::raise<errors::FailedPreconditionError>(op, "group '" + name +
                                                           "' belongs to the process that has made this one by fork(): "
                                                           "call its operations there");
}
// Waits for an operation of the transport; the group is dead if that fails.
TANDEM_INLINE void Communicator::State::wait(Pending& pending, const char* op, const std::string& what) {
  bool ended = false;
  try {
    ended = pending.wait(timeout);
  } catch (const errors::UnavailableError& e) {
    die(what + impl::step_text(step) + ": " + e.message());
    errors::raise<errors::UnavailableError>(op, failure);
  } catch (const errors::FailedPreconditionError& e) {
    die(what + impl::step_text(step) + ": " + e.message());
    errors::raise<errors::FailedPreconditionError>(op, failure);
  }
  if (!ended) fail(op, what, step);
}
// Nothing of the group runs, and nothing reads or writes its buffers, afterwards.
TANDEM_INLINE void Communicator::State::die(const std::string& why) {
  failure = why;
  transport->abort();
  for (const auto& [index, of_gpu] : on_gpu)
    if (of_gpu) of_gpu->abort();
}
TANDEM_INLINE void Communicator::State::fail(const char* op, const std::string& what, i64 at_step) {
  die(text({op, what, at_step}, {}));
  errors::raise<errors::UnavailableError>(op, failure);
}
TANDEM_INLINE std::string Communicator::State::text(const CallText& call, const std::string& why) const {
  const std::string seen = transport->last_seen(), at = impl::step_text(call.step);
  return call.what + (why.empty() ? ": no answer within " + impl::seconds_text(timeout) + at : at + ": " + why) +
         (seen.empty() ? seen : "; " + seen);
}
// An operation on a GPU has failed without anybody who waited for it: the group dies here, on its own thread.
TANDEM_INLINE bool Communicator::State::is_dead() {
  for (auto of_gpu = on_gpu.begin(); failure.empty() && of_gpu != on_gpu.end(); ++of_gpu)
    if (const std::string lost = of_gpu->second->failure(); !lost.empty()) die(lost);
  return !failure.empty();
}
TANDEM_INLINE void Communicator::State::check_alive(const char* op) {
  if (is_dead()) errors::raise<errors::UnavailableError>(op, "group '" + name + "' is dead since " + failure);
}
TANDEM_INLINE void Communicator::State::check_world(const char* op, const char* advice) const {
  if (name != "world")
    errors::raise<errors::FailedPreconditionError>(op, "group '" + name + "' is a part of the world: " + advice);
}
TANDEM_INLINE Communicator::State& Communicator::state() const { return static_cast<State&>(*state_); }

TANDEM_INLINE Ref<Opaque> Communicator::make_state(std::string name, std::unique_ptr<Transport> transport,
                                                   double timeout) {
  Ref<Opaque> r(new State);
  State& s = static_cast<State&>(*r);
  s.name = std::move(name), s.transport = std::move(transport), s.timeout = timeout;
  const char* const all = std::getenv("TANDEM_DISTRIBUTED_CHECK");
  s.checks_all = all && std::strcmp(all, "1") == 0;
  return r;
}
TANDEM_INLINE Communicator::Communicator(std::string name, std::unique_ptr<Transport> transport, double timeout)
    : state_(make_state(std::move(name), std::move(transport), timeout)) {
  connect();
}
// The first operations of the group, and its name.
TANDEM_INLINE void Communicator::connect() const {
  State& s = state();
  s.find_nodes();
  impl::Registry& r = impl::registry();
  const std::lock_guard lock(r.mutex);
  r.groups.insert_or_assign(s.name, *this);
}
TANDEM_INLINE Communicator Communicator::world(const WorldOptions& o) {
  if (!(o.timeout > 0))
    errors::raise<errors::InvalidArgumentError>("Communicator::world",
                                                ".timeout must be positive, not " + std::to_string(o.timeout));
  static std::mutex making;
  const std::lock_guard alone(making);
  impl::Registry& r = impl::registry();
  {
    const std::lock_guard lock(r.mutex);
    if (const auto found = r.groups.find("world"); found != r.groups.end()) {
      const std::string connected = found->second.backend();
      if (o.backend != Backend::automatic && connected != (o.backend == Backend::mpi ? "mpi" : "gloo"))
        errors::raise<errors::FailedPreconditionError>("Communicator::world",
                                                       "the processes are connected already, by " + connected);
      return found->second;
    }
  }
  if (!r.failure.empty()) errors::raise<errors::UnavailableError>("Communicator::world", r.failure);
  try {
    WorldOptions used = o;
    used.timeout = std::min(o.timeout, 3.2e7);  // a year: moments are counted in nanoseconds
    std::unique_ptr<Transport> transport = impl::make_world(used);
    if (launch_info().joins) return impl::Groups::join(std::move(transport), used.timeout);
    return Communicator("world", std::move(transport), used.timeout);
  } catch (const errors::UnavailableError& e) {
    r.failure = "the processes could not be connected before: " + e.message();
    throw;
  }
}

TANDEM_INLINE int Communicator::rank() const { return state().transport->rank(); }
TANDEM_INLINE int Communicator::size() const { return state().transport->size(); }
TANDEM_INLINE int Communicator::local_rank() const { return state().local_rank; }
TANDEM_INLINE int Communicator::local_size() const { return state().local_size; }
TANDEM_INLINE int Communicator::node() const { return state().node; }
TANDEM_INLINE int Communicator::nodes() const { return state().nodes; }
TANDEM_INLINE const std::string& Communicator::name() const { return state().name; }
TANDEM_INLINE double Communicator::timeout() const { return state().timeout; }
TANDEM_INLINE const char* Communicator::backend() const { return state().transport->kind(); }
TANDEM_INLINE i64 Communicator::step() const { return state().step; }
TANDEM_INLINE void Communicator::set_step(i64 step) const {
  State& s = state();
  s.step = step;
  for (impl::CallTimes* const report : s.reports) report->step(s.transport->now());
  s.transport->report_step(step);
}
TANDEM_INLINE void Communicator::report_error(const std::string& error) const {
  State& s = state();
  if (::getpid() != s.process || size() == 1 || s.is_dead()) return;  // what the others know already
  s.transport->report_error(error.substr(0, std::min<std::size_t>(error.find('\n'), 500)));
}

TANDEM_INLINE Communicator Communicator::split(int color, int key) const {
  State& s = state();
  s.check_process("Communicator::split");
  if (color < 0)
    errors::raise<errors::InvalidArgumentError>("Communicator::split",
                                                "the color must not be negative, but is " + std::to_string(color));
  if (s.is_dead()) errors::raise<errors::UnavailableError>("Communicator::split", s.failure);
  const std::string part = s.name + "/" + std::to_string(s.splits++) + ":" + std::to_string(color);
  try {
    Communicator c(part, s.transport->split(color, key), s.timeout);
    c.state().step = s.step;
    return c;
  } catch (const std::exception& e) {  // the other ranks may have gone on
    s.die(std::string("split: ") + e.what());
    throw;
  }
}
TANDEM_INLINE i64 Transport::now() const { return tandem::detail::nanoseconds_now(); }
TANDEM_INLINE std::unique_ptr<Transport> Transport::rebuild() {
  errors::raise<errors::UnimplementedError>("Communicator::rebuild",
                                            std::string("processes that are connected by ") + kind() +
                                                " cannot go on without one of them: start all again, or use gloo");
}
TANDEM_INLINE Communicator Communicator::rebuild() const {
  State& s = state();
  s.check_process("Communicator::rebuild");
  s.check_world("Communicator::rebuild", "rebuild that, and split it again");
  if (!s.is_dead() && !s.admits)
    errors::raise<errors::FailedPreconditionError>(
        "Communicator::rebuild", "group 'world' is not dead, and has_newcomers() has not returned true for it");
  for (;;) {
    std::unique_ptr<Transport> left = s.transport->rebuild();
    if (s.failure.empty()) s.die("rebuild() has taken in newcomers");
    try {
      Communicator c(s.name, std::move(left), s.timeout);
      c.set_step(s.step);
      return c;
    } catch (const errors::UnavailableError&) {
      // Another process is lost: those that are left meet again.
    }
  }
}
TANDEM_INLINE bool Communicator::has_newcomers() const {
  State& s = state();
  s.check_world("Communicator::has_newcomers", "ask that");
  i64 waits = s.transport->sees_newcomers();
  run({.kind = Collective::all_reduce,
       .dtype = DType::int64,
       .input = &waits,
       .output = &waits,
       .count = 1,
       .op = ReduceOp::max,
       .combine = impl::combine_fn(ReduceOp::max, DType::int64)},
      "has_newcomers", {});
  return s.admits = waits != 0;
}
TANDEM_INLINE void Communicator::barrier() const { run({}, "barrier", {}); }

TANDEM_INLINE Running Communicator::start(const Collective& call, const char* op, const std::string& label) const {
  State& s = state();
  s.check_process(op);
  s.check_alive(op);
  impl::CallTimer timer(s.reports.empty() ? nullptr : s.transport.get());
  for (impl::CallTimes* const report : s.reports) report->begin(label, timer.begun());
  s.check(call, op, label, false);
  timer.compared();
  Running r(new Running::Call{state_, &s, nullptr, op, label, call, timer});
  try {
    r.call_->pending = s.transport->start(call);
  } catch (const std::exception& e) {  // the other ranks may have begun it
    s.die(impl::call_text(op, label) + ": " + e.what());
    throw;
  }
  return r;
}
TANDEM_INLINE void Running::leave_group() {
  if (call_) call_->group = {};
}
TANDEM_INLINE void Running::wait() {
  if (!call_) return;
  const std::unique_ptr<Call, Delete> call = std::move(call_);
  Communicator::State& s = *call->state;
  const std::string what = impl::call_text(call->op, call->label);
  s.check_process(call->op.c_str());
  if (s.is_dead()) errors::raise<errors::UnavailableError>(call->op.c_str(), what + ": " + s.failure);
  call->timer.waits();
  s.wait(*call->pending, call->op.c_str(), what);
  call->timer.ended(call->op.c_str(), what, call->what, *call->pending, {s.reports.data(), s.reports.size()});
}

namespace impl {
inline constinit MakeDeviceTransport device_backend = nullptr;  // set while headers of backends are initialized
TANDEM_INLINE bool set_device_backend(MakeDeviceTransport make) noexcept { return device_backend = make, true; }
}  // namespace impl

TANDEM_INLINE DeviceTransport& Communicator::on(Device device, const char* op) const {
  State& s = state();
  const auto found = s.on_gpu.find(device.index);
  if (found != s.on_gpu.end()) return *found->second;
  if (!impl::device_backend)
    errors::raise<errors::UnimplementedError>(
        op, "no kernel on " + to_string(device) + ": nothing in this program connects GPUs (include " +
                "tandem/distribute_nccl.hpp and link tandem::distribute_nccl, or move the operands by .cpu())");
  std::unique_ptr<DeviceTransport> made = impl::device_backend(*this, s, device.index);
  return *s.on_gpu.emplace(device.index, std::move(made)).first->second;
}
TANDEM_INLINE i64 Communicator::launch(const Collective& call, const KernelCall& kernel, const char* op,
                                       const std::string& label) const {
  State& s = state();
  const Device device = kernel.stream.device;
  s.check_process(op);
  s.check_alive(op);
  if (size() == 1) {
    const std::size_t bytes = static_cast<std::size_t>(call.count) * size_of(call.dtype);
    if (call.input != call.output && bytes) copy_bytes(call.output, device, call.input, device, bytes);
    return -1;
  }
  s.check(call, op, label, true);
  s.transport->withdraw_error();
  const std::string what = impl::call_text(op, label);
  try {
    return on(device, op).start(call, kernel, {op, what, s.step});
  } catch (const errors::UnimplementedError&) {  // in all ranks, and nothing was begun
    throw;
  } catch (const errors::FailedPreconditionError&) {  // likewise: a rank without NCCL
    throw;
  } catch (const std::exception& e) {  // the other ranks may have begun it
    if (!s.is_dead()) s.die(what + ": " + e.what());
    throw;
  }
}
TANDEM_INLINE void Communicator::join(i64 number, const KernelCall& kernel) const {
  if (number < 0) return;
  state().check_alive(kernel.op);
  on(kernel.stream.device, kernel.op).join(number, kernel);
}
TANDEM_INLINE void Communicator::run(const Collective& call, const char* op, const std::string& label) const {
  start(call, op, label).wait();
}

namespace impl {

TANDEM_INLINE Bucket& bucket_of(const Communicator& group, i64 number) { return Groups::bucket(group, number); }
TANDEM_INLINE Bucket& Groups::bucket(const Communicator& group, i64 number) { return group.state().buckets[number]; }
TANDEM_INLINE void Groups::check_alive(const char* op, const Communicator& group) { group.state().check_alive(op); }
TANDEM_INLINE Communicator Groups::join(std::unique_ptr<Transport> transport, double timeout) {
  const Communicator c(Communicator::make_state("world", std::move(transport), timeout));
  try {
    c.connect();
  } catch (const errors::UnavailableError&) {
    if (!c.state().is_dead()) throw;
    return c.rebuild();  // another process is lost
  }
  return c;
}
TANDEM_INLINE bool Groups::sees_newcomers(const Communicator& group) {
  return group.state().transport->sees_newcomers();
}
TANDEM_INLINE void Groups::add_report(const Communicator& group, CallTimes& times) {
  group.state().reports.push_back(&times);
}
TANDEM_INLINE void Groups::remove_report(const Communicator& group, const CallTimes& times) {
  std::erase(group.state().reports, &times);
}
TANDEM_INLINE void Groups::expect_newcomers(const Communicator& group) { group.state().admits = true; }
TANDEM_INLINE Communicator Groups::find(const char* op, const std::string& name) {
  if (name == "world") return Communicator::world();
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  const auto found = r.groups.find(name);
  if (found == r.groups.end())
    errors::raise<errors::FailedPreconditionError>(
        op, "this process has no group '" + name + "': make it by Communicator::split as the program that was traced");
  return found->second;
}

TANDEM_INLINE GroupsScope::GroupsScope() : before_(std::exchange(simulated, new Registry)) {}
TANDEM_INLINE GroupsScope::~GroupsScope() { delete std::exchange(simulated, static_cast<Registry*>(before_)); }

}  // namespace impl
}  // namespace TANDEM_NS::distribute
