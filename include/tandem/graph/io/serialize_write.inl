// Writes graphs, and hashes their structure without names.
#pragma once
#include <algorithm>
#include <functional>

#include "tandem/core/saved_object.hpp"
#include "tandem/graph/io/half_casts.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/io/serialize_bytes.hpp"
#include "tandem/graph/ir/variable_set.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_LAZY class GraphWriter final : AttrVisitor {
 public:
  std::string file(const Graph& g, const SaveOptions& options) {
    check_names(options.inputs, g.arguments.size(), "inputs");
    check_names(options.outputs, g.outputs.size(), "outputs");
    graph(g);
    const std::string graph_bytes = std::exchange(body_, {}).out;  // its ops and Variables are known only now
    const std::vector<const std::string*> elsewhere = names_elsewhere(options);
    const bool any = std::any_of(elsewhere.begin(), elsewhere.end(), [](const std::string* name) { return name; });
    const std::uint32_t format =
        any || !options.inputs.empty() || !options.outputs.empty() || !objects_.empty() ? 2 : 1;
    body_.raw(graph_magic, 8);
    body_.number(format);
    for (int v : {TANDEM_VERSION_MAJOR, TANDEM_VERSION_MINOR, TANDEM_VERSION_PATCH, 0})
      body_.number(static_cast<std::uint16_t>(v));
    if (format >= 2) names(options.inputs), names(options.outputs);
    body_.count(variables_.list().size());
    for (std::size_t i = 0; i < elsewhere.size(); ++i) variable(variables_.list()[i], elsewhere[i]);
    op_names();
    return std::move(body_.out) + graph_bytes;
  }
  /// A string that is equal for graphs of the same structure.
  std::string structure(const Graph& g, std::string_view scope) {
    named_ = false;
    if (scope.empty()) {
      graph(g);
    } else {
      const std::string prefix = std::string(scope) + "/";
      begin(g);
      for (const Node& n : g.nodes)
        if (n.name.starts_with(prefix)) node(n);
    }
    op_names();
    return std::move(body_.out);
  }

 private:
  static void check_names(const std::vector<std::string>& names, std::size_t count, const char* what) {
    const auto refuse = [&](const std::string& why) {
      errors::raise<errors::InvalidArgumentError>("serialize", "the names of the " + std::string(what) + " " + why);
    };
    if (!names.empty() && names.size() != count)
      refuse("are " + std::to_string(names.size()) + ", the graph has " + std::to_string(count));
    for (const std::string& name : names)
      if (name.empty()) refuse("must not be empty");
    if (const std::string* const twice = repeated(names)) refuse("have '" + *twice + "' twice");
  }
  // By Variable of the graph: its name, or null if its value is in the file.
  std::vector<const std::string*> names_elsewhere(const SaveOptions& options) const {
    IdMap given;  // by Variable: which of the options
    for (std::size_t i = 0; i < options.values_elsewhere.size(); ++i)
      if (const u64 id = options.values_elsewhere[i].second.id(); given.find(id) < 0)
        given.insert(id, static_cast<int>(i));
    std::vector<const std::string*> r;
    for (const Variable& v : variables_.list()) {
      const int at = given.find(v.id());
      r.push_back(at < 0 ? nullptr : &options.values_elsewhere[static_cast<std::size_t>(at)].first);
    }
    return r;
  }
  void names(const std::vector<std::string>& list) {
    body_.count(list.size());
    for (const std::string& name : list) body_.text(name);
  }
  void variable(const Variable& v, const std::string* elsewhere) {
    body_.text(elsewhere ? *elsewhere : v.name());
    body_.number(static_cast<std::uint8_t>(v.trainable()));
    if (elsewhere) return tensor(Tensor::symbol(v.spec()));
    const Tensor value = v.value_untracked();
    if (value.is_symbolic())
      errors::raise<errors::UnimplementedError>(
          "serialize", "variable '" + v.name() + "' holds a traced tensor, which has no value: assign one first");
    tensor(value);
  }

  // State for the graph that is being written; graphs are nested.
  struct Level {
    const Graph* graph = nullptr;
    ById<ValueId, int> numbers;  // in the file; -1 before a value has one
    int next = 0;
  };

  void begin(const Graph& g) { level_ = {&g, ById<ValueId, int>(g.specs.size(), -1), 0}; }
  void graph(const Graph& g) {
    const auto has_half = [&](const Node& n) { return passes_half(g, n); };
    if (named_ && std::any_of(g.nodes.begin(), g.nodes.end(), has_half)) {
      const Ref<Graph> portable = with_half_casts(g);
      return nodes_of(*portable);
    }
    nodes_of(g);
  }
  void nodes_of(const Graph& g) {
    if (++depth_ > max_graph_depth) refuse("graphs nested beyond depth " + std::to_string(max_graph_depth));
    Level outer = std::exchange(level_, {});
    const Node* outer_node = node_;
    begin(g);
    if (named_) {
      body_.text(g.name);
      body_.count(g.arguments.size());
      body_.count(g.variables.size());
      for (const Variable& v : g.variables) body_.count(variables_.index_of(v));
    }
    body_.count(g.nodes.size());
    for (const Node& n : g.nodes) node(n);
    body_.count(g.outputs.size());
    for (ValueId v : g.outputs) value(v);
    level_ = std::move(outer);
    node_ = outer_node;
    --depth_;
  }
  void node(const Node& n) {
    node_ = &n;
    op(*n.op);
    if (named_) body_.text(n.name);
    body_.count(n.in.size());
    for (ValueId v : n.in) value(v);
    body_.count(static_cast<std::size_t>(n.outputs));
    for (ValueId v = n.first_out; v < n.first_out + n.outputs; ++v) {
      spec(level_.graph->spec(v));
      number_of(v) = level_.next++;
    }
    attributes(n);
  }
  int& number_of(ValueId v) { return level_.numbers[v]; }
  void value(ValueId v) {
    int& n = number_of(v);
    if (n < 0) {  // produced outside the part that is hashed
      n = level_.next++;
      spec(level_.graph->spec(v));
    }
    body_.count(static_cast<std::size_t>(n));
  }
  void op(const OpDef& row) {
    const auto at = std::find(ops_.begin(), ops_.end(), &row);
    body_.count(static_cast<std::size_t>(at - ops_.begin()));
    if (at == ops_.end()) ops_.push_back(&row);
  }
  void op_names() {
    body_.count(ops_.size());
    for (const OpDef* row : ops_) body_.text(row->name);
  }

  void attributes(const Node& n) {
    if (n.attrs.type() != n.op->attrs) refuse("attributes of a type that its op definition does not declare");
    const bool is_variable = n.op == &read_variable_op || n.op == &assign_variable_op;
    if (!named_ && is_variable)  // identifies the Variable, independent of its index in the graph
      return body_.count(variables_.index_of(variable_of(*level_.graph, n)));
    const std::size_t at = body_.out.size();
    fields_ = 0;
    body_.number(fields_);
    n.attrs.visit(*this);
    body_.out[at] = static_cast<char>(fields_);
  }
  void field(const char* name, FieldKind kind) {
    ++fields_;
    body_.text(name);
    body_.number(kind);
  }
  void number(const char* name, i64 x) override { field(name, FieldKind::number), body_.number(x); }
  void real(const char* name, double x) override { field(name, FieldKind::real), body_.number(x); }
  void text(const char* name, const std::string& x) override { field(name, FieldKind::text), body_.text(x); }
  void optional_text(const char* name, const std::string& x) override {
    if (!x.empty()) text(name, x);
  }
  void numbers(const char* name, const i64* values, int n) override {
    field(name, FieldKind::numbers);
    body_.number(n < 0 ? not_given : static_cast<std::uint8_t>(n));
    for (int i = 0; i < n; ++i) body_.number(values[i]);
  }
  void list(const char* name, const i64* values, int n) override {
    if (n <= max_rank) return numbers(name, values, n);  // as earlier versions read it
    field(name, FieldKind::list);
    body_.count(static_cast<std::size_t>(n));
    for (int i = 0; i < n; ++i) body_.number(values[i]);
  }
  void opaque(const char* name, const Opaque* x) override {
    if (const auto* g = dynamic_cast<const Graph*>(x)) {
      field(name, FieldKind::graph);
      const std::uint8_t fields = fields_;
      graph(*g);
      fields_ = fields;
    } else if (const auto* t = dynamic_cast<const TensorBox*>(x)) {
      field(name, FieldKind::tensor);
      tensor(t->value);
    } else if (const auto* o = dynamic_cast<const SavedObject*>(x); o && TANDEM_VIRTUAL(*o, SavedObject::is_fixed)()) {
      field(name, FieldKind::object);
      object(*o);
    } else if (o) {
      refuse(std::string("a ") + o->kind() + " as '" + name +
             "', which changes; a copy that does not, such as a StaticHashTable, can be saved");
    } else {
      refuse(std::string("a ") + (x ? x->kind() : "missing value") + " as '" + name + "'");
    }
  }
  void object(const SavedObject& o) {
    const auto at = std::find(objects_.begin(), objects_.end(), &o);
    body_.count(static_cast<std::size_t>(at - objects_.begin()));
    if (at != objects_.end()) return;
    objects_.push_back(&o);
    body_.text(o.kind());
    const std::vector<Tensor> parts = TANDEM_VIRTUAL(o, SavedObject::parts)();
    body_.count(parts.size());
    for (const Tensor& t : parts) tensor(t);
  }
  [[noreturn]] void refuse(const std::string& what) const {
    const std::string where = node_ ? "node '" + node_->name + "' (" + node_->op->name + ")" : "a Variable";
    errors::raise<errors::UnimplementedError>("serialize", where + " has " + what + ", which cannot be saved");
  }

  void spec(const Spec& s) {
    if (named_ && !is_storable(s.shape)) refuse("a value " + to_string(s));
    body_.number(s.dtype);
    body_.number(s.device.kind);
    body_.number(s.device.index);
    body_.number(static_cast<std::uint8_t>(s.shape.rank()));
    for (i64 d : s.shape) body_.number(d);
  }
  void tensor(const Tensor& t) {
    spec(t.spec());
    body_.number(static_cast<std::uint8_t>(!t.is_symbolic()));
    if (t.is_symbolic()) return;
    const Tensor here = t.cpu();
    if (t.dtype() != DType::string) return body_.raw(here.raw(), here.spec().bytes());
    for (i64 i = 0; i < t.size(); ++i) body_.text(static_cast<const Bytes*>(here.raw())[i].view());
  }

  ByteWriter body_;
  std::vector<const OpDef*> ops_;
  VariableSet variables_;
  std::vector<const SavedObject*> objects_;
  Level level_;
  const Node* node_ = nullptr;
  std::uint8_t fields_ = 0;
  int depth_ = 0;
  bool named_ = true;
};

}  // namespace detail

TANDEM_LAZY_INLINE std::string serialize(const Graph& graph, const SaveOptions& options) {
  const detail::OutsideTrace outside;
  verify(graph);
  return detail::GraphWriter().file(graph, options);
}
TANDEM_LAZY_INLINE std::size_t structure_hash(const Graph& graph, std::string_view scope) {
  const detail::OutsideTrace outside;
  return std::hash<std::string>()(detail::GraphWriter().structure(graph, scope));
}

}  // namespace TANDEM_NS
