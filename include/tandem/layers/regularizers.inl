// Definitions of layers/regularizers.hpp.
#pragma once
#include "tandem/layers/regularizers.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/linalg/diagonal.hpp"
#include "tandem/ops/linalg/matmul.hpp"
#include "tandem/ops/norm/moments.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"

namespace TANDEM_NS {

TANDEM_INLINE TANDEM_API constinit thread_local const Tensor* detail::examples_of_steps = nullptr;

TANDEM_INLINE Tensor detail::penalty_per_example(const Tensor& penalty, const Tensor& y) {
  if (y.rank() == 0) return penalty;
  return div_no_nan(penalty, size_over(examples_of_steps ? *examples_of_steps : y, 0, penalty.dtype()));
}
TANDEM_INLINE Tensor detail::penalty_l1(const Tensor& x, double l1, double) { return l1 * reduce_sum(abs(x)); }
TANDEM_INLINE Tensor detail::penalty_l2(const Tensor& x, double, double l2) { return l2 * reduce_sum(square(x)); }
TANDEM_INLINE Tensor detail::penalty_l1_l2(const Tensor& x, double l1, double l2) {
  return penalty_l1(x, l1, 0) + penalty_l2(x, 0, l2);
}
// The cosines of all pairs twice, and of each row with itself, whose magnitudes are 1 or, of zeros, 0.
TANDEM_INLINE Tensor detail::penalty_orthogonal(const Tensor& x, double factor, double columns) {
  if (x.rank() != 2)
    errors::raise<errors::InvalidArgumentError>("OrthogonalRegularizer", "needs a matrix, not " + to_string(x.spec()));
  const bool by_columns = columns != 0;
  const i64 n = x.shape()[by_columns ? 1 : 0];
  if (n < 2) return 0 * reduce_sum(x);
  const Tensor unit = nn::l2_normalize(x, by_columns ? 0 : 1);
  const Tensor cosines = matmul(unit, unit, {.transpose_a = by_columns, .transpose_b = !by_columns});
  const Tensor others = linalg::set_diag(cosines, zeros({n}, {.dtype = x.dtype()}));
  const double pairs = static_cast<double>(n) * static_cast<double>(n - 1);
  return factor / pairs * reduce_sum(abs(others));
}

}  // namespace TANDEM_NS
