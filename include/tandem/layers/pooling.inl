// Definitions of layers/pooling.hpp.
#pragma once
#include "tandem/layers/image.hpp"
#include "tandem/layers/pooling.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/norm/weighted_moments.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/slice.hpp"

namespace TANDEM_NS::layers {

namespace detail {

TANDEM_INLINE Pooling::Pooling(const char* layer, const char* kind, int spatial, Pool pool,
                               const WindowSizes& pool_size, const PoolingOptions& o)
    : Layer(kind),
      layer_(layer),
      spatial_(spatial),
      pool_(pool),
      window_{.ksize = pool_size, .strides = o.strides, .padding = o.padding, .data_format = o.data_format} {
  if (pool_size.size() == 0) errors::raise<errors::InvalidArgumentError>(layer, "pool_size is empty");
  rules::PoolAttrs checked;
  tandem::detail::spatial_sizes(layer, "pool_size", pool_size, spatial, o.data_format);
  tandem::detail::spatial_sizes(layer, "strides", o.strides, spatial, o.data_format);
  tandem::detail::set_padding(layer, o.padding, spatial, o.data_format, checked);
}
TANDEM_INLINE Tensor Pooling::operator()(const Tensor& x) const {
  const InCall here(*this);
  check_image(layer_, x, spatial_);
  return pool_(x, window_);
}

TANDEM_INLINE Tensor GlobalPooling::operator()(const Tensor& x) const {
  const InCall here(*this);
  check_image(layer_, x, spatial_);
  Axes axes = Axes::none();
  for (int i = 0; i < spatial_; ++i) axes.push_back(first_spatial(options_.data_format) + i);
  return reduction_(x, {.axis = axes, .keepdims = options_.keepdims});
}

TANDEM_INLINE AdaptivePooling::AdaptivePooling(const char* layer, const char* kind, int spatial, Reduction reduction,
                                               const WindowSizes& output_size, AdaptivePoolingOptions options)
    : Layer(kind), layer_(layer), spatial_(spatial), reduction_(reduction), data_format_(options.data_format) {
  if (output_size.size() == 0) errors::raise<errors::InvalidArgumentError>(layer, "output_size is empty");
  output_ = tandem::detail::spatial_sizes(layer, "output_size", output_size, spatial, options.data_format);
}
// One axis after the other: windows are rectangles whose rows have equal lengths.
TANDEM_INLINE Tensor AdaptivePooling::operator()(const Tensor& x) const {
  const InCall here(*this);
  check_image(layer_, x, spatial_);
  Tensor y = x;
  for (int i = 0; i < spatial_; ++i) {
    const int axis = first_spatial(data_format_) + i;
    const i64 n = x.shape().dim(axis), out = output_.dim(i);
    if (n == none || n == 0)
      errors::raise<errors::InvalidArgumentError>(
          layer_, "axis " + std::to_string(axis) + " must have a known size that is not 0: " + to_string(x.spec()));
    std::vector<Tensor> parts;
    for (i64 o = 0; o < out; ++o) {
      const i64 from = o * n / out, to = ((o + 1) * n + out - 1) / out;
      Dims begin, size;
      for (int d = 0; d < y.rank(); ++d) {
        begin.push_back(d == axis ? from : 0);
        size.push_back(d == axis ? to - from : -1);
      }
      parts.push_back(reduction_(slice(y, begin, size), {.axis = axis, .keepdims = true}));
    }
    y = concat(parts, axis);
  }
  return y;
}

}  // namespace detail

TANDEM_INLINE Tensor GlobalAveragePooling1D::operator()(const Tensor& x, const Tensor& mask) const {
  const InCall here(*this);
  detail::check_image(layer_, x, spatial_);
  const int time = detail::first_spatial(options_.data_format);
  if (mask.dtype() != DType::bool_ || !mask.shape().is_compatible_with({x.shape().dim(0), x.shape().dim(time)}))
    errors::raise<errors::InvalidArgumentError>(layer_, "the mask must be bool[batch, length] of the input " +
                                                            to_string(x.spec()) + ", not " + to_string(mask.spec()));
  return nn::masked_mean(x, expand_dims(mask, time == 1 ? 2 : 1), {.axis = time, .keepdims = options_.keepdims});
}

}  // namespace TANDEM_NS::layers
