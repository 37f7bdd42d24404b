// Pictures as SVG files: texts, discs, squares and gray images.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
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
    append("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%g\" height=\"%g\" viewBox=\"0 0 %g %g\">\n", width,
           height, width, height);
    text_ += "<title>" + escaped(title) + "</title>\n";
    append("<rect width=\"%g\" height=\"%g\" fill=\"#ffffff\"/>\n", width, height);
  }
  /// A text whose baseline begins, or is centred, or ends at x, y.
  void text(double x, double y, const std::string& words, const Font& font) {
    constexpr const char* anchors[] = {"start", "middle", "end"};
    append("<text x=\"%.6g\" y=\"%.6g\" font-size=\"%g\" fill=\"%s\" font-family=\"%s\" text-anchor=\"%s\">", x, y,
           font.size, font.color, font.family, anchors[static_cast<int>(font.anchor)]);
    text_ += escaped(words) + "</text>\n";
  }
  void text(double x, double y, const std::string& words) { text(x, y, words, Font()); }
  /// A filled square with a thin gray edge. opacity: 0 to 1
  void cell(double x, double y, double size, const char* color, double opacity) {
    append(
        "<rect x=\"%g\" y=\"%g\" width=\"%g\" height=\"%g\" fill=\"%s\" fill-opacity=\"%.3f\" stroke=\"#d0d0d0\"/>\n",
        x, y, size, size, color, opacity);
  }
  void disc(double x, double y, double radius, const char* color) {
    append("<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%g\" fill=\"%s\" fill-opacity=\"0.7\"/>\n", x, y, radius, color);
  }
  /// Gray pixels, row by row, in `width` columns: 0 is white, 1 black. Each pixel is a square of size `pixel`.
  void image(double x, double y, double pixel, const std::vector<float>& pixels, int width) {
    append("<g transform=\"translate(%g %g) scale(%g)\" stroke-width=\"1.02\">\n", x, y, pixel);
    // Sixteen levels of gray, each a path of horizontal runs.
    for (int level = 1; level < levels; ++level) {
      std::string path;
      for (const auto& [begin, length] : runs(pixels, width, level))
        path +=
            "M" + std::to_string(begin % width) + " " + std::to_string(begin / width) + ".5h" + std::to_string(length);
      const int gray = 255 - 255 * level / (levels - 1);
      if (!path.empty()) append("<path stroke=\"#%02x%02x%02x\" d=\"", gray, gray, gray), text_ += path + "\"/>\n";
    }
    text_ += "</g>\n";
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
  void append(const char* format, A... values) {
    char text[256];
    std::snprintf(text, sizeof text, format, values...);
    text_ += text;
  }
  std::string text_;
};
