// Definitions of data/dataset/ahead.hpp.
//
// Slots are claimed in the order of reading, several at a time where elements are cheap: the lock is then taken once
// for all of them. Two locks: `input` for reading, which may take long, and `mutex` for the states of slots.
#pragma once
#include <algorithm>
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

struct Ahead::State {
  struct Slot {
    bool done = false;
    std::exception_ptr error;
  };

  State(const StageInfo& i, const Workers& w, i64 n)
      : info(i),
        counts((w.stage ? w.stage : &i)->counts()),
        workers(w),
        size(n > 0 ? n : 16 * i64{w.threads} + 224),
        usual(n > 0 ? n : 4 * i64{w.threads} + 8),
        slots(static_cast<std::size_t>(size)),
        limit(w.adapt ? std::min<i64>(2, usual) : usual) {}

  const StageInfo& info;
  StageCounts& counts;
  const Workers workers;
  const i64 size;      // the number of slots
  const i64 usual;     // those that are used unless elements are cheap
  std::mutex input;    // taken before mutex
  bool ended = false;  // guarded by input: the end was read

  std::mutex mutex;  // guards what follows
  tandem::detail::Condition room, ready;
  std::vector<Slot> slots;
  std::vector<i64> finished;                           // of an unordered stage: slots whose element is done
  std::vector<i64> free;                               // of an unordered stage: slots to be claimed
  i64 claimed = 0, taken = 0, released = 0, end = -1;  // numbers of elements
  i64 limit;                                           // slots that may be in use, and thereby threads that may work
  int running = 0;                                     // threads that have not ended
  bool stop = false;
  i64 chunk = 1, most_of_claim = 64;  // elements of one claim
  bool waiting = false;               // the consumer sleeps

  // Of the consumer alone.
  i64 local_ready = 0;  // elements that are known to be done, in order
  i64 held = -1;        // of an unordered stage: the slot that was handed out
  i64 started = 0;
  std::vector<std::thread> threads;
};

// The slots that a thread works on, and what has gone wrong for each.
struct Ahead::Claim {
  std::vector<i64> slots;
  std::vector<std::exception_ptr> errors;
};

TANDEM_INLINE Ahead::Ahead(const StageInfo& stage, const Workers& workers, i64 slots)
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

// Waits for room; returns the first slot's element number, and how many elements may be read. -1: the thread ends.
TANDEM_INLINE i64 Ahead::claim(i64& count) {
  State& s = *state_;
  std::unique_lock lock(s.mutex);
  while (!s.stop && s.claimed - s.released >= s.limit) s.room.wait(lock);
  if (s.stop) return -1;
  count = std::min(s.chunk, s.limit - (s.claimed - s.released));
  const i64 first = s.claimed;
  s.claimed += count;
  return first;
}

// Reads inputs into the slots of one claim; false if there is no more work after these.
TANDEM_INLINE bool Ahead::read_some(Claim& mine) {
  State& s = *state_;
  const std::lock_guard input(s.input);
  i64 count = 0;
  const i64 first = s.ended ? -1 : claim(count);
  if (first < 0) return false;
  for (i64 i = 0; i < count && !s.ended; ++i) {
    i64 slot = (first + i) % s.size;
    if (!s.workers.ordered) {
      const std::lock_guard lock(s.mutex);
      slot = s.free.back(), s.free.pop_back();
    }
    std::exception_ptr error;
    try {
      s.ended = !read(slot);
    } catch (...) {
      error = std::current_exception();
    }
    if (!s.ended) {
      mine.slots.push_back(slot), mine.errors.push_back(error);
      continue;
    }
    const std::lock_guard lock(s.mutex);
    s.end = first + i, s.claimed = s.end;
    if (!s.workers.ordered) s.free.push_back(slot);
  }
  return !s.ended;
}

// Hands over the elements of a claim, and chooses the size of the next ones by the time that they took.
TANDEM_INLINE void Ahead::finish_some(Claim& mine, i64 time) {
  State& s = *state_;
  const i64 n = static_cast<i64>(mine.slots.size());
  if (n == 0) return;
  constexpr i64 short_time = 10'000, long_time = 50'000;  // of a claim, which takes the lock once
  const std::lock_guard lock(s.mutex);
  for (std::size_t i = 0; i < mine.slots.size(); ++i) {
    State::Slot& slot = s.slots[static_cast<std::size_t>(mine.slots[i])];
    slot.error = std::move(mine.errors[i]), slot.done = true;
    if (!s.workers.ordered) s.finished.push_back(mine.slots[i]);
  }
  if (time < short_time * n && s.limit < s.size) s.limit = std::min(2 * s.limit, s.size);
  const i64 most =
      std::clamp<i64>(s.limit / (2 * s.workers.threads), 1, s.most_of_claim);  // leaves room for all threads
  if (time < short_time) s.chunk = std::min(2 * s.chunk, most);
  else if (time > long_time) s.chunk = std::max<i64>(1, s.chunk / 2);
  if (s.waiting) s.ready.notify_all();
}

TANDEM_INLINE void Ahead::run() {
  State& s = *state_;
  const tandem::detail::SerialOps serial;
  Claim mine;
  for (bool more = true; more;) {
    mine.slots.clear(), mine.errors.clear();
    more = read_some(mine);
    const i64 begin = tandem::detail::nanoseconds_now();
    for (std::size_t i = 0; i < mine.slots.size(); ++i) {
      if (mine.errors[i]) continue;
      try {
        compute(mine.slots[i]);
      } catch (...) {
        mine.errors[i] = std::current_exception();
      }
    }
    finish_some(mine, tandem::detail::nanoseconds_now() - begin);
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

TANDEM_INLINE i64 Ahead::take() {
  State& s = *state_;
  if (s.threads.empty()) start();
  const auto next_done = [&] { return s.slots[static_cast<std::size_t>(s.taken % s.size)].done; };
  if (s.workers.ordered && s.taken < s.local_ready) {
    State::Slot& slot = s.slots[static_cast<std::size_t>(s.taken % s.size)];
    s.counts.elements.fetch_add(1, std::memory_order_relaxed);
    const i64 at = s.taken++ % s.size;
    if (slot.error) std::rethrow_exception(std::exchange(slot.error, nullptr));
    return at;
  }
  std::unique_lock lock(s.mutex);
  // What was handed out before is free again.
  if (s.workers.ordered) {
    for (; s.released < s.taken; ++s.released) s.slots[static_cast<std::size_t>(s.released % s.size)].done = false;
  } else if (s.held >= 0) {
    s.slots[static_cast<std::size_t>(s.held)].done = false;
    s.free.push_back(std::exchange(s.held, -1));
    ++s.released;
  }
  s.room.notify_all();
  const auto is_ready = [&] { return s.workers.ordered ? next_done() : !s.finished.empty(); };
  const auto is_over = [&] { return s.end >= 0 && s.taken >= s.end; };
  if (!is_ready() && !is_over()) {
    const i64 begin = tandem::detail::nanoseconds_now();
    while (!is_ready() && !is_over()) {
      if (s.running == 0) return -1;
      s.waiting = true;
      s.room.notify_all();  // for a thread whose element is waited for
      s.ready.wait(lock);
    }
    s.waiting = false;
    s.counts.waited.fetch_add(tandem::detail::nanoseconds_now() - begin, std::memory_order_relaxed);
    if (s.workers.adapt) s.limit = std::max(s.limit, std::min(s.limit * 2, s.usual));
  }
  if (is_over() && !is_ready()) return -1;
  i64 at;
  if (s.workers.ordered) {
    i64 ready = s.taken;
    while (ready - s.taken < s.size / 2 + 1 && s.slots[static_cast<std::size_t>(ready % s.size)].done &&
           ready - s.released < s.size)
      ++ready;
    s.local_ready = ready;
    at = s.taken % s.size;
  } else {
    at = s.held = s.finished.front();
    s.finished.erase(s.finished.begin());
  }
  ++s.taken;
  s.counts.elements.fetch_add(1, std::memory_order_relaxed);
  std::exception_ptr error = std::exchange(s.slots[static_cast<std::size_t>(at)].error, nullptr);
  lock.unlock();
  if (error) std::rethrow_exception(error);
  return at;
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
