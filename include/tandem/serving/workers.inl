// Definitions of serving/workers.hpp.
#pragma once
#include <chrono>

#include "tandem/serving/workers.hpp"

namespace TANDEM_NS::serving::impl {

TANDEM_INLINE Workers::~Workers() {
  std::unique_lock lock(mutex_);
  stop_ = true;
  wake_.notify_all();
  ended_.wait(lock, [&] { return threads_ == 0; });
}
TANDEM_INLINE void Workers::add(std::unique_ptr<Task> task) {
  const std::lock_guard lock(mutex_);
  tasks_.push_back(std::move(task));
  if (idle_ >= static_cast<int>(tasks_.size())) return wake_.notify_one();
  try {
    std::thread([this] { work(); }).detach();
    ++threads_;
  } catch (...) {
    tasks_.pop_back();
    throw;
  }
}
TANDEM_INLINE void Workers::work() {
  constexpr std::chrono::seconds patience(30);
  std::unique_lock lock(mutex_);
  for (;;) {
    ++idle_;
    const bool has_task = wake_.wait_for(lock, patience, [&] { return stop_ || !tasks_.empty(); }) && !tasks_.empty();
    --idle_;
    if (!has_task) break;
    std::unique_ptr<Task> task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task->run();
    task.reset();  // what it holds is let go without the lock
    lock.lock();
  }
  --threads_;
  ended_.notify_all();
}

}  // namespace TANDEM_NS::serving::impl
