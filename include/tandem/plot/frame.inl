// Definitions of plot/frame.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/plot/frame.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::plot::impl {

inline constexpr double frame_margin = 14, legend_row = 20;

TANDEM_INLINE double draw_title(Canvas& canvas, const std::string& title, double width) {
  if (title.empty()) return 0;
  const std::string text = fitted(title, title_size, width - 2 * frame_margin);
  canvas.text(frame_margin, frame_margin + 13, text, {.size = title_size});
  return title_size + 9;
}

TANDEM_INLINE std::vector<Tick> horizontal_ticks(const Scale& scale, double length, bool whole) {
  for (int most = std::max(2, static_cast<int>(length / 60));; --most) {
    std::vector<Tick> ticks = scale.ticks(most, whole);
    bool overlap = false;
    for (std::size_t i = 1; i < ticks.size(); ++i) {
      const double widths = text_width(ticks[i - 1].label, text_size) + text_width(ticks[i].label, text_size);
      overlap |= scale(ticks[i].value) - scale(ticks[i - 1].value) < widths / 2 + 10;
    }
    if (!overlap) return ticks;
    if (most == 2) return {ticks.front()};
  }
}

TANDEM_INLINE Frame::Frame(const char* what, std::string title, double width, double height, const Axis& x_axis,
                           const Axis& y_axis, const std::vector<LegendEntry>& legend)
    : top(frame_margin),
      is_empty(x_axis.range.is_empty() || y_axis.range.is_empty()),
      title_(std::move(title)),
      width_(width),
      height_(height) {
  if (!(width >= 100 && height >= 80 && width <= 1e5 && height <= 1e5))
    errors::raise<errors::InvalidArgumentError>(
        what, "a picture of " + tandem::detail::shortest_text(width) + " x " + tandem::detail::shortest_text(height) +
                  " units; it needs 100 x 80 at least and 100000 x 100000 at most");
  top += draw_title(canvas, title_, width);
  draw_legend(legend);
  if (!y_axis.label.empty()) {
    canvas.text(frame_margin, top + 11, fitted(y_axis.label, text_size, width - 2 * frame_margin), {.css = "tp-dim"});
    top += 20;
  }
  top += 4;
  double turned_room = 0;  // for the first name, left of its bar
  right = width - frame_margin - 4 - x_axis.room;
  bottom = height - (x_axis.shown ? 28 : 12) - (x_axis.label.empty() ? 0 : 19);
  if (!x_axis.names.empty()) {
    const double slot = (width - 80 - x_axis.room) / static_cast<double>(x_axis.names.size());
    double widest = 0;
    for (const std::string& name : x_axis.names) widest = std::max(widest, text_width(name, text_size));
    if (widest > slot - 6) {  // they are turned
      bottom -= std::min(widest * 0.6, height * 0.3) - 4;
      turned_room = std::min(text_width(x_axis.names[0], text_size) * 0.8 - slot / 2, width * 0.2);
    }
  }
  bottom = std::max(bottom, top + 20);

  y = Scale(widened(y_axis.range, y_axis.share, y_axis.log), y_axis.log, bottom, top);
  if (!y_axis.grid) y = Scale(y.range(), y_axis.log, top, bottom);
  const std::vector<Tick> y_ticks = y.ticks(std::max(2, static_cast<int>((bottom - top) / 30)), y_axis.whole);
  left = frame_margin + (y_axis.shown ? std::min(y_label_width(y_axis, y_ticks) + 8, width * 0.35) : 0);
  left = std::max(left, turned_room);
  x = Scale(widened(x_axis.range, x_axis.share, x_axis.log), x_axis.log, left, right);
  if (is_empty) {
    canvas.box(left, top, right - left, bottom - top, "class=\"tp-grid\" fill=\"none\"");
    canvas.text((left + right) / 2, (top + bottom) / 2 + 5, "no data", {.anchor = Anchor::middle, .css = "tp-dim"});
    return;
  }
  if (y_axis.shown) draw_vertical(y_axis, y_ticks);
  draw_horizontal(x_axis, x_axis.shown ? horizontal_ticks(x, right - left, x_axis.whole) : std::vector<Tick>());
}

TANDEM_INLINE void Frame::draw_legend(const std::vector<LegendEntry>& legend) {
  double at = frame_margin;
  bool any = false;
  for (const LegendEntry& entry : legend) {
    if (entry.name.empty()) continue;
    const double swatch = entry.disc ? 10 : 18;
    const std::string name = fitted(entry.name, text_size, width_ - 2 * frame_margin - swatch - 6);
    const double width = swatch + 6 + text_width(name, text_size) + 14;
    if (any && at + width > width_ - frame_margin) {
      at = frame_margin, top += legend_row;
      if (top > height_ * 0.35) {  // the data need the rest
        const auto left_out =
            std::count_if(&entry, legend.data() + legend.size(), [](const LegendEntry& e) { return !e.name.empty(); });
        canvas.text(at, top + 14, "and " + std::to_string(left_out) + " more", {.css = "tp-dim"});
        break;
      }
    }
    const double middle = top + 9;
    canvas.begin("class=\"" + entry.color + "\"");
    if (entry.disc) canvas.disc(at + swatch / 2, middle, 5, "class=\"tp-fill\"");
    else
      canvas.line(at, middle, at + swatch, middle,
                  entry.dashed ? "class=\"tp-line\" stroke-dasharray=\"5 4\"" : "class=\"tp-line\"");
    canvas.end();
    canvas.text(at + swatch + 6, middle + 5, name);
    at += width;
    any = true;
  }
  if (any) top += legend_row + 4;
}

TANDEM_INLINE double Frame::y_label_width(const Axis& axis, const std::vector<Tick>& ticks) const {
  double widest = 12;
  for (const std::string& name : axis.names) widest = std::max(widest, text_width(name, text_size));
  if (axis.names.empty())
    for (const Tick& t : ticks) widest = std::max(widest, text_width(t.label, text_size));
  return widest;
}

TANDEM_INLINE void Frame::draw_vertical(const Axis& axis, const std::vector<Tick>& ticks) {
  const TextStyle style{.anchor = Anchor::end, .css = "tp-dim"};
  const double room = left - 8 - 4;
  if (!axis.names.empty()) {
    const auto every = static_cast<std::size_t>(std::max(1., std::ceil(15 / std::abs(y(1) - y(0)))));
    for (std::size_t i = 0; i < axis.names.size(); i += every)
      canvas.text(left - 8, y(static_cast<double>(i)) + 5, fitted(axis.names[i], text_size, room), style);
    return;
  }
  std::string grid;
  for (const Tick& t : ticks) {
    const double at = y(t.value);
    grid += "M" + position(left) + " " + position(at) + "H" + position(right);
    canvas.text(left - 8, at + 5, fitted(t.label, text_size, room), style);
  }
  if (axis.grid) canvas.path(grid, "class=\"tp-grid\"");
}

TANDEM_INLINE void Frame::draw_horizontal(const Axis& axis, const std::vector<Tick>& ticks) {
  const std::string base = "M" + position(left) + " " + position(bottom) + "H" + position(right);
  if (!axis.label.empty())
    canvas.text((left + right) / 2, height_ - 10, fitted(axis.label, text_size, right - left),
                {.anchor = Anchor::middle, .css = "tp-dim"});
  if (!axis.names.empty()) {
    draw_names(axis.names);
    canvas.path(base, "class=\"tp-axis\"");
    return;
  }
  if (!axis.shown) return;
  std::string grid, marks;
  for (const Tick& t : ticks) {
    const double at = x(t.value), half = text_width(t.label, text_size) / 2;
    grid += "M" + position(at) + " " + position(top) + "V" + position(bottom);
    marks += "M" + position(at) + " " + position(bottom) + "v4";
    // The last label stays inside the picture.
    canvas.text(std::min(at, width_ - 4 - half), bottom + 19, t.label, {.anchor = Anchor::middle, .css = "tp-dim"});
  }
  if (axis.grid) canvas.path(grid, "class=\"tp-grid\"");
  canvas.path(base + marks, "class=\"tp-axis\" fill=\"none\"");
}

TANDEM_INLINE void Frame::draw_names(const std::vector<std::string>& names) {
  const double slot = x(1) - x(0);
  double widest = 0;
  for (const std::string& name : names) widest = std::max(widest, text_width(name, text_size));
  const bool turned = widest > slot - 6;
  const double room = turned ? std::min(widest, height_ * 0.3 / 0.6) : slot;
  const auto every = static_cast<std::size_t>(std::max(1., std::ceil(16 / slot)));
  for (std::size_t i = 0; i < names.size(); i += every) {
    const double at = x(static_cast<double>(i));
    // Turned names end below their bar, those at the left edge as far as there is room.
    const std::string name = fitted(names[i], text_size, turned ? std::min(room, (at - 4) / 0.8) : room);
    if (turned) canvas.text(at + 4, bottom + 14, name, {.anchor = Anchor::end, .css = "tp-dim", .turned = -37});
    else canvas.text(at, bottom + 19, name, {.anchor = Anchor::middle, .css = "tp-dim"});
  }
}

TANDEM_INLINE Figure Frame::finish(std::string description) {
  return Figure(std::move(title_), std::move(description), width_, height_, canvas.elements());
}

}  // namespace TANDEM_NS::plot::impl
