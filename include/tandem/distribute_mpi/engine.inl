// Definitions of distribute_mpi/engine.hpp.
#pragma once
#include <sched.h>
#include <sys/prctl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>

#include "tandem/distribute/leave_at_exit.hpp"
#include "tandem/distribute/start_thread.hpp"
#include "tandem/distribute/texts.hpp"
#include "tandem/distribute_mpi/algorithm.hpp"
#include "tandem/distribute_mpi/engine.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::distribute::impl::mpi {

// Made by the first call, and never destroyed: the thread may be inside of MPI when the process ends.
struct TheEngine {
  std::mutex mutex;
  std::shared_ptr<Engine>* engine = nullptr;
};
TANDEM_INLINE constinit TheEngine the_engine{};

TANDEM_INLINE Engine& Engine::get(double timeout) {
  const std::lock_guard lock(the_engine.mutex);
  if (the_engine.engine) {
    (*the_engine.engine)->check_abandoned();
    return **the_engine.engine;
  }
  const std::shared_ptr<Engine> e(new Engine(timeout));
  const bool is_ready = e->start();
  the_engine.engine = new std::shared_ptr<Engine>(e);
  if (!is_ready) {
    e->abandoned_.store(true);  // its thread may still be inside of MPI
    errors::raise<errors::UnavailableError>("mpi", "MPI_Init_thread has not returned within " +
                                                       distribute::impl::seconds_text(timeout) +
                                                       ": a process is missing");
  }
  distribute::detail::leave_at_exit(e);
  return *e;
}

// Returns whether MPI is initialized in time.
TANDEM_INLINE bool Engine::start() {
  thread_ = distribute::detail::start_thread("mpi", [this] { loop(); });
  std::unique_lock lock(mutex_);
  const i64 moment = distribute::detail::moment_after(timeout_);
  while (!is_ready_) {
    const i64 left = moment - tandem::detail::nanoseconds_now();
    if (left <= 0) {
      thread_.detach();
      return false;
    }
    changed_.wait_for(lock, std::chrono::nanoseconds(std::min<i64>(left, 1'000'000'000)));
  }
  if (!failure_) return true;
  lock.unlock();
  thread_.join();
  std::rethrow_exception(failure_);
}

TANDEM_INLINE void Engine::check_abandoned() const {
  if (is_abandoned()) errors::raise<errors::UnavailableError>("mpi", "the group was aborted");
}

TANDEM_INLINE void Engine::abandon() noexcept {
  abandoned_.store(true);
  const std::lock_guard lock(calls_);  // whoever takes it for a call of MPI looks at the flag first
}

TANDEM_INLINE void Engine::keep(const std::shared_ptr<Operation>& op) {
  const std::lock_guard lock(mutex_);
  if (!is_abandoned()) std::erase_if(kept_, [](const auto& o) { return o->state.load() == Operation::done; });
  kept_.push_back(op);
}

TANDEM_INLINE bool Engine::sees_a_loss() {
  std::unique_lock lock(mutex_);
  const std::shared_ptr<Liveness> liveness = watched_.lock();
  lock.unlock();
  return liveness && liveness->lost() > 0;
}

// On the engine's thread, which is MPI's main thread then.
TANDEM_INLINE void Engine::initialize() {
  int is_initialized = 0, is_finalized = 0, level = MPI_THREAD_SINGLE;
  MPI_Finalized(&is_finalized);
  if (is_finalized) errors::raise<errors::FailedPreconditionError>("mpi", "the program has finalized MPI");
  MPI_Initialized(&is_initialized);
  const char* const funneled = std::getenv("TANDEM_MPI_FUNNELED");
  const bool is_funneled = funneled && std::strcmp(funneled, "1") == 0;
  owns_mpi_ = !is_initialized;
  if (is_initialized) {
    check(MPI_Query_thread(&level), "MPI_Query_thread");
    if (level < MPI_THREAD_SERIALIZED)
      errors::raise<errors::FailedPreconditionError>(
          "mpi",
          "the program has initialized MPI for one thread: call MPI_Init_thread with MPI_THREAD_MULTIPLE, or leave it "
          "to Communicator::world()");
    if (is_funneled && level < MPI_THREAD_MULTIPLE)
      errors::raise<errors::FailedPreconditionError>(
          "mpi", "TANDEM_MPI_FUNNELED=1 in a program that has initialized MPI itself needs MPI_THREAD_MULTIPLE");
    may_test_ = level >= MPI_THREAD_MULTIPLE;
  } else {
    check(MPI_Init_thread(nullptr, nullptr, is_funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED, &level),
          "MPI_Init_thread");
    if (level < MPI_THREAD_FUNNELED)
      errors::raise<errors::FailedPreconditionError>("mpi", "this MPI cannot be used by programs with threads");
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  }
  all_reduce_algorithm.prepare();
  is_direct_ = !is_funneled && level >= MPI_THREAD_SERIALIZED;
}

TANDEM_INLINE void Engine::run_on_thread(Task& task) {
  check_abandoned();
  std::unique_lock lock(mutex_);
  tasks_.push_back(&task);
  wake_.notify_all();
  while (!task.is_done) changed_.wait(lock);
  if (task.error) std::rethrow_exception(task.error);
}

TANDEM_INLINE void Engine::advance(std::shared_ptr<Operation> op) {
  const std::lock_guard lock(mutex_);
  background_.push_back(std::move(op));
  wake_.notify_all();
}

TANDEM_INLINE void Engine::run_tasks(std::unique_lock<std::mutex>& lock) {
  while (!tasks_.empty()) {
    Task* const task = tasks_.front();
    tasks_.pop_front();
    lock.unlock();
    try {
      const std::lock_guard alone(calls_);
      check_abandoned();
      task->call(task->f);
    } catch (...) {
      task->error = std::current_exception();  // run_on_thread() raises it again
    }
    lock.lock();
    task->is_done = true;
    changed_.notify_all();
  }
}

TANDEM_INLINE void Engine::loop() {
  ::prctl(PR_SET_TIMERSLACK, 1000UL);  // waits of microseconds do not become waits of 50 more
  std::unique_lock lock(mutex_);
  try {
    initialize();
  } catch (...) {
    failure_ = std::current_exception();  // get() raises it again
  }
  is_ready_ = true;
  changed_.notify_all();
  if (failure_) return;
  std::vector<std::shared_ptr<Operation>> running;
  for (;;) {
    run_tasks(lock);
    if (ends_) return;
    const bool are_new = !background_.empty();
    running.insert(running.end(), background_.begin(), background_.end());
    background_.clear();
    if (running.empty()) {
      wake_.wait(lock);
      continue;
    }
    if (are_new && is_direct_) {  // most often somebody begins to wait at once, and calls MPI himself
      wake_.wait_for(lock, std::chrono::microseconds(100));
      if (!tasks_.empty()) continue;
    }
    lock.unlock();
    const bool has_ended = test_background(running);
    if (!has_ended && !is_direct_ && waiting_.load(std::memory_order_relaxed)) ::sched_yield();
    lock.lock();
    if (has_ended) {
      changed_.notify_all();
    } else if (const bool is_awaited = waiting_.load(std::memory_order_relaxed) > 0;
               tasks_.empty() && !ends_ && (is_direct_ || !is_awaited)) {
      wake_.wait_for(lock, std::chrono::microseconds(is_awaited ? 1000 : 30));
    }
  }
}

// Whether one of the operations has ended; those that have are removed. A thread that waits tests itself, if it may.
TANDEM_INLINE bool Engine::test_background(std::vector<std::shared_ptr<Operation>>& running) {
  if (is_direct_ && waiting_.load(std::memory_order_relaxed)) {
    std::erase_if(running, [](const auto& op) { return op->state.load() != Operation::runs; });
    return false;
  }
  const std::lock_guard lock(calls_);  // abandon() waits for it, and the flag is looked at under it
  return std::erase_if(running, [this](const auto& op) { return is_abandoned() || test(*op); }) > 0;
}

TANDEM_INLINE bool Engine::test(Operation& op) {
  if (op.state.load(std::memory_order_relaxed) != Operation::runs) return true;
  int is_done = 0;
  const int status =
      MPI_Testall(static_cast<int>(op.requests.size()), op.requests.data(), &is_done, MPI_STATUSES_IGNORE);
  if (status != MPI_SUCCESS) {
    op.error = text_of(status);
    op.state.store(Operation::failed, std::memory_order_release);
    return true;
  }
  if (is_done) {
    op.ended = tandem::detail::nanoseconds_now();
    op.state.store(Operation::done, std::memory_order_release);
  }
  return is_done != 0;
}

// Tests the operation a number of times, or sleeps until the thread has found it done.
TANDEM_INLINE bool Engine::poll(const std::shared_ptr<Operation>& op, i64 moment) {
  if (op->state.load(std::memory_order_acquire) != Operation::runs) return true;
  if (!is_direct_) {
    std::unique_lock lock(mutex_);
    const i64 left = std::min<i64>(moment - tandem::detail::nanoseconds_now(), 100'000'000);
    changed_.wait_for(lock, std::chrono::nanoseconds(std::max<i64>(left, 0)),
                      [&] { return op->state.load(std::memory_order_acquire) != Operation::runs; });
    return op->state.load(std::memory_order_acquire) != Operation::runs;
  }
  const int tests = tests_at_once_.load(std::memory_order_relaxed);
  for (int i = 0; i < tests; ++i) {
    const std::lock_guard lock(calls_);
    if (is_abandoned()) return false;
    if (test(*op)) return true;
  }
  ::sched_yield();
  return false;
}

// At exit(). Ranks wait for each other: one that still writes a file would otherwise be ended by mpirun.
TANDEM_INLINE void Engine::leave(int status) {
  const bool was_abandoned = is_abandoned();
  if (status == 0 && owns_mpi_ && !was_abandoned) {
    try {
      finalize_mpi();
    } catch (const errors::UnavailableError&) {
      // Another thread has abandoned the engine meanwhile.
    }
  }
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  was_abandoned ? thread_.detach() : thread_.join();
  abandoned_.store(true);  // for threads that are left
}

TANDEM_INLINE void Engine::finalize_mpi() {
  int is_finalized = 0;
  run([&] { MPI_Finalized(&is_finalized); });
  if (is_finalized) return;
  const auto barrier = begin(!is_direct_, [](Operation& op) {
    op.requests.resize(1, MPI_REQUEST_NULL);
    if (MPI_Ibarrier(MPI_COMM_WORLD, op.requests.data()) != MPI_SUCCESS) op.state = Operation::failed;
  });
  i64 lost_since = 0;
  const auto gives_up = [&] {
    if (!sees_a_loss()) return lost_since = 0, false;
    if (lost_since == 0) lost_since = tandem::detail::nanoseconds_now();
    return distribute::detail::seconds_since(lost_since) > 0.5;  // what it sent before may still be on its way
  };
  if (!wait(barrier, distribute::detail::moment_after(timeout_), gives_up) || barrier->state != Operation::done) return;
  Task end;  // by the thread that has initialized MPI
  end.f = this;
  end.call = [](const void*) { MPI_Finalize(); };
  run_on_thread(end);
}

}  // namespace TANDEM_NS::distribute::impl::mpi
