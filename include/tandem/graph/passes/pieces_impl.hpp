// Sums of tensors that are zero but for rows of their own, which together are all rows, as one concat (implementation
// half of graph/passes.hpp). The gradients of x[0], x[1], ... are such: each as large as x.
#pragma once
#include <algorithm>
#include <cstring>
#include <map>

#include "tandem/graph/passes.hpp"
#include "tandem/graph/passes/rewrite.hpp"
#include "tandem/graph/passes/sums_impl.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS {
namespace detail {

class PieceJoiner {
 public:
  explicit PieceJoiner(const Graph& g) : rewrite_(g), makers_(g.makers()), uses_(g.uses()) {
    for (SumTree& t : find_sums(g, makers_, uses_)) consider(t);
  }
  Ref<Graph> run() {
    for (const auto& [root, sum] : sums_) join(root, sum);
    return rewrite_.finish();
  }

 private:
  struct Piece {
    i64 begin, count;  // rows
    std::size_t node;
  };
  struct Sum {
    std::vector<std::size_t> adds;
    std::vector<Piece> pieces;
    int rest = -1;  // what else is added
  };

  const Node& maker(int value) const { return rewrite_.graph->nodes[static_cast<std::size_t>(makers_[at(value)])]; }
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  bool is_piece(int value) const {
    const Node& n = maker(value);
    if (n.op != &strided_slice_grad_op || uses_[at(value)] != 1) return false;
    const Shape &part = rewrite_.spec(n.in[0]).shape, &whole = rewrite_.spec(value).shape;
    const auto& a = n.attrs.get<rules::StridedSliceAttrs>();
    if (part.rank() != whole.rank() || whole.rank() == 0 || !part.is_fully_defined()) return false;
    for (int d = 0; d < whole.rank(); ++d)
      if (a.step[d] != 1 || (d > 0 && part[d] != whole[d])) return false;
    return true;
  }
  i64 first_row(const Node& piece) const {
    const i64 begin = piece.attrs.get<rules::StridedSliceAttrs>().begin[0];
    const i64 rows = rewrite_.spec(piece.first_out).shape[0];
    return begin == none ? 0 : std::clamp<i64>(begin < 0 ? begin + rows : begin, 0, rows);
  }
  // With two other terms their sum might be rounded otherwise.
  void consider(SumTree& t) {
    Sum sum{std::move(t.adds), {}};
    for (int v : t.terms) {
      if (is_piece(v)) {
        const Node& n = maker(v);
        sum.pieces.push_back({first_row(n), rewrite_.spec(n.in[0]).shape[0], at(makers_[at(v)])});
      } else if (sum.rest < 0) {
        sum.rest = v;
      } else {
        return;
      }
    }
    std::sort(sum.pieces.begin(), sum.pieces.end(), [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
    i64 next = 0;
    for (const Piece& p : sum.pieces) {
      if (p.begin != next || p.count == 0) return;
      next += p.count;
    }
    const Node& root = rewrite_.graph->nodes[t.root];
    if (sum.pieces.size() >= 2 && next == rewrite_.spec(root.first_out).shape[0]) sums_.emplace(t.root, std::move(sum));
  }

  // The sum of -0 and the others' zeros is 0.
  void join(std::size_t root, const Sum& sum) {
    const Spec spec = rewrite_.spec(rewrite_.graph->nodes[root].first_out);
    std::vector<int> parts;
    for (const Piece& p : sum.pieces) {
      parts.push_back(rewrite_.now(rewrite_.graph->nodes[p.node].in[0]));
      rewrite_.remove(p.node);
    }
    for (const std::size_t a : sum.adds) rewrite_.remove(a);
    int value = rewrite_.add_before(root, concat_op, rules::JoinAttrs{0}, parts, spec);
    int other = zero(spec.dtype);
    if (sum.rest >= 0) {
      const int in[] = {value, other};
      value = rewrite_.add_before(root, add_op, no_attrs, in, spec);
      other = rewrite_.now(sum.rest);
    }
    Node& n = rewrite_.node(root);
    n.in[0] = value, n.in[1] = other;
  }
  int zero(DType dtype) {
    const auto [known, fresh] = zeros_.try_emplace(dtype, -1);
    if (!fresh) return known->second;
    const Spec scalar{{}, dtype, {}};
    const Tensor t = Tensor::allocate(scalar);
    std::memset(t.raw(), 0, scalar.bytes());
    return known->second = rewrite_.add_leaf(constant_op, ConstantAttrs{make_ref<TensorBox>(t)}, scalar);
  }

  Rewrite rewrite_;
  std::vector<int> makers_, uses_;
  std::map<std::size_t, Sum> sums_;  // by root
  std::map<DType, int> zeros_;
};

}  // namespace detail

TANDEM_INLINE Ref<Graph> join_pieces(const Graph& from) { return detail::PieceJoiner(from).run(); }

}  // namespace TANDEM_NS
