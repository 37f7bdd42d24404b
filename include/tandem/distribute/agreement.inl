// Definitions of distribute/agreement.hpp.
#pragma once
#include <algorithm>
#include <string_view>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/base/location.hpp"
#include "tandem/distribute/agreement.hpp"
#include "tandem/util/fnv1a.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::distribute::impl {

// A node as text: what must be equal in any case, what must be equal where the sizes of arguments are, and for errors.
struct NodeText {
  std::string structure, details, display;
};

class DetailsOf final : public AttrVisitor {
 public:
  std::string all, group;
  void number(const char* name, i64 value) override {
    const std::string_view n = name;  // of slices: a place that may depend on the rank
    if (n != "begin" && n != "index") add(name, std::to_string(value));
  }
  void real(const char* name, double value) override { add(name, tandem::detail::rounded_text(value, 17)); }
  void text(const char* name, const std::string& value) override {
    const std::string_view n = name;  // of collectives: a line, and a group of which each rank may have its own
    if (n == "group") group = value;
    else if (n != "label") add(name, '\'' + value + '\'');
  }
  void numbers(const char*, const i64*, int) override {}
  void opaque(const char*, const Opaque*) override {}

 private:
  void add(const char* name, const std::string& value) { all += std::string(" ") + name + "=" + value; }
};

class GraphText {
 public:
  GraphText(const Graph& graph, const std::string& group) : group_(group) { add(graph, ""); }

  std::vector<NodeText> nodes;
  bool has_collectives = false;                // of the group
  bool has_empty = false, has_single = false;  // arguments without rows, with one row
  u64 rows = tandem::detail::fnv1a_start;      // of the numbers of rows that may differ between ranks

 private:
  // The sizes but that of axis 0, which may differ.
  void add_columns(NodeText& t, const Shape& shape) {
    for (int i = 1; i < shape.rank(); ++i) t.structure += "," + std::to_string(shape.dim(i));
    if (shape.rank() == 0) return;
    rows = tandem::detail::fnv1a(std::to_string(shape.dim(0)) + ";", rows);
  }
  void add(const Graph& g, const std::string& indent) {
    for (const Node& n : g.nodes) {
      NodeText t;
      t.structure = indent + n.op->name + "(";
      for (const ValueId v : n.in) t.structure += std::to_string(v.number()) + ",";
      t.structure += ")";
      std::string specs;
      for (int k = 0; k < n.outputs; ++k) {
        const Spec& s = g.spec(n.first_out + k);
        t.structure += std::string(" ") + tandem::name(s.dtype) + "/" + std::to_string(s.shape.rank());
        specs += " " + to_string(s);
      }
      if (n.op == &argument_op && indent.empty()) {
        const Shape& shape = g.spec(n.first_out).shape;
        add_columns(t, shape);
        has_empty = has_empty || (shape.rank() > 0 && shape.dim(0) == 0);
        has_single = has_single || (shape.rank() > 0 && shape.dim(0) == 1);
      }
      if (n.op == &read_variable_op || n.op == &assign_variable_op) {
        const Variable& v = variable_of(g, n);
        t.structure += " #" + std::to_string(variable_index(n).number()) + " ";
        if (v.aggregate()) t.structure += to_string(v.shape());
        else add_columns(t, v.shape());
        t.display = " of Variable '" + v.name() + "'";
      }
      DetailsOf attrs;
      n.attrs.visit(attrs);
      if (n.op->flags.collective && (attrs.group.empty() || attrs.group == group_)) has_collectives = true;
      t.details = specs + attrs.all;
      const std::string line = tandem::detail::line_text(n.where);
      t.display = "'" + n.name + "' (" + n.op->name + ")" + t.display + t.details +
                  (!line.empty()        ? " at " + line
                   : last_line_.empty() ? ""
                                        : ", after " + last_line_);
      if (!line.empty()) last_line_ = line;
      nodes.push_back(std::move(t));
      for (const Graph* body : subgraphs(n)) add(*body, indent + "  ");
    }
    std::string outputs = indent + "returns ";
    for (const ValueId v : g.outputs) outputs += std::to_string(v.number()) + ",";
    nodes.push_back({outputs,
                     {},
                     "the end of the graph, which returns " + std::to_string(g.outputs.size()) +
                         (g.outputs.size() == 1 ? " value" : " values")});
  }

  const std::string& group_;
  std::string last_line_;  // of the nodes so far
};

// What the ranks compare first.
struct GraphSummary {
  u64 structure = tandem::detail::fnv1a_start, details = tandem::detail::fnv1a_start, rows = 0, has_empty = 0,
      has_single = 0, bytes = 0, nodes = 0;
};
constexpr char separator = '\x1f';  // of the parts of a node's text

template <class T>
std::vector<T> gather_equal(const Communicator& group, const T* own, std::size_t count, const std::string& label) {
  const auto ranks = static_cast<std::size_t>(group.size());
  std::vector<T> all(ranks * count);
  const auto bytes = static_cast<i64>(count * sizeof(T));
  const std::vector<i64> receive(ranks, bytes);
  group.run({.kind = Collective::all_gather,
             .dtype = DType::uint8,
             .input = own,
             .output = all.data(),
             .count = bytes,
             .unit = bytes,
             .receive = receive},
            "all_gather", label);
  return all;
}
// The nodes of a rank, as its text has them.
inline std::vector<NodeText> parsed(std::string_view text) {
  std::vector<NodeText> r;
  const auto part = [&] {
    const std::size_t end = text.find(separator);
    const std::string s(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    return s;
  };
  while (!text.empty() && text.front() != '\0') {
    NodeText& t = r.emplace_back();
    t.structure = part(), t.details = part(), t.display = part();
  }
  return r;
}
// Exchanges the texts, and raises with the first difference from rank 0.
[[noreturn]] TANDEM_INLINE void raise_difference(const Communicator& group, const std::string& function,
                                                 std::string text, std::size_t bytes, bool with_details) {
  text.resize(bytes);
  const std::vector<char> all = gather_equal(group, text.data(), bytes, "the graphs of '" + function + "'");
  const auto of_rank = [&](std::size_t r) { return parsed({all.data() + r * bytes, bytes}); };
  const std::vector<NodeText> first = of_rank(0);
  const auto same = [&](const NodeText& a, const NodeText& b) {
    return a.structure == b.structure && (!with_details || a.details == b.details);
  };
  std::string difference = "they differ in their texts alone";
  for (std::size_t r = 1; r < static_cast<std::size_t>(group.size()); ++r) {
    const std::vector<NodeText> other = of_rank(r);
    const std::size_t both = std::min(first.size(), other.size());
    std::size_t i = 0;
    while (i < both && same(first[i], other[i])) ++i;
    if (i == both) continue;  // graphs end in a node of their own: one is not the beginning of the other
    difference = "node " + std::to_string(i) + " of rank 0 is " + first[i].display + ", of rank " + std::to_string(r) +
                 " " + other[i].display;
    break;
  }
  errors::raise<errors::FailedPreconditionError>(
      function.c_str(), "ranks have traced different graphs: " + difference +
                            ". All must run the same program, since they add up what it computes "
                            "(StrategyOptions::compare_graphs = false, if these are meant to differ)");
}

TANDEM_INLINE bool agree_on_graph(const Communicator& group, const Graph& graph, const std::string& function) {
  const GraphText own(graph, group.name());
  if (!own.has_collectives) return false;
  GraphSummary s;
  std::string text;
  for (const NodeText& t : own.nodes) {
    s.structure = tandem::detail::fnv1a(t.structure, s.structure),
    s.details = tandem::detail::fnv1a(t.details, s.details);
    text += t.structure + separator + t.details + separator + t.display + separator;
  }
  s.rows = own.rows, s.has_empty = own.has_empty, s.has_single = own.has_single, s.bytes = text.size(),
  s.nodes = own.nodes.size();
  const std::vector<GraphSummary> all = gather_equal(group, &s, 1, "the graph of '" + function + "'");
  bool same = true, same_rows = true, is_empty = false, is_single = false;
  u64 bytes = 0;
  for (const GraphSummary& o : all) {
    same_rows = same_rows && o.rows == all[0].rows;
    is_empty = is_empty || o.has_empty, is_single = is_single || o.has_single;
    bytes = std::max(bytes, o.bytes);
  }
  for (const GraphSummary& o : all)
    same = same && o.structure == all[0].structure && (!same_rows || o.details == all[0].details);
  // A rank without rows computes less, and one row broadcasts where several do not.
  if (!same && !is_empty && (same_rows || !is_single))
    raise_difference(group, function, std::move(text), bytes, same_rows);
  return true;
}

}  // namespace TANDEM_NS::distribute::impl
