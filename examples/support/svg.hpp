// Pictures as SVG files: texts, discs, squares and gray images.
#pragma once
#include <fmt/core.h>
#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "examples/support/text_file.hpp"

/// A drawing on white, as wide and as high as so many pixels unless it is scaled.
class Svg {
 public:
  enum class Anchor { start, middle, end };
  struct Font {
    double size = 14;
    Anchor anchor = Anchor::start;
    const char* color = "#1a1a1a";
    const char* family = "sans-serif";
  };

  /// title: what readers of the picture are told that it is, above it or by a screen reader
  Svg(double width, double height, const std::string& title) {
    line(R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:g}" height="{1:g}" viewBox="0 0 {0:g} {1:g}">)", width,
         height);
    line("<title>{}</title>", escaped(title));
    line(R"(<rect width="{:g}" height="{:g}" fill="#ffffff"/>)", width, height);
  }
  /// A text whose baseline begins, or is centred, or ends at x, y.
  void text(double x, double y, const std::string& words, const Font& font) {
    constexpr const char* anchors[] = {"start", "middle", "end"};
    line(R"(<text x="{:g}" y="{:g}" font-size="{:g}" fill="{}" font-family="{}" text-anchor="{}">{}</text>)", x, y,
         font.size, font.color, font.family, anchors[static_cast<int>(font.anchor)], escaped(words));
  }
  void text(double x, double y, const std::string& words) { text(x, y, words, Font()); }
  /// A filled square with a thin gray edge. opacity: 0 to 1
  void cell(double x, double y, double size, const char* color, double opacity) {
    line(
        R"(<rect x="{0:g}" y="{1:g}" width="{2:g}" height="{2:g}" fill="{3}" fill-opacity="{4:.3f}" stroke="#d0d0d0"/>)",
        x, y, size, color, opacity);
  }
  void disc(double x, double y, double radius, const char* color) {
    line(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:g}" fill="{}" fill-opacity="0.7"/>)", x, y, radius, color);
  }
  /// Gray pixels, row by row, in `width` columns: 0 is white, 1 black. Each pixel is a square of size `pixel`.
  void image(double x, double y, double pixel, const std::vector<float>& pixels, int width) {
    line(R"xml(<g transform="translate({:g} {:g}) scale({:g})" stroke-width="1.02">)xml", x, y, pixel);
    // Sixteen levels of gray, each a path of horizontal runs.
    for (int level = 1; level < levels; ++level) {
      std::string path;
      for (const auto& [begin, length] : runs(pixels, width, level))
        path += fmt::format("M{} {}.5h{}", begin % width, begin / width, length);
      const int gray = 255 - 255 * level / (levels - 1);
      if (!path.empty()) line(R"(<path stroke="#{0:02x}{0:02x}{0:02x}" d="{1}"/>)", gray, path);
    }
    line("</g>");
  }
  /// Replaces the file. throws as tandem::io::replace_file
  void save(const std::string& path) const { write_text(path, text_ + "</svg>\n"); }

 private:
  static constexpr int levels = 16;
  static std::string escaped(const std::string& words) {
    std::string text;
    for (const char c : words) {
      if (c == '<') text += "&lt;";
      else if (c == '&') text += "&amp;";
      else text += c;
    }
    return text;
  }
  // The first pixel and the length of each run of pixels of a level within a row.
  static std::vector<std::pair<int, int>> runs(const std::vector<float>& pixels, int width, int level) {
    std::vector<std::pair<int, int>> found;
    for (int i = 0; i < static_cast<int>(pixels.size()); ++i) {
      const float p = std::clamp(pixels[static_cast<std::size_t>(i)], 0.f, 1.f);
      if (static_cast<int>(std::lround(p * (levels - 1))) != level) continue;
      const bool goes_on = !found.empty() && found.back().first + found.back().second == i && i % width != 0;
      if (goes_on) ++found.back().second;
      else found.push_back({i, 1});
    }
    return found;
  }
  template <class... A>
  void line(fmt::format_string<A...> format, A&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<A>(values)...);
    text_ += '\n';
  }
  std::string text_;
};
