// The plainest way to run a graph: node by node, by core's run(). Not here: plans, in-place writes, control flow.
#pragma once
#include <vector>

#include "tandem/graph/graph.hpp"

namespace testing {

/// Runs the graph on these arguments; reads and assigns its Variables in program order.
inline std::vector<tandem::Tensor> interpret(const tandem::Graph& g, const std::vector<tandem::Tensor>& arguments) {
  using namespace tandem;
  std::vector<Tensor> values(g.specs.size());
  const auto value = [&](int v) -> Tensor& { return values[static_cast<std::size_t>(v)]; };
  for (const Node& n : g.nodes) {
    if (n.op == &constant_op) {
      value(n.first_out) = *constant_of(n);
      continue;
    }
    if (n.op == &argument_op || n.op == &read_variable_op || n.op == &assign_variable_op) {
      const auto at = static_cast<std::size_t>(n.attrs.get<IndexAttrs>().index);
      if (n.op == &argument_op) value(n.first_out) = arguments.at(at);
      else if (n.op == &read_variable_op) value(n.first_out) = g.variables[at].peek();
      else g.variables[at].poke(value(n.in[0]));
      continue;
    }
    Small<const Tensor*, 8> in;
    for (int v : n.in) in.push(&value(v));
    const Inputs inputs{in.begin(), in.size()};
    Tensors out = run(*n.op, inputs, n.attrs, checked_specs(*n.op, inputs, n.attrs));
    for (int k = 0; k < n.outputs; ++k) value(n.first_out + k) = out[static_cast<std::size_t>(k)];
  }
  std::vector<Tensor> out;
  for (int v : g.outputs) out.push_back(value(v));
  return out;
}

}  // namespace testing
