// Definitions of plot/png.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/plot/png.hpp"
#include "tandem/util/base64.hpp"

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

TANDEM_INLINE std::string data_uri(std::string_view bytes, std::string_view type) {
  std::string r = "data:";
  (r += type) += ";base64,";
  tandem::detail::append_base64(r, bytes, tandem::detail::base64_digits, true);
  return r;
}

}  // namespace TANDEM_NS::plot::impl
