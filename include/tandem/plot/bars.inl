// Definitions of plot/bars.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/base/error.hpp"
#include "tandem/plot/bars.hpp"
#include "tandem/plot/frame.hpp"

namespace TANDEM_NS::plot {

namespace impl {

[[noreturn]] TANDEM_INLINE void raise_histogram(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("plot::histogram", what);
}

// Finite edges: infinite outer ones are replaced.
TANDEM_INLINE std::vector<double> finite_edges(const Values& edges, const Values& counts) {
  std::vector<double> e = edges.numbers();
  const std::size_t n = e.size();
  if (n != counts.size() + 1 && !(n == 0 && counts.empty()))
    raise_histogram(std::to_string(n) + " edges for " + std::to_string(counts.size()) + " counts; one more is needed");
  for (const double c : counts.numbers())
    if (!(c >= 0 && std::isfinite(c))) raise_histogram("a count is " + number_text(c));
  const auto is_open = [](double edge) { return std::abs(edge) >= std::numeric_limits<double>::max(); };
  if (n > 2 && is_open(e[0]) && !is_open(e[2])) e[0] = e[1] - (e[2] - e[1]);
  if (n > 2 && is_open(e[n - 1]) && !is_open(e[n - 3])) e[n - 1] = e[n - 2] + (e[n - 2] - e[n - 3]);
  for (std::size_t i = 0; i < n; ++i)
    if (!std::isfinite(e[i]) || (i > 0 && e[i] < e[i - 1])) raise_histogram("the edges are not ascending numbers");
  return e;
}

// The outline of all bins as one path: bins narrower than what can be seen cost nothing but their highest.
TANDEM_INLINE std::string steps(const Frame& f, const std::vector<double>& edges, const Values& counts, bool log) {
  std::string path;
  const double wide = f.right - f.left;
  double last_left = -1e9, last_top = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double left = f.x(edges[i]), right = std::max(f.x(edges[i + 1]), left + 0.5);
    const double top = log ? f.y(counts[i]) : std::min(f.y(counts[i]), f.bottom - 0.5);
    if (left - last_left < 0.5 && top >= last_top) continue;
    last_left = left, last_top = top;
    const double gap = wide / static_cast<double>(counts.size()) > 6 ? 1 : 0;  // between bars
    path += "M" + position(left) + " " + position(f.bottom) + "V" + position(top) + "H" + position(right - gap) + "V" +
            position(f.bottom) + "z";
  }
  return path;
}

TANDEM_INLINE Figure draw_histogram(const std::vector<double>& edges, const Values& counts, std::size_t left_out,
                                    const HistogramOptions& o) {
  Range x, y;
  double total = 0;
  for (const double e : edges) x.add(e);
  for (const double c : counts.numbers()) {
    total += c;
    if (!o.log_y || c > 0) y.add(c);
  }
  if (!y.is_empty()) {
    if (o.log_y) y = {y.low / 2, y.high};  // a bar of the least count can be seen
    else y = {0, y.high > 0 ? widened({0, y.high}, 0.04, false).high : 1};
  }
  std::string description = o.description;
  if (description.empty()) {
    description = "Histogram of " + number_text(total) + " values";
    if (!x.is_empty()) description += " from " + number_text(x.low) + " to " + number_text(x.high);
    if (left_out > 0) description += ", " + std::to_string(left_out) + " others are not finite";
  }
  Frame f("plot::histogram", o.title, o.width, o.height, {o.x_label, x, 0, false}, {o.y_label, y, 0, o.log_y}, {});
  if (f.is_empty) return f.finish(std::move(description));
  f.canvas.begin("class=\"tp-c0\"");
  f.canvas.path(steps(f, edges, counts, o.log_y), "class=\"tp-fill\"");
  f.canvas.end();
  return f.finish(std::move(description));
}

// What a screen reader says of bars: at most twenty groups.
TANDEM_INLINE std::string described(const std::vector<std::string>& names, const std::vector<Values>& heights) {
  std::string text = "Bars. ";
  const std::size_t shown = std::min<std::size_t>(names.size(), 20);
  for (std::size_t i = 0; i < shown; ++i) {
    text += (i ? "; " : "") + names[i] + ":";
    for (const Values& h : heights) text += " " + number_text(h[i]);
  }
  return names.size() > shown ? text + "; and " + std::to_string(names.size() - shown) + " more" : text;
}

}  // namespace impl

TANDEM_INLINE Figure bars(const std::vector<std::string>& names, const std::vector<Values>& heights,
                          const BarsOptions& o) {
  impl::Range y;
  std::vector<impl::LegendEntry> legend;
  for (std::size_t s = 0; s < heights.size(); ++s) {
    if (heights[s].size() != names.size())
      errors::raise<errors::InvalidArgumentError>(
          "plot::bars", std::to_string(heights[s].size()) + " heights for " + std::to_string(names.size()) + " names");
    for (const double h : heights[s].numbers()) y.add(h);
    if (s < o.series_names.size()) legend.push_back({o.series_names[s], impl::color_class(s), false, true});
  }
  if (!y.is_empty()) {
    y.add(0);
    const impl::Range wide = impl::widened(y, 0.04, false);
    y = {y.low < 0 ? wide.low : 0, y.high > 0 ? wide.high : 0};
    if (y.low == y.high) y = {0, 1};
  }
  impl::Range x;
  if (!names.empty()) x = {-0.5, static_cast<double>(names.size()) - 0.5};
  impl::Frame f("plot::bars", o.title, o.width, o.height, {o.x_label, x, 0, false, names}, {o.y_label, y, 0, false},
                legend);
  std::string description = o.description.empty() ? impl::described(names, heights) : o.description;
  if (f.is_empty) return f.finish(std::move(description));
  const double slot = f.x(1) - f.x(0), bar = slot * 0.8 / static_cast<double>(heights.size()), base = f.y(0);
  for (std::size_t s = 0; s < heights.size(); ++s) {
    f.canvas.begin("class=\"" + impl::color_class(s) + "\"");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const double left = f.x(static_cast<double>(i)) - slot * 0.4 + bar * static_cast<double>(s),
                   at = f.y(heights[s][i]);
      const double middle = left + bar / 2;
      if (std::isnan(at))
        f.canvas.path("M" + impl::position(middle - 4) + " " + impl::position(base - 9) + "l8 8m0 -8l-8 8",
                      "class=\"tp-line\"");
      else
        f.canvas.box(left, std::min(at, base), std::max(bar - (bar > 4 ? 1 : 0), 0.3), std::abs(at - base),
                     "class=\"tp-fill\"");
    }
    f.canvas.end();
  }
  f.canvas.line(f.left, base, f.right, base, "class=\"tp-axis\"");
  return f.finish(std::move(description));
}

TANDEM_INLINE Figure histogram(const Values& values, const HistogramOptions& o) {
  if (o.bins < 1 || o.bins > 10000) impl::raise_histogram(std::to_string(o.bins) + " bins; there are 1 to 10000");
  impl::Range range;
  for (const double v : values.numbers()) range.add(v);
  if (range.is_empty()) return impl::draw_histogram({}, {}, values.size(), o);
  const impl::Range wide = impl::widened(range, 0, false);
  const auto bins = static_cast<std::size_t>(o.bins);
  // Of values from low on. Halves where the width of the range is infinite; those of the smallest doubles are 0.
  const double unit = std::isfinite(wide.high - wide.low) ? 1 : 0.5, width = wide.high * unit - wide.low * unit;
  std::vector<double> counts(bins), edges;
  for (std::size_t i = 0; i <= bins; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(bins);
    edges.push_back(wide.low * (1 - share) + wide.high * share);
  }
  std::size_t left_out = 0;
  for (const double v : values.numbers()) {
    if (!std::isfinite(v)) {
      ++left_out;
      continue;
    }
    const double share = (v * unit - wide.low * unit) / width;
    ++counts[std::min(bins - 1, static_cast<std::size_t>(share * static_cast<double>(bins)))];
  }
  return impl::draw_histogram(edges, counts, left_out, o);
}
TANDEM_INLINE Figure histogram_of_counts(const Values& edges, const Values& counts, const HistogramOptions& o) {
  return impl::draw_histogram(impl::finite_edges(edges, counts), counts, 0, o);
}

}  // namespace TANDEM_NS::plot
