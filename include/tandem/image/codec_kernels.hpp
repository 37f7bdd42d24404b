// What the readers and writers of image formats offer to the ops: sizes from headers, pixels into a buffer. None of
// them knows tensors. Not here: the formats (jpeg.inl, jpeg_write.inl, png.inl, png_write.inl, bmp.inl, gif.inl).
#pragma once
#include <string>
#include <string_view>

#include "tandem/image/decode.hpp"
#include "tandem/image/encode.hpp"
#include "tandem/image/shapes.hpp"

namespace TANDEM_NS::image::impl {

struct Extent {
  i64 height, width, channels;
};
using DecodeAttrs = rules::DecodeImageAttrs;
/// What a reader is asked for: bytes, and options; `op` is named in errors, which are InvalidArgumentErrors.
struct DecodeCall {
  const char* op;
  std::string_view bytes;
  const DecodeAttrs& attrs;
};

/// Raises for an image without pixels, or with too many.
inline void check_pixels(const char* op, i64 height, i64 width, i64 max_pixels) {
  if (height < 1 || width < 1)
    raise(op, "the image has no pixels: " + std::to_string(height) + " x " + std::to_string(width));
  if (height > max_pixels / width)
    raise(op, "the image has " + std::to_string(height) + " x " + std::to_string(width) + " pixels, more than " +
                  std::to_string(max_pixels) + " (raise .max_pixels if it can be trusted)");
}

/// Reads the header: the extent of what read_jpeg writes.
TANDEM_API Extent jpeg_extent(const DecodeCall&);
/// Decodes into `to`, which has room for that extent.
TANDEM_API void read_jpeg(const DecodeCall&, std::uint8_t* to);
/// The extent of the file, as it is encoded.
TANDEM_API Extent jpeg_file_extent(const char* op, std::string_view bytes);
/// The orientation in the EXIF data of an APP1 segment, 1 to 8; 1 if there is none.
TANDEM_API int exif_orientation(std::string_view segment);
/// Turns and mirrors an image: to[...] = from[...] as `orientation` says. Those from 5 on exchange height and width.
TANDEM_API void apply_orientation(int orientation, const Extent& from, const std::uint8_t* pixels, std::uint8_t* to);

/// The same of PNG and BMP. `to` has elements of the attributes' dtype.
TANDEM_API Extent png_extent(const DecodeCall&);
TANDEM_API void read_png(const DecodeCall&, void* to);
TANDEM_API Extent bmp_extent(const DecodeCall&);
TANDEM_API void read_bmp(const DecodeCall&, std::uint8_t* to);

struct GifExtent {
  i64 frames, height, width;
};
TANDEM_API bool is_gif(std::string_view bytes);
/// The extent of the first frames, `most` or all that there are.
TANDEM_API GifExtent gif_extent(const DecodeCall&, i64 most);
/// Decodes so many frames, as many as gif_extent has found, into RGB.
TANDEM_API void read_gif(const DecodeCall&, i64 frames, std::uint8_t* to);

/// Encodes pixels of that extent.
///   throws  errors::InvalidArgumentError, in the name of encode_jpeg or encode_png
TANDEM_API std::string write_jpeg(const Extent&, const std::uint8_t* pixels, const rules::EncodeImageAttrs&);
TANDEM_API std::string write_png(const Extent&, bool is_16_bit, const void* pixels, const rules::EncodeImageAttrs&);

}  // namespace TANDEM_NS::image::impl
