// Reading of encoded images: JPEG, PNG, BMP, GIF. Part of the component tandem::image.
// Not here: writing (encode.hpp), files (io::read_file), resizing (resize.hpp).
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "tandem/core/apply.hpp"

namespace TANDEM_NS::image {

/// How a JPEG's cosine transforms are computed: exactly rounded, or somewhat faster and less exact.
enum class DctMethod : std::uint8_t { integer_accurate, integer_fast };
/// The most pixels that a decoder accepts by default. What is read then takes about 600 MB at most, which a progressive
/// JPEG's coefficients and pixels do, or 750 MB for CMYK; .orient adds 200 MB.
inline constexpr i64 default_max_pixels = i64(1) << 26;

struct DecodeJpegOptions {
  TANDEM_OP_OPTIONS;
  i64 channels = 0;                    ///< 1: gray, 3: RGB, 0: as in the file (RGB for CMYK)
  i64 ratio = 1;                       ///< 1, 2, 4 or 8: by how much the image is reduced while it is decoded
  bool fancy_upscaling = true;         ///< interpolate the color planes instead of repeating their pixels
  bool try_recover_truncated = false;  ///< fill what is missing at the end of a truncated file
  double acceptable_fraction = 0;      ///< with that: the part of the lines that must be there, in [0, 1]
  DctMethod dct_method = DctMethod::integer_accurate;  ///< TensorFlow's default is integer_fast
  bool orient = false;                  ///< turn and mirror as the EXIF data says; otherwise it is ignored
  i64 max_pixels = default_max_pixels;  ///< refuse larger images before their memory is allocated
};
/// Decodes a JPEG image, baseline or progressive. CMYK and YCCK are converted to RGB; color profiles are ignored. Pixel
/// data that is damaged but complete is decoded as far as possible, as in TensorFlow. With .try_recover_truncated, what
/// is missing becomes gray, or coarse in a progressive image; one that ends within the tables between its scans is
/// refused.
///   contents  the bytes, or a string scalar
///   returns   uint8, [height, width, channels]
///   throws    errors::InvalidArgumentError if the bytes are not a JPEG image or end early, for more than .max_pixels
///             pixels, CMYK with .channels = 1, or options out of their ranges
///   gradient  none (non-differentiable)
TANDEM_API Tensor decode_jpeg(const Tensor& contents, DecodeJpegOptions = {});
TANDEM_API Tensor decode_jpeg(std::string_view contents, DecodeJpegOptions = {});

/// The part {y, x, height, width} of an image, in pixels.
using Window = std::array<i64, 4>;
/// Decodes a part of a JPEG image. The result is the same part of what decode_jpeg returns, but rows above and below it
/// are skipped, not transformed. With .ratio, the window is that of the reduced image.
///   throws    errors::InvalidArgumentError as decode_jpeg, for a window outside of the image, or with .orient
///   gradient  none (non-differentiable)
TANDEM_API Tensor decode_and_crop_jpeg(const Tensor& contents, const Window& crop_window, DecodeJpegOptions = {});
TANDEM_API Tensor decode_and_crop_jpeg(std::string_view contents, const Window& crop_window, DecodeJpegOptions = {});

struct DecodePngOptions {
  TANDEM_OP_OPTIONS;
  i64 channels = 0;            ///< 1: gray, 2: gray with alpha, 3: RGB, 4: RGB with alpha, 0: as in the file
  DType dtype = DType::uint8;  ///< or uint16; the other width is converted
  i64 max_pixels = default_max_pixels;
};
/// Decodes a PNG image. Palettes become RGB, gray of less than 8 bits becomes 8 bits. Transparent colors become alpha
/// if .channels asks for it; alpha that is not asked for is dropped. Gray is 0.299 R + 0.587 G + 0.114 B, rounded down.
/// Gamma, color profiles and texts are skipped.
///   contents  the bytes, or a string scalar
///   returns   `.dtype`, [height, width, channels]
///   throws    errors::InvalidArgumentError if the bytes are not a PNG image or are damaged, for more than .max_pixels
///             pixels, or for options out of their ranges
///   gradient  none (non-differentiable)
TANDEM_API Tensor decode_png(const Tensor& contents, DecodePngOptions = {});
TANDEM_API Tensor decode_png(std::string_view contents, DecodePngOptions = {});

struct DecodeBmpOptions {
  TANDEM_OP_OPTIONS;
  i64 channels = 0;  ///< 1 (gray palettes alone), 3 or 4; 0: as in the file
  i64 max_pixels = default_max_pixels;
};
/// Decodes a BMP image of 8 bits with a palette, 24 or 32 bits a pixel, not compressed.
///   contents  the bytes, or a string scalar
///   returns   uint8, [height, width, channels]
///   throws    errors::InvalidArgumentError if the bytes are not such an image, end early, or do not have the channels
///   gradient  none (non-differentiable)
TANDEM_API Tensor decode_bmp(const Tensor& contents, DecodeBmpOptions = {});
TANDEM_API Tensor decode_bmp(std::string_view contents, DecodeBmpOptions = {});

struct DecodeGifOptions {
  TANDEM_OP_OPTIONS;
  i64 max_pixels = default_max_pixels;  ///< of all frames
};
/// Decodes the frames of a GIF image, as a viewer shows them one after the other: a frame is drawn over those before,
/// which are left, erased or restored as they say (GIF89a, 23.c.iv; TensorFlow leaves all of them). Transparent pixels
/// show what is below, and black where nothing is. Delays are skipped. The size is that of the logical screen, to which
/// frames are clipped.
///   contents  the bytes, or a string scalar
///   returns   uint8, [frames, height, width, 3]
///   throws    errors::InvalidArgumentError if the bytes are not a GIF image, are damaged or end early, and for more
///             than .max_pixels pixels in all frames
///   gradient  none (non-differentiable)
TANDEM_API Tensor decode_gif(const Tensor& contents, DecodeGifOptions = {});
TANDEM_API Tensor decode_gif(std::string_view contents, DecodeGifOptions = {});

struct DecodeImageOptions {
  TANDEM_OP_OPTIONS;
  i64 channels = 0;
  DType dtype = DType::uint8;  ///< uint16: PNG alone
  i64 max_pixels = default_max_pixels;
};
/// Decodes a JPEG, PNG or BMP image, or the first frame of a GIF image, whichever the first bytes show.
///   contents  the bytes, or a string scalar
///   returns   `.dtype`, [height, width, channels]
///   throws    errors::InvalidArgumentError for other bytes (those of a WebP image: see the component image_webp), and
///             as the decoder of the format
///   gradient  none (non-differentiable)
TANDEM_API Tensor decode_image(const Tensor& contents, DecodeImageOptions = {});
TANDEM_API Tensor decode_image(std::string_view contents, DecodeImageOptions = {});

/// An image, or the reason why there is none.
struct TryDecoded {
  Tensor image = {};
  std::string error = {};

  bool ok() const { return error.empty(); }
};
/// decode_image for bytes that may be broken: returns the error's text instead of raising.
TANDEM_API TryDecoded try_decode(std::string_view contents, DecodeImageOptions = {});

/// Whether the bytes begin as a JPEG image does. Not an op.
TANDEM_API bool is_jpeg(std::string_view contents);
/// Reads the size of a JPEG image from its header. Not an op.
///   returns  int32, {height, width, channels of the file}
///   throws   errors::InvalidArgumentError if the bytes do not have the header of a JPEG image
TANDEM_API Tensor extract_jpeg_shape(std::string_view contents, OpOptions = {});

}  // namespace TANDEM_NS::image

namespace TANDEM_NS {

TANDEM_OPS(image_decode_ops, decode_jpeg, decode_and_crop_jpeg, decode_png, decode_bmp, decode_gif, decode_image)

namespace rules {
enum class ImageFormat : std::uint8_t { any, jpeg, png, bmp, gif };
struct DecodeImageAttrs {
  ImageFormat format;
  DType dtype;
  image::DctMethod dct_method;
  bool fancy_upscaling, recover, orient;
  i64 channels, ratio, max_pixels;
  double acceptable_fraction;
  Shape window;  // {y, x, height, width}, or rank 0: all
  TANDEM_ATTRS(DecodeImageAttrs, format, dtype, dct_method, fancy_upscaling, recover, orient, channels, ratio,
               max_pixels, acceptable_fraction, window);
};
}  // namespace rules
template <>
inline constexpr int enumerators<image::DctMethod> = 2;
template <>
inline constexpr int enumerators<rules::ImageFormat> = 5;

}  // namespace TANDEM_NS
