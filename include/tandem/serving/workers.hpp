// Workers: threads for requests, as many as there are requests. For the definitions of serving.
#pragma once
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

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
  void run(std::function<void()> task);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable wake_, ended_;
  std::deque<std::function<void()>> tasks_;
  int idle_ = 0, threads_ = 0;
  bool stop_ = false;
};

}  // namespace TANDEM_NS::serving::impl
