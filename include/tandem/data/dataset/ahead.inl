// Definitions of data/dataset/ahead.hpp.
//
// Slots are claimed in the order of reading, several at a time where elements are cheap: the lock is then taken once
// for all of them. Reading the next input, or computing it, may wait until the consumer has what was read before: where
// nothing comes for a millisecond the consumer takes that from the claim itself. Two locks: `input` for reading, which
// may take long, and `mutex` for the states of slots.
#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/base/serial_ops.hpp"
#include "tandem/data/dataset/ahead.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::data::detail {

// A condition variable whose waiters may spin for a few microseconds before they sleep: waking a thread takes longer
// than making a cheap element.
class Event {
 public:
  explicit Event(bool may_spin) : spin_time_(may_spin ? 5'000 : 0) {}
  /// With the lock held before and after; to be called in a loop. Sleeps for so long at most, 0: until notified.
  void wait(std::unique_lock<std::mutex>& lock, i64 most_nanoseconds = 0) {
    if (spin_time_ > 0) {
      const unsigned seen = count_.load(std::memory_order_relaxed);
      lock.unlock();
      const i64 end = tandem::detail::nanoseconds_now() + spin_time_;
      while (count_.load(std::memory_order_relaxed) == seen && tandem::detail::nanoseconds_now() < end) {
      }
      lock.lock();
      if (count_.load(std::memory_order_relaxed) != seen) return;
    }
    if (most_nanoseconds > 0) sleepers_.wait_for(lock, most_nanoseconds);
    else sleepers_.wait(lock);
  }
  /// With the lock held.
  void notify_all() {
    count_.fetch_add(1, std::memory_order_relaxed);
    sleepers_.notify_all();
  }

 private:
  const i64 spin_time_;  // nanoseconds
  std::atomic<unsigned> count_ = 0;
  tandem::detail::Condition sleepers_;
};

struct Ahead::State {
  struct Slot {
    bool done = false;
    std::exception_ptr error;
  };

  State(const StageInfo& i, const Workers& w, const Slots& n)
      : info(i),
        counts((w.stage ? w.stage : &i)->counts()),
        workers(w),
        size(n.all > 0 ? n.all : 16 * i64{w.threads} + 992),
        usual(n.usual > 0 ? n.usual
              : n.all > 0 ? n.all
                          : 4 * i64{w.threads} + 8),
        room(spins()),
        ready(spins()),
        slots(static_cast<std::size_t>(size)),
        limit(w.adapt ? std::min<i64>(2, usual) : usual) {}

  // Where a processor is left for the consumer.
  bool spins() const { return static_cast<unsigned>(workers.threads) < std::thread::hardware_concurrency(); }

  const StageInfo& info;
  StageCounts& counts;
  const Workers workers;
  const i64 size;      // the number of slots
  const i64 usual;     // those that are used unless elements are cheap
  std::mutex input;    // taken before mutex
  bool ended = false;  // guarded by input: the end was read

  std::mutex mutex;  // guards what follows
  Event room, ready;
  std::vector<Slot> slots;
  std::vector<i64> finished;                // of an unordered stage: slots whose element is done
  std::vector<i64> free;                    // of an unordered stage: slots to be claimed
  i64 claimed = 0, released = 0, end = -1;  // numbers of elements
  i64 limit;                                // slots that may be in use, and thereby threads that may work
  int running = 0;                          // threads that have not ended
  std::vector<Claim*> claims;               // those of more than one slot
  i64 chunk = 1, most_of_claim = 256;       // elements of one claim; at most Claim::most
  bool waiting = false;                     // the consumer waits
  std::atomic<bool> stop = false;           // set with the mutex held

  // Of the consumer alone.
  std::vector<i64> given;  // slots that are done, of which it has taken the first `used`
  std::size_t used = 0;
  i64 started = 0;
  std::vector<std::thread> threads;
};

// The slots that a thread works on, since when, and what has gone wrong for each.
struct Ahead::Claim {
  static constexpr i64 short_time = 20'000, long_time = 50'000;  // nanoseconds; a claim takes the lock once
  i64 begin = 0;
  /// Whether the first n have taken long. Looks for every fourth one.
  bool is_late(std::size_t n) const { return n % 4 == 0 && tandem::detail::nanoseconds_now() - begin > long_time; }
  std::vector<i64> slots;
  std::vector<std::exception_ptr> errors;

  // For the consumer's help. An element is computed by who has raised `next` to it, once it was read.
  static constexpr std::size_t most = 256;
  enum Progress : char { claimed, computed, handed };
  std::atomic<std::size_t> read = 0, next = 0;
  std::array<std::atomic<Progress>, most> states{};
  bool listed = false, helped = false;  // guarded by mutex: is in State::claims; is being helped

  void hand(Ahead::State& s, std::size_t i) {
    Ahead::State::Slot& slot = s.slots[static_cast<std::size_t>(slots[i])];
    slot.error = std::move(errors[i]), slot.done = true;
    if (!s.workers.ordered) s.finished.push_back(slots[i]);
    states[i].store(handed, std::memory_order_relaxed);
  }
};

TANDEM_INLINE Ahead::Ahead(const StageInfo& stage, const Workers& workers, const Slots& slots)
    : state_(std::make_unique<State>(stage, workers, slots)) {
  State& s = *state_;
  if (!workers.ordered)
    for (i64 i = s.size; i-- > 0;) s.free.push_back(i);
}
TANDEM_INLINE i64 Ahead::slots() const { return state_->size; }
TANDEM_INLINE void Ahead::hand_over_singly() { state_->most_of_claim = 1; }
TANDEM_INLINE Ahead::~Ahead() = default;

TANDEM_INLINE void Ahead::start() {
  State& s = *state_;
  s.started = tandem::detail::nanoseconds_now();
  s.counts.threads = s.workers.threads;
  try {
    for (int i = 0; i < s.workers.threads; ++i) {
      {
        const std::lock_guard lock(s.mutex);
        ++s.running;
      }
      s.threads.emplace_back([this] { run(); });
    }
  } catch (const std::system_error&) {
    const std::lock_guard lock(s.mutex);
    if (--s.running > 0) return;  // fewer threads do it, too
    errors::raise<errors::ResourceExhaustedError>(s.info.name(), "the system has no thread left to start");
  }
}

// Waits for room and claims the slots of the next elements; none if the thread is to end.
TANDEM_INLINE void Ahead::claim(Claim& mine) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  while (!s.stop && s.claimed - s.released >= s.limit) s.room.wait(lock);
  if (s.stop) return;
  for (i64 i = std::min(s.chunk, s.limit - (s.claimed - s.released)); i > 0; --i) {
    i64 slot = s.claimed++ % s.size;
    if (!s.workers.ordered) slot = s.free.back(), s.free.pop_back();
    mine.states[mine.slots.size()].store(Claim::claimed, std::memory_order_relaxed);
    mine.slots.push_back(slot);
  }
  mine.errors.resize(mine.slots.size());
  mine.read.store(0, std::memory_order_relaxed), mine.next.store(0, std::memory_order_relaxed);
  mine.listed = mine.slots.size() > 1;
  if (mine.listed) s.claims.push_back(&mine);
}
// Ends a claim, so that the consumer does not look at it any longer.
TANDEM_INLINE void Ahead::leave(Claim& mine) {
  State& s = *state_;
  if (mine.listed) {
    std::unique_lock lock(s.mutex);
    while (mine.helped) s.room.wait(lock);
    s.claims.erase(std::find(s.claims.begin(), s.claims.end(), &mine));
    mine.listed = false;
  }
  mine.slots.clear(), mine.errors.clear();
}

// Reads inputs into the slots of one claim; false if there is no more work after these. Slots for which there was no
// time are given back: nobody has claimed any after them.
TANDEM_INLINE bool Ahead::read_some(Claim& mine) {
  State& s = *state_;
  const std::lock_guard input(s.input);
  if (!s.ended) claim(mine);
  if (mine.slots.empty()) return false;
  mine.begin = tandem::detail::nanoseconds_now();
  std::size_t n = 0;
  while (n < mine.slots.size()) {
    try {
      if (!read(mine.slots[n])) {
        s.ended = true;
        break;
      }
    } catch (...) {
      mine.errors[n] = std::current_exception();
    }
    mine.read.store(++n, std::memory_order_release);
    if (s.stop || mine.is_late(n)) break;
  }
  if (n == mine.slots.size()) return true;
  const std::lock_guard lock(s.mutex);
  s.claimed -= std::ssize(mine.slots) - static_cast<i64>(n);
  if (s.ended) s.end = s.claimed;
  if (!s.workers.ordered) s.free.insert(s.free.end(), mine.slots.begin() + static_cast<i64>(n), mine.slots.end());
  mine.slots.resize(n), mine.errors.resize(n);
  return !s.ended;
}

// Computes the elements of a claim and hands them over, several times if they take long.
TANDEM_INLINE void Ahead::compute_some(Claim& mine) {
  std::size_t n = 0, first = 0;
  while (!state_->stop) {
    const std::size_t i = mine.next.fetch_add(1, std::memory_order_acq_rel);
    if (i >= mine.slots.size()) break;
    if (!mine.errors[i]) {
      try {
        compute(mine.slots[i]);
      } catch (...) {
        mine.errors[i] = std::current_exception();
      }
    }
    mine.states[i].store(Claim::computed, std::memory_order_release);
    n = i + 1;
    if (mine.is_late(n)) hand_over(mine, std::exchange(first, n), n);
  }
  if (n > first) hand_over(mine, first, n);
}

// Called by the consumer when it has waited for long: hands over what has been computed in claims, or computes what has
// been read and is the next element.
TANDEM_INLINE void Ahead::help(std::unique_lock<std::mutex>& lock) {
  State& s = *state_;
  bool found = false;
  for (Claim* const c : s.claims) {
    const std::size_t n = c->read.load(std::memory_order_acquire);
    for (std::size_t i = 0; i < n; ++i)
      if (c->states[i].load(std::memory_order_acquire) == Claim::computed) c->hand(s, i), found = true;
  }
  for (Claim* const c : s.claims) {
    std::size_t i = c->next.load(std::memory_order_acquire);
    if (found || i >= c->read.load(std::memory_order_acquire)) continue;
    if (s.workers.ordered && c->slots[i] != s.released % s.size) continue;
    if (!c->next.compare_exchange_strong(i, i + 1, std::memory_order_acq_rel)) continue;
    const i64 slot = c->slots[i];
    c->helped = true;
    lock.unlock();
    try {
      if (!c->errors[i]) compute(slot);
    } catch (...) {
      c->errors[i] = std::current_exception();
    }
    lock.lock();
    c->hand(s, i);
    c->helped = false;
    s.room.notify_all();
    return;
  }
}

// Hands over some of the elements of a claim, and chooses the size of the next ones by the time that they took.
TANDEM_INLINE void Ahead::hand_over(Claim& mine, std::size_t first, std::size_t last) {
  State& s = *state_;
  constexpr i64 cheap = 10'000, very_cheap = 1'000;  // nanoseconds, of an element
  const i64 n = static_cast<i64>(last - first), time = tandem::detail::nanoseconds_now() - mine.begin;
  const std::lock_guard lock(s.mutex);
  for (std::size_t i = first; i < last; ++i)
    if (mine.states[i].load(std::memory_order_relaxed) == Claim::computed) mine.hand(s, i);
  const i64 most_slots = time < n * very_cheap ? s.size : time < n * cheap ? std::min(s.size, s.usual + 240) : 0;
  if (s.limit < most_slots) s.limit = std::min(2 * s.limit, most_slots);
  const i64 most =
      std::clamp<i64>(s.limit / (2 * s.workers.threads), 1, s.most_of_claim);  // leaves room for all threads
  if (time > Claim::long_time) s.chunk = std::max<i64>(1, std::min(s.chunk / 2, n * Claim::long_time / time));
  else if (time < Claim::short_time && last == mine.slots.size()) s.chunk = std::min(2 * s.chunk, most);
  if (s.waiting) s.ready.notify_all();
  mine.begin += time;
}

TANDEM_INLINE void Ahead::run() {
  State& s = *state_;
  const tandem::detail::SerialOps serial;
  Claim mine;
  for (bool more = true; more;) {
    more = read_some(mine);
    compute_some(mine);
    leave(mine);
  }
  const std::lock_guard lock(s.mutex);
  --s.running;
  s.ready.notify_all();
  s.room.notify_all();
}

TANDEM_INLINE bool Ahead::wait_for_room(i64 slot, bool (*fits)(const void*), const void* context) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  for (;;) {
    const bool is_next = s.waiting && (s.workers.ordered ? s.released % s.size == slot : s.finished.empty());
    if (s.stop || is_next) return false;
    if (fits(context)) return true;
    s.room.wait(lock);
  }
}

// Gives the consumer slots whose elements are done, in place of those that it has used: one, or several where elements
// are cheap, since those that it has are not free for the threads. Leaves it without any at the end.
TANDEM_INLINE void Ahead::give() {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  for (const i64 slot : s.given) {
    s.slots[static_cast<std::size_t>(slot)].done = false;
    if (!s.workers.ordered) s.free.push_back(slot);
  }
  s.released += std::ssize(s.given);
  s.given.clear(), s.used = 0;
  s.room.notify_all();
  const auto done = [&](i64 slot) { return s.slots[static_cast<std::size_t>(slot)].done; };
  const auto is_ready = [&] { return s.workers.ordered ? done(s.released % s.size) : !s.finished.empty(); };
  const auto is_over = [&] { return (s.end >= 0 && s.released >= s.end) || s.running == 0; };
  if (!is_ready() && !is_over()) {
    const i64 begin = tandem::detail::nanoseconds_now();
    s.waiting = true;
    constexpr i64 millisecond = 1'000'000;
    for (i64 pause = millisecond; !is_ready() && !is_over(); pause = std::min(2 * pause, 16 * millisecond)) {
      s.room.notify_all();  // for a thread whose element is waited for
      s.ready.wait(lock, s.most_of_claim > 1 ? pause : 0);
      if (!is_ready() && tandem::detail::nanoseconds_now() - begin >= millisecond) help(lock);
    }
    s.waiting = false;
    s.counts.waited.fetch_add(tandem::detail::nanoseconds_now() - begin, std::memory_order_relaxed);
    if (s.workers.adapt) s.limit = std::max(s.limit, std::min(s.limit * 2, s.usual));
  }
  const i64 most = std::min(s.chunk, s.size / 2 + 1);
  if (s.workers.ordered) {
    for (i64 i = 0; i < most && done((s.released + i) % s.size); ++i) s.given.push_back((s.released + i) % s.size);
  } else {
    const auto last = s.finished.begin() + std::min(most, static_cast<i64>(s.finished.size()));
    s.given.assign(s.finished.begin(), last);
    s.finished.erase(s.finished.begin(), last);
  }
}

TANDEM_INLINE i64 Ahead::take() {
  State& s = *state_;
  if (s.threads.empty()) start();
  if (s.used == s.given.size()) give();
  if (s.given.empty()) return -1;
  const i64 slot = s.given[s.used++];
  s.counts.elements.fetch_add(1, std::memory_order_relaxed);
  State::Slot& element = s.slots[static_cast<std::size_t>(slot)];
  if (element.error) std::rethrow_exception(std::exchange(element.error, nullptr));
  return slot;
}

TANDEM_INLINE void Ahead::finish() noexcept {
  State& s = *state_;
  if (s.threads.empty()) return;
  {
    const std::lock_guard lock(s.mutex);
    s.stop = true;
    s.room.notify_all();
  }
  for (std::thread& thread : s.threads) thread.join();
  s.threads.clear();
  s.counts.elapsed.fetch_add(tandem::detail::nanoseconds_now() - s.started, std::memory_order_relaxed);
}

}  // namespace TANDEM_NS::data::detail
