// replay: a graph's ops applied one by one. Not here: running a graph as a whole (program.hpp).
#pragma once
#include "tandem/graph/graph.hpp"

namespace TANDEM_NS {

/// Applies the graph's ops one by one, as if they had been called here: eagerly, recorded or traced.
TANDEM_API Tensors replay(const Graph& graph, Inputs arguments);

}  // namespace TANDEM_NS

#ifdef TANDEM_IMPLEMENT_GRAPH
#include "tandem/core/apply.hpp"
#include "tandem/graph/control_ops.hpp"
namespace TANDEM_NS {
namespace detail {

// Applies a graph's ops; what reads and assignments do is the caller's.
template <class Read, class Assign>
Tensors replay_ops(const Graph& g, Inputs arguments, const Read& read, const Assign& assign,
                   std::vector<Tensor>* by_value = nullptr) {
  std::vector<Tensor> own;
  std::vector<Tensor>& values = by_value ? *by_value : own;
  values.resize(g.specs.size());
  for (const Node& n : g.nodes) {
    const auto first = static_cast<std::size_t>(n.first_out);
    if (n.op == &argument_op) {
      values[first] = *arguments[static_cast<std::size_t>(n.attrs.get<IndexAttrs>().index)];
    } else if (n.op == &constant_op) {
      values[first] = *constant_of(n);
    } else if (n.op == &read_variable_op) {
      values[first] = read(n);
    } else if (n.op == &assign_variable_op) {
      assign(n, values[static_cast<std::size_t>(n.in[0])]);
    } else {
      Small<const Tensor*, 8> in;
      for (int v : n.in) in.push(&values[static_cast<std::size_t>(v)]);
      const OpOptions options{.name = {}, .where = n.where};
      Tensors out = n.op->execute && context.observers
                        ? apply(*n.op, {in.begin(), in.size()}, recording(*n.op, n.attrs), options)
                        : apply(*n.op, {in.begin(), in.size()}, n.attrs, options);
      for (unsigned k = 0; k < static_cast<unsigned>(n.outputs); ++k) values[first + k] = std::move(out[k]);
    }
  }
  Tensors out;
  for (int v : g.outputs) out.push(values[static_cast<std::size_t>(v)]);
  return out;
}
inline const Variable& variable_of(const Graph& g, const Node& n) {
  return g.variables[static_cast<std::size_t>(n.attrs.get<IndexAttrs>().index)];
}

}  // namespace detail

TANDEM_INLINE Tensors replay(const Graph& g, Inputs arguments) {
  return detail::replay_ops(
      g, arguments, [&](const Node& n) { return detail::variable_of(g, n).read_value(); },
      [&](const Node& n, const Tensor& value) { detail::variable_of(g, n).assign(value); });
}

}  // namespace TANDEM_NS
#include "tandem/graph/concrete.hpp"  // defines what control_ops.hpp declares
#endif
