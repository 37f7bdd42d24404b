// Definitions of ops/pointwise/exp.hpp.
#pragma once
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/complex_math.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::detail {
template <class T>
bool any_negative(const Operand& x) {
  for (i64 i = 0; i < x.size(); ++i)
    if (x.as<const T>()[i] < 0) return true;
  return false;
}
inline Tensor tanh_grad(const Tensor& g, const Tensor& y) { return apply1(tanh_grad_op, no_attrs, no_options, g, y); }
inline Tensor sigmoid_grad(const Tensor& g, const Tensor& y) {
  return apply1(sigmoid_grad_op, no_attrs, no_options, g, y);
}
}  // namespace TANDEM_NS::detail

namespace TANDEM_NS::rules {

struct exp_rule : Unary<floats | complexes, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_exp(x);
    else return exp(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) { return tandem::detail::times_conjugate(g, y); }
};
struct expm1_rule : Unary<floats | complexes, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_expm1(x);
    else return expm1(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) { return tandem::detail::times_conjugate(g, y + 1); }
};
struct log_rule : Unary<floats | complexes, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_log(x);
    else return log(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g / tandem::conj(x); }
};
struct log1p_rule : Unary<floats | complexes, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_log1p(x);
    else return log1p(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g / tandem::conj(x + 1); }
};
struct sqrt_rule : Unary<floats | complexes, Saves::outputs> {
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_sqrt(x);
    else return sqrt(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) { return g / tandem::conj(y + y); }
};
struct rsqrt_rule : Unary<floats | complexes, Saves::outputs> {
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return V(1) / complex_sqrt(x);
    else return V(1) / sqrt(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) {
    return tandem::detail::times_conjugate(g, square(y) * y) * -0.5;
  }
};
struct reciprocal_rule : Unary<floats | complexes, Saves::outputs> {
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return V(1) / x;
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) { return -tandem::detail::times_conjugate(g, square(y)); }
};
struct sigmoid_rule : Unary<floats | complexes, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_logistic(x);
    else return logistic(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) {
    return is_complex(y.dtype()) ? tandem::detail::times_conjugate(g, y * (1 - y)) : tandem::detail::sigmoid_grad(g, y);
  }
};
struct log_sigmoid_rule : Unary<floats, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return min(x, V(0)) - log1p(exp(-abs(x)));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g * tandem::sigmoid(-x); }
};
struct softplus_rule : Unary<floats, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return max(x, V(0)) + log1p(exp(-abs(x)));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g * tandem::sigmoid(x); }
};
struct tanh_rule : Unary<floats | complexes, Saves::outputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    if constexpr (ComplexNumber<V>) return complex_tanh(x);
    else return tanh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& y) {
    return is_complex(y.dtype()) ? tandem::detail::times_conjugate(g, 1 - square(y)) : tandem::detail::tanh_grad(g, y);
  }
};

/// Computes a^n for an integer n >= 0, modulo 2^bits, by squaring in unsigned 64-bit arithmetic, where overflow is
/// defined.
template <Integer T>
TANDEM_HD T whole_power(T a, T n) {
  u64 r = 1, square = static_cast<u64>(a);
  for (u64 e = n > T(0) ? static_cast<u64>(n) : 0; e; e >>= 1, square *= square)
    if (e & 1u) r *= square;
  return static_cast<T>(r);
}
struct pow_rule : Binary<reals | complexes, Saves::all, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    if constexpr (Integer<V>) return whole_power(a, b);
    else if constexpr (ComplexNumber<V>) return complex_pow(a, b);
    else return pow(a, b);
  }
  static constexpr const char* rejection = "is an integer to a negative power";
  template <class V>
  static TANDEM_HD bool rejects(V, V b) {
    if constexpr (Integer<V>) return b < V(0);
    else return false;
  }
  static void check(const KernelCall& c) {
    const Operand& b = c.in[1];
    const bool bad = b.spec->dtype == DType::int32   ? tandem::detail::any_negative<std::int32_t>(b)
                     : b.spec->dtype == DType::int64 ? tandem::detail::any_negative<i64>(b)
                     : b.spec->dtype == DType::int16 ? tandem::detail::any_negative<std::int16_t>(b)
                     : b.spec->dtype == DType::int8  ? tandem::detail::any_negative<std::int8_t>(b)
                                                     : false;
    if (bad)
      errors::raise<errors::InvalidArgumentError>(c.op, "an integer to a negative power: " + to_string(*c.in[0].spec) +
                                                            " x " + to_string(*b.spec) +
                                                            " (cast both to a floating dtype)");
  }
  // The guards prevent 0 * inf in both factors and in their gradients.
  static Grads gradient(const GradCall& c) {
    using tandem::detail::scalar_like, tandem::detail::times_conjugate;
    const Tensor &g = c.g[0], &a = c.in[0], &b = c.in[1];
    Grads r{Gradient(), Gradient()};
    if (c.needs(0)) r[0] = times_conjugate(g, b * pow(a, where(b == 0, scalar_like(1, b), b) - 1));
    if (c.needs(1)) {
      const Tensor positive = is_complex(a.dtype()) ? a != 0 : a > 0, one = scalar_like(1, a), zero = scalar_like(0, a);
      r[1] = where(positive, times_conjugate(g, c.out[0] * log(where(positive, a, one))), zero);
    }
    return r;
  }
};
struct tanh_grad_rule : Binary<floats, Saves::inputs> {
  static constexpr const char* input_names = "g, y";
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V y) {
    return g * (V(1) - y * y);
  }
  static Grads gradient(const GradCall& c) {
    Grads r{Gradient(), Gradient()};
    if (c.needs(0)) r[0] = tandem::detail::tanh_grad(c.g[0], c.in[1]);
    if (c.needs(1)) r[1] = c.g[0] * c.in[0] * c.in[1] * -2;
    return r;
  }
};
struct sigmoid_grad_rule : Binary<floats, Saves::inputs> {
  static constexpr const char* input_names = "g, y";
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V y) {
    return g * y * (V(1) - y);
  }
  static Grads gradient(const GradCall& c) {
    Grads r{Gradient(), Gradient()};
    if (c.needs(0)) r[0] = tandem::detail::sigmoid_grad(c.g[0], c.in[1]);
    if (c.needs(1)) r[1] = c.g[0] * c.in[0] * (1 - (c.in[1] + c.in[1]));
    return r;
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {

TANDEM_DEFINE_OPS(TANDEM_EXP_OPS)
TANDEM_DEFINE_FUNCTIONS(TANDEM_EXP_OPS)

#if TANDEM_DEFINES
TANDEM_INLINE Tensor pow(const Tensor& a, Scalar b, OpOptions o) {
  return b.real() == 2 ? square(a, o) : pow(a, tandem::detail::scalar_operand("pow", b, a, o), o);
}
#endif

}  // namespace TANDEM_NS
