// Lifetimes, views, offsets (implementation half of graph/plan.hpp).
#pragma once
#include <algorithm>

#include "tandem/graph/plan.hpp"
#include "tandem/ops/shape/concat.hpp"

namespace TANDEM_NS {

// Whether the bytes of all values can be added. Where they cannot, no arena could be had either: op by op the
// allocation that fails is named.
TANDEM_INLINE bool has_countable_bytes(const Graph& g) {
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
TANDEM_INLINE bool can_plan(const Graph& g) {
  if (!has_countable_bytes(g)) return false;
  for (const Node& n : g.nodes) {
    if (!is_leaf(n) && !n.op->flags.alias && !n.op->execute && !n.op->cpu) return false;
    for (int k = 0; k < n.outputs; ++k) {
      const Spec& s = g.spec(n.first_out + k);
      const bool open = !n.op->execute && !s.shape.is_fully_defined();
      if (open || s.device.kind != Device::cpu || (s.dtype == DType::string && !is_leaf(n))) return false;
    }
    for (int v : n.in)
      if (!n.op->execute && !g.spec(v).shape.is_fully_defined()) return false;
    // Sizes that were open may turn out not to be the Variable's: the interpreter raises in the right place.
    if (n.op == &assign_variable_op &&
        !(g.spec(n.in[0]) == g.variables[static_cast<std::size_t>(n.attrs.get<IndexAttrs>().index)].spec()))
      return false;
  }
  return true;
}

namespace detail {

// Free and taken stretches of one arena.
class Arena {
 public:
  std::size_t take(std::size_t bytes) {
    bytes = rounded(bytes);
    auto best = free_.end();
    for (auto f = free_.begin(); f != free_.end(); ++f)
      if (f->bytes >= bytes && (best == free_.end() || f->bytes < best->bytes)) best = f;
    if (best == free_.end()) return extend(bytes);
    const std::size_t at = best->at;
    best->at += bytes, best->bytes -= bytes;
    if (!best->bytes) free_.erase(best);
    return at;
  }
  void give_back(std::size_t at, std::size_t bytes) {
    bytes = rounded(bytes);
    auto next = std::find_if(free_.begin(), free_.end(), [&](const Stretch& f) { return f.at > at; });
    next = free_.insert(next, {at, bytes});
    if (next + 1 != free_.end() && next->at + next->bytes == (next + 1)->at) {
      next->bytes += (next + 1)->bytes;
      free_.erase(next + 1);
    }
    if (next != free_.begin() && (next - 1)->at + (next - 1)->bytes == next->at) {
      (next - 1)->bytes += next->bytes;
      free_.erase(next);
    }
  }
  std::size_t size() const { return size_; }

 private:
  struct Stretch {
    std::size_t at, bytes;
  };
  static std::size_t rounded(std::size_t bytes) { return std::max<std::size_t>((bytes + 63) & ~std::size_t(63), 64); }
  std::size_t extend(std::size_t bytes) {
    std::size_t at = size_;
    if (!free_.empty() && free_.back().at + free_.back().bytes == size_) {
      at = free_.back().at;
      free_.pop_back();
    }
    size_ = at + bytes;
    return at;
  }
  std::vector<Stretch> free_;  // by place
  std::size_t size_ = 0;
};

class Planner {
 public:
  explicit Planner(const Graph& graph) : g_(graph) {
    const std::size_t values = g_.specs.size();
    p_.root.resize(values), p_.offset.resize(values), p_.kind.resize(values), p_.arena_offset.resize(values);
    p_.last_use.assign(values, -1), p_.escapes.resize(values), p_.overwrites.assign(values, -1);
    p_.takes.assign(values, -1);
    p_.workspace_offset.resize(g_.nodes.size()), p_.workspace_bytes.resize(g_.nodes.size());
    for (std::size_t v = 0; v < values; ++v) p_.root[v] = static_cast<int>(v);
    gone_.resize(values), variable_.assign(values, -1), pieces_.resize(values), placed_.resize(values);
  }
  Plan plan() {
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) find_roots(g_.nodes[i]);
    find_lifetimes();
    if (lay_pieces()) find_lifetimes();
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) find_overwrite(i);
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) find_taken(i);
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) place(i);
    p_.arena_bytes = arena_.size();
    return std::move(p_);
  }

 private:
  static std::size_t at(int v) { return static_cast<std::size_t>(v); }
  int root(int v) const { return p_.root[at(v)]; }
  bool is_whole(int v) const { return p_.offset[at(v)] == 0 && g_.spec(v).bytes() == g_.spec(root(v)).bytes(); }
  void use(int v, std::size_t node) { p_.last_use[at(root(v))] = static_cast<int>(node); }
  void escape(int v) {
    p_.escapes[at(root(v))] = 1;
    if (p_.kind[at(root(v))] == Plan::arena) p_.kind[at(root(v))] = Plan::fresh;
  }

  void find_roots(const Node& n) {
    const Plan::Kind kind = n.op == &argument_op        ? Plan::argument
                            : n.op == &constant_op      ? constant_of(n)->is_symbolic() ? Plan::nothing : Plan::constant
                            : n.op == &read_variable_op ? Plan::variable
                            : n.op->execute             ? Plan::fresh
                                                        : Plan::arena;
    std::size_t offset = 0;
    for (int k = 0; k < n.outputs; ++k) {
      const int v = n.first_out + k;
      p_.kind[at(v)] = kind;
      if (kind == Plan::variable) variable_[at(v)] = n.attrs.get<IndexAttrs>().index, reads_.push_back(v);
      if (!n.op->flags.alias) continue;
      const int x = n.in[n.in.size() > 1 ? at(k) : 0];
      if (k == 0 || n.in.size() > 1) offset = n.op->offset ? n.op->offset(g_.spec(x), n.attrs) : 0;
      p_.root[at(v)] = root(x);
      p_.offset[at(v)] = p_.offset[at(x)] + offset;
      offset += g_.spec(v).bytes();
    }
  }
  void find_lifetimes() {
    std::fill(p_.last_use.begin(), p_.last_use.end(), -1);
    for (std::size_t i = 0; i < g_.nodes.size(); ++i) find_lifetimes(i);
    for (int v : g_.outputs) escape(v), use(v, g_.nodes.size());
  }
  void find_lifetimes(std::size_t node) {
    const Node& n = g_.nodes[node];
    for (int v : n.in) {
      if (!n.op->flags.alias) use(v, node);
      if (n.op == &assign_variable_op || n.op->execute) escape(v);
    }
  }

  // What is joined with others along the leading axis is made where it will lie in the whole, which saves the copy.
  bool lay_pieces() {
    bool any = false;
    for (const Node& n : g_.nodes)
      if (joins_rows(n) && lies_in_arena(n.first_out)) any |= lay_pieces(n);
    for (std::size_t v = 0; any && v < p_.root.size(); ++v)
      for (const Piece* p = &pieces_[at(p_.root[v])]; p->of >= 0; p = &pieces_[at(p->of)])
        p_.root[v] = p->of, p_.offset[v] += p->offset;
    return any;
  }
  bool lay_pieces(const Node& join) {
    bool any = false;
    std::size_t offset = 0;
    for (int x : join.in) {
      if (lies_in_arena(x) && pieces_[at(x)].of < 0 && offset % 64 == 0)
        pieces_[at(x)] = {join.first_out, offset}, any = true;
      offset += g_.spec(x).bytes();
    }
    return any;
  }
  static bool joins_rows(const Node& n) {
    if (n.op != &concat_op && n.op != &stack_op) return false;
    return n.attrs.get<rules::JoinAttrs>().axis == 0;
  }
  bool lies_in_arena(int v) const { return in_arena(v) && !p_.escapes[at(v)]; }

  // A value that is assigned to a Variable may be computed in the Variable's own buffer: if the op allows it, this is
  // the last use of the old value, and nothing that may fail or look lies between the op and the assignment.
  void find_overwrite(std::size_t node) {
    const Node& n = g_.nodes[node];
    if (!n.op->flags.in_place && !n.op->flags.pointwise) return;
    for (std::size_t a = node + 1; a < g_.nodes.size() && g_.nodes[a].op == &assign_variable_op; ++a) {
      const int v = g_.nodes[a].in[0], k = v - n.first_out;
      if (k < 0 || k >= n.outputs || p_.kind[at(v)] != Plan::fresh || assignments(v) > 1) continue;
      const auto variable = g_.nodes[a].attrs.get<IndexAttrs>().index;
      if (!(g_.variables[static_cast<std::size_t>(variable)].spec() == g_.spec(v))) continue;
      if (const int x = dying_input(node, k);
          x >= 0 && is_read_of(root(x), variable) && no_other_read(node, x, variable))
        p_.overwrites[at(v)] = static_cast<int>(variable);
    }
  }
  // How often a value is assigned, to whatever Variable: what lies in the buffer of one has to be copied for another.
  int assignments(int value) const {
    int count = 0;
    for (const Node& n : g_.nodes) count += n.op == &assign_variable_op && n.in[0] == value;
    return count;
  }
  // A result may be computed in the buffer of an argument that dies here, should the caller give it up.
  void find_taken(std::size_t node) {
    const Node& n = g_.nodes[node];
    if (!n.op->flags.in_place && !n.op->flags.pointwise) return;
    for (int k = 0; k < n.outputs; ++k) {
      const int v = n.first_out + k;
      if (root(v) != v || p_.kind[at(v)] != Plan::fresh || p_.overwrites[at(v)] >= 0) continue;
      const int x = dying_input(node, k, [&](int r) {
        return p_.kind[at(r)] == Plan::argument && !p_.escapes[at(r)] && g_.spec(r) == g_.spec(v);
      });
      if (x >= 0) p_.takes[at(v)] = place_of_argument(root(x));
    }
  }
  int place_of_argument(int value) const {
    return static_cast<int>(std::find(g_.arguments.begin(), g_.arguments.end(), value) - g_.arguments.begin());
  }
  bool is_read_of(int value, i64 variable) const { return variable_[at(value)] == variable && !p_.escapes[at(value)]; }
  bool no_other_read(std::size_t node, int x, i64 variable) const {
    for (int v : reads_)
      if (variable_[at(v)] == variable && v != root(x) && p_.last_use[at(v)] >= static_cast<int>(node)) return false;
    return true;
  }
  // An input that output k may be computed in: it lies like the output, and nobody needs it after this op.
  int dying_input(std::size_t node, int k) const {
    return dying_input(node, k, [](int) { return true; });
  }
  template <class Fits>
  int dying_input(std::size_t node, int k, const Fits& fits) const {
    const Node& n = g_.nodes[node];
    const int v = n.first_out + k;
    for (unsigned i = 0; i < n.in.size(); ++i) {
      const int x = n.in[i];
      if (!n.op->flags.pointwise && i != static_cast<unsigned>(k)) continue;
      if (!(g_.spec(x).shape == g_.spec(v).shape) || size_of(g_.spec(x).dtype) != size_of(g_.spec(v).dtype)) continue;
      if (!is_whole(x) || p_.last_use[at(root(x))] != static_cast<int>(node) || shared(n, i)) continue;
      if (!fits(root(x))) continue;
      return x;
    }
    return -1;
  }
  // Whether another input lies in the same buffer in another way.
  bool shared(const Node& n, unsigned i) const {
    for (unsigned j = 0; j < n.in.size(); ++j)
      if (j != i && root(n.in[j]) == root(n.in[i]) &&
          !(n.op->flags.pointwise && g_.spec(n.in[j]).shape == g_.spec(n.in[i]).shape))
        return true;
    return false;
  }

  bool in_arena(int v) const { return root(v) == v && p_.kind[at(v)] == Plan::arena; }
  void place(std::size_t node) {
    const Node& n = g_.nodes[node];
    if (is_leaf(n) || n.op->flags.alias || n.op->execute) return release_dead(node);
    Small<int, 4> taken;  // roots whose place an output took over
    for (int k = 0; k < n.outputs; ++k) {
      const int v = n.first_out + k;
      if (pieces_[at(v)].of >= 0) place_whole(root(v));
      if (!in_arena(v) || placed_[at(v)]) continue;
      const int x = n.op->flags.pointwise || n.op->flags.in_place ? dying_input(node, k) : -1;
      const bool reuse = x >= 0 && p_.kind[at(root(x))] == Plan::arena &&
                         std::find(taken.begin(), taken.end(), root(x)) == taken.end();
      if (reuse) taken.push(root(x));
      p_.arena_offset[at(v)] = reuse ? p_.arena_offset[at(root(x))] : arena_.take(g_.spec(v).bytes());
    }
    place_workspace(node);
    for (int x : taken) gone_[at(x)] = 1;
    release_dead(node);
  }
  void place_whole(int v) {
    if (!std::exchange(placed_[at(v)], 1)) p_.arena_offset[at(v)] = arena_.take(g_.spec(v).bytes());
  }
  void place_workspace(std::size_t node) {
    const Node& n = g_.nodes[node];
    if (!n.op->workspace) return;
    Small<Spec, 4> specs;
    for (int v : n.in) specs.push(g_.spec(v));
    const std::size_t bytes = n.op->workspace({specs.begin(), specs.size()}, n.attrs);
    if (!bytes) return;
    p_.workspace_bytes[node] = bytes;
    p_.workspace_offset[node] = arena_.take(bytes);
    arena_.give_back(p_.workspace_offset[node], bytes);
  }
  void release(int v) {
    if (std::exchange(gone_[at(v)], 1)) return;
    arena_.give_back(p_.arena_offset[at(v)], g_.spec(v).bytes());
  }
  void release_dead(std::size_t node) {
    const Node& n = g_.nodes[node];
    for (int x : n.in)
      if (const int r = root(x); p_.kind[at(r)] == Plan::arena && p_.last_use[at(r)] == static_cast<int>(node))
        release(r);
    for (int k = 0; k < n.outputs; ++k)
      if (const int v = n.first_out + k; in_arena(v) && p_.last_use[at(v)] < 0) release(v);
  }

  const Graph& g_;
  Plan p_;
  Arena arena_;
  struct Piece {
    int of = -1;  // the value that it is made in, or -1
    std::size_t offset = 0;
  };
  std::vector<Piece> pieces_;  // by value
  std::vector<char> placed_;   // by root: before its own op, for its first piece
  std::vector<char> gone_;     // by root: its place was given back
  std::vector<i64> variable_;  // by value: the Variable that it is a read of, or -1
  std::vector<int> reads_;
};

}  // namespace detail

TANDEM_INLINE Plan make_plan(const Graph& graph) { return detail::Planner(graph).plan(); }

TANDEM_INLINE std::string to_string(const Plan& p, const Graph& g) {
  std::string s = "arena " + std::to_string(p.arena_bytes) + " bytes\n";
  std::vector<std::size_t> first(p.root.size(), g.nodes.size());  // by root: the node that begins it
  for (std::size_t i = g.nodes.size(); i-- > 0;)
    for (int k = 0; k < g.nodes[i].outputs; ++k)
      first[static_cast<std::size_t>(p.root[static_cast<std::size_t>(g.nodes[i].first_out + k)])] = i;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const Node& n = g.nodes[i];
    for (int k = 0; k < n.outputs; ++k) {
      const auto v = static_cast<std::size_t>(n.first_out + k);
      if (p.root[v] != static_cast<int>(v) || (p.kind[v] != Plan::arena && p.kind[v] != Plan::fresh)) continue;
      s += "  %" + std::to_string(v) + " " + n.name + " " + to_string(g.specs[v]);
      s += p.kind[v] == Plan::fresh
               ? p.overwrites[v] < 0 ? " in a buffer of its own"
                                     : " in '" + g.variables[static_cast<std::size_t>(p.overwrites[v])].name() + "'"
               : " @" + std::to_string(p.arena_offset[v]);
      s += " (nodes " + std::to_string(first[v]) + " to " +
           std::to_string(std::max(p.last_use[v], static_cast<int>(i))) + ")\n";
    }
    if (p.workspace_bytes[i])
      s += "  workspace of " + n.name + ", " + std::to_string(p.workspace_bytes[i]) + " bytes @" +
           std::to_string(p.workspace_offset[i]) + "\n";
  }
  return s;
}

}  // namespace TANDEM_NS
