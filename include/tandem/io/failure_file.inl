// Definitions of io/failure_file.hpp. The file is a graph of constants with names: texts, and two graphs as bytes: the
// function, and the arguments as constants.
#pragma once
#include <cstring>
#include <map>
#include <utility>

#include "tandem/base/warning.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/graph/ir/variable_set.hpp"
#include "tandem/io/failure_file.hpp"
#include "tandem/io/regular_file.hpp"
#include "tandem/io/replace_file.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/debug/cpu_features.hpp"

namespace TANDEM_NS::io {

namespace impl {

inline void collect_variables(const Graph& g, tandem::detail::VariableSet& to) {
  for (const Variable& v : g.variables) to.insert(v);
  for (const Node& n : g.nodes)
    for (const Graph* body : subgraphs(n)) collect_variables(*body, to);
}
TANDEM_INLINE Tensor zeros_of(const Spec& spec) {
  const Tensor t = Tensor::allocate({spec.shape, spec.dtype, Device()});
  if (t.dtype() != DType::string) std::memset(t.raw(), 0, t.spec().bytes());
  return t;
}
TANDEM_INLINE Tensor bytes_tensor(const std::string& bytes) {
  const Tensor t = Tensor::allocate({Shape{static_cast<i64>(bytes.size())}, DType::uint8, Device()});
  std::memcpy(t.raw(), bytes.data(), bytes.size());
  return t;
}
// Without the name and the line of the node, which a saved graph does not have.
TANDEM_INLINE std::string error_text(const errors::OpError& e) {
  const std::string text = e.message();
  const std::size_t colon = text.find(": ", e.op().size());
  return colon == text.npos ? text : e.op() + text.substr(colon);
}

[[noreturn]] TANDEM_INLINE void raise_too_large(i64 bytes, i64 most) {
  errors::raise<errors::ResourceExhaustedError>(
      "call_or_save", "it has " + std::to_string(bytes) + " bytes, above the limit of " + std::to_string(most));
}
// A call, as it is before it is made.
class Call {
 public:
  Call(const Graph& graph, const std::vector<Tensor>& arguments) : graph_(graph), arguments_(arguments) {
    tandem::detail::VariableSet all;
    collect_variables(graph, all);
    variables_ = std::move(all).take();
    for (const Variable& v : variables_) values_.push_back(v.value_untracked());
  }
  /// Whether values and arguments alone are too large is known before any of them is copied.
  void check_bytes(i64 most) const {
    i64 bytes = 0;
    const auto add = [&](const Tensor& t) {
      const bool is_text = t.dtype() == DType::string;  // of unknown length
      if (__builtin_add_overflow(bytes, is_text ? t.size() : static_cast<i64>(t.spec().bytes()), &bytes))
        bytes = INT64_MAX;
    };
    for (const Tensor& t : values_) add(t);
    for (const Tensor& t : arguments_) add(t);
    if (bytes > most) raise_too_large(bytes, most);
  }
  std::string file(const std::string& error, const FailureOptions& o) const {
    Graph file;
    std::vector<std::string> names;
    const auto add = [&](const char* name, const std::string& bytes) {
      names.emplace_back(name);
      file.outputs.push_back(file.add_constant(bytes_tensor(bytes)));
    };
    add("failure", "1");
    add("error", error);
    add("producer", "tandem " TANDEM_STRINGIFY(TANDEM_VERSION_MAJOR) "." TANDEM_STRINGIFY(
                        TANDEM_VERSION_MINOR) "." TANDEM_STRINGIFY(TANDEM_VERSION_PATCH));
    add("kernels", config::cpu_features().kernels);
    add("values", o.with_values ? "yes" : "no");
    add("graph", graph_bytes(o));
    add("arguments", argument_bytes(o.with_values));
    return serialize(file, {.outputs = names});
  }

 private:
  // The graph with Variables of its own, which have the values of before the call.
  std::string graph_bytes(const FailureOptions& o) const {
    std::vector<std::pair<std::string, Variable>> here, there;
    for (std::size_t i = 0; i < variables_.size(); ++i) {
      const Variable& v = variables_[i];
      const std::string name = std::to_string(i);
      here.emplace_back(name, v);
      const Tensor value = o.with_values ? values_[i].cpu() : zeros_of(values_[i].spec());
      there.emplace_back(name, Variable(value, {.name = v.name().c_str(), .trainable = v.trainable()}));
    }
    return serialize(*parse_graph(serialize(graph_, {.values_elsewhere = here}), {.ops = o.ops, .values = there}));
  }
  std::string argument_bytes(bool with_values) const {
    Graph g;
    for (const Tensor& t : arguments_) g.outputs.push_back(g.add_constant(with_values ? t.cpu() : zeros_of(t.spec())));
    return serialize(g);
  }

  const Graph& graph_;
  const std::vector<Tensor>& arguments_;
  std::vector<Variable> variables_;
  std::vector<Tensor> values_;
};

// Does not raise: the error of the call is what matters.
TANDEM_INLINE void leave_file(const Call& call, const std::string& error, const FailureOptions& o) noexcept {
  try {
    const tandem::detail::OutsideTrace outside;
    call.check_bytes(o.most_bytes);
    const std::string bytes = call.file(error, o);
    if (const i64 size = static_cast<i64>(bytes.size()); size > o.most_bytes) raise_too_large(size, o.most_bytes);
    replace_file(o.path, {{bytes.data(), bytes.size()}});
  } catch (const std::exception& e) {
    tandem::detail::warn(("no failure file " + o.path + ": " + e.what()).c_str());
  }
}

[[noreturn]] TANDEM_INLINE void raise_no_failure(const std::string& path, const std::string& why) {
  errors::raise<errors::DataLossError>("load_failure", path + " is not a failure file: " + why);
}

}  // namespace impl

TANDEM_INLINE std::vector<Tensor> call_or_save(ConcreteFunction& function, const std::vector<Tensor>& arguments,
                                               const FailureOptions& options) {
  const impl::Call call(function.graph(), arguments);
  try {
    return function(arguments);
  } catch (const errors::OpError& e) {
    if (e.code() != errors::Code::cancelled && e.code() != errors::Code::deadline_exceeded)
      impl::leave_file(call, impl::error_text(e), options);
    throw;
  }
}

TANDEM_INLINE Failure load_failure(const std::string& path, const LoadOptions& options) {
  const NamedGraph file = parse_named_graph(detail::read_regular_file("load_failure", path), options);
  std::map<std::string, std::string> parts;
  const ById<ValueId, NodeId> producers = file.graph->producers();
  for (std::size_t i = 0; i < file.outputs.size(); ++i) {
    const NodeId node = producers[file.graph->outputs[i]];
    const Tensor* const t = node.is_set() ? constant_of(file.graph->nodes[node]) : nullptr;
    if (!t || !t->has_data() || t->dtype() != DType::uint8) impl::raise_no_failure(path, "it computes something");
    parts[file.outputs[i]].assign(static_cast<const char*>(t->raw()), static_cast<std::size_t>(t->size()));
  }
  for (const char* needed : {"failure", "error", "producer", "kernels", "values", "graph", "arguments"})
    if (!parts.contains(needed)) impl::raise_no_failure(path, std::string("it has no '") + needed + "'");
  if (parts["failure"] != "1")
    errors::raise<errors::FailedPreconditionError>("load_failure", path + " has a newer format");
  Failure r{parse_graph(parts["graph"], options),
            {},
            parts["error"],
            parts["producer"],
            parts["kernels"],
            parts["values"] == "yes"};
  const Ref<Graph> arguments = parse_graph(parts["arguments"], {});
  const ById<ValueId, NodeId> makers = arguments->producers();
  for (const ValueId v : arguments->outputs) {
    const NodeId node = makers[v];
    const Tensor* const t = node.is_set() ? constant_of(arguments->nodes[node]) : nullptr;
    if (!t || !t->has_data()) impl::raise_no_failure(path, "its arguments are not values");
    r.arguments.push_back(*t);
  }
  return r;
}

TANDEM_INLINE std::string replay_failure(const Failure& failure) {
  try {
    ConcreteFunction function(failure.graph);
    function(failure.arguments);
  } catch (const errors::OpError& e) {
    return impl::error_text(e);
  }
  return {};
}

}  // namespace TANDEM_NS::io
