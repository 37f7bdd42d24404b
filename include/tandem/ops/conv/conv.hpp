// Convolutions over one, two and three spatial axes. Cross-correlations: the filter is not flipped.
// Not here: transposed convolutions (conv_transpose.hpp), pooling (pool.hpp).
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/conv/window.hpp"

namespace TANDEM_NS {
namespace nn {

struct ConvOptions {
  TANDEM_OP_OPTIONS;
  WindowSizes strides = {};  ///< default: 1
  Padding padding = Padding::valid;
  DataFormat data_format = DataFormat::channels_last;
  WindowSizes dilations = {};  ///< default: 1; filter elements are so many pixels apart
};
struct Conv1dOptions {
  TANDEM_OP_OPTIONS;
  WindowSizes stride = {};  ///< default: 1
  Padding padding = Padding::valid;
  DataFormat data_format = DataFormat::channels_last;
  WindowSizes dilations = {};  ///< default: 1
};

/// Convolution of images with filters: y[n, i, j, o] = sum x[n, i s + k d, j s + l d, c] w[k, l, c, o] over k, l, c,
/// where s are the strides and d the dilations, and x is 0 in the padding.
///   x         [n, h, w, c], or [n, c, h, w] with DataFormat::nchw; floating
///   w         [kh, kw, c / groups, o], whatever the data format; dtype of x. If its third size is a fraction of the
///             channels, the channels and results are divided into groups, and each group of results reads one group
///             of channels
///   returns   [n, oh, ow, o] (or [n, o, oh, ow]): Padding::same ceil(h / s); otherwise
///             ceil((h - (kh - 1) d) / s), where h includes explicit padding; 0 if the window is larger than h by less
///             than 2 s, as in TensorFlow's eager calls
///   throws    errors::InvalidArgumentError if ranks, dtypes or channels do not match, the window is larger than the
///             image by 2 s or more, or an option has the wrong number of entries
///   gradient  to x: conv2d_transpose(g, w); to w: the correlation of x with g
TANDEM_API Tensor conv2d(const Tensor& x, const Tensor& w, ConvOptions = {});
/// Convolution of sequences: x [n, length, c] (or [n, c, length]), w [k, c / groups, o]. Otherwise as conv2d.
TANDEM_API Tensor conv1d(const Tensor& x, const Tensor& w, Conv1dOptions = {});
/// Convolution of volumes: x [n, d, h, w, c] (or [n, c, d, h, w]), w [kd, kh, kw, c / groups, o]. Otherwise as conv2d.
TANDEM_API Tensor conv3d(const Tensor& x, const Tensor& w, ConvOptions = {});
/// conv1d, conv2d or conv3d, by the rank of x.
///   throws    errors::InvalidArgumentError for another rank than 3, 4 and 5
TANDEM_API Tensor convolution(const Tensor& x, const Tensor& w, ConvOptions = {});
/// Convolution of each channel with filters of its own: y[n, i, j, c m + q] = sum x[n, i s + k d, j s + l d, c] w[k, l,
/// c, q] over k, l.
///   x         [n, h, w, c] or [n, c, h, w]
///   w         [kh, kw, c, m]
///   returns   [n, oh, ow, c m]. Otherwise as conv2d
TANDEM_API Tensor depthwise_conv2d(const Tensor& x, const Tensor& w, ConvOptions = {});
/// depthwise_conv2d, then conv2d with a filter of one pixel.
///   depthwise  [kh, kw, c, m]; pointwise: [1, 1, c m, o]
///   returns    [n, oh, ow, o]; the options are those of the first convolution
TANDEM_API Tensor separable_conv2d(const Tensor& x, const Tensor& depthwise, const Tensor& pointwise, ConvOptions = {});

}  // namespace nn

TANDEM_OPS(conv_ops, conv1d, conv2d, conv3d, conv1d_transpose, conv2d_transpose, conv3d_transpose, conv1d_filter_grad,
           conv2d_filter_grad, conv3d_filter_grad)

namespace detail {
/// The attributes that options say, for images of so many spatial axes.
///   throws  errors::InvalidArgumentError, in the op's name
TANDEM_API rules::ConvAttrs conv_attrs(const char* op, int spatial, const WindowSizes& strides, const Padding& padding,
                                       DataFormat format, const WindowSizes& dilations);
/// The attributes that o says for a call with x and w.
///   throws  errors::InvalidArgumentError, in the op's name
TANDEM_API rules::ConvAttrs conv_attrs_of(const OpDef& op, int spatial, const Tensor& x, const Tensor& w,
                                          const nn::ConvOptions& o);
/// The shape of a convolution's result: the shape rule of an op with these attributes, for known or unknown sizes.
TANDEM_API Shape conv_shape(const InferCall& c, const rules::ConvAttrs& a, const Shape& x, const Shape& w);
/// The ops for one to three spatial axes.
inline constexpr const OpDef* conv_by_axes[] = {&conv1d_op, &conv2d_op, &conv3d_op};
inline constexpr const OpDef* conv_transpose_by_axes[] = {&conv1d_transpose_op, &conv2d_transpose_op,
                                                          &conv3d_transpose_op};
inline constexpr const OpDef* conv_filter_grad_by_axes[] = {&conv1d_filter_grad_op, &conv2d_filter_grad_op,
                                                            &conv3d_filter_grad_op};
}  // namespace detail

}  // namespace TANDEM_NS
