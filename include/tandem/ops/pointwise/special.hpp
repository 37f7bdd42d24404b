// Whole division, division that takes zeros, clipping and the error functions, element by element: floordiv floormod
// truncatediv truncatemod div_no_nan multiply_no_nan squared_difference hypot xlogy xlog1py xdivy clip_by_value erf
// erfc nextafter.
#pragma once
#include "tandem/base/scalar_math.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tandem/ops/rule.hpp"

namespace TANDEM_NS {

/// a / b rounded toward minus infinity: floordiv(-7, 2) = -4. The quotient is exact before it is rounded, so that
/// a = b * floordiv(a, b) + floormod(a, b); an infinite or undefined quotient stays as it is.
///   a, b      real numbers of one dtype; shapes that broadcast
///   returns   the broadcast shape, same dtype; the lowest integer over -1 is itself
///   throws    errors::InvalidArgumentError if an integer is divided by zero, dtypes differ or shapes do not broadcast
///   gradient  none (blocked)
TANDEM_API Tensor floordiv(const Tensor& a, const Tensor& b, OpOptions = {});
/// The remainder of floordiv, with the sign of b; dtypes and errors as floordiv. gradient: g, -g * floordiv(a, b)
TANDEM_API Tensor floormod(const Tensor& a, const Tensor& b, OpOptions = {});
/// floormod by another name.
inline Tensor mod(const Tensor& a, const Tensor& b, OpOptions o = {}) { return floormod(a, b, o); }
/// a / b rounded toward zero, as in C; dtypes, errors and gradient as floordiv.
TANDEM_API Tensor truncatediv(const Tensor& a, const Tensor& b, OpOptions = {});
/// The remainder of truncatediv, with the sign of a; dtypes, errors and gradient as floordiv.
TANDEM_API Tensor truncatemod(const Tensor& a, const Tensor& b, OpOptions = {});

/// a / b, and 0 where b is 0. Floating, one dtype; shapes broadcast. gradient: as divide, 0 where b is 0
TANDEM_API Tensor div_no_nan(const Tensor& a, const Tensor& b, OpOptions = {});
/// a * b, and 0 where b is 0, even if a is infinite or NaN. Floating, one dtype. gradient: as multiply, without NaN
TANDEM_API Tensor multiply_no_nan(const Tensor& a, const Tensor& b, OpOptions = {});
/// (a - b)^2; numbers of one dtype. gradient: 2 * g * (a - b); its negative
TANDEM_API Tensor squared_difference(const Tensor& a, const Tensor& b, OpOptions = {});
/// sqrt(a^2 + b^2), also where the squares overflow or vanish; infinite where a or b is, even beside NaN. Floating, one
/// dtype; shapes broadcast. gradient: g * a / y; g * b / y; 0 where y is 0
TANDEM_API Tensor hypot(const Tensor& a, const Tensor& b, OpOptions = {});
/// x * log(y), and 0 where x is 0, whatever y is. Floating, one dtype. gradient: g * log(y), 0 where x is 0; g * x / y
TANDEM_API Tensor xlogy(const Tensor& x, const Tensor& y, OpOptions = {});
/// x * log(1 + y), and 0 where x is 0. As xlogy. gradient: g * log1p(y), 0 where x is 0; g * x / (1 + y)
TANDEM_API Tensor xlog1py(const Tensor& x, const Tensor& y, OpOptions = {});
/// x / y, and 0 where x is 0, even if y is. As xlogy. gradient: g / y, 0 where x is 0; -g * x / y^2
TANDEM_API Tensor xdivy(const Tensor& x, const Tensor& y, OpOptions = {});

/// x moved into [low, high]; NaN stays.
///   x, low, high  real numbers of one dtype; shapes that broadcast
///   throws        errors::InvalidArgumentError if low > high anywhere, dtypes differ or shapes do not broadcast
///   gradient      x: g inside, the ends included; low: g below; high: g above; 0 elsewhere
TANDEM_API Tensor clip_by_value(const Tensor& x, const Tensor& low, const Tensor& high, OpOptions = {});
inline Tensor clip_by_value(const Tensor& x, Scalar low, Scalar high, OpOptions o = {}) {
  return clip_by_value(x, tandem::detail::scalar_like(low, x), tandem::detail::scalar_like(high, x), o);
}

/// The error function. Floating; same shape and dtype. gradient: g * 2 / sqrt(pi) * e^(-x^2)
TANDEM_API Tensor erf(const Tensor& x, OpOptions = {});
/// 1 - erf(x), exact for large x. As erf. gradient: -g * 2 / sqrt(pi) * e^(-x^2)
TANDEM_API Tensor erfc(const Tensor& x, OpOptions = {});

/// The next number after a in the direction of b: nextafter(0, 1) is the smallest subnormal. float32 and float64.
///   gradient  none (blocked)
TANDEM_API Tensor nextafter(const Tensor& a, const Tensor& b, OpOptions = {});

TANDEM_API Tensor operator%(const Tensor& a, const Tensor& b);
inline Tensor& operator%=(Tensor& x, const Tensor& y) { return x = x % y; }
inline Tensor& operator%=(Tensor& x, Scalar y) { return x = x % tandem::detail::scalar_like(y, x); }
TANDEM_SCALAR_OPERATORS(%)
TANDEM_SCALAR_OVERLOADS(floordiv)
TANDEM_SCALAR_OVERLOADS(floormod)
TANDEM_SCALAR_OVERLOADS(mod)
TANDEM_SCALAR_OVERLOADS(truncatediv)
TANDEM_SCALAR_OVERLOADS(truncatemod)
TANDEM_SCALAR_OVERLOADS(div_no_nan)
TANDEM_SCALAR_OVERLOADS(multiply_no_nan)
TANDEM_SCALAR_OVERLOADS(squared_difference)
TANDEM_SCALAR_OVERLOADS(hypot)
TANDEM_SCALAR_OVERLOADS(xlogy)
TANDEM_SCALAR_OVERLOADS(xlog1py)
TANDEM_SCALAR_OVERLOADS(xdivy)
TANDEM_SCALAR_OVERLOADS(nextafter)

extern TANDEM_API const OpDef floordiv_op, floormod_op, truncatediv_op, truncatemod_op, div_no_nan_op,
    multiply_no_nan_op, squared_difference_op, hypot_op, xlogy_op, xlog1py_op, xdivy_op, clip_by_value_op, erf_op,
    erfc_op, nextafter_op;

namespace rules {

/// a / b toward zero for whole numbers; never traps (by 0: 0; the lowest number by -1: itself).
template <Integer T>
TANDEM_HD T whole_quotient(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return static_cast<T>(u64(0) - static_cast<u64>(a));
  }
  return static_cast<T>(a / b);
}
/// What whole_quotient leaves over.
template <Integer T>
TANDEM_HD T whole_rest(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) - static_cast<u64>(whole_quotient(a, b)) * static_cast<u64>(b));
}
/// The nearest whole number to (a - rest) / b, which is one but for rounding; a / b where that is no finite number.
template <Float T>
TANDEM_HD T exact_quotient(T a, T b, T rest) {
  const T q = a / b;
  return is_finite(q) ? round((a - rest) / b) : q;
}
template <class T>
TANDEM_HD bool floor_differs(T rest, T b) {
  return rest != T(0) && (rest < T(0)) != (b < T(0));
}

// `rejects` is what `check` looks for, for one element: a GPU kernel reports it to the host (cuda/pointwise.hpp).
inline constexpr const char* zero_divisor = "is an integer division by zero";
template <class V>
TANDEM_HD bool is_zero_divisor(V b) {
  if constexpr (Integer<V>) return b == V(0);
  else return false;
}

constexpr Info whole(const char* name) {
  return {.name = name, .arity = 2, .dtypes = reals, .saves = Saves::nothing, .lanewise = true, .blocked = true};
}
struct FloorDiv {
  static constexpr Info info = whole("floordiv");
  static constexpr const OpDef& row = floordiv_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    if constexpr (Integer<V>) {
      return static_cast<V>(whole_quotient(a, b) - V(floor_differs(whole_rest(a, b), b)));
    } else {
      const V rest = fmod(a, b), q = exact_quotient(a, b, rest);
      return floor_differs(rest, b) && is_finite(a / b) ? q - V(1) : q;
    }
  }
  static constexpr const char* rejection = zero_divisor;
  template <class V>
  static TANDEM_HD bool rejects(V, V b) {
    return is_zero_divisor(b);
  }
  static void check(const KernelCall& c);
};
struct FloorMod {
  static constexpr Info info{.name = "floormod", .arity = 2, .dtypes = reals, .saves = Saves::inputs, .lanewise = true};
  static constexpr const OpDef& row = floormod_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    if constexpr (Integer<V>) {
      const V rest = whole_rest(a, b);
      return floor_differs(rest, b) ? static_cast<V>(rest + b) : rest;
    } else {
      const V rest = fmod(a, b);
      return floor_differs(rest, b) ? rest + b : rest == V(0) ? copysign(rest, b) : rest;
    }
  }
  static constexpr const char* rejection = zero_divisor;
  template <class V>
  static TANDEM_HD bool rejects(V, V b) {
    return is_zero_divisor(b);
  }
  static void check(const KernelCall& c);
  static Grads gradient(const GradCall& c);
};
struct TruncateDiv {
  static constexpr Info info = whole("truncatediv");
  static constexpr const OpDef& row = truncatediv_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    if constexpr (Integer<V>) return whole_quotient(a, b);
    else return exact_quotient(a, b, fmod(a, b));
  }
  static constexpr const char* rejection = zero_divisor;
  template <class V>
  static TANDEM_HD bool rejects(V, V b) {
    return is_zero_divisor(b);
  }
  static void check(const KernelCall& c);
};
struct TruncateMod {
  static constexpr Info info = whole("truncatemod");
  static constexpr const OpDef& row = truncatemod_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    if constexpr (Integer<V>) return whole_rest(a, b);
    else return fmod(a, b);
  }
  static constexpr const char* rejection = zero_divisor;
  template <class V>
  static TANDEM_HD bool rejects(V, V b) {
    return is_zero_divisor(b);
  }
  static void check(const KernelCall& c);
};

struct DivNoNan {
  static constexpr auto info = binary("div_no_nan", floats, Saves::all);
  static constexpr const OpDef& row = div_no_nan_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return select(b == V(0), V(0), a / b);
  }
  static Grads gradient(const GradCall& c);
};
struct MultiplyNoNan {
  static constexpr auto info = binary("multiply_no_nan", floats, Saves::inputs);
  static constexpr const OpDef& row = multiply_no_nan_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return select(b == V(0), V(0), a * b);
  }
  static Grads gradient(const GradCall& c);
};
struct SquaredDifference {
  static constexpr auto info = binary("squared_difference", numbers, Saves::inputs);
  static constexpr const OpDef& row = squared_difference_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return (a - b) * (a - b);
  }
  static Grads gradient(const GradCall& c);
};
struct Hypot {
  static constexpr auto info = binary("hypot", floats, Saves::all);
  static constexpr const OpDef& row = hypot_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    const V infinity(std::numeric_limits<lane_t<V>>::infinity());
    const V x = abs(a), y = abs(b), larger = max(x, y);
    const V ratio = select(larger == V(0), V(0), min(x, y) / larger);
    const V r = larger * sqrt(V(1) + ratio * ratio);
    return select(x == infinity, infinity, select(y == infinity, infinity, r));
  }
  static Grads gradient(const GradCall& c);
};
struct Xlogy {
  static constexpr auto info = binary("xlogy", floats, Saves::inputs);
  static constexpr const OpDef& row = xlogy_op;
  template <class V>
  static TANDEM_HD V forward(V x, V y) {
    return select(x == V(0), V(0), x * log(y));
  }
  static Grads gradient(const GradCall& c);
};
struct Xlog1py {
  static constexpr auto info = binary("xlog1py", floats, Saves::inputs);
  static constexpr const OpDef& row = xlog1py_op;
  template <class V>
  static TANDEM_HD V forward(V x, V y) {
    return select(x == V(0), V(0), x * log1p(y));
  }
  static Grads gradient(const GradCall& c);
};
struct Xdivy {
  static constexpr auto info = binary("xdivy", floats, Saves::inputs);
  static constexpr const OpDef& row = xdivy_op;
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x, V y) {
    return select(x == V(0), V(0), x / y);
  }
  static Grads gradient(const GradCall& c);
};
struct ClipByValue {
  static constexpr Info info{.name = "clip_by_value", .arity = 3, .dtypes = reals, .saves = Saves::inputs};
  static constexpr const OpDef& row = clip_by_value_op;
  template <class V>
  static TANDEM_HD V forward(V x, V low, V high) {
    return min(max(x, low), high);
  }
  static constexpr const char* rejection = "has a lower bound above the upper bound";
  template <class V>
  static TANDEM_HD bool rejects(V, V low, V high) {
    return low > high;
  }
  static void check(const KernelCall& c);
  static Grads gradient(const GradCall& c);
};
struct Erf {
  static constexpr auto info = unary("erf", floats, Saves::inputs);
  static constexpr const OpDef& row = erf_op;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return erf(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct Erfc {
  static constexpr auto info = unary("erfc", floats, Saves::inputs);
  static constexpr const OpDef& row = erfc_op;
  static constexpr bool lanewise = true;
  template <class V>
  static TANDEM_HD V forward(V x) {
    return erfc(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x, const Tensor& y);
};
struct NextAfter {
  static constexpr Info info{.name = "nextafter",
                             .arity = 2,
                             .dtypes = dtypes::floating,
                             .saves = Saves::nothing,
                             .lanewise = true,
                             .blocked = true,
                             .own_width = true};
  static constexpr const OpDef& row = nextafter_op;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return nextafter(a, b);
  }
};
using special = RuleList<FloorDiv, FloorMod, TruncateDiv, TruncateMod, DivNoNan, MultiplyNoNan, SquaredDifference,
                         Hypot, Xlogy, Xlog1py, Xdivy, ClipByValue, Erf, Erfc, NextAfter>;

}  // namespace rules
}  // namespace TANDEM_NS
