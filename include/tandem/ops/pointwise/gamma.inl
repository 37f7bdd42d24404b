// Definitions of ops/pointwise/gamma.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/gamma.hpp"
#include "tandem/ops/pointwise/gamma_math.hpp"
#include "tandem/ops/reduce/reduce.hpp"

namespace TANDEM_NS::rules {

struct lgamma_rule : Unary<floats, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return log_gamma(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g * tandem::digamma(x); }
};
struct digamma_rule : Unary<floats, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return digamma_of(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g * tandem::polygamma(1, x); }
};
struct polygamma_rule : Binary<floats, Saves::inputs, lanewise> {
  static constexpr const char* input_names = "n, x";
  template <class V>
  static TANDEM_HD V forward(V n, V x) {
    return static_cast<V>(polygamma_of(static_cast<double>(n), static_cast<double>(x)));
  }
  static Grads gradient(const GradCall& c) {
    return {Gradient(), c.needs(1) ? Gradient(c.g[0] * tandem::polygamma(c.in[0] + 1, c.in[1])) : Gradient()};
  }
};
struct zeta_rule : Binary<floats, Saves::inputs, lanewise> {
  static constexpr const char* input_names = "x, q";
  template <class V>
  static TANDEM_HD V forward(V x, V q) {
    return static_cast<V>(hurwitz_zeta(static_cast<double>(x), static_cast<double>(q)));
  }
  static Grads gradient(const GradCall& c) {
    const Tensor& x = c.in[0];
    return {Gradient(), c.needs(1) ? Gradient(-(c.g[0] * x * tandem::zeta(x + 1, c.in[1]))) : Gradient()};
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {

TANDEM_DEFINE_OPS(TANDEM_GAMMA_OPS)
TANDEM_DEFINE_FUNCTIONS(TANDEM_GAMMA_OPS)

#if TANDEM_DEFINES
TANDEM_INLINE Tensor lbeta(const Tensor& x, OpOptions o) {
  const detail::CallSite call(o, "lbeta");
  return subtract(reduce_sum(lgamma(x), {.axis = {-1}}), lgamma(reduce_sum(x, {.axis = {-1}})), o);
}
#endif

}  // namespace TANDEM_NS
