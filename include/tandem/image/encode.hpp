// Writing of images: JPEG and PNG. Part of the component tandem::image.
#pragma once
#include <string>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS::image {

/// The colors of a JPEG file; automatic: by the number of channels.
enum class JpegFormat : std::uint8_t { automatic, grayscale, rgb };
/// The unit of a JPEG's density: pixels per inch or per centimeter.
enum class DensityUnit : std::uint8_t { in, cm };

struct EncodeJpegOptions {
  TANDEM_OP_OPTIONS;
  JpegFormat format = JpegFormat::automatic;
  i64 quality = 95;                 ///< 0 to 100
  bool progressive = false;         ///< in several scans, from coarse to fine
  bool optimize_size = false;       ///< shorter codes, from a second pass
  bool chroma_downsampling = true;  ///< store the colors of 2 x 2 pixels once
  DensityUnit density_unit = DensityUnit::in;
  i64 x_density = 300;  ///< 1 to 65535
  i64 y_density = 300;
};
/// Encodes an image as JPEG.
///   x         uint8, [height, width, 1 or 3], sizes 1 to 65500
///   returns   string, a scalar: the bytes of the file
///   throws    errors::InvalidArgumentError for another dtype or shape, a format that does not fit the channels, or
///             options out of their ranges
///   gradient  none (non-differentiable)
TANDEM_API Tensor encode_jpeg(const Tensor& x, EncodeJpegOptions = {});

struct EncodePngOptions {
  TANDEM_OP_OPTIONS;
  i64 compression = -1;  ///< 0 (fast) to 9 (small), -1: zlib's default
};
/// Encodes an image as PNG, without loss.
///   x         uint8 or uint16, [height, width, 1 to 4]: gray, gray with alpha, RGB, RGB with alpha
///   returns   string, a scalar: the bytes of the file
///   throws    errors::InvalidArgumentError for another dtype or shape, or a compression out of its range
///   gradient  none (non-differentiable)
TANDEM_API Tensor encode_png(const Tensor& x, EncodePngOptions = {});

}  // namespace TANDEM_NS::image

namespace TANDEM_NS {

TANDEM_OPS(image_encode_ops, encode_jpeg, encode_png)

namespace rules {
struct EncodeImageAttrs {
  image::JpegFormat format;
  image::DensityUnit density_unit;
  bool progressive, optimize_size, chroma_downsampling;
  i64 quality, x_density, y_density, compression;
  TANDEM_ATTRS(EncodeImageAttrs, format, density_unit, progressive, optimize_size, chroma_downsampling, quality,
               x_density, y_density, compression);
};
}  // namespace rules
template <>
inline constexpr int enumerators<image::JpegFormat> = 3;
template <>
inline constexpr int enumerators<image::DensityUnit> = 2;

}  // namespace TANDEM_NS
