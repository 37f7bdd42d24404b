// Dual numbers: a value and its derivative, for functions whose derivative is computed together with the value.
#pragma once
#include "tandem/ops/pointwise/gamma_math.hpp"

namespace TANDEM_NS::rules {

/// v + d e with e^2 = 0: every function of a Dual also carries the derivative by the chosen argument.
struct Dual {
  double v, d;
  TANDEM_HD Dual(double value, double slope = 0) : v(value), d(slope) {}
};
TANDEM_HD Dual operator+(Dual a, Dual b) { return {a.v + b.v, a.d + b.d}; }
TANDEM_HD Dual operator-(Dual a, Dual b) { return {a.v - b.v, a.d - b.d}; }
TANDEM_HD Dual operator-(Dual a) { return {-a.v, -a.d}; }
TANDEM_HD Dual operator*(Dual a, Dual b) { return {a.v * b.v, a.d * b.v + a.v * b.d}; }
TANDEM_HD Dual operator/(Dual a, Dual b) {
  const double q = a.v / b.v;
  return {q, (a.d - q * b.d) / b.v};
}
TANDEM_HD Dual exp(Dual a) {
  const double y = exp(a.v);
  return {y, a.d * y};
}
TANDEM_HD Dual expm1(Dual a) { return {expm1(a.v), a.d * exp(a.v)}; }
TANDEM_HD Dual log(Dual a) { return {log(a.v), a.d / a.v}; }
TANDEM_HD Dual log1p(Dual a) { return {log1p(a.v), a.d / (1 + a.v)}; }
TANDEM_HD Dual sqrt(Dual a) {
  const double y = sqrt(a.v);
  return {y, a.d / (2 * y)};
}
TANDEM_HD_CALL Dual log_gamma(Dual a) { return {log_gamma(a.v), a.d * digamma_of(a.v)}; }
/// log Gamma(1 + a) for 0 <= a <= 1, relatively accurate near 0.
TANDEM_HD_CALL double log_gamma_1p(double a) { return (a - 1) * a * lgamma_ratio(a - 1); }
TANDEM_HD_CALL Dual log_gamma_1p(Dual a) { return {log_gamma_1p(a.v), a.d * digamma_of(1 + a.v)}; }

/// NaN; of a Dual also the derivative.
template <class N>
TANDEM_HD N not_a_number() {
  const N nan(std::numeric_limits<double>::quiet_NaN());
  return nan * nan;
}
TANDEM_HD double value_of(double a) { return a; }
TANDEM_HD double value_of(Dual a) { return a.v; }
/// Whether adding `term` no longer changes `sum`, nor the derivative.
TANDEM_HD bool is_negligible(double term, double sum) { return abs(term) <= 1e-17 * abs(sum); }
TANDEM_HD bool is_negligible(Dual term, Dual sum) {
  return is_negligible(term.v, sum.v) && abs(term.d) <= 1e-17 * (abs(sum.d) + abs(sum.v) * 1e-3);
}
/// Whether a factor of a product is 1 and constant, but for rounding.
TANDEM_HD bool is_one(double factor) { return abs(factor - 1) <= 2e-16; }
TANDEM_HD bool is_one(Dual factor) { return abs(factor.v - 1) <= 2e-16 && abs(factor.d) <= 1e-16; }

}  // namespace TANDEM_NS::rules
