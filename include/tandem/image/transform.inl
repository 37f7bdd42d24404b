// Definitions of image/transform.hpp. Everything is a gather of pixels, weighted: gradients, traces and devices come
// with the ops that it is made of.
#pragma once
#include <cmath>

#include "tandem/core/scope.hpp"
#include "tandem/image/shapes.hpp"
#include "tandem/image/transform.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS::image {

namespace impl {

// Coordinates that fall into [0, size) for the modes that continue the image.
inline Tensor mapped(const Tensor& at, const Tensor& size, FillMode mode) {
  if (mode == FillMode::constant) return at;
  const Tensor last = size - 1;
  const auto inside = [&](const Tensor& t) { return minimum(maximum(t, 0), last); };
  if (mode == FillMode::nearest) return inside(at);
  if (mode == FillMode::reflect) {
    const Tensor t = floormod(at, size * 2);
    return inside(where(t < size, t, size * 2 - 1 - t));
  }
  // As TensorFlow repeats an image: periods of its size, counted in steps of size - 1.
  const Tensor steps = maximum(last, 1);
  const Tensor from_left = at + size * (trunc(-at / steps) + 1), from_right = at - size * trunc(at / steps);
  return inside(where(at < 0, from_left, where(at > last, from_right, at)));
}
// Reads pixels of images, whose rows and columns are whole numbers.
class PixelReader {
 public:
  PixelReader(const Tensor& images, const Tensor& batch, double fill_value) : batch_(batch), fill_value_(fill_value) {
    const std::vector<DimValue> n = get_shape(images);
    height_ = n[1].value(), width_ = n[2].value();
    pixels_ = reshape(images, {-1, n[3]});
  }
  Tensor height(DType d) const { return cast(height_, d); }
  Tensor width(DType d) const { return cast(width_, d); }
  Tensor operator()(const Tensor& row, const Tensor& column) const {
    const Tensor bottom = height(row.dtype()) - 1, right = width(row.dtype()) - 1;
    const Tensor y = cast(minimum(maximum(row, 0), bottom), DType::int64);
    const Tensor x = cast(minimum(maximum(column, 0), right), DType::int64);
    const Tensor value = gather(pixels_, (batch_ * height_ + y) * width_ + x);
    const Tensor is_inside = (row >= 0) & (row <= bottom) & (column >= 0) & (column <= right);
    return where(expand_dims(is_inside, -1), value, fill_value_);
  }

 private:
  Tensor batch_, height_, width_, pixels_;
  double fill_value_;
};
// What is computed in: x's dtype if that is floating.
inline DType sampled_dtype(const Tensor& x) { return x.dtype() == DType::float64 ? DType::float64 : DType::float32; }
inline Tensor as_sampled(const char* op, const Tensor& x) {
  if (!is_floating(x.dtype()) && !is_integer(x.dtype()))
    raise(op, "x must be real numbers, not " + to_string(x.spec()));
  return cast(x, sampled_dtype(x));
}
inline Tensor from_sampled(const Tensor& y, DType dtype, const OpOptions& o) {
  return is_integer(dtype) ? saturate_cast(round(y), dtype, o) : cast(y, dtype, o);
}
inline Tensor batch_numbers(const DimValue& n) {
  const Tensor numbers = n.is_known() ? range(n.number) : range(n.tensor);
  return reshape(cast(numbers, DType::int64), {-1, 1, 1});
}
// A column of the transforms, [n, 1, 1].
inline Tensor coefficient(const Tensor& t, i64 i) { return reshape(t(Slice(), i), {-1, 1, 1}); }
// The positions of an axis, as a float.
inline Tensor positions(const Dim& n, DType dtype) {
  return cast(n.tensor() ? range(*n.tensor()) : range(n.number()), dtype);
}
inline Tensor transformed(const char* op, const Tensor& x, const Tensor& t, const TransformOptions& o) {
  check_rank(op, x);
  const bool is_batch = x.rank() == 4;
  const i64 rows = t.rank() == 2 ? t.shape().dim(0) : 1;
  const i64 images = is_batch ? x.shape().dim(0) : 1;
  if (!is_floating(t.dtype()) || t.rank() < 1 || t.rank() > 2 || t.shape().dim(-1) != 8 ||
      (t.rank() == 2 && rows != 1 && rows != images && rows != none && images != none))
    raise(op, "transforms must be floating, 8 numbers, or as many for each image: " + to_string(t.spec()) + " for " +
                  to_string(x.spec()));
  const Tensor batch = is_batch ? as_sampled(op, x) : expand_dims(as_sampled(op, x), 0);
  const std::vector<DimValue> n = get_shape(batch);
  const DType d = batch.dtype();
  const Tensor a = cast(t.rank() == 1 ? expand_dims(t, 0) : t, d);
  const Dim height = o.output_size ? Dim((*o.output_size)[0]) : Dim(n[1]);
  const Dim width = o.output_size ? Dim((*o.output_size)[1]) : Dim(n[2]);
  const Tensor v = reshape(positions(height, d), {1, -1, 1}), u = reshape(positions(width, d), {1, 1, -1});
  const auto linear = [&](i64 i) { return coefficient(a, i) * u + coefficient(a, i + 1) * v; };
  const Tensor k = linear(6) + 1, is_horizon = k == 0, some_k = where(is_horizon, 1, k);
  const auto seen = [&](const Tensor& t) { return where(is_horizon, INFINITY, t / some_k); };
  const Tensor spread = cast(batch_numbers(n[0]) * 0, d);  // one transform for all images, or one for each
  const Tensor column = seen(linear(0) + coefficient(a, 2)) + spread,
               row = seen(linear(3) + coefficient(a, 5)) + spread;
  const Tensor y = sample(batch, batch_numbers(n[0]), row, column, o.interpolation, o.fill_mode, o.fill_value);
  return from_sampled(is_batch ? y : squeeze(y, {.axis = 0}), x.dtype(), {o.name, o.where});
}

TANDEM_INLINE Tensor sample(const Tensor& images, const Tensor& batch, const Tensor& rows, const Tensor& columns,
                            Sampling interpolation, FillMode fill_mode, double fill_value) {
  const PixelReader pixel(images, batch, fill_value);
  // Points that are not finite are read beyond the edge, with every fill mode.
  const Tensor is_point = is_finite(rows) & is_finite(columns);
  const auto within = [&](const Tensor& at, const Tensor& size) {
    return where(is_point, mapped(at, size, fill_mode), -2);
  };
  const Tensor row = within(rows, pixel.height(rows.dtype())), column = within(columns, pixel.width(columns.dtype()));
  if (interpolation == Sampling::nearest) return pixel(floor(row + 0.5), floor(column + 0.5));
  const Tensor top = floor(row), left = floor(column);
  const Tensor below = expand_dims(row - top, -1), right = expand_dims(column - left, -1);
  const Tensor upper = pixel(top, left) * (1 - right) + pixel(top, left + 1) * right;
  const Tensor lower = pixel(top + 1, left) * (1 - right) + pixel(top + 1, left + 1) * right;
  return upper * (1 - below) + lower * below;
}
}  // namespace impl

TANDEM_INLINE Tensor projective_transform(const Tensor& x, const Tensor& transforms, TransformOptions o) {
  const tandem::detail::CallSite call(o, "projective_transform");
  return impl::transformed("projective_transform", x, transforms, o);
}
TANDEM_INLINE Tensor affine_transform(const Tensor& x, const Tensor& transforms, TransformOptions o) {
  const tandem::detail::CallSite call(o, "affine_transform");
  const int rank = transforms.rank();
  if (rank < 1 || rank > 2 || transforms.shape().dim(-1) != 6)
    impl::raise("affine_transform", "transforms must be [6] or [n, 6], not " + to_string(transforms.spec()));
  const Tensor all = rank == 1 ? pad(transforms, {{0, 2}}) : pad(transforms, {{0, 0}, {0, 2}});
  return impl::transformed("affine_transform", x, all, o);
}
TANDEM_INLINE Tensor rotate(const Tensor& x, const Tensor& angles, TransformOptions o) {
  const tandem::detail::CallSite call(o, "rotate");
  const auto [height, width] = impl::known_size("rotate", x);
  if (o.output_size) impl::raise("rotate", "has no .output_size: the result is as large as x");
  if (!is_floating(angles.dtype()) || angles.rank() > 1)
    impl::raise("rotate", "angles must be floating, a scalar or [n], not " + to_string(angles.spec()));
  const Tensor c = cos(reshape(angles, {-1})), s = sin(reshape(angles, {-1})), zero = c * 0;
  const auto right = static_cast<double>(width - 1), bottom = static_cast<double>(height - 1);
  const Tensor shift_x = (right - (c * right - s * bottom)) / 2., shift_y = (bottom - (s * right + c * bottom)) / 2.;
  return impl::transformed("rotate", x, stack({c, -s, shift_x, s, c, shift_y, zero, zero}, {.axis = 1}), o);
}
TANDEM_INLINE Tensor rotate(const Tensor& x, double angle, TransformOptions o) {
  return rotate(x, constant(angle, {.dtype = impl::sampled_dtype(x)}), o);
}
TANDEM_INLINE Tensor grid_sample(const Tensor& x, const Tensor& grid, GridSampleOptions o) {
  const tandem::detail::CallSite call(o, "grid_sample");
  if (x.rank() != 4 || grid.rank() != 4 || grid.shape().dim(3) != 2 || !is_floating(grid.dtype()) ||
      (x.shape().dim(0) != grid.shape().dim(0) && x.shape().dim(0) != none && grid.shape().dim(0) != none))
    impl::raise("grid_sample", "needs x [n, height, width, channels] and a floating grid [n, h, w, 2], not " +
                                   to_string(x.spec()) + " and " + to_string(grid.spec()));
  const Tensor images = impl::as_sampled("grid_sample", x), points = cast(grid, images.dtype());
  const std::vector<DimValue> n = get_shape(images);
  const auto pixels = [&](i64 i, const DimValue& size) {
    const Tensor share = (points(Ellipsis, i) + 1) / 2., count = cast(size.value(), images.dtype());
    return o.align_corners ? share * (count - 1) : share * count - 0.5;
  };
  const Tensor y = impl::sample(images, impl::batch_numbers(n[0]), pixels(1, n[1]), pixels(0, n[2]), o.interpolation,
                                o.fill_mode, o.fill_value);
  return impl::from_sampled(y, x.dtype(), {o.name, o.where});
}

}  // namespace TANDEM_NS::image
