// Definitions of layers/padding.hpp.
#pragma once
#include <cmath>

#include "tandem/layers/image.hpp"
#include "tandem/layers/padding.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/debug/assert.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/reduce/like.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/ops/shape/slice.hpp"
#include "tandem/ops/shape/tile.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE std::vector<std::pair<i64, i64>> Borders::pairs(const char* layer, int spatial) const {
  std::vector<std::pair<i64, i64>> r = pairs_;
  if (spatial == 1 && numbers_.size() == 2) r = {{numbers_[0], numbers_[1]}};
  else
    for (const i64 n : numbers_) r.push_back({n, n});
  if (numbers_.size() == 1) r.resize(static_cast<std::size_t>(spatial), r[0]);
  if (r.size() != static_cast<std::size_t>(spatial))
    errors::raise<errors::InvalidArgumentError>(
        layer, "got borders for " + std::to_string(r.size()) + " of " + std::to_string(spatial) + " spatial axes");
  for (const auto& [before, after] : r)
    if (before < 0 || after < 0)
      errors::raise<errors::InvalidArgumentError>(
          layer, "a border is negative: {" + std::to_string(before) + ", " + std::to_string(after) + "}");
  return r;
}

namespace detail {

TANDEM_INLINE Tensor ZeroPadding::operator()(const Tensor& x) const {
  const InCall here(*this);
  const int spatial = static_cast<int>(borders_.size());
  check_image(layer_, x, spatial);
  std::vector<std::pair<i64, i64>> all(static_cast<std::size_t>(x.rank()));
  for (std::size_t i = 0; i < borders_.size(); ++i)
    all[i + static_cast<std::size_t>(first_spatial(options_.data_format))] = borders_[i];
  return pad(x, all);
}

TANDEM_INLINE Tensor Cropping::operator()(const Tensor& x) const {
  const InCall here(*this);
  const int spatial = static_cast<int>(borders_.size());
  check_image(layer_, x, spatial);
  Shape begin, end;
  for (int i = 0; i < x.rank(); ++i) {
    const int k = i - first_spatial(options_.data_format);
    const bool is_spatial = k >= 0 && k < spatial;
    const auto [before, after] = is_spatial ? borders_[static_cast<std::size_t>(k)] : std::pair<i64, i64>();
    const i64 n = x.shape().dim(i);
    if (is_spatial && n == none)  // each call checks it
      debugging::impl::compared(layer_, debugging::impl::Relation::greater,
                                tandem::detail::size_over(x, i, DType::int64), constant(before + after),
                                {.message = "nothing would be left of axis " + std::to_string(i)});
    if (is_spatial && n != none && before + after >= n)
      errors::raise<errors::InvalidArgumentError>(
          layer_, "nothing is left of axis " + std::to_string(i) + " of " + to_string(x.spec()) + " without " +
                      std::to_string(before) + " and " + std::to_string(after) + " elements");
    begin.push_back(before);
    end.push_back(after ? -after : none);
  }
  return strided_slice(x, begin, end);
}

TANDEM_INLINE UpSampling::UpSampling(const char* layer, const char* kind, int spatial, const WindowSizes& size,
                                     UpSampling2DOptions options)
    : Layer(kind),
      layer_(layer),
      spatial_(spatial),
      size_(tandem::detail::spatial_sizes(layer, "size", size, spatial, options.data_format)),
      options_(options) {}
// Each spatial axis [n] as [n, 1], tiled to [n, size], and merged again.
TANDEM_INLINE Tensor UpSampling::operator()(const Tensor& x) const {
  const InCall here(*this);
  check_image(layer_, x, spatial_);
  if (const auto f = options_.interpolation.function()) return f(x, size_, options_.data_format);
  Dims split, multiples, merged;
  const std::vector<DimValue> sizes = get_shape(x);
  for (int i = 0; i < x.rank(); ++i) {
    const DimValue& n = sizes[static_cast<std::size_t>(i)];
    const int k = i - first_spatial(options_.data_format);
    split.push_back(n);
    multiples.push_back(1);
    if (k < 0 || k >= spatial_) {
      merged.push_back(n);
      continue;
    }
    split.push_back(1);
    multiples.push_back(size_.dim(k));
    merged.push_back(n.is_known() ? Dim(n.number * size_.dim(k)) : Dim(n.tensor * size_.dim(k)));
  }
  return reshape(tile(reshape(x, split), multiples), merged);
}

// Along an axis, n elements become n * size: the k-th new one of an element lies (k + 1/2) / size - 1/2 from its
// center, between it and the element before or behind it.
TANDEM_INLINE Tensor upsample_axis(const Tensor& x, int axis, i64 size) {
  const auto part = [&](i64 from, i64 to) {
    Shape begin, end;
    for (int i = 0; i < x.rank(); ++i) begin.push_back(i == axis ? from : 0), end.push_back(i == axis ? to : none);
    return strided_slice(x, begin, end);
  };
  const Tensor before = concat({part(0, 1), part(0, -1)}, axis), behind = concat({part(1, none), part(-1, none)}, axis);
  const tandem::detail::ShapeChecks lenient(false);
  std::vector<Tensor> parts;
  for (i64 k = 0; k < size; ++k) {
    const double offset = (static_cast<double>(k) + 0.5) / static_cast<double>(size) - 0.5;
    const Tensor& other = offset < 0 ? before : behind;
    parts.push_back(offset == 0 ? x : x * (1 - std::abs(offset)) + other * std::abs(offset));
  }
  Dims merged;
  const std::vector<DimValue> sizes = get_shape(x);
  for (int i = 0; i < x.rank(); ++i) {
    const DimValue& n = sizes[static_cast<std::size_t>(i)];
    if (i != axis) merged.push_back(n);
    else merged.push_back(n.is_known() ? Dim(n.number * size) : Dim(n.tensor * size));
  }
  return reshape(stack(parts, axis + 1), merged);
}
TANDEM_INLINE Tensor upsample_bilinear(const Tensor& x, const Shape& size, DataFormat format) {
  Tensor y = is_floating(x.dtype()) ? x : cast(x, DType::float32);
  for (int i = 0; i < size.rank(); ++i)
    if (size.dim(i) != 1) y = upsample_axis(y, first_spatial(format) + i, size.dim(i));
  return y;
}

}  // namespace detail

TANDEM_INLINE constinit const Interpolation Interpolation::nearest{nullptr};
TANDEM_INLINE constinit const Interpolation Interpolation::bilinear{&detail::upsample_bilinear};

}  // namespace TANDEM_NS::layers
