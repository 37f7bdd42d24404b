// The orientation of photographs: EXIF's tag 0x0112 (EXIF 2.3, section 4.6.4), and what it says to do.
#pragma once
#include <cstring>

#include "tandem/image/codec_kernels.hpp"

namespace TANDEM_NS::image::impl {

// Numbers of a TIFF block, in its own byte order. What lies outside of it is 0.
class TiffBlock {
 public:
  explicit TiffBlock(std::string_view bytes) : bytes_(bytes), is_big_(bytes.substr(0, 2) == "MM") {}
  bool is_valid() const { return (is_big_ || bytes_.substr(0, 2) == "II") && number(2, 2) == 42; }
  u64 number(u64 at, u64 width) const {
    u64 r = 0;
    for (u64 k = 0; k < width; ++k) {
      const u64 place = at + (is_big_ ? k : width - 1 - k);
      r = r << 8 | (place < bytes_.size() ? static_cast<unsigned char>(bytes_[static_cast<std::size_t>(place)]) : 0u);
    }
    return r;
  }

 private:
  std::string_view bytes_;
  bool is_big_;
};

TANDEM_INLINE int exif_orientation(std::string_view segment) {
  constexpr std::string_view magic("Exif\0\0", 6);
  if (segment.substr(0, magic.size()) != magic) return 1;
  const TiffBlock tiff(segment.substr(magic.size()));
  if (!tiff.is_valid()) return 1;
  const u64 directory = tiff.number(4, 4), entries = tiff.number(directory, 2);
  for (u64 i = 0; i < entries; ++i) {
    const u64 entry = directory + 2 + 12 * i;
    if (tiff.number(entry, 2) != 0x0112) continue;
    const u64 value = tiff.number(entry + 8, 2);
    return value >= 1 && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

TANDEM_INLINE void apply_orientation(int orientation, const Extent& from, const std::uint8_t* pixels,
                                     std::uint8_t* to) {
  const bool transposed = orientation > 4;
  // In which direction rows and columns of the stored image are walked, after rows and columns have been exchanged.
  const bool rows_back = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const bool columns_back = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const i64 height = transposed ? from.width : from.height, width = transposed ? from.height : from.width;
  for (i64 y = 0; y < height; ++y)
    for (i64 x = 0; x < width; ++x, to += from.channels) {
      const i64 v = rows_back ? height - 1 - y : y, u = columns_back ? width - 1 - x : x;
      const i64 pixel = transposed ? u * from.width + v : v * from.width + u;
      std::memcpy(to, pixels + pixel * from.channels, static_cast<std::size_t>(from.channels));
    }
}

}  // namespace TANDEM_NS::image::impl
