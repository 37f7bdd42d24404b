// Bars and histograms.
#pragma once
#include <string>
#include <vector>

#include "tandem/plot/figure.hpp"
#include "tandem/plot/values.hpp"

namespace TANDEM_NS::plot {

struct BarsOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::string description = {};                ///< for screen readers; by default the names with their values
  std::vector<std::string> series_names = {};  ///< for the legend
  double width = 560;
  double height = 360;
};

/// Draws a group of bars for each name, from 0. A cross stands for a value that is not finite.
///   heights  one list for each series, of one value for each name
///   throws   errors::InvalidArgumentError for lists of another size than the names, or a picture smaller than 100 x 80
TANDEM_API Figure bars(const std::vector<std::string>& names, const std::vector<Values>& heights,
                       const BarsOptions& options = {});

struct HistogramOptions {
  std::string title = {};
  std::string x_label = {};
  std::string y_label = {};
  std::string description = {};  ///< for screen readers; by default the number of values and their range
  int bins = 30;                 ///< of equal width between the smallest and the largest value
  bool log_y = false;
  double width = 560;
  double height = 360;
};

/// Counts the values in bins and draws the counts. Values that are not finite are left out; the description says how
/// many.
///   throws  errors::InvalidArgumentError unless there are 1 to 10000 bins, or for a picture smaller than 100 x 80
TANDEM_API Figure histogram(const Values& values, const HistogramOptions& options = {});
/// Draws bins that are counted already, such as those of an event file.
///   edges   ascending; one more than counts. Outer ones that are infinite, or the largest double as in TensorFlow's
///           histograms, are drawn as wide as their neighbours.
///   counts  not negative
///   throws  errors::InvalidArgumentError for other edges or counts, or a picture smaller than 100 x 80
TANDEM_API Figure histogram_of_counts(const Values& edges, const Values& counts, const HistogramOptions& options = {});

}  // namespace TANDEM_NS::plot
