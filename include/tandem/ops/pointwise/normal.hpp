// The tail Q(x) = 1 - Phi(x), x >= 0, of the standard normal distribution with density phi, and gelu's formulas, which
// are made of it so that nothing cancels far below 0.
#pragma once
#include "tandem/ops/pointwise/polynomial.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::rules {

/// |x|, limited to where x phi(x) is 0.
template <class V>
TANDEM_HD V normal_argument(V x) {
  using T = lane_t<V>;
  const V size = abs(x), end(is_single<V> ? T(15) : T(39));
  return select(end < size, end, size);  // NaN stays
}
/// Q(x) e^(x^2 / 2) for 0 <= x <= 15 (float) or 39: Mills' ratio over sqrt(2 pi), as q / (sqrt(2 pi) x q + r) with
/// polynomials q and r. For large x, r is small against x q, and the rounding errors of q cancel. The coefficients
/// interpolate at Chebyshev nodes of x / (x + c), computed with 60 digits.
template <class V>
TANDEM_HD V scaled_tail_of(V x, V q, V r) {
  return q / fma(V(lane_t<V>(2.5066282746310005024)) * x, q, r);
}
template <class V>
TANDEM_HD V scaled_tail(V x) {
  if constexpr (is_single<V>) {
    return scaled_tail_of(x, horner(x, 1.0, 1.085158819, 0.5653052205, 0.170415262, 0.02972203356, 0.002474013027),
                          horner(x, 2.0, 1.259458431, 0.4154239958, 0.07447267496, 0.006201997289));
  } else {
    return scaled_tail_of(
        x,
        horner(x, 1.0, 1.6902806576742558631, 1.4131405144757084834, 0.75641814932381064709, 0.28460626747250780166,
               0.078329609635691668999, 0.015954234378343280764, 0.0023785051904542569491, 0.00024946022075178650136,
               0.000016750084802062194512, 5.5424782881392802096e-7),
        horner(x, 2.0, 2.4697021623232422465, 1.5599129654623973028, 0.63956793778174194068, 0.18483910783694493378,
               0.038754616475182089093, 0.0058780559827770314378, 0.0006225254544195654696, 0.000041986236187124105327,
               1.3892932787572749236e-6));
  }
}
/// x Phi(x): x - x Q(x) above 0 and -|x| Q(|x|) below. 0 at -inf.
template <class V>
TANDEM_HD V times_normal_cdf(V x) {
  const V size = normal_argument(x);
  return select(x < V(0), -V(0), x) - times_gaussian(size * scaled_tail(size), size);
}
/// Its slope Phi(x) + x phi(x): 1 + d above 0 and -d below, with d = |x| phi(x) - Q(|x|).
template <class V>
TANDEM_HD V times_normal_cdf_slope(V x) {
  const V size = normal_argument(x), density_at_0 = V(lane_t<V>(0.39894228040143267794));
  const V d = times_gaussian(size * density_at_0 - scaled_tail(size), size);
  return select(x < V(0), -d, V(1) + d);
}

}  // namespace TANDEM_NS::rules
