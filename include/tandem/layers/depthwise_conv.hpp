// Convolution layers that treat each channel on its own: DepthwiseConv1D/2D, SeparableConv1D/2D.
// Not here: groups of channels (.groups of Conv2D in conv.hpp).
#pragma once
#include "tandem/layers/conv_base.hpp"

namespace TANDEM_NS::layers {

struct DepthwiseConvOptions {
  WindowSizes strides = {};  ///< default: 1
  Padding padding = Padding::valid;
  i64 depth_multiplier = 1;  ///< the number of results for each channel
  DataFormat data_format = DataFormat::channels_last;
  WindowSizes dilation_rate = {};  ///< default: 1
  tandem::Activation activation = tandem::Activation::linear;
  bool use_bias = true;
  Initializer depthwise_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  Regularizer depthwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};  ///< of the layer's output, divided by the batch size
  Constraint depthwise_constraint = {};
  Constraint bias_constraint = {};
  DType dtype = DType::float32;
};
struct SeparableConvOptions {
  WindowSizes strides = {};  ///< default: 1
  Padding padding = Padding::valid;
  DataFormat data_format = DataFormat::channels_last;
  WindowSizes dilation_rate = {};  ///< default: 1
  i64 depth_multiplier = 1;        ///< the number of intermediate results for each channel
  tandem::Activation activation = tandem::Activation::linear;
  bool use_bias = true;
  Initializer depthwise_initializer = initializers::GlorotUniform();
  Initializer pointwise_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  Regularizer depthwise_regularizer = {};
  Regularizer pointwise_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint depthwise_constraint = {};
  Constraint pointwise_constraint = {};
  Constraint bias_constraint = {};
  DType dtype = DType::float32;
};

namespace detail {
/// A depthwise convolution layer of one or two spatial axes.
class TANDEM_API DepthwiseConvolution : public ConvBase {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  DepthwiseConvolution(const char* layer, const char* kind, int spatial, const WindowSizes& kernel_size,
                       const DepthwiseConvOptions& options);

 private:
  i64 multiplier_;
  Initializer initializer_;
  Regularizer regularizer_;
  Constraint constraint_;
};
/// A separable convolution layer of one or two spatial axes.
class TANDEM_API SeparableConvolution : public ConvBase {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  SeparableConvolution(const char* layer, const char* kind, int spatial, i64 filters, const WindowSizes& kernel_size,
                       const SeparableConvOptions& options);

 private:
  Weights weights_for(i64 channels) const;
  i64 filters_, multiplier_;
  Initializer depthwise_initializer_, pointwise_initializer_;
  Regularizer depthwise_regularizer_, pointwise_regularizer_;
  Constraint depthwise_constraint_, pointwise_constraint_;
};
}  // namespace detail

/// Convolution of each channel with filters of its own: activation(depthwise_conv2d(x, depthwise_kernel) + bias).
/// Result c m + q comes from channel c by its filter q, where m is .depth_multiplier.
///   x         [n, h, w, c], or [n, c, h, w] with DataFormat::nchw; c is fixed by the first successful call
///   returns   [n, oh, ow, c m] (or [n, c m, oh, ow]); sizes as nn::conv2d
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank, dtype or number of channels, an
///             option with the wrong number of entries, or a window that does not fit: as Conv2D
///   variables depthwise_kernel [kh, kw, c, m], bias [c m]
class DepthwiseConv2D : public detail::DepthwiseConvolution {
 public:
  explicit DepthwiseConv2D(WindowSizes kernel_size, DepthwiseConvOptions options = {})
      : DepthwiseConvolution("DepthwiseConv2D", "depthwise_conv2d", 2, kernel_size, options) {}
};
/// As DepthwiseConv2D: x [n, length, c] (or [n, c, length]), depthwise_kernel [k, c, m].
class DepthwiseConv1D : public detail::DepthwiseConvolution {
 public:
  explicit DepthwiseConv1D(WindowSizes kernel_size, DepthwiseConvOptions options = {})
      : DepthwiseConvolution("DepthwiseConv1D", "depthwise_conv1d", 1, kernel_size, options) {}
};
/// A depthwise convolution, then a convolution with filters of one pixel: activation(separable_conv2d(x,
/// depthwise_kernel, pointwise_kernel) + bias). The strides and dilations are those of the first one.
///   x         [n, h, w, c], or [n, c, h, w] with DataFormat::nchw; c is fixed by the first successful call
///   returns   [n, oh, ow, filters] (or [n, filters, oh, ow])
///   throws    as DepthwiseConv2D
///   variables depthwise_kernel [kh, kw, c, m], pointwise_kernel [1, 1, c m, filters], bias [filters]
class SeparableConv2D : public detail::SeparableConvolution {
 public:
  SeparableConv2D(i64 filters, WindowSizes kernel_size, SeparableConvOptions options = {})
      : SeparableConvolution("SeparableConv2D", "separable_conv2d", 2, filters, kernel_size, options) {}
};
/// As SeparableConv2D: x [n, length, c] (or [n, c, length]), depthwise_kernel [k, c, m], pointwise_kernel [1, c m,
/// filters].
class SeparableConv1D : public detail::SeparableConvolution {
 public:
  SeparableConv1D(i64 filters, WindowSizes kernel_size, SeparableConvOptions options = {})
      : SeparableConvolution("SeparableConv1D", "separable_conv1d", 1, filters, kernel_size, options) {}
};

}  // namespace TANDEM_NS::layers
