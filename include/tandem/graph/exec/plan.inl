// Planning: lifetimes, views, offsets.
#pragma once
#include <algorithm>

#include "tandem/core/backend.hpp"
#include "tandem/graph/exec/plan.hpp"
#include "tandem/graph/exec/plan_parts.hpp"
#include "tandem/graph/ir/common.hpp"
#include "tandem/graph/ir/views.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/util/inter_op.hpp"
#include "tandem/util/lean_vector.hpp"

namespace TANDEM_NS {

// Whether the total number of bytes does not overflow. If it does, no arena could be allocated either: run op by op,
// so that the error names the failing allocation.
TANDEM_LAZY TANDEM_INLINE bool has_countable_bytes(const Graph& g) {
  constexpr i64 most = i64{1} << 62;
  i64 total = 0;
  for (const Node& n : g.nodes)
    for (int k = 0; k < n.outputs; ++k) {
      const Spec& s = g.spec(n.first_out + k);
      i64 bytes = static_cast<i64>(size_of(s.dtype));
      for (i64 d : s.shape)
        if (d != none && __builtin_mul_overflow(bytes, d, &bytes)) return false;
      if (bytes > most - total) return false;
      total += bytes;
    }
  return true;
}
TANDEM_LAZY_INLINE bool can_plan(const Graph& g) {
  if (!has_countable_bytes(g)) return false;
  for (const Node& n : g.nodes) {
    if (!is_leaf(n) && !n.op->flags.alias && !n.op->rare.host_kernel && !has_kernel(*n.op, detail::device_of(g, n)))
      return false;
    for (int k = 0; k < n.outputs; ++k) {
      const Spec& s = g.spec(n.first_out + k);
      const bool open = !n.op->rare.host_kernel && !s.shape.is_fully_defined();
      if (open || (s.dtype == DType::string && !is_leaf(n))) return false;
    }
    for (ValueId v : n.in)
      if (!n.op->rare.host_kernel && !g.spec(v).shape.is_fully_defined()) return false;
    // Unknown sizes may turn out different from the Variable's: the interpreter raises in order.
    if (n.op == &assign_variable_op && !(g.spec(n.in[0]) == variable_of(g, n).spec())) return false;
  }
  return true;
}

namespace detail {

TANDEM_LAZY class Planner {
 public:
  explicit Planner(const Graph& graph) : g_(graph) {
    const std::size_t values = g_.specs.size();
    p_.base.resize(values), p_.offset.resize(values), p_.kind.resize(values), p_.arena_offset.resize(values);
    p_.last_use.resize(values), p_.escapes.resize(values), p_.overwrites.resize(values), p_.donor.resize(values);
    p_.workspace_offset.resize(g_.nodes.size()), p_.workspace_bytes.resize(g_.nodes.size());
    const ById<ValueId, View> views = views_of(g_);
    for (const ValueId v : views.ids()) p_.base[v] = views[v].base, p_.offset[v] = views[v].offset;
    released_.resize(values), argument_.resize(values), variable_.resize(values), slots_.resize(values);
    is_allocated_.resize(values), assignments_.resize(values), reader_.resize(values), counted_.resize(values);
  }
  Plan plan() {
    for (const NodeId i : g_.nodes.ids()) find_bases(g_.nodes[i]);
    find_lifetimes();
    if (assign_slots()) find_lifetimes();
    find_overwrites();
    for (const NodeId i : g_.nodes.ids()) find_donor(i);
    if (const int threads = config::inter_op_parallelism_threads(); threads > 1) find_regions(threads);
    for (const NodeId i : g_.nodes.ids()) allocate(i);
    p_.work = work_;
    for (const DeviceArena& a : arenas_) {
      p_.arenas.push_back({a.device, a.memory.size()});
      p_.arena_bytes += a.memory.size(), p_.work += a.memory.work();
    }
    return std::move(p_);
  }

 private:
  ValueId base(ValueId v) const { return p_.base[v]; }
  bool spans_base(ValueId v) const { return p_.offset[v] == 0 && g_.spec(v).bytes() == g_.spec(base(v)).bytes(); }
  void use(ValueId v, NodeId node) { p_.last_use[base(v)] = node; }
  void escape(ValueId v) {
    p_.escapes[base(v)] = 1;
    if (p_.kind[base(v)] == Plan::arena) p_.kind[base(v)] = Plan::fresh;
  }

  void find_bases(const Node& n) {
    const Plan::Kind kind = n.op == &argument_op        ? Plan::argument
                            : n.op == &constant_op      ? constant_of(n)->is_symbolic() ? Plan::nothing : Plan::constant
                            : n.op == &read_variable_op ? Plan::variable
                            : n.op->rare.host_kernel    ? Plan::fresh
                                                        : Plan::arena;
    if (n.op == &assign_variable_op) ++assignments_[n.in[0]];
    for (int k = 0; k < n.outputs; ++k) {
      const ValueId v = n.first_out + k;
      p_.kind[v] = kind;
      if (kind == Plan::variable) variable_[v] = variable_index(n);
      if (kind == Plan::argument) argument_[v] = argument_index(n);
    }
  }
  void find_lifetimes() {
    std::fill(p_.last_use.begin(), p_.last_use.end(), NodeId());
    for (const NodeId i : g_.nodes.ids()) find_lifetimes(i);
    for (ValueId v : g_.outputs) escape(v), use(v, g_.nodes.end_id());
  }
  void find_lifetimes(NodeId node) {
    const Node& n = g_.nodes[node];
    for (ValueId v : n.in) {
      if (!n.op->flags.alias) use(v, node);
      if (n.op == &assign_variable_op || n.op->rare.host_kernel) escape(v);
    }
  }

  // An operand of a concat along axis 0 is computed directly into the concat's buffer, so nothing is copied; so is one
  // of an early op.
  bool assign_slots() {
    LeanVector<const Node*> concats;
    for (const NodeId i : g_.nodes.ids()) {
      const Node& n = g_.nodes[i];
      if (n.op->flags.early) assign_early_slots(i);
      else if (concatenates_rows(n) && may_move(n.first_out) && assign_slots(n)) concats.push_back(&n);
    }
    for (std::size_t j = concats.size(); j-- > 0;)  // nested concats: the outer one is resolved first
      if (const Slot outer = slots_[concats[j]->first_out]; outer.of.is_set())
        for (ValueId x : concats[j]->in)
          if (Slot& p = slots_[x]; p.of == concats[j]->first_out) p = {outer.of, outer.offset + p.offset};
    if (!has_slots_) return false;
    for (const ValueId v : p_.base.ids())
      if (const Slot& p = slots_[p_.base[v]]; p.of.is_set()) p_.base[v] = p.of, p_.offset[v] += p.offset;
    return true;
  }
  bool assign_slots(const Node& concat) {
    bool any = false;
    std::size_t offset = 0;
    for (ValueId x : concat.in) {
      if (may_move(x) && !slots_[x].of.is_set() && offset % 64 == 0) slots_[x] = {concat.first_out, offset}, any = true;
      offset += g_.spec(x).bytes();
    }
    has_slots_ |= any;
    return any;
  }
  // The operands of an early op lie in its result (early_alignment). What runs beside the program changes them from
  // then on, so only one that dies here may be computed there.
  void assign_early_slots(NodeId node) {
    const Node& n = g_.nodes[node];
    std::size_t bytes = 0;
    for (const ValueId x : n.in) bytes += early_bytes(x);
    if (n.outputs != 1 || !may_move(n.first_out) || g_.spec(n.first_out).bytes() != bytes) return;
    std::size_t offset = 0;
    for (const ValueId x : n.in) {
      const ValueId b = base(x);
      if (may_move(b) && spans_base(x) && p_.last_use[b] == node && !slots_[b].of.is_set())
        slots_[b] = {n.first_out, offset}, has_slots_ = true;
      offset += early_bytes(x);
    }
  }
  std::size_t early_bytes(ValueId v) const {
    return (g_.spec(v).bytes() + early_alignment - 1) / early_alignment * early_alignment;
  }
  static bool concatenates_rows(const Node& n) {
    if (n.op != &concat_op && n.op != &stack_op) return false;
    return n.attrs.get<rules::JoinAttrs>().axis == 0;
  }
  bool may_move(ValueId v) const { return in_arena(v) && !p_.escapes[v]; }

  // A value that is assigned to a Variable may be computed in the Variable's own buffer, which the op's kernel then
  // looks up at run time. From before the op until the assignment that buffer must hold the old value, and the old
  // value must be dead:
  //   - the value is computed from a read of the Variable, which has the same layout and dies there;
  //   - nothing assigns the Variable between that read and the assignment of the value: no node before the op, and
  //     none of the assignments that follow it;
  //   - no other read from before the op is still live;
  //   - the value is assigned once: the contents of one Variable's buffer must be copied for another;
  //   - nothing that may fail or read the Variable is between the op and the assignment.
  // So each buffer is reused by at most one value.
  void find_overwrites() {
    ById<VariableIndex, VariableReads> now(g_.variables.size());
    VariableIndices indices(g_);
    for (const NodeId i : g_.nodes.ids()) {
      const Node& n = g_.nodes[i];
      if (n.op == &read_variable_op) {
        reader_[n.first_out] = i;
        now[variable_index(n)].add(n.first_out, p_.last_use[n.first_out]);
      } else if (n.op == &assign_variable_op) {
        now[variable_index(n)].assigned = i;
      } else if (n.op->rare.host_kernel) {
        for (const VariableIndex v : indices.assigned_in_bodies(n)) now[v].assigned = i;
      } else if (n.op->flags.in_place || n.op->flags.pointwise) {
        find_overwrite(i, now);
      }
    }
  }
  void find_overwrite(NodeId node, ById<VariableIndex, VariableReads>& now) {
    const Node& n = g_.nodes[node];
    for (NodeId a = node + 1; a < g_.nodes.end_id() && g_.nodes[a].op == &assign_variable_op; ++a) {
      ++work_;
      const VariableIndex variable = variable_index(g_.nodes[a]);
      VariableReads& reads = now[variable];
      if (std::exchange(reads.last_chain, node) == node) continue;
      const ValueId v = g_.nodes[a].in[0];
      const int k = v - n.first_out;
      if (k < 0 || k >= n.outputs || p_.kind[v] != Plan::fresh || assignments_[v] > 1) continue;
      if (!(g_.variable(variable).spec() == g_.spec(v))) continue;
      const ValueId x =
          dying_input(node, k, [&](ValueId r) { return is_read_of(r, variable) && reader_[r] > reads.assigned; });
      if (x.is_set() && !reads.others_live_on(base(x), node)) p_.overwrites[v] = variable;
    }
  }
  // A result may be computed in the buffer of an argument that dies here, if the caller donates it.
  void find_donor(NodeId node) {
    const Node& n = g_.nodes[node];
    if (!n.op->flags.in_place && !n.op->flags.pointwise) return;
    for (int k = 0; k < n.outputs; ++k) {
      const ValueId v = n.first_out + k;
      if (base(v) != v || p_.kind[v] != Plan::fresh || p_.overwrites[v].is_set()) continue;
      const ValueId x = dying_input(node, k, [&](ValueId r) {
        return p_.kind[r] == Plan::argument && !p_.escapes[r] && g_.spec(r) == g_.spec(v);
      });
      if (x.is_set()) p_.donor[v] = argument_[base(x)];
    }
  }
  bool is_read_of(ValueId value, VariableIndex variable) const {
    return p_.kind[value] == Plan::variable && variable_[value] == variable && !p_.escapes[value];
  }
  // Finds an input in whose buffer output k may be computed: it has the same layout, is dead after this op, and
  // satisfies `fits`.
  template <class Fits>
  ValueId dying_input(NodeId node, int k, const Fits& fits) {
    const Node& n = g_.nodes[node];
    const ValueId v = n.first_out + k;
    const auto first = n.op->flags.pointwise ? 0u : static_cast<unsigned>(k);  // other ops: only input k
    const auto end = n.op->flags.pointwise ? n.in.size() : std::min(n.in.size(), first + 1);
    for (unsigned i = first; i < end; ++i) {
      ++work_;
      const ValueId x = n.in[i];
      if (g_.spec(x).device != g_.spec(v).device) continue;
      if (!(g_.spec(x).shape == g_.spec(v).shape) || size_of(g_.spec(x).dtype) != size_of(g_.spec(v).dtype)) continue;
      if (!spans_base(x) || p_.last_use[base(x)] != node || shared(node, i)) continue;
      if (!fits(base(x))) continue;
      return x;
    }
    return {};
  }
  // Whether another input uses the same buffer with another layout.
  bool shared(NodeId node, unsigned i) {
    const Node& n = g_.nodes[node];
    if (times_among_inputs(node, base(n.in[i])) == 1) return false;
    if (!n.op->flags.pointwise) return true;
    return std::any_of(n.in.begin(), n.in.end(), [&](ValueId x) {
      return ++work_, base(x) == base(n.in[i]) && !(g_.spec(x).shape == g_.spec(n.in[i]).shape);
    });
  }
  // Counts all inputs of a node at once and caches the result.
  int times_among_inputs(NodeId node, ValueId r) {
    if (std::exchange(counted_node_, node) != node) {
      ++counts_;
      for (ValueId x : g_.nodes[node].in) {
        Count& c = counted_[base(x)];
        c = {counts_, c.number == counts_ ? c.times + 1 : 1}, ++work_;
      }
    }
    return counted_[r].times;
  }

  // What computes in the buffer of a Variable or of an argument stays in order: another branch might still read it.
  bool may_branch(const Node& n) const {
    if (n.op == &assign_variable_op || n.op->rare.host_kernel || has_effects(n)) return false;
    if (is_leaf(n)) return true;
    if (device_of(g_, n).kind != Device::cpu) return false;
    for (int k = 0; k < n.outputs; ++k)
      if (const ValueId v = n.first_out + k; p_.overwrites[v].is_set() || p_.donor[v].is_set()) return false;
    return true;
  }
  void find_regions(int threads) {
    ById<NodeId, char> may;
    for (const Node& n : g_.nodes) may.push_back(may_branch(n));
    p_.branches = find_branches(g_, may, threads, threads_of_operation());
    if (!p_.branches.regions.empty()) producers_ = g_.producers();
  }
  // Makes `region_` the region of the node, if any, and reuses memory again that a region before it has kept.
  void enter(NodeId node) {
    const LeanVector<Branches::Region>& all = p_.branches.regions;
    if (next_region_ == 0 || all[next_region_ - 1].end <= node) {
      region_ = nullptr;
      for (const Kept& k : kept_) arena_of(k.device).release(k.offset, k.bytes);
      kept_.clear();
    }
    if (next_region_ < all.size() && all[next_region_].first == node) region_ = &all[next_region_++];
  }
  // Branches run at the same time: what one no longer needs, another must not get.
  void give_back(Device device, std::size_t offset, std::size_t bytes) {
    if (region_) kept_.push_back({device, offset, bytes});
    else arena_of(device).release(offset, bytes);
  }
  // Whether a value's buffer may be reused by the node where it dies: in a region only the node's own branch may have
  // used it, which is so if it was made there.
  bool may_take_over(ValueId r) const { return !region_ || producers_[r] >= region_->first; }
  bool in_arena(ValueId v) const { return base(v) == v && p_.kind[v] == Plan::arena; }
  void allocate(NodeId node) {
    const Node& n = g_.nodes[node];
    if (!p_.branches.regions.empty()) enter(node);
    if (is_leaf(n) || n.op->flags.alias || n.op->rare.host_kernel) return release_dead(node);
    for (int k = 0; k < n.outputs; ++k) {
      const ValueId v = n.first_out + k;
      if (slots_[v].of.is_set()) allocate_base(base(v));
      if (!in_arena(v) || is_allocated_[v]) continue;
      const bool may_reuse = n.op->flags.pointwise || n.op->flags.in_place;
      const ValueId x = may_reuse ? dying_input(node, k, [](ValueId) { return true; }) : ValueId();
      const bool reuse = x.is_set() && p_.kind[base(x)] == Plan::arena && !released_[base(x)] && may_take_over(base(x));
      if (reuse) released_[base(x)] = 1;
      p_.arena_offset[v] = reuse ? p_.arena_offset[base(x)] : arena_of(g_.spec(v).device).allocate(g_.spec(v).bytes());
    }
    allocate_workspace(node);
    release_dead(node);
  }
  void allocate_base(ValueId v) {
    if (!std::exchange(is_allocated_[v], char{1}))
      p_.arena_offset[v] = arena_of(g_.spec(v).device).allocate(g_.spec(v).bytes());
  }
  Arena& arena_of(Device device) {
    for (DeviceArena& a : arenas_)
      if (a.device == device) return a.memory;
    return arenas_.emplace_back(DeviceArena{device, {}}).memory;
  }
  void allocate_workspace(NodeId node) {
    const Node& n = g_.nodes[node];
    if (!n.op->workspace) return;
    const Device device = device_of(g_, n);
    if (const Backend* b = backends[device.kind]; b && !b->uses_workspace) return;
    InlinedVector<Spec, 4> specs;
    for (ValueId v : n.in) specs.push_back(g_.spec(v));
    const std::size_t bytes = n.op->workspace({specs.begin(), specs.size()}, n.attrs);
    if (!bytes) return;
    p_.workspace_bytes[node] = bytes;
    p_.workspace_offset[node] = arena_of(device).allocate(bytes);
    give_back(device, p_.workspace_offset[node], bytes);
  }
  void release(ValueId v) {
    if (std::exchange(released_[v], char{1})) return;
    give_back(g_.spec(v).device, p_.arena_offset[v], g_.spec(v).bytes());
  }
  void release_dead(NodeId node) {
    const Node& n = g_.nodes[node];
    for (ValueId x : n.in)
      if (const ValueId r = base(x); p_.kind[r] == Plan::arena && p_.last_use[r] == node) release(r);
    for (int k = 0; k < n.outputs; ++k)
      if (const ValueId v = n.first_out + k; in_arena(v) && !p_.last_use[v].is_set()) release(v);
  }

  const Graph& g_;
  Plan p_;
  struct DeviceArena {
    Device device;
    Arena memory;
  };
  LeanVector<DeviceArena> arenas_;  // few: one a device
  struct Kept {
    Device device;
    std::size_t offset, bytes;
  };
  const Branches::Region* region_ = nullptr;  // of the node that is being planned
  std::size_t next_region_ = 0;
  LeanVector<Kept> kept_;            // memory to be reused behind the region
  ById<ValueId, NodeId> producers_;  // if there are regions
  struct Slot {
    ValueId of;  // the value in whose buffer it is computed, if any
    std::size_t offset = 0;
  };
  ById<ValueId, Slot> slots_;
  bool has_slots_ = false;
  ById<ValueId, char> is_allocated_;       // by base: whether it was allocated before its own op, for its first operand
  ById<ValueId, char> released_;           // by base: whether its buffer was released or reused
  ById<ValueId, ArgumentIndex> argument_;  // the argument that it is
  ById<ValueId, VariableIndex> variable_;  // the Variable that it is read from
  ById<ValueId, int> assignments_;         // the number of assignments, to any Variable
  ById<ValueId, NodeId> reader_;           // the latest visited node that reads it
  struct Count {
    int number, times;
  };
  ById<ValueId, Count> counted_;  // by base: the id of the count, and how many of the node's inputs lie there
  NodeId counted_node_;
  int counts_ = 0;
  std::size_t work_ = 0;
};

}  // namespace detail

TANDEM_LAZY_INLINE Plan make_plan(const Graph& graph) { return detail::Planner(graph).plan(); }

}  // namespace TANDEM_NS
