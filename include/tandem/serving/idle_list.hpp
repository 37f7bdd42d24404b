// IdleList: closes connections that have waited too long for a request. For the definitions of serving.
#pragma once
#include <atomic>
#include <chrono>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::serving::impl {

/// What may wait for a request, and until when. Its owner sets it for each request, at no more than the cost of a
/// store.
class IdleTime {
 public:
  using Clock = std::chrono::steady_clock;
  void set(Clock::time_point until) { until_.store(until.time_since_epoch().count(), std::memory_order_relaxed); }
  /// It does not wait.
  void clear() { set(Clock::time_point::max()); }
  bool is_over(Clock::time_point now) const {
    return until_.load(std::memory_order_relaxed) <= now.time_since_epoch().count();
  }

 private:
  std::atomic<Clock::rep> until_{Clock::time_point::max().time_since_epoch().count()};
};

/// The connections of a server, which are looked at together from time to time: a timer for each request would cost
/// more than many a request, a system call and a turn of the threads.
class IdleList {
 public:
  /// A connection.
  struct Member {
    /// Called by sweep() on the thread of its caller when the time is over.
    virtual void end() = 0;

   protected:
    ~Member() = default;
  };
  struct Entry {
    std::weak_ptr<Member> member;
    const IdleTime* time;
  };
  using Place = std::list<Entry>::iterator;

  Place add(std::weak_ptr<Member> member, const IdleTime& time) {
    const std::lock_guard lock(mutex_);
    return entries_.insert(entries_.end(), {std::move(member), &time});
  }
  /// Before its IdleTime ends.
  void remove(Place place) {
    const std::lock_guard lock(mutex_);
    entries_.erase(place);
  }
  /// Ends those whose time is over.
  void sweep(IdleTime::Clock::time_point now) {
    std::vector<std::shared_ptr<Member>> late;  // let go without the lock: the last reference removes the entry
    {
      const std::lock_guard lock(mutex_);
      late.reserve(entries_.size());  // with the lock, none may be let go for lack of memory
      for (const Entry& e : entries_)
        if (e.time->is_over(now)) late.push_back(e.member.lock());
    }
    for (const auto& member : late)
      if (member) member->end();
  }

 private:
  std::mutex mutex_;
  std::list<Entry> entries_;
};

}  // namespace TANDEM_NS::serving::impl
