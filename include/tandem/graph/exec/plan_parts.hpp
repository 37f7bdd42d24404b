// Parts of the Planner: the arena's free list, the reads of a Variable, the indices of Variables. For the
// definitions of graph/exec/plan.hpp.
#pragma once
#include <algorithm>
#include <map>
#include <set>

#include "tandem/graph/exec/plan.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tandem/graph/lazy.hpp"

namespace TANDEM_NS {

namespace detail {

// Best-fit allocator for one arena: takes the smallest free block that is large enough, the one with the lowest
// offset among equals.
class Arena {
 public:
  TANDEM_LAZY std::size_t allocate(std::size_t bytes) {
    bytes = rounded(bytes);
    ++work_;
    const auto best = by_size_.lower_bound({bytes, 0});
    if (best == by_size_.end()) return extend(bytes);
    const auto [free, at] = *best;
    remove(free_.find(at));
    if (free > bytes) add(at + bytes, free - bytes);
    return at;
  }
  TANDEM_LAZY void release(std::size_t at, std::size_t bytes) {
    bytes = rounded(bytes);
    ++work_;
    const auto next = free_.lower_bound(at);
    if (next != free_.end() && at + bytes == next->first) {
      bytes += next->second;
      remove(next);
    }
    if (const auto last = free_.lower_bound(at); last != free_.begin())
      if (const auto before = std::prev(last); before->first + before->second == at) {
        at = before->first, bytes += before->second;
        remove(before);
      }
    add(at, bytes);
  }
  std::size_t size() const { return size_; }
  std::size_t work() const { return work_; }

 private:
  using Stretches = std::map<std::size_t, std::size_t>;
  static std::size_t rounded(std::size_t bytes) { return std::max<std::size_t>((bytes + 63) & ~std::size_t(63), 64); }
  TANDEM_LAZY std::size_t extend(std::size_t bytes) {
    std::size_t at = size_;
    if (!free_.empty())
      if (const auto last = std::prev(free_.end()); last->first + last->second == size_) {
        at = last->first;
        remove(last);
      }
    size_ = at + bytes;
    return at;
  }
  TANDEM_LAZY void add(std::size_t at, std::size_t bytes) { free_[at] = bytes, by_size_.insert({bytes, at}); }
  TANDEM_LAZY void remove(Stretches::iterator s) { by_size_.erase({s->second, s->first}), free_.erase(s); }

  Stretches free_;  // offset -> size
  std::set<std::pair<std::size_t, std::size_t>> by_size_;
  std::size_t size_ = 0, work_ = 0;
};

// What is known about one Variable while walking through a graph.
struct VariableReads {
  NodeId assigned;    // the node that assigned it last
  NodeId last_chain;  // the op whose following assignments were last seen to assign it

  // Adds a read and its last use.
  void add(ValueId value, NodeId last_use) {
    if (last_use > latest_.use) other_use_ = latest_.use, latest_ = {value, last_use};
    else other_use_ = std::max(other_use_, last_use);
  }
  /// Whether another read is used by the node or after it.
  bool others_live_on(ValueId read, NodeId node) const {
    return (latest_.value == read ? other_use_ : latest_.use) >= node;
  }

 private:
  struct {
    ValueId value;
    NodeId use;
  } latest_;  // the read with the latest last use
  NodeId other_use_;
};

// The indices of Variables in Graph::variables.
class VariableIndices {
 public:
  TANDEM_LAZY explicit VariableIndices(const Graph& g) : g_(g) {}
  /// The indices of the Variables that the node's sub-graphs assign.
  TANDEM_LAZY LeanVector<VariableIndex> assigned_in_bodies(const Node& n) {
    LeanVector<VariableIndex> r;
    for (const Graph* body : subgraphs(n))
      for (const Variable& v : assigned_variables(*body))
        if (const auto at = indices().find(VariableAccess::address(v)); at != indices_.end()) r.push_back(at->second);
    return r;
  }

 private:
  TANDEM_LAZY const std::map<const void*, VariableIndex>& indices() {
    for (std::size_t i = indices_.size(); i < g_.variables.size(); ++i)
      indices_.emplace(VariableAccess::address(g_.variables[i]), VariableIndex(i));
    return indices_;
  }
  const Graph& g_;
  std::map<const void*, VariableIndex> indices_;  // built on first use
};

}  // namespace detail
}  // namespace TANDEM_NS
