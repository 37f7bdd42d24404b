// Definitions of ops/pointwise/incomplete.hpp.
#pragma once
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/gamma.hpp"
#include "tandem/ops/pointwise/incomplete.hpp"
#include "tandem/ops/pointwise/incomplete_math.hpp"
#include "tandem/ops/pointwise/special.hpp"

namespace TANDEM_NS::detail {
// The density of the gamma distribution, igamma's derivative by x, and that of the beta distribution.
inline Tensor gamma_density(const Tensor& a, const Tensor& x) { return exp(xlogy(a - 1, x) - x - lgamma(a)); }
inline Tensor beta_density(const Tensor& a, const Tensor& b, const Tensor& x) {
  return exp(xlogy(a - 1, x) + xlog1py(b - 1, -x) - (lgamma(a) + lgamma(b) - lgamma(a + b)));
}
inline Grads gradient_of_igamma(const GradCall& c, const Tensor& g) {
  const Tensor &a = c.in[0], &x = c.in[1];
  return {c.needs(0) ? Gradient(g * apply1(igamma_grad_a_op, no_attrs, no_options, a, x)) : Gradient(),
          c.needs(1) ? Gradient(g * gamma_density(a, x)) : Gradient()};
}
}  // namespace TANDEM_NS::detail

namespace TANDEM_NS::rules {

// float32 is computed in float64.
struct igamma_rule : Binary<floats, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V a, V x) {
    return static_cast<V>(incomplete_gamma(static_cast<double>(a), static_cast<double>(x), false));
  }
  static Grads gradient(const GradCall& c) { return tandem::detail::gradient_of_igamma(c, c.g[0]); }
};
struct igammac_rule : Binary<floats, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V a, V x) {
    return static_cast<V>(incomplete_gamma(static_cast<double>(a), static_cast<double>(x), true));
  }
  static Grads gradient(const GradCall& c) { return tandem::detail::gradient_of_igamma(c, -c.g[0]); }
};
/// The derivative of igamma by a.
struct igamma_grad_a_rule : Binary<floats, Saves::nothing, lanewise | non_differentiable> {
  template <class V>
  static TANDEM_HD V forward(V a, V x) {
    const Dual at(static_cast<double>(a), 1);
    // The smaller tail: the derivative of 1 - tail has the same digits.
    const bool upper = x > a;
    const double slope = incomplete_gamma(at, static_cast<double>(x), upper).d;
    return static_cast<V>(upper ? -slope : slope);
  }
};
struct betainc_rule : Rule<3, floats, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V a, V b, V x) {
    return static_cast<V>(incomplete_beta(static_cast<double>(a), static_cast<double>(b), static_cast<double>(x)));
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &g = c.g[0], &a = c.in[0], &b = c.in[1], &x = c.in[2];
    Grads r{Gradient(), Gradient(), Gradient()};
    if (c.needs(0)) r[0] = g * apply1(betainc_grad_a_op, no_attrs, no_options, a, b, x);
    if (c.needs(1)) r[1] = g * apply1(betainc_grad_b_op, no_attrs, no_options, a, b, x);
    if (c.needs(2)) r[2] = g * tandem::detail::beta_density(a, b, x);
    return r;
  }
};
/// The derivatives of betainc by a and b.
struct betainc_grad_a_rule : Rule<3, floats, Saves::nothing, lanewise | non_differentiable> {
  template <class V>
  static TANDEM_HD V forward(V a, V b, V x) {
    const Dual p(static_cast<double>(a), 1), q(static_cast<double>(b));
    return static_cast<V>(incomplete_beta(p, q, static_cast<double>(x)).d);
  }
};
struct betainc_grad_b_rule : Rule<3, floats, Saves::nothing, lanewise | non_differentiable> {
  template <class V>
  static TANDEM_HD V forward(V a, V b, V x) {
    const Dual p(static_cast<double>(a)), q(static_cast<double>(b), 1);
    return static_cast<V>(incomplete_beta(p, q, static_cast<double>(x)).d);
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {

TANDEM_DEFINE_OPS(TANDEM_INCOMPLETE_OPS)
TANDEM_DEFINE_FUNCTIONS(TANDEM_INCOMPLETE_OPS)

#if TANDEM_DEFINES
TANDEM_INLINE Tensor betainc(const Tensor& a, const Tensor& b, const Tensor& x, OpOptions o) {
  return call(betainc_op, o, a, b, x);
}
#endif

}  // namespace TANDEM_NS
