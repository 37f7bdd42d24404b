// Definitions of graph/debug/graph_def.hpp.
#pragma once
#include "tandem/core/print.hpp"
#include "tandem/graph/debug/graph_def.hpp"
#include "tandem/graph/ir/common.hpp"

namespace TANDEM_NS {
namespace detail {

TANDEM_LAZY TANDEM_INLINE ById<ValueId, std::string> names_of_values(const Graph& g) {
  ById<ValueId, std::string> r(g.specs.size());
  for (const Node& n : g.nodes)
    for (int k = 0; k < n.outputs; ++k)
      r[n.first_out + k] =
          (n.name.empty() ? "%" + std::to_string(n.first_out.number()) : n.name) + ":" + std::to_string(k);
  return r;
}
TANDEM_LAZY TANDEM_INLINE std::string quoted(const std::string& s) {
  std::string r = "\"";
  for (const char c : s) {
    if (c == '"' || c == '\\') r += '\\';
    if (c == '\n') r += "\\n";
    else r += c;
  }
  return r + "\"";
}
TANDEM_LAZY TANDEM_INLINE std::string text_of(const GraphDef& def, const std::string& indent) {
  std::string s;
  const auto line = [&](const char* field, const std::string& value) {
    s += indent + "  " + field + ": " + quoted(value) + "\n";
  };
  for (const GraphDef::Node& n : def.nodes) {
    s += indent + "node {\n";
    line("name", n.name), line("op", n.op);
    for (const std::string& in : n.inputs) line("input", in);
    for (const Spec& out : n.outputs) line("output", to_string(out));
    if (!n.attributes.empty()) line("attributes", n.attributes);
    if (!n.where.empty()) line("where", n.where);
    for (const GraphDef& body : n.bodies)
      s += indent + "  body {\n" + text_of(body, indent + "    ") + indent + "  }\n";
    s += indent + "}\n";
  }
  s += indent + "name: " + quoted(def.name) + "\n";
  for (const std::string& v : def.arguments) s += indent + "argument: " + quoted(v) + "\n";
  for (const std::string& v : def.outputs) s += indent + "output: " + quoted(v) + "\n";
  return s;
}

}  // namespace detail

TANDEM_LAZY_INLINE GraphDef as_graph_def(const Graph& g) {
  const ById<ValueId, std::string> names = detail::names_of_values(g);
  const auto named = [&](const auto& values) {
    std::vector<std::string> r;
    for (ValueId v : values) r.push_back(names[v]);
    return r;
  };
  GraphDef def{g.name, named(g.arguments), {}, named(g.outputs)};
  for (const Node& n : g.nodes) {
    GraphDef::Node& to = def.nodes.emplace_back();
    to.name = n.name.empty() ? "%" + std::to_string(n.first_out.number()) : n.name;
    to.op = n.op->name;
    to.inputs = named(n.in);
    for (int k = 0; k < n.outputs; ++k) to.outputs.push_back(g.spec(n.first_out + k));
    to.attributes = detail::describe(g, n);
    to.where = detail::line_text(n.where);
    for (const Graph* body : subgraphs(n)) to.bodies.push_back(as_graph_def(*body));
  }
  return def;
}
TANDEM_LAZY_INLINE std::string to_string(const GraphDef& def) { return detail::text_of(def, ""); }

}  // namespace TANDEM_NS
