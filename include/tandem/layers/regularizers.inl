// Definitions of layers/regularizers.hpp.
#pragma once
#include "tandem/layers/regularizers.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/reduce/reduce.hpp"

namespace TANDEM_NS {

TANDEM_INLINE Tensor detail::penalty_l1(const Tensor& x, double l1, double) { return l1 * reduce_sum(abs(x)); }
TANDEM_INLINE Tensor detail::penalty_l2(const Tensor& x, double, double l2) { return l2 * reduce_sum(square(x)); }
TANDEM_INLINE Tensor detail::penalty_l1_l2(const Tensor& x, double l1, double l2) {
  return penalty_l1(x, l1, 0) + penalty_l2(x, 0, l2);
}

}  // namespace TANDEM_NS
