// Definitions of signal/frames.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <numbers>

#include "tandem/core/scope.hpp"
#include "tandem/cpu/signal/frames.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/ops/cuda_kernels.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/transfer.hpp"
#include "tandem/signal/frames.hpp"

namespace TANDEM_NS {
namespace signal::impl {

[[noreturn, gnu::cold]] inline void raise(const char* op, const std::string& what) {
  errors::raise<errors::InvalidArgumentError>(op, what);
}
inline void check_positive(const char* op, const char* what, i64 n) {
  if (n < 1) raise(op, std::string(what) + " must be at least 1, not " + std::to_string(n));
}

TANDEM_INLINE Specs infer_pad_or_trim(const InferCall& c) {
  const auto& a = c.get<rules::PadOrTrimAttrs>();
  if (a.length < 0) raise(c.op.name, "the length must not be negative, but is " + std::to_string(a.length));
  Specs r(c.spec(0));
  r[0].shape.set(resolve_axis(c.op.name, a.axis, r[0].shape.rank()), a.length);
  return r;
}
TANDEM_INLINE Specs infer_pad_or_trim_like(const InferCall& c) {
  const int rank = c.spec(0).shape.rank();
  if (c.spec(1).shape.rank() != rank) tandem::detail::raise_specs(c, "ranks differ");
  const int axis = resolve_axis(c.op.name, c.get<rules::PadOrTrimAttrs>().axis, rank);
  Specs r(c.spec(0));
  r[0].shape.set(axis, c.spec(1).shape.dim(axis));
  return r;
}
TANDEM_INLINE void pad_or_trim_kernel(const KernelCall& c) {
  cpu::pad_or_trim(c, resolve_axis(c.op, c.attrs.get<rules::PadOrTrimAttrs>().axis, c.in[0].shape().rank()));
}
TANDEM_INLINE Tensor pad_or_trim_like(const Tensor& x, const Tensor& like, i64 axis) {
  return apply1(pad_or_trim_like_op, rules::PadOrTrimAttrs{axis, 0}, no_options, x, like);
}
TANDEM_INLINE Grads pad_or_trim_gradient(const GradCall& c) {
  Grads r(Gradient(pad_or_trim_like(c.g[0], c.in[0], c.get<rules::PadOrTrimAttrs>().axis)));
  for (std::size_t i = 1; i < c.in.size(); ++i) r.push_back(Gradient());
  return r;
}

TANDEM_INLINE Specs infer_frame(const InferCall& c) {
  const auto& a = c.get<rules::FrameAttrs>();
  check_positive(c.op.name, "frame_length", a.length);
  check_positive(c.op.name, "frame_step", a.step);
  Specs r(c.spec(0));
  const int axis = resolve_axis(c.op.name, a.axis, r[0].shape.rank());
  const i64 n = r[0].shape.dim(axis);
  const i64 whole = n < a.length ? 0 : (n - a.length) / a.step + 1;
  r[0].shape.set(axis, n == none ? none : a.pad_end ? n / a.step + (n % a.step != 0) : whole);
  r[0].shape.insert(axis + 1, a.length);
  return r;
}
TANDEM_INLINE void frame_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::FrameAttrs>();
  cpu::frame(c, resolve_axis(c.op, a.axis, c.in[0].shape().rank()), a.step);
}
// The axis of frames in the result, counted from the front or the back as the attribute is.
inline i64 frames_axis(i64 axis) { return axis < 0 ? axis - 1 : axis; }
TANDEM_INLINE Grads frame_gradient(const GradCall& c) {
  const auto& a = c.get<rules::FrameAttrs>();
  const rules::FrameAttrs back{frames_axis(a.axis), a.length, a.step, false};
  return Grads(Gradient(pad_or_trim_like(apply1(overlap_and_add_op, back, no_options, c.g[0]), c.in[0], a.axis)));
}
TANDEM_INLINE Specs infer_overlap_and_add(const InferCall& c) {
  const auto& a = c.get<rules::FrameAttrs>();
  check_positive(c.op.name, "frame_step", a.step);
  Specs r(c.spec(0));
  Shape& s = r[0].shape;
  const int axis = s.rank() < 2 ? -1 : resolve_axis(c.op.name, a.axis, s.rank());
  if (axis < 0 || axis + 1 >= s.rank())
    tandem::detail::raise_specs(c, "the operand must have an axis of frames and one of their elements");
  const i64 frames = s.dim(axis), length = s.dim(axis + 1);
  i64 n = none;
  if (frames == 0) n = 0;
  else if (frames != none && length != none &&
           (__builtin_mul_overflow(frames - 1, a.step, &n) || __builtin_add_overflow(n, length, &n)))
    tandem::detail::raise_specs(c, "the result is too large");
  s.set(axis, n);
  s.erase(axis + 1);
  return r;
}
TANDEM_INLINE void overlap_and_add_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::FrameAttrs>();
  cpu::overlap_and_add(c, resolve_axis(c.op, a.axis, c.in[0].shape().rank()), a.step);
}
// Frames of g; cut or padded to the operand's, whose sizes may not be known here.
TANDEM_INLINE Grads overlap_and_add_gradient(const GradCall& c) {
  const auto& a = c.get<rules::FrameAttrs>();
  return Grads(Gradient(apply1(frames_like_op, a, no_options, c.g[0], c.in[0])));
}
TANDEM_INLINE Specs infer_frames_like(const InferCall& c) {
  const auto& a = c.get<rules::FrameAttrs>();
  check_positive(c.op.name, "frame_step", a.step);
  Specs r(c.spec(1));
  r[0].dtype = c.spec(0).dtype, r[0].device = c.spec(0).device;
  const Shape &x = c.spec(0).shape, &s = r[0].shape;
  if (s.rank() != x.rank() + 1) tandem::detail::raise_specs(c, "ranks do not match");
  const int axis = resolve_axis(c.op.name, a.axis, s.rank());
  Shape others = s;
  if (axis + 1 < s.rank()) others.erase(axis + 1);
  if (others.rank() == x.rank() && axis < others.rank()) others.set(axis, x.dim(axis));
  if (axis + 1 >= s.rank() || !others.is_compatible_with(x)) tandem::detail::raise_specs(c, "shapes do not match");
  return r;
}
TANDEM_INLINE void frames_like_kernel(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::FrameAttrs>();
  cpu::frame(c, resolve_axis(c.op, a.axis, c.out[0].shape().rank()), a.step);
}
TANDEM_INLINE Grads frames_like_gradient(const GradCall& c) {
  const auto& a = c.get<rules::FrameAttrs>();
  const i64 axis = a.axis < 0 ? a.axis + 1 : a.axis;
  return {Gradient(pad_or_trim_like(apply1(overlap_and_add_op, a, no_options, c.g[0]), c.in[0], axis)), Gradient()};
}

inline Tensor finish_window(const Tensor& w, const WindowOptions& o) {
  const tandem::detail::OutsideTrace outside;
  const Tensor there = tandem::detail::to_current_device(w);
  return outside.named(cast(there, o.dtype), o.name, o.where);
}
// a - b cos(2 pi k / n), with TensorFlow's n: the length if it is even and `periodic`, else one less.
inline Tensor cosine_window(const char* op, i64 length, double a, double b, const WindowOptions& o) {
  const tandem::detail::CallSite call(o);
  check_positive(op, "window_length", length);
  if (!is_floating(o.dtype)) raise(op, std::string("the dtype must be floating, not ") + name(o.dtype));
  const double n = static_cast<double>(o.periodic && length % 2 == 0 ? length : length - 1);
  const Tensor w = Tensor::allocate({Shape{length}, DType::float64, {}});
  double* const at = static_cast<double*>(w.raw());
  for (i64 k = 0; k < length; ++k)
    at[k] = length == 1 ? 1 : a - b * std::cos(2 * std::numbers::pi * static_cast<double>(k) / n);
  return finish_window(w, o);
}
// The numbers of a window of n, whatever device makes it.
inline void write_window(double* to, i64 n, WindowFn make, const WindowOptions& o) {
  if (!make) return void(std::fill_n(to, n, 1.));
  const tandem::detail::OutsideTrace outside;
  const std::vector<double> w =
      cast(make(n, {.periodic = o.periodic, .dtype = o.dtype}), DType::float64).to_vector<double>();
  if (static_cast<i64>(w.size()) != n)
    raise("inverse_stft_window",
          "the forward window has " + std::to_string(w.size()) + " elements, not " + std::to_string(n));
  std::copy(w.begin(), w.end(), to);
}
inline DType real_of(DType d) {
  return d == DType::complex128 || d == DType::float64 ? DType::float64 : DType::float32;
}
inline i64 enclosing_power_of_two(i64 n) {
  i64 p = 1;
  while (p < n && p < (i64(1) << 61)) p *= 2;
  return p;
}

}  // namespace signal::impl

TANDEM_INLINE constexpr OpDef pad_or_trim_op{.name = "pad_or_trim",
                                             .infer = &signal::impl::infer_pad_or_trim,
                                             .cpu = &signal::impl::pad_or_trim_kernel,
                                             .cuda = TANDEM_CUDA(&signal::impl::pad_or_trim_kernel),
                                             .gradient = &signal::impl::pad_or_trim_gradient,
                                             .dtypes = dtypes::floating | dtypes::complex | DType::complex128,
                                             .saves = Saves::shape,
                                             .attrs = &detail::attr_type<rules::PadOrTrimAttrs>};
TANDEM_INLINE constexpr OpDef pad_or_trim_like_op{.name = "pad_or_trim_like",
                                                  .input_names = "x, like",
                                                  .infer = &signal::impl::infer_pad_or_trim_like,
                                                  .cpu = &signal::impl::pad_or_trim_kernel,
                                                  .cuda = TANDEM_CUDA(&signal::impl::pad_or_trim_kernel),
                                                  .gradient = &signal::impl::pad_or_trim_gradient,
                                                  .dtypes = dtypes::floating | dtypes::complex | DType::complex128,
                                                  .inputs = 2,
                                                  .saves = Saves::shape,
                                                  .shape_inputs = 2,
                                                  .attrs = &detail::attr_type<rules::PadOrTrimAttrs>};
TANDEM_INLINE constexpr OpDef frame_op{.name = "frame",
                                       .infer = &signal::impl::infer_frame,
                                       .cpu = &signal::impl::frame_kernel,
                                       .cuda = TANDEM_CUDA(&cuda::frame),
                                       .gradient = &signal::impl::frame_gradient,
                                       .dtypes = dtypes::number | DType::complex128,
                                       .saves = Saves::shape,
                                       .attrs = &detail::attr_type<rules::FrameAttrs>};
TANDEM_INLINE constexpr OpDef overlap_and_add_op{.name = "overlap_and_add",
                                                 .infer = &signal::impl::infer_overlap_and_add,
                                                 .cpu = &signal::impl::overlap_and_add_kernel,
                                                 .cuda = TANDEM_CUDA(&cuda::overlap_and_add),
                                                 .gradient = &signal::impl::overlap_and_add_gradient,
                                                 .dtypes = dtypes::floating | dtypes::complex | DType::complex128,
                                                 .saves = Saves::shape,
                                                 .attrs = &detail::attr_type<rules::FrameAttrs>};
TANDEM_INLINE constexpr OpDef frames_like_op{.name = "frames_like",
                                             .input_names = "x, like",
                                             .infer = &signal::impl::infer_frames_like,
                                             .cpu = &signal::impl::frames_like_kernel,
                                             .cuda = TANDEM_CUDA(&cuda::frames_like),
                                             .gradient = &signal::impl::frames_like_gradient,
                                             .dtypes = dtypes::floating | dtypes::complex | DType::complex128,
                                             .inputs = 2,
                                             .saves = Saves::shape,
                                             .shape_inputs = 2,
                                             .attrs = &detail::attr_type<rules::FrameAttrs>};

namespace signal {

TANDEM_INLINE Tensor impl::pad_or_trim(const Tensor& x, i64 axis, i64 length) {
  const int rank = x.rank();
  if (-axis <= rank && axis < rank && x.shape().dim(static_cast<int>(axis)) == length) return x;
  return apply1(pad_or_trim_op, rules::PadOrTrimAttrs{axis, length}, no_options, x);
}
TANDEM_INLINE Tensor frame(const Tensor& x, i64 frame_length, i64 frame_step, FrameOptions o) {
  const tandem::detail::CallSite call(o);
  const rules::FrameAttrs a{o.axis, frame_length, frame_step, o.pad_end};
  const OpOptions named{o.name, o.where};
  if (!o.pad_end || o.pad_value == 0) return apply1(frame_op, a, named, x);
  const Tensor filled = apply1(frame_op, a, no_options, ones_like(x, DType::int8));
  return where(equal(filled, 0), o.pad_value, apply1(frame_op, a, no_options, x), named);
}
TANDEM_INLINE Tensor overlap_and_add(const Tensor& x, i64 frame_step, OpOptions o) {
  return apply1(overlap_and_add_op, rules::FrameAttrs{-2, 0, frame_step, false}, o, x);
}
TANDEM_INLINE Tensor hann_window(i64 n, WindowOptions o) { return impl::cosine_window("hann_window", n, .5, .5, o); }
TANDEM_INLINE Tensor hamming_window(i64 n, WindowOptions o) {
  return impl::cosine_window("hamming_window", n, .54, .46, o);
}
TANDEM_INLINE Tensor inverse_stft_window(i64 n, i64 frame_step, WindowFn forward, WindowOptions o) {
  const tandem::detail::CallSite call(o);
  impl::check_positive("inverse_stft_window", "window_length", n);
  impl::check_positive("inverse_stft_window", "frame_step", frame_step);
  const auto allocated = [](i64 count) { return Tensor::allocate({Shape{count}, DType::float64, {}}); };
  const Tensor w = allocated(n), sums = allocated(std::min(n, frame_step));
  const auto of = [&](i64 k) -> double& { return static_cast<double*>(sums.raw())[k % frame_step]; };
  double* const at = static_cast<double*>(w.raw());
  impl::write_window(at, n, forward, o);
  for (i64 k = 0; k < sums.size(); ++k) of(k) = 0;
  for (i64 k = 0; k < n; ++k) of(k) += at[k] * at[k];
  for (i64 k = 0; k < n; ++k) at[k] /= of(k);
  return impl::finish_window(w, o);
}
TANDEM_INLINE Tensor stft(const Tensor& x, i64 frame_length, i64 frame_step, StftOptions o) {
  const tandem::detail::CallSite call(o);
  Tensor frames = frame(x, frame_length, frame_step, {.pad_end = o.pad_end});
  if (o.window_fn) frames = frames * o.window_fn(frame_length, {.dtype = frames.dtype()});
  return rfft(frames, {.name = o.name,
                       .where = o.where,
                       .fft_length = o.fft_length.value_or(impl::enclosing_power_of_two(frame_length))});
}
TANDEM_INLINE Tensor inverse_stft(const Tensor& x, i64 frame_length, i64 frame_step, StftOptions o) {
  const tandem::detail::CallSite call(o);
  impl::check_positive("inverse_stft", "frame_length", frame_length);
  const i64 n = o.fft_length.value_or(impl::enclosing_power_of_two(frame_length));
  Tensor frames = impl::pad_or_trim(irfft(x, {.fft_length = n}), -1, frame_length);
  if (o.window_fn) frames = frames * o.window_fn(frame_length, {.dtype = impl::real_of(x.dtype())});
  return overlap_and_add(frames, frame_step, {.name = o.name, .where = o.where});
}

}  // namespace signal
}  // namespace TANDEM_NS
