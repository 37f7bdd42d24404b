// Definitions of nn/layers/padding.hpp.
#pragma once
#include "tandem/nn/layers/image.hpp"
#include "tandem/nn/layers/padding.hpp"
#include "tandem/ops/pointwise/arith.hpp"
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
  const int spatial = static_cast<int>(borders_.size());
  check_image(layer_, x, spatial);
  std::vector<std::pair<i64, i64>> all(static_cast<std::size_t>(x.rank()));
  for (std::size_t i = 0; i < borders_.size(); ++i)
    all[i + static_cast<std::size_t>(first_spatial(options_.data_format))] = borders_[i];
  return pad(x, all);
}

TANDEM_INLINE Tensor Cropping::operator()(const Tensor& x) const {
  const int spatial = static_cast<int>(borders_.size());
  check_image(layer_, x, spatial);
  Shape begin, end;
  for (int i = 0; i < x.rank(); ++i) {
    const int k = i - first_spatial(options_.data_format);
    const bool is_spatial = k >= 0 && k < spatial;
    const auto [before, after] = is_spatial ? borders_[static_cast<std::size_t>(k)] : std::pair<i64, i64>();
    if (const i64 n = x.shape().dim(i); is_spatial && n != none && before + after >= n)
      errors::raise<errors::InvalidArgumentError>(
          layer_, "nothing is left of axis " + std::to_string(i) + " of " + to_string(x.spec()) + " without " +
                      std::to_string(before) + " and " + std::to_string(after) + " elements");
    begin.push(before);
    end.push(after ? -after : none);
  }
  return strided_slice(x, begin, end);
}

TANDEM_INLINE UpSampling::UpSampling(const char* layer, const char* kind, int spatial, const WindowSizes& size,
                                     ImageOptions options)
    : Layer(kind),
      layer_(layer),
      spatial_(spatial),
      size_(tandem::detail::spatial_sizes(layer, "size", size, spatial, options.data_format)),
      options_(options) {}
// Each spatial axis [n] as [n, 1], tiled to [n, size], and merged again.
TANDEM_INLINE Tensor UpSampling::operator()(const Tensor& x) const {
  check_image(layer_, x, spatial_);
  Dims split, multiples, merged;
  const std::vector<DimValue> sizes = get_shape(x);
  for (int i = 0; i < x.rank(); ++i) {
    const DimValue& n = sizes[static_cast<std::size_t>(i)];
    const int k = i - first_spatial(options_.data_format);
    split.push(n);
    multiples.push(1);
    if (k < 0 || k >= spatial_) {
      merged.push(n);
      continue;
    }
    split.push(1);
    multiples.push(size_.dim(k));
    merged.push(n.is_known() ? Dim(n.number * size_.dim(k)) : Dim(n.tensor * size_.dim(k)));
  }
  return reshape(tile(reshape(x, split), multiples), merged);
}

}  // namespace detail
}  // namespace TANDEM_NS::layers
