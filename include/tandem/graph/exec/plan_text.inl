// A plan as text.
#pragma once
#include <algorithm>

#include "tandem/graph/exec/plan.hpp"

namespace TANDEM_NS {

TANDEM_LAZY_INLINE std::string to_string(const Plan& p, const Graph& g) {
  std::string s;
  for (const Plan::Arena& a : p.arenas)
    s += "arena " + std::to_string(a.bytes) + " bytes" + (a.device == Device{} ? "" : " on " + to_string(a.device)) +
         "\n";
  if (p.arenas.empty()) s = "arena 0 bytes\n";
  ById<ValueId, NodeId> first(p.base.size(), g.nodes.end_id());  // by base: the node that starts its lifetime
  for (NodeId i = g.nodes.end_id(); i-- > NodeId(0);)
    for (int k = 0; k < g.nodes[i].outputs; ++k) first[p.base[g.nodes[i].first_out + k]] = i;
  for (const Branches::Region& r : p.branches.regions)
    s += "  nodes " + std::to_string(r.first.number()) + " to " + std::to_string(r.end.number() - 1) + " in " +
         std::to_string(r.count) + " branches\n";
  for (const NodeId i : g.nodes.ids()) {
    const Node& n = g.nodes[i];
    for (int k = 0; k < n.outputs; ++k) {
      const ValueId v = n.first_out + k;
      if (p.base[v] != v || (p.kind[v] != Plan::arena && p.kind[v] != Plan::fresh)) continue;
      s += "  %" + std::to_string(v.number()) + " " + n.name + " " + to_string(g.specs[v]);
      s += p.kind[v] == Plan::fresh ? p.overwrites[v].is_set() ? " in '" + g.variable(p.overwrites[v]).name() + "'"
                                                               : " in a buffer of its own"
                                    : " @" + std::to_string(p.arena_offset[v]);
      s += " (nodes " + std::to_string(first[v].number()) + " to " +
           std::to_string(std::max(p.last_use[v], i).number()) + ")\n";
    }
    if (p.workspace_bytes[i])
      s += "  workspace of " + n.name + ", " + std::to_string(p.workspace_bytes[i]) + " bytes @" +
           std::to_string(p.workspace_offset[i]) + "\n";
  }
  return s;
}

}  // namespace TANDEM_NS
