// Definitions of image/color.hpp. The numbers of YIQ and YUV are TensorFlow's.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/image/color.hpp"
#include "tandem/image/shapes.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS::image {

namespace impl {
inline void check_colors(const char* op, const Tensor& x) {
  check_rgb(op, x);
  if (!is_floating(x.dtype())) raise(op, "x must be floating: " + to_string(x.spec()) + " (use convert_image_dtype)");
}
inline Tensor channel(const Tensor& x, i64 i) { return slice_by(x, {Ellipsis, Slice(i, i + 1)}); }
// Each new channel is a row of weights times the channels of x.
inline Tensor mixed(const Tensor& x, const double (&weights)[3][3], const OpOptions& o) {
  std::vector<Tensor> mixed;
  for (const auto& w : weights) mixed.push_back(channel(x, 0) * w[0] + channel(x, 1) * w[1] + channel(x, 2) * w[2]);
  return concat(mixed, -1, o);
}
TANDEM_INLINE HueRange hue_of(const Tensor& x) {
  const Tensor r = channel(x, 0), g = channel(x, 1), b = channel(x, 2);
  const Tensor most = reduce_max(x, {.axis = -1, .keepdims = true});
  const Tensor least = reduce_min(x, {.axis = -1, .keepdims = true});
  const Tensor range = most - least, some_range = where(range > 0, range, 1);
  const Tensor sector =
      where(r == most, (g - b) / some_range, where(g == most, (b - r) / some_range + 2, (r - g) / some_range + 4));
  const Tensor hue = where(range > 0, sector / 6, 0);
  return {where(hue < 0, hue + 1, hue), least, most};
}
TANDEM_INLINE Tensor pure_color(const Tensor& hue) {
  const Tensor h = hue * 6;
  return clip_by_value(concat({abs(h - 3) - 1, 2 - abs(h - 2), 2 - abs(h - 4)}, -1), 0, 1);
}
}  // namespace impl

TANDEM_INLINE Tensor rgb_to_grayscale(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "rgb_to_grayscale");
  impl::check_rgb("rgb_to_grayscale", x);
  const Tensor f = impl::as_floats("rgb_to_grayscale", x);
  const Tensor gray = impl::channel(f, 0) * 0.2989 + impl::channel(f, 1) * 0.587 + impl::channel(f, 2) * 0.114;
  return impl::from_floats(gray, x.dtype(), o);
}
TANDEM_INLINE Tensor grayscale_to_rgb(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "grayscale_to_rgb");
  if (x.rank() == 0 || (x.shape().dim(-1) != 1 && x.shape().dim(-1) != none))
    impl::raise("grayscale_to_rgb", "the last axis must have 1 channel: " + to_string(x.spec()));
  return concat({x, x, x}, -1, o);
}
TANDEM_INLINE Tensor rgb_to_hsv(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "rgb_to_hsv");
  impl::check_colors("rgb_to_hsv", x);
  const auto [hue, least, value] = impl::hue_of(x);
  const Tensor saturation = where(value > 0, (value - least) / where(value > 0, value, 1), 0);
  return concat({hue, saturation, value}, -1, o);
}
TANDEM_INLINE Tensor hsv_to_rgb(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "hsv_to_rgb");
  impl::check_colors("hsv_to_rgb", x);
  const Tensor s = impl::channel(x, 1), v = impl::channel(x, 2);
  return multiply((1 - s) + s * impl::pure_color(impl::channel(x, 0)), v, o);
}
TANDEM_INLINE Tensor rgb_to_yiq(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "rgb_to_yiq");
  impl::check_colors("rgb_to_yiq", x);
  return impl::mixed(
      x, {{0.299, 0.587, 0.114}, {0.59590059, -0.27455667, -0.32134392}, {0.2115, -0.52273617, 0.31119955}}, o);
}
TANDEM_INLINE Tensor yiq_to_rgb(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "yiq_to_rgb");
  impl::check_colors("yiq_to_rgb", x);
  return impl::mixed(x, {{1, 0.95598634, 0.6208248}, {1, -0.27201283, -0.64720424}, {1, -1.10674021, 1.70423049}}, o);
}
TANDEM_INLINE Tensor rgb_to_yuv(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "rgb_to_yuv");
  impl::check_colors("rgb_to_yuv", x);
  return impl::mixed(
      x, {{0.299, 0.587, 0.114}, {-0.14714119, -0.28886916, 0.43601035}, {0.61497538, -0.51496512, -0.10001026}}, o);
}
TANDEM_INLINE Tensor yuv_to_rgb(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "yuv_to_rgb");
  impl::check_colors("yuv_to_rgb", x);
  return impl::mixed(x, {{1, 0, 1.13988303}, {1, -0.394642334, -0.58062185}, {1, 2.03206185, 0}}, o);
}

namespace impl {
// Powers of the part of x from `low` on, so that the gradient is finite where the linear part is taken.
inline Tensor power_from(const Tensor& x, double low, double exponent) { return pow(maximum(x, low), exponent); }
inline constexpr double white[] = {0.95047, 1, 1.08883};  // D65, as X, Y, Z
inline constexpr double lab_knee = 6. / 29;               // below its third power the curve of L*a*b* is a line
}  // namespace impl

TANDEM_INLINE Tensor rgb_to_lab(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "rgb_to_lab");
  impl::check_colors("rgb_to_lab", x);
  const Tensor wide = tandem::detail::widened(x);
  const Tensor linear =
      where(wide <= 0.04045, wide / 12.92, impl::power_from((wide + 0.055) / 1.055, 0.095 / 1.055, 2.4));
  const Tensor xyz = impl::mixed(linear,
                                 {{0.4124564 / impl::white[0], 0.3575761 / impl::white[0], 0.1804375 / impl::white[0]},
                                  {0.2126729, 0.7151522, 0.0721750},
                                  {0.0193339 / impl::white[2], 0.1191920 / impl::white[2], 0.9503041 / impl::white[2]}},
                                 {});
  constexpr double d = impl::lab_knee;
  const Tensor f = where(xyz > d * d * d, impl::power_from(xyz, d * d * d, 1. / 3), xyz / (3 * d * d) + 4. / 29);
  const Tensor fy = impl::channel(f, 1);
  const Tensor lab = concat({116 * fy - 16, 500 * (impl::channel(f, 0) - fy), 200 * (fy - impl::channel(f, 2))}, -1);
  return cast(lab, x.dtype(), o);
}
TANDEM_INLINE Tensor lab_to_rgb(const Tensor& x, OpOptions o) {
  const tandem::detail::CallSite call(o, "lab_to_rgb");
  impl::check_colors("lab_to_rgb", x);
  const Tensor wide = tandem::detail::widened(x);
  const Tensor fy = (impl::channel(wide, 0) + 16) / 116;
  const Tensor f = concat({fy + impl::channel(wide, 1) / 500, fy, fy - impl::channel(wide, 2) / 200}, -1);
  constexpr double d = impl::lab_knee;
  const Tensor xyz = where(f > d, f * f * f, (f - 4. / 29) * (3 * d * d));
  const Tensor linear = impl::mixed(xyz,
                                    {{3.2404542 * impl::white[0], -1.5371385, -0.4985314 * impl::white[2]},
                                     {-0.9692660 * impl::white[0], 1.8760108, 0.0415560 * impl::white[2]},
                                     {0.0556434 * impl::white[0], -0.2040259, 1.0572252 * impl::white[2]}},
                                    {});
  const Tensor rgb =
      where(linear <= 0.0031308, linear * 12.92, 1.055 * impl::power_from(linear, 0.0031308, 1 / 2.4) - 0.055);
  return cast(rgb, x.dtype(), o);
}

}  // namespace TANDEM_NS::image
