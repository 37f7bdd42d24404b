// Rasters: matrices and gray images as a few paths. For the definitions of plot/.
#pragma once
#include <string>
#include <vector>

#include "tandem/plot/svg.hpp"

namespace TANDEM_NS::plot::impl {

/// Numbers in rows.
struct Raster {
  std::size_t rows = 0, columns = 0;
  std::vector<double> values;  // row by row
  double at(std::size_t row, std::size_t column) const { return values[row * columns + column]; }
};

/// At most `most` rows and columns: blocks of equal size are replaced by the mean of their finite values, or NaN.
TANDEM_API Raster reduced(const Raster& from, std::size_t most);

/// Draws cells of equal color as horizontal strokes, one path for each color.
///   levels       rows x columns numbers; negative: nothing is drawn
///   attributes   for each level: the XML attributes of its path
TANDEM_API void draw_levels(Canvas& canvas, double x, double y, double cell_width, double cell_height,
                            const std::vector<int>& levels, std::size_t columns,
                            const std::vector<std::string>& attributes);
/// Draws a cross over each cell that is NaN.
TANDEM_API void draw_missing(Canvas& canvas, double x, double y, double cell_width, double cell_height,
                             const Raster& raster);

}  // namespace TANDEM_NS::plot::impl
