// Definitions of image/glimpse.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/image/glimpse.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/reduce/arg.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::image {

namespace impl {

// The first row or column of each window, int64 [n], from offsets along this axis.
inline Tensor window_starts(const Tensor& offset, const Tensor& size, i64 window, const ExtractGlimpseOptions& o) {
  const Tensor n = cast(size, DType::float32);
  Tensor at = cast(offset, DType::float32);
  if (o.normalized) at = at * n;
  if (o.centered && o.normalized) at = at * 0.5 + n * 0.5 - static_cast<double>(window) / 2;
  else if (o.centered) at = at + n * 0.5;
  return cast(trunc(at), DType::int64);
}
inline Tensor glimpse_noise(const Tensor& x, const Dims& shape, const ExtractGlimpseOptions& o) {
  if (o.noise == GlimpseNoise::zero) return zeros(Shape{}, x.dtype());
  const Tensor image = stop_gradient(x);
  if (o.noise == GlimpseNoise::uniform) {
    const Tensor low = reduce_min(image, {.axis = {1, 2, 3}, .keepdims = true});
    const Tensor high = reduce_max(image, {.axis = {1, 2, 3}, .keepdims = true});
    return low + (high - low) * random::uniform(shape, {.dtype = x.dtype(), .seed = o.seed, .generator = o.generator});
  }
  const Tensor mean = reduce_mean(image, {.axis = {1, 2}, .keepdims = true});
  const Tensor deviation = sqrt(reduce_mean(square(image - mean), {.axis = {1, 2}, .keepdims = true}));
  const Tensor y =
      mean + deviation * random::normal(shape, {.dtype = x.dtype(), .seed = o.seed, .generator = o.generator});
  return minimum(maximum(y, reduce_min(image, {.axis = {1, 2}, .keepdims = true})),
                 reduce_max(image, {.axis = {1, 2}, .keepdims = true}));
}

}  // namespace impl

TANDEM_INLINE Tensor extract_glimpse(const Tensor& x, const Size& size, const Tensor& offsets,
                                     ExtractGlimpseOptions o) {
  const tandem::detail::CallSite call(o, "extract_glimpse");
  if (x.rank() != 4 || !is_floating(x.dtype()) || offsets.rank() != 2 || !is_floating(offsets.dtype()) ||
      !offsets.shape().is_compatible_with(Shape{x.shape().dim(0), 2}))
    impl::raise("extract_glimpse", "needs floating x [n, height, width, channels] and offsets [n, 2], not " +
                                       to_string(x.spec()) + " and " + to_string(offsets.spec()));
  impl::check_positive("extract_glimpse", size[0], size[1]);
  const std::vector<DimValue> n = get_shape(x);
  const Tensor height = n[1].value(), width = n[2].value();
  const auto along = [&](int axis, const Tensor& length) {  // [n, window]
    const i64 window = size[static_cast<std::size_t>(axis)];
    return expand_dims(impl::window_starts(offsets(Slice(), axis), length, window, o), 1) + range(window);
  };
  const Tensor row = expand_dims(along(0, height), 2), column = expand_dims(along(1, width), 1);
  const Tensor inside = (row >= 0) & (row < height) & (column >= 0) & (column < width);
  const Tensor image = reshape(cast(range(n[0].value()), DType::int64), {-1, 1, 1});
  const Tensor pixel = (image * height + row) * width + column;
  const Tensor pixels = gather(reshape(x, {-1, x.shape()[3]}), where(inside, pixel, i64{0}));
  const Tensor noise = impl::glimpse_noise(x, {n[0], size[0], size[1], n[3]}, o);
  return where(expand_dims(inside, -1), pixels, noise, {o.name, o.where});
}

namespace impl {

inline void check_distortion(const Tensor& image_size, const Tensor& boxes,
                             const SampleDistortedBoundingBoxOptions& o) {
  constexpr const char* op = "sample_distorted_bounding_box";
  if (!dtypes::index.has(image_size.dtype()) || !image_size.shape().is_compatible_with(Shape{3}) || boxes.rank() != 3 ||
      boxes.shape().dim(2) != 4 || boxes.shape().dim(0) > 1 || !is_floating(boxes.dtype()))
    raise(op, "needs an int32 or int64 image_size [3] and floating bounding_boxes [1, n, 4], not " +
                  to_string(image_size.spec()) + " and " + to_string(boxes.spec()));
  check_between(op, "min_object_covered", o.min_object_covered, 0, 1);
  const auto check_range = [&](const char* name, const std::array<double, 2>& range) {
    if (!(range[0] > 0 && range[0] <= range[1]))
      raise(op, std::string(name) + " must be two ascending positive numbers, not " +
                    tandem::detail::shortest_text(range[0]) + " and " + tandem::detail::shortest_text(range[1]));
  };
  check_range("aspect_ratio_range", o.aspect_ratio_range), check_range("area_range", o.area_range);
  check_between(op, "area_range", o.area_range[1], 0, 1);
  if (o.max_attempts < 1) raise(op, "max_attempts must be positive, not " + std::to_string(o.max_attempts));
  if (boxes.shape().dim(0) == none || boxes.shape().dim(1) == none)
    raise(op, "needs to know the number of boxes, which this trace does not: " + to_string(boxes.spec()));
  if (boxes.shape().size() == 0 && !o.use_image_if_no_bounding_boxes)
    raise(op, "there are no bounding_boxes; .use_image_if_no_bounding_boxes takes the image in place of one");
  if (boxes.is_symbolic()) return;
  for (const double v : cast(boxes, DType::float64).to_vector<double>())
    if (!(v >= 0 && v <= 1))
      raise(op, "bounding_boxes must be in [0, 1], but have " + tandem::detail::shortest_text(v));
}

// Rectangles in pixels, as float64 [attempts, 1] each.
struct Rectangles {
  Tensor y, x, height, width;
};
// Draws aspect ratios, then heights between those of the least and the largest area, then places.
inline Rectangles draw_rectangles(const Tensor& image_height, const Tensor& image_width,
                                  const SampleDistortedBoundingBoxOptions& o) {
  const Tensor u =
      random::uniform({o.max_attempts, 4}, {.dtype = DType::float64, .seed = o.seed, .generator = o.generator});
  const auto share = [&](i64 i) { return u(Slice(), Slice(i, i + 1)); };
  // One of the whole numbers from a to b.
  const auto between = [](const Tensor& a, const Tensor& b, const Tensor& part) {
    return minimum(a + floor(part * (b - a + 1)), b);
  };
  const Tensor ratio = o.aspect_ratio_range[0] + share(0) * (o.aspect_ratio_range[1] - o.aspect_ratio_range[0]);
  const Tensor area = image_height * image_width;
  const Tensor widest = floor((image_width + 0.5) / ratio);  // the height of which the width just fits
  const Tensor most = minimum(minimum(round(sqrt(o.area_range[1] * area / ratio)), image_height), widest);
  const Tensor least = minimum(round(sqrt(o.area_range[0] * area / ratio)), most);
  const Tensor height = between(least, most, share(1)), width = minimum(round(height * ratio), image_width);
  const Tensor zero = zeros_like(height);
  return {between(zero, image_height - height, share(2)), between(zero, image_width - width, share(3)), height, width};
}
// bool_ [attempts]: those that have an allowed area, and enough of a box.
inline Tensor are_allowed(const Rectangles& r, const Tensor& boxes, const Tensor& image_area,
                          const SampleDistortedBoundingBoxOptions& o) {
  const Tensor area = r.height * r.width;
  const Tensor fits = (r.height >= 1.) & (r.width >= 1.) & (area >= o.area_range[0] * image_area - 1e-6) &
                      (area <= o.area_range[1] * image_area + 1e-6);
  const auto border = [&](i64 i) { return expand_dims(boxes(Slice(), i), 0); };  // [1, n]
  const auto common = [](const Tensor& a0, const Tensor& a1, const Tensor& b0, const Tensor& b1) {
    return maximum(minimum(a1, b1) - maximum(a0, b0), 0.);
  };
  const Tensor box = (border(2) - border(0)) * (border(3) - border(1));
  const Tensor both =
      common(r.y, r.y + r.height, border(0), border(2)) * common(r.x, r.x + r.width, border(1), border(3));
  const Tensor covers = (box >= 1.) & (both >= o.min_object_covered * box);
  return squeeze(fits, {.axis = 1}) & reduce_any(covers, {.axis = 1});
}

}  // namespace impl

TANDEM_INLINE DistortedBox sample_distorted_bounding_box(const Tensor& image_size, const Tensor& bounding_boxes,
                                                         SampleDistortedBoundingBoxOptions o) {
  const tandem::detail::CallSite call(o, "sample_distorted_bounding_box");
  impl::check_distortion(image_size, bounding_boxes, o);
  const Tensor size = cast(image_size(Slice(0, 2)), DType::float64), height = size[0], width = size[1];
  const Tensor scale = concat({size, size}, 0);  // of y_min, x_min, y_max, x_max
  // In whole pixels, as TensorFlow takes them.
  const Tensor boxes = bounding_boxes.shape().size() == 0
                           ? expand_dims(concat({zeros({2}, DType::float64), size}, 0), 0)
                           : floor(cast(reshape(bounding_boxes, {-1, 4}), DType::float64) * scale);
  const impl::Rectangles drawn = impl::draw_rectangles(height, width, o);
  const Tensor allowed = impl::are_allowed(drawn, boxes, height * width, o);
  const Tensor first = argmax(cast(allowed, DType::int32), {.axis = 0}), any = reduce_any(allowed);
  const auto chosen = [&](const Tensor& of, const Tensor& otherwise) {
    return where(any, gather(squeeze(of, {.axis = 1}), first), otherwise);
  };
  const Tensor none_at = zeros(Shape{}, DType::float64);
  const Tensor h = chosen(drawn.height, height), w = chosen(drawn.width, width);
  const Tensor y = chosen(drawn.y, none_at), x = chosen(drawn.x, none_at);
  const auto list = [](const Tensor& a, const Tensor& b, i64 last) {
    return concat({cast(stack({a, b}), DType::int64), constant({last})}, 0);
  };
  return {list(y, x, 0), list(h, w, -1), reshape(cast(stack({y, x, y + h, x + w}) / scale, DType::float32), {1, 1, 4})};
}

}  // namespace TANDEM_NS::image
