// Mirrored and turned images. Part of the component tandem::image. Not here: other angles (transform.hpp).
#pragma once
#include "tandem/image/shapes.hpp"

namespace TANDEM_NS::image {

/// Mirrors images, left to right or top to bottom.
///   x         any dtype, [height, width, channels] or [n, height, width, channels]
///   throws    errors::InvalidArgumentError for another rank
///   gradient  mirrored
TANDEM_API Tensor flip_left_right(const Tensor& x, OpOptions = {});
TANDEM_API Tensor flip_up_down(const Tensor& x, OpOptions = {});
/// Turns images counter-clockwise by k times 90 degrees; a negative k turns clockwise.
///   x         any dtype, [height, width, channels] or [n, height, width, channels]
///   returns   [..., width, height, channels] for an odd k
///   throws    errors::InvalidArgumentError for another rank
///   gradient  turned back
TANDEM_API Tensor rot90(const Tensor& x, i64 k = 1, OpOptions = {});
/// Exchanges rows and columns of images.
///   x         any dtype, [height, width, channels] or [n, height, width, channels]
///   returns   [..., width, height, channels]
///   throws    errors::InvalidArgumentError for another rank
///   gradient  transposed
TANDEM_API Tensor transpose(const Tensor& x, OpOptions = {});
/// Mirrors each image with a probability of 1/2, drawn for each image of a batch.
///   x         any dtype, [height, width, channels] or [n, height, width, channels]
///   throws    errors::InvalidArgumentError for another rank
///   gradient  mirrored where x was
TANDEM_API Tensor random_flip_left_right(const Tensor& x, RandomOptions = {});
TANDEM_API Tensor random_flip_up_down(const Tensor& x, RandomOptions = {});

}  // namespace TANDEM_NS::image
