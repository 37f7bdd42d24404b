// Every function that a pointwise rule may call, for one number, so that an unqualified call never resolves to
// <math.h>'s abs(int), and the traits that rules declare for the loops. Packs have their own overloads, found by
// argument type. Usable in CUDA device code.
// Not here: the rules (ops/pointwise), the packs (cpu/simd/pack.inc, cpu/simd/math.inc).
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "tandem/base/dtype.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS::rules {

namespace detail {
template <class V>
struct ValueTraits {  // one number
  using Mask = bool;
  using Lane = V;
  template <class U>
  using rebind = U;
};
template <class V>
  requires requires { typename V::Truth; }
struct ValueTraits<V> {  // a pack
  using Mask = typename V::Truth;
  using Lane = typename V::Lane;
  template <class U>
  using rebind = typename V::template rebind<U>;
};
}  // namespace detail

/// The type of comparisons of V: bool, or a mask with as many lanes.
template <class V>
using mask_t = typename detail::ValueTraits<V>::Mask;
/// The element type of V.
template <class V>
using lane_t = typename detail::ValueTraits<V>::Lane;
/// A V with the same number of lanes of type U.
template <class V, class U>
using rebind_t = typename detail::ValueTraits<V>::template rebind<U>;

// What a rule declares. Its info (ops/rule.hpp) says among other things:
//   info.first_is_mask                            the first input is a bool_ tensor, passed to forward as mask_t<V>
//   info.lanewise                                 forward takes one number at a time
// and optionally:
//   static constexpr bool costly = true;          worth a second thread earlier; default: rules for floats only
//   static constexpr bool reads_width = true;     not int64's result truncated to the width (shifts, V::rebind
//                                                 results)
//   using Params = SomeAttrs;                     forward's first parameter is `const Params&`, the call's attributes
//   static void check(const KernelCall&);         runs before the loop; throws data-dependent errors (division by
//                                                 zero)
namespace detail {
struct NoParams {};
template <class R>
struct ParamsOf {
  using type = NoParams;
};
template <class R>
  requires requires { typename R::Params; }
struct ParamsOf<R> {
  using type = typename R::Params;
};
}  // namespace detail
template <class R>
using ParamsOf = typename detail::ParamsOf<R>::type;
template <class R>
inline constexpr bool has_params = requires {
  typename R::Params;
};
template <class R>
inline constexpr bool takes_mask = R::info.first_is_mask;
template <class R>
inline constexpr bool is_lanewise = R::info.lanewise;
template <class R>
constexpr bool is_costly_of() {
  if constexpr (requires { R::costly; }) return R::costly;
  return is_lanewise<R> || !R::info.dtypes.has(DType::int32);
}
template <class R>
inline constexpr bool is_costly = is_costly_of<R>();
template <class R>
TANDEM_HD ParamsOf<R> params_of(const void* attrs) {
  if constexpr (has_params<R>) {
    return *static_cast<const ParamsOf<R>*>(attrs);
  } else {
    return {};
  }
}
/// Calls R::forward with or without parameters.
template <class R, class... V>
TANDEM_HD auto forward(const ParamsOf<R>& params, V... x) {
  if constexpr (has_params<R>) {
    return R::forward(params, x...);
  } else {
    return R::forward(x...);
  }
}

template <class T>
concept Number = std::is_arithmetic_v<T>;
template <class T>
concept Float = std::is_floating_point_v<T>;
template <class T>
concept Integer = std::is_integral_v<T>;

#define TANDEM_SCALAR1(name)                             \
  TANDEM_HD float name(float x) { return ::name##f(x); } \
  TANDEM_HD double name(double x) { return ::name(x); }
#define TANDEM_SCALAR2(name)                                         \
  TANDEM_HD float name(float x, float y) { return ::name##f(x, y); } \
  TANDEM_HD double name(double x, double y) { return ::name(x, y); }
// With a pack overload.
TANDEM_SCALAR1(exp)
TANDEM_SCALAR1(expm1)
TANDEM_SCALAR1(log)
TANDEM_SCALAR1(log1p)
TANDEM_SCALAR1(tanh)
TANDEM_SCALAR1(sin)
TANDEM_SCALAR1(cos)
TANDEM_SCALAR1(erf)
TANDEM_SCALAR1(sqrt)
TANDEM_SCALAR1(floor)
TANDEM_SCALAR1(ceil)
TANDEM_SCALAR1(trunc)
TANDEM_SCALAR2(copysign)
// Without a pack overload: for lanewise rules.
TANDEM_SCALAR1(exp2)
TANDEM_SCALAR1(log2)
TANDEM_SCALAR1(log10)
TANDEM_SCALAR1(tan)
TANDEM_SCALAR1(asin)
TANDEM_SCALAR1(acos)
TANDEM_SCALAR1(atan)
TANDEM_SCALAR1(sinh)
TANDEM_SCALAR1(cosh)
TANDEM_SCALAR1(asinh)
TANDEM_SCALAR1(acosh)
TANDEM_SCALAR1(atanh)
TANDEM_SCALAR1(erfc)
TANDEM_SCALAR1(cbrt)
TANDEM_SCALAR2(pow)
TANDEM_SCALAR2(atan2)
TANDEM_SCALAR2(fmod)
TANDEM_SCALAR2(hypot)
TANDEM_SCALAR2(nextafter)
#undef TANDEM_SCALAR1
#undef TANDEM_SCALAR2

/// log |Gamma(x)|. Uses the reentrant form where available, because lgamma writes the global signgam.
TANDEM_HD float lgamma(float x) {
#if defined(__CUDA_ARCH__) || !defined(__GLIBC__)
  return ::lgammaf(x);
#else
  int sign;
  return ::lgammaf_r(x, &sign);
#endif
}
TANDEM_HD double lgamma(double x) {
#if defined(__CUDA_ARCH__) || !defined(__GLIBC__)
  return ::lgamma(x);
#else
  int sign;
  return ::lgamma_r(x, &sign);
#endif
}

/// Rounds to the nearest integer, ties to even (the rounding mode is never changed).
TANDEM_HD float round(float x) { return ::rintf(x); }
TANDEM_HD double round(double x) { return ::rint(x); }
template <Integer T>
TANDEM_HD T round(T x) {
  return x;
}
template <Integer T>
TANDEM_HD T floor(T x) {
  return x;
}
template <Integer T>
TANDEM_HD T ceil(T x) {
  return x;
}
template <Integer T>
TANDEM_HD T trunc(T x) {
  return x;
}

/// a * b + c, fused on the GPU only: without the instruction, a fused form is a hundred times slower.
template <Number T>
TANDEM_HD T fma(T a, T b, T c) {
#ifdef __CUDA_ARCH__
  if constexpr (sizeof(T) == 4 && Float<T>) return ::fmaf(a, b, c);
  if constexpr (sizeof(T) == 8 && Float<T>) return ::fma(a, b, c);
#endif
  return a * b + c;
}

/// 1 / (1 + e^-x), computed from e^-|x|, because e^-x overflows where the result is still finite.
template <Float T>
TANDEM_HD T logistic(T x) {
  const T e = exp(-(x < T(0) ? -x : x));
  return (x < T(0) ? e : T(1)) / (T(1) + e);
}

/// f * e^(-x^2 / 2), accurate also far from 0 and where it is subnormal; x^2 must not overflow. There e^y is as many
/// times less accurate than y as y is large, so the rounding error of y = -x^2 / 2 is computed, too.
template <Float T>
TANDEM_HD T times_gaussian(T f, T x) {
  constexpr T split = sizeof(T) == 4 ? T(4097) : T(134217729), smallest = sizeof(T) == 4 ? T(-87) : T(-708);
  const T y = T(-0.5) * x * x, upper = split * x - (split * x - x), lower = x - upper;
  const T error = T(-0.5) * ((upper * upper + T(2) * y) + T(2) * upper * lower + lower * lower);
  const bool far = y < smallest;  // e^y would be rounded as a subnormal number before it is multiplied
  const T e = exp(far ? T(0.5) * y : y);
  return (f + f * error) * e * (far ? e : T(1));
}

template <Float T>
TANDEM_HD T abs(T x) {
  return copysign(x, T(1));
}
/// The absolute value. The lowest integer is its own absolute value.
template <Integer T>
TANDEM_HD T abs(T x) {
  if constexpr (std::is_signed_v<T>) {
    using U = std::make_unsigned_t<T>;
    return x < T(0) ? static_cast<T>(U(0) - static_cast<U>(x)) : x;
  } else {
    return x;
  }
}
/// The sign: -1, 0 or 1. NaN and -0 are returned unchanged.
template <Number T>
TANDEM_HD T sign(T x) {
  return x > T(0) ? T(1) : x < T(0) ? T(T(0) - T(1)) : x;
}
/// The larger and the smaller of two numbers. A NaN in either operand propagates.
template <Number T>
TANDEM_HD T max(T a, T b) {
  return a < b || b != b ? b : a;
}
template <Number T>
TANDEM_HD T min(T a, T b) {
  return b < a || b != b ? b : a;
}
template <Number T>
TANDEM_HD T select(bool m, T a, T b) {
  return m ? a : b;
}
TANDEM_HD bool any(bool m) { return m; }
TANDEM_HD bool all(bool m) { return m; }
/// Converts a mask for lanes of U, for rules that select among converted packs.
template <class U>
TANDEM_HD bool mask_cast(bool m) {
  return m;
}

template <Number T>
TANDEM_HD bool is_nan(T x) {
  return x != x;
}
template <Number T>
TANDEM_HD bool is_inf(T x) {
  if constexpr (Float<T>) {
    return abs(x) == std::numeric_limits<T>::infinity();
  } else {
    return false;
  }
}
template <Number T>
TANDEM_HD bool is_finite(T x) {
  if constexpr (Float<T>) {
    return abs(x) < std::numeric_limits<T>::infinity();
  } else {
    return true;
  }
}
/// The sign bit, also of -0 and NaN.
template <Number T>
TANDEM_HD bool is_negative(T x) {
  if constexpr (Float<T>) {
    return copysign(T(1), x) < T(0);
  } else {
    return x < T(0);
  }
}

/// Converts x to U. Integers wrap. A float is truncated to an integer and saturates; NaN becomes 0.
template <Number U, Number T>
TANDEM_HD U convert(T x) {
  if constexpr (Float<T> && Integer<U>) {
    constexpr U highest = std::numeric_limits<U>::max(), lowest = std::numeric_limits<U>::min();
    constexpr T beyond = static_cast<T>(highest / 2 + 1) * T(2);
    return x != x ? U(0) : x >= beyond ? highest : x < static_cast<T>(lowest) ? lowest : static_cast<U>(x);
  } else {
    return static_cast<U>(x);
  }
}

}  // namespace TANDEM_NS::rules
