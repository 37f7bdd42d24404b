// Definitions of graph/exec/branches.hpp: a search from each fork of the graph, and what it counts on.
#pragma once
#include <algorithm>
#include <numeric>

#include "tandem/graph/exec/branches.hpp"
#include "tandem/graph/ir/common.hpp"

namespace TANDEM_NS::detail {

inline constexpr double fork_time = 20'000;   // ns that a region must save
inline constexpr double share_time = 20'000;  // ns of work that an operation gives to each of its threads
// In nodes: they bound the search from each fork.
inline constexpr int longest_region = 512, longest_trunk = 64;

TANDEM_LAZY_INLINE double estimated_time(const Graph& g, const Node& n) {
  if (is_leaf(n) || n.op->flags.alias || !n.outputs) return 0;
  double bytes = 0, largest = 0;
  for (unsigned i = 0; i < n.in.size(); ++i) {
    const Spec& s = g.spec(n.in[i]);
    bytes += static_cast<double>(s.bytes());
    if (i) largest = std::max(largest, static_cast<double>(s.shape.size()));
  }
  for (int k = 0; k < n.outputs; ++k) bytes += static_cast<double>(g.spec(n.first_out + k).bytes());
  const Spec& y = g.spec(n.first_out);
  const double streaming = 200 + bytes / 8;
  if (n.op->flags.pointwise || n.in.size() < 2 || y.shape.rank() < 2 || !is_floating(y.dtype)) return streaming;
  // A product: each of its results sums over one column of the largest further operand.
  const double depth = largest / std::max<double>(static_cast<double>(y.shape.dim(-1)), 1);
  return streaming + static_cast<double>(y.shape.size()) * depth / 8;
}

// The components of nodes that use each other's results, for a stretch that grows node by node.
class Components {
 public:
  TANDEM_LAZY Components(const Graph& g, const ById<ValueId, NodeId>& producers, NodeId first)
      : g_(g), producers_(producers), first_(first) {}
  TANDEM_LAZY void add(NodeId node, double time, bool is_leaf) {
    parent_.push_back(parent_.size()), time_.push_back(time), leaf_.push_back(is_leaf);
    if (is_leaf) return;
    ++count_, total_ += time, longest_ = std::max(longest_, time);
    for (ValueId v : g_.nodes[node].in)
      if (const NodeId p = producers_[v]; p >= first_) join(place(node), place(p));
  }
  int count() const { return count_; }
  double total() const { return total_; }
  double longest() const { return longest_; }
  /// Of a node in the stretch: what the functions below take.
  std::size_t place(NodeId node) const { return static_cast<std::size_t>(node - first_); }
  TANDEM_LAZY std::size_t root(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  bool is_leaf(std::size_t i) const { return leaf_[i]; }
  double time(std::size_t root) const { return time_[root]; }

 private:
  TANDEM_LAZY void join(std::size_t a, std::size_t b) {
    if (leaf_[b]) return;
    a = root(a), b = root(b);
    if (a == b) return;
    parent_[std::max(a, b)] = std::min(a, b);
    time_[std::min(a, b)] += time_[std::max(a, b)];
    longest_ = std::max(longest_, time_[std::min(a, b)]);
    --count_;
  }
  const Graph& g_;
  const ById<ValueId, NodeId>& producers_;
  NodeId first_;
  std::vector<std::size_t> parent_;
  std::vector<double> time_;  // by root
  std::vector<char> leaf_;
  int count_ = 0;
  double total_ = 0, longest_ = 0;
};

TANDEM_LAZY class BranchFinder {
 public:
  BranchFinder(const Graph& g, const ById<NodeId, char>& may_branch, int threads, int within)
      : g_(g), may_branch_(may_branch), producers_(g.producers()), threads_(threads), within_(within) {
    for (const Node& n : g.nodes) times_.push_back(estimated_time(g, n));
  }
  Branches find() {
    Branches r;
    r.of_node.assign(g_.nodes.size(), -1);
    const ById<NodeId, char> starts = find_starts();
    bool is_behind_region = false;  // where branches may begin as well
    for (NodeId i(0); i < g_.nodes.end_id();) {
      const NodeId end = starts[i] || (is_behind_region && may_branch_[i]) ? region_from(i) : i;
      is_behind_region = end > i;
      if (end == i) {
        ++i;
        continue;
      }
      r.regions.push_back({i, end, assign(i, end, r.of_node)});
      i = end;
    }
    return r;
  }

 private:
  // Branches begin behind a node whose results have several users, at the beginning, and behind what may not be in a
  // region.
  ById<NodeId, char> find_starts() const {
    ById<NodeId, char> starts(g_.nodes.size() + 1);
    const ById<ValueId, int> uses = g_.uses();
    for (const NodeId i : g_.nodes.ids()) {
      const Node& n = g_.nodes[i];
      int users = 0;
      for (int k = 0; k < n.outputs; ++k) users += uses[n.first_out + k];
      const bool fork = i == NodeId(0) || !may_branch_[i] || users > 1;
      if (i == NodeId(0)) starts[i] = may_branch_[i];
      if (fork && i + 1 < g_.nodes.end_id()) starts[i + 1] = may_branch_[i + 1];
    }
    return starts;
  }
  // The time of the stretch one node after another, each of which uses several threads if that pays.
  double sequential(NodeId node) const {
    const double shares = std::min<double>(within_, std::max(1.0, times_[node] / share_time));
    return times_[node] / shares;
  }
  // The end of the region from here that saves most; `first` if none saves enough.
  NodeId region_from(NodeId first) {
    Components parts(g_, producers_, first);
    NodeId best = first;
    double most = fork_time, one_by_one = 0;
    const NodeId last = std::min(g_.nodes.end_id(), first + longest_region);
    bool split = false;
    for (NodeId i = first; i < last && may_branch_[i]; ++i) {
      parts.add(i, times_[i], is_leaf(g_.nodes[i]));
      one_by_one += sequential(i);
      split |= parts.count() > 1;
      if (split ? parts.count() == 1 : i - first > longest_trunk) break;  // all have met, or there are none
      const double saved = one_by_one - std::max(parts.longest(), parts.total() / threads_);
      if (parts.count() > 1 && saved > most) most = saved, best = i + 1;
    }
    return best;
  }
  // Deals the components to branches, the longest first, each to the branch with the least work.
  int assign(NodeId first, NodeId end, ById<NodeId, int>& of_node) {
    Components parts(g_, producers_, first);
    for (const NodeId i : IdRange(first, end)) parts.add(i, times_[i], is_leaf(g_.nodes[i]));
    LeanVector<std::size_t> roots;
    for (std::size_t i = 0; i < parts.place(end); ++i)
      if (!parts.is_leaf(i) && parts.root(i) == i) roots.push_back(i);
    std::stable_sort(roots.begin(), roots.end(),
                     [&](std::size_t a, std::size_t b) { return parts.time(a) > parts.time(b); });
    std::vector<double> work(std::min(roots.size(), static_cast<std::size_t>(threads_)));
    std::vector<int> branch(parts.place(end), -1);
    for (const std::size_t root : roots) {
      const auto least = std::min_element(work.begin(), work.end());
      *least += parts.time(root);
      branch[root] = static_cast<int>(least - work.begin());
    }
    for (const NodeId i : IdRange(first, end))
      if (const std::size_t at = parts.place(i); !parts.is_leaf(at)) of_node[i] = branch[parts.root(at)];
    return static_cast<int>(work.size());
  }

  const Graph& g_;
  const ById<NodeId, char>& may_branch_;
  const ById<ValueId, NodeId> producers_;
  ById<NodeId, double> times_;
  int threads_, within_;
};

TANDEM_LAZY_INLINE Branches find_branches(const Graph& g, const ById<NodeId, char>& may_branch, int threads,
                                          int within) {
  return BranchFinder(g, may_branch, threads, within).find();
}

}  // namespace TANDEM_NS::detail
