// Definitions of plot/layered.hpp.
#pragma once
#include <algorithm>
#include <numeric>

#include "tandem/plot/layered.hpp"

namespace TANDEM_NS::plot::impl {

using IntPairs = std::vector<std::pair<int, int>>;
using Neighbours = std::vector<std::vector<int>>;

// Which edges lead back to a node on the path of a depth-first search: without them there is no cycle.
TANDEM_INLINE std::vector<bool> edges_of_cycles(int nodes, const IntPairs& edges) {
  Neighbours out(index_of(nodes));
  for (std::size_t e = 0; e < edges.size(); ++e) out[index_of(edges[e].first)].push_back(static_cast<int>(e));
  std::vector<bool> turned(edges.size());
  enum State : char { fresh, on_path, done };
  std::vector<State> state(index_of(nodes), fresh);
  std::vector<std::pair<int, std::size_t>> path;  // a node, and how many of its edges have been followed
  for (int start = 0; start < nodes; ++start) {
    if (state[index_of(start)] != fresh) continue;
    path.emplace_back(start, 0);
    state[index_of(start)] = on_path;
    while (!path.empty()) {
      const int node = path.back().first;
      if (path.back().second == out[index_of(node)].size()) {
        state[index_of(node)] = done;
        path.pop_back();
        continue;
      }
      const auto e = index_of(out[index_of(node)][path.back().second++]);
      const int to = edges[e].second;
      if (state[index_of(to)] == on_path) turned[e] = true;
      else if (state[index_of(to)] == fresh) path.emplace_back(to, 0), state[index_of(to)] = on_path;
    }
  }
  return turned;
}

// The length of the longest path to each node; what nothing leads to is moved down to just above what it leads to.
TANDEM_INLINE std::vector<int> layers_of(int nodes, const IntPairs& downwards) {
  Neighbours out(index_of(nodes));
  std::vector<int> missing(index_of(nodes)), layer(index_of(nodes));
  for (const auto& [from, to] : downwards) out[index_of(from)].push_back(to), ++missing[index_of(to)];
  std::vector<int> ready;
  for (int i = 0; i < nodes; ++i)
    if (missing[index_of(i)] == 0) ready.push_back(i);
  const std::vector<int> sources = ready;
  for (std::size_t k = 0; k < ready.size(); ++k)
    for (const int to : out[index_of(ready[k])]) {
      layer[index_of(to)] = std::max(layer[index_of(to)], layer[index_of(ready[k])] + 1);
      if (--missing[index_of(to)] == 0) ready.push_back(to);
    }
  for (const int s : sources) {
    int below = 0;
    for (const int to : out[index_of(s)])
      below = below == 0 ? layer[index_of(to)] : std::min(below, layer[index_of(to)]);
    layer[index_of(s)] = std::max(0, below - 1);
  }
  return layer;
}

struct Sides {
  Neighbours above, below;  // of each node: those in the layers next to it
};
inline Sides sides_of(const Layers& l) {
  Sides s{Neighbours(l.layer.size()), Neighbours(l.layer.size())};
  for (const std::vector<int>& route : l.routes)
    for (std::size_t k = 1; k < route.size(); ++k) {
      s.below[index_of(route[k - 1])].push_back(route[k]);
      s.above[index_of(route[k])].push_back(route[k - 1]);
    }
  return s;
}

// Orders each layer by the mean place of its nodes' neighbours, downwards and upwards by turns.
TANDEM_INLINE void order_layers(Layers& l) {
  const Sides sides = sides_of(l);
  std::vector<double> place(l.layer.size()), wanted(l.layer.size());
  const auto number = [&](const std::vector<int>& nodes) {
    for (std::size_t k = 0; k < nodes.size(); ++k) place[index_of(nodes[k])] = static_cast<double>(k);
  };
  for (const std::vector<int>& nodes : l.order) number(nodes);
  const auto arrange = [&](std::vector<int>& nodes, const Neighbours& by) {
    for (const int n : nodes) {
      const std::vector<int>& near = by[index_of(n)];
      double sum = 0;
      for (const int other : near) sum += place[index_of(other)];
      wanted[index_of(n)] = near.empty() ? place[index_of(n)] : sum / static_cast<double>(near.size());
    }
    std::stable_sort(nodes.begin(), nodes.end(),
                     [&](int a, int b) { return wanted[index_of(a)] < wanted[index_of(b)]; });
    number(nodes);
  };
  for (int sweep = 0; sweep < 6; ++sweep) {
    for (std::vector<int>& nodes : l.order) arrange(nodes, sides.above);
    for (std::size_t k = l.order.size(); k-- > 0;) arrange(l.order[k], sides.below);
  }
}

TANDEM_INLINE Layers layered(int nodes, const IntPairs& edges) {
  Layers l;
  l.turned = edges_of_cycles(nodes, edges);
  IntPairs downwards;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    if (edges[e].first == edges[e].second) continue;
    downwards.push_back(l.turned[e] ? std::pair(edges[e].second, edges[e].first) : edges[e]);
  }
  l.layer = layers_of(nodes, downwards);
  const auto in_layer = [&](int node, int layer) {
    if (index_of(layer) >= l.order.size()) l.order.resize(index_of(layer) + 1);
    l.order[index_of(layer)].push_back(node);
  };
  for (int i = 0; i < nodes; ++i) in_layer(i, l.layer[index_of(i)]);
  constexpr int longest = 40;  // layers; edges beyond go straight through, so that their virtual nodes stay few
  for (std::size_t e = 0; e < edges.size(); ++e) {
    auto [from, to] = edges[e];
    if (l.turned[e]) std::swap(from, to);
    std::vector<int> route{from};
    const int first = l.layer[index_of(from)], last = l.layer[index_of(to)];
    for (int k = first + 1; k < last && last - first <= longest; ++k) {
      route.push_back(static_cast<int>(l.layer.size()));
      in_layer(route.back(), k);
      l.layer.push_back(k);
    }
    if (from != to) route.push_back(to);
    l.routes.push_back(std::move(route));
  }
  order_layers(l);
  return l;
}

// The places closest to the wanted ones (by squares) in this order with these distances: pools adjacent violators.
TANDEM_INLINE std::vector<double> spread(const std::vector<double>& wanted, const std::vector<double>& distances) {
  struct Pool {
    double sum;
    std::size_t count;
    double mean() const { return sum / static_cast<double>(count); }
  };
  std::vector<Pool> pools;
  double offset = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    offset += i ? distances[i - 1] : 0;
    pools.push_back({wanted[i] - offset, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() >= pools.back().mean()) {
      const Pool last = pools.back();
      pools.pop_back();
      pools.back().sum += last.sum, pools.back().count += last.count;
    }
  }
  std::vector<double> r;
  offset = 0;
  for (const Pool& p : pools)
    for (std::size_t k = 0; k < p.count; ++k) {
      offset += r.empty() ? 0 : distances[r.size() - 1];
      r.push_back(p.mean() + offset);
    }
  return r;
}

TANDEM_INLINE std::vector<double> horizontal_places(const Layers& l, const std::vector<double>& widths, double gap) {
  const Sides sides = sides_of(l);
  std::vector<double> x(l.layer.size());
  const auto arrange = [&](const std::vector<int>& nodes, const Neighbours& by, bool first) {
    std::vector<double> wanted, distances;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      const std::vector<int>& near = by[index_of(nodes[k])];
      double sum = 0;
      for (const int other : near) sum += x[index_of(other)];
      wanted.push_back(near.empty() ? (first ? 0 : x[index_of(nodes[k])]) : sum / static_cast<double>(near.size()));
      if (k) distances.push_back((widths[index_of(nodes[k - 1])] + widths[index_of(nodes[k])]) / 2 + gap);
    }
    const std::vector<double> places = spread(wanted, distances);
    for (std::size_t k = 0; k < nodes.size(); ++k) x[index_of(nodes[k])] = places[k];
  };
  for (int sweep = 0; sweep < 8; ++sweep) {
    for (const std::vector<int>& nodes : l.order) arrange(nodes, sides.above, sweep == 0);
    for (std::size_t k = l.order.size(); k-- > 0;) arrange(l.order[k], sides.below, false);
  }
  return x;
}

}  // namespace TANDEM_NS::plot::impl
