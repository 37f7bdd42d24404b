// Definitions of ops/pointwise/trig.hpp.
#pragma once
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/row.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"

namespace TANDEM_NS {

TANDEM_INLINE constexpr OpDef sin_op = pointwise_row<rules::Sin>();
TANDEM_INLINE constexpr OpDef cos_op = pointwise_row<rules::Cos>();
TANDEM_INLINE constexpr OpDef tan_op = pointwise_row<rules::Tan>();
TANDEM_INLINE constexpr OpDef asin_op = pointwise_row<rules::Asin>();
TANDEM_INLINE constexpr OpDef acos_op = pointwise_row<rules::Acos>();
TANDEM_INLINE constexpr OpDef atan_op = pointwise_row<rules::Atan>();
TANDEM_INLINE constexpr OpDef sinh_op = pointwise_row<rules::Sinh>();
TANDEM_INLINE constexpr OpDef cosh_op = pointwise_row<rules::Cosh>();
TANDEM_INLINE constexpr OpDef asinh_op = pointwise_row<rules::Asinh>();
TANDEM_INLINE constexpr OpDef acosh_op = pointwise_row<rules::Acosh>();
TANDEM_INLINE constexpr OpDef atanh_op = pointwise_row<rules::Atanh>();
TANDEM_INLINE constexpr OpDef atan2_op = pointwise_row<rules::Atan2>();
TANDEM_INLINE constexpr OpDef floor_op = pointwise_row<rules::Floor>();
TANDEM_INLINE constexpr OpDef ceil_op = pointwise_row<rules::Ceil>();
TANDEM_INLINE constexpr OpDef trunc_op = pointwise_row<rules::Trunc>();
TANDEM_INLINE constexpr OpDef round_op = pointwise_row<rules::Round>();

namespace detail {
template <class R, class... T>
Tensor trigonometry(const OpOptions& o, const T&... x) {
  return call<R, rules::trigonometry>(o, x...);
}
}  // namespace detail

TANDEM_INLINE Tensor sin(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Sin>(o, x); }
TANDEM_INLINE Tensor cos(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Cos>(o, x); }
TANDEM_INLINE Tensor tan(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Tan>(o, x); }
TANDEM_INLINE Tensor asin(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Asin>(o, x); }
TANDEM_INLINE Tensor acos(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Acos>(o, x); }
TANDEM_INLINE Tensor atan(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Atan>(o, x); }
TANDEM_INLINE Tensor sinh(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Sinh>(o, x); }
TANDEM_INLINE Tensor cosh(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Cosh>(o, x); }
TANDEM_INLINE Tensor asinh(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Asinh>(o, x); }
TANDEM_INLINE Tensor acosh(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Acosh>(o, x); }
TANDEM_INLINE Tensor atanh(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Atanh>(o, x); }
TANDEM_INLINE Tensor atan2(const Tensor& y, const Tensor& x, OpOptions o) {
  return detail::trigonometry<rules::Atan2>(o, y, x);
}
TANDEM_INLINE Tensor floor(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Floor>(o, x); }
TANDEM_INLINE Tensor ceil(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Ceil>(o, x); }
TANDEM_INLINE Tensor trunc(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Trunc>(o, x); }
TANDEM_INLINE Tensor round(const Tensor& x, OpOptions o) { return detail::trigonometry<rules::Round>(o, x); }

TANDEM_INLINE Tensor rules::Sin::gradient(const Tensor& g, const Tensor& x, const Tensor&) { return g * cos(x); }
TANDEM_INLINE Tensor rules::Cos::gradient(const Tensor& g, const Tensor& x, const Tensor&) { return -(g * sin(x)); }
TANDEM_INLINE Tensor rules::Tan::gradient(const Tensor& g, const Tensor&, const Tensor& y) {
  return g * (square(y) + 1);
}
TANDEM_INLINE Tensor rules::Asin::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return g / sqrt((1 - x) * (1 + x));
}
TANDEM_INLINE Tensor rules::Acos::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return -(g / sqrt((1 - x) * (1 + x)));
}
TANDEM_INLINE Tensor rules::Atan::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return g / (square(x) + 1);
}
TANDEM_INLINE Tensor rules::Sinh::gradient(const Tensor& g, const Tensor& x, const Tensor&) { return g * cosh(x); }
TANDEM_INLINE Tensor rules::Cosh::gradient(const Tensor& g, const Tensor& x, const Tensor&) { return g * sinh(x); }
TANDEM_INLINE Tensor rules::Asinh::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return g / sqrt(square(x) + 1);
}
TANDEM_INLINE Tensor rules::Acosh::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return g / sqrt((x - 1) * (x + 1));
}
TANDEM_INLINE Tensor rules::Atanh::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return g / ((1 - x) * (1 + x));
}
TANDEM_INLINE Grads rules::Atan2::gradient(const GradCall& c) {
  const Tensor &y = c.in[0], &x = c.in[1], q = div_no_nan(c.g[0], square(x) + square(y));
  return {c.needs(0) ? Gradient(q * x) : Gradient(), c.needs(1) ? Gradient(-(q * y)) : Gradient()};
}

}  // namespace TANDEM_NS
