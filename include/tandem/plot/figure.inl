// Definitions of plot/figure.hpp.
//
// The ten colors were found by a search: any two are at least 19 apart (CIE 1976) for normal vision and for the three
// kinds of color blindness as Machado, Oliveira and Fernandes simulate them (2009), and each has a contrast of 3 with
// the background (WCAG 2.1, 1.4.11).
#pragma once
#include <algorithm>
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/io/file.hpp"
#include "tandem/plot/figure.hpp"
#include "tandem/plot/frame.hpp"
#include "tandem/plot/svg.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::plot {

namespace impl {
// Classes: bg background, ink text, dim secondary text, grid, axis, box of a node; c0 to c9 set the current color.
inline constexpr std::string_view figure_style =
    ".tp{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans',sans-serif;font-size:14px}"
    ".tp-bg{fill:#fff}.tp-ink{fill:#1f2328}.tp-dim{fill:#57606a}.tp-over{fill:#fff}"
    ".tp-gap{stroke:#fff}.tp-grid{stroke:#e4e7eb}.tp-axis{stroke:#8c959f}.tp-box{fill:#f6f8fa;stroke:#8c959f}.tp-tip{"
    "fill:#8c959f}"
    ".tp-c0{color:#0668b1}.tp-c1{color:#a83515}.tp-c2{color:#03ab5e}.tp-c3{color:#882263}.tp-c4{color:#c48308}"
    ".tp-c5{color:#3a22a7}.tp-c6{color:#0d90ff}.tp-c7{color:#767f70}.tp-c8{color:#5a493b}.tp-c9{color:#e866b0}"
    ".tp-line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}"
    ".tp-faint{fill:none;stroke:currentColor;stroke-width:1.2;stroke-opacity:.35}"
    ".tp-fill{fill:currentColor}.tp-mono{font-family:ui-monospace,'DejaVu Sans Mono',monospace}"
    "@media(prefers-color-scheme:dark){"
    ".tp-bg{fill:#14171c}.tp-ink{fill:#e6e9ed}.tp-dim{fill:#a3adb8}.tp-over{fill:#14171c}"
    ".tp-gap{stroke:#14171c}.tp-grid{stroke:#2d333b}.tp-axis{stroke:#768390}.tp-box{fill:#1f242b;stroke:#768390}.tp-"
    "tip{fill:#768390}"
    ".tp-c0{color:#65a7fe}.tp-c1{color:#fa954c}.tp-c2{color:#1bf68d}.tp-c3{color:#ed4eae}.tp-c4{color:#cff437}"
    ".tp-c5{color:#7b6eff}.tp-c6{color:#afd5f9}.tp-c7{color:#b0a392}.tp-c8{color:#ad8054}.tp-c9{color:#ffd9da}}";
}  // namespace impl

TANDEM_INLINE Figure::Figure(std::string title, std::string description, double width, double height, std::string body)
    : title_(std::move(title)),
      description_(std::move(description)),
      body_(std::move(body)),
      width_(width),
      height_(height) {
  if (!(width >= 1 && width <= 1e5 && height >= 1 && height <= 1e5))
    errors::raise<errors::InvalidArgumentError>("plot::Figure", "a picture of " + tandem::detail::shortest_text(width) +
                                                                    " x " + tandem::detail::shortest_text(height) +
                                                                    " units; width and height are 1 to 100000");
}

TANDEM_INLINE std::string Figure::element(std::string_view style) const {
  std::string s = "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tp\" role=\"img\" viewBox=\"0 0 ";
  s += impl::position(width_) + " " + impl::position(height_) + "\">\n<title>" + impl::escaped(title_) + "</title>\n";
  if (!description_.empty()) s += "<desc>" + impl::escaped(description_) + "</desc>\n";
  if (!style.empty()) ((s += "<style>") += style) += "</style>\n";
  return s + "<rect class=\"tp-bg\" width=\"100%\" height=\"100%\"/>\n" + body_ + "</svg>\n";
}

TANDEM_INLINE std::string Figure::svg() const { return element(impl::figure_style); }
TANDEM_INLINE std::string Figure::inline_svg() const { return element({}); }
TANDEM_INLINE std::string_view Figure::style_sheet() { return impl::figure_style; }
TANDEM_INLINE void Figure::save(const std::string& path) const { io::write_file(path, svg()); }

TANDEM_INLINE Figure beside(const std::vector<Figure>& figures, const BesideOptions& o) {
  if (o.columns < 0 || !(o.width >= 100 && o.width <= 1e5))
    errors::raise<errors::InvalidArgumentError>(
        "plot::beside", std::to_string(o.columns) + " columns, " + tandem::detail::shortest_text(o.width) +
                            " units wide; columns are not negative, the width is 100 to 100000");
  const std::size_t n = std::max(figures.size(), std::size_t{1});
  const std::size_t columns = o.columns > 0 ? static_cast<std::size_t>(o.columns) : n;
  const double width = o.width / static_cast<double>(columns);
  impl::Canvas canvas;
  std::string inside;
  double y = impl::draw_title(canvas, o.title, o.width), tallest = 0;
  if (y > 0) y += 14;
  for (std::size_t i = 0; i < figures.size(); ++i) {
    if (i > 0 && i % columns == 0) y += tallest, tallest = 0;
    const double height = figures[i].height() / figures[i].width() * width;
    const std::string place = " x=\"" + impl::position(static_cast<double>(i % columns) * width) + "\" y=\"" +
                              impl::position(y) + "\" width=\"" + impl::position(width) + "\" height=\"" +
                              impl::position(height) + "\"";
    std::string svg = figures[i].inline_svg();
    inside += svg.insert(4, place);
    tallest = std::max(tallest, height);
  }
  return Figure(o.title, o.description, o.width, std::clamp(y + tallest, 20., 1e5), canvas.elements() + inside);
}

}  // namespace TANDEM_NS::plot
