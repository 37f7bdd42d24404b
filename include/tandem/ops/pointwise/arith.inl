// Definitions of ops/pointwise/arith.hpp.
#pragma once
#include "tandem/base/bytes.hpp"
#include "tandem/cpu/pointwise/elements.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/complex.hpp"
#include "tandem/ops/pointwise/row.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {

namespace detail {
TANDEM_INLINE void add_numbers_or_strings(const KernelCall& c) {
  if (c.in[0].spec->dtype != DType::string) return cpu::pointwise<rules::Add>(c);
  const Bytes *a = c.in[0].as<const Bytes>(), *b = c.in[1].as<const Bytes>();
  Bytes* const out = c.out[0].as<Bytes>();
  cpu::for_each_element(c.in, c.out[0].shape(), [=](i64 i, const i64* at) {
    std::string joined(a[at[0]].view());
    out[i] = Bytes(joined += b[at[1]].view());
  });
}
constexpr OpDef add_row() {
  OpDef r = pointwise_row<rules::Add>();
  r.cpu = &add_numbers_or_strings;
  r.dtypes = r.dtypes | DType::string;
  return r;
}
}  // namespace detail

TANDEM_INLINE constexpr OpDef add_op = detail::add_row();
TANDEM_INLINE constexpr OpDef subtract_op = pointwise_row<rules::Subtract>();
TANDEM_INLINE constexpr OpDef multiply_op = pointwise_row<rules::Multiply>();
TANDEM_INLINE constexpr OpDef divide_op = pointwise_row<rules::Divide>();
TANDEM_INLINE constexpr OpDef negative_op = pointwise_row<rules::Negative>();
TANDEM_INLINE constexpr OpDef abs_op = pointwise_row<rules::Abs>();
TANDEM_INLINE constexpr OpDef sign_op = pointwise_row<rules::Sign>();
TANDEM_INLINE constexpr OpDef square_op = pointwise_row<rules::Square>();
TANDEM_INLINE constexpr OpDef maximum_op = pointwise_row<rules::Maximum>();
TANDEM_INLINE constexpr OpDef minimum_op = pointwise_row<rules::Minimum>();

namespace detail {
template <class R, class... T>
Tensor arith(const OpOptions& o, const T&... x) {
  return call<R, rules::arith>(o, x...);
}
// The dtype that true division computes in.
inline DType division_dtype(DType d) {
  if (!is_integer(d)) return d;
  return size_of(d) <= 2 ? DType::float32 : DType::float64;
}
}  // namespace detail

TANDEM_INLINE Tensor add(const Tensor& a, const Tensor& b, OpOptions o) { return detail::arith<rules::Add>(o, a, b); }
TANDEM_INLINE Tensor subtract(const Tensor& a, const Tensor& b, OpOptions o) {
  return detail::arith<rules::Subtract>(o, a, b);
}
TANDEM_INLINE Tensor multiply(const Tensor& a, const Tensor& b, OpOptions o) {
  return detail::arith<rules::Multiply>(o, a, b);
}
TANDEM_INLINE Tensor divide(const Tensor& a, const Tensor& b, OpOptions o) {
  if (const DType d = a.dtype(); is_integer(d) && d == b.dtype()) {
    const DType to = detail::division_dtype(d);
    return detail::arith<rules::Divide>(o, cast(a, to), cast(b, to));
  }
  return detail::arith<rules::Divide>(o, a, b);
}
TANDEM_INLINE Tensor negative(const Tensor& x, OpOptions o) { return detail::arith<rules::Negative>(o, x); }
TANDEM_INLINE Tensor abs(const Tensor& x, OpOptions o) {
  if (is_complex(x.dtype())) return hypot(real(x), imag(x), o);
  return detail::arith<rules::Abs>(o, x);
}
TANDEM_INLINE Tensor sign(const Tensor& x, OpOptions o) { return detail::arith<rules::Sign>(o, x); }
TANDEM_INLINE Tensor square(const Tensor& x, OpOptions o) { return detail::arith<rules::Square>(o, x); }
TANDEM_INLINE Tensor maximum(const Tensor& a, const Tensor& b, OpOptions o) {
  return detail::arith<rules::Maximum>(o, a, b);
}
TANDEM_INLINE Tensor minimum(const Tensor& a, const Tensor& b, OpOptions o) {
  return detail::arith<rules::Minimum>(o, a, b);
}
TANDEM_INLINE Tensor detail::over(const OpDef& op, const Tensor& a, const Tensor& b, Tensor* first, Tensor* second) {
  if (&op == &divide_op && is_integer(a.dtype())) return divide(a, b, no_options);
  const Tensor* const in[] = {&a, &b};
  return apply_over(op, in, first, second);
}
TANDEM_INLINE Tensor operator+(const Tensor& a, const Tensor& b) { return detail::arith<rules::Add>(no_options, a, b); }
TANDEM_INLINE Tensor operator-(const Tensor& a, const Tensor& b) {
  return detail::arith<rules::Subtract>(no_options, a, b);
}
TANDEM_INLINE Tensor operator*(const Tensor& a, const Tensor& b) {
  return detail::arith<rules::Multiply>(no_options, a, b);
}
TANDEM_INLINE Tensor operator/(const Tensor& a, const Tensor& b) { return divide(a, b, no_options); }
TANDEM_INLINE Tensor operator-(const Tensor& x) { return detail::arith<rules::Negative>(no_options, x); }

TANDEM_INLINE Grads rules::Add::gradient(const GradCall& c) {
  return {c.g[0], c.needs(1) ? Gradient(c.g[0]) : Gradient()};
}
TANDEM_INLINE Grads rules::Subtract::gradient(const GradCall& c) {
  return {c.g[0], c.needs(1) ? Gradient(-c.g[0]) : Gradient()};
}
TANDEM_INLINE Tensor detail::times_conjugate(const Tensor& g, const Tensor& x) {
  return is_complex(x.dtype()) ? g * conjugate(x) : g * x;
}
TANDEM_INLINE Grads rules::Multiply::gradient(const GradCall& c) {
  const Tensor& g = c.g[0];
  const bool complex = is_complex(g.dtype());
  const auto times = [&](const Tensor& x) { return Gradient(complex ? tandem::detail::times_conjugate(g, x) : g * x); };
  return {c.needs(0) ? times(c.in[1]) : Gradient(), c.needs(1) ? times(c.in[0]) : Gradient()};
}
TANDEM_INLINE Grads rules::Divide::gradient(const GradCall& c) {
  const Tensor q = c.g[0] / tandem::detail::conjugate(c.in[1]);
  return {q, c.needs(1) ? Gradient(-tandem::detail::times_conjugate(q, c.out[0])) : Gradient()};
}
TANDEM_INLINE Tensor rules::Negative::gradient(const Tensor& g, const Tensor&, const Tensor&) { return -g; }
TANDEM_INLINE Tensor rules::Abs::gradient(const Tensor& g, const Tensor& x, const Tensor&) { return g * sign(x); }
TANDEM_INLINE Tensor rules::Square::gradient(const Tensor& g, const Tensor& x, const Tensor&) {
  return tandem::detail::times_conjugate(g, x + x);
}

namespace detail {
// All of g to the side that was taken.
inline Grads by_choice(const GradCall& c, const Tensor& first_taken) {
  const Tensor zero = scalar_like(0, c.g[0]);
  return {c.needs(0) ? Gradient(where(first_taken, c.g[0], zero)) : Gradient(),
          c.needs(1) ? Gradient(where(first_taken, zero, c.g[0])) : Gradient()};
}
}  // namespace detail
TANDEM_INLINE Grads rules::Maximum::gradient(const GradCall& c) {
  return tandem::detail::by_choice(c, greater_equal(c.in[0], c.in[1]));
}
TANDEM_INLINE Grads rules::Minimum::gradient(const GradCall& c) {
  return tandem::detail::by_choice(c, less_equal(c.in[0], c.in[1]));
}

}  // namespace TANDEM_NS
