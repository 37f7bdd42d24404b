// Resizing of images: by interpolation, keeping the aspect ratio, cropping or padding. Part of the component
// tandem::image. Not here: cropping alone (crop.hpp), rotations and other transforms (transform.hpp).
#pragma once
#include <array>

#include "tandem/core/apply.hpp"
#include "tandem/image/decode.hpp"

namespace TANDEM_NS::image {

/// How pixels are interpolated. bilinear, bicubic (Keys, a = -1/2), lanczos3, lanczos5, gaussian (radius 1.5) and
/// mitchellcubic weigh the pixels around a point by a function of their distance; area averages what a new pixel
/// covers; nearest takes one pixel.
enum class ResizeMethod : std::uint8_t {
  bilinear,
  nearest,
  bicubic,
  area,
  lanczos3,
  lanczos5,
  gaussian,
  mitchellcubic
};

/// {height, width}.
using Size = std::array<i64, 2>;

struct ResizeOptions {
  TANDEM_OP_OPTIONS;
  ResizeMethod method = ResizeMethod::bilinear;
  bool preserve_aspect_ratio = false;  ///< as large as fits into the size, not distorted
  bool antialias = false;              ///< widen the weighing function when the image gets smaller
  /// Pixel i of n lies at (i + 1/2) h / n - 1/2 of the h that there were; false: at i h / n, as TensorFlow 1 has it,
  /// for bilinear, nearest and bicubic (then with a = -3/4)
  bool half_pixel_centers = true;
};
/// Resizes images; the result is distorted unless the aspect ratio stays the same. The values are those of
/// tf.image.resize.
///   x         real numbers, [height, width, channels] or [n, height, width, channels]
///   size      {height, width} of the result, both positive
///   returns   float32 (float64 for float64; nearest: dtype of x), with the new size
///   throws    errors::InvalidArgumentError for another rank or dtype, images without pixels, a size below 1, a method
///             that the older grid does not have, or .preserve_aspect_ratio in a trace where sizes are not known
///   gradient  each pixel's weights applied the other way round
TANDEM_API Tensor resize(const Tensor& x, const Size& size, ResizeOptions = {});

struct ResizeWithPadOptions {
  TANDEM_OP_OPTIONS;
  ResizeMethod method = ResizeMethod::bilinear;
  bool antialias = false;
};
/// Resizes images without distorting them, as large as fits, and adds zeros around them, evenly on both sides.
///   returns   [..., height, width, channels]; dtype as resize
///   throws    errors::InvalidArgumentError as resize, and in a trace where sizes are not known
///   gradient  of resize, without the zeros
TANDEM_API Tensor resize_with_pad(const Tensor& x, i64 height, i64 width, ResizeWithPadOptions = {});
/// Crops or pads images around their centers, without resizing them: each side loses or gets half of the difference,
/// the top and left side the smaller half.
///   x         any dtype, [height, width, channels] or [n, height, width, channels]; sizes may be unknown in a trace
///   returns   dtype of x, with the new size
///   throws    errors::InvalidArgumentError for another rank or a size below 1
///   gradient  placed back, 0 where cropped
TANDEM_API Tensor resize_with_crop_or_pad(const Tensor& x, i64 height, i64 width, OpOptions = {});

/// Decodes a JPEG image at a size: reduced by 2, 4 or 8 while it is decoded, as far as it stays larger, then resized
/// with antialias. Faster than decode_jpeg and resize, whose result differs a little. Not an op: which reduction is
/// right is known when the bytes are there.
///   returns  float32, [height, width, channels], from 0 to 255
///   throws   errors::InvalidArgumentError as decode_jpeg and resize
TANDEM_API Tensor decode_resize_jpeg(std::string_view contents, const Size& size, DecodeJpegOptions = {});

}  // namespace TANDEM_NS::image

namespace TANDEM_NS {

TANDEM_OPS(image_resize_ops, image_resize, image_resize_nearest, image_resize_grad)

namespace rules {
struct ResizeAttrs {
  i64 height, width;
  image::ResizeMethod method;
  bool antialias, half_pixel_centers;
  TANDEM_ATTRS(ResizeAttrs, height, width, method, antialias, half_pixel_centers);
};
}  // namespace rules
template <>
inline constexpr int enumerators<image::ResizeMethod> = 8;

}  // namespace TANDEM_NS
