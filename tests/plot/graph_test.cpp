// Graphs: layers, places without overlaps, cycles, traced functions.
#include "tandem/plot/graph.hpp"

#include <algorithm>
#include <cmath>

#include "tandem/graph/debug/graph_def.hpp"
#include "tandem/plot/layered.hpp"
#include "tandem/tandem.hpp"
#include "tests/plot/markup.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace plot_graph_test {
using namespace tandem;
using plot::graph, plot::impl::layered, plot::impl::Layers;
using testing::Element, testing::error_of, testing::numbers_of, testing::parse_svg;
using Pairs = std::vector<std::pair<int, int>>;

Pairs random_edges(int nodes, int edges, bool cycles) {
  Pairs r;
  unsigned state = 12345;
  const auto next = [&](int below) { return static_cast<int>((state = state * 1664525 + 1013904223) >> 8) % below; };
  for (int i = 0; i < edges; ++i) {
    const int a = next(nodes), b = next(nodes);
    if (a < b || cycles) r.emplace_back(a, b);
  }
  return r;
}

TEST_CASE("plot: nodes lie below those whose edges reach them") {
  const Layers l = layered(5, {{0, 1}, {1, 2}, {0, 2}, {3, 2}, {2, 4}});
  CHECK(std::vector<int>(l.layer.begin(), l.layer.begin() + 5) == std::vector<int>{0, 1, 2, 1, 3});
  REQUIRE(l.routes.size() == 5);
  CHECK(l.routes[2].size() == 3);  // by a virtual node in layer 1
  CHECK(l.layer[static_cast<std::size_t>(l.routes[2][1])] == 1);
  for (const bool cycles : {false, true}) {
    const Pairs edges = random_edges(60, 150, cycles);
    const Layers r = layered(60, edges);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      const auto [from, to] = edges[e];
      const int below = r.layer[static_cast<std::size_t>(to)] - r.layer[static_cast<std::size_t>(from)];
      if (from != to) CHECK((r.turned[e] ? below < 0 : below > 0));
      if (!cycles) CHECK_FALSE(r.turned[e]);
    }
    // Each node is once in the layer that it says.
    std::vector<int> seen(r.layer.size());
    for (std::size_t k = 0; k < r.order.size(); ++k)
      for (const int n : r.order[k]) {
        ++seen[static_cast<std::size_t>(n)];
        CHECK(r.layer[static_cast<std::size_t>(n)] == static_cast<int>(k));
      }
    CHECK(std::count(seen.begin(), seen.end(), 1) == static_cast<std::ptrdiff_t>(seen.size()));
  }
}

TEST_CASE("plot: the order of a layer avoids crossings") {
  const Layers l = layered(6, {{0, 5}, {1, 4}, {2, 3}});
  std::vector<int> below;
  for (const int n : l.order[0]) below.push_back(5 - n);
  CHECK(below == l.order[1]);
}

TEST_CASE("plot: neighbours keep their distance") {
  const Layers l = layered(60, random_edges(60, 150, true));
  std::vector<double> widths;
  for (std::size_t i = 0; i < l.layer.size(); ++i) widths.push_back(10 + static_cast<double>(i % 7) * 9);
  const std::vector<double> x = plot::impl::horizontal_places(l, widths, 5);
  for (const std::vector<int>& layer : l.order)
    for (std::size_t k = 1; k < layer.size(); ++k) {
      const auto a = static_cast<std::size_t>(layer[k - 1]), b = static_cast<std::size_t>(layer[k]);
      CHECK(x[b] - x[a] >= (widths[a] + widths[b]) / 2 + 5 - 1e-6);
    }
  // A chain is a straight line.
  const Layers chain = layered(4, {{0, 1}, {1, 2}, {2, 3}});
  for (const double at : plot::impl::horizontal_places(chain, {10, 50, 20, 30}, 5)) CHECK(at == Approx(0).margin(1e-9));
}

TEST_CASE("plot: boxes and arrows of a graph") {
  const Element root =
      parse_svg(graph({{"a <b>", {"detail"}, 2}, {"c"}}, {{0, 1}, {1, 1}, {1, 0}}, {.title = "T"}).svg());
  const auto boxes = root.all("rect", "tp-box");
  REQUIRE(boxes.size() == 2);
  CHECK(boxes[1]->number("y") > boxes[0]->number("y") + boxes[0]->number("height"));
  CHECK(root.words() == std::vector<std::string>{"T", "a <b>", "detail", "c"});
  CHECK(root.all("path", "tp-axis").size() == 3);
  const auto tips = root.all("path", "tp-tip");
  REQUIRE(tips.size() == 2);
  CHECK(tips[0]->get("d").find("l4 8l4 -8z") != std::string::npos);  // downwards
  CHECK(tips[1]->get("d").find("l4 -8l4 8z") != std::string::npos);  // upwards, to a
  CHECK(root.first("g").get("class") == "tp-c2");
  // All boxes are inside of the picture.
  const auto box = numbers_of(root.get("viewBox"));
  for (const Element* b : boxes) {
    CHECK(b->number("x") >= 0);
    CHECK(b->number("x") + b->number("width") <= box[2]);
    CHECK(b->number("y") + b->number("height") <= box[3]);
  }
}

TEST_CASE("plot: empty and large graphs") {
  CHECK(parse_svg(graph(std::vector<plot::GraphNode>{}, {}).svg()).words() == std::vector<std::string>{"no nodes"});
  std::vector<plot::GraphNode> nodes(1000, {"n"});
  std::vector<plot::GraphEdge> edges;
  for (std::size_t i = 1; i < nodes.size(); ++i) edges.push_back({i - 1, i}), edges.push_back({0, i});
  const Element root = parse_svg(graph(nodes, edges, {.max_nodes = 100}).svg());
  CHECK(root.all("rect", "tp-box").size() == 100);
  CHECK(root.words().back() == "900 more nodes are not shown");
  CHECK(root.first("desc").text == "Graph of 1000 nodes and 1998 edges");
  CHECK_NOTHROW(parse_svg(graph(nodes, edges).svg()));
}

TEST_CASE("plot: the ops of a traced function") {
  const Variable w(ones({3, 2}), {.name = "w"});
  const auto f = function([&](const Tensor& x) { return std::pair(tanh(matmul(x, w)), x + 1.f); });
  const GraphDef def = as_graph_def(f.get_concrete_function(ones({4, 3}))->graph());
  const plot::Figure picture = graph(def);
  const Element root = parse_svg(picture.svg());
  CHECK(picture.title() == def.name);
  CHECK(root.all("rect", "tp-box").size() == def.nodes.size() + def.outputs.size());
  const auto words = root.words();
  for (const char* w_ : {"matmul", "tanh", "read_variable", "argument", "result 0", "result 1", "float32[4,2]"})
    CHECK(std::count(words.begin(), words.end(), w_) >= 1);
  std::size_t inputs = def.outputs.size();
  for (const GraphDef::Node& n : def.nodes) inputs += n.inputs.size();
  CHECK(root.all("path", "tp-tip").size() == inputs);
}

TEST_CASE("plot: an edge without a node raises") {
  CHECK_THAT(error_of<errors::InvalidArgumentError>([] {
               graph({{"a"}}, {{0, 1}});
             }),
             ContainsSubstring("plot::graph: an edge from node 0 to node 1, but there are 1 nodes"));
}

}  // namespace plot_graph_test
