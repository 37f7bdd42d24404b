// Combines many small matrix products into few large ones, and shares the work that several of them repeat.
#pragma once
#include <map>

#include "tandem/core/backend.hpp"
#include "tandem/graph/passes/passes.hpp"
#include "tandem/graph/passes/product_rows.hpp"
#include "tandem/graph/passes/product_sums.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {
namespace detail {

// Hoists a shared transpose. Each product with a transposed matrix repacks that matrix, which a product of few rows
// does not amortize: several such products with one matrix, such as a loop's gradients, get it transposed once.
class TransposeSharer {
 public:
  explicit TransposeSharer(const Graph& g) : rewrite_(g) {
    for (const Node& n : g.nodes)
      if (is_transposed(n)) ++uses_[n.in[1]];
  }
  Ref<Graph> run() {
    for (std::size_t i = 0; i < rewrite_.graph->nodes.size(); ++i) {
      Node& n = rewrite_.node(i);
      if (!is_transposed(n) || uses_[n.in[1]] < fewest_products) continue;
      auto flags = n.attrs.get<rules::MatmulAttrs>();
      flags.transpose_b = false;
      n.attrs = flags, n.in[1] = transposed(n.in[1], i);
    }
    return rewrite_.finish();
  }

 private:
  // A product of one row or column uses another kernel, which reads the matrix in its stored layout.
  bool is_transposed(const Node& n) const {
    if (n.op != &matmul_op || !n.attrs.get<rules::MatmulAttrs>().transpose_b) return false;
    const Spec &y = rewrite_.spec(n.first_out), &b = rewrite_.spec(n.in[1]);
    return y.shape.rank() == 2 && y.shape.is_fully_defined() && b.shape.rank() == 2 && b.shape.is_fully_defined() &&
           y.shape.dim(0) > 1 && y.shape.dim(0) <= few_rows && y.shape.dim(1) > 1 &&
           has_kernel(transpose_op, y.device) && dtypes::floating.has(y.dtype);
  }
  int transposed(int value, std::size_t before) {
    const auto [known, fresh] = made_.try_emplace(value, -1);
    if (!fresh) return known->second;
    Spec s = rewrite_.spec(value);
    s.shape = {s.shape.dim(1), s.shape.dim(0)};
    return known->second =
               rewrite_.add_before(before, transpose_op, rules::TransposeAttrs{Axes(), false}, {&value, 1}, s);
  }

  Rewrite rewrite_;
  std::map<int, std::size_t> uses_;  // by matrix: the number of products with it
  std::map<int, int> made_;
};

}  // namespace detail

TANDEM_INLINE Ref<Graph> combine_products(const Graph& from) {
  const Ref<Graph> sums = detail::SumCombiner(from).run();
  const Ref<Graph> rows = detail::RowCombiner(*sums).run();
  return eliminate_dead_code(*detail::TransposeSharer(*rows).run());
}

}  // namespace TANDEM_NS
