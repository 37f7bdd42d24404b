// Encoding of PNG images by libpng.
#pragma once
#include <bit>
#include <new>

#include "tandem/image/codec_kernels.hpp"
#include "tandem/image/png_errors_kernels.hpp"

namespace TANDEM_NS::image::impl {

class PngWriter {
 public:
  PngWriter() : calls_("encode_png", "libpng cannot write the image") {
    png_.main = png_create_write_struct(PNG_LIBPNG_VER_STRING, &calls_, &PngCalls::fail, &PngCalls::ignore);
    png_.info = png_.main ? png_create_info_struct(png_.main) : nullptr;
    if (!png_.info)
      raise("encode_png", "libpng cannot be used: another version of it is loaded, or memory is exhausted");
  }
  PngWriter(const PngWriter&) = delete;
  PngWriter& operator=(const PngWriter&) = delete;

  std::string write(const Extent& e, bool is_16_bit, const void* pixels, const rules::EncodeImageAttrs& a) {
    static constexpr int colors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                                     PNG_COLOR_TYPE_RGB_ALPHA};
    const i64 row = e.width * e.channels * (is_16_bit ? 2 : 1);
    calls_.guarded([&] {
      png_set_write_fn(png_.main, &bytes_, &append, nullptr);
      png_set_user_limits(png_.main, 0x7fffffff, 0x7fffffff);
      png_set_IHDR(png_.main, png_.info, static_cast<png_uint_32>(e.width), static_cast<png_uint_32>(e.height),
                   is_16_bit ? 16 : 8, colors[e.channels - 1], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                   PNG_FILTER_TYPE_DEFAULT);
      png_set_compression_level(png_.main, static_cast<int>(a.compression));
      png_write_info(png_.main, png_.info);
      if (is_16_bit && std::endian::native == std::endian::little) png_set_swap(png_.main);
      for (i64 y = 0; y < e.height; ++y) png_write_row(png_.main, static_cast<png_const_bytep>(pixels) + y * row);
      png_write_end(png_.main, nullptr);
    });
    return std::move(bytes_);
  }

 private:
  static void append(png_structp png, png_bytep from, png_size_t count) {
    bool full = false;
    try {
      static_cast<std::string*>(png_get_io_ptr(png))->append(reinterpret_cast<const char*>(from), count);
    } catch (const std::bad_alloc&) {
      full = true;
    }
    if (full) png_error(png, "memory is exhausted");  // jumps: not out of a handler
  }

  PngCalls calls_;
  std::string bytes_;
  // A member with a destructor, which runs also if the constructor raises.
  struct Structs {
    png_structp main = nullptr;
    png_infop info = nullptr;
    ~Structs() { png_destroy_write_struct(&main, &info); }
  } png_;
};

TANDEM_INLINE std::string write_png(const Extent& e, bool is_16_bit, const void* pixels,
                                    const rules::EncodeImageAttrs& a) {
  return PngWriter().write(e, is_16_bit, pixels, a);
}

}  // namespace TANDEM_NS::image::impl
