// Definitions of ops/pointwise/erf_inverse.hpp. Rational functions of Wichura's algorithm, scaled by 1 / sqrt(2); a
// term with most of the value is taken out of each, so that rounding errors of the rest count less.
#pragma once
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/erf_inverse.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::rules {

// The polynomial in x with these coefficients, that of the highest power first.
template <class V, class... C>
TANDEM_HD V polynomial(V x, C... c) {
  V y(0);
  ((y = y * x + V(lane_t<V>(c))), ...);
  return y;
}
/// The inverse error function of `size`, for 0 <= size <= 0.85.
template <class V>
TANDEM_HD V erfinv_middle(V size) {
  using T = lane_t<V>;
  const V q = V(T(0.5)) * size, r = V(T(0.180625)) - q * q;
  return size * (V(T(1.19753231156709126)) -
                 r * (polynomial(r, 5371.80290305369298, 22584.5151032459522, 23290.433938208996, 9168.341611920209,
                                 1604.83714119840043, 125.865980216940182, 3.59889261280693251) /
                      polynomial(r, 5226.49527885285456, 28729.0857357219427, 39307.8958000927106, 21213.7943015865959,
                                 5394.19602142475111, 687.187007492057908, 42.3133307016009113, 1.0)));
}
/// The y with erfc(y) = 2 e^-(tail^2), for a tail probability e^-(tail^2) below 0.075.
template <class V>
TANDEM_HD V erfcinv_tail(V tail) {
  using T = lane_t<V>;
  const V near = tail - V(T(1.6)), far = tail - V(T(5));
  const V large =
      V(T(0.85)) * tail + polynomial(near, -8.93137560897754317e-10, 0.0000822298656857447289, 0.00240459072791083415,
                                     0.0244062238432999064, 0.110626002844772499, 0.216407605944079992,
                                     0.0545543576397308077, -0.368197322025345969, -0.35347796639631208) /
                              polynomial(near, 1.05075007164441684e-9, 0.000547593808499534495, 0.0151986665636164572,
                                         0.148103976427480075, 0.689767334985100005, 1.67638483018380385,
                                         2.05319162663775882, 1.0);
  const V largest =
      V(T(0.95)) * tail + polynomial(far, -1.9420499482204428e-15, 7.10848186890404397e-9, 9.58351200680825673e-7,
                                     0.0000434681879437496324, 0.000891869534718923534, 0.0089586383643565826,
                                     0.0418054190061502392, 0.0642763804884157198, -0.0421504780869663092) /
                              polynomial(far, 2.04426310338993979e-15, 1.42151175831644589e-7, 0.0000184631831751005468,
                                         0.000786869131145613259, 0.0148753612908506149, 0.136929880922735805,
                                         0.599832206555887938, 1.0);
  return select(tail <= V(T(5)), large, largest);
}
template <class V>
inline constexpr lane_t<V> middle_end = lane_t<V>(0.425);  // half the largest argument of erfinv_middle

struct erfinv_rule : Unary<floats, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    using T = lane_t<V>;
    const V size = abs(x), q = V(T(0.5)) * size;
    const V tail = erfcinv_tail(sqrt(-log(V(T(0.5)) - q)));
    const V y = select(q <= V(middle_end<V>), erfinv_middle(size), tail);
    return copysign(select(size == V(1), V(std::numeric_limits<T>::infinity()), y), x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) { return g * exp(square(y)) * 0.88622692545275801365; }
};
struct erfcinv_rule : Unary<floats, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    using T = lane_t<V>;
    const V q = V(1) - x, size = abs(q), less = select(x > V(1), V(2) - x, x);  // the smaller tail, doubled
    const V tail = erfcinv_tail(sqrt(V(T(0.69314718055994530942)) - log(less)));
    const V y = select(size <= V(2 * middle_end<V>), erfinv_middle(size), tail);
    return copysign(select(less == V(0), V(std::numeric_limits<T>::infinity()), y), q);
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) { return g * exp(square(y)) * -0.88622692545275801365; }
};
struct ndtri_rule : Unary<floats, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    using T = lane_t<V>;
    const V half(T(0.5)), q = x - half, size = abs(q), less = select(x > half, V(1) - x, x);  // the smaller tail
    const V tail = erfcinv_tail(sqrt(-log(less)));
    const V y = select(size <= V(middle_end<V>), erfinv_middle(size + size), tail) * V(T(1.41421356237309504880));
    return copysign(select(less == V(0), V(std::numeric_limits<T>::infinity()), y), q);
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) {
    return g * exp(square(y) * 0.5) * 2.50662827463100050242;  // sqrt(2 pi)
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {
TANDEM_DEFINE_OPS(TANDEM_ERF_INVERSE_OPS)
TANDEM_DEFINE_FUNCTIONS(TANDEM_ERF_INVERSE_OPS)
}  // namespace TANDEM_NS
