// Definitions of ops/shape/transpose.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/cpu/layout/layout.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS {

namespace detail {

TANDEM_INLINE Specs infer_transpose(const InferCall& c) {
  const Shape& x = c.spec(0).shape;
  const Axes& perm = c.get<rules::TransposeAttrs>().perm;
  if (perm.given() && (perm.size() != x.rank() || perm.mask(c.op.name, x.rank()) + 1 != 1u << x.rank()))
    raise_specs(c, "perm must name each axis once, it has " + std::to_string(perm.size()) + " entries");
  Specs r(c.spec(0));
  for (int i = 0; i < x.rank(); ++i) r[0].shape.set(i, x.dim(perm.given() ? perm[i] : -1 - i));
  return r;
}
// The permutation with negative entries resolved.
TANDEM_INLINE Axes front_axes(const Axes& perm, int rank) {
  if (!perm.given()) return perm;
  Axes r = Axes::none();
  for (int i = 0; i < perm.size(); ++i) r.push_back(perm[i] < 0 ? perm[i] + rank : perm[i]);
  return r;
}
TANDEM_INLINE void transpose_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::TransposeAttrs>();
  cpu::transpose(c, front_axes(a.perm, c.out[0].shape().rank()), a.conjugate);
}
TANDEM_INLINE Grads transpose_gradient(const GradCall& c) {
  auto a = c.get<rules::TransposeAttrs>();
  if (a.perm.given()) {
    const int rank = c.g[0].rank();
    const Axes perm = front_axes(a.perm, rank);
    a.perm = Axes::none();
    for (int i = 0; i < rank; ++i)
      for (int k = 0; k < rank; ++k)
        if (perm[k] == i) a.perm.push_back(k);
  }
  return Grads(Gradient(apply1(transpose_op, a, no_options, c.g[0])));
}
TANDEM_INLINE Specs infer_reverse(const InferCall& c) {
  (void)c.get<rules::ReverseAttrs>().axes.mask(c.op.name, c.spec(0).shape.rank());
  return Specs(c.spec(0));
}
TANDEM_INLINE void reverse_kernel(const KernelCall& c) {
  cpu::reverse(c, c.attrs.get<rules::ReverseAttrs>().axes.mask(c.op, c.in[0].shape().rank()));
}
TANDEM_INLINE Grads reverse_gradient(const GradCall& c) {
  return Grads(Gradient(apply1(reverse_op, c.attrs, no_options, c.g[0])));
}
TANDEM_INLINE Specs infer_roll(const InferCall& c) {
  (void)resolve_axis(c.op.name, c.get<rules::RollAttrs>().axis, c.spec(0).shape.rank());
  return Specs(c.spec(0));
}
TANDEM_INLINE void roll_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::RollAttrs>();
  const Shape& s = c.out[0].shape();
  cpu::roll(c, resolve_axis(c.op, a.axis, s.rank()), a.shift);
}
TANDEM_INLINE Grads roll_gradient(const GradCall& c) {
  const auto& a = c.get<rules::RollAttrs>();
  const i64 n = c.g[0].shape().dim(resolve_axis(c.op.name, a.axis, c.g[0].rank()));
  const i64 back = n > 0 ? -(a.shift % n) : -a.shift;  // the lowest integer has no negative
  return Grads(Gradient(apply1(roll_op, rules::RollAttrs{back, a.axis}, no_options, c.g[0])));
}
TANDEM_INLINE Tensor swap_last(const char* op, const Tensor& x, bool conjugate, OpOptions o) {
  if (x.rank() < 2) errors::raise<errors::InvalidArgumentError>(op, to_string(x.spec()) + " is not a matrix");
  Axes perm = Axes::none();
  for (int i = 0; i < x.rank() - 2; ++i) perm.push_back(i);
  perm.push_back(x.rank() - 1);
  perm.push_back(x.rank() - 2);
  return apply1(transpose_op, rules::TransposeAttrs{perm, conjugate}, o, x);
}

}  // namespace detail

TANDEM_INLINE constexpr OpDef transpose_op{.name = "transpose",
                                           .infer = &detail::infer_transpose,
                                           .cpu = &detail::transpose_kernel,
                                           .cuda = TANDEM_CUDA(&detail::transpose_kernel),
                                           .gradient = &detail::transpose_gradient,
                                           .saves = Saves::nothing,
                                           .attrs = &detail::attr_type<rules::TransposeAttrs>};
TANDEM_INLINE constexpr OpDef reverse_op{.name = "reverse",
                                         .infer = &detail::infer_reverse,
                                         .cpu = &detail::reverse_kernel,
                                         .cuda = TANDEM_CUDA(&detail::reverse_kernel),
                                         .gradient = &detail::reverse_gradient,
                                         .saves = Saves::nothing,
                                         .attrs = &detail::attr_type<rules::ReverseAttrs>};

TANDEM_INLINE constexpr OpDef roll_op{.name = "roll",
                                      .infer = &detail::infer_roll,
                                      .cpu = &detail::roll_kernel,
                                      .cuda = TANDEM_CUDA(&detail::roll_kernel),
                                      .gradient = &detail::roll_gradient,
                                      .saves = Saves::nothing,
                                      .attrs = &detail::attr_type<rules::RollAttrs>};

TANDEM_INLINE Tensor transpose(const Tensor& x, TransposeOptions o) {
  return apply1(transpose_op, rules::TransposeAttrs{o.perm, o.conjugate}, {o.name, o.where}, x);
}
TANDEM_INLINE Tensor linalg::matrix_transpose(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o);
  return detail::swap_last("matrix_transpose", x, false, o);
}
TANDEM_INLINE Tensor linalg::adjoint(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o);
  return detail::swap_last("adjoint", x, true, o);
}
TANDEM_INLINE Tensor reverse(const Tensor& x, const Axes& axes, OpOptions o) {
  return apply1(reverse_op, rules::ReverseAttrs{axes.given() ? axes : Axes::none()}, o, x);
}

TANDEM_INLINE Tensor roll(const Tensor& x, i64 shift, i64 axis, OpOptions o) {
  return apply1(roll_op, rules::RollAttrs{shift, axis}, o, x);
}
TANDEM_INLINE Tensor roll(const Tensor& x, std::initializer_list<i64> shifts, std::initializer_list<i64> axes,
                          OpOptions o) {
  const tandem::detail::CallSite call(o);
  if (shifts.size() != axes.size())
    errors::raise<errors::InvalidArgumentError>(
        "roll", std::to_string(shifts.size()) + " shifts for " + std::to_string(axes.size()) + " axes");
  if (axes.size() == 0) return identity(x, o);
  Tensor y = x;
  for (std::size_t k = 0; k < axes.size(); ++k) y = roll(y, shifts.begin()[k], axes.begin()[k], o);
  return y;
}

}  // namespace TANDEM_NS
