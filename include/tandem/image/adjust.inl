// Definitions of image/adjust.hpp.
#pragma once
#include <limits>

#include "tandem/core/scope.hpp"
#include "tandem/image/adjust.hpp"
#include "tandem/image/color.hpp"
#include "tandem/image/convert.hpp"
#include "tandem/image/decode.hpp"
#include "tandem/image/encode.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/statistics.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::image {

namespace impl {
inline void check_image_axes(const char* op, const Tensor& x) {
  if (x.rank() < 3) raise(op, "x must be [..., height, width, channels], not " + to_string(x.spec()));
}
// A number, or a random one, as an operand of x's dtype.
inline Tensor operand(const Tensor& number, const Tensor& x) { return cast(number, x.dtype()); }
inline Tensor operand(double number, const Tensor& x) { return tandem::detail::scalar_like(number, x); }

template <class Amount>
Tensor brighter(const char* op, const Tensor& x, const Amount& delta, const OpOptions& o) {
  const Tensor f = as_floats(op, x);
  return from_floats(f + operand(delta, f), x.dtype(), o);
}
template <class Amount>
Tensor with_contrast(const char* op, const Tensor& x, const Amount& factor, const OpOptions& o) {
  check_image_axes(op, x);
  const Tensor f = as_floats(op, x), mean = reduce_mean(f, {.axis = {-3, -2}, .keepdims = true});
  return from_floats((f - mean) * operand(factor, f) + mean, x.dtype(), o);
}
template <class Amount>
Tensor with_hue(const char* op, const Tensor& x, const Amount& delta, const OpOptions& o) {
  check_rgb(op, x);
  const Tensor f = as_floats(op, x);
  // Between the least and the largest channel, not through HSV, whose saturation has no meaning for negative colors.
  const auto [hue, least, most] = hue_of(f);
  const Tensor h = hue + operand(delta, f);
  return from_floats(least + (most - least) * pure_color(h - floor(h)), x.dtype(), o);
}
template <class Amount>
Tensor with_saturation(const char* op, const Tensor& x, const Amount& factor, const OpOptions& o) {
  check_rgb(op, x);
  const Tensor f = as_floats(op, x), hsv = rgb_to_hsv(f);
  const auto channel = [&](i64 i) { return slice_by(hsv, {Ellipsis, Slice(i, i + 1)}); };
  const Tensor s = clip_by_value(channel(1) * operand(factor, f), 0, 1);
  return from_floats(hsv_to_rgb(concat({channel(0), s, channel(2)}, -1)), x.dtype(), o);
}
// Bounds that are not negative.
inline Tensor draw_factor(const char* op, double lower, double upper, const RandomOptions& o) {
  if (!(lower >= 0)) raise(op, "the lower bound must not be negative, but is " + tandem::detail::shortest_text(lower));
  return draw(op, lower, upper, o);
}
inline Tensor draw_delta(const char* op, double most, double limit, const RandomOptions& o) {
  if (!(most >= 0 && most <= limit))
    raise(op, "max_delta must not be negative, but is " + tandem::detail::shortest_text(most));
  return most == 0 ? constant(0.f) : draw(op, -most, most, o);
}
}  // namespace impl

TANDEM_INLINE Tensor adjust_brightness(const Tensor& x, double delta, OpOptions o) {
  const tandem::detail::CallSite call(o, "adjust_brightness");
  return impl::brighter("adjust_brightness", x, delta, o);
}
TANDEM_INLINE Tensor adjust_contrast(const Tensor& x, double factor, OpOptions o) {
  const tandem::detail::CallSite call(o, "adjust_contrast");
  return impl::with_contrast("adjust_contrast", x, factor, o);
}
TANDEM_INLINE Tensor adjust_hue(const Tensor& x, double delta, OpOptions o) {
  const tandem::detail::CallSite call(o, "adjust_hue");
  impl::check_between("adjust_hue", "delta", delta, -1, 1);
  return impl::with_hue("adjust_hue", x, delta, o);
}
TANDEM_INLINE Tensor adjust_saturation(const Tensor& x, double factor, OpOptions o) {
  const tandem::detail::CallSite call(o, "adjust_saturation");
  if (!(factor >= 0))
    impl::raise("adjust_saturation", "factor must not be negative, but is " + tandem::detail::shortest_text(factor));
  return impl::with_saturation("adjust_saturation", x, factor, o);
}
TANDEM_INLINE Tensor adjust_gamma(const Tensor& x, double gamma, double gain, OpOptions o) {
  const tandem::detail::CallSite call(o, "adjust_gamma");
  if (!(gamma >= 0))
    impl::raise("adjust_gamma", "gamma must not be negative, but is " + tandem::detail::shortest_text(gamma));
  return impl::from_floats(pow(impl::as_floats("adjust_gamma", x), gamma) * gain, x.dtype(), o);
}
TANDEM_INLINE Tensor adjust_jpeg_quality(const Tensor& x, i64 quality, OpOptions o) {
  const tandem::detail::CallSite call(o, "adjust_jpeg_quality");
  const Tensor stored = encode_jpeg(convert_image_dtype(x, DType::uint8), {.quality = quality});
  const Tensor y = convert_image_dtype(decode_jpeg(stored), x.dtype(), {o.name, o.where});
  return x.shape().dim(2) == none ? y : ensure_shape(y, x.shape());
}

TANDEM_INLINE Tensor random_brightness(const Tensor& x, double max_delta, RandomOptions o) {
  const tandem::detail::CallSite call(o, "random_brightness");
  const Tensor delta = impl::draw_delta("random_brightness", max_delta, std::numeric_limits<double>::max(), o);
  return impl::brighter("random_brightness", x, delta, {o.name, o.where});
}
TANDEM_INLINE Tensor random_contrast(const Tensor& x, double lower, double upper, RandomOptions o) {
  const tandem::detail::CallSite call(o, "random_contrast");
  const Tensor factor = impl::draw_factor("random_contrast", lower, upper, o);
  return impl::with_contrast("random_contrast", x, factor, {o.name, o.where});
}
TANDEM_INLINE Tensor random_hue(const Tensor& x, double max_delta, RandomOptions o) {
  const tandem::detail::CallSite call(o, "random_hue");
  impl::check_between("random_hue", "max_delta", max_delta, 0, 0.5);
  return impl::with_hue("random_hue", x, impl::draw_delta("random_hue", max_delta, 0.5, o), {o.name, o.where});
}
TANDEM_INLINE Tensor random_saturation(const Tensor& x, double lower, double upper, RandomOptions o) {
  const tandem::detail::CallSite call(o, "random_saturation");
  const Tensor factor = impl::draw_factor("random_saturation", lower, upper, o);
  return impl::with_saturation("random_saturation", x, factor, {o.name, o.where});
}
TANDEM_INLINE Tensor random_jpeg_quality(const Tensor& x, i64 low, i64 high, RandomOptions o) {
  const tandem::detail::CallSite call(o, "random_jpeg_quality");
  impl::check_between("random_jpeg_quality", "min_quality", static_cast<double>(low), 0, 99);
  impl::check_between("random_jpeg_quality", "max_quality", static_cast<double>(high), 1, 100);
  const Tensor quality = impl::draw("random_jpeg_quality", static_cast<double>(low), static_cast<double>(high), o);
  return adjust_jpeg_quality(x, static_cast<i64>(quality.item<float>()), {o.name, o.where});
}

TANDEM_INLINE Tensor per_image_standardization(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "per_image_standardization");
  impl::check_image_axes("per_image_standardization", x);
  if (!is_floating(x.dtype()) && !is_integer(x.dtype()))
    impl::raise("per_image_standardization", "x must be real numbers, not " + to_string(x.spec()));
  const Tensor f = x.dtype() == DType::float64 ? x : cast(x, DType::float32);
  const Axes axes{-3, -2, -1};
  const Tensor mean = reduce_mean(f, {.axis = axes, .keepdims = true});
  // The square root is taken of what is clamped: it has a gradient for constant images, too.
  const Tensor least = 1 / tandem::detail::size_over(f, axes, f.dtype());
  const Tensor variance = reduce_variance(f, {.axis = axes, .keepdims = true});
  return divide(f - mean, sqrt(maximum(variance, least)), o);
}

}  // namespace TANDEM_NS::image
