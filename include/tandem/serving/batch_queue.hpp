// BatchQueue: stacks the rows of requests that come at the same time. For the definitions of serving.
#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tandem/serving/manager.hpp"
#include "tandem/serving/options.hpp"
#include "tandem/serving/run_slots.hpp"

namespace TANDEM_NS::serving::impl {

/// What runs a batch, how, what ends it, and whom it tells about it.
struct BatchRun {
  const Servable& servable;
  const Batching& batching;
  const BatchFacts& facts;
  const Padding* padding;  // null: all requests of the queue have one shape
  const CancelToken& grace_is_over;
  RunSlots& slots;
  Metrics& metrics;
  RunSlots* batch_slots;  // a batch needs one of these, too; null: it does not
};

/// What became of a request, for the log.
struct RequestTimes {
  i64 rows = 0;
  double queued = 0, ran = 0;  // seconds; 0: it did not wait, it did not run
};

/// Requests for one signature of one version whose inputs differ in their first dimension alone, or in sizes that are
/// padded, too. There is no thread of
/// its own: the first request that comes while none leads becomes the leader. It waits until no batch of the queue uses
/// all cores, and for a slot, takes what has gathered by then, lets another lead, and runs what it took as one.
class BatchQueue {
 public:
  explicit BatchQueue(std::string signature) : signature_(std::move(signature)) {}

  /// Runs the rows of a request together with others. Nobody computes rows that nobody waits for: who gives up while it
  /// waits leaves the queue, and a batch that all have left ends; only one that its leader leaves last runs on.
  ///   throws  what the model raises for these rows alone; errors::DeadlineExceededError and errors::CancelledError as
  ///           the options say; errors::ResourceExhaustedError if .max_enqueued_batches wait
  NamedTensors run(const NamedTensors& inputs, const CallOptions& call, const BatchRun& how, RequestTimes& times);

 private:
  struct Job;
  struct Batch;
  using Jobs = std::vector<std::shared_ptr<Job>>;

  void check_room(i64 rows, const BatchRun& how) const;
  void lead(std::unique_lock<std::mutex>& lock, const std::shared_ptr<Job>& self, const CallScope& scope,
            const BatchRun& how);
  void gather(std::unique_lock<std::mutex>& lock, const Job& self, const CallScope& scope, const BatchRun& how);
  void wait_for_cores(std::unique_lock<std::mutex>& lock, const CallScope& scope);
  std::size_t count_for_batch(const BatchRun& how) const;
  std::shared_ptr<Batch> take(const BatchRun& how);
  void hand_over();
  static RequestTimes times_until_now(const Job& job);
  void run_together(const Batch& batch, const BatchRun& how);
  void run_stacked(const Jobs& jobs, const CallOptions& call, const BatchRun& how);
  NamedTensors stacked(const Jobs& jobs, const BatchRun& how) const;
  NamedTensors run_rows(const NamedTensors& inputs, i64 rows, const CallOptions& call, const BatchRun& how,
                        bool may_cut);
  NamedTensors run_in_parts(const NamedTensors& inputs, i64 rows, const CallOptions& call, const BatchRun& how);

  const std::string signature_;
  std::mutex mutex_;
  std::condition_variable arrived_, has_cores_;
  std::deque<std::shared_ptr<Job>> waiting_;
  WaitList list_;
  bool is_led_ = false;
  int filling_ = 0;                  // batches that run and use all cores
  std::atomic<double> slowdown_{1};  // how much longer than expected the last batch took
};

/// How long ago that was.
inline double seconds_since(std::chrono::steady_clock::time_point t) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
}
/// Calls f, and sets `seconds` to how long that took, also if it raises.
template <class F>
void timed(double& seconds, const F& f) {
  struct Timed {
    double& seconds;
    const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
    ~Timed() { seconds = seconds_since(start); }
  } const time{seconds};
  f();
}

/// The key of the queue that a request belongs to: signature, names, dtypes and all sizes but the first and those that
/// are padded; empty if it cannot be batched: inputs without a first dimension, or of different numbers of rows.
///   padding   null: nothing is padded
TANDEM_API std::string batch_key(const std::string& signature, const NamedTensors& inputs, const Padding* padding);

}  // namespace TANDEM_NS::serving::impl
