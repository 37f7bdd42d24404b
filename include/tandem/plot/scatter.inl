// Definitions of plot/scatter.hpp. A disc is a line of length 0 with round ends: the points of a class are one path.
#pragma once
#include <algorithm>
#include <cmath>
#include <set>

#include "tandem/base/error.hpp"
#include "tandem/plot/frame.hpp"
#include "tandem/plot/labels.hpp"
#include "tandem/plot/lines.hpp"
#include "tandem/plot/scatter.hpp"

namespace TANDEM_NS::plot {

namespace impl {

TANDEM_INLINE void check(const Values& x, const Values& y, const ScatterOptions& o) {
  const auto fail = [](const std::string& what) { errors::raise<errors::InvalidArgumentError>("plot::scatter", what); };
  const auto same = [&](std::size_t n, const char* what) {
    if (n != x.size()) fail(std::to_string(n) + " " + what + " for " + std::to_string(x.size()) + " x");
  };
  same(y.size(), "y");
  if (!o.classes.empty()) same(o.classes.size(), "classes");
  if (!o.labels.empty()) same(o.labels.size(), "labels");
  for (const double c : o.classes.numbers())
    if (!(c >= 0 && c < 1000 && c == std::trunc(c)))
      fail("a class is " + number_text(c) + "; classes are whole numbers from 0 to 999");
  if (!(o.radius > 0 && o.radius < 1e3)) fail("the radius is " + number_text(o.radius) + ", not above 0");
  if (!o.labels.empty() && o.label_sizes.size() != 1) same(o.label_sizes.size(), "sizes of labels");
  for (const double size : o.label_sizes.numbers())
    if (!(size > 0 && size < 1e3)) fail("the size of a label is " + number_text(size) + ", not above 0");
}

// The points by class, as far as they have a place; of many, one in each square, which is smaller than a disc.
TANDEM_INLINE std::vector<std::vector<Point>> points_by_class(const Frame& f, const Values& x, const Values& y,
                                                              const Values& classes, double radius) {
  std::vector<std::vector<Point>> points(1);
  const bool many = x.size() > 20000;
  const double square = std::max(0.5, radius * 2 / 3);
  std::vector<std::set<std::pair<int, int>>> squares;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Point p{f.x(x[i]), f.y(y[i])};
    if (std::isnan(p.x) || std::isnan(p.y)) continue;
    const std::size_t c = classes.empty() ? 0 : static_cast<std::size_t>(classes[i]);
    if (c >= points.size()) points.resize(c + 1);
    if (many) {
      if (c >= squares.size()) squares.resize(c + 1);
      const auto index = [&](double at) { return static_cast<int>(std::floor(at / square)); };
      if (!squares[c].insert({index(p.x), index(p.y)}).second) continue;
    }
    points[c].push_back(p);
  }
  return points;
}

TANDEM_INLINE void draw_labels(Frame& f, const Values& x, const Values& y, const ScatterOptions& o,
                               const std::vector<std::vector<Point>>& points) {
  if (o.labels.empty()) return;
  TakenAreas taken;
  for (const std::vector<Point>& of_class : points)
    for (const Point& p : of_class) taken.add({p.x - o.radius, p.y - o.radius, p.x + o.radius, p.y + o.radius});
  for (std::size_t i = 0; i < o.labels.size(); ++i) {
    const Point p{f.x(x[i]), f.y(y[i])};
    Label at{};
    const double size = o.label_sizes[o.label_sizes.size() == 1 ? 0 : i];
    if (o.labels[i].empty() || std::isnan(p.x) || std::isnan(p.y)) continue;
    if (place_label(taken, {f.left, f.top, f.right, f.bottom}, p.x, p.y, o.radius + 2, o.labels[i], size, at))
      f.canvas.text(at.x, at.y, o.labels[i], {.size = size, .anchor = at.anchor});
  }
}

TANDEM_INLINE std::string described(const Values& x, const std::vector<LegendEntry>& legend, std::size_t missing) {
  std::string text = "Points: " + std::to_string(x.size());
  if (legend.size() > 1) text += " of " + std::to_string(legend.size()) + " classes";
  if (missing > 0) text += ", " + std::to_string(missing) + " without a place";
  return text;
}

}  // namespace impl

TANDEM_INLINE Figure scatter(const Values& x, const Values& y, const ScatterOptions& o) {
  impl::check(x, y, o);
  impl::Range across, upwards;
  std::size_t missing = 0, classes = o.class_names.size();
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto has_place = [](double v, bool log) { return std::isfinite(v) && (!log || v > 0); };
    if (has_place(x[i], o.log_x) && has_place(y[i], o.log_y)) across.add(x[i]), upwards.add(y[i]);
    else ++missing;
    if (!o.classes.empty()) classes = std::max(classes, static_cast<std::size_t>(o.classes[i]) + 1);
  }
  std::vector<impl::LegendEntry> legend;
  for (std::size_t c = 0; c < classes; ++c)
    legend.push_back(
        {c < o.class_names.size() ? o.class_names[c] : std::to_string(c), impl::color_class(c), false, true});
  impl::Frame f("plot::scatter", o.title, o.width, o.height, {o.x_label, across, 0.04, o.log_x, {}, o.axes},
                {o.y_label, upwards, 0.04, o.log_y, {}, o.axes}, legend);
  std::string description = o.description.empty() ? impl::described(x, legend, missing) : o.description;
  if (f.is_empty) return f.finish(std::move(description));
  const auto points = impl::points_by_class(f, x, y, o.classes, o.radius);
  for (std::size_t c = 0; c < points.size(); ++c) {
    std::string path;
    for (const impl::Point& p : points[c]) path += "M" + impl::position(p.x) + " " + impl::position(p.y) + "h0";
    f.canvas.begin("class=\"" + impl::color_class(c) + "\"");
    f.canvas.path(path, "stroke=\"currentColor\" stroke-opacity=\".75\" stroke-linecap=\"round\" stroke-width=\"" +
                            impl::position(2 * o.radius) + "\"");
    f.canvas.end();
  }
  impl::draw_labels(f, x, y, o, points);
  return f.finish(std::move(description));
}

}  // namespace TANDEM_NS::plot
