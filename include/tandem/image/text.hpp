// Text in images. Part of the component tandem::image. Not here: boxes (boxes.hpp).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tandem/image/shapes.hpp"

namespace TANDEM_NS::image {

struct DrawTextOptions {
  TANDEM_OP_OPTIONS;
  std::vector<double> color = {};  ///< a number for each channel, in x's dtype; default: white
  i64 scale = 1;                   ///< characters have 8 * scale pixels in both directions
};
/// Writes a text with a built-in font of ASCII characters. What lies outside of the image is left out. A line break
/// begins a new line; other characters that the font does not have are boxes, those of UTF-8 one each.
///   image     real numbers, [height, width, channels] or [n, height, width, channels]; sizes must be known
///   y, x      the upper left corner of the first character, in pixels
///   returns   dtype and shape of image
///   throws    errors::InvalidArgumentError for other ranks or dtypes, another number of colors, a color that the dtype
///             does not have, or a scale below 1
///   gradient  g, 0 within the text
TANDEM_API Tensor draw_text(const Tensor& image, std::string_view text, i64 y, i64 x, const DrawTextOptions& = {});

}  // namespace TANDEM_NS::image
