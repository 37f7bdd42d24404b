// Horner's rule for the rules of special functions.
#pragma once
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::rules {

/// c0 + c1 x + c2 x^2 + ..., evaluated in V's lane type; c0 first.
template <class V>
TANDEM_HD V horner(V, double c) {
  return V(static_cast<lane_t<V>>(c));
}
template <class V, class... C>
TANDEM_HD V horner(V x, double c, C... rest) {
  return fma(horner(x, static_cast<double>(rest)...), x, V(static_cast<lane_t<V>>(c)));
}
template <class V>
inline constexpr bool is_single = sizeof(lane_t<V>) == 4;

}  // namespace TANDEM_NS::rules
