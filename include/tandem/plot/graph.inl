// Definitions of plot/graph.hpp.
#pragma once
#include <algorithm>
#include <map>

#include "tandem/base/error.hpp"
#include "tandem/plot/frame.hpp"
#include "tandem/plot/graph.hpp"
#include "tandem/plot/layered.hpp"

namespace TANDEM_NS::plot {

namespace impl {

inline constexpr double node_line = 16, node_padding = 9, detail_size = 12, widest_node = 210, layer_gap = 34;

// The boxes of a graph in the picture.
struct Boxes {
  std::vector<double> x, y, width, height;  // middle and upper edge; of virtual nodes too, whose boxes are lines
  double right = 0, bottom = 0;
};

TANDEM_INLINE double width_of(const GraphNode& n) {
  double width = text_width(n.name, text_size);
  for (const std::string& d : n.details) width = std::max(width, text_width(d, detail_size));
  return std::min(std::max(width + 2 * node_padding + 4, 60.), widest_node);
}

TANDEM_INLINE Boxes arranged(const Layers& layers, const std::vector<GraphNode>& nodes, double left, double top) {
  Boxes b;
  for (std::size_t i = 0; i < layers.layer.size(); ++i) {
    const bool is_real = i < nodes.size();
    b.width.push_back(is_real ? width_of(nodes[i]) : 6);
    b.height.push_back(is_real ? node_line * static_cast<double>(1 + nodes[i].details.size()) + 12 : 0);
  }
  b.x = horizontal_places(layers, b.width, 18);
  double leftmost = 0;
  for (std::size_t i = 0; i < b.x.size(); ++i)
    leftmost = i ? std::min(leftmost, b.x[i] - b.width[i] / 2) : b.x[i] - b.width[i] / 2;
  b.y.resize(b.x.size());
  b.bottom = top;
  for (const std::vector<int>& layer : layers.order) {
    double tallest = 0;
    for (const int n : layer) tallest = std::max(tallest, b.height[index_of(n)]);
    for (const int n : layer) {
      const std::size_t i = index_of(n);
      if (i >= nodes.size()) b.height[i] = tallest;  // an edge passes the whole layer
      b.y[i] = b.bottom + (tallest - b.height[i]) / 2;
      b.x[i] += left - leftmost;
      b.right = std::max(b.right, b.x[i] + b.width[i] / 2);
    }
    b.bottom += tallest + layer_gap;
  }
  if (!layers.order.empty()) b.bottom -= layer_gap;
  return b;
}

// A curve along a route of boxes, with the point of an arrow at its end, or at its start if it is turned.
TANDEM_INLINE void draw_edge(Canvas& to, const Boxes& b, const std::vector<int>& route, bool turned, bool dashed) {
  const std::size_t first = index_of(route.front()), last = index_of(route.back());
  const std::string dashes = dashed ? " stroke-dasharray=\"5 4\"" : "";
  if (first == last) {  // to itself
    const double x = b.x[first] + b.width[first] / 2, y = b.y[first] + b.height[first] / 2;
    to.path("M" + position(x) + " " + position(y - 6) + "c16 -10 16 22 0 12",
            "class=\"tp-axis\" fill=\"none\"" + dashes);
    return;
  }
  const double start = b.y[first] + b.height[first], end = b.y[last];
  std::string path = "M" + position(b.x[first]) + " " + position(turned ? start + 6 : start);
  for (std::size_t k = 1; k < route.size(); ++k) {
    const std::size_t from = index_of(route[k - 1]), here = index_of(route[k]);
    const double y0 = b.y[from] + b.height[from], y1 = b.y[here] - (!turned && k + 1 == route.size() ? 6 : 0);
    const std::string middle = position((y0 + y1) / 2), x0 = position(b.x[from]), x1 = position(b.x[here]);
    path += "C" + x0 + " " + middle + " " + x1 + " " + middle + " " + x1 + " " + position(y1);
    if (k + 1 < route.size()) path += "V" + position(b.y[here] + b.height[here]);
  }
  to.path(path, "class=\"tp-axis\" fill=\"none\"" + dashes);
  if (turned) to.path("M" + position(b.x[first] - 4) + " " + position(start + 8) + "l4 -8l4 8z", "class=\"tp-tip\"");
  else to.path("M" + position(b.x[last] - 4) + " " + position(end - 8) + "l4 8l4 -8z", "class=\"tp-tip\"");
}

TANDEM_INLINE void draw_node(Canvas& to, const GraphNode& n, double x, double y, double width, double height) {
  to.box(x - width / 2, y, width, height, "rx=\"5\" class=\"tp-box\"");
  if (n.color >= 0) {
    to.begin("class=\"" + color_class(static_cast<std::size_t>(n.color)) + "\"");
    to.box(x - width / 2, y, 5, height, "rx=\"2\" class=\"tp-fill\"");
    to.end();
  }
  const double room = width - 2 * node_padding - 2;
  double baseline = y + node_line + 3;
  to.text(x + 1, baseline, fitted(n.name, text_size, room), {.anchor = Anchor::middle});
  for (const std::string& d : n.details)
    to.text(x + 1, baseline += node_line, fitted(d, detail_size, room),
            {.size = detail_size, .anchor = Anchor::middle, .css = "tp-dim"});
}

// A node of a traced function.
TANDEM_INLINE GraphNode box_of(const GraphDef::Node& n) {
  GraphNode r{n.op};
  if (n.name != n.op) r.details.push_back(n.name);
  std::string outputs;
  for (const Spec& s : n.outputs) outputs += (outputs.empty() ? "" : ", ") + to_string(s);
  if (!outputs.empty()) r.details.push_back(outputs);
  if (!n.attributes.empty()) r.details.push_back(n.attributes);
  if (!n.bodies.empty())
    r.details.push_back(std::to_string(n.bodies.size()) + (n.bodies.size() == 1 ? " body" : " bodies"));
  r.color = n.op == "argument"                                     ? 2
            : n.op == "constant"                                   ? 7
            : n.op == "read_variable" || n.op == "assign_variable" ? 4
                                                                   : -1;
  return r;
}

}  // namespace impl

TANDEM_INLINE Figure graph(const std::vector<GraphNode>& all, const std::vector<GraphEdge>& edges,
                           const GraphOptions& o) {
  for (const GraphEdge& e : edges)
    if (e.from >= all.size() || e.to >= all.size())
      errors::raise<errors::InvalidArgumentError>(
          "plot::graph", "an edge from node " + std::to_string(e.from) + " to node " + std::to_string(e.to) +
                             ", but there are " + std::to_string(all.size()) + " nodes");
  const std::size_t shown = std::min(all.size(), o.max_nodes);
  const std::vector<GraphNode> nodes(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(shown));
  std::vector<std::pair<int, int>> pairs;
  std::vector<bool> dashed;
  for (const GraphEdge& e : edges) {
    if (e.from >= shown || e.to >= shown) continue;
    pairs.emplace_back(static_cast<int>(e.from), static_cast<int>(e.to));
    dashed.push_back(e.dashed);
  }
  impl::Canvas canvas;
  constexpr double margin = 14;
  const double title = o.title.empty() ? 0 : impl::text_width(o.title, impl::title_size) + 2 * margin;
  const double top = margin + (o.title.empty() ? 0 : impl::title_size + 14);
  const impl::Layers layers = impl::layered(static_cast<int>(shown), pairs);
  const impl::Boxes b = impl::arranged(layers, nodes, margin, top);
  const double width = std::max({b.right + margin, std::min(title, 560.), 200.});
  impl::draw_title(canvas, o.title, width);
  for (std::size_t e = 0; e < pairs.size(); ++e)
    impl::draw_edge(canvas, b, layers.routes[e], layers.turned[e], dashed[e]);
  for (std::size_t i = 0; i < shown; ++i) impl::draw_node(canvas, nodes[i], b.x[i], b.y[i], b.width[i], b.height[i]);
  double bottom = b.bottom;
  if (shown < all.size() || all.empty()) {
    const std::string text =
        all.empty() ? "no nodes" : std::to_string(all.size() - shown) + " more nodes are not shown";
    canvas.text(margin, bottom += 26, text, {.css = "tp-dim"});
  }
  std::string description = o.description;
  if (description.empty())
    description = "Graph of " + std::to_string(all.size()) + " nodes and " + std::to_string(edges.size()) + " edges";
  return Figure(o.title, std::move(description), std::min(width, 1e5), std::min(bottom + margin, 1e5),
                canvas.elements());
}

TANDEM_INLINE Figure impl::graph_of_ops(const GraphDef& def, const GraphOptions& o) {
  std::vector<GraphNode> nodes;
  std::vector<GraphEdge> edges;
  std::map<std::string, std::size_t> places;
  // "dense/MatMul:0" is a value of the node "dense/MatMul".
  const auto producer = [&](const std::string& value) { return places.find(value.substr(0, value.rfind(':'))); };
  for (const GraphDef::Node& n : def.nodes) {
    for (const std::string& in : n.inputs)
      if (const auto from = producer(in); from != places.end()) edges.push_back({from->second, nodes.size()});
    places.emplace(n.name, nodes.size());
    nodes.push_back(box_of(n));
  }
  for (std::size_t i = 0; i < def.outputs.size(); ++i)
    if (const auto from = producer(def.outputs[i]); from != places.end()) {
      edges.push_back({from->second, nodes.size()});
      nodes.push_back({"result " + std::to_string(i), {}, 1});
    }
  GraphOptions options = o;
  if (o.title.empty()) options.title = def.name;
  return plot::graph(nodes, edges, options);
}

}  // namespace TANDEM_NS::plot
