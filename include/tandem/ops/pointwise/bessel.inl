// Definitions of ops/pointwise/bessel.hpp. The polynomials interpolate at Chebyshev nodes, computed with 50 digits.
#pragma once
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/bessel.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/polynomial.hpp"

namespace TANDEM_NS::detail {
// y / x, and the limit 1/2 where x is 0; 0 where y is infinite, as what it is subtracted from.
inline Tensor bessel_i1_over(const Tensor& y, const Tensor& x) {
  const Tensor at_zero = x == 0;
  return where(at_zero, scalar_like(0.5, x), where(is_inf(y), scalar_like(0, x), y)) /
         where(at_zero, scalar_like(1, x), x);
}
}  // namespace TANDEM_NS::detail

namespace TANDEM_NS::rules {

/// I0(x) and I1(x) / x for |x| <= 8, with w = x^2 / 64: all coefficients are positive.
template <class V>
TANDEM_HD V bessel_i0_near(V w) {
  if constexpr (is_single<V>) {
    return horner(w, 0.9999999997, 16.00000007, 63.99999648, 113.7778433, 113.7771488, 72.82133346, 32.35074814,
                  10.59744837, 2.59560395, 0.5689436427, 0.05373484037, 0.02131467664);
  } else {
    return horner(w, 1.00000000000000000041, 15.9999999999999997616, 64.0000000000000228724, 113.777777777776909279,
                  113.777777777795128295, 72.8177777775675808094, 32.363456791801650572, 10.5676593507329570572,
                  2.64191487711649203752, 0.521859612808605363829, 0.0834977920759286389106, 0.011040614633516630455,
                  0.00122724109542924162302, 1.15736853260594181862e-4, 9.73468032804232352367e-6,
                  5.69620501591531733615e-7, 6.72464743897473062239e-8);
  }
}
template <class V>
TANDEM_HD V bessel_i1_near(V w) {
  if constexpr (is_single<V>) {
    return horner(w, 0.5000000004, 3.999999907, 10.66667038, 14.22216458, 11.37823625, 6.066026612, 2.317772175,
                  0.6492930752, 0.1598247679, 0.01682303489, 0.007331315319);
  } else {
    return horner(w, 0.499999999999999999125, 4.00000000000000044808, 10.6666666666666285982, 14.2222222222235001696,
                  11.3777777777552615029, 6.06814814838787663584, 2.31167548333483405801, 0.660478718070696305072,
                  0.146773018947041455651, 0.0260930552713665006568, 0.00379521687164021699889,
                  4.60210897306406635693e-4, 4.7020457765081053247e-5, 4.25821830869769816792e-6,
                  2.67089075838882330236e-7, 3.36287103620552970127e-8);
  }
}
/// sqrt(x) e^-x I0(x) and sqrt(x) e^-x I1(x) for x >= 8, times f, with v = 16 / x - 1; `first` is
/// the first coefficient times f, rounded once.
template <class V>
TANDEM_HD V bessel_i0_far(V v, double first, double f) {
  if constexpr (is_single<V>) {
    return horner(v, first, f * 0.003360555852, f * 1.362168431e-4, f * 1.111152546e-5, f * 1.47679211e-6,
                  f * 3.631710305e-7, f * 1.082989826e-7);
  } else {
    return horner(v, first, f * 0.00336055198366785409633, f * 1.36216074392327472735e-4, f * 1.11430337915567426105e-5,
                  f * 1.48384754736073915619e-6, f * 2.97359843247916890348e-7, f * 8.87225351128584045683e-8,
                  f * 3.93260245970310906478e-8, f * 2.15451776508360043678e-8, f * 7.55351647035589622653e-9,
                  -f * 6.72972411192354845858e-9, -f * 1.34042419919808701699e-8, -f * 5.46859744958660000783e-9,
                  f * 7.54060137889083347338e-9, f * 7.580221339152719224e-9, -f * 3.48578874700349547887e-9,
                  -f * 6.18826509049736120966e-9, f * 1.49788083018709103828e-9, f * 3.88115125399606679143e-9,
                  -f * 5.56220199008039332543e-10, -f * 1.77893750429171738768e-9, f * 1.46722366592143973666e-10,
                  f * 5.18193697128828366897e-10, -f * 1.9216763724933512544e-11, -f * 7.06893851181878042117e-11);
  }
}
template <class V>
TANDEM_HD V bessel_i1_far(V v, double first, double f) {
  if constexpr (is_single<V>) {
    return horner(v, first, -f * 0.009749581527, -f * 2.192366694e-4, -f * 1.500332307e-5, -f * 1.826714505e-6,
                  -f * 4.215554373e-7, -f * 1.221249847e-7);
  } else {
    return horner(v, first, -f * 0.0097495771932357674203, -f * 2.19235763833822831564e-4,
                  -f * 1.5038547197358571633e-5, -f * 1.83491013579915578768e-6, -f * 3.48385674012297160906e-7,
                  -f * 1.00012826101893414856e-7, -f * 4.31277892016760954617e-8, -f * 2.33744678724244780344e-8,
                  -f * 8.4388009058213700577e-9, f * 6.7374934333748327939e-9, f * 1.40885207520254499094e-8,
                  f * 5.96364579816670743598e-9, -f * 7.81696826676789804405e-9, -f * 7.86300469755505667201e-9,
                  f * 3.80381496053608119404e-9, f * 6.20298411300044303123e-9, -f * 1.99207655120318809697e-9,
                  -f * 3.75344338735912982285e-9, f * 1.07155286393980752575e-9, f * 1.65776469945631895302e-9,
                  -f * 4.79875153693402237914e-10, -f * 4.65615979542169450091e-10, f * 1.41765084286953613916e-10,
                  f * 6.13593277839381157175e-11, -f * 1.96770832725843831644e-11);
  }
}
/// The relative error of I0 and I1 / x at x < 8 that comes from the rounding of w = x^2 / 64: what w lacks, by products
/// of halves of x, times the logarithmic derivative by x^2, for which 1 / (2 sqrt(bend + x^2)) is close enough.
template <class V>
TANDEM_HD V bessel_rounding(V x, V w, V bend) {
  using T = lane_t<V>;
  const V c = x * V(T(is_single<V> ? 4097 : 134217729)), high = c - (c - x), low = x - high;
  const V lack = (high * high - V(64) * w) + (high + high) * low + low * low;
  return V(T(0.5)) * lack / sqrt(bend + x * x);
}
/// I0(|x|) or I1(|x|), times e^-|x| if scaled.
template <int order, bool scaled, class V>
TANDEM_HD V bessel_i(V x) {
  using T = lane_t<V>;
  const V eight(8), a = abs(x), low = select(a < eight, a, eight);
  V high = select(a < eight, eight, a);
  if constexpr (!scaled) high = select(high > V(2000), V(2000), high);  // the result overflows before: no 0 * inf
  const V w = low * low * V(T(1. / 64)), v = V(16) / high - V(1);
  V near = order == 0 ? bessel_i0_near(w) : a * bessel_i1_near(w);
  near = near + near * bessel_rounding(low, w, V(order == 0 ? 4 : 16));
  // e^a is e^c e^(a - c), which overflows only where the result does; with this c the first coefficient has hardly a
  // rounding error. expm1 has half the rounding error of exp.
  constexpr double c = order == 0 ? 4.97265625 : 6.8359375, f = scaled       ? 1
                                                                : order == 0 ? 144.409967343346696762
                                                                             : 930.700473548038048006;
  const V far = (order == 0 ? bessel_i0_far(v, scaled ? 0.402176509445008075815 : 58.0782965952147805763, f)
                            : bessel_i1_far(v, scaled ? 0.389398459025872328256 : 362.413330214255666527, f)) /
                sqrt(high);
  if constexpr (scaled) return select(a < eight, near / (expm1(low) + V(1)), far);
  else return select(a < eight, near, fma(expm1(high - V(T(c))), far, far));
}

struct bessel_i0_rule : Unary<floats, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return bessel_i<0, false>(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g * tandem::bessel_i1(x); }
};
struct bessel_i0e_rule : Unary<floats, Saves::all> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return bessel_i<0, true>(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y) {
    return g * (tandem::bessel_i1e(x) - tandem::sign(x) * y);
  }
};
struct bessel_i1_rule : Unary<floats, Saves::all> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return copysign(bessel_i<1, false>(x), x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y) {
    return g * (tandem::bessel_i0(x) - tandem::detail::bessel_i1_over(y, x));
  }
};
struct bessel_i1e_rule : Unary<floats, Saves::all> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return copysign(bessel_i<1, true>(x), x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y) {
    return g * (tandem::bessel_i0e(x) - tandem::sign(x) * y - tandem::detail::bessel_i1_over(y, x));
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {
TANDEM_DEFINE_OPS(TANDEM_BESSEL_OPS)
TANDEM_DEFINE_FUNCTIONS(TANDEM_BESSEL_OPS)
}  // namespace TANDEM_NS
