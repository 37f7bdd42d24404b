// Program: a graph prepared for execution. Where all sizes are known, kernels run as prebuilt calls over one arena
// (plan.hpp), and in the steady state a call requests from the allocator only what its free lists hold. Otherwise
// the graph runs op by op.
#pragma once
#include <mutex>
#include <string>

#include "tandem/core/apply.hpp"
#include "tandem/graph/exec/plan.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

/// Holds the locks of all Variables that a call assigns, acquired in address order; locks already held by an outer
/// call on this thread are skipped. A thread that holds some waits for no others, because Variables that a call only
/// reads are read before; except in host functions and for reads that follow one.
class TANDEM_API VariableLocks {
 public:
  TANDEM_LAZY explicit VariableLocks(Span<const Variable> sorted);
  VariableLocks(const VariableLocks&) = delete;
  ~VariableLocks();
  static bool contains(Span<const Variable> sorted, const Variable& v);

 private:
  bool has(const Variable& v) const;
  Span<const Variable> sorted_;
  VariableLocks* outer_;
};
/// The Variables that a graph or its sub-graphs assign: each once, by address.
TANDEM_LAZY TANDEM_API std::vector<Variable> assigned_variables(const Graph& graph);

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
  TANDEM_LAZY explicit Program(Ref<Graph> graph) : graph_(std::move(graph)), assigned_(assigned_variables(*graph_)) {}
  TANDEM_LAZY bool assigns(const Variable& v) const { return VariableLocks::contains(assigned_, v); }
  /// By node: whether it reads a Variable that nothing in the graph can have assigned before, neither its own
  /// assignments nor a host function. Such reads happen before the locks are acquired.
  TANDEM_LAZY std::vector<char> early_reads() const;
  Ref<Graph> graph_;
  std::vector<Variable> assigned_;
};

}  // namespace TANDEM_NS
