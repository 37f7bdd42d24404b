// Pointwise fusion: groups elementwise ops that may run together, and builds the graph in which they do.
//
// A value's level is the minimum number of group borders on any path to it. It rises on every edge except those
// between two candidates of one shape. Connected candidates of one level form a group, so a path that leaves a group
// arrives at a higher level and never returns: the grouped graph has no cycle. Groups stay between two effects, so
// an op that may raise is never moved across an effect.
#pragma once
#include <algorithm>
#include <map>
#include <numeric>
#include <string>

#include "tandem/core/backend.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/ops/pointwise/fused.hpp"

namespace TANDEM_NS {
namespace detail {

inline constexpr std::size_t most_fused_ops = 512, most_fused_inputs = 48;

// Assigns each value a number that equal shapes share; shapes with unknown dims share one if they are guaranteed to
// be equal.
class ShapeClasses {
 public:
  explicit ShapeClasses(const Graph& g) : graph_(g), of_(g.specs.size(), -1) {}
  int operator[](int value) const { return of_[static_cast<std::size_t>(value)]; }

  void visit(const Node& n, bool elementwise) {
    for (int k = 0; k < n.outputs; ++k)
      of_[static_cast<std::size_t>(n.first_out + k)] = classify(n, n.first_out + k, elementwise);
  }

 private:
  int classify(const Node& n, int value, bool elementwise) {
    const Shape& s = graph_.spec(value).shape;
    if (s.is_fully_defined()) return known_.try_emplace(to_string(s), next_++).first->second;
    for (int v : n.in)
      if (elementwise && std::all_of(n.in.begin(), n.in.end(), [&](int other) { return covers(v, other); }))
        return (*this)[v];
    return next_++;
  }
  // Whether `other` is guaranteed to broadcast to the shape of v.
  bool covers(int v, int other) const {
    if ((*this)[v] == (*this)[other]) return true;
    const Shape &a = graph_.spec(v).shape, &b = graph_.spec(other).shape;
    if (b.rank() > a.rank()) return false;
    for (int d = 1; d <= b.rank(); ++d)
      if (b.dim(-d) != 1 && (b.dim(-d) == none || b.dim(-d) != a.dim(-d))) return false;
    return true;
  }

  const Graph& graph_;
  std::vector<int> of_;
  std::map<std::string, int> known_;
  int next_ = 0;
};

TANDEM_INLINE bool is_fusible(const Graph& g, const Node& n) {
  if (n.outputs != 1 || n.in.empty() || !n.op->loop) return false;
  const Device device = g.spec(n.first_out).device;
  for (int v : n.in)
    if (g.spec(v).device != device) return false;
  return has_kernel(fused_op, device) && can_fuse(*n.op, g.spec(n.in[n.in.size() - 1]).dtype, n.attrs);
}

// Partitions nodes into fusion groups.
class Groups {
 public:
  explicit Groups(const Graph& g)
      : graph_(g),
        makers_(g.makers()),
        candidate_(g.nodes.size()),
        level_(g.nodes.size()),
        effects_(g.nodes.size()),
        group_(g.nodes.size()) {
    std::iota(group_.begin(), group_.end(), 0);
    ShapeClasses shapes(g);
    int effects = 0;
    for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
      const Node& n = g.nodes[at(i)];
      candidate_[at(i)] = is_fusible(g, n);
      shapes.visit(n, candidate_[at(i)]);
      effects_[at(i)] = effects;
      effects += has_effects(n);
      join(i, shapes);
    }
  }
  /// The members of each group, in program order; groups of one member are omitted.
  std::vector<std::vector<int>> members() {
    std::map<int, std::vector<int>> by_root;
    for (int i = 0; i < static_cast<int>(group_.size()); ++i)
      if (candidate_[at(i)]) by_root[root(i)].push_back(i);
    std::vector<std::vector<int>> r;
    for (auto& [_, nodes] : by_root) split(nodes, r);
    return r;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int maker(int value) const { return makers_[at(value)]; }
  int root(int i) {
    while (group_[at(i)] != i) i = group_[at(i)] = group_[at(group_[at(i)])];
    return i;
  }
  void join(int i, const ShapeClasses& shapes) {
    const Node& n = graph_.nodes[at(i)];
    const auto related = [&](int v) {
      return candidate_[at(i)] && candidate_[at(maker(v))] && shapes[v] == shapes[n.first_out] &&
             effects_[at(maker(v))] == effects_[at(i)];
    };
    int& level = level_[at(i)];
    for (int v : n.in) level = std::max(level, level_[at(maker(v))] + !related(v));
    for (int v : n.in)
      if (related(v) && level_[at(maker(v))] == level) group_[at(root(maker(v)))] = root(i);
  }
  // Splits a group that is too large into parts that follow each other in program order.
  void split(const std::vector<int>& nodes, std::vector<std::vector<int>>& to) const {
    std::vector<int> piece, inputs;
    const auto close = [&] {
      if (piece.size() > 1) to.push_back(piece);
      piece.clear(), inputs.clear();
    };
    for (int i : nodes) {
      for (int v : graph_.nodes[at(i)].in)
        if (std::find(inputs.begin(), inputs.end(), v) == inputs.end() &&
            std::find(piece.begin(), piece.end(), maker(v)) == piece.end())
          inputs.push_back(v);
      if (piece.size() >= most_fused_ops || inputs.size() > most_fused_inputs) {
        close();
        for (int v : graph_.nodes[at(i)].in) inputs.push_back(v);
      }
      piece.push_back(i);
    }
    close();
  }

  const Graph& graph_;
  std::vector<int> makers_;
  std::vector<bool> candidate_;  // indexed by node, like all that follow
  std::vector<int> level_, effects_, group_;
};

// Builds the graph with groups as single nodes.
class Fuser {
 public:
  explicit Fuser(const Graph& g)
      : from_(g), to_(g.copy()), makers_(g.makers()), unit_(g.nodes.size()), now_(g.specs.size()) {
    std::iota(unit_.begin(), unit_.end(), 0);
    std::iota(now_.begin(), now_.end(), 0);
    to_->nodes.clear();
    for (std::vector<int>& nodes : Groups(g).members()) {
      for (int i : nodes) unit_[at(i)] = nodes.back();
      groups_.emplace(nodes.back(), std::move(nodes));
    }
    emitted_.resize(g.nodes.size());
  }
  Ref<Graph> run() {
    // Outputs of a group: values that other nodes or the caller use.
    outside_.resize(from_.specs.size());
    for (int v : from_.outputs) outside_[at(v)] = true;
    for (std::size_t i = 0; i < from_.nodes.size(); ++i)
      for (int v : from_.nodes[i].in)
        if (unit_[at(makers_[at(v)])] != unit_[i]) outside_[at(v)] = true;
    for (int i = 0; i < static_cast<int>(from_.nodes.size()); ++i) emit_with_inputs(unit_[at(i)]);
    for (int& v : to_->outputs) v = now_[at(v)];
    return to_;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // Emits a unit at the position of its first member, after the units that it needs.
  void emit_with_inputs(int unit) {
    std::vector<int> pending{unit};
    while (!pending.empty()) {
      const int u = pending.back();
      const std::size_t before = pending.size();
      if (!emitted_[at(u)]) {
        const auto group = groups_.find(u);
        if (group == groups_.end()) want_inputs(u, u, pending);
        else
          for (int i : group->second) want_inputs(i, u, pending);
      }
      if (pending.size() != before) continue;
      pending.pop_back();
      if (!emitted_[at(u)]) emit(u);
    }
  }
  void want_inputs(int node, int unit, std::vector<int>& pending) const {
    for (int v : from_.nodes[at(node)].in)
      if (const int u = unit_[at(makers_[at(v)])]; u != unit && !emitted_[at(u)]) pending.push_back(u);
  }
  void emit(int unit) {
    emitted_[at(unit)] = true;
    const auto group = groups_.find(unit);
    if (group != groups_.end()) return emit_group(group->second);
    Node& n = to_->nodes.emplace_back(from_.nodes[at(unit)]);
    for (int& v : n.in) v = now_[at(v)];
  }
  void emit_group(const std::vector<int>& nodes) {
    std::vector<int> inputs, outputs;
    std::map<int, int> number;  // value -> its number in the program
    for (int i : nodes) number[from_.nodes[at(i)].first_out] = -1;
    for (int i : nodes)
      for (int v : from_.nodes[at(i)].in)
        if (number.try_emplace(v, static_cast<int>(inputs.size())).second) inputs.push_back(v);

    std::vector<FusedProgram::Instruction> code;
    std::vector<DType> dtypes;
    for (int v : inputs) dtypes.push_back(from_.spec(v).dtype);
    std::vector<Spec> specs;
    std::vector<int> made;
    for (int i : nodes) {
      const Node& n = from_.nodes[at(i)];
      FusedProgram::Instruction& c = code.emplace_back();
      c.op = n.op, c.attrs = n.attrs, c.dtype = from_.spec(n.first_out).dtype;
      for (int v : n.in) c.in.push(number[v]);
      number[n.first_out] = static_cast<int>(inputs.size() + code.size()) - 1;
      if (!outside_[at(n.first_out)]) continue;
      outputs.push_back(number[n.first_out]);
      made.push_back(n.first_out);
      specs.push_back(from_.spec(n.first_out));
    }
    if (made.empty()) return;  // dead: dropped here, since an op without outputs could not run
    for (int& v : inputs) v = now_[at(v)];
    const Node& last = from_.nodes[at(nodes.back())];
    const FusedAttrs attrs{make_ref<FusedProgram>(std::move(dtypes), std::move(code), std::move(outputs))};
    const int first = to_->add(fused_op, attrs, inputs, specs, last.name, last.where);
    for (std::size_t k = 0; k < made.size(); ++k) now_[at(made[k])] = first + static_cast<int>(k);
  }

  const Graph& from_;
  const Ref<Graph> to_;
  std::vector<int> makers_, unit_, now_;    // unit_: by node, the last node of its group; now_: by value
  std::map<int, std::vector<int>> groups_;  // indexed by unit
  std::vector<bool> emitted_, outside_;
};

}  // namespace detail

TANDEM_INLINE Ref<Graph> fuse(const Graph& from) { return detail::Fuser(from).run(); }

}  // namespace TANDEM_NS
