// Definitions of summary/report.hpp.
#pragma once
#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/plot/bars.hpp"
#include "tandem/plot/lines.hpp"
#include "tandem/summary/reader.hpp"
#include "tandem/summary/report.hpp"
#include "tandem/summary/report_hparams.hpp"
#include "tandem/summary/tensor_view.hpp"

namespace TANDEM_NS::summary {

namespace impl {

/// The folders that have event files: logdir, and those in it.
TANDEM_INLINE std::set<std::filesystem::path> event_folders(const char* op, const std::string& logdir) {
  namespace fs = std::filesystem;
  std::error_code error, unknown;  // unknown: what a link without a target is
  if (fs::is_regular_file(logdir, unknown))
    errors::raise<errors::InvalidArgumentError>(op, logdir + " is a file: give the folder that it is in");
  std::set<fs::path> folders;
  fs::recursive_directory_iterator it(logdir, fs::directory_options::skip_permission_denied, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error))
    if (it->path().filename().string().find("tfevents") != std::string::npos && it->is_regular_file(unknown))
      folders.insert(it->path().parent_path());
  if (error && fs::exists(logdir, unknown))
    errors::raise<errors::UnavailableError>(op, "cannot list " + logdir + " and the folders in it: " + error.message());
  if (folders.empty())
    errors::raise<errors::NotFoundError>(op, "there are no event files in " + logdir + " and the folders in it");
  return folders;
}
TANDEM_INLINE std::vector<RunEvents> read_runs(const char* op, const std::string& logdir) {
  std::vector<RunEvents> runs;
  for (const std::filesystem::path& folder : event_folders(op, logdir)) {
    RunEvents& run = runs.emplace_back();
    run.name = folder == std::filesystem::path(logdir) ? std::string() : folder.lexically_relative(logdir).string();
    EventReader reader(folder.string());
    for (Event event; reader.next(event);) run.add(event);
  }
  return runs;
}
inline std::string section_of(const std::string& tag) {
  const std::size_t slash = tag.find('/');
  return slash == tag.npos ? std::string() : tag.substr(0, slash);
}
/// The tags of all runs, by section.
TANDEM_INLINE std::map<std::string, std::set<std::string>> sections_of(const std::vector<RunEvents>& runs) {
  std::map<std::string, std::set<std::string>> r;
  for (const RunEvents& run : runs) {
    for (const auto& [tag, values] : run.scalars)
      if (!values.empty()) r[section_of(tag)].insert(tag);
    for (const auto& [tag, value] : run.latest) r[section_of(tag)].insert(tag);
  }
  return r;
}
TANDEM_INLINE void add_curves(const std::vector<RunEvents>& runs, const std::string& tag, double smoothing,
                              plot::Report& report) {
  std::vector<plot::Series> series;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto at = runs[i].scalars.find(tag);
    if (at == runs[i].scalars.end() || at->second.empty()) continue;
    std::vector<double> steps, values;
    for (const auto& [step, value] : at->second) steps.push_back(static_cast<double>(step)), values.push_back(value);
    const std::string name = runs[i].name.empty() ? tag : runs[i].name;
    series.push_back({.name = name,
                      .y = values,
                      .x = steps,
                      .dashed = std::filesystem::path(name).filename() == "validation",
                      .color = static_cast<int>(i % 10)});
  }
  if (!series.empty()) report.figure(plot::lines(series, {.title = tag, .x_label = "step", .smoothing = smoothing}));
}
// What another program has written need not be what can be drawn: then a text says so, and the page goes on.
template <class F>
void add_or_explain(const std::string& caption, plot::Report& report, const F& add) {
  try {
    add();
  } catch (const errors::InvalidArgumentError& e) {
    report.text(caption + " cannot be shown: " + e.what());
  }
}
// Of a tensor [6, thresholds], whose last rows are precision and recall.
TANDEM_INLINE void add_pr_curve(const OtherValue& value, const std::string& tag, const std::string& caption,
                                plot::Report& report) {
  constexpr i64 most = 6 << 20;
  detail::TensorView tensor;
  std::vector<double> x;
  if (!detail::parse_tensor(value.bytes, tensor) || tensor.shape.size() != 2 || tensor.shape[0] != 6 ||
      !detail::numbers_of(tensor, most, x)) {
    report.text(caption + " cannot be shown: it is not a tensor [6, n] of numbers.");
    return;
  }
  const auto row = [&](i64 i) {
    const auto begin = x.begin() + i * tensor.shape[1];
    return std::vector<double>(begin, begin + tensor.shape[1]);
  };
  report.figure(plot::lines({{.name = "", .y = row(4), .x = row(5)}},
                            {.title = tag, .x_label = "recall", .y_label = "precision", .y_min = 0., .y_max = 1.}),
                caption);
}
// Sounds are long: a page has those that there is room for.
TANDEM_INLINE void add_sounds(const Audio& audio, const std::string& caption, const ReportOptions& options, i64& room,
                              plot::Report& report) {
  for (const std::string& wav : audio.encoded) {
    const auto bytes = static_cast<i64>(wav.size());
    if (bytes > room) {
      report.text(caption + ": a sound of " + std::to_string(bytes) + " bytes is left out; a page has at most " +
                  std::to_string(options.max_sound_bytes) + " bytes of sounds (ReportOptions::max_sound_bytes).");
      continue;
    }
    add_or_explain(caption, report, [&] {
      report.sound(wav, caption, caption);
      room -= bytes;
    });
  }
}
// One text, or a table of those that are a list or rows, as TensorBoard shows them.
TANDEM_INLINE void add_texts(const Texts& texts, const std::string& caption, plot::Report& report) {
  const std::size_t rank = texts.shape.size();
  const auto columns = static_cast<std::size_t>(rank == 2 ? texts.shape[1] : 1);
  if (rank == 0 || rank > 2 || texts.texts.empty()) {
    report.text(caption + ":");
    for (const std::string& text : texts.texts) report.text(text);
    return;
  }
  std::vector<std::vector<std::string>> rows;
  for (std::size_t i = 0; i < texts.texts.size(); ++i) {
    if (i % columns == 0) rows.emplace_back();
    rows.back().push_back(texts.texts[i]);
  }
  report.table({}, rows, caption);
}
TANDEM_INLINE void add_latest(const RunEvents& run, const std::string& tag, const ReportOptions& options, i64& room,
                              plot::Report& report) {
  const auto at = run.latest.find(tag);
  if (at == run.latest.end()) return;
  const auto& [step, value] = at->second;
  const std::string caption = (run.name.empty() ? tag : tag + " of " + run.name) + ", step " + std::to_string(step);
  if (const Histogram* const h = std::get_if<Histogram>(&value.content)) {
    std::vector<double> edges, counts;
    for (const HistogramBucket& b : h->buckets) {
      if (edges.empty()) edges.push_back(b.left);
      edges.push_back(b.right), counts.push_back(b.count);
    }
    const plot::HistogramOptions named{.title = tag};
    if (!counts.empty())
      add_or_explain(caption, report, [&] { report.figure(plot::histogram_of_counts(edges, counts, named), caption); });
  } else if (const Images* const images = std::get_if<Images>(&value.content)) {
    for (std::size_t i = 0; i < images->encoded.size(); ++i)
      add_or_explain(caption, report,
                     [&] { report.picture(images->encoded[i], caption, i == 0 ? caption : std::string()); });
  } else if (const Texts* const texts = std::get_if<Texts>(&value.content)) {
    add_texts(*texts, caption, report);
  } else if (const Audio* const audio = std::get_if<Audio>(&value.content)) {
    add_sounds(*audio, caption, options, room, report);
  } else if (const OtherValue* const curve = std::get_if<OtherValue>(&value.content)) {
    add_pr_curve(*curve, tag, caption, report);
  }
}

TANDEM_INLINE plot::Report make_report(const char* op, const std::string& logdir, const ReportOptions& options) {
  detail::check_report_options(op, options);
  i64 room = options.max_sound_bytes;
  const std::vector<impl::RunEvents> runs = impl::read_runs(op, logdir);
  const std::filesystem::path folder = std::filesystem::path(logdir).lexically_normal();
  plot::Report report(options.title.empty()
                          ? (folder.has_filename() ? folder : folder.parent_path()).filename().string()
                          : options.title);
  report.facts(options.facts).facts(plot::machine_facts());
  for (const plot::Figure& figure : options.figures) report.figure(figure);
  impl::add_hparams(runs, report);
  for (const auto& [section, tags] : impl::sections_of(runs)) {
    report.section(section.empty() ? "Summaries" : section);
    for (const std::string& tag : tags) {
      impl::add_curves(runs, tag, options.smoothing, report);
      for (const impl::RunEvents& run : runs) impl::add_latest(run, tag, options, room, report);
    }
  }
  impl::add_graphs(runs, report);
  return report;
}

}  // namespace impl

TANDEM_INLINE void detail::check_report_options(const char* op, const ReportOptions& options) {
  plot::smoothed(plot::Values(), options.smoothing);  // raises for one that lines() would not take
  if (options.max_sound_bytes < 0)
    errors::raise<errors::InvalidArgumentError>(
        op, "max_sound_bytes must not be negative, but is " + std::to_string(options.max_sound_bytes));
}
TANDEM_INLINE std::string report_html(const std::string& logdir, const ReportOptions& options) {
  return impl::make_report("report_html", logdir, options).html();
}
TANDEM_INLINE std::string write_report(const std::string& logdir, const std::string& path,
                                       const ReportOptions& options) {
  const plot::Report report = impl::make_report("write_report", logdir, options);
  const std::string to =
      path.empty() ? (std::filesystem::path(logdir).lexically_normal() / "report.html").string() : path;
  report.save(to);
  return to;
}

}  // namespace TANDEM_NS::summary
