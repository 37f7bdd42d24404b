// Definitions of summary/report_hparams.hpp.
#pragma once
#include <algorithm>
#include <set>

#include "tandem/plot/graph.hpp"
#include "tandem/summary/report_hparams.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::summary::impl {

TANDEM_INLINE void RunEvents::forget_from(i64 step) {
  for (auto& [tag, values] : scalars) values.erase(values.lower_bound(step), values.end());
  std::erase_if(latest, [&](const auto& entry) { return entry.second.first >= step; });
}
TANDEM_INLINE void RunEvents::add(const Event& event) {
  if (event.is_restart) forget_from(event.step);
  if (!event.graph.empty()) graph = event.graph;
  for (const Value& value : event.values) {
    const bool is_shown = std::holds_alternative<Histogram>(value.content) ||
                          std::holds_alternative<Images>(value.content) ||
                          std::holds_alternative<Texts>(value.content) ||
                          std::holds_alternative<Audio>(value.content) || value.plugin == "pr_curves";
    HParamsRecord record;
    if (const double* const x = std::get_if<double>(&value.content)) {
      scalars[value.tag][event.step] = *x;
    } else if (is_shown) {
      latest[value.tag] = {event.step, value};
    } else if (value.plugin == "hparams" && parse_hparams(value.plugin_content, record)) {
      if (!record.hparams.empty()) hparams = std::move(record.hparams);
      if (record.status) status = record.status;
      metrics.insert(metrics.end(), record.metrics.begin(), record.metrics.end());
    }
  }
}

TANDEM_INLINE std::string value_text(const HParamValue& v) {
  if (const auto* const text = std::get_if<std::string>(&v.value)) return *text;
  if (const auto* const truth = std::get_if<bool>(&v.value)) return *truth ? "true" : "false";
  return tandem::detail::shortest_text(std::get<double>(v.value));
}
/// The name of a folder below that of a run, "" for itself; null if it is elsewhere.
TANDEM_INLINE const char* below(const std::string& folder, const std::string& run) {
  if (folder == run) return "";
  if (run.empty()) return folder.c_str();
  return folder.starts_with(run + "/") ? folder.c_str() + run.size() + 1 : nullptr;
}
/// The last values of the scalars of a run, by "tag" or "validation/tag".
TANDEM_INLINE std::map<std::string, double> last_values(const std::vector<RunEvents>& runs, const RunEvents& run) {
  std::map<std::string, double> r;
  for (const RunEvents& folder : runs) {
    const char* const group = below(folder.name, run.name);
    const bool is_of_inner_run = std::any_of(runs.begin(), runs.end(), [&](const RunEvents& other) {
      return !other.hparams.empty() && other.name.size() > run.name.size() && below(folder.name, other.name);
    });
    if (!group || is_of_inner_run) continue;
    for (const auto& [tag, values] : folder.scalars)
      if (!values.empty()) r[*group ? std::string(group) + "/" + tag : tag] = values.rbegin()->second;
  }
  return r;
}
/// The scalars of the table, by what last_values() calls them, and the heads of their columns: those that the
/// experiment names, or else the first ones that there are.
TANDEM_INLINE std::vector<std::pair<std::string, std::string>> columns_of(
    const std::vector<RunEvents>& runs, const std::vector<std::map<std::string, double>>& rows) {
  constexpr std::size_t most = 8;
  std::vector<std::pair<std::string, std::string>> r;
  std::set<std::string> seen;
  for (const RunEvents& run : runs)
    for (const HParamMetric& m : run.metrics) {
      const std::string name = m.group.empty() ? m.tag : m.group + "/" + m.tag;
      if (seen.insert(name).second) r.emplace_back(name, m.display_name.empty() ? name : m.display_name);
    }
  if (!r.empty()) return r;
  for (const auto& row : rows)
    for (const auto& [name, value] : row) seen.insert(name);
  for (const std::string& name : seen)
    if (r.size() < most) r.emplace_back(name, name);
  return r;
}

TANDEM_INLINE void add_hparams(const std::vector<RunEvents>& runs, plot::Report& report) {
  std::vector<const RunEvents*> shown;
  std::vector<std::map<std::string, double>> values;
  std::set<std::string> names;
  for (const RunEvents& run : runs) {
    if (run.hparams.empty()) continue;
    shown.push_back(&run), values.push_back(last_values(runs, run));
    for (const auto& [name, value] : run.hparams) names.insert(name);
  }
  if (shown.empty()) return;
  const auto columns = columns_of(runs, values);
  std::vector<std::string> head{"run"};
  head.insert(head.end(), names.begin(), names.end());
  for (const auto& [name, title] : columns) head.push_back(title);
  const bool has_end = std::any_of(shown.begin(), shown.end(), [](const RunEvents* run) { return run->status; });
  if (has_end) head.emplace_back("status");
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    std::vector<std::string>& row = rows.emplace_back(std::vector{shown[i]->name.empty() ? "." : shown[i]->name});
    for (const std::string& name : names) {
      const auto at = shown[i]->hparams.find(name);
      row.push_back(at == shown[i]->hparams.end() ? std::string() : value_text(at->second));
    }
    for (const auto& [name, title] : columns) {
      const auto at = values[i].find(name);
      row.push_back(at == values[i].end() ? std::string() : tandem::detail::rounded_text(at->second, 4));
    }
    if (const auto status = shown[i]->status) row.emplace_back(*status == Status::success ? "success" : "failure");
  }
  report.section("Hyper-parameters")
      .table(head, rows, "The hyper-parameters of each run, the last values of its scalars, and how it has ended.");
}

TANDEM_INLINE void add_graph(const RunEvents& run, plot::Report& report) {
  std::vector<GraphOp> ops;
  const std::string caption = run.name.empty() ? "The graph" : "The graph of " + run.name;
  if (!parse_graph(run.graph, ops)) {
    report.text(caption + " cannot be shown: its bytes are damaged.");
    return;
  }
  std::map<std::string, std::size_t> places;
  std::vector<plot::GraphNode> nodes;
  for (const GraphOp& op : ops) {
    places.try_emplace(op.name, nodes.size());
    plot::GraphNode& node = nodes.emplace_back(plot::GraphNode{op.op});
    if (op.name != op.op) node.details.push_back(op.name);
    if (!op.outputs.empty()) node.details.push_back(op.outputs);
  }
  std::vector<plot::GraphEdge> edges;
  for (std::size_t i = 0; i < ops.size(); ++i)
    for (const std::string& input : ops[i].inputs) {
      const bool control = input.starts_with('^');  // TensorFlow's order without data
      const std::string name = input.substr(control, input.rfind(':') - control);
      if (const auto at = places.find(name); at != places.end()) edges.push_back({at->second, i, control});
    }
  report.figure(plot::graph(nodes, edges, {.max_nodes = 200}),
                caption + ": " + std::to_string(ops.size()) + (ops.size() == 1 ? " op." : " ops."));
}
TANDEM_INLINE void add_graphs(const std::vector<RunEvents>& runs, plot::Report& report) {
  std::set<std::string> seen;
  for (const RunEvents& run : runs) {
    if (run.graph.empty() || !seen.insert(run.graph).second) continue;
    if (seen.size() == 1) report.section("Graph");
    add_graph(run, report);
  }
}

}  // namespace TANDEM_NS::summary::impl
