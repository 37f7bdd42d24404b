// Lines: losses and metrics over steps.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tandem/plot/figure.hpp"
#include "tandem/plot/values.hpp"

namespace TANDEM_NS::plot {

/// A line of a plot. Values that are not finite (on a logarithmic axis also those not above 0) break it, and a mark at
/// the lower edge (at the upper one for infinity) shows where; points whose x is not finite are left out.
struct Series {
  std::string name;
  Values y;
  Values x = {};        ///< as many as y; by default 0, 1, 2, ... Ascending, or the line goes back
  bool dashed = false;  ///< for held-out data
  int color = -1;       ///< 0 to 9: a color of the palette; by default that of the place in the list
};

struct LinesOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::string description = {};  ///< for screen readers; by default the series with their ranges and last values
  double smoothing = 0;          ///< the weight of smoothed(); the values themselves are then drawn faintly behind
  bool log_x = false;
  bool log_y = false;
  std::optional<double> y_min = {};  ///< by default those of the data
  std::optional<double> y_max = {};  ///< likewise
  double width = 560;                ///< in units; texts have 14
  double height = 360;
};

/// Draws one line for each series. Where x ascends, the picture's size does not grow with the number of points: of
/// successive ones in the same half unit of width, the first, the lowest, the highest and the last are drawn, which
/// looks the same.
///   throws  errors::InvalidArgumentError if x and y of a series differ in size, for limits that are not finite or not
///           in order, a smoothing outside of [0, 1), or a picture smaller than 100 x 80
TANDEM_API Figure lines(const std::vector<Series>& series, const LinesOptions& options = {});

namespace impl {
struct Point {
  double x, y;
};
/// The points to draw, in their order: of successive ones in the same column of half a unit at most four.
TANDEM_API std::vector<Point> reduced(const std::vector<Point>& points);
}  // namespace impl

}  // namespace TANDEM_NS::plot
