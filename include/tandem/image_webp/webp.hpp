// Reading and writing of WebP images. Part of the component tandem::image_webp. Not here: other formats, which are part
// of tandem::image (image/decode.hpp, image/encode.hpp).
#pragma once
#include <string_view>

#include "tandem/image/decode.hpp"

namespace TANDEM_NS::image {

struct DecodeWebpOptions {
  TANDEM_OP_OPTIONS;
  i64 channels = 0;                     ///< 3: RGB, 4: RGB with alpha, 0: as in the file
  i64 max_pixels = default_max_pixels;  ///< refuse larger images before their memory is allocated
};
/// Decodes a WebP image, lossy or without loss. Alpha that is not asked for is dropped; that of an image without is
/// 255. Color profiles and EXIF data are ignored. Not an op: it needs the bytes, as in Dataset::map.
///   contents  the bytes, or a string scalar
///   returns   uint8, [height, width, channels]
///   throws    errors::InvalidArgumentError if the bytes are not a WebP image, are damaged or end early, for an
///             animation, for more than .max_pixels pixels, and for other channels; errors::TraceError for a symbolic
///             tensor; errors::ResourceExhaustedError if memory is exhausted
///   gradient  none (non-differentiable)
TANDEM_API Tensor decode_webp(const Tensor& contents, DecodeWebpOptions = {});
TANDEM_API Tensor decode_webp(std::string_view contents, DecodeWebpOptions = {});

struct EncodeWebpOptions {
  TANDEM_OP_OPTIONS;
  bool lossless = false;  ///< keep all pixels, also the colors of transparent ones
  double quality = 75;    ///< 0 to 100: of the picture, or without loss how much effort makes the file smaller
  i64 method = 4;         ///< 0 (fast) to 6 (small)
};
/// Encodes an image as WebP. Not an op: it needs the pixels.
///   x         uint8, [height, width, 3 or 4]: RGB, RGB with alpha; sizes 1 to 16383
///   returns   string, a scalar: the bytes of the file
///   throws    errors::InvalidArgumentError for another dtype or shape, or options out of their ranges;
///             errors::TraceError for a symbolic tensor; errors::ResourceExhaustedError if memory is exhausted
///   gradient  none (non-differentiable)
TANDEM_API Tensor encode_webp(const Tensor& x, EncodeWebpOptions = {});

/// Whether the bytes begin as a WebP image does. Not an op.
TANDEM_API bool is_webp(std::string_view contents);

}  // namespace TANDEM_NS::image
