// Definitions of graph/trace/trace.hpp.
#pragma once
#include <algorithm>

#include "tandem/graph/control/control_code.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/trace.hpp"

namespace TANDEM_NS {

// The thread's tracer, separate from ThreadContext: core only knows stagers.
TANDEM_INLINE Tracer*& tracer_slot() {
  static constinit thread_local Tracer* tracer = nullptr;
  return tracer;
}
TANDEM_INLINE Tracer* Tracer::current() {
  Tracer* t = tracer_slot();
  return t && context.stager == t ? t : nullptr;
}

TANDEM_LAZY_INLINE Tracer::Tracer(std::string name, Options options)
    : code_(code()),
      graph_(make_ref<Graph>()),
      options_(options),
      outer_(options.outer),
      previous_(tracer_slot()),
      outer_stager_(context.stager),
      outer_observers_(context.observers) {
  graph_->name = std::move(name);
  context.stager = this;
  context.observers = nullptr;
  tracer_slot() = this;
  detail::use_control_code();
}
TANDEM_LAZY_INLINE Tracer::Code Tracer::code() {
  return {&Tracer::stage_op,      &Tracer::stage_read,      &Tracer::stage_assign,
          &Tracer::run_outside,   &Tracer::add_created,     &Tracer::unique_name,
          &Tracer::name_constant, &Tracer::stage_rows_loop, &Tracer::stage_custom_gradient,
          &Tracer::origin_text,   &Tracer::value_name,      &Tracer::add_place};
}
TANDEM_INLINE Tracer::~Tracer() { leave(); }
TANDEM_INLINE void Tracer::leave() {
  if (!active_) return;
  context.stager = outer_stager_;
  detail::restore_observers(outer_observers_);
  tracer_slot() = previous_;
  active_ = false;
}

TANDEM_LAZY_INLINE std::string Tracer::unique_name(std::string name) {
  const int n = names_[name]++;
  if (n == 0) return name;
  std::string numbered = name + "_" + std::to_string(n);
  return names_.contains(numbered) ? unique_name(std::move(name)) : (names_[numbered] = 1, numbered);
}
TANDEM_LAZY_INLINE Tensor Tracer::symbol(ValueId value) {
  Tensor t = Tensor::symbol(graph_->spec(value));
  values_.insert(t.id(), value.number());
  return t;
}
TANDEM_LAZY_INLINE Tensor Tracer::argument(const Spec& spec, std::string name) {
  return symbol(graph_->add_argument(spec, unique_name(name.empty() ? "arg" : std::move(name))));
}
TANDEM_LAZY_INLINE ValueId Tracer::value_of(const Tensor& t, const char* op, bool shape_only) {
  if (const int v = values_.find(t.id()); v >= 0) return ValueId(v);
  ValueId v;
  if (outer_ && (t.is_symbolic() ? outer_->knows(t) : may_be_watched(t))) {
    captures_.push_back(t);
    try {
      v = graph_->add_argument(t.spec(), unique_name("captured"));
    } catch (...) {
      captures_.pop_back();
      throw;
    }
  } else if (t.is_symbolic() && !shape_only) {
    detail::raise_no_value(op, t);
  } else if (t.is_symbolic()) {  // a constant without data: the trace does not know its value
    return graph_->add_constant(t, unique_name(scoped_name(display_name(constant_op))));
  } else {
    return add_constant(t, {});
  }
  values_.insert(t.id(), v.number());
  return v;
}
TANDEM_LAZY_INLINE ValueId Tracer::add_constant(const Tensor& t, Name name) {
  const ValueId v = graph_->add_constant(t, unique_name(scoped_name(name.str(display_name(constant_op)))));
  values_.insert(t.id(), v.number());
  return v;
}
TANDEM_LAZY_INLINE void Tracer::name_constant(const Tensor& t, const OpOptions& o) {
  if (values_.find(t.id()) >= 0) return;
  add_constant(t, o.name);
  graph_->nodes.back().where = o.where;
}

// Adds to a node what is known of the calls in which its op is applied: the user's line, if the op's own is none or in
// the library, the outermost function with a name, the op whose gradient it is a part of, and the layer, unless the
// trace was begun in its call: another call of the function is perhaps in another layer, or in none.
TANDEM_LAZY TANDEM_INLINE void add_call_sites(Node& n, const detail::LayerCall* around) {
  if (const detail::LayerCall* c = detail::layer_call; c && c != around) n.layer = {Ref<Opaque>(c->state), c->place};
  for (const detail::CallSite* c = context.call; c; c = c->outer()) {
    if (!n.gradient_of) n.gradient_of = c->gradient_of();
    if (c->op()) n.called = c->op();
    if (detail::line_text(n.where).empty() && !detail::line_text(c->where()).empty()) n.where = c->where();
  }
}
TANDEM_LAZY_INLINE Tensors Tracer::stage_op(const InferCall& c, const Specs& specs) {
  InlinedVector<ValueId, 8> in;
  for (std::size_t i = 0; i < c.in.size(); ++i)
    in.push_back(value_of(*c.in[i], c.op.name, names_input(c.op.shape_inputs, i)));
  const ValueId first = graph_->add(
      c.op, c.attrs, {in.begin(), in.size()}, {specs.begin(), specs.size()},
      unique_name(scoped_name(c.options.name ? c.options.name.str() : display_name(c.op))), c.options.where);
  if (context.call || detail::layer_call != around_) add_call_sites(graph_->nodes.back(), around_);
  if (has_effects(graph_->nodes.back())) {  // a body may have assigned
    for (const VariableIndex at : holding_) held_[at] = {};
    holding_.clear();
  }
  Tensors out;
  out.reserve(specs.size());
  for (unsigned i = 0; i < specs.size(); ++i) out.push_back(symbol(first + static_cast<int>(i)));
  return out;
}
// Appends the Variable if it is new.
TANDEM_LAZY_INLINE VariableIndex Tracer::index_of(const Variable& v) {
  const VariableIndex next(graph_->variables.size());
  const auto [at, is_new] = indices_.try_emplace(VariableAccess::address(v), next);
  if (!is_new) return at->second;
  try {
    held_.resize(next.index() + 1);
    graph_->variables.push_back(v);
  } catch (...) {
    indices_.erase(at);
    throw;
  }
  return next;
}
// Reads of one value share a node, but not a tensor: tapes treat each read as a separate value.
TANDEM_LAZY_INLINE Tensor Tracer::stage_read(const Variable& v) {
  const VariableIndex at = index_of(v);
  ValueId& now = held_[at];
  if (!now.is_set()) {
    holding_.push_back(at);  // a Variable in the list twice does no harm
    now = graph_->add(read_variable_op, rules::PositionAttrs{at.number()}, {}, {&v.spec(), 1}, unique_name(v.name()));
  }
  return symbol(now);
}
TANDEM_LAZY_INLINE void Tracer::stage_assign(const Variable& v, const Tensor& value) {
  const VariableIndex at = index_of(v);
  const ValueId in[] = {value_of(value, "assign", false)};
  graph_->add(assign_variable_op, rules::PositionAttrs{at.number()}, in, {}, unique_name("assign/" + v.name()));
  held_[at] = {};  // a later read is a read too: gradients end at it
}
TANDEM_LAZY [[noreturn]] TANDEM_INLINE void raise_created_late(const std::string& function,
                                                               const std::string& variable) {
  errors::raise<errors::FailedPreconditionError>(
      "function", "'" + function + "' makes " + variable +
                      " in a later trace; a traced function may make Variables only in its first trace: make it "
                      "outside, or once and keep it");
}
TANDEM_LAZY_INLINE void Tracer::run_outside(Callable body) {
  for (const Tracer* t = this; t; t = t->outer_)
    if (!t->options_.may_create_variables) raise_created_late(t->graph_->name, "Variables");
  struct Off {
    Stager* stager = context.stager;
    Off() { context.stager = nullptr; }
    ~Off() { context.stager = stager; }
  } off;
  body.call(body.self);
}
TANDEM_LAZY_INLINE void Tracer::add_created(const Variable& v) {
  Tracer* function = this;  // not the tracer of a control-flow body within it
  for (Tracer* t = this; t; function = t, t = t->outer_)
    if (!t->options_.may_create_variables) raise_created_late(t->graph_->name, "the Variable '" + v.name() + "'");
  function->created_.push_back(v);
}
TANDEM_LAZY_INLINE std::vector<Tensor> Tracer::stage_rows_loop(const char* op, std::vector<Tensor> carried,
                                                               std::vector<Tensor> rows, LoopBody body) {
  const control::Code code{body.call, body.self};
  return control::stage_loop({op, std::move(carried), std::move(rows), {}, none, false, nullptr, code}, no_options);
}
TANDEM_LAZY_INLINE const Node* Tracer::maker(ValueId value) const {
  const auto& nodes = graph_->nodes;  // in the order of their values; the last one that begins at or before it has it
  const auto behind = std::upper_bound(nodes.begin(), nodes.end(), value,
                                       [](ValueId v, const Node& n) { return v < n.first_out + n.outputs; });
  return behind != nodes.end() && value >= behind->first_out ? behind : nullptr;
}
TANDEM_LAZY_INLINE std::string Tracer::origin_text(const Tensor& t) {
  const ValueId v(values_.find(t.id()));
  if (!v.is_set()) return outer_ ? outer_->origin_text(t) : std::string();
  const Node* const n = maker(v);
  if (!n) return {};
  const std::string line = detail::line_text(n->where);
  return " (made by " + std::string(n->op->name) + " '" + n->name + "'" + (line.empty() ? "" : " at " + line) + ")";
}
TANDEM_LAZY_INLINE std::string Tracer::value_name(const Tensor& t) {
  const ValueId v(values_.find(t.id()));
  if (!v.is_set()) return outer_ ? outer_->value_name(t) : std::string();
  const Node* const n = maker(v);
  return n ? n->name + ":" + std::to_string(v - n->first_out) : std::string();
}

// The version that was read first stays: if there is a later one, the trace has seen both.
TANDEM_LAZY_INLINE void Tracer::add_place(const PlaceRead& read) {
  for (Tracer* t = this; t; t = t->outer_) {
    const auto is_read = [&](const PlaceRead& other) { return other.place == read.place; };
    if (std::none_of(t->places_.begin(), t->places_.end(), is_read)) t->places_.push_back(read);
  }
}

TANDEM_LAZY_INLINE Ref<Graph> Tracer::finish(Span<const Tensor> outputs) {
  for (const Tensor& t : outputs) graph_->outputs.push_back(value_of(t, "return", false));
  leave();
  return graph_;
}

}  // namespace TANDEM_NS
