// Parses graphs from untrusted bytes.
#pragma once
#include <algorithm>
#include <unordered_map>

#include "tandem/core/saved_object.hpp"
#include "tandem/graph/control/control_code.hpp"
#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/exec/concrete.hpp"  // the rows of control flow
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/io/serialize_bytes.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_LAZY class GraphReader final : AttrReader {
 public:
  GraphReader(std::string_view bytes, const LoadOptions& options) : bytes_(bytes), options_(options) {}

  NamedGraph file() {
    header();
    NamedGraph r;
    if (format_ >= 2) r.inputs = names(), r.outputs = names();
    read_variables();
    read_ops();
    r.graph = graph();
    check_names(r.inputs, r.graph->arguments.size(), "inputs");
    check_names(r.outputs, r.graph->outputs.size(), "outputs");
    if (bytes_.left()) bytes_.fail("has " + std::to_string(bytes_.left()) + " bytes after its end");
    return r;
  }

 private:
  static constexpr std::size_t least_tensor = 5, least_node = 17;  // bytes

  void header() {
    if (bytes_.left() < 20 || bytes_.take(8) != graph_magic)
      bytes_.fail("is not a saved graph: it does not begin with " + std::string(graph_magic));
    format_ = bytes_.number<std::uint32_t>();
    std::string writer;
    for (int i = 0; i < 4; ++i)
      if (const auto v = bytes_.number<std::uint16_t>(); i < 3) writer += (i ? "." : "") + std::to_string(v);
    if (format_ > graph_format)
      errors::raise<errors::FailedPreconditionError>(
          "parse_graph",
          "the graph has format " + std::to_string(format_) + ", written by Tandem " + writer +
              "; this is Tandem " TANDEM_STRINGIFY(TANDEM_VERSION_MAJOR) "." TANDEM_STRINGIFY(
                  TANDEM_VERSION_MINOR) "." TANDEM_STRINGIFY(TANDEM_VERSION_PATCH) ", which reads formats up to " +
              std::to_string(graph_format) + ": read it with " + writer + " or later");
    if (format_ == 0) bytes_.fail("has format 0, which was never written");
  }
  std::vector<std::string> names() {
    std::vector<std::string> r(bytes_.count(4));
    for (std::string& name : r)
      if ((name = bytes_.text()).empty()) bytes_.fail("has an input or output with an empty name");
    return r;
  }
  void check_names(const std::vector<std::string>& names, std::size_t count, const char* what) const {
    if (!names.empty() && names.size() != count)
      bytes_.fail("names " + std::to_string(names.size()) + " of " + std::to_string(count) + " " + what);
    if (const std::string* const twice = repeated(names))
      bytes_.fail("has two " + std::string(what) + " '" + *twice + "'");
  }
  void read_ops() {
    const std::size_t n = bytes_.count(4);
    for (std::size_t i = 0; i < n; ++i) ops_.push_back(op_named(bytes_.text()));
  }
  const OpDef* op_named(const std::string& name) const {
    for (const OpDef* row : graph_ops)
      if (row->name == name) return row;
    for (const OpDef* row : control_ops)
      if (row->name == name) return row;
    std::size_t count = 0;
    for (const Span<const OpDef* const> list : options_.ops.lists()) {
      for (const OpDef* row : list)
        if (row->name == name) return row;
      count += list.size();
    }
    errors::raise<errors::NotFoundError>(
        "parse_graph",
        "the graph has the op '" + name + "', which is not among the " + std::to_string(count) +
            " ops of LoadOptions::ops (all_ops() of tandem/op_table.hpp has those of the core; each component has its "
            "own, such as strings::all_ops() of tandem/strings_op_table.hpp)");
  }

  void read_variables() {
    const std::size_t n = bytes_.count(least_tensor + 5);
    if (n) replaced_ = by_name(options_.variables), values_ = by_name(options_.values);
    std::vector<std::string> names, elsewhere;
    for (std::size_t i = 0; i < n; ++i) {
      names.push_back(bytes_.text());
      const bool trainable = flag();
      const Tensor value = tensor(format_ >= 2);
      if (value.is_symbolic()) elsewhere.push_back(names.back());
      variables_.push_back(variable(names.back(), trainable, value));
    }
    if (const std::string* const twice = repeated(elsewhere))
      bytes_.fail("has two Variables '" + *twice + "' whose values are elsewhere");
    check_replaced(names);
  }
  // Each Variable that is given instead of a saved one replaces exactly one.
  void check_replaced(const std::vector<std::string>& names) const {
    if (options_.variables.empty()) return;
    std::unordered_map<std::string_view, int> times;
    for (const std::string& name : names) ++times[name];
    for (const auto& [name, v] : options_.variables)
      if (const auto at = times.find(name); at == times.end() || at->second != 1)
        errors::raise<errors::NotFoundError>(
            "parse_graph",
            at != times.end() ? "several Variables of the graph are named '" + name + "'"
                              : "no Variable of the graph is named '" + name + "', which LoadOptions::variables gives");
  }
  Variable variable(const std::string& name, bool trainable, const Tensor& value) const {
    const Variable* given = find(replaced_, name);
    if (!given && value.is_symbolic()) {
      given = find(values_, name);
      if (!given)
        errors::raise<errors::NotFoundError>("parse_graph", "the value of the Variable '" + name + "' " +
                                                                to_string(value.spec()) +
                                                                " is not in the file: give it in LoadOptions::values");
    }
    if (!given) return Variable(value, {.name = name.c_str(), .trainable = trainable});
    if (!(given->spec() == value.spec()))
      errors::raise<errors::InvalidArgumentError>("parse_graph", "the Variable given for '" + name + "' is " +
                                                                     with_device(given->spec()) + ", the saved one " +
                                                                     with_device(value.spec()));
    return *given;
  }
  static std::string with_device(const Spec& s) { return to_string(s) + " on " + to_string(s.device); }
  using ByName = std::unordered_map<std::string_view, const Variable*>;
  static ByName by_name(const std::vector<std::pair<std::string, Variable>>& list) {
    ByName r;
    for (const auto& [name, v] : list) r.emplace(name, &v);
    return r;
  }
  static const Variable* find(const ByName& list, const std::string& name) {
    const auto at = list.find(name);
    return at == list.end() ? nullptr : at->second;
  }

  Ref<Graph> graph() {
    if (++depth_ > max_graph_depth) bytes_.fail("nests graphs beyond depth " + std::to_string(max_graph_depth));
    auto g = make_ref<Graph>();
    g->name = bytes_.text();
    // Bounds the number of arguments by the number of nodes that the remaining bytes could hold.
    g->arguments.resize(bytes_.count(1));
    const std::size_t n = bytes_.count(4);
    for (std::size_t i = 0; i < n; ++i) g->variables.push_back(variables_[bytes_.below(variables_.size(), "Variable")]);
    Verified values(0);
    const std::size_t nodes = bytes_.count(least_node);
    for (std::size_t i = 0; i < nodes; ++i) node(*g, values);
    for (ValueId v : g->arguments)
      if (!v.is_set()) bytes_.fail("lacks an argument");
    const std::size_t outputs = bytes_.count(4);
    for (std::size_t i = 0; i < outputs; ++i) {
      g->outputs.push_back(ValueId(bytes_.below(g->specs.size(), "the output")));
      if (values.lacks_data[g->outputs.back()]) bytes_.fail("returns a constant without data");
    }
    --depth_;
    return g;
  }
  void node(Graph& g, Verified& values) {
    const OpDef& op = *ops_[bytes_.below(ops_.size(), "op")];
    Node n;
    n.op = &op;
    n.name = bytes_.text();
    const std::size_t inputs = bytes_.count(4);
    for (std::size_t i = 0; i < inputs; ++i) n.in.push_back(ValueId(bytes_.below(g.specs.size(), "input")));
    const std::size_t outputs = bytes_.count(4);
    n.first_out = g.specs.end_id(), n.outputs = static_cast<int>(outputs);
    for (std::size_t i = 0; i < outputs; ++i) g.specs.push_back(spec());
    values.known.resize(g.specs.size()), values.lacks_data.resize(g.specs.size());
    n.attrs = attributes(n);
    if (&op == &argument_op) claim_argument(g, n);
    const Specs is = specs_by_rule(g, n, values);
    for (std::size_t i = 0; i < outputs; ++i) {
      g.specs[n.first_out + static_cast<int>(i)] =
          is[i];  // the rule's spec replaces the file's if they differ in detail
      check_size(is[i].shape);
    }
    values.add(g, n);
    g.nodes.push_back(std::move(n));
  }
  void claim_argument(Graph& g, const Node& n) const {
    const i64 at = n.attrs.get<rules::PositionAttrs>().index;
    if (at < 0 || at >= static_cast<i64>(g.arguments.size()) || g.arguments[static_cast<std::size_t>(at)].is_set())
      bytes_.fail("has the argument " + std::to_string(at) + " twice, or out of range");
    g.arguments[static_cast<std::size_t>(at)] = n.first_out;
  }
  Specs specs_by_rule(const Graph& g, const Node& n, const Verified& values) const {
    try {
      return verified_specs(g, n, values);
    } catch (const errors::OpError& e) {
      bytes_.fail(std::string("has an invalid node: ") + e.message());
    }
  }

  Attrs attributes(const Node& n) {
    node_ = &n;
    fields_ = bytes_.number<std::uint8_t>();
    Attrs a = n.op->attrs ? n.op->attrs->read(*this) : Attrs();
    if (fields_) fail_in_node(*node_, "has an attribute that this version does not know");
    return a;
  }
  bool begins(const char* name) { return fields_ && fields_-- && bytes_.text() == name; }
  void field(const char* name, FieldKind kind) {
    if (!begins(name) || bytes_.number<FieldKind>() != kind) misfit(name);
  }
  i64 number(const char* name) override { return field(name, FieldKind::number), bytes_.number<i64>(); }
  double real(const char* name) override { return field(name, FieldKind::real), bytes_.number<double>(); }
  std::string text(const char* name) override { return field(name, FieldKind::text), bytes_.text(); }
  std::string optional_text(const char* name) override { return fields_ ? text(name) : std::string(); }
  int numbers(const char* name, i64* values) override {
    field(name, FieldKind::numbers);
    const auto n = bytes_.number<std::uint8_t>();
    if (n == not_given) return -1;
    if (n > max_rank) misfit(name);
    for (int i = 0; i < n; ++i) values[i] = bytes_.number<i64>();
    return n;
  }
  IntList list(const char* name) override {
    if (!begins(name)) misfit(name);
    const FieldKind kind = bytes_.number<FieldKind>();  // numbers, or list where it is long
    if (kind != FieldKind::list && kind != FieldKind::numbers) misfit(name);
    const std::size_t n =
        kind == FieldKind::list ? bytes_.count(sizeof(i64)) : bytes_.below<std::uint8_t>(max_rank + 1, "list of size");
    IntList r;
    r.reserve(static_cast<unsigned>(n));
    for (std::size_t i = 0; i < n; ++i) r.push_back(bytes_.number<i64>());
    return r;
  }
  Ref<Opaque> opaque(const char* name) override {
    if (!begins(name)) misfit(name);
    const auto kind = bytes_.number<FieldKind>();
    if (kind == FieldKind::tensor) return Ref<Opaque>(make_ref<TensorBox>(tensor(true)).get());
    if (kind == FieldKind::object && format_ >= 2) return object();
    if (kind != FieldKind::graph) misfit(name);
    const Node* const node = node_;
    const std::uint8_t fields = fields_;
    const Ref<Graph> g = graph();
    node_ = node, fields_ = fields;
    return Ref<Opaque>(g.get());
  }
  // What an object is made of. The first attribute that refers to it makes the object.
  Ref<Opaque> object() {
    const std::size_t at = bytes_.below(objects_.size() + 1, "object");
    if (at < objects_.size()) return Ref<Opaque>(objects_[at].get());
    std::string kind = bytes_.text();
    std::vector<Tensor> parts;
    for (std::size_t n = bytes_.count(least_tensor); n > 0; --n) parts.push_back(tensor(false));
    objects_.push_back(make_ref<ObjectParts>(std::move(kind), std::move(parts)));
    return Ref<Opaque>(objects_.back().get());
  }
  [[noreturn]] void misfit(const char* name) override {
    fail_in_node(*node_, std::string("has a missing or invalid attribute '") + name + "'");
  }
  [[noreturn]] void fail_in_node(const Node& n, const std::string& what) const {
    bytes_.fail("has a node '" + n.name + "' (" + n.op->name + ") that " + what);
  }

  bool flag() { return bytes_.below<std::uint8_t>(2, "flag") == 1; }
  void check_size(const Shape& s) const {
    if (!is_storable(s)) bytes_.fail("has a value of shape " + to_string(s));
  }
  Spec spec() {
    Spec s;
    s.dtype = static_cast<DType>(bytes_.below<std::uint8_t>(dtype_count, "dtype"));
    s.device.kind = static_cast<Device::Kind>(bytes_.below<std::uint8_t>(device_kinds, "device"));
    s.device.index = bytes_.number<std::uint8_t>();
    const std::size_t rank = bytes_.below<std::uint8_t>(max_rank + 1, "rank");
    for (std::size_t i = 0; i < rank; ++i) s.shape.push_back(bytes_.number<i64>());
    check_size(s.shape);
    return s;
  }
  Tensor tensor(bool may_be_symbolic) {
    const Spec s = spec();
    if (!flag()) {
      if (!may_be_symbolic) bytes_.fail("has a Variable or an object without a value");
      return Tensor::symbol(s);
    }
    if (!s.shape.is_fully_defined()) bytes_.fail("has a constant " + to_string(s));
    const std::size_t element = s.dtype == DType::string ? 4 : size_of(s.dtype);
    const auto elements = static_cast<std::size_t>(s.shape.size());
    if (elements > bytes_.left() / element) (void)bytes_.take(elements * element);  // raises
    const Tensor t = Tensor::allocate({s.shape, s.dtype, {}});
    if (s.dtype == DType::string) {
      for (std::size_t i = 0; i < elements; ++i) static_cast<Bytes*>(t.raw())[i] = Bytes(bytes_.take(bytes_.count(1)));
    } else if (elements) {
      const std::string_view data = bytes_.take(elements * element);
      if (s.dtype == DType::bool_ && data.find_first_not_of(std::string_view("\0\1", 2)) != data.npos)
        bytes_.fail("has a bool that is neither 0 nor 1");
      std::memcpy(t.raw(), data.data(), data.size());
    }
    return t.to(s.device);
  }

  ByteReader bytes_;
  const LoadOptions& options_;
  ByName replaced_, values_;  // those of the options
  std::uint32_t format_ = 0;
  std::vector<const OpDef*> ops_;
  std::vector<Variable> variables_;
  std::vector<Ref<ObjectParts>> objects_;
  int depth_ = 0;
  const Node* node_ = nullptr;  // whose attributes are being read
  std::uint8_t fields_ = 0;     // the number of its attributes that remain
};

}  // namespace detail

TANDEM_LAZY_INLINE NamedGraph parse_named_graph(std::string_view bytes, const LoadOptions& options) {
  detail::use_control_code();
  const detail::OutsideTrace outside;
  struct Unscoped {
    const char* scope = std::exchange(context.scope, nullptr);
    ~Unscoped() { context.scope = scope; }
  } unscoped;  // Variables keep their names
  return detail::GraphReader(bytes, options).file();
}
TANDEM_LAZY_INLINE Ref<Graph> parse_graph(std::string_view bytes, const LoadOptions& options) {
  return parse_named_graph(bytes, options).graph;
}

}  // namespace TANDEM_NS
