// Parts of images, and images within larger ones. Part of the component tandem::image. Not here: resizing (resize.hpp),
// flips (flip.hpp), boxes given as tensors (boxes.hpp).
#pragma once
#include "tandem/image/shapes.hpp"

namespace TANDEM_NS::image {

/// Cuts the middle out of images: a margin of floor((n - n * fraction) / 2) pixels is removed on each side.
///   x         any dtype, [height, width, channels] or [n, height, width, channels]; sizes may be unknown in a trace
///   fraction  of height and width that is kept, in (0, 1]
///   throws    errors::InvalidArgumentError for another rank, or a fraction out of its range
///   gradient  placed back into zeros
TANDEM_API Tensor central_crop(const Tensor& x, double fraction, OpOptions = {});
/// Cuts a rectangle out of images.
///   x         any dtype, [height, width, channels] or [n, height, width, channels]
///   returns   [..., target_height, target_width, channels]
///   throws    errors::InvalidArgumentError for another rank, or a rectangle that is empty or not inside of the images
///   gradient  placed back into zeros
TANDEM_API Tensor crop_to_bounding_box(const Tensor& x, i64 offset_height, i64 offset_width, i64 target_height,
                                       i64 target_width, OpOptions = {});
/// Places images into larger ones of zeros.
///   x         any dtype, [height, width, channels] or [n, height, width, channels]
///   returns   [..., target_height, target_width, channels]
///   throws    errors::InvalidArgumentError for another rank, a negative offset, or a target that is too small
///   gradient  the images' part of g
TANDEM_API Tensor pad_to_bounding_box(const Tensor& x, i64 offset_height, i64 offset_width, i64 target_height,
                                      i64 target_width, OpOptions = {});
/// Cuts out a part at a random place; all places are equally likely. All images of a batch are cut at the same place.
///   x         any dtype, any rank; sizes may be unknown in a trace
///   size      of the part, one entry per axis: {h, w, 3}; -1: all of that axis
///   throws    errors::InvalidArgumentError for another number of entries, or if x is smaller
///   gradient  placed back into zeros
TANDEM_API Tensor random_crop(const Tensor& x, const Shape& size, RandomOptions = {});
/// Sets a square at a random place of each image to a value (cutout; DeVries and Taylor, 2017). Its center lies
/// anywhere in the image, so a part of the square may fall outside.
///   x         real numbers, [height, width, channels] or [n, height, width, channels]
///   size      {height, width} of the square
///   throws    errors::InvalidArgumentError for another rank or a size below 1
///   gradient  g, 0 within the square
TANDEM_API Tensor cutout(const Tensor& x, const Size& size, double value = 0, RandomOptions = {});

}  // namespace TANDEM_NS::image
