// What event files have besides values: graphs, and what the page "HParams" is told. Part of the component
// tandem::summary.
#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tandem/summary/hparams.hpp"

namespace TANDEM_NS::summary {

/// An op of a graph.
struct GraphOp {
  std::string name, op;
  std::vector<std::string> inputs;  ///< names of ops, each with ":1" and so on for another output than the first
  std::string outputs;              ///< shapes: "[32,10]", "[?,10], []"
};
/// Reads the bytes of a GraphDef (Event::graph), as this library and TensorFlow write it; false if they are damaged.
TANDEM_API bool parse_graph(std::string_view bytes, std::vector<GraphOp>& to);

/// What an event with a tag of the plugin "hparams" says.
struct HParamsRecord {
  HParams hparams;                    ///< of "_hparams_/session_start_info": those of the run
  std::vector<HParamMetric> metrics;  ///< of "_hparams_/experiment"
  std::optional<Status> status = {};  ///< of "_hparams_/session_end_info"
};
/// Reads Value::plugin_content of such a tag; false if it is damaged.
TANDEM_API bool parse_hparams(std::string_view bytes, HParamsRecord& to);

}  // namespace TANDEM_NS::summary
