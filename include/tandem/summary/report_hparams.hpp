// The sections of a report on hyper-parameters and graphs. For the definitions of the report.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/plot/report.hpp"
#include "tandem/summary/event.hpp"
#include "tandem/summary/plugin_data.hpp"

namespace TANDEM_NS::summary::impl {

/// What the event files of one folder have, by tag.
struct RunEvents {
  std::string name;                                          // below logdir: "train"
  std::map<std::string, std::map<i64, double>> scalars;      // by step
  std::map<std::string, std::pair<i64, Value>> latest = {};  // of other kinds: step and value
  HParams hparams = {};
  std::vector<HParamMetric> metrics = {};  // which the table of hyper-parameters has
  std::optional<Status> status = {};       // how the run with these hyper-parameters has ended
  std::string graph = {};                  // bytes of a GraphDef

  void add(const Event& event);

 private:
  void forget_from(i64 step);
};

/// A table of hyper-parameters with a row for each folder that has them, and the last values of its scalars and of
/// those of the folders in it.
void add_hparams(const std::vector<RunEvents>& runs, plot::Report& report);
/// The graphs that folders have, each different one once.
void add_graphs(const std::vector<RunEvents>& runs, plot::Report& report);

}  // namespace TANDEM_NS::summary::impl
