// Engine: how this process calls MPI: initialization, one call at a time, the thread, the end. For definitions only.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tandem/distribute_mpi/api.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::distribute::impl::mpi {

/// Requests of one operation, and what they need while they run. Guarded by the engine's lock, but for `state`.
struct Operation {
  enum State : int { runs, done, failed };
  std::atomic<int> state{runs};
  std::vector<MPI_Request> requests{};
  std::vector<int> counts{}, offsets{}, send_counts{}, send_offsets{};
  std::string error{};
};

class Engine {
 public:
  /// The engine of this process; the first call initializes MPI.
  static Engine& get(double timeout);

  /// Calls f(), which calls MPI, while nobody else does; on the engine's thread unless MPI allows others.
  template <class F>
  void run(const F& f) {
    if (is_direct_) {
      const std::lock_guard lock(calls_);
      f();
      return;
    }
    Task task;
    task.f = &f;
    task.call = [](const void* g) { (*static_cast<const F*>(g))(); };
    run_on_thread(task);
  }
  /// Lets the thread advance an operation that run() has begun, until it is done.
  void advance(std::shared_ptr<Operation> op);
  /// Waits for an operation, at most until `moment` (nanoseconds of the monotonic clock) or until give_up() is true.
  ///   returns  whether its state has changed
  template <class GiveUp>
  bool wait(const std::shared_ptr<Operation>& op, i64 moment, const GiveUp& give_up);
  /// Whether an operation needs the thread to advance it while nobody waits.
  bool wants_advance(std::size_t bytes) const { return !is_direct_ || bytes >= background_bytes; }
  /// From now on nobody calls MPI: nothing is written to buffers any more.
  void abandon() noexcept {
    abandoned_.store(true);
    const std::lock_guard until_a_call_has_returned(calls_);
  }
  bool is_abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
  /// At exit(): finalizes MPI if the status is 0.
  void leave(int status);

 private:
  static constexpr std::size_t background_bytes = 1 << 20;
  struct Task {
    const void* f = nullptr;
    void (*call)(const void*) = nullptr;
    bool is_done = false;
    std::exception_ptr error = {};
  };
  explicit Engine(double timeout);
  void run_on_thread(Task& task);
  void initialize();
  void loop();
  void run_tasks(std::unique_lock<std::mutex>& lock);
  bool test(Operation& op);  // under calls_
  bool test_background(std::vector<std::shared_ptr<Operation>>& running);
  bool poll(const std::shared_ptr<Operation>& op, i64 moment);
  void finalize_mpi();

  bool is_direct_ = false, owns_mpi_ = true;
  const double timeout_;
  std::mutex calls_;  // held by whoever calls MPI, if several threads may
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_, changed_;
  std::deque<Task*> tasks_;
  std::vector<std::shared_ptr<Operation>> background_;
  bool is_ready_ = false, ends_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> abandoned_{false};
  std::atomic<int> waiting_{0};
  std::thread thread_;
};

template <class GiveUp>
bool Engine::wait(const std::shared_ptr<Operation>& op, i64 moment, const GiveUp& give_up) {
  waiting_.fetch_add(1, std::memory_order_relaxed);
  struct Leave {
    std::atomic<int>& n;
    ~Leave() { n.fetch_sub(1, std::memory_order_relaxed); }
  } leave{waiting_};
  while (!poll(op, moment)) {
    if (is_abandoned() || give_up()) return false;
    if (tandem::detail::nanoseconds_now() >= moment) return false;
  }
  return true;
}

}  // namespace TANDEM_NS::distribute::impl::mpi
