// ConcreteFunction: a function traced for one signature. It binds unknown dimensions, plans and runs its graph, and
// is differentiable: a call under a tape is one recorded op whose gradient is a separate graph.
#pragma once
#include <mutex>
#include <vector>

#include "tandem/graph/exec/memory_use.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tandem/graph/exec/replay.hpp"
#include "tandem/graph/ir/prune.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

struct ExecutionOptions {
  PassOptions passes = {};  ///< which rewrites to run
  bool plan = true;         ///< one arena and prebuilt kernel calls; else op by op
};

class TANDEM_API ConcreteFunction : public Opaque {
 public:
  TANDEM_LAZY explicit ConcreteFunction(Ref<Graph> traced, ExecutionOptions options = {});
  TANDEM_INLINE ~ConcreteFunction() override;
  const char* kind() const override { return "function"; }

  /// Calls the function according to the context: while another function is traced, its ops are added to that trace;
  /// under a watching tape, the call is recorded; else it just runs.
  ///   throws  errors::InvalidArgumentError for arguments that do not match the graph's; errors::TraceError for
  ///           those that belong to a finished trace
  TANDEM_LAZY Tensors call(Inputs arguments);
  TANDEM_LAZY std::vector<Tensor> operator()(const std::vector<Tensor>& arguments);

  /// The sub-function from fed tensors to fetched ones, by name ("a:0") or by value: see prune() in prune.hpp.
  TANDEM_LAZY Ref<ConcreteFunction> prune(Span<const std::string> feeds, Span<const std::string> fetches) const {
    return make_ref<ConcreteFunction>(tandem::prune(*traced_, feeds, fetches), options_);
  }
  TANDEM_LAZY Ref<ConcreteFunction> prune(Span<const ValueId> feeds, Span<const ValueId> fetches) const {
    return make_ref<ConcreteFunction>(tandem::prune(*traced_, feeds, fetches), options_);
  }

  /// The graph as traced, and as optimized (before unknown dimensions are bound and, if there are any, before
  /// fusion).
  const Graph& graph() const { return *traced_; }
  const Graph& optimized() const { return *optimized_; }
  /// The program that runs it on arguments of these specs.
  TANDEM_LAZY Ref<Program> program_for(Span<const Spec> arguments);
  /// Whether one program serves all calls, since every dimension is known.
  bool is_static() const { return static_; }
  /// The memory plan as text, for arguments of these specs. By default for the graph's own; if those leave sizes open,
  /// the text says which argument's spec is needed.
  ///   throws  errors::InvalidArgumentError for specs that do not match the graph's
  TANDEM_LAZY std::string plan(Span<const Spec> arguments = {});
  /// What a call on arguments of these specs takes of memory, by default on the graph's own. Nothing runs.
  ///   throws  errors::InvalidArgumentError for specs that do not match the graph's, or leave sizes open
  TANDEM_LAZY MemoryUse memory_for(Span<const Spec> arguments = {});
  /// The gradient rule of a recorded call.
  TANDEM_LAZY static Grads gradient(const GradCall& call);

 private:
  struct Bound {
    std::vector<Spec> arguments;
    Ref<Program> program;
    u64 used;
  };
  struct Recorded;
  template <class F>
  friend class Function;
  /// call() without the check that the number and specs of the arguments match.
  TANDEM_LAZY Tensors call_fitting(Inputs arguments);
  TANDEM_LAZY void check(Inputs arguments) const;
  TANDEM_LAZY std::vector<Spec> specs_or_own(Span<const Spec> arguments) const;
  TANDEM_LAZY void check_count(std::size_t arguments) const;
  TANDEM_LAZY void check_argument(std::size_t i, const Spec& got) const;
  TANDEM_LAZY Ref<Program> make_program(Span<const Spec> arguments) const;
  TANDEM_LAZY Tensors run(Inputs arguments);
  TANDEM_LAZY Tensors run_program(Inputs arguments);
  TANDEM_LAZY Tensors run_recorded(Inputs arguments);
  TANDEM_LAZY Ref<Recorded> recorded();

  Ref<Graph> traced_, optimized_;
  ExecutionOptions options_;
  bool static_;
  Ref<Program> program_;  // of a graph without unknown dimensions
  std::mutex mutex_;
  LeanVector<Bound> bound_;  // guarded by mutex_
  u64 clock_ = 0;
  Ref<Recorded> recorded_;  // guarded by mutex_
};

namespace detail {
/// Whether this thread is in the eager run of a check (graph/debug/debug.hpp): calls are then made op by op.
bool is_checking();
bool& checking_slot();
}  // namespace detail

}  // namespace TANDEM_NS
