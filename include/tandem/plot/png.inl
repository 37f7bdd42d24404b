// Definitions of plot/png.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/plot/png.hpp"

namespace TANDEM_NS::plot::impl {

inline std::uint32_t png_byte(std::string_view s, std::size_t i) { return static_cast<unsigned char>(s[i]); }

TANDEM_INLINE PngSize png_size(const char* what, std::string_view png) {
  using namespace std::string_view_literals;
  const auto number = [&](std::size_t i) {
    return png_byte(png, i) << 24 | png_byte(png, i + 1) << 16 | png_byte(png, i + 2) << 8 | png_byte(png, i + 3);
  };
  if (png.size() < 33 || !png.starts_with("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"sv) || number(16) == 0 || number(20) == 0)
    errors::raise<errors::InvalidArgumentError>(what, "the image is not a PNG file: encode it with image::encode_png");
  return {static_cast<double>(number(16)), static_cast<double>(number(20))};
}

TANDEM_INLINE std::string data_uri(std::string_view png) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string r = "data:image/png;base64,";
  r.reserve(r.size() + (png.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < png.size(); i += 3) {
    const std::size_t n = png.size() - i;  // bytes left
    const std::uint32_t three =
        png_byte(png, i) << 16 | (n > 1 ? png_byte(png, i + 1) << 8 : 0) | (n > 2 ? png_byte(png, i + 2) : 0);
    r += digits[three >> 18];
    r += digits[three >> 12 & 63];
    r += n > 1 ? digits[three >> 6 & 63] : '=';
    r += n > 2 ? digits[three & 63] : '=';
  }
  return r;
}

}  // namespace TANDEM_NS::plot::impl
