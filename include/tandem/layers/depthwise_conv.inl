// Definitions of layers/depthwise_conv.hpp.
#pragma once
#include "tandem/layers/depthwise_conv.hpp"
#include "tandem/ops/shape/reshape.hpp"

namespace TANDEM_NS::layers::detail {

// One group for each channel: the kernel [k..., c, m] is [k..., 1, c m].
TANDEM_INLINE Tensor depthwise(const Tensor& x, const Tensor& kernel, const nn::ConvOptions& window) {
  Shape grouped;
  const Shape& s = kernel.shape();
  for (int i = 0; i < s.rank() - 2; ++i) grouped.push_back(s.dim(i));
  grouped.push_back(1);
  grouped.push_back(s.dim(-2) * s.dim(-1));
  return nn::convolution(x, reshape(kernel, grouped), window);
}

TANDEM_INLINE DepthwiseConvolution::DepthwiseConvolution(const char* layer, const char* kind, int spatial,
                                                         const WindowSizes& kernel_size, const DepthwiseConvOptions& o)
    : ConvBase(layer, kind, spatial, kernel_size, o),
      multiplier_(positive(layer, "depth_multiplier", o.depth_multiplier)),
      initializer_(o.depthwise_initializer),
      regularizer_(o.depthwise_regularizer),
      constraint_(o.depthwise_constraint) {}
TANDEM_INLINE Tensor DepthwiseConvolution::operator()(const Tensor& x) const {
  const auto weights_for = [&] {
    const i64 channels = channels_of(x);
    return with_bias_weight(
        {{"depthwise_kernel", kernel_shape(channels, multiplier_), initializer_, dtype_, regularizer_, constraint_}},
        channels * multiplier_);
  };
  return activated(run_with_weights(weights_for, [&](const Tensors& w) {
    return biased(fitting(x, depthwise(with_channels(x, w[0].shape().dim(-2)), w[0], window_)), w);
  }));
}

TANDEM_INLINE SeparableConvolution::SeparableConvolution(const char* layer, const char* kind, int spatial, i64 filters,
                                                         const WindowSizes& kernel_size, const SeparableConvOptions& o)
    : ConvBase(layer, kind, spatial, kernel_size, o),
      filters_(positive(layer, "filters", filters)),
      multiplier_(positive(layer, "depth_multiplier", o.depth_multiplier)),
      depthwise_initializer_(o.depthwise_initializer),
      pointwise_initializer_(o.pointwise_initializer),
      depthwise_regularizer_(o.depthwise_regularizer),
      pointwise_regularizer_(o.pointwise_regularizer),
      depthwise_constraint_(o.depthwise_constraint),
      pointwise_constraint_(o.pointwise_constraint) {}
TANDEM_INLINE Layer::Weights SeparableConvolution::weights_for(i64 channels) const {
  Shape pixel;
  for (int i = 0; i < spatial_; ++i) pixel.push_back(1);
  pixel.push_back(channels * multiplier_);
  pixel.push_back(filters_);
  return with_bias_weight(
      {{"depthwise_kernel", kernel_shape(channels, multiplier_), depthwise_initializer_, dtype_, depthwise_regularizer_,
        depthwise_constraint_},
       {"pointwise_kernel", pixel, pointwise_initializer_, dtype_, pointwise_regularizer_, pointwise_constraint_}},
      filters_);
}
TANDEM_INLINE Tensor SeparableConvolution::operator()(const Tensor& x) const {
  return activated(run_with_weights([&] { return weights_for(channels_of(x)); },
                                    [&](const Tensors& w) {
                                      const Tensor image = with_channels(x, w[0].shape().dim(-2));
                                      const Tensor y = nn::convolution(fitting(x, depthwise(image, w[0], window_)),
                                                                       w[1], {.data_format = window_.data_format});
                                      return biased(y, w);
                                    }));
}

}  // namespace TANDEM_NS::layers::detail
