// Definitions of plot/raster.hpp.
#pragma once
#include <cmath>
#include <limits>

#include "tandem/plot/raster.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::plot::impl {

TANDEM_INLINE Raster reduced(const Raster& from, std::size_t most) {
  if (from.rows <= most && from.columns <= most) return from;
  const std::size_t tall = (from.rows + most - 1) / most, wide = (from.columns + most - 1) / most;
  Raster r{(from.rows + tall - 1) / tall, (from.columns + wide - 1) / wide, {}};
  std::vector<double> counts(r.rows * r.columns);
  r.values.resize(counts.size());
  for (std::size_t i = 0; i < from.rows; ++i)
    for (std::size_t k = 0; k < from.columns; ++k) {
      const std::size_t to = i / tall * r.columns + k / wide;
      if (!std::isfinite(from.at(i, k))) continue;
      // The mean so far: a sum might overflow.
      counts[to] += 1;
      r.values[to] += from.at(i, k) / counts[to] - r.values[to] / counts[to];
    }
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] == 0) r.values[i] = std::numeric_limits<double>::quiet_NaN();
  return r;
}

// A group in which each cell is a unit square.
inline void begin_cells(Canvas& canvas, double x, double y, double cell_width, double cell_height,
                        std::string_view attributes) {
  using tandem::detail::rounded_text;
  std::string text = "transform=\"translate(" + position(x) + " " + position(y) + ") scale(" +
                     rounded_text(cell_width, 6) + " " + rounded_text(cell_height, 6) + ")\" ";
  canvas.begin(text += attributes);
}

TANDEM_INLINE void draw_levels(Canvas& canvas, double x, double y, double cell_width, double cell_height,
                               const std::vector<int>& levels, std::size_t columns,
                               const std::vector<std::string>& attributes) {
  std::vector<std::string> paths(attributes.size());
  for (std::size_t i = 0; i < levels.size();) {
    std::size_t end = i + 1;
    while (end < levels.size() && end % columns != 0 && levels[end] == levels[i]) ++end;
    if (levels[i] >= 0)
      paths[static_cast<std::size_t>(levels[i])] +=
          "M" + std::to_string(i % columns) + " " + std::to_string(i / columns) + ".5h" + std::to_string(end - i);
    i = end;
  }
  begin_cells(canvas, x, y, cell_width, cell_height, "shape-rendering=\"crispEdges\"");
  for (std::size_t level = 0; level < paths.size(); ++level) canvas.path(paths[level], attributes[level]);
  canvas.end();
}

TANDEM_INLINE void draw_missing(Canvas& canvas, double x, double y, double cell_width, double cell_height,
                                const Raster& raster) {
  std::string path;
  for (std::size_t i = 0; i < raster.values.size(); ++i)
    if (std::isnan(raster.values[i]))
      path += "M" + std::to_string(i % raster.columns) + ".2 " + std::to_string(i / raster.columns) +
              ".2l.6 .6m0 -.6l-.6 .6";
  if (path.empty()) return;
  begin_cells(canvas, x, y, cell_width, cell_height, "class=\"tp-axis\" stroke-width=\".08\"");
  canvas.path(path, "fill=\"none\"");
  canvas.end();
}

}  // namespace TANDEM_NS::plot::impl
