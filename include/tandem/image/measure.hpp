// Edges, differences between neighbors, and how much images differ from each other. Part of the component
// tandem::image.
#pragma once
#include <array>
#include <vector>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS::image {

/// Sobel's edges: how much the image changes down and to the right, with the border mirrored.
///   x         floating, [height, width, channels] or [n, height, width, channels], 2 x 2 pixels or more
///   returns   [..., height, width, channels, 2]: dy, dx
///   throws    errors::InvalidArgumentError for another rank or dtype, or a smaller image
///   gradient  exact
TANDEM_API Tensor sobel_edges(const Tensor& x, OpOptions = {});

struct ImageGradients {
  Tensor dy, dx;  ///< differences along the height and along the width
};
/// The differences between each pixel and the one below, and the one to its right; 0 in the last row and column.
///   x         floating, complex, int32 or int64, [n, height, width, channels]
///   returns   both in the shape and the dtype of x
///   throws    errors::InvalidArgumentError for another rank, and for unsigned integers, int8 and int16, in which
///             differences overflow: cast images to float32 first, or to int32. TensorFlow's wrap around.
///   gradient  exact
TANDEM_API ImageGradients image_gradients(const Tensor& x, OpOptions = {});
/// The sum of the absolute differences between neighboring pixels.
///   x         floating, int32 or int64, [height, width, channels] or [n, height, width, channels]
///   returns   dtype of x, as in TensorFlow; a scalar or [n]
///   throws    errors::InvalidArgumentError for another rank, and for unsigned integers, as in TensorFlow, int8 and
///             int16, in which differences overflow: cast images to float32 first, or to int32
///   gradient  exact, 0 where neighbors are equal
TANDEM_API Tensor total_variation(const Tensor& x, OpOptions = {});

/// Peak signal-to-noise ratio in decibels, 10 log10(max^2 / mean squared difference); infinite for equal images.
///   a, b      real numbers of one dtype, [..., height, width, channels]
///   max_val   the range of the values: 255 for uint8, 1 for images in [0, 1]
///   returns   float32 (float64 for float64), the leading axes
///   throws    errors::InvalidArgumentError for a rank below 3, or shapes or dtypes that differ
///   gradient  exact, for floating dtypes
TANDEM_API Tensor psnr(const Tensor& a, const Tensor& b, double max_val, OpOptions = {});

struct SsimOptions {
  TANDEM_OP_OPTIONS;
  i64 filter_size = 11;  ///< of the Gaussian window
  double filter_sigma = 1.5;
  double k1 = 0.01;
  double k2 = 0.03;
};
/// Structural similarity (Wang et al., "Image Quality Assessment", 2004), averaged over windows and channels: 1 for
/// equal images.
///   a, b      real numbers of one dtype, [..., height, width, channels], height and width filter_size or more
///   max_val   the range of the values
///   returns   float32 (float64 for float64), the leading axes
///   throws    errors::InvalidArgumentError for a rank below 3, images smaller than the window, shapes or dtypes that
///             differ, or options that are not positive
///   gradient  exact, for floating dtypes
TANDEM_API Tensor ssim(const Tensor& a, const Tensor& b, double max_val, SsimOptions = {});
struct SsimMultiscaleOptions {
  TANDEM_OP_OPTIONS;
  std::vector<double> power_factors = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};  ///< one for each scale
  i64 filter_size = 11;
  double filter_sigma = 1.5;
  double k1 = 0.01;
  double k2 = 0.03;
};
/// Structural similarity at several scales, each half as large as the one before (Wang et al., "Multi-scale Structural
/// Similarity for Image Quality Assessment", 2003). The smallest scale must still have filter_size pixels. Otherwise as
/// ssim.
TANDEM_API Tensor ssim_multiscale(const Tensor& a, const Tensor& b, double max_val, SsimMultiscaleOptions = {});

}  // namespace TANDEM_NS::image
