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
  std::vector<std::size_t> first(p.base.size(), g.nodes.size());  // by base: the node that starts its lifetime
  for (std::size_t i = g.nodes.size(); i-- > 0;)
    for (int k = 0; k < g.nodes[i].outputs; ++k)
      first[static_cast<std::size_t>(p.base[static_cast<std::size_t>(g.nodes[i].first_out + k)])] = i;
  for (const Branches::Region& r : p.branches.regions)
    s += "  nodes " + std::to_string(r.first) + " to " + std::to_string(r.end - 1) + " in " + std::to_string(r.count) +
         " branches\n";
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = g.nodes[i];
    for (int k = 0; k < n.outputs; ++k) {
      const auto v = static_cast<std::size_t>(n.first_out + k);
      if (p.base[v] != static_cast<int>(v) || (p.kind[v] != Plan::arena && p.kind[v] != Plan::fresh)) continue;
      s += "  %" + std::to_string(v) + " " + n.name + " " + to_string(g.specs[v]);
      s += p.kind[v] == Plan::fresh
               ? p.overwrites[v] < 0 ? " in a buffer of its own"
                                     : " in '" + g.variables[static_cast<std::size_t>(p.overwrites[v])].name() + "'"
               : " @" + std::to_string(p.arena_offset[v]);
      s += " (nodes " + std::to_string(first[v]) + " to " +
           std::to_string(std::max(p.last_use[v], static_cast<int>(i))) + ")\n";
    }
    if (p.workspace_bytes[i])
      s += "  workspace of " + n.name + ", " + std::to_string(p.workspace_bytes[i]) + " bytes @" +
           std::to_string(p.workspace_offset[i]) + "\n";
  }
  return s;
}

}  // namespace TANDEM_NS
