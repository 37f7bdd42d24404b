// Tracer: the Stager of function(). While it is active, each op of its thread becomes a node of a graph.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "tandem/autodiff/slots.hpp"
#include "tandem/core/apply.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/lean_vector.hpp"

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
  TANDEM_LAZY explicit Tracer(std::string name) : Tracer(std::move(name), Options{}) {}
  TANDEM_LAZY Tracer(std::string name, Options options);
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;
  ~Tracer();

  /// Adds an argument to the graph; all arguments precede the first op.
  TANDEM_LAZY Tensor argument(const Spec& spec, std::string name = {});
  /// Ends the trace. The outputs may be traced, captured or known tensors.
  TANDEM_LAZY Ref<Graph> finish(Span<const Tensor> outputs);
  /// Values of the outer trace that are passed in after the declared arguments.
  const std::vector<Tensor>& captures() const { return captures_; }
  /// The Variables created while tracing.
  const std::vector<Variable>& created_variables() const { return created_; }
  /// Whether the code asked which modules are frozen.
  bool depends_on_frozen() const { return depends_on_frozen_; }
  /// What the code has read that may be replaced, each place once.
  const LeanVector<PlaceRead>& places() const { return places_; }
  /// The graph so far.
  const Graph& graph() const { return *graph_; }

  /// The active tracer on this thread, or null.
  static Tracer* current();

 private:
  // The virtual functions call lazy ones through this table.
  struct Code {
    Tensors (Tracer::*stage)(const InferCall&, const Specs&);
    Tensor (Tracer::*read)(const Variable&);
    void (Tracer::*assign)(const Variable&, const Tensor&);
    void (Tracer::*lift)(Callable);
    void (Tracer::*created)(const Variable&);
    std::string (Tracer::*scope)(std::string);
    void (Tracer::*constant)(const Tensor&, const OpOptions&);
    std::vector<Tensor> (Tracer::*loop)(const char*, std::vector<Tensor>, std::vector<Tensor>, LoopBody);
    Tensor (Tracer::*custom_gradient)(const Tensor&, Inputs, const Opaque&);
    std::string (Tracer::*origin)(const Tensor&);
    std::string (Tracer::*name_of)(const Tensor&);
    void (Tracer::*place)(const PlaceRead&);
  };
  TANDEM_LAZY static Code code();
  Tensors stage(const InferCall& c, const Specs& s) override { return (this->*code_.stage)(c, s); }
  Tensor read(const Variable& v) override { return (this->*code_.read)(v); }
  void assign(const Variable& v, const Tensor& x) override { (this->*code_.assign)(v, x); }
  void lift(Callable body) override { (this->*code_.lift)(body); }
  void created(const Variable& v) override { (this->*code_.created)(v); }
  std::string scope(std::string path) override { return (this->*code_.scope)(std::move(path)); }
  void constant(const Tensor& t, const OpOptions& o) override { (this->*code_.constant)(t, o); }
  Tensor custom_gradient(const Tensor& y, Inputs in, const Opaque& backward) override {
    return (this->*code_.custom_gradient)(y, in, backward);
  }
  std::vector<Tensor> loop(const char* op, std::vector<Tensor> carried, std::vector<Tensor> rows,
                           LoopBody body) override {
    return (this->*code_.loop)(op, std::move(carried), std::move(rows), body);
  }
  void reads_frozen() override {
    for (Tracer* t = this; t; t = t->outer_) t->depends_on_frozen_ = true;
  }
  void reads_place(const PlaceRead& read) override { (this->*code_.place)(read); }
  std::string origin(const Tensor& t) override { return (this->*code_.origin)(t); }
  std::string name_of(const Tensor& t) override { return (this->*code_.name_of)(t); }

  TANDEM_LAZY Tensors stage_op(const InferCall&, const Specs&);
  TANDEM_LAZY Tensor stage_read(const Variable&);
  TANDEM_LAZY void stage_assign(const Variable&, const Tensor& value);
  TANDEM_LAZY void run_outside(Callable body);
  TANDEM_LAZY void add_created(const Variable&);
  TANDEM_LAZY void name_constant(const Tensor&, const OpOptions&);
  TANDEM_LAZY std::vector<Tensor> stage_rows_loop(const char* op, std::vector<Tensor> carried, std::vector<Tensor> rows,
                                                  LoopBody body);
  TANDEM_LAZY Tensor stage_custom_gradient(const Tensor& value, Inputs in, const Opaque& backward);
  TANDEM_LAZY std::string origin_text(const Tensor&);
  TANDEM_LAZY std::string value_name(const Tensor&);
  TANDEM_LAZY void add_place(const PlaceRead&);

  void leave();
  bool knows(const Tensor& t) const { return values_.find(t.id()) >= 0 || (outer_ && outer_->knows(t)); }
  // Whether a known tensor from before a body's trace must become an input, visible to tapes outside the control
  // flow.
  bool may_be_watched(const Tensor& t) const {
    return outer_observers_ && t.id() < first_id_ && is_differentiable(t.dtype());
  }
  TANDEM_LAZY ValueId value_of(const Tensor& t, const char* op, bool shape_only);
  TANDEM_LAZY const Node* maker(ValueId value) const;
  TANDEM_LAZY ValueId add_constant(const Tensor& t, Name name);
  TANDEM_LAZY Tensor symbol(ValueId value);
  TANDEM_LAZY std::string unique_name(std::string name);
  TANDEM_LAZY VariableIndex index_of(const Variable& v);

  const Code code_;
  Ref<Graph> graph_;
  Slots values_;  // tensor id -> value
  std::vector<Tensor> captures_;
  std::vector<Variable> created_;
  std::map<const void*, VariableIndex> indices_;  // by Variable address
  ById<VariableIndex, ValueId> held_;             // the value that it is known to have, if any
  LeanVector<VariableIndex> holding_;             // those that may have one
  std::map<std::string, int> names_;
  Options options_;
  Tracer* outer_;
  Tracer* previous_;  // the tracer active before
  Stager* outer_stager_;
  Observer* outer_observers_;
  const detail::LayerCall* const around_ = detail::layer_call;  // in whose call the trace was begun
  u64 first_id_ = new_id(context);                              // tensors created since have this id or a larger one
  bool active_ = true, depends_on_frozen_ = false;
  LeanVector<PlaceRead> places_;
};

}  // namespace TANDEM_NS
