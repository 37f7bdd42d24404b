// Workers: threads for requests, as many as there are requests. For the definitions of serving.
#pragma once
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "tandem/config.hpp"

namespace TANDEM_NS::serving::impl {

/// Runs each task on a thread at once: on an idle one, or on a new one. A thread that has had nothing to do for a while
/// ends. So a request never waits for a thread, only for its model's turn (run_slots.hpp).
class Workers {
 public:
  Workers() = default;
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;
  /// Waits for the tasks.
  ~Workers();
  /// The task must not throw.
  ///   throws  std::system_error if there can be no more threads, std::bad_alloc; then the task does not run
  template <class F>
  void run(F task) {
    add(std::make_unique<TaskOf<F>>(std::move(task)));
  }

 private:
  struct Task {
    virtual ~Task() = default;
    virtual void run() = 0;
  };
  template <class F>
  struct TaskOf final : Task {
    explicit TaskOf(F f) : f_(std::move(f)) {}
    void run() override { f_(); }
    F f_;
  };
  void add(std::unique_ptr<Task> task);
  void work();

  std::mutex mutex_;
  std::condition_variable wake_, ended_;
  std::deque<std::unique_ptr<Task>> tasks_;
  int idle_ = 0, threads_ = 0;
  bool stop_ = false;
};

}  // namespace TANDEM_NS::serving::impl
