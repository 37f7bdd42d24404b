// More update rules of optimizers: AMSGrad, AdamW, Adamax, Nadam, Lion, Adagrad, Adadelta, FTRL, schedule-free AdamW;
// weight decay and running averages. Part of rules.hpp, which explains them and has the list. Formulas: those of
// Keras 3.
#pragma once
#include <cmath>
#include <limits>

#include "tandem/core/op.hpp"
#include "tandem/optim/adam_rules.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS {

namespace rules {
struct AdamwAttrs {
  double beta_1, beta_2, epsilon, weight_decay;
  TANDEM_ATTRS(AdamwAttrs, beta_1, beta_2, epsilon, weight_decay);
};
struct LionAttrs {
  double beta_1, beta_2;
  TANDEM_ATTRS(LionAttrs, beta_1, beta_2);
};
struct AdagradAttrs {
  double epsilon;
  TANDEM_ATTRS(AdagradAttrs, epsilon);
};
struct AdadeltaAttrs {
  double rho, epsilon;
  TANDEM_ATTRS(AdadeltaAttrs, rho, epsilon);
};
struct FtrlAttrs {
  double learning_rate_power, l1, l2, l2_shrinkage, beta;
  TANDEM_ATTRS(FtrlAttrs, learning_rate_power, l1, l2, l2_shrinkage, beta);
};
struct ScheduleFreeAttrs {
  double beta_1, beta_2, epsilon;
  i64 warmup_steps;
  TANDEM_ATTRS(ScheduleFreeAttrs, beta_1, beta_2, epsilon, warmup_steps);
};
struct DecayAttrs {
  double weight_decay;
  TANDEM_ATTRS(DecayAttrs, weight_decay);
};

/// Adam with the largest v so far (Reddi et al. 2018): h = max(h, v) replaces v in the step
struct AmsgradUpdate {
  using Settings = AdamAttrs;
  static constexpr int states = 4;
  template <class T>
  using Params = AdamUpdate::Params<T>;
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = V(p.beta_1) * s[1] + V(p.rest_1) * g;
    s[2] = V(p.beta_2) * s[2] + V(p.rest_2) * g * g;
    s[3] = max(s[3], s[2]);
    s[0] = s[0] - V(p.step_size) * s[1] / (sqrt(s[3]) + V(p.epsilon));
  }
};
/// AdamW (Loshchilov & Hutter 2019): w -= lr decay w, then Adam
struct AdamwUpdate {
  using Settings = AdamwAttrs;
  static constexpr int states = 3;
  template <class T>
  struct Params : AdamUpdate::Params<T> {
    T decay;
    static Params make(const KernelCall& c) {
      const auto& a = c.attrs.get<AdamwAttrs>();
      return {AdamUpdate::Params<T>::of(c, a.beta_1, a.beta_2, a.epsilon),
              static_cast<T>(learning_rate<double>(c) * a.weight_decay)};
    }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[0] = s[0] - V(p.decay) * s[0];
    AdamUpdate::step(p, s, g);
  }
};
/// Adamax (Kingma & Ba 2015): m as Adam;  u = max(b2 u, |g|);  w -= lr / (1 - b1^t) m / (u + eps)
struct AdamaxUpdate {
  using Settings = AdamAttrs;
  static constexpr int states = 3;
  template <class T>
  struct Params {
    T step_size, beta_1, rest_1, beta_2, epsilon;
    static Params make(const KernelCall& c) {
      const auto& a = c.attrs.get<AdamAttrs>();
      const double size = learning_rate<double>(c) / (1 - std::pow(a.beta_1, step_count(c)));
      return {static_cast<T>(size), static_cast<T>(a.beta_1), static_cast<T>(1 - a.beta_1), static_cast<T>(a.beta_2),
              static_cast<T>(a.epsilon)};
    }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = V(p.beta_1) * s[1] + V(p.rest_1) * g;
    s[2] = max(V(p.beta_2) * s[2], abs(g));
    s[0] = s[0] - V(p.step_size) * s[1] / (s[2] + V(p.epsilon));
  }
};
/// Nadam (Dozat 2015): m and v as Adam;  u_t = b1 (1 - 0.5 * 0.96^t), U = u_1 ... u_t;
/// w -= lr (u_(t+1) m / (1 - U u_(t+1)) + (1 - u_t) g / (1 - U)) / (sqrt(v / (1 - b2^t)) + eps)
struct NadamUpdate {
  using Settings = AdamAttrs;
  static constexpr int states = 3;
  template <class T>
  struct Params {
    T by_m, by_g, correction, beta_1, rest_1, beta_2, rest_2, epsilon;
    static Params make(const KernelCall& c) {
      const auto& a = c.attrs.get<AdamAttrs>();
      const double t = step_count(c), lr = learning_rate<double>(c);
      const auto u = [&](double k) { return a.beta_1 * (1 - 0.5 * std::pow(0.96, k)); };
      double product = 1;  // below 1e-18 it no longer matters
      for (double k = 1; k <= t && product > 1e-18; ++k) product *= u(k);
      const double now = u(t), next = u(t + 1);
      return {static_cast<T>(lr * next / (1 - product * next)),
              static_cast<T>(lr * (1 - now) / (1 - product)),
              static_cast<T>(1 / (1 - std::pow(a.beta_2, t))),
              static_cast<T>(a.beta_1),
              static_cast<T>(1 - a.beta_1),
              static_cast<T>(a.beta_2),
              static_cast<T>(1 - a.beta_2),
              static_cast<T>(a.epsilon)};
    }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = V(p.beta_1) * s[1] + V(p.rest_1) * g;
    s[2] = V(p.beta_2) * s[2] + V(p.rest_2) * g * g;
    s[0] = s[0] - (V(p.by_m) * s[1] + V(p.by_g) * g) / (sqrt(s[2] * V(p.correction)) + V(p.epsilon));
  }
};
/// Lion (Chen et al. 2023): w -= lr sign(b1 m + (1 - b1) g);  m = b2 m + (1 - b2) g
struct LionUpdate {
  using Settings = LionAttrs;
  static constexpr int states = 2;
  template <class T>
  struct Params {
    T lr, beta_1, rest_1, beta_2, rest_2;
    static Params make(const KernelCall& c) {
      const auto& a = c.attrs.get<LionAttrs>();
      return {learning_rate<T>(c), static_cast<T>(a.beta_1), static_cast<T>(1 - a.beta_1), static_cast<T>(a.beta_2),
              static_cast<T>(1 - a.beta_2)};
    }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    const V u = V(p.beta_1) * s[1] + V(p.rest_1) * g;
    s[0] = s[0] - V(p.lr) * select(u > V(0), V(1), select(u < V(0), V(V(0) - V(1)), u));  // NaN stays
    s[1] = V(p.beta_2) * s[1] + V(p.rest_2) * g;
  }
};
/// Adagrad (Duchi et al. 2011): a += g^2;  w -= lr g / sqrt(a + eps)
struct AdagradUpdate {
  using Settings = AdagradAttrs;
  static constexpr int states = 2;
  template <class T>
  struct Params {
    T lr, epsilon;
    static Params make(const KernelCall& c) {
      return {learning_rate<T>(c), static_cast<T>(c.attrs.get<AdagradAttrs>().epsilon)};
    }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = s[1] + g * g;
    s[0] = s[0] - V(p.lr) * g / sqrt(s[1] + V(p.epsilon));
  }
};
/// Adadelta (Zeiler 2012): a = rho a + (1 - rho) g^2;  x = sqrt(d + eps) / sqrt(a + eps) g;
/// d = rho d + (1 - rho) x^2;  w -= lr x
struct AdadeltaUpdate {
  using Settings = AdadeltaAttrs;
  static constexpr int states = 3;
  template <class T>
  struct Params {
    T lr, rho, rest, epsilon;
    static Params make(const KernelCall& c) {
      const auto& a = c.attrs.get<AdadeltaAttrs>();
      return {learning_rate<T>(c), static_cast<T>(a.rho), static_cast<T>(1 - a.rho), static_cast<T>(a.epsilon)};
    }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = V(p.rho) * s[1] + V(p.rest) * g * g;
    const V x = sqrt(s[2] + V(p.epsilon)) / sqrt(s[1] + V(p.epsilon)) * g;
    s[2] = V(p.rho) * s[2] + V(p.rest) * x * x;
    s[0] = s[0] - V(p.lr) * x;
  }
};
/// FTRL-proximal (McMahan et al. 2013): n' = n + g^2;  z += g + 2 shrinkage w - (n'^p - n^p) / lr w;
/// w = (clip(z, -l1, l1) - z) / (n'^p / lr + 2 l2 + beta / lr), where p is the negative learning_rate_power
struct FtrlUpdate {
  using Settings = FtrlAttrs;
  static constexpr int states = 3;
  template <class T>
  struct Params {
    T by_lr, power, l1, shrinkage, base;
    bool is_root;
    static Params make(const KernelCall& c) {
      const auto& a = c.attrs.get<FtrlAttrs>();
      const double lr = learning_rate<double>(c), power = -a.learning_rate_power;
      return {static_cast<T>(1 / lr),
              static_cast<T>(power),
              static_cast<T>(a.l1),
              static_cast<T>(2 * a.l2_shrinkage),
              static_cast<T>(2 * a.l2 + a.beta / lr),
              power == 0.5};
    }
  };
  template <class P, class V>
  static TANDEM_HD V raised(const P& p, V n) {
    if (p.is_root) return sqrt(n);
    return p.power == 0 ? V(1) : exp(V(p.power) * log(n));
  }
  // (n + x)^p - n^p, written so that it keeps its digits where x is small.
  template <class P, class V>
  static TANDEM_HD V growth(const P& p, V n, V x, V before, V after) {
    if (p.is_root) return select(after == V(0), V(0), x / (after + before));
    return p.power == 0 ? V(0) : select(n == V(0), after, before * expm1(V(p.power) * log1p(x / n)));
  }
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    const V n = s[1], x = g * g, before = raised(p, n);
    s[1] = n + x;
    const V after = raised(p, s[1]);
    s[2] = s[2] + (g + V(p.shrinkage) * s[0] - growth(p, n, x, before, after) * V(p.by_lr) * s[0]);
    const V divisor = after * V(p.by_lr) + V(p.base);
    const V clipped = max(min(s[2], V(p.l1)), V(-p.l1));
    s[0] = select(divisor == V(0), s[0], (clipped - s[2]) / divisor);  // 0: no gradient but 0 so far
  }
};

/// Schedule-free AdamW (Defazio et al. 2024): v = b2 v + (1 - b2) g^2;  z' = z - lr g / (sqrt(v / (1 - b2^t)) + eps);
/// x' = (1 - 1/t) x + 1/t z';  w' = (1 - b1) z' + b1 x'. The average x is not kept: b1 x = w - (1 - b1) z.
/// Where no gradient has moved z yet, z = w first: w may have been assigned since z was made. So it is where v is 0,
/// unless b2 is so small that v becomes 0 again.
struct ScheduleFreeUpdate {
  using Settings = ScheduleFreeAttrs;
  static constexpr int states = 3;
  template <class T>
  struct Params {
    T lr, beta_2, rest_2, correction, epsilon, of_z, kept, rest_1, unmoved;  // unmoved: the largest v of such a z
    static Params make(const KernelCall& c) {
      const auto& a = c.attrs.get<ScheduleFreeAttrs>();
      const double t = step_count(c), warm = static_cast<double>(a.warmup_steps);
      return {static_cast<T>(learning_rate<double>(c) * (t < warm ? t / warm : 1)),
              static_cast<T>(a.beta_2),
              static_cast<T>(1 - a.beta_2),
              static_cast<T>(1 / (1 - std::pow(a.beta_2, t))),
              static_cast<T>(a.epsilon),
              static_cast<T>(1 - a.beta_1 + a.beta_1 / t),
              static_cast<T>(1 - 1 / t),
              static_cast<T>(1 - a.beta_1),
              t == 1           ? std::numeric_limits<T>::infinity()
              : a.beta_2 > 0.5 ? static_cast<T>(0)
                               : static_cast<T>(-1)};
    }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V g) {
    s[1] = select(s[2] > V(p.unmoved), s[1], s[0]);
    const V average = s[0] - V(p.rest_1) * s[1];  // times b1
    s[2] = V(p.beta_2) * s[2] + V(p.rest_2) * g * g;
    s[1] = s[1] - V(p.lr) * g / (sqrt(s[2] * V(p.correction)) + V(p.epsilon));
    s[0] = V(p.of_z) * s[1] + V(p.kept) * average;
  }
};
/// Decoupled weight decay: w -= lr decay w. The gradient says which rows.
struct DecayUpdate {
  using Settings = DecayAttrs;
  static constexpr int states = 1;
  template <class T>
  struct Params {
    T rate;
    static Params make(const KernelCall& c) {
      return {static_cast<T>(learning_rate<double>(c) * c.attrs.get<DecayAttrs>().weight_decay)};
    }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V) {
    s[0] = s[0] - V(p.rate) * s[0];
  }
};
/// A running average: a += rate (x - a). The rate takes the place of the learning rate, x that of the gradient.
struct AverageUpdate {
  static constexpr int states = 1;
  template <class T>
  struct Params {
    T rate;
    static Params make(const KernelCall& c) { return {learning_rate<T>(c)}; }
  };
  template <class P, class V>
  static TANDEM_HD void step(const P& p, V* s, V x) {
    s[0] = s[0] + V(p.rate) * (x - s[0]);
  }
};

}  // namespace rules
}  // namespace TANDEM_NS
