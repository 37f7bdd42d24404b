// Definitions of layers/regularizers.hpp.
#pragma once
#include "tandem/layers/regularizers.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/half.hpp"
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

TANDEM_INLINE Tensor detail::penalty_per_example(const Regularizer& regularizer, const Tensor& y, bool widen) {
  const Tensor penalty = regularizer(widen ? widened(y) : y);
  const Tensor mean =
      y.rank() == 0 ? penalty
                    : div_no_nan(penalty, size_over(examples_of_steps ? *examples_of_steps : y, 0, penalty.dtype()));
  return widen ? cast(mean, y.dtype()) : mean;
}
// Sums of float16 would overflow, and cosines of bfloat16 have two digits: only the penalty is rounded.
TANDEM_INLINE Tensor detail::penalty_l1(const Tensor& x, double l1, double) {
  return cast(l1 * reduce_sum(abs(widened(x))), x.dtype());
}
TANDEM_INLINE Tensor detail::penalty_l2(const Tensor& x, double, double l2) {
  return cast(l2 * reduce_sum(square(widened(x))), x.dtype());
}
TANDEM_INLINE Tensor detail::penalty_l1_l2(const Tensor& x, double l1, double l2) {
  const Tensor wide = widened(x);
  return cast(penalty_l1(wide, l1, 0) + penalty_l2(wide, 0, l2), x.dtype());
}
// The cosines of all pairs twice, and of each row with itself, whose magnitudes are 1 or, of zeros, 0.
TANDEM_INLINE Tensor detail::penalty_orthogonal(const Tensor& x, double factor, double columns) {
  if (x.rank() != 2)
    errors::raise<errors::InvalidArgumentError>("OrthogonalRegularizer", "needs a matrix, not " + to_string(x.spec()));
  const bool by_columns = columns != 0;
  const i64 n = x.shape()[by_columns ? 1 : 0];
  if (n < 2) return 0 * reduce_sum(x);
  const Tensor wide = widened(x), unit = nn::l2_normalize(wide, by_columns ? 0 : 1);
  const Tensor cosines = matmul(unit, unit, {.transpose_a = by_columns, .transpose_b = !by_columns});
  const Tensor others = linalg::set_diag(cosines, zeros({n}, {.dtype = wide.dtype()}));
  const double pairs = static_cast<double>(n) * static_cast<double>(n - 1);
  return cast(factor / pairs * reduce_sum(abs(others)), x.dtype());
}

}  // namespace TANDEM_NS
