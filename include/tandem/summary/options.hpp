// The options of summaries. Part of the component tandem::summary.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/base/dtype.hpp"

namespace TANDEM_NS::summary {

struct SummaryOptions {
  std::optional<i64> step = {};       ///< default: that of as_default(step) or set_step
  std::string_view description = "";  ///< Markdown, shown beside the values; kept of a tag's first value
  double wall_time = 0;               ///< seconds since 1970; 0: now
};
struct HistogramOptions {
  std::optional<i64> step = {};       ///< as in SummaryOptions
  i64 buckets = 30;                   ///< 1 to 2^20
  std::string_view description = "";  ///< as in SummaryOptions
  double wall_time = 0;               ///< as in SummaryOptions
};
struct ImageOptions {
  std::optional<i64> step = {};       ///< as in SummaryOptions
  i64 max_outputs = 3;                ///< the first so many images are written
  std::string_view description = "";  ///< as in SummaryOptions
  double wall_time = 0;               ///< as in SummaryOptions
};
struct AudioOptions {
  std::optional<i64> step = {};       ///< as in SummaryOptions
  i64 max_outputs = 3;                ///< the first so many clips are written
  std::string_view description = "";  ///< as in SummaryOptions
  double wall_time = 0;               ///< as in SummaryOptions
};
struct PrCurveOptions {
  std::optional<i64> step = {};       ///< as in SummaryOptions
  i64 num_thresholds = 201;           ///< evenly from 0 to 1; 2 to 2^20
  std::string_view description = "";  ///< as in SummaryOptions
  double wall_time = 0;               ///< as in SummaryOptions
};
struct EmbeddingOptions {
  std::vector<std::string> labels = {};                 ///< one for each row
  std::vector<std::string> columns = {};                ///< names of two or more columns, instead of labels
  std::vector<std::vector<std::string>> metadata = {};  ///< for each row its value in each column
};

}  // namespace TANDEM_NS::summary
