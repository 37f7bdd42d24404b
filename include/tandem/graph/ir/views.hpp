// Views: in which value's buffer each value of a graph lies, and where. For the planner and for passes that combine
// adjacent values.
#pragma once
#include <vector>

#include "tandem/graph/ir/graph.hpp"
#include "tandem/graph/lazy.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS::detail {

/// The value in whose buffer another lies (NumPy's `base`), itself no view, and the offset into it in bytes.
struct View {
  ValueId base;
  std::size_t offset;
};

/// A value that is not a view, or whose offset is not known, is its own base.
TANDEM_LAZY inline ById<ValueId, View> views_of(const Graph& g) {
  ById<ValueId, View> views;
  views.reserve(g.specs.size());
  for (const ValueId v : g.specs.ids()) views.push_back({v, 0});
  for (const Node& n : g.nodes) {
    if (!n.op->flags.alias) continue;
    std::size_t offset = 0;  // the outputs follow each other in input 0, or each is the whole input of its number
    for (int k = 0; k < n.outputs; ++k) {
      const ValueId v = n.first_out + k, x = n.in[n.in.size() > 1 ? static_cast<std::size_t>(k) : 0];
      if (!g.spec(x).shape.is_fully_defined() || !g.spec(v).shape.is_fully_defined()) break;
      if (k == 0 || n.in.size() > 1) offset = n.op->rare.offset ? n.op->rare.offset(g.spec(x), n.attrs) : 0;
      const View& source = views[x];
      views[v] = {source.base, source.offset + offset};
      offset += g.spec(v).bytes();
    }
  }
  return views;
}

}  // namespace TANDEM_NS::detail
