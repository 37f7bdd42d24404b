// Definitions of image/crop.hpp.
#pragma once
#include "tandem/core/scope.hpp"
#include "tandem/image/crop.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/pointwise/trig.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::image {

namespace impl {
// One of the numbers for each axis of an image, `other` for the axis of the batch and for channels.
inline Shape along_image(const Tensor& x, i64 rows, i64 columns, i64 other) {
  Shape s;
  if (x.rank() == 4) s.push_back(other);
  for (const i64 n : {rows, columns, other}) s.push_back(n);
  return s;
}
// The part of an axis that central_crop keeps.
inline Slice middle(const DimValue& size, double fraction) {
  if (size.is_known()) {
    const auto n = static_cast<double>(size.number);
    const auto margin = static_cast<i64>((n - n * fraction) / 2);
    return {margin, size.number - margin};
  }
  const Tensor n = cast(size.tensor, DType::float64), margin = cast((n - n * fraction) / 2., DType::int64);
  return {SliceBound(margin), SliceBound(size.tensor - margin)};
}
// Whether each position of an axis lies within `length` positions from `begin`: [images, size], or with `is_row`
// false transposed for an image's columns.
inline Tensor within(const DimValue& size, const Tensor& center, i64 length) {
  const Tensor at = cast(size.is_known() ? range(size.number) : range(size.tensor), DType::float32);
  const Tensor begin = center - static_cast<double>(length / 2);
  return (at >= begin) & (at < begin + static_cast<double>(length));
}
}  // namespace impl

TANDEM_INLINE Tensor central_crop(const Tensor& x, double fraction, OpOptions o) {
  const tandem::detail::CallSite call(o, "central_crop");
  impl::check_rank("central_crop", x);
  if (!(fraction > 0 && fraction <= 1))
    impl::raise("central_crop", "fraction must be in (0, 1], not " + tandem::detail::shortest_text(fraction));
  const std::vector<DimValue> sizes = get_shape(x);
  const std::size_t rows = sizes.size() - 3;
  return slice_by(x, {Ellipsis, impl::middle(sizes[rows], fraction), impl::middle(sizes[rows + 1], fraction), Slice()},
                  o);
}
TANDEM_INLINE Tensor crop_to_bounding_box(const Tensor& x, i64 oy, i64 ox, i64 height, i64 width, OpOptions o) {
  const tandem::detail::CallSite call(o, "crop_to_bounding_box");
  impl::check_rank("crop_to_bounding_box", x);
  impl::check_positive("crop_to_bounding_box", height, width);
  if (oy < 0 || ox < 0)
    impl::raise("crop_to_bounding_box",
                "offsets must not be negative: " + std::to_string(oy) + ", " + std::to_string(ox));
  return slice(x, impl::along_image(x, oy, ox, 0), impl::along_image(x, height, width, -1), o);
}
TANDEM_INLINE Tensor pad_to_bounding_box(const Tensor& x, i64 oy, i64 ox, i64 height, i64 width, OpOptions o) {
  const tandem::detail::CallSite call(o, "pad_to_bounding_box");
  impl::check_rank("pad_to_bounding_box", x);
  const std::vector<DimValue> sizes = get_shape(x);
  const std::size_t rows = sizes.size() - 3;
  const auto behind = [&](const DimValue& size, i64 offset, i64 target) -> Dim {
    if (!size.is_known()) return Dim(target - offset - size.tensor);
    if (offset < 0 || target - offset < size.number)
      impl::raise("pad_to_bounding_box", "an axis of " + std::to_string(size.number) + " pixels at " +
                                             std::to_string(offset) + " does not fit into " + std::to_string(target) +
                                             ": " + to_string(x.spec()));
    return Dim(target - offset - size.number);
  };
  const Dim below = behind(sizes[rows], oy, height), right = behind(sizes[rows + 1], ox, width);
  return x.rank() == 3 ? pad(x, {{oy, below}, {ox, right}, {0, 0}}, {o.name, o.where})
                       : pad(x, {{0, 0}, {oy, below}, {ox, right}, {0, 0}}, {o.name, o.where});
}
TANDEM_INLINE Tensor random_crop(const Tensor& x, const Shape& size, RandomOptions o) {
  const tandem::detail::CallSite call(o, "random_crop");
  bool fits = size.rank() == x.rank();
  for (int i = 0; fits && i < x.rank(); ++i)
    fits = size.dim(i) >= -1 && (x.shape().dim(i) == none || size.dim(i) <= x.shape().dim(i));
  if (!fits)
    impl::raise("random_crop",
                "cannot cut " + to_string(size) + " out of " + to_string(x.spec()) + " (one size for each axis)");
  const Tensor share = random::uniform({x.rank()}, {.dtype = DType::float64, .seed = o.seed, .generator = o.generator});
  const Tensor part = Dims(size).tensor("random_crop");
  const Tensor places = where(part < 0, 1, shape(x, {.out_type = DType::int64}) - part + 1);
  return slice(x, Dims(cast(floor(share * cast(places, DType::float64)), DType::int64)), size, {o.name, o.where});
}
TANDEM_INLINE Tensor cutout(const Tensor& x, const Size& size, double value, RandomOptions o) {
  const tandem::detail::CallSite call(o, "cutout");
  impl::check_rank("cutout", x);
  impl::check_positive("cutout", size[0], size[1]);
  const std::vector<DimValue> sizes = get_shape(x);
  const std::size_t rows = sizes.size() - 3;
  const Dim images = rows ? sizes[0] : Dim(1);
  // Centers, [images, 1, 2], as shares of the axes.
  const Tensor share = random::uniform({images, 1, 2}, {.seed = o.seed, .generator = o.generator});
  const auto inside = [&](int axis) {
    const DimValue& n = sizes[rows + static_cast<std::size_t>(axis)];
    const Tensor center = floor(share(Slice(), Slice(), axis) * cast(n.value(), DType::float32));
    return impl::within(n, center, size[static_cast<std::size_t>(axis)]);
  };
  Tensor square = expand_dims(inside(0), 2) & expand_dims(inside(1), 1);
  square = expand_dims(rows ? square : squeeze(square, {.axis = 0}), -1);
  return where(square, value, x, {o.name, o.where});
}

}  // namespace TANDEM_NS::image
