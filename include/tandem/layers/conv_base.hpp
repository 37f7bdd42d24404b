// What the convolution layers share inside: the window, checks of their input, bias and activation.
// Not here: the layers (conv.hpp, depthwise_conv.hpp).
#pragma once
#include <vector>

#include "tandem/layers/activations.hpp"
#include "tandem/layers/layer.hpp"
#include "tandem/ops/conv/conv.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS::layers::detail {

/// The base class of convolution layers.
class TANDEM_API ConvBase : public Layer {
 protected:
  template <class Options>
  ConvBase(const char* layer, const char* kind, int spatial, const WindowSizes& kernel_size, const Options& o)
      : ConvBase(
            layer, kind, spatial, kernel_size,
            nn::ConvOptions{
                .strides = o.strides, .padding = o.padding, .data_format = o.data_format, .dilations = o.dilation_rate},
            o.dtype) {
    activation_ = o.activation;
    use_bias_ = o.use_bias;
    bias_initializer_ = o.bias_initializer;
    bias_regularizer_ = o.bias_regularizer;
    bias_constraint_ = o.bias_constraint;
    activity_regularizer_ = o.activity_regularizer;
  }

  /// The number of x's channels, which determines the shapes of the weights.
  ///   throws  errors::InvalidArgumentError, in the layer's name, if x is not such an image, or the number is unknown
  i64 channels_of(const Tensor& x) const;
  /// x, checked to be an image of so many channels.
  ///   throws  errors::InvalidArgumentError, in the layer's name
  Tensor with_channels(const Tensor& x, i64 channels) const;
  /// y, the convolution of x.
  ///   throws  errors::InvalidArgumentError, in the layer's name, if y is known to be empty: the kernel does not fit
  ///           into x
  Tensor fitting(const Tensor& x, const Tensor& y) const;
  /// The kernel's spatial sizes, followed by these two.
  Shape kernel_shape(i64 a, i64 b) const;
  Weights with_bias_weight(Weights weights, i64 filters) const;
  /// y plus the last of the weights, if the layer has a bias.
  Tensor biased(const Tensor& y, const Tensors& weights) const;
  Tensor activated(const Tensor& y) const { return penalized(activation_(y), activity_regularizer_); }
  [[noreturn]] void fail(const std::string& what) const;

  const char* layer_;
  int spatial_;
  Shape kernel_, strides_, dilations_;  // one entry for each spatial axis
  nn::ConvOptions window_;
  DType dtype_;
  bool use_bias_ = true;
  tandem::Activation activation_ = tandem::Activation::linear;
  Regularizer activity_regularizer_;

 private:
  ConvBase(const char* layer, const char* kind, int spatial, const WindowSizes& kernel_size, nn::ConvOptions window,
           DType dtype);
  Initializer bias_initializer_ = initializers::Zeros();
  Regularizer bias_regularizer_;
  Constraint bias_constraint_;
};

}  // namespace TANDEM_NS::layers::detail
