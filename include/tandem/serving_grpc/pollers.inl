// Definitions of serving_grpc/pollers.hpp.
#pragma once
#include <grpcpp/completion_queue.h>

#include <chrono>
#include <system_error>

#include "tandem/serving_grpc/pollers.hpp"

namespace TANDEM_NS::serving::impl {

inline constexpr int base_pollers = 2;

TANDEM_INLINE Pollers::Pollers(::grpc::CompletionQueue& queue, int most)
    : queue_(queue), most_(most > base_pollers ? most : base_pollers + 1) {}
TANDEM_INLINE void Pollers::start() {
  for (int i = 0; i < base_pollers; ++i) add(true);
  watcher_ = std::thread([this] { watch(); });
}
TANDEM_INLINE Pollers::~Pollers() {
  std::unique_lock lock(mutex_);
  stop_ = true;
  wake_.notify_all();
  ended_.wait(lock, [&] { return threads_ == 0; });
  lock.unlock();
  if (watcher_.joinable()) watcher_.join();
}

TANDEM_INLINE void Pollers::add(bool stays) {
  ++threads_, ++idle_;  // counted at once: who asks meanwhile must not add another one
  try {
    std::thread([this, stays] { poll(stays); }).detach();
  } catch (...) {
    --threads_, --idle_;
    throw;
  }
}
// No thread to be had, or no memory: those that there are go on.
TANDEM_INLINE bool Pollers::try_add() noexcept {
  if (threads_ >= most_) return false;
  try {
    add(false);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

TANDEM_INLINE void Pollers::poll(bool stays) {
  constexpr std::chrono::seconds patience(5);
  for (;;) {
    void* tag = nullptr;
    bool ok = false;
    const auto status = queue_.AsyncNext(
        &tag, &ok, stays ? std::chrono::system_clock::time_point::max() : std::chrono::system_clock::now() + patience);
    if (status != ::grpc::CompletionQueue::GOT_EVENT) break;  // shut down, or nothing to do for a while
    --idle_, ++events_;
    static_cast<CallEvent*>(tag)->on(ok);
    ++idle_;
  }
  --idle_;
  const std::lock_guard lock(mutex_);
  --threads_;
  ended_.notify_all();
}

// While there is work, looks every millisecond whether all threads are stuck. Without work it sleeps.
TANDEM_INLINE void Pollers::watch() {
  constexpr std::chrono::milliseconds tick(1);
  constexpr int most_quiet = 100;  // ticks
  std::unique_lock lock(mutex_);
  std::uint64_t seen = events_;
  for (int quiet = 0; !stop_;) {
    if (quiet >= most_quiet) {
      is_parked_ = true;
      // An event that came before it was parked has not woken it.
      if (events_ == seen && idle_ > 0) wake_.wait(lock, [&] { return stop_ || !is_parked_; });
      is_parked_ = false, quiet = 0;
    }
    wake_.wait_for(lock, tick, [&] { return stop_; });
    const std::uint64_t now = events_;
    const bool is_still = now == seen;
    seen = now;
    if (is_still && idle_ <= 0) try_add();
    quiet = is_still && idle_ > 0 ? quiet + 1 : 0;
  }
}

TANDEM_INLINE Pollers::Slow::Slow(Pollers& pollers)
    : pollers_(pollers), begin_(std::chrono::steady_clock::now()), may_(true) {
  constexpr std::int64_t slow = 200'000;  // nanoseconds
  if (pollers_.is_parked_) {
    const std::lock_guard lock(pollers_.mutex_);
    pollers_.is_parked_ = false;
    pollers_.wake_.notify_all();
  }
  if (pollers_.idle_ > 0) return;
  if (pollers_.threads_ >= pollers_.most_) may_ = false;
  else if (pollers_.average_ > slow) pollers_.try_add();
}
TANDEM_INLINE Pollers::Slow::~Slow() {
  const std::int64_t took =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin_).count();
  const std::int64_t before = pollers_.average_.load(std::memory_order_relaxed);
  pollers_.average_.store(before + (took - before) / 8, std::memory_order_relaxed);
}

}  // namespace TANDEM_NS::serving::impl
