// Definitions of summary/file_writer.hpp: graphs, as TensorFlow's GraphDef (tensorflow/core/framework/graph.proto).
#pragma once
#include "tandem/graph/debug/graph_def.hpp"
#include "tandem/summary/file_writer.hpp"
#include "tandem/summary/values.hpp"
#include "tandem/summary/wire.hpp"

namespace TANDEM_NS::summary {

namespace impl {

// NodeDef.attr: an entry of a map, whose value `body` appends.
template <class F>
void append_attr(std::string& to, std::string_view key, const F& body) {
  detail::append_message(to, 5, [&] {
    detail::append_field(to, 1, key);
    detail::append_message(to, 2, body);
  });
}
TANDEM_INLINE void append_text_attr(std::string& to, std::string_view key, const std::string& text) {
  if (!text.empty()) append_attr(to, key, [&] { detail::append_field(to, 2, text); });
}
// "dense/MatMul:0" as GraphDef writes it, below a prefix: the first output has no number.
TANDEM_INLINE std::string input_name(const std::string& prefix, const std::string& value) {
  return prefix + (value.ends_with(":0") ? value.substr(0, value.size() - 2) : value);
}
TANDEM_INLINE void append_node(std::string& to, const std::string& prefix, const GraphDef::Node& n) {
  detail::append_message(to, 1, [&] {
    detail::append_field(to, 1, prefix + n.name);
    detail::append_field(to, 2, n.op);
    for (const std::string& in : n.inputs) detail::append_field(to, 3, input_name(prefix, in));
    if (!n.outputs.empty()) detail::append_field(to, 4, to_string(n.outputs[0].device));
    append_attr(to, "_output_shapes", [&] {
      detail::append_message(to, 1, [&] {
        for (const Spec& out : n.outputs) {
          std::vector<i64> dims;
          for (int i = 0; i < out.shape.rank(); ++i) dims.push_back(out.shape.dim(i) == none ? -1 : out.shape.dim(i));
          detail::append_message(to, 7, [&] { detail::append_dims(to, dims); });
        }
      });
    });
    if (!n.outputs.empty())
      append_attr(to, "T", [&] { detail::append_integer(to, 6, detail::data_type(n.outputs[0].dtype)); });
    append_text_attr(to, "attributes", n.attributes);
    append_text_attr(to, "where", n.where);
  });
}
// The bodies of control flow are scopes below their node.
TANDEM_INLINE void append_nodes(std::string& to, const std::string& prefix, const GraphDef& def) {
  for (const GraphDef::Node& n : def.nodes) {
    append_node(to, prefix, n);
    for (std::size_t i = 0; i < n.bodies.size(); ++i)
      append_nodes(to, prefix + n.name + "/body_" + std::to_string(i) + "/", n.bodies[i]);
  }
}

}  // namespace impl

TANDEM_INLINE void FileWriter::graph(const Graph& graph) {
  detail::check_not_traced("graph");
  std::string to;
  impl::append_nodes(to, "", as_graph_def(graph));
  detail::append_message(to, 4, [&] { detail::append_integer(to, 1, 1987); });  // versions.producer
  recorder_->add_event("graph", 4, to, 0);
}
TANDEM_INLINE void FileWriter::graph(const ConcreteFunction& function) { graph(function.graph()); }

}  // namespace TANDEM_NS::summary
