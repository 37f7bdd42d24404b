// PNG and other files inside of pictures and pages. For the definitions of plot/.
#pragma once
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::plot::impl {

struct PngSize {
  double width, height;
};
/// The size in a PNG file's header (RFC 2083, section 11.2.2); the rest is not looked at.
///   throws  errors::InvalidArgumentError, in the name of `what`, unless the bytes begin as a PNG file
TANDEM_API PngSize png_size(const char* what, std::string_view png);
/// The bytes of a file as a data URI (RFC 2397), in base64 (RFC 4648): "data:image/png;base64,...".
TANDEM_API std::string data_uri(std::string_view bytes, std::string_view type = "image/png");

}  // namespace TANDEM_NS::plot::impl
