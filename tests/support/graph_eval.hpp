// Graphs run one op after the other, without plans: what tests of passes compare with. And graphs traced from lambdas.
#pragma once
#include <vector>

#include "tandem/core/apply.hpp"
#include "tandem/graph/trace.hpp"

namespace testing {

using List = std::vector<tandem::Tensor>;

/// f's graph for arguments of these specs; f takes and returns lists.
template <class F>
tandem::Ref<tandem::Graph> traced(const std::vector<tandem::Spec>& arguments, const F& f) {
  tandem::Tracer tracer("f");
  List symbols;
  for (const tandem::Spec& s : arguments) symbols.push_back(tracer.argument(s));
  return tracer.finish(f(symbols));
}

/// The graph's outputs; Variables are read and assigned on the way.
inline List evaluate(const tandem::Graph& g, const List& arguments) {
  using namespace tandem;
  List values(g.specs.size());
  const auto of = [&](int v) -> Tensor& { return values[static_cast<std::size_t>(v)]; };
  for (const Node& n : g.nodes) {
    const auto index = [&] { return static_cast<std::size_t>(n.attrs.get<IndexAttrs>().index); };
    if (n.op == &argument_op) of(n.first_out) = arguments[index()];
    else if (n.op == &constant_op) of(n.first_out) = *constant_of(n);
    else if (n.op == &read_variable_op) of(n.first_out) = g.variables[index()].peek();
    else if (n.op == &assign_variable_op) g.variables[index()].poke(of(n.in[0]));
    else {
      Small<const Tensor*, 8> in;
      for (int v : n.in) in.push(&of(v));
      const InferCall call{*n.op, {in.begin(), in.size()}, n.attrs, no_options};
      const Tensors out = run(*n.op, call.in, n.attrs, n.op->infer(call));
      for (std::size_t k = 0; k < out.size(); ++k) of(n.first_out + static_cast<int>(k)) = out[k];
    }
  }
  List results;
  for (int v : g.outputs) results.push_back(of(v));
  return results;
}

/// How many nodes of the graph are this op's.
inline int count(const tandem::Graph& g, const tandem::OpDef& op) {
  int n = 0;
  for (const tandem::Node& node : g.nodes) n += node.op == &op;
  return n;
}

}  // namespace testing
