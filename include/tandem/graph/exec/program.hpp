// Program: a graph prepared for execution. Where all sizes are known, kernels run as prebuilt calls over one arena
// (plan.hpp), and in the steady state a call requests from the allocator only what its free lists hold. Otherwise
// the graph runs op by op.
#pragma once
#include <mutex>
#include <optional>
#include <string>

#include "tandem/core/apply.hpp"
#include "tandem/core/assign_all.hpp"
#include "tandem/graph/exec/call_values.hpp"
#include "tandem/graph/exec/plan.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/ops/random/element_keys.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

/// Holds the locks of all Variables that a call assigns, acquired in address order; locks already held by an outer
/// call on this thread are skipped. A thread that holds some waits for others only for a bounded time: the Variables
/// that a call only reads are read before, or locked all together; except in host functions and for reads that follow
/// one. What is assigned can be read by others as one set, as by assign_all: by calls that read the weights and assign
/// none of them.
class TANDEM_API VariableLocks {
 public:
  explicit VariableLocks(Span<const Variable> sorted) : VariableLocks(sorted, {}, [] {}) {}
  ///   only_read  by address: the other Variables of the call
  ///   read       reads those; called again if they were not of one set, or not of the same as those that are locked
  template <class Read>
  VariableLocks(Span<const Variable> sorted, Span<const Variable> only_read, const Read& read)
      : sorted_(sorted), outer_(held_locks()) {
    if (!sorted.empty() && !holds_any(outer_)) let_others_pass();
    if (only_read.empty()) lock();
    else acquire(only_read, read);
    held_locks() = this;
  }
  VariableLocks(const VariableLocks&) = delete;
  ~VariableLocks();
  static bool contains(Span<const Variable> sorted, const Variable& v);

 private:
  /// The innermost ones of this thread.
  static VariableLocks*& held_locks();
  bool has(const Variable& v) const;
  static bool holds_any(const VariableLocks* innermost);
  static void yield();
  bool is_outers(const Variable& v) const { return outer_ && outer_->has(v); }
  // Who waits for one of the locks, for a bounded time: where steps follow each other, they are nearly always held.
  void let_others_pass() const;
  void lock();
  void unlock();
  // Sets that steps assign count while nothing is locked: threads that run the same step would wait for each other
  // again and again.
  template <class Read>
  bool acquired(const Read& read) {
    const u64 assigned = detail::assigned_sets.mark(), stepped = detail::stepped_sets.mark();
    read();
    if (!detail::assigned_sets.is_still(assigned) || !detail::stepped_sets.is_still(stepped)) return false;
    lock();
    if (sorted_.empty() || detail::assigned_sets.is_still(assigned)) return true;
    unlock();
    return false;
  }
  template <class Read>
  void acquire(Span<const Variable> only_read, const Read& read) {
    while (!acquired(read)) {
      if (!random::detail::ElementKeys::current()) return acquire_all(only_read, read);
      yield();  // rather than all locks at once: read() may wait for the one of the generators
    }
  }
  // With all locks held at once: where sets are replaced all the time, the other way may fail again and again.
  template <class Read>
  void acquire_all(Span<const Variable> only_read, const Read& read) {
    lock_all(only_read);
    struct Unlock {
      VariableLocks& locks;
      Span<const Variable> only_read;
      ~Unlock() {
        for (const Variable& v : only_read)
          if (!locks.is_outers(v)) VariableAccess::unlock(v);
      }
    } const unlock_read{*this, only_read};
    try {
      read();
    } catch (...) {
      unlock();
      throw;
    }
  }
  void lock_all(Span<const Variable> only_read);

  Span<const Variable> sorted_;
  VariableLocks* outer_;
  bool is_any_taken_ = false;  // by this object; without, nothing becomes visible to others at its end
};
/// The Variables that a graph or its sub-graphs assign: each once, by address.
TANDEM_LAZY TANDEM_API std::vector<Variable> assigned_variables(const Graph& graph);
/// The Variables that its bodies of control flow read: likewise.
TANDEM_LAZY TANDEM_API std::vector<Variable> variables_read_in_bodies(const Graph& graph);

class TANDEM_API Program : public Opaque {
 public:
  /// planned: false runs op by op even where a plan is possible (a reference for tests).
  TANDEM_LAZY static Ref<Program> make(Ref<Graph> graph, bool planned = true);
  const char* kind() const override { return "program"; }

  /// Runs the graph on arguments of its specs. Results that the caller keeps are never overwritten.
  ///   donated   the first arguments again, donated where the caller does not need them after the call: results may
  ///           reuse those buffers that have no other owner
  ///   throws  what a kernel raises; effects before the failing op remain, as in an eager run
  virtual Tensors run(Inputs arguments, Span<Tensor> donated = {}) = 0;
  /// The plan as text, or why there is none.
  virtual std::string plan() const = 0;
  /// Checks, before a call that a user makes, that it may assign its Variables (VariableAccess::check_free).
  TANDEM_LAZY void check_free() const {
    for (const Variable& v : assigned_) VariableAccess::check_free(v);
  }
  const Graph& graph() const { return *graph_; }

 protected:
  TANDEM_LAZY explicit Program(Ref<Graph> graph);
  TANDEM_LAZY bool assigns(const Variable& v) const { return VariableLocks::contains(assigned_, v); }
  /// Whether a node reads a Variable that nothing in the graph can have assigned before, neither its own
  /// assignments nor a host function.
  TANDEM_LAZY ById<NodeId, char> early_reads() const;
  /// A Variable of the graph; for the state of one of the library's generators that of the data set's element that this
  /// thread computes, if it computes one (ElementKeys).
  const Variable& variable(VariableIndex i) const {
    if (!sequences_.empty()) [[unlikely]]
      if (random::detail::ElementKeys* const element = random::detail::ElementKeys::current())
        for (const Sequence& s : sequences_)
          if (s.variable == i) return element->own_state(s.op_seed);
    return graph_->variable(i);
  }
  /// The Variables that a call on this thread has to lock.
  Span<const Variable> to_lock() const {
    if (draws_ && random::detail::ElementKeys::current()) [[unlikely]]
      return unshared_;
    return assigned_;
  }
  Ref<Graph> graph_;
  std::vector<Variable> assigned_;
  /// By address: the Variables that bodies read and nothing in the graph can assign. They are read with early_reads().
  std::vector<Variable> read_in_bodies_;
  std::vector<Variable> only_read_;  // those and those of early_reads(), by address

 private:
  struct Sequence {
    VariableIndex variable;
    std::optional<i64> op_seed;
  };
  LeanVector<Sequence> sequences_;  // of random numbers, among the graph's Variables
  std::vector<Variable> unshared_;  // assigned_ but for all those sequences, also of sub-graphs
  bool draws_ = false;              // whether there are any
};

}  // namespace TANDEM_NS
