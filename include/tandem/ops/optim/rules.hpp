// The optimizers' update rules and their attributes. Each rule computes one step, for packs and for single numbers.
// Formulas: momentum and RMSprop as in TensorFlow 2; Adam as in Kingma & Ba 2015, with the bias correction folded
// into the step size (end of section 2).
#pragma once
#include <cmath>

#include "tandem/base/scalar_math.hpp"
#include "tandem/core/op.hpp"

namespace TANDEM_NS {

struct SgdAttrs {
  double momentum;
  bool nesterov;
  static constexpr auto fields =
      field_list(field("momentum", &SgdAttrs::momentum), field("nesterov", &SgdAttrs::nesterov));
};
struct RmspropAttrs {
  double rho, momentum, epsilon;
  bool centered;
  static constexpr auto fields =
      field_list(field("rho", &RmspropAttrs::rho), field("momentum", &RmspropAttrs::momentum),
                 field("epsilon", &RmspropAttrs::epsilon), field("centered", &RmspropAttrs::centered));
};
struct AdamAttrs {
  double beta_1, beta_2, epsilon;
  static constexpr auto fields = field_list(field("beta_1", &AdamAttrs::beta_1), field("beta_2", &AdamAttrs::beta_2),
                                            field("epsilon", &AdamAttrs::epsilon));
};

namespace rules {

// The learning rate and the step count are the last inputs. They follow the gradient (dense) or the gradient's
// indices (sparse).
template <class T>
inline T learning_rate(const KernelCall& c) {
  return static_cast<T>(*c.in[c.in.size() - 2].as<float>());
}

/// w -= lr g
struct SgdUpdate {
  using Settings = SgdAttrs;  // not read: there is no momentum
  static constexpr int states = 1;
  template <class T>
  struct Params {
    T lr;
    static Params make(const KernelCall& c) { return {learning_rate<T>(c)}; }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[0] = s[0] - V(p.lr) * g;
  }
};

/// v = m v - lr g;  w += v, or with Nesterov w += m v - lr g
struct MomentumUpdate {
  using Settings = SgdAttrs;
  static constexpr int states = 2;
  template <class T>
  struct Params {
    T lr, momentum, ahead, direct;  // w += ahead v - direct g
    static Params make(const KernelCall& c) {
      const auto& a = c.attrs.get<SgdAttrs>();
      const T lr = learning_rate<T>(c), m = static_cast<T>(a.momentum);
      return {lr, m, a.nesterov ? m : T(1), a.nesterov ? lr : T(0)};
    }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = V(p.momentum) * s[1] - V(p.lr) * g;
    s[0] = s[0] + (V(p.ahead) * s[1] - V(p.direct) * g);
  }
};

template <class T>
struct RmspropParams {
  T lr, rho, rest, momentum, epsilon;
  static RmspropParams make(const KernelCall& c) {
    const auto& a = c.attrs.get<RmspropAttrs>();
    return {learning_rate<T>(c), static_cast<T>(a.rho), static_cast<T>(1 - a.rho), static_cast<T>(a.momentum),
            static_cast<T>(a.epsilon)};
  }
};
/// v = rho v + (1 - rho) g^2;  w -= lr g / sqrt(v + eps)
struct RmspropUpdate {
  using Settings = RmspropAttrs;
  static constexpr int states = 2;
  template <class T>
  using Params = RmspropParams<T>;
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = V(p.rho) * s[1] + V(p.rest) * g * g;
    s[0] = s[0] - V(p.lr) * g / sqrt(s[1] + V(p.epsilon));
  }
};
/// RMSprop with momentum: m = momentum m + lr g / sqrt(v + eps);  w -= m
struct RmspropMomentumUpdate {
  using Settings = RmspropAttrs;
  static constexpr int states = 3;
  template <class T>
  using Params = RmspropParams<T>;
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = V(p.rho) * s[1] + V(p.rest) * g * g;
    s[2] = V(p.momentum) * s[2] + V(p.lr) * g / sqrt(s[1] + V(p.epsilon));
    s[0] = s[0] - s[2];
  }
};
/// Centered RMSprop with momentum (0 for none): a = rho a + (1 - rho) g, and v - a^2 replaces v
struct RmspropCenteredUpdate {
  using Settings = RmspropAttrs;
  static constexpr int states = 4;
  template <class T>
  using Params = RmspropParams<T>;
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = V(p.rho) * s[1] + V(p.rest) * g * g;
    s[3] = V(p.rho) * s[3] + V(p.rest) * g;
    s[2] = V(p.momentum) * s[2] + V(p.lr) * g / sqrt(s[1] - s[3] * s[3] + V(p.epsilon));
    s[0] = s[0] - s[2];
  }
};

/// m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2;  w -= lr sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + eps)
struct AdamUpdate {
  using Settings = AdamAttrs;
  static constexpr int states = 3;
  template <class T>
  struct Params {
    T step_size, beta_1, rest_1, beta_2, rest_2, epsilon;
    static Params make(const KernelCall& c) {
      const auto& a = c.attrs.get<AdamAttrs>();
      const auto t = static_cast<double>(*c.in[c.in.size() - 1].as<i64>());
      const double size = learning_rate<double>(c) * std::sqrt(1 - std::pow(a.beta_2, t)) / (1 - std::pow(a.beta_1, t));
      return {static_cast<T>(size),     static_cast<T>(a.beta_1),     static_cast<T>(1 - a.beta_1),
              static_cast<T>(a.beta_2), static_cast<T>(1 - a.beta_2), static_cast<T>(a.epsilon)};
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

/// f(op name, rule) for each rule. Op definitions, look-up and kernels are generated from this list.
#define TANDEM_FOR_EACH_UPDATE(f)                                                                         \
  f(sgd_update, SgdUpdate) f(momentum_update, MomentumUpdate) f(rmsprop_update, RmspropUpdate)            \
      f(rmsprop_momentum_update, RmspropMomentumUpdate) f(rmsprop_centered_update, RmspropCenteredUpdate) \
          f(adam_update, AdamUpdate)
