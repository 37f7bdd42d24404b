// Pointwise fusion: groups elementwise ops that may run together, and replaces each group by one op. Benchmark rows:
// chain100 @traced, pointwise gelu9 @traced, lstm_step and char_rnn_step @cells_traced.
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
#include "tandem/ops/cast.hpp"
#include "tandem/ops/fused/fused.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {
namespace detail {

// Assigns each value a number that equal shapes share; shapes with unknown dims share one if they are guaranteed to
// be equal.
class ShapeClasses {
 public:
  TANDEM_LAZY explicit ShapeClasses(const Graph& g) : graph_(g), of_(g.specs.size(), -1) {}
  int operator[](ValueId value) const { return of_[value]; }

  TANDEM_LAZY void visit(const Node& n, bool elementwise) {
    for (int k = 0; k < n.outputs; ++k) of_[n.first_out + k] = classify(n, n.first_out + k, elementwise);
  }

 private:
  TANDEM_LAZY int classify(const Node& n, ValueId value, bool elementwise) {
    const Shape& s = graph_.spec(value).shape;
    if (s.is_fully_defined()) return known_.try_emplace(to_string(s), next_++).first->second;
    for (ValueId v : n.in)
      if (elementwise && std::all_of(n.in.begin(), n.in.end(), [&](ValueId other) { return covers(v, other); }))
        return (*this)[v];
    return next_++;
  }
  // Whether `other` is guaranteed to broadcast to the shape of v.
  bool covers(ValueId v, ValueId other) const {
    if ((*this)[v] == (*this)[other]) return true;
    const Shape &a = graph_.spec(v).shape, &b = graph_.spec(other).shape;
    if (b.rank() > a.rank()) return false;
    for (int d = 1; d <= b.rank(); ++d)
      if (b.dim(-d) != 1 && (b.dim(-d) == none || b.dim(-d) != a.dim(-d))) return false;
    return true;
  }

  const Graph& graph_;
  ById<ValueId, int> of_;
  std::map<std::string, int> known_;
  int next_ = 0;
};

// Pointwise ops of half precision have no loop of their own: a program widens their operands, runs float32's loop and
// rounds its result, as the op's kernel does.
TANDEM_LAZY inline bool is_widened(const OpDef& op, DType last) {
  return dtypes::half_floating.has(last) && op.flags.pointwise && !op.flags.own_width;
}
TANDEM_LAZY_INLINE bool is_fusible(const Graph& g, const Node& n) {
  if (n.outputs != 1 || n.in.empty() || !n.op->loop) return false;
  const Device device = g.spec(n.first_out).device;
  for (ValueId v : n.in)
    if (g.spec(v).device != device) return false;
  const DType last = g.spec(n.in[n.in.size() - 1]).dtype;
  if (!has_kernel(fused_op, device) || !can_fuse(*n.op, is_widened(*n.op, last) ? DType::float32 : last, n.attrs))
    return false;
  const Backend* const backend = backends[device.kind];
  if (!backend || !backend->fusion.allows) return true;
  InlinedVector<DType, 4> dtypes;
  for (ValueId v : n.in) dtypes.push_back(g.spec(v).dtype);
  dtypes.push_back(g.spec(n.first_out).dtype);
  return backend->fusion.allows(*n.op, dtypes);
}

// Partitions nodes into fusion groups.
TANDEM_LAZY class Groups {
 public:
  using Nodes = LeanVector<NodeId>;
  Groups(const Graph& g, const Analysis& analysis)
      : graph_(g), analysis_(analysis), candidate_(g.nodes.size()), level_(g.nodes.size()), group_(g.nodes.size()) {
    std::iota(group_.begin(), group_.end(), NodeId(0));
    ShapeClasses shapes(g);
    for (const NodeId i : g.nodes.ids()) {
      const Node& n = g.nodes[i];
      candidate_[i] = is_fusible(g, n);
      shapes.visit(n, candidate_[i]);
      connect(i, shapes);
    }
  }
  /// The members of each group, in program order; groups of one member are omitted.
  LeanVector<Nodes> members() {
    std::map<NodeId, Nodes> by_root;
    for (const NodeId i : group_.ids())
      if (candidate_[i]) by_root[root(i)].push_back(i);
    LeanVector<Nodes> r;
    for (auto& [_, nodes] : by_root) split(nodes, r);
    return r;
  }

 private:
  NodeId producer(ValueId value) const { return analysis_.producer(value); }
  NodeId root(NodeId i) {
    while (group_[i] != i) i = group_[i] = group_[group_[i]];
    return i;
  }
  void connect(NodeId i, const ShapeClasses& shapes) {
    const Node& n = graph_.nodes[i];
    const auto related = [&](ValueId v) {
      return candidate_[i] && candidate_[producer(v)] && shapes[v] == shapes[n.first_out] &&
             analysis_.effects_before(producer(v)) == analysis_.effects_before(i);
    };
    int& level = level_[i];
    for (ValueId v : n.in) level = std::max(level, level_[producer(v)] + !related(v));
    for (ValueId v : n.in)
      if (related(v) && level_[producer(v)] == level) group_[root(producer(v))] = root(i);
  }
  // Splits a group that is too large for its device into parts that follow each other in program order.
  void split(const Nodes& nodes, LeanVector<Nodes>& to) const {
    const Backend* const backend = backends[graph_.spec(graph_.nodes[nodes[0]].first_out).device.kind];
    const FusionLimits most = backend ? backend->fusion : FusionLimits{};
    Nodes part;
    LeanVector<ValueId> inputs;
    const auto close = [&] {
      if (part.size() > 1) to.push_back(part);
      part.clear(), inputs.clear();
    };
    for (const NodeId i : nodes) {
      for (ValueId v : graph_.nodes[i].in)
        if (std::find(inputs.begin(), inputs.end(), v) == inputs.end() &&
            std::find(part.begin(), part.end(), producer(v)) == part.end())
          inputs.push_back(v);
      if (part.size() >= most.ops || inputs.size() > most.inputs) {
        close();
        for (ValueId v : graph_.nodes[i].in) inputs.push_back(v);
      }
      part.push_back(i);
    }
    close();
  }

  const Graph& graph_;
  const Analysis& analysis_;
  ById<NodeId, char> candidate_;
  ById<NodeId, int> level_;
  ById<NodeId, NodeId> group_;
};

// The instructions of a program. Values are numbered: its inputs, whose dtypes come first, then the results.
struct Code {
  std::vector<DType> dtypes;
  LeanVector<FusedProgram::Instruction> instructions;
  std::map<int, int> wide;  // the float32 copies of half-precision values

  TANDEM_LAZY int emit(const OpDef* op, const Attrs& attrs, InlinedVector<int, 3> in, DType dtype) {
    instructions.push_back({op, attrs, std::move(in), dtype});
    return static_cast<int>(dtypes.size() + instructions.size()) - 1;
  }
  TANDEM_LAZY DType dtype_of(int value) const {
    const auto v = static_cast<std::size_t>(value);
    return v < dtypes.size() ? dtypes[v] : instructions[v - dtypes.size()].dtype;
  }
  TANDEM_LAZY int widened(int value) {
    if (!dtypes::half_floating.has(dtype_of(value))) return value;
    const auto [it, is_new] = wide.try_emplace(value);
    if (is_new) it->second = emit(&cast_op, rules::CastAttrs{DType::float32}, {value}, DType::float32);
    return it->second;
  }
  // The number of the node's result.
  TANDEM_LAZY int add(const Node& n, DType dtype, DType last, const std::map<ValueId, int>& number) {
    const bool widens = is_widened(*n.op, last);
    InlinedVector<int, 3> in;
    for (ValueId v : n.in) in.push_back(widens ? widened(number.at(v)) : number.at(v));
    const bool rounds = widens && dtypes::half_floating.has(dtype);
    const int result = emit(n.op, n.attrs, std::move(in), rounds ? DType::float32 : dtype);
    return rounds ? emit(&cast_op, rules::CastAttrs{dtype}, {result}, dtype) : result;
  }
};

// Replaces each group by one node.
TANDEM_LAZY class Fuser {
 public:
  explicit Fuser(const Graph& g) : from_(g), rewrite_(g), groups_(Groups(g, rewrite_).members()) {}

  Ref<Graph> run() {
    find_results();
    for (const Nodes& nodes : groups_) fuse(nodes);
    return rewrite_.finish();
  }

 private:
  using Nodes = LeanVector<NodeId>;

  // The values that other nodes than those of their group use, or the caller.
  void find_results() {
    ById<NodeId, int> group(from_.nodes.size(), -1);
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (const NodeId i : groups_[g]) group[i] = static_cast<int>(g);
    is_result_.resize(from_.specs.size());
    for (ValueId v : from_.outputs) is_result_[v] = 1;
    for (const NodeId i : from_.nodes.ids())
      for (ValueId v : from_.nodes[i].in)
        if (group[i] < 0 || group[rewrite_.producer(v)] != group[i]) is_result_[v] = 1;
  }
  void fuse(const Nodes& nodes) {
    LeanVector<ValueId> inputs, results;
    std::vector<int> outputs;
    std::map<ValueId, int> number;  // value -> its number in the program
    for (const NodeId i : nodes) number[from_.nodes[i].first_out] = -1;
    for (const NodeId i : nodes)
      for (ValueId v : from_.nodes[i].in)
        if (number.try_emplace(v, static_cast<int>(inputs.size())).second) inputs.push_back(v);

    Code code;
    for (ValueId v : inputs) code.dtypes.push_back(from_.spec(v).dtype);
    std::vector<Spec> specs;
    for (const NodeId i : nodes) {
      rewrite_.remove(i);
      const Node& n = from_.nodes[i];
      number[n.first_out] = code.add(n, from_.spec(n.first_out).dtype, from_.spec(n.in[n.in.size() - 1]).dtype, number);
      if (!is_result_[n.first_out]) continue;
      outputs.push_back(number[n.first_out]);
      results.push_back(n.first_out);
      specs.push_back(from_.spec(n.first_out));
    }
    if (results.empty()) return;  // dead: dropped here, since an op without outputs could not run
    const rules::FusedAttrs attrs{
        make_ref<FusedProgram>(std::move(code.dtypes), std::move(code.instructions), std::move(outputs))};
    ValueId made = rewrite_.add_before(nodes.front(), fused_op, attrs, inputs, specs, &from_.nodes[nodes.back()]);
    for (ValueId v : results) rewrite_.replace(v, made++);
  }

  const Graph& from_;
  Rewrite rewrite_;
  LeanVector<Nodes> groups_;
  ById<ValueId, char> is_result_;
};

}  // namespace detail

TANDEM_LAZY_INLINE Ref<Graph> fuse(const Graph& from) { return detail::Fuser(from).run(); }

}  // namespace TANDEM_NS
