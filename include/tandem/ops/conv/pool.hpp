// Pooling over one, two and three spatial axes: max_pool, avg_pool, max_pool_with_argmax, pool. The functions without a
// number take any of them, by the rank of x.
// Not here: means and maxima over all spatial axes (reduce_mean, reduce_max).
#pragma once
#include "tandem/core/apply.hpp"
#include "tandem/ops/conv/window.hpp"

namespace TANDEM_NS {
namespace nn {

struct PoolOptions {
  TANDEM_OP_OPTIONS;
  WindowSizes ksize = 2;     ///< the window's sizes
  WindowSizes strides = {};  ///< default: ksize
  Padding padding = Padding::valid;
  DataFormat data_format = DataFormat::channels_last;
};

/// Maxima of a moving window, for each channel. NaN is larger than numbers; padding is smaller than all of them.
///   x         [n, h, w, c], or [n, c, h, w] with DataFormat::nchw; [n, length, c] and [n, d, h, w, c]
///             likewise; integers or floating
///   returns   [n, oh, ow, c] (or [n, c, oh, ow]): Padding::same ceil(h / s); otherwise ceil((h - (kh - 1)) / s),
///             or 0 if the window is larger than h by less than 2 s, as in TensorFlow's eager calls
///   throws    errors::InvalidArgumentError if the window is larger than the image by 2 s or more, if a window lies
///             wholly in the padding, or if an option has the wrong number of entries
///   gradient  g at each window's first maximum (or first NaN)
TANDEM_API Tensor max_pool(const Tensor& x, PoolOptions = {});
/// Means of a moving window, for each channel, over those of its elements that are inside of the image.
///   x         floating; otherwise as max_pool
///   gradient  g / count at each of the elements
TANDEM_API Tensor avg_pool(const Tensor& x, PoolOptions = {});

/// As above, for one, two and three spatial axes.
///   throws    errors::InvalidArgumentError for an x of another rank than 3, 4 and 5
TANDEM_API Tensor max_pool1d(const Tensor& x, PoolOptions = {});
TANDEM_API Tensor max_pool2d(const Tensor& x, PoolOptions = {});
TANDEM_API Tensor max_pool3d(const Tensor& x, PoolOptions = {});
TANDEM_API Tensor avg_pool1d(const Tensor& x, PoolOptions = {});
TANDEM_API Tensor avg_pool2d(const Tensor& x, PoolOptions = {});
TANDEM_API Tensor avg_pool3d(const Tensor& x, PoolOptions = {});

struct ArgmaxPoolOptions {
  TANDEM_OP_OPTIONS;
  WindowSizes ksize = 2;
  WindowSizes strides = {};  ///< default: ksize
  Padding padding = Padding::valid;
  DType output_dtype = DType::int64;    ///< of the indices: int64 or int32
  bool include_batch_in_index = false;  ///< add the number of the image times its size
};
struct ArgmaxPool {
  Tensor output, argmax;  ///< the maxima, and where each of them lies
};
/// max_pool of [n, h, w, c] and where each maximum lies: (y w + x) c + channel in its image.
///   throws    errors::InvalidArgumentError as max_pool, or for an output_dtype that is not an index dtype
///   gradient  to x through output, as max_pool; none through argmax (non-differentiable)
TANDEM_API ArgmaxPool max_pool_with_argmax(const Tensor& x, ArgmaxPoolOptions = {});

enum class PoolingType : std::uint8_t { max, avg };  ///< what becomes of a window: its maximum or its mean
struct GeneralPoolOptions {
  TANDEM_OP_OPTIONS;
  WindowSizes strides = {};  ///< default: 1
  Padding padding = Padding::valid;
  DataFormat data_format = DataFormat::channels_last;
  WindowSizes dilations = {};  ///< default: 1; elements of the window are so many pixels apart
};
/// max_pool or avg_pool with a stride of 1 by default, and with dilations.
TANDEM_API Tensor pool(const Tensor& x, const WindowSizes& window_shape, PoolingType type, GeneralPoolOptions = {});

struct LocalResponseNormalizationOptions {
  TANDEM_OP_OPTIONS;
  i64 depth_radius = 5;
  double bias = 1, alpha = 1, beta = 0.5;
};
/// Local response normalization: x / (bias + alpha * s)^beta, where s is the sum of the squares of the 2 depth_radius +
/// 1 neighboring channels. Source: Krizhevsky, Sutskever, Hinton, "ImageNet Classification with Deep Convolutional
/// Neural Networks", 2012.
///   x         [..., channels], floating, rank >= 1
///   returns   same shape and dtype as x
///   throws    errors::InvalidArgumentError for a scalar or a negative radius
///   gradient  that of the formula
TANDEM_API Tensor local_response_normalization(const Tensor& x, LocalResponseNormalizationOptions = {});
/// The same as local_response_normalization.
TANDEM_API Tensor lrn(const Tensor& x, LocalResponseNormalizationOptions = {});

}  // namespace nn

TANDEM_OPS(pool_ops, max_pool, max_pool_grad, max_pool_pick, max_pool_argmax, avg_pool, avg_pool_grad)

}  // namespace TANDEM_NS
