// Transposed convolutions, which are the input gradients of convolutions.
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/conv/window.hpp"
#include "tandem/ops/dims.hpp"

namespace TANDEM_NS {
namespace nn {

struct ConvTransposeOptions {
  TANDEM_OP_OPTIONS;
  WindowSizes strides = {};  ///< default: 1
  Padding padding = Padding::same;
  DataFormat data_format = DataFormat::channels_last;
  WindowSizes dilations = {};  ///< default: 1
};

/// Transposed convolution: the gradient of conv2d to an input of shape output_shape, where x is the gradient of its
/// result. What the windows of neighboring pixels contribute to one pixel is added.
///   x             [n, h, w, c], or [n, c, h, w] with DataFormat::nchw; floating
///   w             [kh, kw, o, c]: results come before the channels of x; dtype of x
///   output_shape  [n, oh, ow, o] (or [n, o, oh, ow]): a shape that conv2d with these options maps to x's; numbers, or
///                 tensors where a size is not known
///   throws        errors::InvalidArgumentError if conv2d would not give x's shape, with the shape that it would
///                 give, or if o is not the filter's
///   gradient      to x: conv2d(g, w); to w: the correlation of g with x
TANDEM_API Tensor conv2d_transpose(const Tensor& x, const Tensor& w, const Dims& output_shape,
                                   ConvTransposeOptions = {});
/// As conv2d_transpose: x [n, length, c] (or [n, c, length]), w [k, o, c].
TANDEM_API Tensor conv1d_transpose(const Tensor& x, const Tensor& w, const Dims& output_shape,
                                   ConvTransposeOptions = {});
/// As conv2d_transpose: x [n, d, h, w, c] (or [n, c, d, h, w]), w [kd, kh, kw, o, c].
TANDEM_API Tensor conv3d_transpose(const Tensor& x, const Tensor& w, const Dims& output_shape,
                                   ConvTransposeOptions = {});

}  // namespace nn
}  // namespace TANDEM_NS
