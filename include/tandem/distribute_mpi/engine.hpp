// Engine: how this process calls MPI: initialization, one call at a time, the thread, the end. For definitions only.
#pragma once
#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tandem/distribute/liveness.hpp"
#include "tandem/distribute/socket.hpp"
#include "tandem/distribute_mpi/api.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::distribute::impl::mpi {

/// Requests of one operation, and what they need while they run: MPI reads and writes all of it until `state` is done.
/// Guarded by the engine's lock, but for `state`.
struct Operation {
  enum State : int { runs, done, failed };
  std::atomic<int> state{runs};
  std::vector<MPI_Request> requests{};
  std::vector<int> counts{}, offsets{};
  std::vector<char> sent{}, received{};  // of exchanges that have no buffers of their own
  MPI_Comm group = MPI_COMM_NULL;        // the result of MPI_Comm_idup
  std::string error{};
  i64 ended = 0;  // when it was found done, in nanoseconds of the monotonic clock
};

class Engine {
 public:
  /// The engine of this process; the first call initializes MPI, in at most `timeout` seconds.
  ///   throws  errors::UnavailableError if that takes longer, also in all later calls
  static Engine& get(double timeout);

  /// Calls f(), which calls MPI, while nobody else does; on the engine's thread unless MPI allows others.
  ///   throws  errors::UnavailableError if the engine is abandoned
  template <class F>
  void run(const F& f) {
    if (is_direct_) {
      const std::lock_guard lock(calls_);
      check_abandoned();
      f();
      return;
    }
    Task task;
    task.f = &f;
    task.call = [](const void* g) { (*static_cast<const F*>(g))(); };
    run_on_thread(task);
  }
  /// Begins an operation by f(op), which calls MPI, and keeps it until it is done; an abandoned one for ever.
  ///   is_background  whether the thread advances it while nobody waits
  template <class F>
  std::shared_ptr<Operation> begin(bool is_background, const F& f) {
    auto op = std::make_shared<Operation>();
    keep(op);
    run([&] { f(*op); });
    if (is_background) advance(op);
    return op;
  }
  /// As begin(), and waits for it.
  ///   what    what cannot be done, for the error
  ///   throws  errors::UnavailableError if it fails or takes more than so many seconds; the engine is then abandoned
  template <class F>
  std::shared_ptr<Operation> complete(double seconds, const char* what, const F& f);
  /// Waits for an operation, at most until `moment` (nanoseconds of the monotonic clock) or until give_up() is true.
  ///   returns  whether its state has changed
  template <class GiveUp>
  bool wait(const std::shared_ptr<Operation>& op, i64 moment, const GiveUp& give_up);
  /// Whether an operation needs the thread to advance it while nobody waits.
  bool wants_advance(std::size_t bytes) const { return !is_direct_ || (may_test_ && bytes >= background_bytes); }
  /// From now on nobody of this process calls MPI. Returns when whoever is inside of it has come out. MPI may be told
  /// of buffers that it still knows: a network card to which other ranks write directly, or a rank of this machine that
  /// copies from memory to memory, can reach them until the process ends.
  void abandon() noexcept;
  /// Whether the ranks of this machine have fewer processors than there are ranks. One that waits then offers its
  /// processor to the others after a few tests. Without need it does so rarely: another program may take the offer,
  /// and keep the processor for a time slice of milliseconds.
  void set_shares_processors(bool shares) { tests_at_once_.store(shares ? 20 : 2000, std::memory_order_relaxed); }
  bool is_abandoned() const { return abandoned_.load(std::memory_order_relaxed); }
  /// What leave() asks while it waits for the other ranks: whether one of them is lost.
  void watch(std::weak_ptr<Liveness> liveness) {
    const std::lock_guard lock(mutex_);
    watched_ = std::move(liveness);
  }
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
  explicit Engine(double timeout) : timeout_(timeout) {}
  bool start();
  void check_abandoned() const;
  void advance(std::shared_ptr<Operation> op);
  void keep(const std::shared_ptr<Operation>& op);
  bool sees_a_loss();
  void run_on_thread(Task& task);
  void initialize();
  void loop();
  void run_tasks(std::unique_lock<std::mutex>& lock);
  bool test(Operation& op);  // under calls_
  bool test_background(std::vector<std::shared_ptr<Operation>>& running);
  bool poll(const std::shared_ptr<Operation>& op, i64 moment);
  void finalize_mpi();

  bool is_direct_ = false, owns_mpi_ = true;
  bool may_test_ = true;  // in the background: whether nobody else of the process calls MPI, or MPI allows it
  const double timeout_;
  std::mutex calls_;  // held by whoever calls MPI, if several threads may
  std::mutex mutex_;  // guards what follows
  std::condition_variable wake_, changed_;
  std::deque<Task*> tasks_;
  std::vector<std::shared_ptr<Operation>> background_, kept_;
  std::weak_ptr<Liveness> watched_;
  bool is_ready_ = false, ends_ = false;
  std::exception_ptr failure_;
  std::atomic<bool> abandoned_{false};
  std::atomic<int> waiting_{0};
  std::atomic<int> tests_at_once_{20};  // before a rank that waits offers its core to others
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

template <class F>
std::shared_ptr<Operation> Engine::complete(double seconds, const char* what, const F& f) {
  const std::shared_ptr<Operation> op = begin(!is_direct_, f);
  const i64 moment = distribute::detail::moment_after(seconds);
  if (wait(op, moment, [] { return false; }) && op->state.load() == Operation::done) return op;
  const std::string why = op->state.load() == Operation::failed ? op->error : "not all ranks have come in time";
  abandon();
  errors::raise<errors::UnavailableError>("mpi", std::string(what) + ": " + why);
}

}  // namespace TANDEM_NS::distribute::impl::mpi
