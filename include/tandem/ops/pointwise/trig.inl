// Definitions of ops/pointwise/trig.hpp.
#pragma once
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/complex_math.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::rules {

struct sin_rule : Unary<floats | complexes, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return over_i(complex_sinh(times_i(x)));
    else return sin(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return tandem::detail::times_conjugate(g, cos(x)); }
};
struct cos_rule : Unary<floats | complexes, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_cosh(times_i(x));
    else return cos(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return -tandem::detail::times_conjugate(g, sin(x)); }
};
struct tan_rule : Unary<floats | complexes, Saves::outputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return over_i(complex_tanh(times_i(x)));
    else return tan(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) { return tandem::detail::times_conjugate(g, square(y) + 1); }
};
struct asin_rule : Unary<floats, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return asin(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g / sqrt((1 - x) * (1 + x)); }
};
struct acos_rule : Unary<floats, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return acos(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return -(g / sqrt((1 - x) * (1 + x))); }
};
struct atan_rule : Unary<floats, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return atan(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g / (square(x) + 1); }
};
struct sinh_rule : Unary<floats | complexes, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_sinh(x);
    else return sinh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return tandem::detail::times_conjugate(g, cosh(x)); }
};
struct cosh_rule : Unary<floats | complexes, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_cosh(x);
    else return cosh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return tandem::detail::times_conjugate(g, sinh(x)); }
};
struct asinh_rule : Unary<floats, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return asinh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g / hypot(x, 1); }
};
struct acosh_rule : Unary<floats, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return acosh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g / (sqrt(x - 1) * sqrt(x + 1)); }
};
struct atanh_rule : Unary<floats, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return atanh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g / ((1 - x) * (1 + x)); }
};
struct atan2_rule : Binary<floats, Saves::inputs, lanewise> {
  static constexpr const char* input_names = "y, x";
  template <class V>
  static TANDEM_HD V forward(V y, V x) {
    return atan2(y, x);
  }
  static Grads gradient(const GradCall& c) {
    // Divided twice by the distance, whose square may overflow or underflow.
    const Tensor &y = c.in[0], &x = c.in[1], r = hypot(x, y), q = div_no_nan(c.g[0], r);
    return {c.needs(0) ? Gradient(q * div_no_nan(x, r)) : Gradient(),
            c.needs(1) ? Gradient(-(q * div_no_nan(y, r))) : Gradient()};
  }
};

struct floor_rule : Unary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return floor(x);
  }
};
struct ceil_rule : Unary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return ceil(x);
  }
};
struct trunc_rule : Unary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return trunc(x);
  }
};
struct round_rule : Unary<reals, Saves::nothing, non_differentiable> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return round(x);
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {
TANDEM_DEFINE_OPS(TANDEM_TRIG_OPS)
TANDEM_DEFINE_FUNCTIONS(TANDEM_TRIG_OPS)
}  // namespace TANDEM_NS
