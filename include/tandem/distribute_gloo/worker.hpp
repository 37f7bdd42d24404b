// Worker: the thread on which the operations of a group run one after the other, since calls of Gloo return when they
// have ended. For definitions only.
#pragma once
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "tandem/distribute_gloo/collectives.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::distribute::impl::gloo_backend {

/// An operation: waits in the queue, runs, and is then done or has failed. Guarded by the worker's lock.
struct Job {
  enum State { queued, running, done, failed };
  Collective call;
  i64 number = 0;  // of the group's operations, from 0
  std::uint32_t tag = 0;
  State state = queued;
  std::string error{};
  i64 ended = 0;  // when it was done, in nanoseconds of the monotonic clock
};

/// What the thread and its owner share.
class Worker : public std::enable_shared_from_this<Worker> {
 public:
  Worker(std::shared_ptr<::gloo::Context> context, double timeout);
  /// Starts the thread.
  void begin();
  std::shared_ptr<Job> add(const Collective& call);
  /// Waits until `moment`, in nanoseconds of the monotonic clock, or until give_up() is true, which is asked ten times
  /// a second.
  ///   returns  the job's state
  template <class GiveUp>
  Job::State wait(const Job& job, i64 moment, const GiveUp& give_up);
  /// Breaks the connections; what runs or waits in the queue fails. Afterwards no job's buffers are read or written:
  /// returns when the thread has left Gloo, or after half a second, when all that it can do is to wait for a connection
  /// that is closed.
  void abort() noexcept;
  /// Ends the thread after the jobs that are queued.
  void end();
  bool is_aborted() const;
  /// The job that failed first; otherwise the one that runs; null: neither.
  std::shared_ptr<Job> current() const;

 private:
  void loop();
  void interrupt() noexcept;

  const std::shared_ptr<::gloo::Context> context_;
  const std::chrono::milliseconds timeout_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable wake_, changed_;
  std::deque<std::shared_ptr<Job>> queue_{};
  std::shared_ptr<Job> current_{};
  i64 next_number_ = 0;
  bool ends_ = false, is_aborted_ = false, is_running_ = false, has_ended_ = false;
};

template <class GiveUp>
Job::State Worker::wait(const Job& job, i64 moment, const GiveUp& give_up) {
  std::unique_lock lock(mutex_);
  while (job.state == Job::queued || job.state == Job::running) {
    const i64 left = moment - tandem::detail::nanoseconds_now();
    if (left <= 0 || give_up()) break;
    changed_.wait_for(lock, std::chrono::nanoseconds(std::min<i64>(left, 100'000'000)));
  }
  return job.state;
}

}  // namespace TANDEM_NS::distribute::impl::gloo_backend
