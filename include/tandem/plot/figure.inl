// Definitions of plot/figure.hpp.
//
// The colors are those of Okabe and Ito (2008) and Paul Tol's "bright" set (2021), made darker or lighter for contrast
// with the background; neighbours in the list stay apart for the three kinds of color blindness.
#pragma once
#include <utility>

#include "tandem/base/error.hpp"
#include "tandem/io/file.hpp"
#include "tandem/plot/figure.hpp"
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
    ".tp-c0{color:#0072b2}.tp-c1{color:#d55e00}.tp-c2{color:#009e73}.tp-c3{color:#aa3377}.tp-c4{color:#c78500}"
    ".tp-c5{color:#3d2c8d}.tp-c6{color:#2f9fd8}.tp-c7{color:#6e7781}.tp-c8{color:#7a4419}.tp-c9{color:#d770ad}"
    ".tp-line{fill:none;stroke:currentColor;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}"
    ".tp-faint{fill:none;stroke:currentColor;stroke-width:1.2;stroke-opacity:.35}"
    ".tp-fill{fill:currentColor}.tp-mono{font-family:ui-monospace,'DejaVu Sans Mono',monospace}"
    "@media(prefers-color-scheme:dark){"
    ".tp-bg{fill:#14171c}.tp-ink{fill:#e6e9ed}.tp-dim{fill:#a3adb8}.tp-over{fill:#14171c}"
    ".tp-gap{stroke:#14171c}.tp-grid{stroke:#2d333b}.tp-axis{stroke:#768390}.tp-box{fill:#1f242b;stroke:#768390}.tp-"
    "tip{fill:#768390}"
    ".tp-c0{color:#56b4e9}.tp-c1{color:#ff8a3d}.tp-c2{color:#2fc997}.tp-c3{color:#e07bb5}.tp-c4{color:#f0c742}"
    ".tp-c5{color:#a89bff}.tp-c6{color:#9bdcff}.tp-c7{color:#aeb6bf}.tp-c8{color:#c98f5c}.tp-c9{color:#ffb3dc}}";
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

}  // namespace TANDEM_NS::plot
