// Decoding of BMP images (BITMAPINFOHEADER and its extensions): 8 bits with a palette, 24 and 32 bits, not compressed.
#pragma once
#include <cstring>

#include "tandem/image/codec_kernels.hpp"

namespace TANDEM_NS::image::impl {

class BmpReader {
 public:
  /// Reads and checks the header: every pixel and color that it promises is there.
  explicit BmpReader(const DecodeCall& c) : op_(c.op), bytes_(c.bytes) {
    const std::string_view bytes = c.bytes;
    if (bytes.substr(0, 2) != "BM") raise(op_, "the bytes are not a BMP image: they do not begin with \"BM\"");
    if (bytes.size() < 54) raise(op_, "the data ends within its header");
    const u64 header = number(14, 4);
    if (header < 40 || header > bytes.size() - 14)
      raise(op_, "a header of " + std::to_string(header) + " bytes is not supported");
    const auto height = static_cast<std::int32_t>(number(22, 4));
    width_ = static_cast<std::int32_t>(number(18, 4));
    is_top_down_ = height < 0;
    height_ = is_top_down_ ? -i64(height) : height;
    check_pixels(op_, height_, width_, c.attrs.max_pixels);
    bits_ = number(28, 2);
    if (bits_ != 8 && bits_ != 24 && bits_ != 32)
      raise(op_, std::to_string(bits_) + " bits per pixel are not supported");
    if (const u64 method = number(30, 4))
      raise(op_, "compression " + std::to_string(method) + " is not supported, only images that are not compressed");
    stride_ = (static_cast<u64>(width_) * bits_ / 8 + 3) / 4 * 4;
    first_ = number(10, 4);
    if (first_ > bytes.size() || stride_ * static_cast<u64>(height_) > bytes.size() - first_)
      raise(op_, "the data ends within its pixels");
    if (bits_ == 8) read_palette(14 + header);
    channels_ = check_channels(c.attrs.channels);
  }

  Extent extent() const { return {height_, width_, channels_}; }
  void read(std::uint8_t* to) const {
    const u64 step = bits_ / 8;
    for (i64 y = 0; y < height_; ++y) {
      u64 at = first_ + stride_ * static_cast<u64>(is_top_down_ ? y : height_ - 1 - y);
      for (i64 x = 0; x < width_; ++x, at += step, to += channels_) {
        const u64 color = bits_ == 8 ? palette_ + 4 * clamped(byte(at)) : at;  // blue, green, red, and perhaps alpha
        if (channels_ == 1) {
          to[0] = byte(color);
        } else {
          for (u64 c = 0; c < 3; ++c) to[c] = byte(color + 2 - c);
          if (channels_ == 4) to[3] = bits_ == 32 ? byte(color + 3) : 255;
        }
      }
    }
  }

 private:
  std::uint8_t byte(u64 at) const { return static_cast<std::uint8_t>(bytes_[static_cast<std::size_t>(at)]); }
  u64 number(u64 at, int width) const {
    u64 r = 0;
    for (int k = width; k-- > 0;) r = r << 8 | byte(at + static_cast<u64>(k));
    return r;
  }
  u64 clamped(u64 index) const { return index < colors_ ? index : colors_ - 1; }
  void read_palette(u64 at) {
    palette_ = at;
    colors_ = number(46, 4) ? number(46, 4) : 256;
    if (colors_ > 256 || at + 4 * colors_ > bytes_.size()) raise(op_, "the data ends within its palette");
    for (u64 i = 0; i < colors_; ++i)
      is_gray_ &= byte(at + 4 * i) == byte(at + 4 * i + 1) && byte(at + 4 * i) == byte(at + 4 * i + 2);
  }
  i64 check_channels(i64 wanted) const {
    const bool gray = bits_ == 8 && is_gray_;
    if (wanted == 0) return gray ? 1 : bits_ == 32 ? 4 : 3;
    if (wanted == 1 && !gray)
      raise(op_, "the image has colors, not 1 channel (use .channels = 3 and rgb_to_grayscale)");
    return wanted;
  }

  const char* op_;
  std::string_view bytes_;
  i64 height_ = 0, width_ = 0, channels_ = 0;
  u64 bits_ = 0, stride_ = 0, first_ = 0, palette_ = 0, colors_ = 0;
  bool is_top_down_ = false, is_gray_ = true;
};

TANDEM_INLINE Extent bmp_extent(const DecodeCall& c) { return BmpReader(c).extent(); }
TANDEM_INLINE void read_bmp(const DecodeCall& c, std::uint8_t* to) { BmpReader(c).read(to); }

}  // namespace TANDEM_NS::image::impl
