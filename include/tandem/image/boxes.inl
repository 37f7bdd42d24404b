// Definitions of image/boxes.hpp.
#pragma once
#include <algorithm>
#include <numeric>

#include "tandem/core/scope.hpp"
#include "tandem/image/boxes.hpp"
#include "tandem/image/shapes.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS::image {

namespace impl {
// TensorFlow's: yellow, blue, red, lime, purple, olive, maroon, navy, aqua, fuchsia, in so many channels; a single one
// is 1 in all of them.
inline Tensor default_colors(i64 channels, DType dtype) {
  constexpr float rgba[10][4] = {{1, 1, 0, 1},       {0, 0, 1, 1},    {1, 0, 0, 1},    {0, 1, 0, 1}, {0.5f, 0, 0.5f, 1},
                                 {0.5f, 0.5f, 0, 1}, {0.5f, 0, 0, 1}, {0, 0, 0.5f, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}};
  std::vector<float> values;
  for (const auto& color : rgba)
    for (i64 c = 0; c < channels; ++c) values.push_back(channels == 1 ? 1 : color[c]);
  return constant(values, {.dtype = dtype, .shape = {10, channels}});
}
// Corners in order; the overlap of two boxes. T is what TensorFlow computes in: thresholds are compared with its
// roundings.
template <class T>
struct Box {
  T top, left, bottom, right;
  explicit Box(const T* corners)
      : top(std::min(corners[0], corners[2])),
        left(std::min(corners[1], corners[3])),
        bottom(std::max(corners[0], corners[2])),
        right(std::max(corners[1], corners[3])) {}
  T area() const { return (bottom - top) * (right - left); }
};
template <class T>
T overlap(const Box<T>& a, const Box<T>& b) {
  if (a.area() <= 0 || b.area() <= 0) return 0;
  const T h = std::min(a.bottom, b.bottom) - std::max(a.top, b.top);
  const T w = std::min(a.right, b.right) - std::max(a.left, b.left);
  const T both = std::max<T>(h, 0) * std::max<T>(w, 0);
  return both / (a.area() + b.area() - both);
}
template <class T>
std::vector<std::int32_t> chosen_boxes(const Tensor& boxes, const Tensor& scores, i64 most,
                                       const NonMaxSuppressionOptions& o) {
  const std::vector<T> corners = cast(boxes, dtype_of<T>()).template to_vector<T>();
  const std::vector<T> score = cast(scores, dtype_of<T>()).template to_vector<T>();
  const auto box = [&](std::int32_t i) { return Box<T>(corners.data() + 4 * static_cast<std::size_t>(i)); };
  std::vector<std::int32_t> order, chosen;
  for (std::size_t i = 0; i < score.size(); ++i)
    if (score[i] > static_cast<T>(o.score_threshold)) order.push_back(static_cast<std::int32_t>(i));
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return score[static_cast<std::size_t>(a)] > score[static_cast<std::size_t>(b)];
  });
  for (const std::int32_t i : order) {
    if (static_cast<i64>(chosen.size()) == most) break;
    const Box<T> candidate = box(i);
    if (std::none_of(chosen.begin(), chosen.end(),
                     [&](std::int32_t k) { return overlap(candidate, box(k)) > static_cast<T>(o.iou_threshold); }))
      chosen.push_back(i);
  }
  return chosen;
}
// The points of an axis of size n between two borders: [b, count].
inline Tensor between(const Tensor& from, const Tensor& to, i64 count, const Tensor& n) {
  const Tensor last = cast(n, from.dtype()) - 1;
  if (count == 1) return expand_dims((from + to) * 0.5 * last, -1);
  const Tensor step = (to - from) * last / static_cast<double>(count - 1);
  return expand_dims(from * last, -1) + cast(range(count), from.dtype()) * expand_dims(step, -1);
}
}  // namespace impl

TANDEM_INLINE Tensor draw_bounding_boxes(const Tensor& x, const Tensor& boxes, const Tensor& colors, OpOptions o) {
  const tandem::detail::CallSite call(o, "draw_bounding_boxes");
  if (x.rank() != 4 || !is_floating(x.dtype()) || boxes.rank() != 3 || boxes.shape().dim(2) != 4 ||
      !is_floating(boxes.dtype()) || boxes.shape().dim(1) == none)
    impl::raise("draw_bounding_boxes", "needs floating x [n, height, width, channels] and boxes [n, b, 4], not " +
                                           to_string(x.spec()) + " and " + to_string(boxes.spec()));
  const i64 channels = x.shape().dim(3);
  if (colors.is_set() ? colors.rank() != 2 || colors.shape().dim(0) < 1 || colors.shape().dim(1) != channels
                      : channels > 4)
    impl::raise("draw_bounding_boxes", "colors must be [k, channels], as many channels as " + to_string(x.spec()));
  const Tensor palette = colors.is_set() ? cast(colors, x.dtype()) : impl::default_colors(channels, x.dtype());
  const std::vector<DimValue> n = get_shape(x);
  // Whole numbers, but floating, so that nothing lies between borders one of which is NaN.
  const auto borders = [&](i64 i, const DimValue& size) {
    return cast(trunc(boxes(Slice(), Slice(), i) * cast(size.value() - 1, boxes.dtype())), DType::float64);
  };
  const Tensor top = borders(0, n[1]), left = borders(1, n[2]), bottom = borders(2, n[1]), right = borders(3, n[2]);
  const auto numbers = [](const DimValue& d, const Shape& shape) {
    return reshape(cast(d.is_known() ? range(d.number) : range(d.tensor), DType::float64), shape);
  };
  const Tensor row = numbers(n[1], {1, -1, 1}), column = numbers(n[2], {1, 1, -1});
  Tensor y = stop_gradient(x);
  for (i64 b = 0; b < boxes.shape().dim(1); ++b) {
    const auto border = [&](const Tensor& t) { return reshape(t(Slice(), b), {-1, 1, 1}); };
    const Tensor y0 = border(top), x0 = border(left), y1 = border(bottom), x1 = border(right);
    const Tensor inside = (row >= y0) & (row <= y1) & (column >= x0) & (column <= x1);
    const Tensor line = inside & ((row == y0) | (row == y1) | (column == x0) | (column == x1));
    y = where(expand_dims(line, -1), palette[b % palette.shape().dim(0)], y);
  }
  return identity(y, o);
}

TANDEM_INLINE Tensor non_max_suppression(const Tensor& boxes, const Tensor& scores, i64 most,
                                         NonMaxSuppressionOptions o) {
  constexpr const char* op = "non_max_suppression";
  tandem::detail::check_value(op, boxes), tandem::detail::check_value(op, scores);
  if (boxes.rank() != 2 || boxes.shape().dim(1) != 4 || scores.rank() != 1 || !is_floating(boxes.dtype()) ||
      !is_floating(scores.dtype()) || scores.shape().dim(0) != boxes.shape().dim(0))
    impl::raise(op, "needs floating boxes [n, 4] and scores [n], not " + to_string(boxes.spec()) + " and " +
                        to_string(scores.spec()));
  impl::check_between(op, "iou_threshold", o.iou_threshold, 0, 1);
  if (most < 0) impl::raise(op, "max_output_size must not be negative, but is " + std::to_string(most));
  const bool is_double = boxes.dtype() == DType::float64 || scores.dtype() == DType::float64;
  return constant(is_double ? impl::chosen_boxes<double>(boxes, scores, most, o)
                            : impl::chosen_boxes<float>(boxes, scores, most, o));
}

TANDEM_INLINE Tensor crop_and_resize(const Tensor& x, const Tensor& boxes, const Tensor& box_indices, const Size& size,
                                     CropAndResizeOptions o) {
  const tandem::detail::CallSite call(o, "crop_and_resize");
  if (x.rank() != 4 || boxes.rank() != 2 || boxes.shape().dim(1) != 4 || box_indices.rank() != 1 ||
      !is_floating(boxes.dtype()) || !dtypes::index.has(box_indices.dtype()) ||
      (!is_floating(x.dtype()) && !is_integer(x.dtype())))
    impl::raise("crop_and_resize", "needs x [n, height, width, channels], floating boxes [b, 4] and indices [b], not " +
                                       to_string(x.spec()) + ", " + to_string(boxes.spec()) + " and " +
                                       to_string(box_indices.spec()));
  impl::check_positive("crop_and_resize", size[0], size[1]);
  const Tensor images = cast(x, x.dtype() == DType::float64 ? DType::float64 : DType::float32);
  const Tensor place = cast(boxes, images.dtype());
  const std::vector<DimValue> n = get_shape(images);
  // Raises for an image that is not there: gather checks its indices.
  const Tensor batch = reshape(gather(cast(range(n[0].value()), DType::int64), box_indices), {-1, 1, 1});
  const auto points = [&](i64 axis, i64 count) {
    return impl::between(place(Slice(), axis), place(Slice(), axis + 2), count,
                         n[static_cast<std::size_t>(axis) + 1].value());
  };
  const Tensor rows = expand_dims(points(0, size[0]), 2), columns = expand_dims(points(1, size[1]), 1);
  const Tensor row = rows + columns * 0, column = columns + rows * 0;
  const auto inside = [&](const Tensor& at, const DimValue& d) {
    return (at >= 0) & (at <= cast(d.value() - 1, at.dtype()));
  };
  const Tensor value = impl::sample(images, batch, row, column, o.method, FillMode::nearest, 0);
  const Tensor is_inside = expand_dims(inside(row, n[1]) & inside(column, n[2]), -1);
  return where(is_inside, value, o.extrapolation_value, {o.name, o.where});
}

TANDEM_INLINE Tensor extract_patches(const Tensor& x, const Size& sizes, ExtractPatchesOptions o) {
  const tandem::detail::CallSite call(o, "extract_patches");
  if (x.rank() != 4)
    impl::raise("extract_patches", "x must be [n, height, width, channels], not " + to_string(x.spec()));
  for (const Size& s : {sizes, o.strides, o.rates})
    if (s[0] < 1 || s[1] < 1) impl::raise("extract_patches", "sizes, strides and rates must be positive");
  if (o.padding.kind() == PaddingKind::given || o.padding.is_causal())
    impl::raise("extract_patches", "padding must be Padding::valid or Padding::same");
  const auto [height, width] = impl::known_size("extract_patches", x);
  i64 count[2], before[2], after[2];
  for (std::size_t i = 0; i < 2; ++i) {
    const i64 n = i ? width : height, reach = (sizes[i] - 1) * o.rates[i] + 1;
    const bool same = o.padding.kind() == PaddingKind::same;
    count[i] = same ? (n + o.strides[i] - 1) / o.strides[i] : n < reach ? 0 : (n - reach) / o.strides[i] + 1;
    const i64 missing = same ? std::max<i64>(0, (count[i] - 1) * o.strides[i] + reach - n) : 0;
    before[i] = missing / 2, after[i] = missing - missing / 2;
  }
  if (count[0] == 0 || count[1] == 0) {
    const std::vector<DimValue> n = get_shape(x);
    return zeros({n[0], count[0], count[1], sizes[0] * sizes[1] * n[3].number}, {.dtype = x.dtype()});
  }
  const Tensor p = pad(x, {{0, 0}, {before[0], after[0]}, {before[1], after[1]}, {0, 0}});
  std::vector<Tensor> pixels;
  for (i64 i = 0; i < sizes[0]; ++i)
    for (i64 k = 0; k < sizes[1]; ++k) {
      const i64 y = i * o.rates[0], z = k * o.rates[1];
      pixels.push_back(p(Slice(), Slice(y, y + (count[0] - 1) * o.strides[0] + 1, o.strides[0]),
                         Slice(z, z + (count[1] - 1) * o.strides[1] + 1, o.strides[1])));
    }
  return concat(pixels, -1, {o.name, o.where});
}

}  // namespace TANDEM_NS::image
