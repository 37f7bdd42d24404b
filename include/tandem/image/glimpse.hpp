// Windows into images at places given as numbers or drawn at random. Part of the component tandem::image. Not here:
// resized boxes (boxes.hpp), crops of fixed places (crop.hpp).
#pragma once
#include "tandem/image/shapes.hpp"

namespace TANDEM_NS::image {

/// What a glimpse has outside of its image.
enum class GlimpseNoise : std::uint8_t {
  uniform,   ///< numbers between the least and the largest value of the image
  gaussian,  ///< normally distributed, with the mean and deviation of each channel, within its range of values
  zero
};
struct ExtractGlimpseOptions {
  TANDEM_OP_OPTIONS;
  bool centered = true;    ///< offsets count from the middle of the image
  bool normalized = true;  ///< offsets are parts of its size: 1 is the lower or right border
  GlimpseNoise noise = GlimpseNoise::uniform;
  std::optional<i64> seed = {};
  const random::Generator* generator = nullptr;
};
/// Cuts a window out of each image, which may reach beyond its borders. The window's middle lies at the offset if that
/// is centered and normalized, its upper left corner otherwise, as in TensorFlow 2.
///   x         floating, [n, height, width, channels]
///   size      {height, width} of the windows
///   offsets   floating, [n, 2]: y, x
///   returns   dtype of x, [n, window height, window width, channels]
///   throws    errors::InvalidArgumentError for other dtypes or ranks, or a size below 1
///   gradient  to x: placed back; none through noise or offsets
TANDEM_API Tensor extract_glimpse(const Tensor& x, const Size& size, const Tensor& offsets, ExtractGlimpseOptions = {});

/// A rectangle of an image: slice(image, begin, size) cuts it out, draw_bounding_boxes draws `bboxes`.
struct DistortedBox {
  Tensor begin;   ///< int64 [3]: {y, x, 0}
  Tensor size;    ///< int64 [3]: {height, width, -1}
  Tensor bboxes;  ///< float32 [1, 1, 4]: the same as parts of the image
};
struct SampleDistortedBoundingBoxOptions {
  TANDEM_OP_OPTIONS;
  double min_object_covered = 0.1;  ///< the part of one box at least that the rectangle must have
  std::array<double, 2> aspect_ratio_range = {0.75, 1.33};  ///< of width / height
  std::array<double, 2> area_range = {0.05, 1};             ///< as parts of the image
  i64 max_attempts = 100;                                   ///< then the rectangle is the whole image
  bool use_image_if_no_bounding_boxes = false;
  std::optional<i64> seed = {};
  const random::Generator* generator = nullptr;
};
/// Draws a rectangle at random that has some of an object: crops for training.
///   image_size      int32 or int64, [3]: height, width, channels: shape(image)
///   bounding_boxes  floating, [1, n, 4]: boxes of objects; those smaller than a pixel do not count. How many there are
///                   must be known in a trace
///   returns         a rectangle within the image. Height and width are rounded: at most half a pixel lies between
///                   width and height * aspect ratio. All places are equally likely
///   throws          errors::InvalidArgumentError for other dtypes or shapes, ranges that are empty or not positive,
///                   and without boxes unless use_image_if_no_bounding_boxes
///   gradient        none (non-differentiable)
TANDEM_API DistortedBox sample_distorted_bounding_box(const Tensor& image_size, const Tensor& bounding_boxes,
                                                      SampleDistortedBoundingBoxOptions = {});

}  // namespace TANDEM_NS::image
