// Decoding of PNG images by libpng, whose errors are longjmps: see jpeg.inl.
#pragma once
#include <bit>
#include <cstring>
#include <vector>

#include "tandem/image/codec_kernels.hpp"
#include "tandem/image/png_errors_kernels.hpp"

namespace TANDEM_NS::image::impl {

class PngReader {
 public:
  /// Reads the header, up to the pixels.
  explicit PngReader(const DecodeCall& c)
      : calls_(c.op, "the bytes are not a PNG image that can be read"), left_(c.bytes) {
    png_.main = png_create_read_struct(PNG_LIBPNG_VER_STRING, &calls_, &PngCalls::fail, &PngCalls::ignore);
    png_.info = png_.main ? png_create_info_struct(png_.main) : nullptr;
    if (!png_.info) raise(c.op, "libpng cannot be used: another version of it is loaded, or memory is exhausted");
    calls_.guarded([&] {
      png_set_read_fn(png_.main, this, &read_bytes);
      png_set_user_limits(png_.main, 0x7fffffff, 0x7fffffff);  // their product is checked below
      // Skips all but what pixels are made of: texts and color profiles may unpack to a thousand times their size.
      png_set_keep_unknown_chunks(png_.main, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
      png_read_info(png_.main, png_.info);
    });
    const Extent e = extent();
    check_pixels(c.op, e.height, e.width, c.attrs.max_pixels);
    calls_.guarded([&] { transform(c.attrs); });
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  Extent extent() const {
    return {static_cast<i64>(png_get_image_height(png_.main, png_.info)),
            static_cast<i64>(png_get_image_width(png_.main, png_.info)), png_get_channels(png_.main, png_.info)};
  }
  void read(const DecodeAttrs& a, void* to) {
    const Extent e = extent();
    const bool widen = a.dtype == DType::uint16 && png_get_bit_depth(png_.main, png_.info) == 8;
    const std::size_t row = png_get_rowbytes(png_.main, png_.info), stride = widen ? 2 * row : row;
    // Rows that are to be widened are read into the second half of their places.
    std::vector<png_bytep> rows(static_cast<std::size_t>(e.height));
    for (std::size_t y = 0; y < rows.size(); ++y) rows[y] = static_cast<png_bytep>(to) + y * stride + (stride - row);
    calls_.guarded([&] {
      png_read_image(png_.main, rows.data());
      png_read_end(png_.main, nullptr);
    });
    if (!widen) return;
    for (const png_bytep from : rows) {
      png_bytep at = from - row;
      for (std::size_t i = 0; i < row; ++i, at += 2) {
        const auto wide = static_cast<std::uint16_t>(from[i] * 257);
        std::memcpy(at, &wide, 2);
      }
    }
  }

 private:
  static void read_bytes(png_structp png, png_bytep to, png_size_t count) {
    auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self.left_.size()) png_error(png, "the data ends early");
    std::memcpy(to, self.left_.data(), count);
    self.left_.remove_prefix(count);
  }
  // Asks libpng for the channels and the width of numbers that are wanted.
  void transform(const DecodeAttrs& a) {
    const int color = png_get_color_type(png_.main, png_.info);
    png_set_expand(png_.main);  // palettes, few bits, transparent colors
    const bool is_transparent = png_get_valid(png_.main, png_.info, PNG_INFO_tRNS);
    const bool has_alpha = color & PNG_COLOR_MASK_ALPHA || is_transparent, has_color = color & PNG_COLOR_MASK_COLOR;
    const bool wants_alpha = a.channels ? a.channels % 2 == 0 : has_alpha && !is_transparent;
    const bool wants_color = a.channels ? a.channels > 2 : has_color;
    if (has_alpha && !wants_alpha) png_set_strip_alpha(png_.main);
    if (!has_alpha && wants_alpha) png_set_add_alpha(png_.main, 0xffff, PNG_FILLER_AFTER);
    if (wants_color && !has_color) png_set_gray_to_rgb(png_.main);
    if (!wants_color && has_color) png_set_rgb_to_gray(png_.main, PNG_ERROR_ACTION_NONE, 0.299, 0.587);
    if (png_get_bit_depth(png_.main, png_.info) == 16) {
      if (a.dtype == DType::uint8) png_set_strip_16(png_.main);
      else if (std::endian::native == std::endian::little) png_set_swap(png_.main);
    }
    png_set_interlace_handling(png_.main);
    png_read_update_info(png_.main, png_.info);
  }

  PngCalls calls_;
  std::string_view left_;
  // A member with a destructor, which runs also if the constructor raises.
  struct Structs {
    png_structp main = nullptr;
    png_infop info = nullptr;
    ~Structs() { png_destroy_read_struct(&main, &info, nullptr); }
  } png_;
};

TANDEM_INLINE Extent png_extent(const DecodeCall& c) { return PngReader(c).extent(); }
TANDEM_INLINE void read_png(const DecodeCall& c, void* to) { PngReader(c).read(c.attrs, to); }

}  // namespace TANDEM_NS::image::impl
