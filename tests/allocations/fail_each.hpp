// Makes each allocation of a call fail, one after the other, alone and with all that follow, and checks what is left:
// the program goes on, each Variable has its value from before or after, nothing leaks, and a call that changed nothing
// can be repeated. TANDEM_FAULTS=1000000 test_allocations "faults*" tries all allocations of each call, not some of
// them.
#pragma once
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tandem/core/allocator_state.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/module/module.hpp"
#include "tests/allocations/counted.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/environment.hpp"

namespace faults {

using Bytes = std::vector<unsigned char>;
using State = std::map<std::string, Bytes>;  // by the Variable's path

/// What is tried: the call, and the state that it may change. Each attempt makes a new one.
struct Scenario {
  virtual ~Scenario() = default;
  virtual tandem::Tensor run() = 0;
  virtual std::vector<tandem::Module::Named> variables() const = 0;
  /// Makes Variables that run() would make.
  virtual void build() {}
  /// Whether run() changes all Variables or none.
  virtual bool is_atomic() const { return false; }
  /// Checks what is not in Variables, after a failed run() and after a complete one; returns what is wrong.
  virtual std::string other_state(bool /*complete*/) { return {}; }
};

inline Bytes bytes_of(const tandem::Tensor& t) {
  if (!t.is_set()) return {};
  const auto* p = static_cast<const unsigned char*>(t.raw());
  return {p, p + t.spec().bytes()};
}
inline State state_of(const Scenario& s) {
  State r;
  for (const tandem::Module::Named& n : s.variables()) r[n.path] = bytes_of(n.variable.value_untracked());
  return r;
}

/// Switches the library's free lists off, so that each block is an allocation, and the other threads.
class NoFreeLists {
 public:
  NoFreeLists() : threads_(tandem::config::intra_op_parallelism_threads()), bound_(tandem::memory::central().bound) {
    tandem::config::set_intra_op_parallelism_threads(1);
    tandem::memory::Blocks::release(tandem::memory::Blocks::allocate(1), 1);  // the thread has a list from now on
    tandem::memory::trim();
    for (std::uint16_t& room : tandem::context.cache->room) room = 0;
    tandem::memory::central().bound = -1;
  }
  NoFreeLists(const NoFreeLists&) = delete;
  ~NoFreeLists() {
    for (int c = 0; c < tandem::memory::classes; ++c) tandem::context.cache->room[c] = tandem::memory::most_kept(c);
    tandem::memory::central().bound = bound_;
    tandem::config::set_intra_op_parallelism_threads(threads_);
  }

 private:
  int threads_;
  std::int64_t bound_;
};

struct Reference {
  State before, built, after;
  Bytes result;
  long allocations = 0;  // of run()
};

// What was live before an attempt and is not after it, or the reverse.
struct Balance {
  long news = counted::live_news.load();
  std::int64_t blocks = tandem::memory::info().live;
  bool operator==(const Balance&) const = default;
};

enum class Ended { complete, failed, wrongly };

// One call with failing allocations.
inline Ended attempt(Scenario& s, const counted::Failing& failing, Bytes& result) {
  Ended ended = Ended::failed;
  counted::failing = failing;
  try {
    const tandem::Tensor y = s.run();
    counted::failing = {};
    result = bytes_of(y);
    return Ended::complete;
  } catch (const tandem::errors::ResourceExhaustedError&) {
    counted::failing = {};
  } catch (const std::bad_alloc&) {
    counted::failing = {};
  } catch (...) {
    counted::failing = {};
    ended = Ended::wrongly;
  }
  return ended;
}

inline std::string check_values(const Scenario& s, const State& now, const Reference& reference, bool& unchanged) {
  bool any_new = false;
  unchanged = true;
  for (const auto& [path, value] : now) {
    const auto is_in = [&, &path = path, &value = value](const State& state) {
      const auto at = state.find(path);
      return at != state.end() && at->second == value;
    };
    const bool is_old = is_in(reference.before) || is_in(reference.built), is_new = is_in(reference.after);
    if (!is_old && !is_new) return path + " has a value that is neither from before nor from after";
    unchanged &= is_old;
    any_new |= !is_old;
  }
  for (const auto& [path, value] : reference.before)
    if (!now.contains(path)) return path + " is missing";
  if (s.is_atomic() && any_new && now != reference.after) return "some Variables changed, not all";
  return {};
}
// After a failure: what is wrong.
inline std::string check_failed(Scenario& s, const Reference& reference) {
  bool unchanged = false;
  if (std::string wrong = check_values(s, state_of(s), reference, unchanged); !wrong.empty()) return wrong;
  if (std::string wrong = s.other_state(false); !wrong.empty()) return wrong;
  const Bytes result = bytes_of(s.run());  // must not raise
  if (!unchanged) return {};
  if (result != reference.result) return "the repeated call returns something else";
  if (state_of(s) != reference.after) return "the repeated call leaves another state";
  return s.other_state(true);
}
inline std::string check_complete(Scenario& s, const Reference& reference, const Bytes& result) {
  if (result != reference.result) return "it did not raise, and returns something else";
  if (state_of(s) != reference.after) return "it did not raise, and leaves another state";
  return s.other_state(true);
}

template <class Make>
Reference reference_of(const Make& make) {
  Reference r;
  for (int i = 0; i < 2; ++i) make()->run();  // what the library makes once
  {
    const auto s = make();
    s->build();
    r.built = state_of(*s);
  }
  const auto s = make();
  r.before = state_of(*s);
  const long before = counted::allocations;
  const tandem::Tensor y = s->run();
  r.allocations = counted::allocations - before;
  r.result = bytes_of(y);
  r.after = state_of(*s);
  return r;
}

/// Tries `points` allocations of make()->run(), evenly distributed, or all of them.
template <class Make>
void fail_each(const Make& make, long points) {
  const NoFreeLists off;
  points = static_cast<long>(testing::number_from("TANDEM_FAULTS", static_cast<std::uint64_t>(points)));
  const Reference reference = reference_of(make);
  REQUIRE(reference.allocations > 0);
  long failed = 0;
  for (const bool all : {false, true})
    for (long i = 0, last = -1; i < points; ++i) {
      const long n = i * reference.allocations / points;
      if (n == std::exchange(last, n)) continue;
      INFO("allocation " << n << " of " << reference.allocations << (all ? " and all that follow" : " alone"));
      std::string wrong;
      const Balance before;
      {
        const auto s = make();
        Bytes result;
        const Ended ended = attempt(*s, {.left = n, .all = all}, result);
        failed += ended == Ended::failed;
        try {
          wrong = ended == Ended::complete ? check_complete(*s, reference, result)
                  : ended == Ended::failed ? check_failed(*s, reference)
                                           : "it raised an error of another kind";
        } catch (const std::exception& e) {
          wrong = std::string("the next call raises ") + e.what();
        }
      }
      if (wrong.empty() && !(Balance() == before))
        wrong = "leaked " + std::to_string(counted::live_news - before.news) + " objects and " +
                std::to_string(tandem::memory::info().live - before.blocks) + " bytes of blocks";
      CHECK(wrong == "");
    }
  CHECK(failed > 0);
}

}  // namespace faults
