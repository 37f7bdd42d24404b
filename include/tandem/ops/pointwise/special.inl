// Definitions of ops/pointwise/special.hpp: ops, calls, checks of values, gradients.
#pragma once
#include "tandem/cpu/pointwise/elements.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/row.hpp"
#include "tandem/ops/pointwise/special.hpp"

namespace TANDEM_NS {

TANDEM_INLINE constexpr OpDef floordiv_op = pointwise_row<rules::FloorDiv>();
TANDEM_INLINE constexpr OpDef floormod_op = pointwise_row<rules::FloorMod>();
TANDEM_INLINE constexpr OpDef truncatediv_op = pointwise_row<rules::TruncateDiv>();
TANDEM_INLINE constexpr OpDef truncatemod_op = pointwise_row<rules::TruncateMod>();
TANDEM_INLINE constexpr OpDef div_no_nan_op = pointwise_row<rules::DivNoNan>();
TANDEM_INLINE constexpr OpDef multiply_no_nan_op = pointwise_row<rules::MultiplyNoNan>();
TANDEM_INLINE constexpr OpDef squared_difference_op = pointwise_row<rules::SquaredDifference>();
TANDEM_INLINE constexpr OpDef hypot_op = pointwise_row<rules::Hypot>();
TANDEM_INLINE constexpr OpDef xlogy_op = pointwise_row<rules::Xlogy>();
TANDEM_INLINE constexpr OpDef xlog1py_op = pointwise_row<rules::Xlog1py>();
TANDEM_INLINE constexpr OpDef xdivy_op = pointwise_row<rules::Xdivy>();
TANDEM_INLINE constexpr OpDef clip_by_value_op = pointwise_row<rules::ClipByValue>();
TANDEM_INLINE constexpr OpDef erf_op = pointwise_row<rules::Erf>();
TANDEM_INLINE constexpr OpDef erfc_op = pointwise_row<rules::Erfc>();
TANDEM_INLINE constexpr OpDef nextafter_op = pointwise_row<rules::NextAfter>();

namespace detail {
template <class R, class... T>
Tensor special(const OpOptions& o, const T&... x) {
  return call<R, rules::special>(o, x...);
}

// The first element that is zero, or -1. Integers of any width and sign: zero is all bits zero.
template <class U>
i64 first_zero(const Operand& x) {
  const U* p = x.as<const U>();
  for (i64 i = 0; i < x.size(); ++i)
    if (p[i] == 0) return i;
  return -1;
}
TANDEM_INLINE void check_divisor(const KernelCall& c) {
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
// 1 where x is not 0, else 0, in x's dtype.
TANDEM_INLINE Tensor ones_off_zero(const Tensor& x) { return cast(x != 0, x.dtype()); }
}  // namespace detail

TANDEM_INLINE void rules::FloorDiv::check(const KernelCall& c) { tandem::detail::check_divisor(c); }
TANDEM_INLINE void rules::FloorMod::check(const KernelCall& c) { tandem::detail::check_divisor(c); }
TANDEM_INLINE void rules::TruncateDiv::check(const KernelCall& c) { tandem::detail::check_divisor(c); }
TANDEM_INLINE void rules::TruncateMod::check(const KernelCall& c) { tandem::detail::check_divisor(c); }
TANDEM_INLINE void rules::ClipByValue::check(const KernelCall& c) {
  if (tandem::detail::bounds_cross_any(c))
    errors::raise<errors::InvalidArgumentError>(
        c.op, "the lower bound is above the upper bound: " + to_string(*c.in[0].spec) + " x " +
                  to_string(*c.in[1].spec) + " x " + to_string(*c.in[2].spec));
}

#define TANDEM_SPECIAL(fn, Rule)                                           \
  TANDEM_INLINE Tensor fn(const Tensor& a, const Tensor& b, OpOptions o) { \
    return detail::special<rules::Rule>(o, a, b);                          \
  }
TANDEM_SPECIAL(floordiv, FloorDiv)
TANDEM_SPECIAL(floormod, FloorMod)
TANDEM_SPECIAL(truncatediv, TruncateDiv)
TANDEM_SPECIAL(truncatemod, TruncateMod)
TANDEM_SPECIAL(div_no_nan, DivNoNan)
TANDEM_SPECIAL(multiply_no_nan, MultiplyNoNan)
TANDEM_SPECIAL(squared_difference, SquaredDifference)
TANDEM_SPECIAL(hypot, Hypot)
TANDEM_SPECIAL(xlogy, Xlogy)
TANDEM_SPECIAL(xlog1py, Xlog1py)
TANDEM_SPECIAL(xdivy, Xdivy)
TANDEM_SPECIAL(nextafter, NextAfter)
#undef TANDEM_SPECIAL
TANDEM_INLINE Tensor operator%(const Tensor& a, const Tensor& b) { return floormod(a, b, no_options); }
TANDEM_INLINE Tensor clip_by_value(const Tensor& x, const Tensor& low, const Tensor& high, OpOptions o) {
  return detail::special<rules::ClipByValue>(o, x, low, high);
}
TANDEM_INLINE Tensor erf(const Tensor& x, OpOptions o) { return detail::special<rules::Erf>(o, x); }
TANDEM_INLINE Tensor erfc(const Tensor& x, OpOptions o) { return detail::special<rules::Erfc>(o, x); }

TANDEM_INLINE Grads rules::FloorMod::gradient(const GradCall& c) {
  return {c.g[0], c.needs(1) ? Gradient(-(c.g[0] * floordiv(c.in[0], c.in[1]))) : Gradient()};
}
TANDEM_INLINE Grads rules::DivNoNan::gradient(const GradCall& c) {
  const Tensor q = div_no_nan(c.g[0], c.in[1]);
  return {q, c.needs(1) ? Gradient(-(q * c.out[0])) : Gradient()};
}
TANDEM_INLINE Grads rules::MultiplyNoNan::gradient(const GradCall& c) {
  return {c.needs(0) ? Gradient(multiply_no_nan(c.g[0], c.in[1])) : Gradient(),
          c.needs(1) ? Gradient(multiply_no_nan(c.in[0], c.g[0])) : Gradient()};
}
TANDEM_INLINE Grads rules::SquaredDifference::gradient(const GradCall& c) {
  const Tensor d = c.in[0] - c.in[1], r = tandem::detail::times_conjugate(c.g[0], d + d);
  return {r, c.needs(1) ? Gradient(-r) : Gradient()};
}
TANDEM_INLINE Grads rules::Hypot::gradient(const GradCall& c) {
  const auto slope = [&](std::size_t i) { return c.g[0] * div_no_nan(c.in[i], c.out[0]); };
  return {c.needs(0) ? Gradient(slope(0)) : Gradient(), c.needs(1) ? Gradient(slope(1)) : Gradient()};
}
TANDEM_INLINE Grads rules::Xlogy::gradient(const GradCall& c) {
  const Tensor &x = c.in[0], &y = c.in[1];
  return {c.needs(0) ? Gradient(c.g[0] * xlogy(tandem::detail::ones_off_zero(x), y)) : Gradient(),
          c.needs(1) ? Gradient(c.g[0] * xdivy(x, y)) : Gradient()};
}
TANDEM_INLINE Grads rules::Xlog1py::gradient(const GradCall& c) {
  const Tensor &x = c.in[0], &y = c.in[1];
  return {c.needs(0) ? Gradient(c.g[0] * xlog1py(tandem::detail::ones_off_zero(x), y)) : Gradient(),
          c.needs(1) ? Gradient(c.g[0] * xdivy(x, y + 1)) : Gradient()};
}
TANDEM_INLINE Grads rules::Xdivy::gradient(const GradCall& c) {
  const Tensor &x = c.in[0], &y = c.in[1];
  return {c.needs(0) ? Gradient(c.g[0] * xdivy(tandem::detail::ones_off_zero(x), y)) : Gradient(),
          c.needs(1) ? Gradient(-(c.g[0] * xdivy(xdivy(x, y), y))) : Gradient()};
}
TANDEM_INLINE Grads rules::ClipByValue::gradient(const GradCall& c) {
  const Tensor &g = c.g[0], &x = c.in[0], &low = c.in[1], &high = c.in[2];
  Grads r{Gradient(), Gradient(), Gradient()};
  if (c.needs(0)) r[0] = where(logical_and(x >= low, x <= high), g, 0);
  if (c.needs(1)) r[1] = where(x < low, g, 0);
  if (c.needs(2)) r[2] = where(x > high, g, 0);
  return r;
}
TANDEM_INLINE Tensor rules::Erf::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return g * exp(-square(x)) * 1.1283791670955126;  // 2 / sqrt(pi)
}
TANDEM_INLINE Tensor rules::Erfc::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return g * exp(-square(x)) * -1.1283791670955126;
}

}  // namespace TANDEM_NS
