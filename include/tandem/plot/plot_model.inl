// Definitions of plot/plot_model.hpp. The layers are read from the text of Module::summary(): a line each, "path
// (class)", the output's shape under "Output shape", the number of parameters at the end.
#pragma once
#include <algorithm>
#include <vector>

#include "tandem/plot/frame.hpp"
#include "tandem/plot/plot_model.hpp"
#include "tandem/plot/svg.hpp"

namespace TANDEM_NS::plot {

namespace impl {

// A line of a summary, and those of the layers inside.
struct LayerBox {
  std::string path, type, output, parameters;
  std::vector<LayerBox> inside = {};
  bool is_chain() const { return type == "sequential"; }
};
struct ModelLines {
  LayerBox root;
  std::size_t layers = 0;
  std::string total;  // "Total: 1,234, trainable: 1,000"
};

TANDEM_INLINE LayerBox layer_of(const std::string& line, std::size_t column) {
  LayerBox r;
  std::string name = line.substr(0, column);
  name.erase(name.find_last_not_of(' ') + 1);
  if (const std::size_t open = name.rfind(" ("); open != name.npos && name.back() == ')') {
    r.path = name.substr(0, open);
    r.type = name.substr(open + 2, name.size() - open - 3);
  } else {
    r.type = name;
  }
  const std::size_t number = line.rfind(' ') + 1, shape_end = line.find_last_not_of(' ', number - 1) + 1;
  r.parameters = line.substr(number);
  r.output = line.substr(column, shape_end - column);
  if (r.output == "-") r.output.clear();
  return r;
}

// The box in which a layer of this path lies: that of the longest path before it. Lines come after those of what they
// are in.
TANDEM_INLINE LayerBox& parent_of(LayerBox& root, const std::string& path) {
  LayerBox* at = &root;
  for (;;) {
    LayerBox* next = nullptr;
    for (LayerBox& child : at->inside)
      if (path.starts_with(child.path + "/")) next = &child;
    if (!next) return *at;
    at = next;
  }
}

TANDEM_INLINE ModelLines model_lines(const std::string& summary) {
  ModelLines r;
  const std::size_t column = summary.find("Output shape");
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < summary.size();) {
    const std::size_t end = std::min(summary.find('\n', at), summary.size());
    lines.push_back(summary.substr(at, end - at));
    at = end + 1;
  }
  // The header and a rule; the layers; a rule and the total.
  for (std::size_t i = 2; i + 2 < lines.size(); ++i) {
    LayerBox layer = layer_of(lines[i], column);
    if (i == 2) {
      r.root = std::move(layer);
      continue;
    }
    ++r.layers;
    LayerBox& parent = parent_of(r.root, layer.path);
    parent.inside.push_back(std::move(layer));
  }
  r.total = lines.back();
  return r;
}

inline constexpr double layer_line = 17, layer_padding = 12, layer_arrow = 24;

inline std::string name_text(const LayerBox& b) {
  const std::size_t slash = b.path.rfind('/');
  const std::string name = slash == b.path.npos ? b.path : b.path.substr(slash + 1);
  return name.empty() || name == b.type ? b.type : name + " (" + b.type + ")";
}
inline std::string detail_text(const LayerBox& b) {
  std::string text = b.output;
  if (b.parameters != "0") text += (text.empty() ? "" : ", ") + b.parameters + " parameters";
  return text;
}
TANDEM_INLINE double width_of(const LayerBox& b) {
  double width =
      std::max(text_width(name_text(b), text_size), text_width(detail_text(b), detail_text(b).empty() ? 1 : 13));
  for (const LayerBox& child : b.inside) width = std::max(width, width_of(child));
  return width + 2 * layer_padding;
}
inline double gap_of(const LayerBox& b) { return b.is_chain() ? layer_arrow : 8; }
TANDEM_INLINE double height_of(const LayerBox& b) {
  double height = layer_line * (detail_text(b).empty() ? 1 : 2) + 12;
  for (const LayerBox& child : b.inside) height += height_of(child) + (&child == b.inside.data() ? 8 : gap_of(b));
  return height + (b.inside.empty() ? 0 : layer_padding);
}

TANDEM_INLINE void draw_layer(Canvas& to, const LayerBox& b, double x, double y, double width, int depth) {
  const double height = height_of(b), middle = x + width / 2;
  to.box(x, y, width, height, depth % 2 ? "rx=\"6\" class=\"tp-box\"" : "rx=\"6\" class=\"tp-bg tp-axis\"");
  to.text(middle, y + layer_line + 2, fitted(name_text(b), text_size, width - 8), {.anchor = Anchor::middle});
  const std::string detail = detail_text(b);
  to.text(middle, y + 2 * layer_line + 1, fitted(detail, 13, width - 8),
          {.size = 13, .anchor = Anchor::middle, .css = "tp-dim"});
  double at = y + layer_line * (detail.empty() ? 1 : 2) + 12;
  for (std::size_t i = 0; i < b.inside.size(); ++i) {
    const double before = at;
    at += i == 0 ? 8 : gap_of(b);
    if (i > 0 && b.is_chain()) {
      to.line(middle, before, middle, at - 6, "class=\"tp-axis\"");
      to.path("M" + position(middle - 4) + " " + position(at - 8) + "l4 8l4 -8z", "class=\"tp-tip\"");
    }
    draw_layer(to, b.inside[i], x + layer_padding, at, width - 2 * layer_padding, depth + 1);
    at += height_of(b.inside[i]);
  }
}

}  // namespace impl

TANDEM_INLINE Figure plot_model(const Module& model, const PlotModelOptions& o) {
  const impl::ModelLines lines = impl::model_lines(model.summary());
  constexpr double margin = 14;
  const double box = std::max({impl::width_of(lines.root) + 8, impl::text_width(lines.total, impl::text_size), 200.});
  const double title = o.title.empty() ? 0 : impl::text_width(o.title, impl::title_size);
  const double width = std::max(box, std::min(title, 560.)) + 2 * margin;
  impl::Canvas canvas;
  double y = margin + impl::draw_title(canvas, o.title, width);
  impl::draw_layer(canvas, lines.root, (width - box) / 2, y, box, 0);
  y += impl::height_of(lines.root) + 22;
  canvas.text(width / 2, y, lines.total, {.anchor = impl::Anchor::middle, .css = "tp-dim"});
  std::string description = o.description;
  if (description.empty()) description = "Model of " + std::to_string(lines.layers) + " layers. " + lines.total;
  return Figure(o.title, std::move(description), std::min(width, 1e5), std::min(y + margin, 1e5), canvas.elements());
}

}  // namespace TANDEM_NS::plot
