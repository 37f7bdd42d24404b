// Definitions of graph/exec/memory_use.hpp: a walk through the graph as a call takes it.
#pragma once
#include <algorithm>
#include <limits>

#include "tandem/core/allocator.hpp"
#include "tandem/core/scope.hpp"
#include "tandem/graph/control/body.hpp"
#include "tandem/graph/control/control_ops.hpp"
#include "tandem/graph/control/loop_layout.hpp"
#include "tandem/graph/control/loop_sums.hpp"
#include "tandem/graph/exec/memory_use.hpp"
#include "tandem/graph/exec/plan.hpp"
#include "tandem/graph/exec/program.hpp"
#include "tandem/graph/ir/common.hpp"

namespace TANDEM_NS {

namespace detail {

inline constexpr std::size_t most_buffers = 20;

TANDEM_LAZY inline i64 block_of(std::size_t bytes) {
  return bytes ? static_cast<i64>(memory::class_size(memory::class_of(bytes))) : 0;
}
/// The bytes that Tensor::allocate takes; what is not on the CPU is taken as it is.
TANDEM_LAZY inline i64 tensor_bytes(const Spec& s) {
  constexpr std::size_t together = 256 * 1024;  // header and data share one block up to this size
  const std::size_t bytes = s.bytes();
  if (s.device.kind != Device::cpu) return static_cast<i64>(bytes) + block_of(sizeof(TensorHeader));
  return bytes <= together ? block_of(sizeof(TensorHeader) + bytes) : block_of(sizeof(TensorHeader)) + block_of(bytes);
}

TANDEM_LAZY class MemoryWalk {
 public:
  /// donated: the number of first arguments whose buffers results may take over
  MemoryWalk(const Graph& g, bool planned, i64 donated = 0)
      : g_(g), planned_(planned && can_plan(g)), donated_(donated) {
    if (planned_) plan_ = make_plan(g);
    last_read_.resize(g.variables.size());
  }
  MemoryUse walk() {
    for (ValueId v : g_.arguments) use_.arguments += known(g_.spec(v));
    for (const Variable& v : g_.variables) use_.variables += tensor_bytes(v.spec());
    for (const Plan::Arena& a : plan_.arenas)
      use_.arena += a.device.kind == Device::cpu ? block_of(a.bytes) : static_cast<i64>(a.bytes);
    if (!planned_) find_last_uses();
    producers_.resize(g_.specs.size());
    for (const NodeId i : g_.nodes.ids())
      for (int k = 0; k < g_.nodes[i].outputs; ++k) producers_[g_.nodes[i].first_out + k] = i;
    for (const NodeId i : g_.nodes.ids()) pass(i);
    use_.buffers = most_;
    std::stable_sort(use_.largest.begin(), use_.largest.end(),
                     [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    if (use_.largest.size() > most_buffers) use_.largest.resize(most_buffers);
    return std::move(use_);
  }

 private:
  i64 known(const Spec& s) {
    if (s.shape.is_fully_defined() && s.dtype != DType::string) return tensor_bytes(s);
    use_.is_complete = false;
    return 0;
  }
  void add(i64 bytes) { most_ = std::max(most_, live_ += bytes); }
  void list(const Node& n, ValueId v, i64 bytes) {
    use_.largest.push_back({n.name + " " + to_string(g_.spec(v)), line_text(n.where), bytes});
  }
  void pass(NodeId i) {
    const Node& n = g_.nodes[i];
    if (const Tensor* t = constant_of(n); t && t->has_data()) use_.constants += known(t->spec());
    if (n.op == &read_variable_op && planned_)
      last_read_[variable_index(n)] = std::max(last_read_[variable_index(n)], plan_.last_use[n.first_out]);
    if (n.op->flags.keeps_packed) count_packed(n);
    if (n.op == &assign_variable_op) return assign(i);
    if (is_leaf(n)) return;
    if (n.op->rare.host_kernel) run_bodies(n);
    planned_ ? make_planned(n) : make_one_by_one(i);
  }
  // What the plan does not place in the arena is made at its node, and kept until the call ends.
  void make_planned(const Node& n) {
    for (int k = 0; k < n.outputs; ++k) {
      const ValueId v = n.first_out + k;
      if (plan_.base[v] != v) continue;
      if (plan_.kind[v] == Plan::arena) list(n, v, static_cast<i64>(g_.spec(v).bytes()));
      if (plan_.kind[v] != Plan::fresh || takes_over(v)) continue;
      const i64 bytes = known(g_.spec(v));
      list(n, v, bytes);
      add(bytes);
    }
  }
  // Whether a value is computed in the buffer of a Variable or of an argument. A Variable that was never assigned
  // shares its buffer with its initial value, which it keeps.
  bool takes_over(ValueId v) const {
    if (plan_.donor[v].is_set() && plan_.donor[v] < donated_) return true;
    if (!plan_.overwrites[v].is_set()) return false;
    const Variable& variable = g_.variable(plan_.overwrites[v]);
    const VariableLocks lock({&variable, 1});
    return VariableAccess::value(variable).is_unique();
  }
  void make_one_by_one(NodeId i) {
    const Node& n = g_.nodes[i];
    for (int k = 0; k < n.outputs; ++k) {
      const i64 bytes = n.op->flags.alias ? 0 : known(g_.spec(n.first_out + k));
      list(n, n.first_out + k, bytes);
      add(bytes);
    }
    for (ValueId v : dies_[i]) live_ -= known(g_.spec(v));
  }
  // An assignment takes the value over, and frees the old one, unless a read of it is still used.
  void assign(NodeId i) {
    const Node& n = g_.nodes[i];
    const bool frees = planned_ && last_read_[variable_index(n)] < i;
    if (frees && plan_.kind[plan_.base[n.in[0]]] == Plan::fresh && !plan_.overwrites[n.in[0]].is_set())
      live_ -= tensor_bytes(variable_of(g_, n).spec());
  }
  // The bodies of control flow run while what a loop returns is made. Of branches one runs, a condition and a body in
  // turn; all keep their arenas.
  void run_bodies(const Node& n) {
    i64 outputs = 0, most = 0;
    for (int k = 0; k < n.outputs; ++k) outputs += known(g_.spec(n.first_out + k));
    const rules::LoopAttrs* const loop = n.op == &loop_op ? &n.attrs.get<rules::LoopAttrs>() : nullptr;
    for (const Graph* body : subgraphs(n)) {
      if (!body->is_static()) {
        use_.is_complete = false;
        continue;
      }
      const Ref<Program> program = Body::of(*body).function().program_for({});
      const MemoryUse inner =
          MemoryWalk(program->graph(), true, loop && body == loop->body.get() ? loop->carried : 0).walk();
      use_.arena += inner.arena, use_.constants += inner.constants, use_.packed += inner.packed;
      use_.is_complete &= inner.is_complete;
      most = std::max(most, inner.buffers);
    }
    if (loop && most_iterations(n) >= LoopSums::block)
      for (int k = 0; k < n.outputs; ++k)
        if (is_sum(*loop, static_cast<std::size_t>(k))) outputs += known(g_.spec(n.first_out + k));  // of its block
    most_ = std::max(most_, live_ + most + (loop ? outputs : 0));
  }
  // The most iterations that a loop can have, as far as the graph says: the number of its rows, or a limit.
  i64 most_iterations(const Node& loop) const {
    const auto& a = loop.attrs.get<rules::LoopAttrs>();
    const LoopLayout at(a);
    for (std::size_t i = 0; i < at.rows; ++i) {
      const std::size_t input = is_ragged(a.ragged_rows, i) ? at.row_table(a, i) : at.first_row() + i;
      if (const i64 n = g_.spec(loop.in[static_cast<unsigned>(input)]).shape.dim(0); n != none) return n;
    }
    const NodeId limit = producers_[loop.in[0]];
    constexpr i64 unknown = std::numeric_limits<i64>::max();
    if (!limit.is_set()) return unknown;
    const Node& n = g_.nodes[limit];
    if (n.op == &loop_op) return most_iterations(n);  // that whose gradient this is
    const Tensor* const t = constant_of(n);
    return t && t->has_data() && t->device().kind == Device::cpu ? t->item<i64>() : unknown;
  }
  void count_packed(const Node& n) {
    const ValueId v = planned_ && n.in.size() > 1 ? plan_.base[n.in[1]] : ValueId();
    if (!v.is_set() || (plan_.kind[v] != Plan::variable && plan_.kind[v] != Plan::constant)) return;
    if (std::find(packed_.begin(), packed_.end(), v) != packed_.end()) return;
    packed_.push_back(v);
    use_.packed += static_cast<i64>(g_.spec(v).bytes());
  }
  void find_last_uses() {
    dies_.resize(g_.nodes.size());
    ById<ValueId, NodeId> last(g_.specs.size());
    for (const NodeId i : g_.nodes.ids())
      for (ValueId v : g_.nodes[i].in) last[v] = i;
    for (ValueId v : g_.outputs) last[v] = {};
    for (const Node& n : g_.nodes) {
      if (is_leaf(n) || n.op->flags.alias) continue;
      for (int k = 0; k < n.outputs; ++k)
        if (const NodeId i = last[n.first_out + k]; i.is_set()) dies_[i].push_back(n.first_out + k);
    }
  }

  const Graph& g_;
  const bool planned_;
  const ArgumentIndex donated_;
  Plan plan_;
  MemoryUse use_;
  i64 live_ = 0, most_ = 0;                 // buffers beside the arena: now, and at most
  ById<VariableIndex, NodeId> last_read_;   // the last use of a read so far
  ById<NodeId, LeanVector<ValueId>> dies_;  // op by op: the values that are dead after it
  LeanVector<ValueId> packed_;              // with packed forms
  ById<ValueId, NodeId> producers_;
};

}  // namespace detail

TANDEM_LAZY_INLINE MemoryUse memory_of(const Graph& graph, bool planned) {
  return detail::MemoryWalk(graph, planned).walk();
}

TANDEM_LAZY_INLINE std::string to_string(const MemoryUse& use) {
  const auto line = [](i64 bytes, const std::string& what) { return std::to_string(bytes) + " bytes: " + what + "\n"; };
  std::string s = line(use.total(), use.is_complete ? "in all" : "in all, without what depends on data") +
                  line(use.arguments, "arguments") + line(use.variables, "Variables") +
                  line(use.constants, "constants") + line(use.packed, "packed weights") + line(use.arena, "arena") +
                  line(use.buffers, "results and other buffers");
  for (const MemoryUse::Buffer& b : use.largest)
    s += "  " + line(b.bytes, b.what + (b.where.empty() ? "" : " at " + b.where));
  return s;
}

}  // namespace TANDEM_NS
