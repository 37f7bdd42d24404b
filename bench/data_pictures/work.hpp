// The work of the pictures scenario: JPEG files, in memory, become tensors of 224 x 224 pixels. A run is a pass over
// all of them. Every competitor's file follows this list; what other languages write is peers/python/pictures.py.
#pragma once
#include <cmath>
#include <cstdint>
#include <vector>

namespace bench::data_pictures {

/// So many files of each size, RGB, quality 90, colors of 2 x 2 pixels stored once.
inline constexpr std::int64_t of_each = 8, side = 224;
struct Size {
  std::int64_t height, width;
};
inline constexpr Size sizes[] = {{717, 1024}, {484, 1024}};
/// Decoded (transforms computed exactly), resized by bilinear interpolation without antialias. Variants: `@scaled` does
/// both at once, `@8_workers` has more threads than processors.
inline constexpr const char* decode_resize = "data_pictures/16_jpegs_to_224";

/// The numbers [height, width, 3] of picture `k`: soft shapes and noise, so that a file is as large as that of
/// a photograph.
inline std::vector<std::uint8_t> picture(Size size, std::int64_t k) {
  std::vector<std::uint8_t> r;
  r.reserve(static_cast<std::size_t>(size.height * size.width * 3));
  for (std::int64_t y = 0; y < size.height; ++y)
    for (std::int64_t x = 0; x < size.width; ++x)
      for (std::int64_t c = 0; c < 3; ++c) {
        const auto v = static_cast<double>(y), h = static_cast<double>(x);
        const std::int64_t noise = (x * 7919 + y * 104729 + c * 1299709 + k * 15485863) % 1000 * 37 % 48;
        const double soft = 50 * std::sin(h * 0.013 * static_cast<double>(c + 1) + v * 0.007 + static_cast<double>(k)) +
                            40 * std::sin(h * 0.11) * std::sin(v * 0.09);
        r.push_back(static_cast<std::uint8_t>(116 + soft + static_cast<double>(noise)));
      }
  return r;
}
}  // namespace bench::data_pictures
