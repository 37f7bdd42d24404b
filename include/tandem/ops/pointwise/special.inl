// Definitions of ops/pointwise/special.hpp: ops, calls, checks of values, gradients.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/pointwise/elements.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/complex_math.hpp"
#include "tandem/ops/pointwise/define.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::detail {

// Returns the index of the first zero element, or -1. For integers of any width and sign, zero has all bits zero.
template <class U>
i64 first_zero(const Operand& x) {
  const U* p = x.as<const U>();
  for (i64 i = 0; i < x.size(); ++i)
    if (p[i] == 0) return i;
  return -1;
}
inline void check_divisor(const KernelCall& c) {
  const Operand& b = c.in[1];
  if (!is_integer(b.spec->dtype) || c.out[0].size() == 0) return;
  const std::size_t width = size_of(b.spec->dtype);
  const i64 at = width == 1   ? first_zero<std::uint8_t>(b)
                 : width == 2 ? first_zero<std::uint16_t>(b)
                 : width == 4 ? first_zero<std::uint32_t>(b)
                              : first_zero<u64>(b);
  if (at >= 0)
    errors::raise<errors::InvalidArgumentError>(c.op, "integer division by zero: " + to_string(*c.in[0].spec) + " x " +
                                                          to_string(*b.spec) + ", element " + std::to_string(at) +
                                                          " of the divisor is 0");
}

#if TANDEM_DEFINES
template <class T>
bool bounds_cross(const KernelCall& c) {
  const T *low = c.in[1].as<const T>(), *high = c.in[2].as<const T>();
  if (c.in[1].size() == 1 && c.in[2].size() == 1) return *low > *high;
  bool found = false;
  cpu::for_each_element(c.in.subspan(1), c.out[0].shape(),
                        [&](i64, const i64* at) { found = found || low[at[0]] > high[at[1]]; });
  return found;
}
template <class H>
struct HalfLess : H {
  friend bool operator>(const HalfLess& a, const HalfLess& b) {
    return static_cast<float>(static_cast<const H&>(a)) > static_cast<float>(static_cast<const H&>(b));
  }
};
TANDEM_INLINE bool bounds_cross_any(const KernelCall& c) {
  switch (c.in[1].spec->dtype) {
    case DType::float32: return bounds_cross<float>(c);
    case DType::float64: return bounds_cross<double>(c);
    case DType::int8: return bounds_cross<std::int8_t>(c);
    case DType::int16: return bounds_cross<std::int16_t>(c);
    case DType::int32: return bounds_cross<std::int32_t>(c);
    case DType::int64: return bounds_cross<i64>(c);
    case DType::uint8: return bounds_cross<std::uint8_t>(c);
    case DType::uint16: return bounds_cross<std::uint16_t>(c);
    case DType::uint32: return bounds_cross<std::uint32_t>(c);
    case DType::uint64: return bounds_cross<u64>(c);
    case DType::float16: return bounds_cross<HalfLess<Half>>(c);
    default: return bounds_cross<HalfLess<BFloat16>>(c);
  }
}
#endif
// Returns 1 where x is not 0, else 0, in x's dtype.
inline Tensor ones_off_zero(const Tensor& x) { return cast(x != 0, x.dtype()); }

}  // namespace TANDEM_NS::detail

namespace TANDEM_NS::rules {

/// Integer quotient a / b, rounded toward zero. Never traps: division by 0 returns 0, and the lowest integer divided
/// by -1 returns itself.
template <Integer T>
TANDEM_HD T whole_quotient(T a, T b) {
  if (b == T(0)) return T(0);
  if constexpr (std::is_signed_v<T>) {
    if (b == T(-1)) return static_cast<T>(u64(0) - static_cast<u64>(a));
  }
  return static_cast<T>(a / b);
}
/// The remainder of whole_quotient.
template <Integer T>
TANDEM_HD T whole_rest(T a, T b) {
  return static_cast<T>(static_cast<u64>(a) - static_cast<u64>(whole_quotient(a, b)) * static_cast<u64>(b));
}
/// Returns the integer nearest to (a - rest) / b, which is an integer except for rounding errors; a / b if it is not
/// finite.
template <Float T>
TANDEM_HD T exact_quotient(T a, T b, T rest) {
  const T q = a / b;
  return is_finite(q) ? round((a - rest) / b) : q;
}
template <class T>
TANDEM_HD bool floor_differs(T rest, T b) {
  return rest != T(0) && (rest < T(0)) != (b < T(0));
}

// `rejects` is the condition of `check` for a single element; a GPU kernel reports it to the host
// (cuda/pointwise/pointwise.hpp).
inline constexpr const char* zero_divisor = "is an integer division by zero";
template <class V>
TANDEM_HD bool is_zero_divisor(V b) {
  if constexpr (Integer<V>) return b == V(0);
  else return false;
}

struct floordiv_rule : Binary<reals, Saves::nothing, lanewise | non_differentiable> {
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
  static void check(const KernelCall& c) { tandem::detail::check_divisor(c); }
};
struct floormod_rule : Binary<reals, Saves::inputs, lanewise> {
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
  static void check(const KernelCall& c) { tandem::detail::check_divisor(c); }
  static Grads gradient(const GradCall& c) {
    return {c.g[0], c.needs(1) ? Gradient(-(c.g[0] * floordiv(c.in[0], c.in[1]))) : Gradient()};
  }
};
struct truncatediv_rule : Binary<reals, Saves::nothing, lanewise | non_differentiable> {
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
  static void check(const KernelCall& c) { tandem::detail::check_divisor(c); }
};
struct truncatemod_rule : Binary<reals, Saves::nothing, lanewise | non_differentiable> {
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
  static void check(const KernelCall& c) { tandem::detail::check_divisor(c); }
};

struct div_no_nan_rule : Binary<floats | complexes, Saves::all> {
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return select(b == V(0), V(0), a / b);
  }
  static Grads gradient(const GradCall& c) {
    const Tensor q = div_no_nan(c.g[0], tandem::conj(c.in[1]));
    return {q, c.needs(1) ? Gradient(-tandem::detail::times_conjugate(q, c.out[0])) : Gradient()};
  }
};
struct multiply_no_nan_rule : Binary<floats | complexes, Saves::inputs> {
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return select(b == V(0), V(0), a * b);
  }
  static Grads gradient(const GradCall& c) {
    return {c.needs(0) ? Gradient(multiply_no_nan(c.g[0], tandem::conj(c.in[1]))) : Gradient(),
            c.needs(1) ? Gradient(multiply_no_nan(tandem::conj(c.in[0]), c.g[0])) : Gradient()};
  }
};
struct squared_difference_rule : Binary<numbers, Saves::inputs, commutative> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    const V d = a - b;
    if constexpr (ComplexNumber<V>) return V(d.real() * d.real() + d.imag() * d.imag(), 0);
    else return d * d;
  }
  static Grads gradient(const GradCall& c) {
    const Tensor d = c.in[0] - c.in[1], &g = c.g[0];
    const Tensor r = is_complex(d.dtype()) ? (g + tandem::conj(g)) * d : g * (d + d);
    return {r, c.needs(1) ? Gradient(-r) : Gradient()};
  }
};
struct hypot_rule : Binary<floats, Saves::all> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    const V infinity(std::numeric_limits<lane_t<V>>::infinity());
    const V x = abs(a), y = abs(b), larger = max(x, y);
    const V ratio = select(larger == V(0), V(0), min(x, y) / larger);
    const V r = larger * sqrt(V(1) + ratio * ratio);
    return select(x == infinity, infinity, select(y == infinity, infinity, r));
  }
  static Grads gradient(const GradCall& c) {
    const auto slope = [&](std::size_t i) { return c.g[0] * div_no_nan(c.in[i], c.out[0]); };
    return {c.needs(0) ? Gradient(slope(0)) : Gradient(), c.needs(1) ? Gradient(slope(1)) : Gradient()};
  }
};
struct xlogy_rule : Binary<floats | complexes, Saves::inputs> {
  static constexpr const char* input_names = "x, y";
  template <class V>
  static TANDEM_HD V forward(V x, V y) {
    if constexpr (ComplexNumber<V>) return select(x == V(0), V(0), x * complex_log(y));
    else return select(x == V(0), V(0), x * log(y));
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &x = c.in[0], &y = c.in[1];
    return {c.needs(0) ? Gradient(tandem::detail::times_conjugate(c.g[0], xlogy(tandem::detail::ones_off_zero(x), y)))
                       : Gradient(),
            c.needs(1) ? Gradient(tandem::detail::times_conjugate(c.g[0], xdivy(x, y))) : Gradient()};
  }
};
struct xlog1py_rule : Binary<floats | complexes, Saves::inputs> {
  static constexpr const char* input_names = "x, y";
  template <class V>
  static TANDEM_HD V forward(V x, V y) {
    if constexpr (ComplexNumber<V>) return select(x == V(0), V(0), x * complex_log1p(y));
    else return select(x == V(0), V(0), x * log1p(y));
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &x = c.in[0], &y = c.in[1];
    return {c.needs(0) ? Gradient(tandem::detail::times_conjugate(c.g[0], xlog1py(tandem::detail::ones_off_zero(x), y)))
                       : Gradient(),
            c.needs(1) ? Gradient(tandem::detail::times_conjugate(c.g[0], xdivy(x, y + 1))) : Gradient()};
  }
};
struct xdivy_rule : Binary<floats | complexes, Saves::inputs> {
  static constexpr const char* input_names = "x, y";
  static constexpr bool costly = false;
  template <class V>
  static TANDEM_HD V forward(V x, V y) {
    return select(x == V(0), V(0), x / y);
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &x = c.in[0], &y = c.in[1];
    return {c.needs(0) ? Gradient(tandem::detail::times_conjugate(c.g[0], xdivy(tandem::detail::ones_off_zero(x), y)))
                       : Gradient(),
            c.needs(1) ? Gradient(-tandem::detail::times_conjugate(c.g[0], xdivy(xdivy(x, y), y))) : Gradient()};
  }
};
struct clip_by_value_rule : Rule<3, reals, Saves::inputs> {
  static constexpr const char* input_names = "x, low, high";
  template <class V>
  static TANDEM_HD V forward(V x, V low, V high) {
    return min(max(x, low), high);
  }
  static constexpr const char* rejection = "has a lower bound above the upper bound";
  template <class V>
  static TANDEM_HD bool rejects(V, V low, V high) {
    return low > high;
  }
  static void check(const KernelCall& c) {
    if (tandem::detail::bounds_cross_any(c))
      errors::raise<errors::InvalidArgumentError>(
          c.op, "the lower bound is above the upper bound: " + to_string(*c.in[0].spec) + " x " +
                    to_string(*c.in[1].spec) + " x " + to_string(*c.in[2].spec));
  }
  static Grads gradient(const GradCall& c) {
    const Tensor &g = c.g[0], &x = c.in[0], &low = c.in[1], &high = c.in[2];
    Grads r{Gradient(), Gradient(), Gradient()};
    if (c.needs(0)) r[0] = where(logical_and(x >= low, x <= high), g, 0);
    if (c.needs(1)) r[1] = where(x < low, g, 0);
    if (c.needs(2)) r[2] = where(x > high, g, 0);
    return r;
  }
};
struct erf_rule : Unary<floats, Saves::inputs> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return erf(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) {
    return g * exp(-square(x)) * 1.1283791670955126;  // 2 / sqrt(pi)
  }
};
struct erfc_rule : Unary<floats, Saves::inputs, lanewise> {
  template <class V>
  static TANDEM_HD V forward(V x) {
    return erfc(x);
  }
  static Tensor gradient(const Tensor& g, const Tensor& x) { return g * exp(-square(x)) * -1.1283791670955126; }
};
struct nextafter_rule : Binary<dtypes::floating, Saves::nothing, lanewise | non_differentiable | own_width> {
  template <class V>
  static TANDEM_HD V forward(V a, V b) {
    return nextafter(a, b);
  }
};

}  // namespace TANDEM_NS::rules

namespace TANDEM_NS {

TANDEM_DEFINE_OPS(TANDEM_SPECIAL_OPS)
TANDEM_DEFINE_FUNCTIONS(TANDEM_SPECIAL_OPS)

#if TANDEM_DEFINES
TANDEM_INLINE Tensor detail::operators::operator%(const Tensor& a, const Tensor& b) {
  return floormod(a, b, no_options);
}
namespace detail {
// Halves by their bits, whose order is that of the magnitudes.
TANDEM_INLINE Tensor next_half(const Tensor& a, const Tensor& b, const OpOptions& o) {
  const CallSite named(o, "nextafter");
  const DType d = a.dtype();
  const Tensor bits = bitcast(a, DType::int16), one = scalar_like(1, bits), least = bitcast(one, d);
  const Tensor away = equal(greater(b, a), greater(a, 0));  // from zero
  const Tensor moved = bitcast(bits + where(away, one, negative(one)), d);
  const Tensor stepped = where(equal(a, 0), where(greater(b, 0), least, -least), moved);
  return where(equal(a, b), b, where(logical_or(is_nan(a), is_nan(b)), a + b, stepped), o);
}
}  // namespace detail
TANDEM_INLINE Tensor nextafter(const Tensor& a, const Tensor& b, OpOptions o) {
  const bool halves = dtypes::half_floating.has(a.dtype()) && a.dtype() == b.dtype();
  return halves ? detail::next_half(a, b, o) : call(nextafter_op, o, a, b);
}
TANDEM_INLINE Tensor clip_by_value(const Tensor& x, const Tensor& low, const Tensor& high, OpOptions o) {
  return call(clip_by_value_op, o, x, low, high);
}
#endif

}  // namespace TANDEM_NS
