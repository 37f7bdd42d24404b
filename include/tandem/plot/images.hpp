// Images side by side.
#pragma once
#include <string>
#include <vector>

#include "tandem/plot/figure.hpp"
#include "tandem/plot/values.hpp"

namespace TANDEM_NS::plot {

/// An image: the bytes of a PNG file, or gray values.
struct Image {
  std::string png = {};      ///< as image::encode_png makes them (component image), for colors
  Tensor gray = {};          ///< [height, width] or [height, width, 1]: uint8 0 to 255, floats 0 to 1, or bool_
  std::string caption = {};  ///< below the image
};

struct ImagesOptions {
  std::string title = {};
  std::string description = {};             ///< for screen readers; by default the number of images and their captions
  int columns = 0;                          ///< 0: so that the picture is about as wide as high
  std::vector<std::string> row_names = {};  ///< left of the rows; one for each or none
  double gap = 8;                           ///< between images
  bool zero_is_white = false;               ///< draws gray values as ink on paper
  double width = 560;
};

/// Draws images in rows, each scaled to the same width or height, with captions. Gray images have 32 levels, and are
/// drawn as the means of blocks beyond 256 rows or columns; NaN is a cross.
///   throws  errors::InvalidArgumentError for an image with both kinds of data or none, what is not a PNG file, a
///           tensor of another rank (colors: encode them) or dtype, a negative number of columns, another number of
///           names than rows, a gap that is not from 0 to 1000, or a width below 100
TANDEM_API Figure images(const std::vector<Image>& images, const ImagesOptions& options = {});
/// The same for a batch of gray images.
///   batch     [n, height, width] or [n, height, width, 1]
///   captions  one for each, or none
TANDEM_API Figure images(const Tensor& batch, const std::vector<std::string>& captions = {},
                         const ImagesOptions& options = {});

}  // namespace TANDEM_NS::plot
