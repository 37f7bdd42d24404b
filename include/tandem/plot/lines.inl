// Definitions of plot/lines.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/base/error.hpp"
#include "tandem/plot/frame.hpp"
#include "tandem/plot/lines.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::plot {

namespace impl {

TANDEM_INLINE std::vector<Point> reduced(const std::vector<Point>& points) {
  const auto column = [&](std::size_t i) { return std::floor(points[i].x * 2); };
  std::vector<Point> r;
  for (std::size_t i = 0; i < points.size();) {
    std::size_t low = i, high = i, end = i;
    for (; end < points.size() && column(end) == column(i); ++end) {
      if (points[end].y < points[low].y) low = end;
      if (points[end].y > points[high].y) high = end;
    }
    std::size_t chosen[] = {i, std::min(low, high), std::max(low, high), end - 1};
    const std::size_t* const behind = std::unique(std::begin(chosen), std::end(chosen));
    for (const std::size_t* k = chosen; k != behind; ++k) r.push_back(points[*k]);
    i = end;
  }
  return r;
}

// One series in the picture's units.
struct DrawnLine {
  std::string path;          // the pieces of two points and more
  std::vector<Point> alone;  // points without a neighbour
  std::string below, above;  // marks of values that are not finite
};

// A cross for what cannot be drawn; a small triangle for infinity.
inline void add_mark(DrawnLine& to, const Frame& f, double at, double value) {
  if (value > 0) to.above += "M" + position(at - 4) + " " + position(f.top + 8) + "l4 -7l4 7z";
  else to.below += "M" + position(at - 4) + " " + position(f.bottom - 8) + "l8 8m0 -8l-8 8";
}

TANDEM_INLINE DrawnLine drawn_line(const Frame& f, const Values& x, const std::vector<double>& y) {
  DrawnLine r;
  std::vector<Point> piece;
  double last_mark[2] = {-1e9, -1e9};
  const auto finish_piece = [&] {
    const std::vector<Point> points = reduced(piece);
    if (points.size() == 1) r.alone.push_back(points[0]);
    else
      for (std::size_t i = 0; i < points.size(); ++i)
        r.path += (i == 0 ? "M" : i == 1 ? "L" : " ") + position(points[i].x) + " " + position(points[i].y);
    piece.clear();
  };
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double at = f.x(x.empty() ? static_cast<double>(i) : x[i]), height = f.y(y[i]);
    if (std::isnan(at)) continue;
    if (!std::isnan(height)) {
      piece.push_back({at, height});
      continue;
    }
    finish_piece();
    double& last = last_mark[y[i] > 0];
    if (std::abs(at - last) >= 8) add_mark(r, f, last = at, y[i]);  // marks do not lie on each other
  }
  finish_piece();
  return r;
}

inline void draw(Canvas& to, const DrawnLine& line, const std::string& attributes, double radius) {
  to.path(line.path, attributes);
  double last = -1e9;
  for (const Point& p : line.alone)
    if (std::abs(p.x - last) >= 0.5) to.disc(last = p.x, p.y, radius, "class=\"tp-fill\"");
}

inline std::string color_of(const std::vector<Series>& series, std::size_t i) {
  return color_class(series[i].color < 0 ? i : static_cast<std::size_t>(series[i].color));
}

// What readers of the picture who do not see it are told of a series.
TANDEM_INLINE std::string described(const Series& s) {
  Range range;
  std::size_t missing = 0;
  for (const double v : s.y.numbers()) range.add(v), missing += !std::isfinite(v);
  std::string text = (s.name.empty() ? "a line" : s.name) + ": " + std::to_string(s.y.size()) + " values";
  if (!range.is_empty())
    text += " from " + number_text(range.low) + " to " + number_text(range.high) + ", the last one " +
            number_text(s.y[s.y.size() - 1]);
  if (missing > 0) text += ", " + std::to_string(missing) + " not finite";
  return text;
}

TANDEM_INLINE void check(const std::vector<Series>& series, const LinesOptions& o) {
  for (const Series& s : series)
    if (!s.x.empty() && s.x.size() != s.y.size())
      errors::raise<errors::InvalidArgumentError>("plot::lines", "the series " + tandem::detail::escaped_text(s.name) +
                                                                     " has " + std::to_string(s.x.size()) + " x for " +
                                                                     std::to_string(s.y.size()) + " y");
  for (const std::optional<double>& limit : {o.y_min, o.y_max})
    if (limit && (!std::isfinite(*limit) || (o.log_y && *limit <= 0)))
      errors::raise<errors::InvalidArgumentError>(
          "plot::lines", "the limit " + tandem::detail::shortest_text(*limit) + " has no place on the axis");
  if (o.y_min && o.y_max && !(*o.y_min < *o.y_max))
    errors::raise<errors::InvalidArgumentError>("plot::lines", "y_min is not below y_max");
  smoothed(Values(), o.smoothing);  // raises for one out of range, also without data
}

TANDEM_INLINE Range y_range(const std::vector<Series>& series, const LinesOptions& o) {
  Range y;
  for (const Series& s : series)
    for (const double v : s.y.numbers())
      if (!o.log_y || v > 0) y.add(v);
  if (y.is_empty()) return y;
  y = widened(y, 0.04, o.log_y);
  if (o.y_min) y = {*o.y_min, std::max(y.high, *o.y_min)};
  if (o.y_max) y = {std::min(y.low, *o.y_max), *o.y_max};
  return y;
}

TANDEM_INLINE Range x_range(const std::vector<Series>& series, bool log) {
  Range x;
  for (const Series& s : series)
    for (std::size_t i = 0; i < s.y.size(); ++i)
      if (const double v = s.x.empty() ? static_cast<double>(i) : s.x[i]; !log || v > 0) x.add(v);
  return x;
}

}  // namespace impl

TANDEM_INLINE Figure lines(const std::vector<Series>& series, const LinesOptions& o) {
  impl::check(series, o);
  std::vector<impl::LegendEntry> legend;
  std::string description = o.description;
  for (std::size_t i = 0; i < series.size(); ++i) {
    legend.push_back({series[i].name, impl::color_of(series, i), series[i].dashed});
    if (o.description.empty()) description += (i ? "; " : "Lines. ") + impl::described(series[i]);
  }
  const impl::Range y = impl::y_range(series, o);
  impl::Frame f("plot::lines", o.title, o.width, o.height, {o.x_label, impl::x_range(series, o.log_x), 0, o.log_x, {}},
                {o.y_label, y, 0, o.log_y, {}}, legend);
  if (f.is_empty) return f.finish(std::move(description));
  f.canvas.begin_clipped(f.left - 6, f.top - 2, f.right - f.left + 12, f.bottom - f.top + 4);
  for (std::size_t i = 0; i < series.size(); ++i) {
    const Series& s = series[i];
    const std::string dashes = s.dashed ? " stroke-dasharray=\"6 4\"" : "";
    const impl::DrawnLine raw = impl::drawn_line(f, s.x, s.y.numbers());
    f.canvas.begin("class=\"" + impl::color_of(series, i) + "\"");
    if (o.smoothing != 0) {
      f.canvas.path(raw.path, "class=\"tp-faint\"");
      impl::draw(f.canvas, impl::drawn_line(f, s.x, smoothed(s.y, o.smoothing)), "class=\"tp-line\"" + dashes, 2.5);
    } else {
      impl::draw(f.canvas, raw, "class=\"tp-line\"" + dashes, 2.5);
    }
    f.canvas.path(raw.below, "class=\"tp-line\"");
    f.canvas.path(raw.above, "class=\"tp-fill\"");
    f.canvas.end();
  }
  f.canvas.end();
  return f.finish(std::move(description));
}

}  // namespace TANDEM_NS::plot
