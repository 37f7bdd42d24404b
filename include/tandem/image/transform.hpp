// Pixels from other places: affine and projective transforms, rotation, sampling at given points. Part of the component
// tandem::image. Not here: quarter turns (flip.hpp), resizing (resize.hpp).
#pragma once
#include <optional>

#include "tandem/image/resize.hpp"

namespace TANDEM_NS::image {

/// How a value between pixels is read.
enum class Sampling : std::uint8_t { bilinear, nearest };
/// What lies outside of an image: a constant (k k | a b c | k k), its nearest pixel (a a | a b c | c c), its reflection
/// (b a | a b c | c b), or its repetition (b c | a b c | a b).
enum class FillMode : std::uint8_t { constant, nearest, reflect, wrap };

struct TransformOptions {
  TANDEM_OP_OPTIONS;
  Sampling interpolation = Sampling::bilinear;
  FillMode fill_mode = FillMode::constant;
  double fill_value = 0;                 ///< with FillMode::constant, and of points that are not finite (where k is 0)
  std::optional<Size> output_size = {};  ///< default: that of x
};
/// Computes each pixel (column x, row y) of the result from the point ((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)
/// of the image, where k = c0 x + c1 y + 1.
///   x           real numbers, [height, width, channels] or [n, height, width, channels]
///   transforms  floating, [8] or [n, 8]: a0, a1, a2, b0, b1, b2, c0, c1
///   returns     dtype of x, with the output size; integers are rounded
///   throws      errors::InvalidArgumentError for other ranks or dtypes, or a transform of another size
///   gradient    to x and to transforms, for floating dtypes; nearest: to x
TANDEM_API Tensor projective_transform(const Tensor& x, const Tensor& transforms, TransformOptions = {});
/// The same without perspective: transforms [6] or [n, 6], c0 = c1 = 0.
TANDEM_API Tensor affine_transform(const Tensor& x, const Tensor& transforms, TransformOptions = {});
/// Turns images counter-clockwise around their centers.
///   x         real numbers, [height, width, channels] or [n, height, width, channels]; sizes must be known
///   angles    floating, a scalar or [n], in radians
///   returns   dtype and shape of x
///   throws    errors::InvalidArgumentError for other ranks or dtypes, or an .output_size
///   gradient  to x and to angles, for floating dtypes
TANDEM_API Tensor rotate(const Tensor& x, const Tensor& angles, TransformOptions = {});
TANDEM_API Tensor rotate(const Tensor& x, double angle, TransformOptions = {});

struct GridSampleOptions {
  TANDEM_OP_OPTIONS;
  Sampling interpolation = Sampling::bilinear;
  FillMode fill_mode = FillMode::constant;
  double fill_value = 0;       ///< with FillMode::constant, and of points that are not finite
  bool align_corners = false;  ///< -1 and 1 are the centers of the outermost pixels; false: their outer edges
};
/// Reads images at points, as PyTorch's grid_sample does.
///   x         real numbers, [n, height, width, channels]
///   grid      floating, [n, h, w, 2]: column and row of each point, from -1 to 1 across the image
///   returns   dtype of x, [n, h, w, channels]
///   throws    errors::InvalidArgumentError for other ranks, sizes or dtypes
///   gradient  to x and to grid, for floating dtypes; nearest: to x
TANDEM_API Tensor grid_sample(const Tensor& x, const Tensor& grid, GridSampleOptions = {});

namespace impl {
/// The values of images [n, height, width, channels] at rows and columns [m, h, w], read from image `batch` [m, 1, 1]
/// (int64).
TANDEM_API Tensor sample(const Tensor& images, const Tensor& batch, const Tensor& rows, const Tensor& columns,
                         Sampling interpolation, FillMode fill_mode, double fill_value);
}  // namespace impl

}  // namespace TANDEM_NS::image
