// Exponentials and powers, element by element: exp, expm1, log, log1p, sqrt, rsqrt, reciprocal, sigmoid, log_sigmoid,
// softplus, tanh, pow, and the gradients of sigmoid and tanh as ops of one pass. Activations: pointwise/activation.hpp.
#pragma once
#include "tandem/base/scalar_math.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

/// e^x.
///   x         floating; any shape, any device
///   returns   same shape, dtype and device as x; inf on overflow
///   throws    errors::UnimplementedError if x is not floating
///   gradient  g * y
TANDEM_API Tensor exp(const Tensor& x, OpOptions = {});
/// e^x - 1, exact near 0; dtypes and errors as exp. gradient: g * (y + 1)
TANDEM_API Tensor expm1(const Tensor& x, OpOptions = {});
/// The natural logarithm; -inf at 0, NaN below. Dtypes and errors as exp. gradient: g / x
TANDEM_API Tensor log(const Tensor& x, OpOptions = {});
/// log(1 + x), exact near 0; dtypes and errors as exp. gradient: g / (1 + x)
TANDEM_API Tensor log1p(const Tensor& x, OpOptions = {});
/// The square root; NaN below 0, -0 at -0. Dtypes and errors as exp. gradient: g / (2 y), inf at 0
TANDEM_API Tensor sqrt(const Tensor& x, OpOptions = {});
/// 1 / sqrt(x); inf at 0. Dtypes and errors as exp. gradient: -g * y^3 / 2
TANDEM_API Tensor rsqrt(const Tensor& x, OpOptions = {});
/// 1 / x; dtypes and errors as exp. gradient: -g * y^2
TANDEM_API Tensor reciprocal(const Tensor& x, OpOptions = {});
/// 1 / (1 + e^-x) without overflow; dtypes and errors as exp. gradient: g * y * (1 - y)
TANDEM_API Tensor sigmoid(const Tensor& x, OpOptions = {});
/// log(sigmoid(x)) = -softplus(-x), without overflow; dtypes and errors as exp. gradient: g * sigmoid(-x)
TANDEM_API Tensor log_sigmoid(const Tensor& x, OpOptions = {});
/// log(1 + e^x) without overflow; dtypes and errors as exp. gradient: g * sigmoid(x)
TANDEM_API Tensor softplus(const Tensor& x, OpOptions = {});
/// The hyperbolic tangent; dtypes and errors as exp. gradient: g * (1 - y^2)
TANDEM_API Tensor tanh(const Tensor& x, OpOptions = {});
/// a^b. 0^0 is 1; a negative base with a fraction as exponent gives NaN; integers wrap.
///   a, b      numbers of one dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype
///   throws    errors::InvalidArgumentError if dtypes differ, shapes do not broadcast, or an integer's exponent
///             is negative
///   gradient  g * b * a^(b - 1), 0 where b is 0; g * y * log(a) where a > 0, else 0
TANDEM_API Tensor pow(const Tensor& a, const Tensor& b, OpOptions = {});
/// a^b for a C++ number b; an exponent of 2 is computed as a * a.
TANDEM_API Tensor pow(const Tensor& a, Scalar b, OpOptions = {});
inline Tensor pow(Scalar a, const Tensor& b, OpOptions o = {}) { return pow(tandem::detail::scalar_like(a, b), b, o); }

namespace detail {
/// g * (1 - y * y) and g * y * (1 - y) in one pass.
TANDEM_API Tensor tanh_grad(const Tensor& g, const Tensor& y);
TANDEM_API Tensor sigmoid_grad(const Tensor& g, const Tensor& y);
}  // namespace detail

extern TANDEM_API const OpDef exp_op, expm1_op, log_op, log1p_op, sqrt_op, rsqrt_op, reciprocal_op, sigmoid_op,
    log_sigmoid_op, softplus_op, tanh_op, pow_op, tanh_grad_op, sigmoid_grad_op;

namespace rules {

struct Exp {
  static constexpr auto info = unary("exp", floats, Saves::outputs);
  static constexpr const OpDef& row = exp_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return exp(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Expm1 {
  static constexpr auto info = unary("expm1", floats, Saves::outputs);
  static constexpr const OpDef& row = expm1_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return expm1(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Log {
  static constexpr auto info = unary("log", floats, Saves::inputs);
  static constexpr const OpDef& row = log_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return log(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Log1p {
  static constexpr auto info = unary("log1p", floats, Saves::inputs);
  static constexpr const OpDef& row = log1p_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return log1p(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Sqrt {
  static constexpr auto info = unary("sqrt", floats, Saves::outputs);
  static constexpr const OpDef& row = sqrt_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return sqrt(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Rsqrt {
  static constexpr auto info = unary("rsqrt", floats, Saves::outputs);
  static constexpr const OpDef& row = rsqrt_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return V(1) / sqrt(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Reciprocal {
  static constexpr auto info = unary("reciprocal", floats, Saves::outputs);
  static constexpr const OpDef& row = reciprocal_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return V(1) / x;
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Sigmoid {
  static constexpr auto info = unary("sigmoid", floats, Saves::outputs);
  static constexpr const OpDef& row = sigmoid_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return logistic(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct LogSigmoid {
  static constexpr auto info = unary("log_sigmoid", floats, Saves::inputs);
  static constexpr const OpDef& row = log_sigmoid_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return min(x, V(0)) - log1p(exp(-abs(x)));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Softplus {
  static constexpr auto info = unary("softplus", floats, Saves::inputs);
  static constexpr const OpDef& row = softplus_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return max(x, V(0)) + log1p(exp(-abs(x)));
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Tanh {
  static constexpr auto info = unary("tanh", floats, Saves::outputs);
  static constexpr const OpDef& row = tanh_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return tanh(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};

/// a^n for whole n >= 0, modulo 2^bits: by squaring, in 64 bits without a sign, where overflow is defined.
template <Integer T>
TANDEM_HD T whole_power(T a, T n) {
  u64 r = 1, square = static_cast<u64>(a);
  for (u64 e = n > T(0) ? static_cast<u64>(n) : 0; e; e >>= 1, square *= square)
    if (e & 1u) r *= square;
  return static_cast<T>(r);
}
struct Pow {
  static constexpr auto info = binary("pow", reals, Saves::all);
  static constexpr const OpDef& row = pow_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    if constexpr (Integer<V>) return whole_power(a, b);
    else return pow(a, b);
  }
  static constexpr const char* rejection = "is an integer to a negative power";
  template <class V>
  static TANDEM_HD bool rejects(V, V b) {
    if constexpr (Integer<V>) return b < V(0);
    else return false;
  }
  static void check(const KernelCall& c);
  static Grads gradient(const GradCall& c);
};
struct TanhGrad {  // inputs: g, y
  static constexpr auto info = binary("tanh_grad", floats, Saves::inputs);
  static constexpr const OpDef& row = tanh_grad_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V y) {
    return g * (V(1) - y * y);
  }
  static Grads gradient(const GradCall& c);
};
struct SigmoidGrad {  // inputs: g, y
  static constexpr auto info = binary("sigmoid_grad", floats, Saves::inputs);
  static constexpr const OpDef& row = sigmoid_grad_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V g, V y) {
    return g * y * (V(1) - y);
  }
  static Grads gradient(const GradCall& c);
};
using exponential = RuleList<Exp, Expm1, Log, Log1p, Sqrt, Rsqrt, Reciprocal, Sigmoid, LogSigmoid, Softplus, Tanh, Pow,
                             TanhGrad, SigmoidGrad>;

}  // namespace rules
}  // namespace TANDEM_NS
