// WaitList: those who wait for something, until their calls end. For the definitions of serving.
#pragma once
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "tandem/core/cancel.hpp"

namespace TANDEM_NS::serving::impl {

/// How often it is looked whether a request that waits was cancelled.
inline constexpr int cancel_check_ms = 10;

/// Threads that wait with one mutex until they are called, or the scope of their call ends. One of them looks for all
/// whether that is so, so that many who wait take no processor time from those who run.
class WaitList {
 public:
  struct Waiter {
    bool is_called = false;
    std::condition_variable wake;

   private:
    friend WaitList;
    const CallScope* scope = nullptr;
    bool has_ended = false;
    Waiter *before = nullptr, *after = nullptr;
  };

  /// Waits until call() or until `scope` ends; returns at once if it was called before. The lock is that of the list.
  void wait(std::unique_lock<std::mutex>& lock, Waiter& self, const CallScope& scope) {
    add(self, scope);
    while (!self.is_called && !self.has_ended) {
      if (!looks_) looks_ = &self;
      if (looks_ != &self) {
        self.wake.wait(lock);
        continue;
      }
      self.wake.wait_for(lock, std::chrono::milliseconds(cancel_check_ms));
      look();
    }
    remove(self);
  }
  /// With the lock. The waiter must exist until it has returned from wait().
  static void call(Waiter& waiter) {
    waiter.is_called = true;
    waiter.wake.notify_one();
  }

 private:
  void add(Waiter& self, const CallScope& scope) {
    self.scope = &scope, self.has_ended = scope.ends();
    self.before = nullptr, self.after = first_;
    if (first_) first_->before = &self;
    first_ = &self;
  }
  void remove(const Waiter& self) {
    (self.before ? self.before->after : first_) = self.after;
    if (self.after) self.after->before = self.before;
    if (looks_ != &self) return;
    looks_ = first_;  // it becomes the one that looks when it wakes
    if (first_) first_->wake.notify_one();
  }
  void look() const {
    for (Waiter* w = first_; w; w = w->after) {
      if (w->has_ended || w->is_called || !w->scope->ends()) continue;
      w->has_ended = true;
      w->wake.notify_one();
    }
  }

  Waiter* first_ = nullptr;
  Waiter* looks_ = nullptr;
};

}  // namespace TANDEM_NS::serving::impl
