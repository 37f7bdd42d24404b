// Definitions of serving/crew.hpp.
#pragma once
#include <exception>

#include "tandem/serving/crew.hpp"

namespace TANDEM_NS::serving::impl {

inline constexpr int base_crew = 2;
inline constexpr std::int64_t slow_call = 200'000;  // nanoseconds

TANDEM_INLINE Crew::Crew(CrewWork& work, int most)
    : work_(work), most_(most > base_crew ? most : base_crew + 1), limit_(most_) {}
TANDEM_INLINE void Crew::start() {
  for (int i = 0; i < base_crew; ++i) add(true);
  watcher_ = std::thread([this] { watch(); });
}
TANDEM_INLINE void Crew::join() {
  std::unique_lock lock(mutex_);
  stop_ = true;
  wake_.notify_all();
  ended_.wait(lock, [&] { return threads_ == 0; });
  lock.unlock();
  if (watcher_.joinable()) watcher_.join();
}

TANDEM_INLINE void Crew::add(bool stays) {
  ++threads_;  // counted at once: who asks meanwhile must not add another one
  try {
    std::thread([this, stays] { run(stays); }).detach();
  } catch (...) {
    --threads_;
    throw;
  }
}
// No thread to be had, or no memory: those that there are go on, and the last one that is free stays out of models.
TANDEM_INLINE bool Crew::try_add() noexcept {
  if (threads_ >= most_) return false;
  try {
    add(false);
    return true;
  } catch (const std::exception&) {
    limit_ = threads_.load();
    return false;
  }
}
TANDEM_INLINE bool Crew::lets_go(bool is_idle) {
  const bool another_is_free = threads_ - busy_ > 1;
  return another_is_free && (is_idle || average_ < slow_call);
}
TANDEM_INLINE void Crew::run(bool stays) {
  work_.work(stays);
  const std::lock_guard lock(mutex_);
  --threads_;
  ended_.notify_all();
}

// While there is work, looks every millisecond whether all threads are stuck in models. Without work it sleeps.
TANDEM_INLINE void Crew::watch() {
  constexpr std::chrono::milliseconds tick(1);
  constexpr int most_quiet = 100, most_stuck = 5, check_every = 50, try_again_every = 1000;  // ticks
  std::unique_lock lock(mutex_);
  std::uint64_t begun = begun_, over = over_;
  unsigned ticks = 0;
  for (int quiet = 0, stuck = 0; !stop_; ++ticks) {
    if (quiet >= most_quiet) {
      is_parked_ = true;
      // What has begun before it was parked has not woken it.
      if (begun_ == begun && busy_ == 0) wake_.wait(lock, [&] { return stop_ || !is_parked_; });
      is_parked_ = false, quiet = 0;
    }
    if (wake_.wait_for(lock, tick, [&] { return stop_; })) break;
    quiet = begun_ == begun && busy_ == 0 ? quiet + 1 : 0;
    stuck = over_ == over && is_stuck() ? stuck + 1 : over_ == over ? stuck : 0;
    begun = begun_, over = over_;
    if (stuck >= most_stuck && is_stuck()) try_add();
    if (limit_ < most_ && ticks % try_again_every == 0 && try_add()) limit_ = most_;
    if (ticks % check_every == 0) check_scopes();
  }
}

TANDEM_INLINE void Crew::check_scopes() {
  const auto overdue = std::chrono::steady_clock::now() - std::chrono::milliseconds(50);
  const std::lock_guard lock(scopes_mutex_);
  for (const Slow* s = scopes_; s; s = s->after_)
    if (s->begin_ < overdue) s->check_->check();
}

TANDEM_INLINE Crew::Slow::Slow(Crew& crew, CrewCheck* check)
    : crew_(crew), check_(check), begin_(std::chrono::steady_clock::now()), may_(true) {
  if (check_) {
    const std::lock_guard lock(crew_.scopes_mutex_);
    after_ = crew_.scopes_;
    if (after_) after_->before_ = this;
    crew_.scopes_ = this;
  }
  ++crew_.busy_, ++crew_.begun_;
  if (crew_.is_parked_) {
    const std::lock_guard lock(crew_.mutex_);
    crew_.is_parked_ = false;
    crew_.wake_.notify_all();
  }
  if (!crew_.is_stuck()) return;
  if (crew_.threads_ >= crew_.limit_) may_ = false;
  else if (crew_.average_ > slow_call) may_ = crew_.try_add();
}
TANDEM_INLINE Crew::Slow::~Slow() {
  if (check_) {
    const std::lock_guard lock(crew_.scopes_mutex_);
    (before_ ? before_->after_ : crew_.scopes_) = after_;
    if (after_) after_->before_ = before_;
  }
  const std::int64_t took =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - begin_).count();
  const std::int64_t before = crew_.average_.load(std::memory_order_relaxed);
  crew_.average_.store(before + (took - before) / 8, std::memory_order_relaxed);
  --crew_.busy_, ++crew_.over_;
}

}  // namespace TANDEM_NS::serving::impl
