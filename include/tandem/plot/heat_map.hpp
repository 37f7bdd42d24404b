// Heat maps: matrices as squares of color; confusion matrices.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "tandem/plot/figure.hpp"
#include "tandem/plot/values.hpp"

namespace TANDEM_NS::plot {

struct HeatMapOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::string description = {};             ///< for screen readers; by default the size and the range
  std::vector<std::string> row_names = {};  ///< by default numbers
  std::vector<std::string> column_names = {};
  bool show_values = true;          ///< writes the values into the cells if they have room
  bool diverging = false;           ///< two colors, for values below and above 0
  std::optional<double> low = {};   ///< the value of the palest color; by default the data's least
  std::optional<double> high = {};  ///< the value of the darkest color; by default the data's largest
  double width = 560;
  double height = 0;  ///< 0: so that cells are about square, from 200 to 900
};

/// Draws a matrix, row 0 on top: the darker (in dark mode: the brighter), the larger. NaN is a cross; infinities have
/// the outer colors. A matrix of more than 200 rows or columns is drawn as the means of blocks. A bar beside it says
/// what the colors mean, unless the picture is too narrow.
///   matrix  two axes
///   throws  errors::InvalidArgumentError for another number of axes, names of another number than the rows or columns,
///           a low that is not below high, or a picture smaller than 100 x 80
TANDEM_API Figure heat_map(const Values& matrix, const HeatMapOptions& options = {});

struct ConfusionMatrixOptions {
  std::string title = {};
  std::string x_label = "predicted";
  std::string y_label = "label";
  std::string description = {};  ///< for screen readers; by default the share of the diagonal
  double width = 560;
  double height = 0;  ///< 0: so that cells are about square, from 200 to 900
};

/// Draws the counts of each label (rows) and prediction (columns), such as the result of math::confusion_matrix. The
/// color is the share of the row, so that rare classes are as visible as frequent ones.
///   counts  [n, n], not negative
///   names   of the classes; by default numbers
///   throws  errors::InvalidArgumentError for other counts or names
TANDEM_API Figure confusion_matrix(const Values& counts, const std::vector<std::string>& names = {},
                                   const ConfusionMatrixOptions& options = {});

}  // namespace TANDEM_NS::plot
