// Definitions of plot/heat_map.hpp. A color is one hue with an opacity, so that it suits light and dark backgrounds.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/base/error.hpp"
#include "tandem/plot/frame.hpp"
#include "tandem/plot/heat_map.hpp"
#include "tandem/plot/raster.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::plot {

namespace impl {

inline constexpr int heat_levels = 64;
inline constexpr std::size_t most_heat_cells = 200;  // rows or columns

// The range of colors: a value's strength, from -1 to 1.
struct HeatColors {
  double low, high;
  bool diverging;
  double strength(double v) const {
    if (diverging) return std::clamp(v / std::max(std::abs(low), std::abs(high)), -1., 1.);
    const double share =
        std::isfinite(high - low) ? (v - low) / (high - low) : (v / 4 - low / 4) / (high / 4 - low / 4);
    return std::clamp(share, 0., 1.);
  }
  // From the palest (or the darkest of the second color) to the darkest.
  Range shown() const {
    const double most = std::max(std::abs(low), std::abs(high));
    return diverging ? Range{-most, most} : Range{low, high};
  }
  // Levels: the first heat_levels are the first color's, those behind the second one's, for negative values.
  int level(double v) const {
    if (std::isnan(v)) return -1;
    const double s = strength(v);
    const auto l = static_cast<int>(std::lround(std::abs(s) * (heat_levels - 1)));
    return l == 0 ? -1 : s < 0 ? heat_levels + l : l;
  }
  static std::string attributes(int level, const char* what) {
    const int l = level % heat_levels;
    return "class=\"" + color_class(level < heat_levels ? 0 : 1) + "\" " + what + "=\"currentColor\" " + what +
           "-opacity=\"" + tandem::detail::rounded_text(static_cast<double>(l) / (heat_levels - 1), 3) + "\"";
  }
};

TANDEM_INLINE Raster matrix_of(const char* what, const Values& m) {
  if (m.shape().rank() != 2)
    errors::raise<errors::InvalidArgumentError>(
        what, "a matrix has two axes, this has shape " + to_string(m.shape()) + ": use reshape");
  return {static_cast<std::size_t>(m.shape().dim(0)), static_cast<std::size_t>(m.shape().dim(1)), m.numbers()};
}
TANDEM_INLINE void check_names(const char* what, const std::vector<std::string>& names, std::size_t n, const char* of) {
  if (!names.empty() && names.size() != n)
    errors::raise<errors::InvalidArgumentError>(
        what, std::to_string(names.size()) + " names for " + std::to_string(n) + " " + of);
}

// A bar that shows what the colors mean, right of the frame.
TANDEM_INLINE void draw_color_bar(Frame& f, const HeatColors& colors) {
  constexpr int steps = 32;
  const double left = f.right + 14, width = 12, step = (f.bottom - f.top) / steps;
  const auto [from, to] = colors.shown();
  const Scale scale({from, to}, false, f.bottom, f.top);
  for (int i = 0; i < steps; ++i) {
    const double share = (i + 0.5) / steps;
    const int level = colors.level(from * (1 - share) + to * share);
    if (level >= 0) f.canvas.box(left, f.bottom - step * (i + 1), width, step, HeatColors::attributes(level, "fill"));
  }
  f.canvas.box(left, f.top, width, f.bottom - f.top, "class=\"tp-grid\" fill=\"none\"");
  for (const Tick& t : scale.ticks(std::max(2, static_cast<int>((f.bottom - f.top) / 40))))
    f.canvas.text(left + width + 5, scale(t.value) + 5, t.label, {.css = "tp-dim"});
}
inline double color_bar_room(const HeatColors& colors) {
  double widest = 20;
  for (const Tick& t : Scale(colors.shown(), false, 0, 1).ticks(8))
    widest = std::max(widest, text_width(t.label, text_size));
  return 14 + 12 + 5 + widest;
}

// Texts in the cells, if all of them have room.
TANDEM_INLINE void draw_cell_texts(Frame& f, const Raster& colors_of, const Raster& texts, const HeatColors& colors) {
  const double width = f.x(1) - f.x(0), height = f.y(1) - f.y(0);
  if (height < text_size + 3) return;
  for (const double v : texts.values)
    if (text_width(number_text(v), text_size) > width - 4) return;
  for (std::size_t i = 0; i < texts.values.size(); ++i) {
    if (std::isnan(texts.values[i])) continue;
    const bool strong = std::abs(colors.strength(colors_of.values[i])) > 0.55;
    f.canvas.text(f.x(static_cast<double>(i % texts.columns)), f.y(static_cast<double>(i / texts.columns)) + 5,
                  number_text(texts.values[i]), {.anchor = Anchor::middle, .css = strong ? "tp-over" : "tp-ink"});
  }
}

struct HeatMap {
  const char* what;
  const Raster& shades;  // what is drawn as color
  const Raster* texts;   // what is written into the cells, or null
  const HeatMapOptions& options;
  HeatColors colors;
};
TANDEM_INLINE Figure draw_heat_map(const HeatMap& h, std::string description) {
  const HeatMapOptions& o = h.options;
  const auto rows = static_cast<double>(h.shades.rows), columns = static_cast<double>(h.shades.columns);
  // A bar of colors takes no more than leaves the cells some room, with names of rows as wide as they get.
  const double bar = color_bar_room(h.colors), room = 0.65 * o.width - 32 - bar >= 50 ? bar : 0;
  double height = o.height;
  if (height == 0) height = std::clamp((o.width - 80 - room) * rows / std::max(columns, 1.) + 100, 200., 900.);
  Range across, downwards;
  if (!h.shades.values.empty()) across = {-0.5, columns - 0.5}, downwards = {-0.5, rows - 0.5};
  Frame f(h.what, o.title, o.width, height,
          {.label = o.x_label, .range = across, .names = o.column_names, .grid = false, .room = room, .whole = true},
          {.label = o.y_label, .range = downwards, .names = o.row_names, .grid = false, .whole = true}, {});
  if (f.is_empty) return f.finish(std::move(description));
  const Raster drawn = reduced(h.shades, most_heat_cells);
  std::vector<int> levels;
  for (const double v : drawn.values) levels.push_back(h.colors.level(v));
  std::vector<std::string> attributes;
  for (int l = 0; l < 2 * heat_levels; ++l) attributes.push_back(HeatColors::attributes(l, "stroke"));
  // The last block of a reduced matrix may reach beyond it.
  const double width = f.right - f.left, tall = f.bottom - f.top;
  const auto blocks = [](double n, std::size_t m) { return std::ceil(n / static_cast<double>(m)) / n; };
  const double cell_width = width * blocks(columns, drawn.columns), cell_height = tall * blocks(rows, drawn.rows);
  f.canvas.begin_clipped(f.left, f.top, width, tall);
  draw_levels(f.canvas, f.left, f.top, cell_width, cell_height, levels, drawn.columns, attributes);
  draw_missing(f.canvas, f.left, f.top, cell_width, cell_height, drawn);
  f.canvas.end();
  if (rows <= 40 && columns <= 40) {
    std::string gaps;
    for (double c = 0.5; c < columns - 1; ++c)
      gaps += "M" + position(f.x(c)) + " " + position(f.top) + "V" + position(f.bottom);
    for (double r = 0.5; r < rows - 1; ++r)
      gaps += "M" + position(f.left) + " " + position(f.y(r)) + "H" + position(f.right);
    f.canvas.path(gaps, "class=\"tp-gap\"");
  }
  f.canvas.box(f.left, f.top, width, tall, "class=\"tp-grid\" fill=\"none\"");
  if (h.texts && rows <= 40 && columns <= 40) draw_cell_texts(f, h.shades, *h.texts, h.colors);
  if (room > 0) draw_color_bar(f, h.colors);
  return f.finish(std::move(description));
}

}  // namespace impl

TANDEM_INLINE Figure heat_map(const Values& matrix, const HeatMapOptions& o) {
  const impl::Raster m = impl::matrix_of("plot::heat_map", matrix);
  impl::check_names("plot::heat_map", o.row_names, m.rows, "rows");
  impl::check_names("plot::heat_map", o.column_names, m.columns, "columns");
  impl::Range range;
  for (const double v : m.values) range.add(v);
  std::string description = o.description;
  if (description.empty()) {
    description = "Heat map of " + std::to_string(m.rows) + " rows and " + std::to_string(m.columns) + " columns";
    if (!range.is_empty())
      description += ", values from " + impl::number_text(range.low) + " to " + impl::number_text(range.high);
  }
  range = {};
  for (const double v : impl::reduced(m, impl::most_heat_cells).values) range.add(v);
  range = impl::widened(range, 0, false);
  if (o.low) range = {*o.low, std::max(range.high, *o.low)};
  if (o.high) range = {std::min(range.low, *o.high), *o.high};
  if (!(range.low < range.high) || !std::isfinite(range.low) || !std::isfinite(range.high))
    errors::raise<errors::InvalidArgumentError>(
        "plot::heat_map", "the colors go from " + tandem::detail::shortest_text(range.low) + " to " +
                              tandem::detail::shortest_text(range.high) + "; low is a number below high");
  return impl::draw_heat_map(
      {"plot::heat_map", m, o.show_values ? &m : nullptr, o, {range.low, range.high, o.diverging}},
      std::move(description));
}

TANDEM_INLINE Figure confusion_matrix(const Values& counts, const std::vector<std::string>& names,
                                      const ConfusionMatrixOptions& o) {
  constexpr const char* what = "plot::confusion_matrix";
  const impl::Raster m = impl::matrix_of(what, counts);
  if (m.rows != m.columns)
    errors::raise<errors::InvalidArgumentError>(what, "the matrix has shape " + to_string(counts.shape()));
  impl::check_names(what, names, m.rows, "classes");
  impl::Raster shares = m;
  double right = 0, all = 0;
  for (std::size_t i = 0; i < m.rows; ++i) {
    double row = 0;
    for (std::size_t k = 0; k < m.columns; ++k) {
      if (!(m.at(i, k) >= 0 && std::isfinite(m.at(i, k))))
        errors::raise<errors::InvalidArgumentError>(what, "a count is " + impl::number_text(m.at(i, k)));
      row += m.at(i, k);
    }
    for (std::size_t k = 0; k < m.columns; ++k) shares.values[i * m.columns + k] /= row > 0 ? row : 1;
    right += m.at(i, i), all += row;
  }
  std::string description = o.description;
  if (description.empty())
    description = "Confusion matrix of " + std::to_string(m.rows) + " classes: " + impl::number_text(right) + " of " +
                  impl::number_text(all) + " are on the diagonal";
  const HeatMapOptions options{.title = o.title,
                               .x_label = o.x_label,
                               .y_label = o.y_label,
                               .row_names = names,
                               .column_names = names,
                               .width = o.width,
                               .height = o.height};
  return impl::draw_heat_map({what, shares, &m, options, {0, 1, false}}, std::move(description));
}

}  // namespace TANDEM_NS::plot
