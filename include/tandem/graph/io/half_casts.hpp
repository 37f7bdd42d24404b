// with_half_casts: a graph whose half precision every build and device can run. For the definition of serialize().
#pragma once
#include <utility>
#include <vector>

#include "tandem/base/span.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/ops/cast.hpp"

namespace TANDEM_NS::detail {

/// Whether the node passes half precision to a kernel that takes it in this build, and in others may not exist.
TANDEM_LAZY inline bool passes_half(const Graph& g, const Node& n) {
  const auto typed = static_cast<std::size_t>(n.op->dtype_input);  // -1 (none) exceeds every input index
  return (n.op->flags.takes_half || n.op->flags.cuda_takes_half) && typed < n.in.size() &&
         dtypes::half_floating.has(g.spec(n.in[typed]).dtype);
}

// Adds node i of the original graph in float32, between casts, in its place: the same bits, because a kernel that takes
// half precision rounds each result once.
TANDEM_LAZY inline void cast_around(Rewrite& r, NodeId i) {
  const Node n = r.node(i);
  const DType narrow = r.spec(n.in[static_cast<std::size_t>(n.op->dtype_input)]).dtype;
  const auto cast = [&](ValueId value, DType to) {
    Spec s = r.spec(value);
    s.dtype = to;
    return r.add_before(i, cast_op, rules::CastAttrs{to}, {&value, 1}, s);
  };
  LeanVector<ValueId> in(n.in.begin(), n.in.end());
  for (std::size_t k = 0; k < in.size(); ++k)
    if (r.spec(in[k]).dtype == narrow && !names_input(n.op->shape_inputs, k)) in[k] = cast(in[k], DType::float32);
  std::vector<Spec> out;
  for (int k = 0; k < n.outputs; ++k) {
    out.push_back(r.spec(n.first_out + k));
    if (out.back().dtype == narrow) out.back().dtype = DType::float32;
  }
  const ValueId wide = r.add_before(i, *n.op, n.attrs, in, out, &n);
  for (int k = 0; k < n.outputs; ++k)
    r.replace(n.first_out + k, r.spec(n.first_out + k).dtype == narrow ? cast(wide + k, narrow) : wide + k);
  r.remove(i);
}

/// The graph with casts around each node that passes_half(), as header-only programs and GPUs trace it.
TANDEM_LAZY inline Ref<Graph> with_half_casts(const Graph& from) {
  Rewrite r(from);
  for (const NodeId i : from.nodes.ids())
    if (passes_half(from, from.nodes[i])) cast_around(r, i);
  return r.finish();
}

}  // namespace TANDEM_NS::detail
