// Profiler: when each op ran, on which thread and for how long, as a file for ui.perfetto.dev or chrome://tracing.
// While none lives, an op pays one test of one byte.
#pragma once
#include <atomic>
#include <span>
#include <string>
#include <vector>

#include "tandem/base/location.hpp"
#include "tandem/base/ref.hpp"
#include "tandem/base/spec.hpp"

namespace TANDEM_NS {

struct ProfilerOptions {
  bool synchronize = false;            ///< wait for the device after each op; else its time is that of the launch
  std::size_t max_events = 1'000'000;  ///< what comes later is counted, not kept
};

/// A stretch of time of one thread.
struct ProfileEvent {
  const char* kind = "";        ///< "op" (eager), "step" (of a graph), "call" (of a graph), "trace", or "scope"
  std::string name;             ///< the user's name where there is one; of a step, the node's
  std::string op;               ///< the row's name; empty for what is no op
  std::string shapes;           ///< "float32[2,3] x float32[3,4] -> float32[2,4]"
  i64 bytes = 0;                ///< of all operands, inputs and outputs
  Loc where;                    ///< the user's line, where it is known
  int thread = 0;               ///< 1, 2, ... in the order of their first events
  i64 start = 0, duration = 0;  ///< nanoseconds since the profiler began
};

/// Times the ops, graph steps and calls of all threads from its construction until stop() or destruction.
///
///   Profiler profiler;
///   train_step(x, y);
///   profiler.write("trace.json");
class TANDEM_API Profiler {
 public:
  /// throws errors::FailedPreconditionError if another profiler is at work
  explicit Profiler(ProfilerOptions options = {});
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  ~Profiler();

  /// Nothing is timed from now on; what was stays readable.
  void stop();
  /// What was timed so far, in the order of ending.
  std::vector<ProfileEvent> events() const;
  /// How many events came after max_events.
  std::size_t dropped() const;
  /// The Trace Event Format's JSON.
  std::string json() const;
  /// Writes json() to a file.
  ///   throws  errors::UnavailableError if it cannot be written
  void write(const std::string& path) const;
  /// A table of ops: how often, total and mean time, bytes; the most expensive first.
  std::string summary() const;

 private:
  Ref<Opaque> recording_;
};

/// A named stretch of the calling thread, beside its ops: "epoch 3".
class TANDEM_API ProfileScope {
 public:
  explicit ProfileScope(std::string name) : ProfileScope("scope", std::move(name)) {}
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;
  ~ProfileScope();

  // For the library itself.
  ProfileScope(const char* kind, std::string name);

 private:
  const char* kind_;
  std::string name_;
  i64 start_;  // -1: nobody profiles
};

namespace detail {

// Only the library reads it; it is its own so that the test is one instruction on one address.
extern TANDEM_PRIVATE constinit std::atomic<bool> profiling;
inline bool is_profiling() { return __builtin_expect(profiling.load(std::memory_order_relaxed), 0); }

/// An op that has run.
struct TimedOp {
  const char* kind;
  const char* op;
  Name name;  // may be empty
  Loc where;
  std::span<const Spec*const> in, out;
};
i64 profile_now();
void profile_op(const TimedOp& op, i64 start);

}  // namespace detail

}  // namespace TANDEM_NS
