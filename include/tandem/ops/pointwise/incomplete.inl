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
// x^(a - order) e^-x / Gamma(a), igamma's derivative by x for order 1, and x^(a - i) (1 - x)^(b - j) / B(a, b). Their
// derivatives by x are of the same form.
inline Tensor gamma_density(const Tensor& a, const Tensor& x, i64 order) {
  return apply1(igamma_grad_x_op, rules::DensityAttrs{order, 0}, no_options, a, x);
}
inline Tensor beta_density(const Tensor& a, const Tensor& b, const Tensor& x, i64 i, i64 j) {
  return apply1(betainc_grad_x_op, rules::DensityAttrs{i, j}, no_options, a, b, x);
}
inline Grads gradient_of_igamma(const GradCall& c, const Tensor& g) {
  const Tensor &a = c.in[0], &x = c.in[1];
  return {c.needs(0) ? Gradient(g * apply1(igamma_grad_a_op, no_attrs, no_options, a, x)) : Gradient(),
          c.needs(1) ? Gradient(g * gamma_density(a, x, 1)) : Gradient()};
}
}  // namespace TANDEM_NS::detail

namespace TANDEM_NS::rules {

// float32 is computed in float64.
struct igamma_rule : Binary<floats, Saves::inputs, lanewise> {
  static constexpr const char* input_names = "a, x";
  template <class V>
  static TANDEM_HD V forward(V a, V x) {
    return static_cast<V>(incomplete_gamma(static_cast<double>(a), static_cast<double>(x), false));
  }
  static Grads gradient(const GradCall& c) { return tandem::detail::gradient_of_igamma(c, c.g[0]); }
};
struct igammac_rule : Binary<floats, Saves::inputs, lanewise> {
  static constexpr const char* input_names = "a, x";
  template <class V>
  static TANDEM_HD V forward(V a, V x) {
    return static_cast<V>(incomplete_gamma(static_cast<double>(a), static_cast<double>(x), true));
  }
  static Grads gradient(const GradCall& c) { return tandem::detail::gradient_of_igamma(c, -c.g[0]); }
};
/// The derivative of igamma by a.
struct igamma_grad_a_rule : Binary<floats, Saves::nothing, lanewise | non_differentiable> {
  static constexpr const char* input_names = "a, x";
  template <class V>
  static TANDEM_HD V forward(V a, V x) {
    const Dual at(static_cast<double>(a), 1);
    // The smaller tail: the derivative of 1 - tail has the same digits.
    const bool upper = x > a;
    const double slope = incomplete_gamma(at, static_cast<double>(x), upper).d;
    return static_cast<V>(upper ? -slope : slope);
  }
};
/// The derivative of igamma by x.
struct igamma_grad_x_rule : Binary<floats, Saves::all, lanewise> {
  static constexpr const char* input_names = "a, x";
  using Params = DensityAttrs;
  template <class V>
  static TANDEM_HD V forward(const Params& p, V a, V x) {
    return static_cast<V>(
        gamma_density(static_cast<double>(a), static_cast<double>(x), static_cast<double>(p.order_a)));
  }
  // y is 0 at an end where a factor is infinite.
  static Grads gradient(const GradCall& c) {
    const Tensor &g = c.g[0], &a = c.in[0], &x = c.in[1], &y = c.out[0];
    const i64 k = c.get<DensityAttrs>().order_a;
    Grads r{Gradient(), Gradient()};
    if (c.needs(0)) r[0] = g * multiply_no_nan(log(x) - digamma(a), y);
    if (c.needs(1)) r[1] = g * (multiply_no_nan(tandem::detail::gamma_density(a, x, k + 1), a - k) - y);
    return r;
  }
};
/// The derivative by alpha of a gamma distributed number, or of its logarithm.
struct gamma_sample_grad_rule : Binary<floats, Saves::nothing, lanewise | non_differentiable> {
  static constexpr const char* input_names = "a, x";
  using Params = GammaSampleAttrs;
  template <class V>
  static TANDEM_HD V forward(const Params& p, V alpha, V y) {
    return static_cast<V>(gamma_sample_slope(static_cast<double>(alpha), static_cast<double>(y), p.log));
  }
};
struct betainc_rule : Rule<3, floats, Saves::inputs, lanewise> {
  static constexpr const char* input_names = "a, b, x";
  template <class V>
  static TANDEM_HD V forward(V a, V b, V x) {
    return static_cast<V>(incomplete_beta(static_cast<double>(a), static_cast<double>(b), static_cast<double>(x)));
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &g = c.g[0], &a = c.in[0], &b = c.in[1], &x = c.in[2];
    Grads r{Gradient(), Gradient(), Gradient()};
    if (c.needs(0)) r[0] = g * apply1(betainc_grad_a_op, no_attrs, no_options, a, b, x);
    if (c.needs(1)) r[1] = g * apply1(betainc_grad_b_op, no_attrs, no_options, a, b, x);
    if (c.needs(2)) r[2] = g * tandem::detail::beta_density(a, b, x, 1, 1);
    return r;
  }
};
/// The derivatives of betainc by a and b.
struct betainc_grad_a_rule : Rule<3, floats, Saves::nothing, lanewise | non_differentiable> {
  static constexpr const char* input_names = "a, b, x";
  template <class V>
  static TANDEM_HD V forward(V a, V b, V x) {
    const Dual p(static_cast<double>(a), 1), q(static_cast<double>(b));
    return static_cast<V>(incomplete_beta(p, q, static_cast<double>(x)).d);
  }
};
struct betainc_grad_b_rule : Rule<3, floats, Saves::nothing, lanewise | non_differentiable> {
  static constexpr const char* input_names = "a, b, x";
  template <class V>
  static TANDEM_HD V forward(V a, V b, V x) {
    const Dual p(static_cast<double>(a)), q(static_cast<double>(b), 1);
    return static_cast<V>(incomplete_beta(p, q, static_cast<double>(x)).d);
  }
};
/// The derivative of betainc by x.
struct betainc_grad_x_rule : Rule<3, floats, Saves::all, lanewise> {
  static constexpr const char* input_names = "a, b, x";
  using Params = DensityAttrs;
  template <class V>
  static TANDEM_HD V forward(const Params& p, V a, V b, V x) {
    return static_cast<V>(beta_density(static_cast<double>(a), static_cast<double>(b), static_cast<double>(x),
                                       static_cast<double>(p.order_a), static_cast<double>(p.order_b)));
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &g = c.g[0], &a = c.in[0], &b = c.in[1], &x = c.in[2], &y = c.out[0];
    const auto [i, j] = c.get<DensityAttrs>();
    Grads r{Gradient(), Gradient(), Gradient()};
    if (c.needs(0)) r[0] = g * multiply_no_nan(log(x) - digamma(a) + digamma(a + b), y);
    if (c.needs(1)) r[1] = g * multiply_no_nan(log1p(-x) - digamma(b) + digamma(a + b), y);
    if (c.needs(2))
      r[2] = g * (multiply_no_nan(tandem::detail::beta_density(a, b, x, i + 1, j), a - i) -
                  multiply_no_nan(tandem::detail::beta_density(a, b, x, i, j + 1), b - j));
    return r;
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
