// What all update rules read of a call, and Adam's rule, of which others are variants. Part of rules.hpp. Formula:
// Kingma & Ba 2015, with the bias correction folded into the step size (end of section 2).
#pragma once
#include <cmath>

#include "tandem/core/op.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

namespace rules {
struct AdamAttrs {
  double beta_1, beta_2, epsilon;
  TANDEM_ATTRS(AdamAttrs, beta_1, beta_2, epsilon);
};

// The learning rate (float32 or float64) and the step count are the last inputs. They follow the gradient (dense) or
// the gradient's indices (sparse).
template <class T>
inline T learning_rate(const KernelCall& c) {
  const Operand& lr = c.in[c.in.size() - 2];
  return static_cast<T>(lr.spec->dtype == DType::float64 ? *lr.as<double>() : *lr.as<float>());
}
inline double step_count(const KernelCall& c) { return static_cast<double>(*c.in[c.in.size() - 1].as<i64>()); }

/// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  w -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + eps)
struct AdamUpdate {
  using Settings = AdamAttrs;
  static constexpr int states = 3;
  template <class T>
  struct Params {
    T step_size, beta_1, rest_1, beta_2, rest_2, epsilon;
    static Params of(const KernelCall& c, double beta_1, double beta_2, double epsilon) {
      const double t = step_count(c);
      const double size = learning_rate<double>(c) * std::sqrt(1 - std::pow(beta_2, t)) / (1 - std::pow(beta_1, t));
      return {static_cast<T>(size),   static_cast<T>(beta_1),     static_cast<T>(1 - beta_1),
              static_cast<T>(beta_2), static_cast<T>(1 - beta_2), static_cast<T>(epsilon)};
    }
    static Params make(const KernelCall& c) {
      const auto& a = c.attrs.get<AdamAttrs>();
      return of(c, a.beta_1, a.beta_2, a.epsilon);
    }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = V(p.beta_1) * s[1] + V(p.rest_1) * g;
    s[2] = V(p.beta_2) * s[2] + V(p.rest_2) * g * g;
    s[0] = s[0] - V(p.step_size) * s[1] / (sqrt(s[2]) + V(p.epsilon));
  }
};

}  // namespace rules
}  // namespace TANDEM_NS
