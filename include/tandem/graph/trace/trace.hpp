// Tracer: the Stager of function(). While it is active, each op of its thread becomes a node of a graph.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tandem/autodiff/slots.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/graph/ir/graph.hpp"

namespace TANDEM_NS {

/// Traces on this thread from its construction until finish() or destruction. Tapes created before do not see what
/// is traced. A tracer with an outer one traces a body of control flow: values of the outer trace that it uses
/// become additional arguments, in the order of captures().
class TANDEM_API Tracer final : public Stager {
 public:
  struct Options {
    bool may_create_variables = true;  // in the first trace of a function only
    Tracer* outer = nullptr;
  };
  explicit Tracer(std::string name) : Tracer(std::move(name), Options{}) {}
  Tracer(std::string name, Options options);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer();

  /// Adds an argument to the graph; all arguments precede the first op.
  Tensor argument(const Spec& spec, std::string name = {});
  /// Ends the trace. The outputs may be traced, captured or known tensors.
  Ref<Graph> finish(Span<const Tensor> outputs);
  /// Values of the outer trace that are passed in after the declared arguments.
  const std::vector<Tensor>& captures() const { return captures_; }
  /// The Variables created while tracing.
  const std::vector<Variable>& created_variables() const { return created_; }
  /// The graph so far.
  const Graph& graph() const { return *graph_; }

  /// The active tracer on this thread, or null.
  static Tracer* current();

 private:
  TANDEM_INLINE Tensors stage(const InferCall&, const Specs&) override;
  TANDEM_INLINE Tensor read(const Variable&) override;
  TANDEM_INLINE void assign(const Variable&, const Tensor& value) override;
  TANDEM_INLINE void lift(Callable body) override;
  TANDEM_INLINE void created(const Variable&) override;
  std::string scope(std::string path) override { return unique_name(std::move(path)); }
  TANDEM_INLINE void constant(const Tensor&, const OpOptions&) override;
  TANDEM_INLINE Tensor custom_gradient(const Tensor& value, Inputs in, const Opaque& backward) override;
  TANDEM_INLINE std::string origin(const Tensor&) override;
  TANDEM_INLINE std::string name_of(const Tensor&) override;

  void leave();
  bool knows(const Tensor& t) const { return values_.find(t.id()) >= 0 || (outer_ && outer_->knows(t)); }
  // Whether a known tensor from before a body's trace must become an input, visible to tapes outside the control
  // flow.
  bool may_be_watched(const Tensor& t) const {
    return outer_observers_ && t.id() < first_id_ && (is_floating(t.dtype()) || is_complex(t.dtype()));
  }
  int value_of(const Tensor& t, const char* op, bool shape_only);
  const Node* maker(int value) const;
  int add_constant(const Tensor& t, Name name);
  Tensor symbol(int value);
  std::string unique_name(std::string name);
  int index_of(const Variable& v);

  Ref<Graph> graph_;
  Slots values_;  // tensor id -> value
  std::vector<Tensor> captures_;
  std::vector<Variable> created_;
  std::map<const void*, int> indices_;  // indices in graph_->variables, by Variable address
  std::vector<int> held_;               // by Variable index: the value that it is known to have, or -1
  std::vector<int> holding_;            // the indices that may have one
  std::map<std::string, int> names_;
  Options options_;
  Tracer* outer_;
  Tracer* previous_;  // the tracer active before
  Stager* outer_stager_;
  Observer* outer_observers_;
  u64 first_id_ = new_id(context);  // tensors created since have this id or a larger one
  bool active_ = true;
};

}  // namespace TANDEM_NS
