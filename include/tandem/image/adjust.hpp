// Changes of brightness, contrast, hue, saturation, gamma and quality, also by random amounts; standardization. Part of
// the component tandem::image.
// Integers are computed as numbers in [0, 1] (convert_image_dtype) and come back clamped, never wrapped around.
#pragma once
#include "tandem/image/shapes.hpp"

namespace TANDEM_NS::image {

/// Adds a number to all channels. Integers: in units of the dtype's range, so 0.2 adds a fifth of it.
///   x         real numbers, any shape
///   returns   dtype and shape of x; floating numbers are not clamped
///   throws    errors::InvalidArgumentError for another dtype
///   gradient  g, for floating dtypes
TANDEM_API Tensor adjust_brightness(const Tensor& x, double delta, OpOptions = {});
/// Moves pixels away from the mean of their image and channel: (x - mean) * factor + mean.
///   x         real numbers, [..., height, width, channels]
///   returns   dtype and shape of x; floating numbers are not clamped
///   throws    errors::InvalidArgumentError for another dtype, or a rank below 3
///   gradient  exact, for floating dtypes
TANDEM_API Tensor adjust_contrast(const Tensor& x, double factor, OpOptions = {});
/// Turns the hues: adds delta to the hue of HSV, which wraps around. The least and the largest channel stay, also if
/// they are negative.
///   x         real numbers, [..., 3]
///   delta     in [-1, 1]; 1 is the whole circle
///   returns   dtype and shape of x
///   throws    errors::InvalidArgumentError for another last axis or dtype, or a delta out of its range
///   gradient  exact, for floating dtypes, except where channels are equal
TANDEM_API Tensor adjust_hue(const Tensor& x, double delta, OpOptions = {});
/// Multiplies the saturation of HSV, and clamps it to [0, 1]. Otherwise as adjust_hue.
///   factor    not negative; 0 gives gray
TANDEM_API Tensor adjust_saturation(const Tensor& x, double factor, OpOptions = {});

/// Computes gain * x^gamma; integers on numbers in [0, 1].
///   x         real numbers, any shape
///   gamma     not negative: above 1 darker, below 1 brighter
///   returns   dtype and shape of x
///   throws    errors::InvalidArgumentError for another dtype or a negative gamma
///   gradient  exact, for floating dtypes
TANDEM_API Tensor adjust_gamma(const Tensor& x, double gamma = 1, double gain = 1, OpOptions = {});
/// What is left of an image after it was stored as JPEG: its noise.
///   x         real numbers, [height, width, 1 or 3]
///   quality   0 to 100
///   returns   dtype and shape of x
///   throws    errors::InvalidArgumentError for another shape or dtype, or a quality out of its range
///   gradient  none (non-differentiable)
TANDEM_API Tensor adjust_jpeg_quality(const Tensor& x, i64 quality, OpOptions = {});

/// adjust_brightness by a number in [-max_delta, max_delta), adjust_contrast by one in [lower, upper), and so on: one
/// number for all images of a batch.
///   throws    errors::InvalidArgumentError also for bounds that are negative or not in order; a max_delta of 0 changes
///             nothing
TANDEM_API Tensor random_brightness(const Tensor& x, double max_delta, RandomOptions = {});
TANDEM_API Tensor random_contrast(const Tensor& x, double lower, double upper, RandomOptions = {});
TANDEM_API Tensor random_hue(const Tensor& x, double max_delta, RandomOptions = {});
TANDEM_API Tensor random_saturation(const Tensor& x, double lower, double upper, RandomOptions = {});
/// adjust_jpeg_quality by a whole number in [min, max). Not in a traced function, which would keep one quality.
TANDEM_API Tensor random_jpeg_quality(const Tensor& x, i64 min_quality, i64 max_quality, RandomOptions = {});

/// Makes the mean of each image 0 and its standard deviation 1: (x - mean) / max(deviation, 1 / sqrt(pixels *
/// channels)).
///   x         real numbers, [..., height, width, channels]; integers are not scaled
///   returns   shape of x; float32, float64 for float64
///   throws    errors::InvalidArgumentError for a rank below 3 or another dtype
///   gradient  exact
TANDEM_API Tensor per_image_standardization(const Tensor& x, OpOptions = {});

}  // namespace TANDEM_NS::image
