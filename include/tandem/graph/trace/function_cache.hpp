// FunctionCache: finds, makes, bounds and explains the traces of one function by signature.
#pragma once
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "tandem/base/warning.hpp"
#include "tandem/graph/debug/debug.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/graph/trace/tree.hpp"
#include "tandem/graph/trace/turn.hpp"
#include "tandem/module/frozen.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

struct FunctionOptions {
  std::string name = "function";
  /// One spec for each tensor argument; dims may be `none`. One trace then serves all calls, and every call is
  /// checked against it. Devices are those of the arguments, and there is one trace for each.
  std::vector<Spec> input_signature = {};
  /// After a retrace for another size, the dims that differ become unknown.
  bool reduce_retracing = false;
  int max_traces = 64;  ///< the least recently used trace is evicted
  ExecutionOptions execution = {};
  /// Detects mistakes that tracing hides, at several times the cost. Each new trace is made twice, the second time
  /// with other values in the Variables, and must give the same graph. The first 3 calls of each trace are also made
  /// eagerly and op by op, and must agree (host side effects in the code happen each time). A difference raises
  /// FailedPreconditionError, which names the node and its source line. No other thread may use the function's
  /// Variables meanwhile.
  bool debug = false;
  bool warn_on_retracing = true;  ///< a warning at the sixth trace, which says why it was made
};

/// Why a trace was made.
struct TraceRecord {
  std::string signature;           ///< "float32[32,784], 3"
  std::string reason;              ///< "argument 0 is float32[16,784]; the nearest trace has float32[32,784]"
  std::string advice;              ///< how to avoid the trace; empty for the first
  std::vector<std::string> hints;  ///< possible improvements of the traced code: advice() of graph/passes/passes.hpp
  double seconds = 0;
};

/// A trace, with the non-tensor part of its results.
struct Traced final : Opaque {
  using Run = FunctionRun;
  using Body = FunctionBody;
  const char* kind() const override { return "trace"; }

  tree::Key key;
  std::vector<Spec> specs;
  std::vector<std::string> words;
  Ref<ConcreteFunction> function;
  Ref<Opaque> result;
  std::vector<unsigned char> plain;
  std::atomic<int> checks_left = 0;  // calls that are still to be compared with eager ones, or other processes' traces
  std::atomic<bool> must_agree = false;  // whether the next one is to be compared with the traces of other processes
  bool depends_on_frozen = false;        // whether the code asked which modules are frozen,
  u64 frozen = 0;                        // and their detail::frozen_state() when it was traced
  LeanVector<PlaceRead> places;          // what the code has read that may be replaced
  u64 used = 0;

  TANDEM_LAZY bool fits(const tree::Flat& call) const;
  /// Whether the modules are frozen that were frozen when it was traced, or it does not depend on them; and all that
  /// it has read is still there.
  TANDEM_LAZY bool is_current() const {
    return (!depends_on_frozen || frozen == detail::frozen_state()) && !replaced();
  }
  /// What it has read and was replaced since, or null: the trace does not become current again.
  TANDEM_LAZY const Replaceable* replaced() const {
    for (const PlaceRead& read : places)
      if (!read.is_current()) return read.place.get();
    return nullptr;
  }
  /// Tells a trace in progress, of which this call becomes a part, what it then depends on, too.
  TANDEM_LAZY void tell_dependence() const;
};

class TANDEM_API FunctionCache final : public Opaque {
 public:
  TANDEM_LAZY explicit FunctionCache(FunctionOptions options);
  const char* kind() const override { return "function"; }

  /// The most specific matching trace, or null.
  ///   throws  errors::InvalidArgumentError for tensors that the input signature does not allow
  TANDEM_LAZY Ref<Traced> find(const tree::Flat& call);
  /// Raises TraceError for tensors that belong to a finished trace.
  TANDEM_LAZY void check_values(const tree::Flat& call) const;
  /// Traces the body and keeps the trace; nothing is kept if it throws.
  TANDEM_LAZY Ref<Traced> trace(const tree::Flat& call, std::vector<std::string> words, Traced::Body body);

  /// Checks one of a trace's first calls. With .debug: raises unless it gives the same as an eager call. In a
  /// strategy's scope, unless the processes have traced the same.
  TANDEM_LAZY void check(Traced& traced, const tree::Flat& call, Traced::Body body);

  TANDEM_LAZY int trace_count() const;
  TANDEM_LAZY std::vector<TraceRecord> trace_log() const;

 private:
  // A trace in progress.
  struct Open {
    const void* thread;
    const tree::Flat* call;
    std::string signature;
  };
  TANDEM_LAZY void check_signature(const tree::Flat& call) const;
  TANDEM_LAZY std::vector<Spec> specs_to_trace(const tree::Flat& call) const;
  TANDEM_LAZY const Open* check_recursion(const tree::Flat& call) const;
  TANDEM_LAZY TraceRecord explain(const std::vector<std::string>& words, const Open* caller) const;
  TANDEM_LAZY Ref<Traced> make(const tree::Flat& call, std::vector<std::string> words, Traced::Body body);
  TANDEM_LAZY void agree(Traced& traced);
  TANDEM_LAZY void trace_again(const Traced& first, Traced::Body body) const;
  TANDEM_LAZY Ref<Traced> keep(Ref<Traced> traced, TraceRecord record);

  const FunctionOptions options_;
  mutable std::mutex mutex_;
  Turn turn_;                       // held while the body is traced
  LeanVector<Open> open_;           // innermost last; accessed only by the holder of the turn
  LeanVector<Ref<Traced>> traces_;  // those with fewer unknown dims first; this and below guarded by mutex_
  std::vector<TraceRecord> log_;    // the latest ones
  LeanVector<u64> agreed_;          // the strategies whose processes have compared a trace
  int trace_count_ = 0;
  u64 clock_ = 0;
};

namespace detail {
/// Adds this thread's replication to a key: a trace has its collectives.
TANDEM_LAZY TANDEM_API void add_replication(tree::Flat& flat);
}  // namespace detail

}  // namespace TANDEM_NS
