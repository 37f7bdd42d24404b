// Points in the plane, in colors of classes, with names.
#pragma once
#include <string>
#include <vector>

#include "tandem/plot/figure.hpp"
#include "tandem/plot/values.hpp"

namespace TANDEM_NS::plot {

struct ScatterOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::string description = {};               ///< for screen readers; by default the number of points and classes
  Values classes = {};                        ///< each point's class, 0, 1, 2, ...; by default all are of class 0
  std::vector<std::string> class_names = {};  ///< for the legend
  /// Each point's text, the most important first: a text that would lie on an earlier one, on a point, or outside is
  /// left out.
  std::vector<std::string> labels = {};
  bool log_x = false;
  bool log_y = false;
  bool axes = true;  ///< false: neither ticks nor a grid, for coordinates without a meaning of their own
  double radius = 3;
  Values label_sizes = {12};  ///< one for all labels, or one for each
  double width = 560;
  double height = 420;
};

/// Draws a disc for each point. Points that have no place (NaN, infinite, not above 0 on a logarithmic axis) are left
/// out; the description says how many. Of more than 20000 points, those of a class that lie in one square of two
/// thirds of the radius are drawn as one.
///   x, y    equally many
///   throws  errors::InvalidArgumentError for x, y, classes, labels or their sizes of different numbers, classes that
///           are not whole numbers from 0 to 999, a radius or a text size that is not above 0, or a picture smaller
///           than 100 x 80
TANDEM_API Figure scatter(const Values& x, const Values& y, const ScatterOptions& options = {});

}  // namespace TANDEM_NS::plot
