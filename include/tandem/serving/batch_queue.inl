// Definitions of serving/batch_queue.hpp.
#pragma once
#include <algorithm>
#include <chrono>
#include <optional>

#include "tandem/ops/shape/concat.hpp"
#include "tandem/serving/batch_queue.hpp"
#include "tandem/serving/metrics.hpp"
#include "tandem/serving/padding.hpp"
#include "tandem/serving/rows.hpp"

namespace TANDEM_NS::serving::impl {

inline bool gave_up(const CallOptions& c) { return (c.cancel && c.cancel->is_cancelled()) || c.deadline.has_passed(); }
/// Without the CallScopes of this thread for a while: its own request is not the only one that it runs.
class OutsideCallScopes {
 public:
  OutsideCallScopes() : kept_(std::exchange(tandem::detail::call_scope, nullptr)) {}
  OutsideCallScopes(const OutsideCallScopes&) = delete;
  OutsideCallScopes& operator=(const OutsideCallScopes&) = delete;
  ~OutsideCallScopes() { tandem::detail::call_scope = kept_; }

 private:
  const CallScope* const kept_;
};

struct BatchQueue::Job {
  enum State { waiting, leading, running, done };
  Job(const NamedTensors& x, const CallOptions& c) : inputs(x), rows(x.begin()->second.shape().dim(0)), call(c) {}

  const NamedTensors inputs;
  const i64 rows;
  const CallOptions call;
  const std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  State state = waiting;
  RequestTimes times{.rows = rows};
  std::shared_ptr<Batch> batch;  // while it runs
  NamedTensors outputs;
  std::exception_ptr error;
  WaitList::Waiter waiter;  // called when it leads, and when it is done
};
struct BatchQueue::Batch {
  Jobs jobs;
  CancelToken cancel;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();

  i64 rows() const {
    i64 r = 0;
    for (const auto& job : jobs) r += job->rows;
    return r;
  }
  // Until when it runs, and how its requests end it together.
  CallOptions call() const {
    CallOptions r{jobs[0]->call.deadline, cancel};
    for (const auto& job : jobs) r.deadline = std::max(r.deadline, job->call.deadline);
    return r;
  }
};

// Whether an axis of an input is padded.
TANDEM_INLINE bool is_padded(const Padding* padding, const std::string& name, int axis) {
  if (!padding) return false;
  const auto at = padding->inputs.find(name);
  return at != padding->inputs.end() &&
         std::any_of(at->second.begin(), at->second.end(), [&](const Padding::Axis& a) { return a.axis == axis; });
}
TANDEM_INLINE std::string batch_key(const std::string& signature, const NamedTensors& inputs, const Padding* padding) {
  std::string key = signature;
  i64 rows = none;
  for (const auto& [name, t] : inputs) {
    if (t.rank() < 1 || (rows != none && t.shape().dim(0) != rows)) return {};
    rows = t.shape().dim(0);
    // With its length: the name is the client's, and may look like what follows.
    key += '\n' + std::to_string(name.size()) + ' ' + name + ' ' + tandem::name(t.dtype());
    for (int i = 1; i < t.rank(); ++i)
      key += ' ' + (is_padded(padding, name, i) ? "any" : std::to_string(t.shape().dim(i)));
  }
  return rows == none || rows == 0 ? std::string() : key;
}

// Of a request that gives up. Its leader may be writing Job::times.
TANDEM_INLINE RequestTimes BatchQueue::times_until_now(const Job& job) {
  if (!job.batch) return {job.rows, seconds_since(job.since)};
  const double queued = std::chrono::duration<double>(job.batch->start - job.since).count();
  return {job.rows, queued, seconds_since(job.batch->start)};
}
TANDEM_INLINE NamedTensors BatchQueue::run(const NamedTensors& inputs, const CallOptions& call, const BatchRun& how,
                                           RequestTimes& times) {
  const auto self = std::make_shared<Job>(inputs, call);
  const CallScope scope(call);
  std::unique_lock lock(mutex_);
  check_room(self->rows, how);
  waiting_.push_back(self);
  if (is_led_) arrived_.notify_one();
  else is_led_ = true, self->state = Job::leading;
  while (self->state != Job::done) {
    if (self->state == Job::leading) {
      lead(lock, self, scope, how);
      continue;
    }
    list_.wait(lock, self->waiter, scope);
    if (std::exchange(self->waiter.is_called, false)) continue;
    std::erase(waiting_, self);
    if (self->batch && std::all_of(self->batch->jobs.begin(), self->batch->jobs.end(),
                                   [](const auto& job) { return gave_up(job->call); }))
      self->batch->cancel.cancel();
    times = times_until_now(*self);
    scope.check("serving", self->batch ? "while its batch ran" : "while the request waited for a batch");
  }
  times = self->times;
  if (self->error) std::rethrow_exception(self->error);
  return std::move(self->outputs);
}

// Refuses a request with which more rows would wait than .max_enqueued_batches have; one that is larger alone may.
TANDEM_INLINE void BatchQueue::check_room(i64 rows, const BatchRun& how) const {
  const i64 most = how.batching.max_enqueued_batches;
  if (most == 0 || waiting_.empty()) return;
  i64 there = 0;
  for (const auto& job : waiting_) there += job->rows;
  if ((there + rows - 1) / how.batching.max_batch_size < most) return;
  how.metrics.rejected("queue");
  errors::raise<errors::ResourceExhaustedError>(
      "serving", "the batching queue of " + signature_ + " of the model " + how.servable.model +
                     " is full: " + std::to_string(there) + " rows wait, and max_enqueued_batches is " +
                     std::to_string(most) + "; try again later");
}
// Another one leads, if any waits.
TANDEM_INLINE void BatchQueue::hand_over() {
  is_led_ = !waiting_.empty();
  if (!is_led_) return;
  waiting_.front()->state = Job::leading;
  WaitList::call(waiting_.front()->waiter);
}
// The size that a batch of so many rows is filled up to.
TANDEM_INLINE i64 padded_rows(i64 rows, const std::vector<i64>& allowed) {
  const auto at = std::lower_bound(allowed.begin(), allowed.end(), rows);
  return at == allowed.end() ? rows : *at;
}
// Waits until the batch is full, its time is over, one of its requests has no more time to wait, or the leader gives
// up.
TANDEM_INLINE void BatchQueue::gather(std::unique_lock<std::mutex>& lock, const Job& self, const CallScope& scope,
                                      const BatchRun& how) {
  const auto until = self.since + std::chrono::microseconds(how.batching.batch_timeout_micros);
  const auto should_go = [&] {
    i64 rows = 0;
    for (const auto& job : waiting_) rows += job->rows;
    const i64 size = padded_rows(std::min(rows, how.batching.max_batch_size), how.batching.allowed_batch_sizes);
    const double run = how.facts.expected_seconds(size) * slowdown_;
    const Deadline latest = Deadline::after(run + 1e-3 * cancel_check_ms);
    return rows >= how.batching.max_batch_size || scope.ends() ||
           std::any_of(waiting_.begin(), waiting_.end(), [&](const auto& job) { return job->call.deadline <= latest; });
  };
  while (std::chrono::steady_clock::now() < until && !should_go())
    arrived_.wait_until(lock,
                        std::min(until, std::chrono::steady_clock::now() + std::chrono::milliseconds(cancel_check_ms)));
}
// A second batch would share the cores with the one that fills them: both would take twice as long, and be smaller than
// one that waits.
TANDEM_INLINE void BatchQueue::wait_for_cores(std::unique_lock<std::mutex>& lock, const CallScope& scope) {
  while (filling_ > 0 && !scope.ends()) has_cores_.wait_for(lock, std::chrono::milliseconds(cancel_check_ms));
}
// How many of the requests at the front fit into one batch.
TANDEM_INLINE std::size_t BatchQueue::count_for_batch(const BatchRun& how) const {
  std::optional<PaddedSizes> sizes;
  if (how.padding) sizes.emplace(*how.padding);
  std::size_t n = 0;
  i64 rows = 0;
  for (const auto& job : waiting_) {
    rows += job->rows;
    if (n > 0 && rows > how.batching.max_batch_size) break;
    if (sizes && !sizes->add(job->inputs) && n > 0) break;
    ++n;
  }
  return n;
}
// The requests at the front that fit into one batch. If there is no memory for it nothing has changed.
TANDEM_INLINE std::shared_ptr<BatchQueue::Batch> BatchQueue::take(const BatchRun& how) {
  const auto batch = std::make_shared<Batch>();
  const std::size_t n = count_for_batch(how);
  batch->jobs.reserve(n);
  while (batch->jobs.size() < n) {
    waiting_.front()->state = Job::running;
    waiting_.front()->batch = batch;
    batch->jobs.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return batch;
}
TANDEM_INLINE void BatchQueue::lead(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Job>& self,
                                    const CallScope& scope, const BatchRun& how) {
  std::optional<RunSlots::Slot> batch_slot, slot;
  std::shared_ptr<Batch> batch;
  try {
    gather(lock, *self, scope, how);
    wait_for_cores(lock, scope);
    lock.unlock();
    if (how.batch_slots) batch_slot.emplace(*how.batch_slots, how.servable.model, scope);
    slot.emplace(how.slots, how.servable.model, scope);
    lock.lock();
    scope.check("serving", "while the request waited for a batch");
    batch = take(how);
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    std::erase(waiting_, self);
    self->error = std::current_exception(), self->state = Job::done;
    self->times.queued = seconds_since(self->since);
    return hand_over();
  }
  const bool fills_cores = how.facts.fills_cores(batch->rows());
  filling_ += fills_cores;
  hand_over();
  lock.unlock();
  run_together(*batch, how);
  slot.reset(), batch_slot.reset();
  lock.lock();
  filling_ -= fills_cores;
  has_cores_.notify_one();
  for (const auto& job : batch->jobs) {
    job->state = Job::done;
    job->batch = nullptr;
    WaitList::call(job->waiter);
  }
}

// Runs a batch; if it raises, each request alone, once: what is wrong with one is not told to the others.
TANDEM_INLINE void BatchQueue::run_together(const Batch& batch, const BatchRun& how) {
  const OutsideCallScopes outside;
  const CallScope while_there_is_grace({.cancel = how.grace_is_over});
  if (batch.jobs.size() > 1) {
    try {
      return run_stacked(batch.jobs, batch.call(), how);
    } catch (...) {
      // Each request learns below what is wrong with it.
    }
  }
  for (const auto& job : batch.jobs) {
    try {
      run_stacked({job}, job->call, how);
    } catch (...) {
      job->error = std::current_exception();
    }
  }
}

TANDEM_INLINE NamedTensors stack_rows(const std::vector<const NamedTensors*>& parts) {
  if (parts.size() == 1) return *parts[0];
  NamedTensors r;
  for (const auto& [name, first] : *parts[0]) {
    std::vector<Tensor> all;
    all.reserve(parts.size());
    for (const NamedTensors* part : parts) all.push_back(part->at(name));
    r.emplace(name, concat(all, 0));
  }
  return r;
}
// may_cut: whether rows of the outputs are told apart by their number, which must then be that of the inputs.
TANDEM_INLINE NamedTensors BatchQueue::run_rows(const NamedTensors& inputs, i64 rows, const CallOptions& call,
                                                const BatchRun& how, bool may_cut) {
  const i64 padding = padded_rows(rows, how.batching.allowed_batch_sizes) - rows;
  const NamedTensors first = padding ? rows_of(inputs, 0, 1) : NamedTensors();
  std::vector<const NamedTensors*> parts{&inputs};
  parts.insert(parts.end(), static_cast<std::size_t>(padding), &first);
  const auto start = std::chrono::steady_clock::now();
  NamedTensors out = how.servable.loaded(signature_, stack_rows(parts), call);
  const double seconds = seconds_since(start), expected = how.facts.expected_seconds(rows + padding);
  slowdown_ = expected > 0 ? std::max(1.0, seconds / expected) : 1;
  how.metrics.ran(how.servable.model, seconds, rows, padding);
  if (!may_cut && !padding) return out;
  for (const auto& [name, t] : out)
    if (t.rank() < 1 || t.shape().dim(0) != rows + padding)
      errors::raise<errors::InternalError>("serving", "the output '" + name + "' is " + to_string(t.spec()) + " for " +
                                                          std::to_string(rows + padding) +
                                                          " rows: the signature cannot be batched");
  return padding ? rows_of(out, 0, rows) : out;
}
// A request that is larger than a batch.
TANDEM_INLINE NamedTensors BatchQueue::run_in_parts(const NamedTensors& inputs, i64 rows, const CallOptions& call,
                                                    const BatchRun& how) {
  const i64 most = how.batching.max_batch_size;
  if (!how.batching.enable_large_batch_splitting)
    errors::raise<errors::InvalidArgumentError>(
        "serving", "the request has " + std::to_string(rows) + " rows, a batch at most " + std::to_string(most));
  std::vector<NamedTensors> outputs;
  for (i64 begin = 0; begin < rows; begin += most) {
    const i64 n = std::min(most, rows - begin);
    outputs.push_back(run_rows(rows_of(inputs, begin, begin + n), n, call, how, true));
  }
  std::vector<const NamedTensors*> parts;
  for (const NamedTensors& part : outputs) parts.push_back(&part);
  return stack_rows(parts);
}
TANDEM_INLINE void BatchQueue::run_stacked(const Jobs& jobs, const CallOptions& call, const BatchRun& how) {
  how.metrics.queued(how.servable.model, seconds_since(jobs[0]->since));
  struct Timed {  // also of a batch that raises
    const Jobs& jobs;
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    ~Timed() {
      for (const auto& job : jobs)
        job->times.queued = std::chrono::duration<double>(start - job->since).count(),
        job->times.ran = seconds_since(start);
    }
  } const timed{jobs};
  if (jobs.size() == 1) {
    Job& job = *jobs[0];
    job.outputs = job.rows > how.batching.max_batch_size ? run_in_parts(job.inputs, job.rows, call, how)
                                                         : run_rows(job.inputs, job.rows, call, how, false);
    return;
  }
  i64 rows = 0, at = 0;
  for (const auto& job : jobs) rows += job->rows;
  const NamedTensors all = run_rows(stacked(jobs, how), rows, call, how, true);
  for (const auto& job : jobs) {
    job->outputs = rows_of(all, at, at + job->rows);
    if (how.padding) job->outputs = without_padding(std::move(job->outputs), job->inputs, *how.padding);
    at += job->rows;
  }
}
// The inputs of all.
TANDEM_INLINE NamedTensors BatchQueue::stacked(const Jobs& jobs, const BatchRun& how) const {
  std::vector<const NamedTensors*> parts;
  std::vector<NamedTensors> padded;
  if (how.padding) {
    PaddedSizes sizes(*how.padding);
    for (const auto& job : jobs) sizes.add(job->inputs);
    for (const auto& job : jobs) padded.push_back(sizes.pad(job->inputs));
    for (const NamedTensors& part : padded) parts.push_back(&part);
  } else {
    for (const auto& job : jobs) parts.push_back(&job->inputs);
  }
  return stack_rows(parts);
}

}  // namespace TANDEM_NS::serving::impl
