// Where the boxes of a graph lie: the layered drawing of Sugiyama, Tagawa and Toda (1981). For the definitions of
// plot/.
#pragma once
#include <cstddef>
#include <utility>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::plot::impl {

inline std::size_t index_of(int node) { return static_cast<std::size_t>(node); }

/// The nodes of a graph by layer, and in their order within it. Edges over several layers pass virtual nodes.
struct Layers {
  std::vector<int> layer;                // of each node; the virtual ones follow the others
  std::vector<std::vector<int>> order;   // the nodes of each layer, from left to right
  std::vector<std::vector<int>> routes;  // for each edge: the nodes that it passes, both ends among them, downwards
  std::vector<bool> turned;  // for each edge: whether it closes a cycle, so that its route begins at its end
};
/// Puts each node below those whose edges reach it, and orders layers so that few edges cross. Edges from a node to
/// itself have a route of that node alone.
///   edges  pairs of node numbers below `nodes`
TANDEM_API Layers layered(int nodes, const std::vector<std::pair<int, int>>& edges);
/// The horizontal middle of each node: near those that it is connected with, without overlaps.
///   widths  of the nodes of `layers`, virtual ones too; gap: between neighbours
TANDEM_API std::vector<double> horizontal_places(const Layers& layers, const std::vector<double>& widths, double gap);

}  // namespace TANDEM_NS::plot::impl
