// Definitions of distribute_mpi/engine.hpp.
#pragma once
#include <sched.h>
#include <sys/prctl.h>

#include <chrono>
#include <cstdlib>
#include <cstring>

#include "tandem/distribute/leave_at_exit.hpp"
#include "tandem/distribute/start_thread.hpp"
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
  if (the_engine.engine) return **the_engine.engine;
  const std::shared_ptr<Engine> e(new Engine(timeout));
  distribute::detail::leave_at_exit(e);
  the_engine.engine = new std::shared_ptr<Engine>(e);
  return *e;
}

TANDEM_INLINE Engine::Engine(double timeout) : timeout_(timeout) {
  thread_ = distribute::detail::start_thread("mpi", [this] { loop(); });
  std::unique_lock lock(mutex_);
  while (!is_ready_) changed_.wait(lock);
  if (!failure_) return;
  lock.unlock();
  thread_.join();
  std::rethrow_exception(failure_);
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
          "the program has initialized MPI for one thread: call MPI_Init_thread with MPI_THREAD_SERIALIZED, or "
          "leave it to Communicator::world()");
  } else {
    check(MPI_Init_thread(nullptr, nullptr, is_funneled ? MPI_THREAD_FUNNELED : MPI_THREAD_SERIALIZED, &level),
          "MPI_Init_thread");
    if (level < MPI_THREAD_FUNNELED)
      errors::raise<errors::FailedPreconditionError>("mpi", "this MPI cannot be used by programs with threads");
  }
  all_reduce_algorithm.prepare();
  is_direct_ = !is_funneled && level >= MPI_THREAD_SERIALIZED;
}

TANDEM_INLINE void Engine::run_on_thread(Task& task) {
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
  const std::lock_guard lock(calls_);
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
  if (is_done) op.state.store(Operation::done, std::memory_order_release);
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
  for (int i = 0; i < 20; ++i) {
    const std::lock_guard lock(calls_);
    if (is_abandoned()) return false;
    if (test(*op)) return true;
  }
  ::sched_yield();  // ranks may be more than cores
  return false;
}

// At exit(). Ranks wait for each other: one that still writes a file would otherwise be ended by mpirun.
TANDEM_INLINE void Engine::leave(int status) {
  if (status == 0 && owns_mpi_ && !is_abandoned()) finalize_mpi();
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  wake_.notify_all();
  is_abandoned() ? thread_.detach() : thread_.join();
}

TANDEM_INLINE void Engine::finalize_mpi() {
  int is_finalized = 0;
  const auto barrier = std::make_shared<Operation>();
  run([&] {
    MPI_Finalized(&is_finalized);
    if (is_finalized) return;
    barrier->requests.resize(1);
    if (MPI_Ibarrier(MPI_COMM_WORLD, barrier->requests.data()) != MPI_SUCCESS) barrier->state = Operation::failed;
  });
  if (is_finalized) return;
  if (!is_direct_) advance(barrier);
  const i64 moment = tandem::detail::nanoseconds_now() + static_cast<i64>(timeout_ * 1e9);
  if (!wait(barrier, moment, [] { return false; }) || barrier->state != Operation::done) return;
  Task end;  // by the thread that has initialized MPI
  end.f = this;
  end.call = [](const void*) { MPI_Finalize(); };
  run_on_thread(end);
}

}  // namespace TANDEM_NS::distribute::impl::mpi
