// Definitions of distribute/liveness.hpp. A heartbeat is the line "STEP BEGUN STATE NODE" under the rank's key.
#pragma once
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "tandem/base/error.hpp"
#include "tandem/distribute/liveness.hpp"
#include "tandem/distribute/socket.hpp"
#include "tandem/distribute/start_thread.hpp"
#include "tandem/distribute/tcp_store_wire.hpp"
#include "tandem/util/format.hpp"
#include "tandem/util/host_name.hpp"
#include "tandem/util/threads.hpp"

namespace TANDEM_NS::distribute::impl {

namespace liveness {

/// What a rank has said last. `doing`: "works", "left", "failed".
struct Sign {
  i64 step = -1, begun = 0;
  std::string doing{}, node{};
};

inline std::string line(const Sign& s) {
  return std::to_string(s.step) + " " + std::to_string(s.begun) + " " + s.doing + " " + s.node;
}
inline std::optional<Sign> parse(std::string_view text) {
  std::string_view words[3];
  for (std::string_view& word : words) {
    const std::size_t n = text.find(' ');
    if (n == std::string_view::npos) return std::nullopt;
    word = text.substr(0, n), text.remove_prefix(n + 1);
  }
  Sign s;
  if (!distribute::detail::to_number(words[0], s.step) || !distribute::detail::to_number(words[1], s.begun))
    return std::nullopt;
  s.doing = words[2], s.node = text;
  return s;
}

inline std::string seconds_text(double s) { return tandem::detail::fixed_text(s, s < 9.95 ? 1 : 0) + " s"; }
inline std::string rank_text(int rank, const std::string& node) {
  return "rank " + std::to_string(rank) + " (node " + node + ")";
}

}  // namespace liveness

struct Liveness::State {
  LivenessOptions options;
  double period;
  std::string key, store_node{};
  TcpStore store;  // of the heartbeats
  std::mutex asking{};
  std::optional<TcpStore> questions{};  // what ask() asks; guarded by `asking`
  std::atomic<i64> step{-1}, begun{0}, last_answer{0}, begun_at{0};
  std::atomic<int> lost{0};
  std::atomic<bool> has_failed{false}, sees_newcomers{false};
  std::mutex mutex{};          // guards `ends`
  std::mutex telling{};        // from a heartbeat to its answer in `lost`, so that answers are noted in their order
  std::vector<int> members{};  // who waits no more, whatever the store says; guarded by `telling`
  std::condition_variable ended{};
  bool ends = false;
  std::thread thread{};

  explicit State(const LivenessOptions& o)
      : options(o),
        period(std::clamp(o.timeout / 8, 0.05, 1.)),
        key(o.folder + std::to_string(o.rank)),
        store(o.store, std::min(o.timeout, 15.)) {
    questions.emplace(o.store, std::min(o.timeout, 15.));
    store.set_timeout(patience());
    beat();
    store.tie(key);
  }
  // Calls f(store) by another connection than that of the heartbeats, whose answers may take so many seconds. One
  // without an answer is of no use any more: the next question connects again, in half a second, if somebody listens.
  template <class F>
  auto ask(double seconds, const F& f) {
    const std::lock_guard lock(asking);
    if (!questions) {
      if (is_refused()) errors::raise<errors::UnavailableError>("Liveness", "nobody keeps the heartbeats any more");
      questions.emplace(options.store, 0.5);
    }
    questions->set_timeout(seconds);
    try {
      return f(*questions);
    } catch (const errors::UnavailableError&) {
      questions.reset();
      throw;
    }
  }
  // By the connection of the questions, if there is one and nobody waits for its answer; otherwise the next heartbeat
  // says it.
  void tell_failed() {
    const std::unique_lock lock(asking, std::try_to_lock);
    if (!lock || !questions) return;
    questions->set_timeout(0.5);
    questions->set(key, line("failed"));
  }
  std::vector<TcpStore::Entry> entries(double seconds) {
    return ask(seconds, [this](TcpStore& by) { return by.list(options.folder); });
  }
  std::string line(const char* doing) const { return liveness::line({step.load(), begun.load(), doing, options.node}); }
  void tell(TcpStore& by, const char* doing) {
    lost.store(static_cast<int>(by.set(key, line(doing))), std::memory_order_relaxed);
    last_answer.store(tandem::detail::nanoseconds_now(), std::memory_order_relaxed);
  }
  void beat() {
    const std::lock_guard lock(telling);
    tell(store, has_failed ? "failed" : "works");
    if (options.newcomers.empty()) return;
    const std::vector<TcpStore::Entry> all = store.list(options.newcomers);
    const auto is_newcomer = [this](const TcpStore::Entry& e) { return waits_to_join(e) && !is_member(e.key); };
    sees_newcomers.store(std::any_of(all.begin(), all.end(), is_newcomer), std::memory_order_relaxed);
  }
  // One that the group has taken in may write once more that it waits, before it knows.
  bool is_member(const std::string& newcomer) const {
    i64 number = 0;
    return distribute::detail::to_number(std::string_view(newcomer).substr(options.newcomers.size()), number) &&
           std::find(members.begin(), members.end(), number) != members.end();
  }
  // Once a period, until the end or until the store is gone; a store that does not answer counts as a lost rank.
  void run() {
    std::unique_lock lock(mutex);
    while (!ends) {
      if (ended.wait_for(lock, std::chrono::duration<double>(period), [this] { return ends; })) return;
      lock.unlock();
      try {
        beat();
      } catch (const std::exception&) {
        if (!reconnect()) {
          lost.store(1, std::memory_order_relaxed);
          return;
        }
      }
      lock.lock();
    }
  }
  // After a heartbeat without an answer. Returns false if nobody listens any more, the group's timeout has passed since
  // the last answer, or the process ends.
  bool reconnect() {
    for (;;) {
      const auto tried = distribute::detail::try_connect(options.store.host, options.store.port,
                                                         distribute::detail::moment_after(period));
      if (tried.was_refused || distribute::detail::seconds_since(last_answer.load()) > options.timeout) return false;
      try {
        TcpStore again(options.store, period);
        again.set_timeout(patience());
        const std::lock_guard alone(telling);
        tell(again, has_failed ? "failed" : "works");
        again.tie(key);
        store = std::move(again);  // the old connection ends after the key is tied to the new one
        return true;
      } catch (const std::exception&) {
        // Not yet.
      }
      std::unique_lock lock(mutex);
      if (ended.wait_for(lock, std::chrono::duration<double>(period), [this] { return ends; })) return false;
    }
  }
  // Seconds until a heartbeat without an answer is tried by another connection.
  double patience() const { return std::clamp(options.timeout / 4, period, 10.); }
  // What is worth saying about one rank; empty if it is well.
  std::string about(int rank, const TcpStore::Entry& e) const {
    const std::optional<liveness::Sign> s = liveness::parse(e.value);
    if (!s) return "rank " + std::to_string(rank) + " sends damaged heartbeats";
    const std::string who = liveness::rank_text(rank, s->node);
    const std::string at = s->step < 0 ? "" : " at step " + std::to_string(s->step);
    const std::string seen = who + " was last seen" + at + ", " + liveness::seconds_text(e.age) + " ago";
    if (s->doing == "failed") return {};
    if (s->doing == "left") return who + " has left the group" + at + ", " + liveness::seconds_text(e.age) + " ago";
    if (e.is_lost) return seen + " (its process has ended)";
    if (e.age > 2.5 * period) return seen;
    const i64 own = begun.load();
    // The others' last heartbeats come after this rank began its operation: they know.
    if (distribute::detail::seconds_since(begun_at.load()) < 1.5 * period || s->begun >= own || rank == options.rank)
      return {};
    return who + " is alive" + at + ", but has begun " + std::to_string(s->begun) +
           " operations of its groups, and rank " + std::to_string(options.rank) + " " + std::to_string(own);
  }
  // Whether the machine of the store answers, but nobody listens there.
  bool is_refused() const {
    const i64 moment = distribute::detail::moment_after(0.5);
    return distribute::detail::try_connect(options.store.host, options.store.port, moment).was_refused;
  }
  double silence() const { return distribute::detail::seconds_since(last_answer.load()); }
  bool is_store_silent() const { return silence() > 2.5 * period; }
  // One question without an answer does not say so.
  bool is_store_gone() const {
    if (is_store_silent() || lost.load() > 0) return true;
    return is_refused();
  }
  std::string store_is_silent() const {
    return std::string(options.keeper) + ", which keeps the heartbeats, was last seen " +
           liveness::seconds_text(silence()) + " ago";
  }
};

TANDEM_INLINE Liveness::Liveness(const LivenessOptions& options) : state_(new State(options)) {
  State* const s = state_.get();
  s->thread = distribute::detail::start_thread("Liveness", [s] { s->run(); });
}
TANDEM_INLINE Liveness::~Liveness() { leave(); }
TANDEM_INLINE void Liveness::leave() {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->ends) return;
    state_->ends = true;
  }
  state_->ended.notify_all();
  state_->thread.join();
  try {
    state_->store.set_timeout(0.5);
    state_->tell(state_->store, "left");
    state_->store.untie(state_->key);
  } catch (const errors::UnavailableError&) {
    // The store has gone before: there is nobody to tell.
  }
}

TANDEM_INLINE void Liveness::report_step(i64 step) { state_->step.store(step, std::memory_order_relaxed); }
TANDEM_INLINE void Liveness::report_begun(i64 n) {
  state_->begun.store(n, std::memory_order_relaxed);
  state_->begun_at.store(tandem::detail::nanoseconds_now(), std::memory_order_relaxed);
}
TANDEM_INLINE void Liveness::give_up() {
  state_->has_failed.store(true);
  try {
    state_->tell_failed();
  } catch (const std::exception&) {
    // The store has gone before: there is nobody to tell.
  }
}
TANDEM_INLINE void Liveness::go_on(const std::vector<int>& members) {
  TcpStore store(state_->options.store, 3);
  const std::lock_guard lock(state_->telling);  // waits for the answer of a heartbeat that has begun
  state_->has_failed.store(false);
  state_->members = members;
  state_->sees_newcomers.store(false, std::memory_order_relaxed);  // as of a heartbeat before they were taken in
  state_->tell(store, "works");
}
TANDEM_INLINE std::vector<int> Liveness::living(TcpStore& store, double silent) const {
  std::vector<int> ranks;
  const std::string& folder = state_->options.folder;
  for (const TcpStore::Entry& e : store.list(folder)) {
    const std::optional<liveness::Sign> s = liveness::parse(e.value);
    i64 rank = 0;
    if (s && s->doing != "left" && !e.is_lost && e.age < silent &&
        distribute::detail::to_number(std::string_view(e.key).substr(folder.size()), rank))
      ranks.push_back(static_cast<int>(rank));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}
TANDEM_INLINE void Liveness::forget(TcpStore& store, Span<const int> ranks) const {
  for (const int rank : ranks) {
    const std::string key = state_->options.folder + std::to_string(rank);
    store.set(key, liveness::line({-1, 0, "left", "?"}));
    store.tie(key), store.untie(key);  // its own connection does not matter any more
  }
}
TANDEM_INLINE bool Liveness::sees_newcomers() const { return state_->sees_newcomers.load(std::memory_order_relaxed); }
TANDEM_INLINE int Liveness::lost() const { return state_->lost.load(std::memory_order_relaxed); }

TANDEM_INLINE std::string Liveness::missing(Span<const int> ranks) const {
  std::vector<TcpStore::Entry> entries;
  try {
    entries = state_->entries(state_->is_store_silent() ? 0.5 : 3);
  } catch (const errors::UnavailableError&) {
    return state_->is_store_gone() ? state_->store_is_silent() : std::string();
  }
  constexpr int most = 8;
  std::string text;
  int found = 0;
  std::vector<int> asked(ranks.begin(), ranks.end());
  for (int rank = 0; ranks.empty() && rank < state_->options.size; ++rank) asked.push_back(rank);
  for (const int rank : asked) {
    const std::string key = state_->options.folder + std::to_string(rank);
    const auto entry = std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.key == key; });
    const std::string about =
        entry == entries.end() ? "rank " + std::to_string(rank) + " was never seen" : state_->about(rank, *entry);
    if (!about.empty() && ++found <= most) text += (text.empty() ? "" : "; ") + about;
  }
  if (found > most) text += "; and " + std::to_string(found - most) + " other ranks";
  return text;
}

TANDEM_INLINE std::string Liveness::missing_within(double seconds, Span<const int> ranks) const {
  const i64 end = distribute::detail::moment_after(seconds);
  for (;;) {
    std::string text = missing(ranks);
    if (!text.empty() || tandem::detail::nanoseconds_now() >= end) return text;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

TANDEM_INLINE void Liveness::wait_until_all_left(double seconds) const {
  const i64 end = distribute::detail::moment_after(seconds);
  const auto is_gone = [this](const TcpStore::Entry& e) {
    const std::optional<liveness::Sign> s = liveness::parse(e.value);
    return e.key == state_->key || e.is_lost || (s && s->doing != "works");
  };
  try {
    while (tandem::detail::nanoseconds_now() < end) {
      const std::vector<TcpStore::Entry> entries = state_->entries(0.5);
      if (std::all_of(entries.begin(), entries.end(), is_gone)) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  } catch (const errors::UnavailableError&) {
    // Without a store nobody can be waited for.
  }
}

TANDEM_INLINE std::string node_name() { return tandem::detail::host_name(); }

}  // namespace TANDEM_NS::distribute::impl
