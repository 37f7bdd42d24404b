// The optimizers' update rules and their attributes. Each rule computes one step, for packs and for single numbers.
// Formulas: momentum and RMSprop as in TensorFlow 2; the others' are in adam_rules.hpp and adaptive_rules.hpp.
#pragma once
#include "tandem/core/op.hpp"
#include "tandem/optim/adam_rules.hpp"
#include "tandem/optim/adaptive_rules.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

namespace rules {
struct SgdAttrs {
  double momentum;
  bool nesterov;
  TANDEM_ATTRS(SgdAttrs, momentum, nesterov);
};
struct RmspropAttrs {
  double rho, momentum, epsilon;
  bool centered;
  TANDEM_ATTRS(RmspropAttrs, rho, momentum, epsilon, centered);
};

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

}  // namespace rules
}  // namespace TANDEM_NS

/// f(op name, rule) for each rule. Op definitions, look-up and kernels are generated from this list.
#define TANDEM_FOR_EACH_UPDATE(f)                                                                          \
  f(sgd_update, SgdUpdate) f(momentum_update, MomentumUpdate) f(rmsprop_update, RmspropUpdate)             \
      f(rmsprop_momentum_update, RmspropMomentumUpdate) f(rmsprop_centered_update, RmspropCenteredUpdate)  \
          f(adam_update, AdamUpdate) f(amsgrad_update, AmsgradUpdate) f(adamw_update, AdamwUpdate)         \
              f(adamax_update, AdamaxUpdate) f(nadam_update, NadamUpdate) f(adagrad_update, AdagradUpdate) \
                  f(adadelta_update, AdadeltaUpdate) f(ftrl_update, FtrlUpdate) f(lion_update, LionUpdate) \
                      f(schedule_free_update, ScheduleFreeUpdate) f(decay_update, DecayUpdate)             \
                          f(average_update, AverageUpdate)
