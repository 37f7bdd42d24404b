// Program: a graph made ready to run. Where all sizes are known, kernels run on prebuilt calls over one arena
// (plan.hpp) and a call in the steady state asks the allocator for nothing that its free lists do not have; else op by
// op.
#pragma once
#include <mutex>
#include <string>

#include "tandem/core/apply.hpp"
#include "tandem/graph/exec/plan.hpp"

namespace TANDEM_NS {

/// Holds the locks of all Variables that a call assigns, taken in address order; what an outer call on this thread
/// holds already is left out. Who holds some waits for no other: Variables that a call only reads are read before.
class TANDEM_API VariableLocks {
 public:
  explicit VariableLocks(std::span<const Variable> sorted);
  VariableLocks(const VariableLocks&) = delete;
  ~VariableLocks();
  static bool holds(const Variable& v);
  static bool contains(std::span<const Variable> sorted, const Variable& v);

 private:
  bool has(const Variable& v) const;
  std::span<const Variable> sorted_;
  VariableLocks* outer_;
};
/// The Variables that a graph, or a graph in it, assigns: each once, by address.
TANDEM_API std::vector<Variable> assigned_variables(const Graph& graph);

class TANDEM_API Program : public Opaque {
 public:
  /// planned: false runs op by op even where a plan could be made (a reference for tests).
  static Ref<Program> make(Ref<Graph> graph, bool planned = true);
  const char* kind() const override { return "program"; }

  /// Runs the graph on arguments of its specs. What the caller keeps of the results is never overwritten.
  ///   given   the first arguments once more, where the caller does not need them after the call: results may take
  ///           over the buffers of those that nobody else holds
  ///   throws  what a kernel raises; the effects before the failing op stand, as in an eager run
  virtual Tensors run(Inputs arguments, std::span<Tensor> given = {}) = 0;
  /// The plan as text, or why there is none.
  virtual std::string plan() const = 0;
  const Graph& graph() const { return *graph_; }

 protected:
  explicit Program(Ref<Graph> graph) : graph_(std::move(graph)), assigned_(assigned_variables(*graph_)) {}
  bool assigns(const Variable& v) const { return VariableLocks::contains(assigned_, v); }
  Ref<Graph> graph_;
  std::vector<Variable> assigned_;
};

}  // namespace TANDEM_NS
