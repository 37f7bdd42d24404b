// Definitions of layers/resizing.hpp.
#pragma once
#include <algorithm>

#include "tandem/layers/image.hpp"
#include "tandem/layers/resizing.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/half.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/norm/layer_norm.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/transpose.hpp"

namespace TANDEM_NS::layers {

namespace detail {

// x with an axis of another size.
TANDEM_INLINE Tensor resized_axis(const Tensor& x, int axis, i64 size, bool is_bilinear) {
  if (x.shape().dim(axis) == size) return x;
  const Tensor n = tandem::detail::size_over(x, axis, DType::int64), last = n - 1;
  // The new pixels' centers in x, times 2 size: whole numbers, because float32 rounds centers across pixels.
  const Tensor centers = (range(size) * 2 + 1) * n;
  const auto pixels = [&](const Tensor& at) { return gather(x, minimum(maximum(at, 0), last), axis); };
  if (!is_bilinear) return pixels(floordiv(centers, 2 * size));
  const Tensor at = centers - size, before = floordiv(at, 2 * size);
  const Tensor share = cast(at - before * (2 * size), DType::float64) / (2. * static_cast<double>(size));
  const Tensor part = tandem::detail::along_axes(cast(share, x.dtype()), 1u << axis, x.rank());
  return pixels(before) * (1 - part) + pixels(before + 1) * part;
}
// The part in the middle of an axis.
TANDEM_INLINE Tensor middle_of(const Tensor& x, int axis, i64 size) {
  const i64 from = (x.shape().dim(axis) - size) / 2;
  Shape begin, end;
  for (int i = 0; i < x.rank(); ++i)
    begin.push_back(i == axis ? from : 0), end.push_back(i == axis ? from + size : none);
  return strided_slice(x, begin, end);
}

}  // namespace detail

TANDEM_INLINE Resizing::Resizing(i64 height, i64 width, const ResizingOptions& options)
    : Layer("resizing"),
      height_(detail::positive("Resizing", "height", height)),
      width_(detail::positive("Resizing", "width", width)),
      options_(options) {
  const auto f = options.interpolation.function();
  if (f && f != Interpolation::bilinear.function())
    errors::raise<errors::InvalidArgumentError>("Resizing",
                                                "needs Interpolation::bilinear or nearest, not another function");
}
TANDEM_INLINE Tensor Resizing::cropped(const Tensor& x) const {
  const int axis = detail::first_spatial(options_.data_format);
  const i64 h = x.shape().dim(axis), w = x.shape().dim(axis + 1);
  if (h == none || w == none)
    errors::raise<errors::InvalidArgumentError>(
        "Resizing", ".crop_to_aspect_ratio needs the sizes of the images: " + to_string(x.spec()));
  const Tensor rows = detail::middle_of(x, axis, std::min(h, w * height_ / width_));
  return detail::middle_of(rows, axis + 1, std::min(w, h * width_ / height_));
}
TANDEM_INLINE Tensor Resizing::operator()(const Tensor& input) const {
  const InCall here(*this);
  detail::check_image("Resizing", input, 2);
  const int axis = detail::first_spatial(options_.data_format);
  const Tensor x = options_.crop_to_aspect_ratio ? cropped(input) : input;
  if (x.shape().dim(axis) == 0 || x.shape().dim(axis + 1) == 0)
    errors::raise<errors::InvalidArgumentError>("Resizing", "the images have no pixels: " + to_string(input.spec()));
  if (!options_.interpolation.function())
    return detail::resized_axis(detail::resized_axis(x, axis, height_, false), axis + 1, width_, false);
  const DType dtype = is_floating(x.dtype()) ? x.dtype() : DType::float32;
  const tandem::detail::ShapeChecks lenient(false);
  const Tensor wide = cast(x, tandem::detail::widened(dtype));
  return cast(detail::resized_axis(detail::resized_axis(wide, axis, height_, true), axis + 1, width_, true), dtype);
}

TANDEM_INLINE Tensor RandomFlip::operator()(const Tensor& x, const CallOptions& call) const {
  const InCall here(*this);
  detail::check_image("RandomFlip", x, 2);
  if (!call.is_training()) return x;
  const Tensor draws = random::uniform({get_shape(x)[0], 1, 1, 1, 2}, {.seed = options_.seed});
  const int axis = detail::first_spatial(options_.data_format);
  const auto flipped = [&](const Tensor& images, int direction) {
    const Tensor coin = draws(Slice(), Slice(), Slice(), Slice(), direction) < 0.5;
    return where(coin, reverse(images, axis + direction), images);
  };
  Tensor y = x;
  if (mode_ != FlipMode::horizontal) y = flipped(y, 0);
  if (mode_ != FlipMode::vertical) y = flipped(y, 1);
  return y;
}

}  // namespace TANDEM_NS::layers
