// Profiler: records when each op ran, on which thread and for how long, as a file for ui.perfetto.dev or
// chrome://tracing. Without an active Profiler, an op pays one test of one byte.
#pragma once
#include <atomic>
#include <string>
#include <vector>

#include "tandem/base/location.hpp"
#include "tandem/base/span.hpp"
#include "tandem/base/spec.hpp"
#include "tandem/util/ref.hpp"

namespace TANDEM_NS {

struct ProfilerOptions {
  bool synchronize = false;            ///< wait for the device after each op; otherwise its time is that of the launch
  std::size_t max_events = 1'000'000;  ///< events beyond this number are counted, not kept
};

/// A time interval of one thread, or of an operation of several processes.
struct ProfileEvent {
  /// "op" (eager), "step" (of a graph), "call" (of a graph), "trace", "scope", or "collective" (an operation of a
  /// distribute::Communicator, from its begin to its end, while other events go on)
  const char* kind = "";
  std::string name;      ///< the user's name if there is one; of a step, the node's
  std::string op;        ///< the op's name; empty for events that are not ops
  std::string shapes;    ///< "float32[2,3] x float32[3,4] -> float32[2,4]"
  i64 bytes = 0;         ///< of all operands, inputs and outputs; of a collective, of this process's input
  SourceLocation where;  ///< the user's source location, if it is known
  int thread = 0;        ///< 1, 2, ... in the order of their first events; lanes of collectives have numbers, too
  i64 start = 0, duration = 0;  ///< nanoseconds since the profiler began
  i64 exposed = 0;              ///< of a collective: nanoseconds of its duration in which its caller waited for it
};

/// Records the ops, graph steps and calls of all threads from its construction until stop() or destruction.
///
///   Profiler profiler;
///   train_step(x, y);
///   profiler.write("trace.json");
class TANDEM_API Profiler {
 public:
  /// Starts profiling.
  ///   throws  errors::FailedPreconditionError if another profiler is active
  explicit Profiler(ProfilerOptions options = {});
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  ~Profiler();

  /// Stops profiling; the recorded events stay readable.
  void stop();
  /// The events recorded so far, in the order in which they ended.
  std::vector<ProfileEvent> events() const;
  /// The number of events dropped because of max_events, or because there was no memory for them.
  std::size_t dropped() const;
  /// The events as JSON in the Trace Event Format.
  std::string json() const;
  /// Writes json() to a file. A file that exists keeps its content until the new one is complete.
  ///   throws  errors::UnavailableError if it cannot be written
  void write(const std::string& path) const;
  /// A table of ops with count, total and mean time, and bytes; the most expensive first.
  std::string summary() const;

 private:
  Ref<Opaque> recording_;
};

/// A named interval of the calling thread, next to its ops: "epoch 3".
class TANDEM_API ProfileScope {
 public:
  [[nodiscard]] explicit ProfileScope(std::string name) : ProfileScope("scope", std::move(name)) {}
  ProfileScope(const ProfileScope&) = delete;
  ProfileScope& operator=(const ProfileScope&) = delete;
  ~ProfileScope();

  // For the library itself.
  [[nodiscard]] ProfileScope(const char* kind, std::string name);

 private:
  const char* kind_;
  std::string name_;
  i64 start_;  // -1: no profiler is active
};

namespace detail {

// Read only by the library; a separate variable, so that the test is one instruction on one address.
extern TANDEM_PRIVATE constinit std::atomic<bool> profiling;
inline bool is_profiling() { return __builtin_expect(profiling.load(std::memory_order_relaxed), 0); }

/// An op that has run.
struct TimedOp {
  const char* kind;
  const char* op;
  Name name;  // may be empty
  SourceLocation where;
  Span<const Spec*const> in, out;
};
i64 profile_now();
/// Records an op. Set by the first profiler: every op reaches this, and a program without a profiler would compile it.
extern TANDEM_PRIVATE constinit std::atomic<void (*)(const TimedOp&, i64 start)> op_recorder;
inline void profile_op(const TimedOp& op, i64 start) {
  if (const auto record = op_recorder.load(std::memory_order_acquire)) record(op, start);
}

/// For components: the moment, in nanoseconds, or -1 if no profiler is active.
TANDEM_API i64 profile_begin();
/// A collective operation that has ended, in nanoseconds.
struct TimedCollective {
  const char* op;
  std::string name, shapes;
  i64 bytes = 0, start = 0, end = 0, exposed = 0;
};
TANDEM_API void profile_collective(const TimedCollective& c);

}  // namespace detail

}  // namespace TANDEM_NS
