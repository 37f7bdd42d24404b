// Convolution layers over one, two and three spatial axes, and their transposed forms.
// Not here: depthwise and separable ones (depthwise_conv.hpp), the ops (ops/conv/conv.hpp).
#pragma once
#include "tandem/layers/conv_base.hpp"

namespace TANDEM_NS::layers {

struct ConvOptions {
  WindowSizes strides = {};  ///< default: 1
  Padding padding = Padding::valid;
  DataFormat data_format = DataFormat::channels_last;
  WindowSizes dilation_rate = {};  ///< default: 1
  i64 groups = 1;                  ///< each group of filters reads one group of channels
  tandem::Activation activation = tandem::Activation::linear;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};  ///< of the layer's output, divided by the batch size
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  DType dtype = DType::float32;
};
struct ConvTransposeOptions {
  WindowSizes strides = {};  ///< default: 1
  Padding padding = Padding::valid;
  WindowSizes output_padding = {};  ///< what to add to the smallest size of a result; see Conv2DTranspose
  DataFormat data_format = DataFormat::channels_last;
  WindowSizes dilation_rate = {};  ///< default: 1
  tandem::Activation activation = tandem::Activation::linear;
  bool use_bias = true;
  Initializer kernel_initializer = initializers::GlorotUniform();
  Initializer bias_initializer = initializers::Zeros();
  Regularizer kernel_regularizer = {};
  Regularizer bias_regularizer = {};
  Regularizer activity_regularizer = {};
  Constraint kernel_constraint = {};
  Constraint bias_constraint = {};
  DType dtype = DType::float32;
};

namespace detail {
/// A convolution layer of any number of spatial axes.
class TANDEM_API Convolution : public ConvBase {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  Convolution(const char* layer, const char* kind, int spatial, i64 filters, const WindowSizes& kernel_size,
              const ConvOptions& options);

 private:
  Weights weights_for(i64 channels) const;
  i64 filters_, groups_;
  Initializer kernel_initializer_;
  Regularizer kernel_regularizer_;
  Constraint kernel_constraint_;
};
/// A transposed convolution layer of any number of spatial axes.
class TANDEM_API TransposedConvolution : public ConvBase {
 public:
  Tensor operator()(const Tensor& x) const;

 protected:
  TransposedConvolution(const char* layer, const char* kind, int spatial, i64 filters, const WindowSizes& kernel_size,
                        const ConvTransposeOptions& options);

 private:
  Weights weights_for(i64 channels) const;
  Dims output_shape(const Tensor& x) const;
  i64 filters_;
  std::vector<i64> output_padding_;  // one entry for each spatial axis, or empty
  Initializer kernel_initializer_;
  Regularizer kernel_regularizer_;
  Constraint kernel_constraint_;
};
}  // namespace detail

/// Convolution of images: activation(conv2d(x, kernel) + bias). Conv2D(32, 3, nn::relu) has 32 filters of 3 x 3.
///   x         [n, h, w, c], or [n, c, h, w] with DataFormat::nchw; c is fixed by the first successful call
///   returns   [n, oh, ow, filters] (or [n, filters, oh, ow]); sizes as nn::conv2d
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank, dtype or number of channels, for
///             filters or channels that .groups does not divide, an option with the wrong number of entries, or a
///             window that does not fit, as in Keras. Where the image's size is not known when a function is traced,
///             the result is empty instead, or the op raises (nn::conv2d)
///   variables kernel [kh, kw, c / groups, filters], bias [filters]
class Conv2D : public detail::Convolution {
 public:
  Conv2D(i64 filters, WindowSizes kernel_size, ConvOptions options = {})
      : Convolution("Conv2D", "conv2d", 2, filters, kernel_size, options) {}
  Conv2D(i64 filters, WindowSizes kernel_size, tandem::Activation activation, ConvOptions options = {})
      : Conv2D(filters, kernel_size, detail::with_activation(std::move(options), activation)) {}
};
/// Convolution of sequences: x [n, length, c] (or [n, c, length]), kernel [k, c / groups, filters]. Padding::causal
/// lets a result depend on earlier elements only. Otherwise as Conv2D.
class Conv1D : public detail::Convolution {
 public:
  Conv1D(i64 filters, WindowSizes kernel_size, ConvOptions options = {})
      : Convolution("Conv1D", "conv1d", 1, filters, kernel_size, options) {}
  Conv1D(i64 filters, WindowSizes kernel_size, tandem::Activation activation, ConvOptions options = {})
      : Conv1D(filters, kernel_size, detail::with_activation(std::move(options), activation)) {}
};
/// Convolution of volumes: x [n, d, h, w, c] (or [n, c, d, h, w]), kernel [kd, kh, kw, c / groups, filters]. Otherwise
/// as Conv2D.
class Conv3D : public detail::Convolution {
 public:
  Conv3D(i64 filters, WindowSizes kernel_size, ConvOptions options = {})
      : Convolution("Conv3D", "conv3d", 3, filters, kernel_size, options) {}
  Conv3D(i64 filters, WindowSizes kernel_size, tandem::Activation activation, ConvOptions options = {})
      : Conv3D(filters, kernel_size, detail::with_activation(std::move(options), activation)) {}
};

/// Transposed convolution of images: activation(conv2d_transpose(x, kernel) + bias). With k' = (k - 1) d + 1, a size h
/// becomes h s for Padding::same, and h s + max(k' - s, 0) for Padding::valid. With .output_padding (one number, or one
/// for each spatial axis, each below the stride) it becomes (h - 1) s + k' - 2 p + output_padding, where p is k' / 2,
/// rounded down, for Padding::same and 0 for Padding::valid.
///   x         [n, h, w, c], or [n, c, h, w] with DataFormat::nchw; c is fixed by the first successful call
///   returns   [n, oh, ow, filters] (or [n, filters, oh, ow])
///   throws    errors::InvalidArgumentError, in the layer's name, for another rank, dtype or number of channels,
///             explicit padding, or an .output_padding that is not in [0, stride); in that of the op for a size that a
///             convolution with the same options would not map back to h, as may be with .output_padding and an even k'
///   variables kernel [kh, kw, filters, c], bias [filters]
class Conv2DTranspose : public detail::TransposedConvolution {
 public:
  Conv2DTranspose(i64 filters, WindowSizes kernel_size, ConvTransposeOptions options = {})
      : TransposedConvolution("Conv2DTranspose", "conv2d_transpose", 2, filters, kernel_size, options) {}
};
/// Transposed convolution of sequences: x [n, length, c], kernel [k, filters, c]. Otherwise as Conv2DTranspose.
class Conv1DTranspose : public detail::TransposedConvolution {
 public:
  Conv1DTranspose(i64 filters, WindowSizes kernel_size, ConvTransposeOptions options = {})
      : TransposedConvolution("Conv1DTranspose", "conv1d_transpose", 1, filters, kernel_size, options) {}
};
/// Transposed convolution of volumes: x [n, d, h, w, c], kernel [kd, kh, kw, filters, c]. Otherwise as Conv2DTranspose.
class Conv3DTranspose : public detail::TransposedConvolution {
 public:
  Conv3DTranspose(i64 filters, WindowSizes kernel_size, ConvTransposeOptions options = {})
      : TransposedConvolution("Conv3DTranspose", "conv3d_transpose", 3, filters, kernel_size, options) {}
};

}  // namespace TANDEM_NS::layers
