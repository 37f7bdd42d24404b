// Definitions of image/layers.hpp.
#pragma once
#include <algorithm>
#include <numbers>

#include "tandem/image/crop.hpp"
#include "tandem/image/layers.hpp"
#include "tandem/image/resize.hpp"
#include "tandem/image/shapes.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::layers {

namespace detail {
inline AmountRange checked_range(const char* layer, AmountRange r, double lowest, double highest) {
  if (!(r.lower <= r.upper && r.lower >= lowest && r.upper <= highest))
    errors::raise<errors::InvalidArgumentError>(
        layer, "the bounds " + tandem::detail::shortest_text(r.lower) + " and " +
                   tandem::detail::shortest_text(r.upper) + " must be in order, in [" +
                   tandem::detail::shortest_text(lowest) + ", " + tandem::detail::shortest_text(highest) + "]");
  return r;
}
// A number for each image of x, [n].
inline Tensor amounts(const Tensor& x, AmountRange r, std::optional<i64> seed) {
  const Dims n = x.rank() == 4 ? Dims{get_shape(x)[0]} : Dims{1};
  if (r.lower == r.upper) return fill(n, r.lower);
  return random::uniform(n, {.minval = r.lower, .maxval = r.upper, .seed = seed});
}
// Of that size in the same aspect ratio, as large as needed to cut the size out of it.
inline Tensor at_least(const char* layer, const Tensor& x, i64 height, i64 width) {
  const auto [h, w] = image::impl::known_size(layer, x);
  if (h >= height && w >= width) return x;
  const double scale = std::max(static_cast<double>(height) / static_cast<double>(h),
                                static_cast<double>(width) / static_cast<double>(w));
  const auto scaled = [&](i64 n, i64 least) {
    return std::max(least, static_cast<i64>(static_cast<double>(n) * scale));
  };
  return image::resize(x, {scaled(h, height), scaled(w, width)});
}
inline Tensor middle(const char* layer, const Tensor& x, i64 height, i64 width) {
  return image::resize_with_crop_or_pad(at_least(layer, x, height, width), height, width);
}
// The affine transform whose six coefficients are tensors [n].
inline Tensor moved(const Tensor& x, const std::vector<Tensor>& coefficients, const RandomTransformOptions& o) {
  return image::affine_transform(
      x, stack(coefficients, {.axis = 1}),
      {.interpolation = o.interpolation, .fill_mode = o.fill_mode, .fill_value = o.fill_value});
}
inline Tensor per_image(const Tensor& amount, const Tensor& x) {
  return reshape(cast(amount, x.dtype()), x.rank() == 4 ? Shape{-1, 1, 1, 1} : Shape{1, 1, 1});
}
inline Tensor as_colors(const char* layer, const Tensor& x) {
  image::impl::check_rank(layer, x);
  if (!is_floating(x.dtype()) && !is_integer(x.dtype()))
    errors::raise<errors::InvalidArgumentError>(layer, "x must be real numbers, not " + to_string(x.spec()));
  return is_floating(x.dtype()) ? x : cast(x, DType::float32);
}
}  // namespace detail

TANDEM_INLINE CenterCrop::CenterCrop(i64 height, i64 width)
    : Layer("center_crop"),
      height_(detail::positive("CenterCrop", "height", height)),
      width_(detail::positive("CenterCrop", "width", width)) {}
TANDEM_INLINE Tensor CenterCrop::operator()(const Tensor& x) const {
  const InCall here(*this);
  return detail::middle("CenterCrop", x, height_, width_);
}

TANDEM_INLINE RandomCrop::RandomCrop(i64 height, i64 width, const RandomCropOptions& options)
    : Layer("random_crop"),
      height_(detail::positive("RandomCrop", "height", height)),
      width_(detail::positive("RandomCrop", "width", width)),
      options_(options) {}
TANDEM_INLINE Tensor RandomCrop::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  if (!call.is_training()) return detail::middle("RandomCrop", x, height_, width_);
  const Tensor large = detail::at_least("RandomCrop", x, height_, width_);
  const auto all = [&](int axis) { return large.shape().dim(axis) == none ? -1 : large.shape().dim(axis); };
  Shape size{height_, width_, all(-1)};
  if (large.rank() == 4) size = {all(0), height_, width_, all(-1)};
  return image::random_crop(large, size, {.seed = options_.seed});
}

TANDEM_INLINE RandomRotation::RandomRotation(AmountRange factor, const RandomTransformOptions& options)
    : Layer("random_rotation"), factor_(detail::checked_range("RandomRotation", factor, -1, 1)), options_(options) {}
TANDEM_INLINE Tensor RandomRotation::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  image::impl::check_rank("RandomRotation", x);
  if (!call.is_training()) return x;
  const Tensor angles = detail::amounts(x, factor_, options_.seed) * (2 * std::numbers::pi);
  return image::rotate(
      x, angles,
      {.interpolation = options_.interpolation, .fill_mode = options_.fill_mode, .fill_value = options_.fill_value});
}

TANDEM_INLINE RandomTranslation::RandomTranslation(AmountRange height, AmountRange width,
                                                   const RandomTransformOptions& options)
    : Layer("random_translation"),
      height_(detail::checked_range("RandomTranslation", height, -1, 1)),
      width_(detail::checked_range("RandomTranslation", width, -1, 1)),
      options_(options) {}
TANDEM_INLINE Tensor RandomTranslation::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  const auto [h, w] = image::impl::known_size("RandomTranslation", x);
  if (!call.is_training()) return x;
  const Tensor down = detail::amounts(x, height_, options_.seed) * static_cast<double>(h);
  const Tensor right = detail::amounts(x, width_, options_.seed) * static_cast<double>(w);
  const Tensor one = down * 0 + 1, zero = down * 0;
  return detail::moved(x, {one, zero, -right, zero, one, -down}, options_);
}

TANDEM_INLINE RandomZoom::RandomZoom(AmountRange height, std::optional<AmountRange> width,
                                     const RandomTransformOptions& options)
    : Layer("random_zoom"),
      height_(detail::checked_range("RandomZoom", height, -0.999, 1e6)),
      width_(width),
      options_(options) {
  if (width) detail::checked_range("RandomZoom", *width, -0.999, 1e6);
}
TANDEM_INLINE Tensor RandomZoom::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  const auto [h, w] = image::impl::known_size("RandomZoom", x);
  if (!call.is_training()) return x;
  const Tensor down = detail::amounts(x, height_, options_.seed) + 1;
  const Tensor across = width_ ? detail::amounts(x, *width_, options_.seed) + 1 : down;
  const Tensor zero = down * 0;
  const auto shift = [](const Tensor& zoom, i64 n) { return (1 - zoom) * (static_cast<double>(n - 1) / 2); };
  return detail::moved(x, {across, zero, shift(across, w), zero, down, shift(down, h)}, options_);
}

TANDEM_INLINE RandomContrast::RandomContrast(AmountRange factor, const RandomColorOptions& options)
    : Layer("random_contrast"),
      amount_(factor.lower < 0 ? 1 + factor.lower : 1 - factor.lower, 1 + factor.upper),
      options_(options) {
  detail::checked_range("RandomContrast", amount_, 0, 1e6);
}
TANDEM_INLINE Tensor RandomContrast::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  const Tensor f = detail::as_colors("RandomContrast", x);
  if (!call.is_training()) return f;
  const Tensor amount = detail::per_image(detail::amounts(x, amount_, options_.seed), f);
  const Tensor mean = reduce_mean(f, {.axis = {-3, -2}, .keepdims = true});
  return clip_by_value((f - mean) * amount + mean, options_.lowest, options_.highest);
}

TANDEM_INLINE RandomBrightness::RandomBrightness(AmountRange factor, const RandomColorOptions& options)
    : Layer("random_brightness"),
      factor_(detail::checked_range("RandomBrightness", factor, -1, 1)),
      options_(options) {}
TANDEM_INLINE Tensor RandomBrightness::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  const Tensor f = detail::as_colors("RandomBrightness", x);
  if (!call.is_training()) return f;
  const Tensor delta = detail::amounts(x, factor_, options_.seed) * (options_.highest - options_.lowest);
  return clip_by_value(f + detail::per_image(delta, f), options_.lowest, options_.highest);
}

}  // namespace TANDEM_NS::layers
