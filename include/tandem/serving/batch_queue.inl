// Definitions of serving/batch_queue.hpp.
#pragma once
#include <algorithm>
#include <chrono>

#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/serving/batch_queue.hpp"
#include "tandem/serving/metrics.hpp"
#include "tandem/serving/rows.hpp"

namespace TANDEM_NS::serving::impl {

inline double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}

struct BatchQueue::Job {
  enum State { waiting, leading, running, done };
  Job(const NamedTensors& x, const CallOptions& c) : inputs(x), rows(x.begin()->second.shape().dim(0)), call(c) {}

  const NamedTensors inputs;
  const i64 rows;
  const CallOptions call;
  const std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
  State state = waiting;
  std::shared_ptr<Batch> batch;  // while it runs
  NamedTensors outputs;
  std::exception_ptr error;
  std::condition_variable wake;
};
struct BatchQueue::Batch {
  Jobs jobs;
  CancelToken cancel;

  // Until when it runs, and how its requests end it together.
  CallOptions call() const {
    CallOptions r{jobs[0]->call.deadline, cancel};
    for (const auto& job : jobs) r.deadline = std::max(r.deadline, job->call.deadline);
    return r;
  }
};
inline bool gave_up(const CallOptions& c) { return (c.cancel && c.cancel->is_cancelled()) || c.deadline.has_passed(); }

TANDEM_INLINE std::string batch_key(const std::string& signature, const NamedTensors& inputs) {
  std::string key = signature;
  i64 rows = none;
  for (const auto& [name, t] : inputs) {
    if (t.rank() < 1 || (rows != none && t.shape().dim(0) != rows)) return {};
    rows = t.shape().dim(0);
    key += '\n' + name + ' ' + tandem::name(t.dtype());
    for (int i = 1; i < t.rank(); ++i) key += ' ' + std::to_string(t.shape().dim(i));
  }
  return rows == none || rows == 0 ? std::string() : key;
}

TANDEM_INLINE NamedTensors BatchQueue::run(const NamedTensors& inputs, const CallOptions& call, const BatchRun& how) {
  const CallScope scope(call);
  const auto self = std::make_shared<Job>(inputs, call);
  std::unique_lock lock(mutex_);
  waiting_.push_back(self);
  if (is_led_) arrived_.notify_one();
  else is_led_ = true, self->state = Job::leading;
  while (self->state != Job::done) {
    if (self->state == Job::leading) {
      lead(lock, self, scope, how);
      continue;
    }
    self->wake.wait_for(lock, std::chrono::milliseconds(cancel_check_ms));
    if (self->state == Job::done || self->state == Job::leading || !scope.ends()) continue;
    std::erase(waiting_, self);
    if (self->batch && std::all_of(self->batch->jobs.begin(), self->batch->jobs.end(),
                                   [](const auto& job) { return gave_up(job->call); }))
      self->batch->cancel.cancel();
    scope.check("serving", self->batch ? "while its batch ran" : "while the request waited for a batch");
  }
  if (self->error) std::rethrow_exception(self->error);
  return std::move(self->outputs);
}

// Another one leads, if any waits.
TANDEM_INLINE void BatchQueue::hand_over() {
  is_led_ = !waiting_.empty();
  if (!is_led_) return;
  waiting_.front()->state = Job::leading;
  waiting_.front()->wake.notify_one();
}
// Waits until the batch is full, its time is over, or the leader gives up.
TANDEM_INLINE void BatchQueue::gather(std::unique_lock<std::mutex>& lock, const Job& self, const CallScope& scope,
                                      const Batching& batching) {
  const auto until = self.since + std::chrono::microseconds(batching.batch_timeout_micros);
  const auto is_full = [&] {
    i64 rows = 0;
    for (const auto& job : waiting_) rows += job->rows;
    return rows >= batching.max_batch_size;
  };
  while (!is_full() && std::chrono::steady_clock::now() < until && !scope.ends())
    arrived_.wait_until(lock,
                        std::min(until, std::chrono::steady_clock::now() + std::chrono::milliseconds(cancel_check_ms)));
}
// The requests at the front that fit into one batch, at least one.
TANDEM_INLINE BatchQueue::Jobs BatchQueue::take(i64 most) {
  Jobs r;
  i64 rows = 0;
  while (!waiting_.empty() && (r.empty() || rows + waiting_.front()->rows <= most)) {
    rows += waiting_.front()->rows;
    waiting_.front()->state = Job::running;
    r.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
  }
  return r;
}
TANDEM_INLINE void BatchQueue::lead(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Job>& self,
                                    const CallScope& scope, const BatchRun& how) {
  gather(lock, *self, scope, how.batching);
  lock.unlock();
  try {
    how.slots.acquire(how.servable.model, scope);
  } catch (...) {
    lock.lock();
    std::erase(waiting_, self);
    self->error = std::current_exception(), self->state = Job::done;
    hand_over();
    return;
  }
  const RunSlots::Slot slot(how.slots);
  lock.lock();
  const auto batch = std::make_shared<Batch>();
  batch->jobs = take(how.batching.max_batch_size);
  for (const auto& job : batch->jobs) job->batch = batch;
  hand_over();
  lock.unlock();
  run_together(*batch, how);
  lock.lock();
  for (const auto& job : batch->jobs) {
    job->state = Job::done;
    job->batch = nullptr;
    job->wake.notify_one();
  }
}

// Runs a batch; if it raises, each request alone, once: what is wrong with one is not told to the others.
TANDEM_INLINE void BatchQueue::run_together(const Batch& batch, const BatchRun& how) {
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

// The size that a batch of so many rows is filled up to.
TANDEM_INLINE i64 padded_rows(i64 rows, const std::vector<i64>& allowed) {
  const auto at = std::lower_bound(allowed.begin(), allowed.end(), rows);
  return at == allowed.end() ? rows : *at;
}
TANDEM_INLINE NamedTensors stack_rows(const std::vector<const NamedTensors*>& parts, i64 padding) {
  NamedTensors r;
  for (const auto& [name, first] : *parts.front()) {
    std::vector<Tensor> all;
    for (const NamedTensors* part : parts) all.push_back(part->at(name));
    for (i64 i = 0; i < padding; ++i) all.push_back(first(Slice(0, 1)));
    r.emplace(name, all.size() == 1 ? all[0] : concat(all, 0));
  }
  return r;
}
TANDEM_INLINE void BatchQueue::run_stacked(const Jobs& jobs, const CallOptions& call, const BatchRun& how) {
  std::vector<const NamedTensors*> parts;
  i64 rows = 0;
  for (const auto& job : jobs) parts.push_back(&job->inputs), rows += job->rows;
  const i64 most = how.batching.max_batch_size;
  if (rows > most && !how.batching.enable_large_batch_splitting)
    errors::raise<errors::InvalidArgumentError>(
        "serving", "the request has " + std::to_string(rows) + " rows, a batch at most " + std::to_string(most));
  const double queued = seconds_since(jobs[0]->since);
  NamedTensors all;
  for (i64 begin = 0; begin < rows; begin += most) {  // more than one part of one large request alone
    const i64 n = std::min(most, rows - begin), padding = padded_rows(n, how.batching.allowed_batch_sizes) - n;
    NamedTensors part = rows > most ? rows_of(*parts[0], begin, begin + n) : NamedTensors();
    const auto start = std::chrono::steady_clock::now();
    NamedTensors out =
        how.servable.loaded(signature_, rows > most ? stack_rows({&part}, padding) : stack_rows(parts, padding), call);
    how.metrics.ran(how.servable.model, queued, seconds_since(start), n, padding);
    if (padding) out = rows_of(out, 0, n);
    if (begin == 0) all = std::move(out);
    else
      for (auto& [name, t] : all) t = concat({t, out.at(name)}, 0);
  }
  i64 at = 0;
  for (const auto& job : jobs) {
    job->outputs = jobs.size() == 1 ? std::move(all) : rows_of(all, at, at + job->rows);
    at += job->rows;
  }
}

}  // namespace TANDEM_NS::serving::impl
