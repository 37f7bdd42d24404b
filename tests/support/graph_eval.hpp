// Traces graphs from lambdas and evaluates graphs op by op, without plans: the reference for tests of passes.
#pragma once
#include <vector>

#include "tandem/core/scope.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/trace/trace.hpp"

namespace testing {

using List = std::vector<tandem::Tensor>;

/// All passes off.
inline constexpr tandem::PassOptions no_passes{.eliminate_dead_code = false,
                                               .simplify = false,
                                               .fold_constants = false,
                                               .eliminate_common_subexpressions = false,
                                               .combine_updates = false,
                                               .fuse_epilogues = false,
                                               .combine_products = false,
                                               .fuse = false,
                                               .fuse_reductions = false};
// A switch that is missing above fails to compile here, because there are more than these names.
static_assert([] {
  const auto [a, b, c, d, e, f, g, h, i] = no_passes;
  return !(a || b || c || d || e || f || g || h || i);
}());

/// Traces f for arguments of these specs, of which those without a device are on the current one; f takes and returns
/// lists.
template <class F>
tandem::Ref<tandem::Graph> traced(const std::vector<tandem::Spec>& arguments, const F& f) {
  tandem::Tracer tracer("f");
  List symbols;
  for (tandem::Spec s : arguments) {
    if (s.device == tandem::Device{}) s.device = tandem::current_device();
    symbols.push_back(tracer.argument(s));
  }
  return tracer.finish(f(symbols));
}

/// Evaluates the outputs of a graph, reading and assigning its Variables.
inline List evaluate(const tandem::Graph& g, const List& arguments) {
  std::vector<const tandem::Tensor*> in;
  for (const tandem::Tensor& t : arguments) in.push_back(&t);
  const tandem::Tensors results = tandem::Program::make(g.copy(), false)->run(in);
  return {results.begin(), results.end()};
}

/// Counts the nodes of the graph that apply this op.
inline int count(const tandem::Graph& g, const tandem::OpDef& op) {
  int n = 0;
  for (const tandem::Node& node : g.nodes) n += node.op == &op;
  return n;
}

}  // namespace testing
