// Graphs as boxes and arrows: the ops of a traced function, or any other.
#pragma once
#include <concepts>
#include <string>
#include <vector>

#include "tandem/graph/debug/graph_def.hpp"
#include "tandem/plot/figure.hpp"

namespace TANDEM_NS::plot {

struct GraphNode {
  std::string name;
  std::vector<std::string> details = {};  ///< smaller lines below the name
  int color = -1;                         ///< 0 to 9: a color of the palette at the box's left side; -1: none
};
/// An arrow between two nodes, by their places in the list.
struct GraphEdge {
  std::size_t from, to;
  bool dashed = false;
};

struct GraphOptions {
  std::string title = {};
  std::string description = {};  ///< for screen readers; by default the numbers of nodes and edges
  std::size_t max_nodes = 400;   ///< those behind are left out; the picture says how many
};

namespace impl {
TANDEM_API Figure graph_of_ops(const GraphDef& def, const GraphOptions& options);
}  // namespace impl

/// Draws nodes in layers from top to bottom, so that arrows lead downwards; those that close a cycle lead upwards. The
/// picture is as large as the graph.
///   throws  errors::InvalidArgumentError for an edge from or to a node that is not there
TANDEM_API Figure graph(const std::vector<GraphNode>& nodes, const std::vector<GraphEdge>& edges,
                        const GraphOptions& options = {});
/// Draws a traced function: `plot::graph(as_graph_def(f.get_concrete_function(x)->graph()))`, or `->optimized()`. A box
/// has the op, its name and what it returns; arguments, constants, Variables and results have colors. Bodies of control
/// flow are graphs of their own, GraphDef::Node::bodies.
template <std::same_as<GraphDef> Def>  // which a list of nodes in braces does not convert to
Figure graph(const Def& def, const GraphOptions& options = {}) {
  return impl::graph_of_ops(def, options);
}

}  // namespace TANDEM_NS::plot
