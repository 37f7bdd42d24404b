// Definitions of signal/fft.hpp.
#pragma once
#include <cmath>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/signal/fft.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tandem/signal/fft.hpp"
#include "tandem/signal/frames.hpp"

namespace TANDEM_NS {
namespace signal::impl {

TANDEM_INLINE Specs infer_fft(const InferCall& c) {
  (void)resolve_axis(c.op.name, c.get<rules::FftAttrs>().axis, c.spec(0).shape.rank());
  return Specs(c.spec(0));
}
TANDEM_INLINE void fft_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::FftAttrs>();
  const int axis = resolve_axis(c.op, a.axis, c.in[0].shape().rank());
  cpu::fft(c, axis, a.inverse, a.divided ? 1 / static_cast<double>(c.in[0].shape().dim(axis)) : 1);
}
TANDEM_INLINE Grads fft_gradient(const GradCall& c) {
  rules::FftAttrs a = c.get<rules::FftAttrs>();
  a.inverse = !a.inverse;
  return Grads(Gradient(apply1(fft_op, a, no_options, c.g[0])));
}

inline void check_has_axis(const InferCall& c) {
  if (!c.spec(0).shape.rank()) tandem::detail::raise_specs(c, "a scalar has no axis to transform");
}
TANDEM_INLINE Specs infer_rfft(const InferCall& c) {
  check_has_axis(c);
  Specs r(c.spec(0));
  const i64 n = r[0].shape.dim(-1);
  if (n == 0) tandem::detail::raise_specs(c, "the last axis is empty", ".fft_length pads it with zeros");
  r[0].shape.set(r[0].shape.rank() - 1, n == none ? none : n / 2 + 1);
  r[0].dtype = r[0].dtype == DType::float64 ? DType::complex128 : DType::complex64;
  return r;
}
TANDEM_INLINE void rfft_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::RealFftAttrs>();
  cpu::rfft(c, a.doubled, a.divided ? 1 / static_cast<double>(c.in[0].shape().dim(-1)) : 1);
}
TANDEM_INLINE Grads rfft_gradient(const GradCall& c) {
  const auto& a = c.get<rules::RealFftAttrs>();
  return Grads(
      Gradient(apply1(irfft_op, rules::RealFftAttrs{none, a.doubled, a.divided}, no_options, c.g[0], c.in[0])));
}
// The length of irfft's result.
inline i64 real_length(const InferCall& c) {
  const i64 m = c.spec(0).shape.dim(-1), length = c.get<rules::RealFftAttrs>().length;
  if (c.in.size() == 2) return c.spec(1).shape.rank() ? c.spec(1).shape.dim(-1) : 0;
  if (length != none) return length;
  return m == none ? none : 2 * (m - 1);
}
TANDEM_INLINE Specs infer_irfft(const InferCall& c) {
  check_has_axis(c);
  if (c.in.size() > 2) tandem::detail::raise_specs(c, "there must be one or two operands");
  const i64 m = c.spec(0).shape.dim(-1), n = real_length(c);
  if (n != none && n < 1)
    tandem::detail::raise_specs(c, "the length of the result would be " + std::to_string(n), "set .fft_length");
  if (n != none && m != none && m != n / 2 + 1)
    tandem::detail::raise_specs(
        c, "a result of length " + std::to_string(n) + " needs " + std::to_string(n / 2 + 1) + " numbers");
  Specs r(c.spec(0));
  r[0].shape.set(r[0].shape.rank() - 1, n);
  r[0].dtype = r[0].dtype == DType::complex128 ? DType::float64 : DType::float32;
  return r;
}
TANDEM_INLINE void irfft_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::RealFftAttrs>();
  cpu::irfft(c, a.doubled, a.divided ? 1 / static_cast<double>(c.out[0].shape().dim(-1)) : 1);
}
TANDEM_INLINE Grads irfft_gradient(const GradCall& c) {
  const auto& a = c.get<rules::RealFftAttrs>();
  Grads r(Gradient(apply1(rfft_op, rules::RealFftAttrs{none, a.doubled, a.divided}, no_options, c.g[0])));
  if (c.in.size() == 2) r.push_back(Gradient());
  return r;
}

TANDEM_INLINE Specs infer_dct(const InferCall& c) {
  check_has_axis(c);
  const i64 type = c.get<rules::DctAttrs>().type;
  if (type != 2 && type != 3) tandem::detail::raise_specs(c, "the type must be 2 or 3, not " + std::to_string(type));
  return Specs(c.spec(0));
}
TANDEM_INLINE void dct_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::DctAttrs>();
  const double n = static_cast<double>(c.in[0].shape().dim(-1));
  const double rest = a.ortho ? std::sqrt(2 / n) : 2;
  cpu::dct(c, static_cast<int>(a.type), a.ortho ? std::sqrt(1 / n) : a.halved ? 1 : 2, rest);
}
TANDEM_INLINE Grads dct_gradient(const GradCall& c) {
  rules::DctAttrs a = c.get<rules::DctAttrs>();
  a.type = 5 - a.type;
  return Grads(Gradient(apply1(dct_op, a, no_options, c.g[0])));
}

}  // namespace signal::impl

TANDEM_INLINE constexpr OpDef fft_op{.name = "fft",
                                     .infer = &signal::impl::infer_fft,
                                     .cpu = &signal::impl::fft_kernel,
                                     .cuda = TANDEM_CUDA(&cuda::fft),
                                     .gradient = &signal::impl::fft_gradient,
                                     .dtypes = dtypes::complex | DType::complex128,
                                     .saves = Saves::nothing,
                                     .attrs = &detail::attr_type<rules::FftAttrs>};
TANDEM_INLINE constexpr OpDef rfft_op{.name = "rfft",
                                      .infer = &signal::impl::infer_rfft,
                                      .cpu = &signal::impl::rfft_kernel,
                                      .cuda = TANDEM_CUDA(&cuda::rfft),
                                      .gradient = &signal::impl::rfft_gradient,
                                      .dtypes = dtypes::floating,
                                      .saves = Saves::shape,
                                      .attrs = &detail::attr_type<rules::RealFftAttrs>};
TANDEM_INLINE constexpr OpDef irfft_op{.name = "irfft",
                                       .input_names = "x, like",
                                       .infer = &signal::impl::infer_irfft,
                                       .cpu = &signal::impl::irfft_kernel,
                                       .cuda = TANDEM_CUDA(&cuda::irfft),
                                       .gradient = &signal::impl::irfft_gradient,
                                       .dtypes = dtypes::complex | DType::complex128,
                                       .inputs = at_least(1),
                                       .saves = Saves::shape,
                                       .shape_inputs = 2,
                                       .attrs = &detail::attr_type<rules::RealFftAttrs>};
TANDEM_INLINE constexpr OpDef dct_op{.name = "dct",
                                     .infer = &signal::impl::infer_dct,
                                     .cpu = &signal::impl::dct_kernel,
                                     .cuda = TANDEM_CUDA(&cuda::dct),
                                     .gradient = &signal::impl::dct_gradient,
                                     .dtypes = dtypes::floating,
                                     .saves = Saves::nothing,
                                     .attrs = &detail::attr_type<rules::DctAttrs>};

namespace signal {
namespace impl {

inline void check_rank(const char* op, const Tensor& x, int rank) {
  if (x.rank() < rank)
    errors::raise<errors::InvalidArgumentError>(
        op, "the operand must have at least " + std::to_string(rank) + " axes: " + to_string(x.spec()));
}
inline Tensor as_complex(const Tensor& x) {
  if (!is_floating(x.dtype())) return x;
  return cast(x, x.dtype() == DType::float64 ? DType::complex128 : DType::complex64);
}
// The transform along the last `axes` axes, the last one first.
inline Tensor transform(const char* op, const Tensor& x, int axes, bool inverse, const OpOptions& o) {
  const tandem::detail::CallSite call(o);
  check_rank(op, x, axes);
  Tensor y = as_complex(x);
  for (int i = 1; i <= axes; ++i)
    y = apply1(fft_op, rules::FftAttrs{-i, inverse, inverse}, i == axes ? o : no_options, y);
  return y;
}
inline void check_length(const char* op, i64 n) {
  if (n < 1) errors::raise<errors::InvalidArgumentError>(op, "fft_length must be at least 1, not " + std::to_string(n));
}
inline Tensor half_transform(const char* op, const Tensor& x, const std::optional<i64>& length, const OpOptions& o) {
  if (length) check_length(op, *length);
  const Tensor fitted = length && x.rank() ? pad_or_trim(x, -1, *length) : x;
  return apply1(rfft_op, rules::RealFftAttrs{none, false, false}, o, fitted);
}
inline Tensor real_transform(const char* op, const Tensor& x, const std::optional<i64>& length, const OpOptions& o) {
  if (length) check_length(op, *length);
  const Tensor fitted = length && x.rank() ? pad_or_trim(x, -1, *length / 2 + 1) : x;
  return apply1(irfft_op, rules::RealFftAttrs{length.value_or(none), true, true}, o, fitted);
}
// The lengths {h, w} that a user has asked for.
struct Lengths {
  std::optional<i64> h, w;
  Lengths(const char* op, const ShapeArg& given) {
    const Shape* const s = given.get();
    if (!s) return;
    if (s->rank() != 2)
      errors::raise<errors::InvalidArgumentError>(op, "fft_length must have 2 entries: " + to_string(*s));
    for (const i64 n : *s) check_length(op, n);
    h = s->dim(0), w = s->dim(1);
  }
};
inline Tensor cosine_transform(const char* op, const Tensor& x, const DctOptions& o, i64 type) {
  const tandem::detail::CallSite call(o);
  if (!o.norm.empty() && o.norm != "ortho")
    errors::raise<errors::InvalidArgumentError>(
        op, "the norm must be \"ortho\" or empty, not \"" + std::string(o.norm) + "\"");
  if (o.n && *o.n < 1)
    errors::raise<errors::InvalidArgumentError>(op, "n must be at least 1, not " + std::to_string(*o.n));
  const Tensor fitted = o.n && x.rank() ? pad_or_trim(x, -1, *o.n) : x;
  return apply1(dct_op, rules::DctAttrs{type, !o.norm.empty(), type == 3}, {o.name, o.where}, fitted);
}
inline Tensor shifted(const char* op, const Tensor& x, const FftShiftOptions& o, i64 sign) {
  const tandem::detail::CallSite call(o);
  const std::uint32_t mask = o.axes.mask(op, x.rank());
  Tensor y = x;
  for (int d = 0; d < x.rank(); ++d)
    if (mask >> d & 1u) y = roll(y, sign * (static_cast<i64>(x.shape()[d]) / 2), d, {.name = o.name, .where = o.where});
  return y;
}

}  // namespace impl

TANDEM_INLINE Tensor fft(const Tensor& x, OpOptions o) { return impl::transform("fft", x, 1, false, o); }
TANDEM_INLINE Tensor ifft(const Tensor& x, OpOptions o) { return impl::transform("ifft", x, 1, true, o); }
TANDEM_INLINE Tensor fft2d(const Tensor& x, OpOptions o) { return impl::transform("fft2d", x, 2, false, o); }
TANDEM_INLINE Tensor ifft2d(const Tensor& x, OpOptions o) { return impl::transform("ifft2d", x, 2, true, o); }
TANDEM_INLINE Tensor fft3d(const Tensor& x, OpOptions o) { return impl::transform("fft3d", x, 3, false, o); }
TANDEM_INLINE Tensor ifft3d(const Tensor& x, OpOptions o) { return impl::transform("ifft3d", x, 3, true, o); }

TANDEM_INLINE Tensor rfft(const Tensor& x, RfftOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::half_transform("rfft", x, o.fft_length, {o.name, o.where});
}
TANDEM_INLINE Tensor irfft(const Tensor& x, RfftOptions o) {
  const tandem::detail::CallSite call(o);
  return impl::real_transform("irfft", x, o.fft_length, {o.name, o.where});
}
TANDEM_INLINE Tensor rfft2d(const Tensor& x, Rfft2dOptions o) {
  const tandem::detail::CallSite call(o);
  impl::check_rank("rfft2d", x, 2);
  const impl::Lengths lengths("rfft2d", o.fft_length);
  const Tensor fitted = lengths.h ? impl::pad_or_trim(x, -2, *lengths.h) : x;
  const Tensor half = impl::half_transform("rfft2d", fitted, lengths.w, no_options);
  return apply1(fft_op, rules::FftAttrs{-2, false, false}, {o.name, o.where}, half);
}
TANDEM_INLINE Tensor irfft2d(const Tensor& x, Rfft2dOptions o) {
  const tandem::detail::CallSite call(o);
  impl::check_rank("irfft2d", x, 2);
  const impl::Lengths lengths("irfft2d", o.fft_length);
  const Tensor fitted = lengths.h ? impl::pad_or_trim(x, -2, *lengths.h) : x;
  const Tensor columns = apply1(fft_op, rules::FftAttrs{-2, true, true}, no_options, fitted);
  return impl::real_transform("irfft2d", columns, lengths.w, {o.name, o.where});
}
TANDEM_INLINE Tensor dct(const Tensor& x, DctOptions o) { return impl::cosine_transform("dct", x, o, o.type); }
TANDEM_INLINE Tensor idct(const Tensor& x, DctOptions o) {
  return impl::cosine_transform("idct", x, o, o.type == 2 ? 3 : o.type == 3 ? 2 : o.type);
}
TANDEM_INLINE Tensor fftshift(const Tensor& x, FftShiftOptions o) { return impl::shifted("fftshift", x, o, 1); }
TANDEM_INLINE Tensor ifftshift(const Tensor& x, FftShiftOptions o) { return impl::shifted("ifftshift", x, o, -1); }

}  // namespace signal
}  // namespace TANDEM_NS
