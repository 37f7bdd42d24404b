// Definitions of plot/svg.hpp. XML 1.0, section 2.2: which characters a document may have.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/plot/svg.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::plot::impl {

// The code point of a well-formed character.
inline std::uint32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(character[i])); };
  if (character.size() == 1) return byte(0);
  std::uint32_t c = byte(0) & (0x7fu >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i) c = c << 6 | (byte(i) & 0x3f);
  return c;
}
// Calls f(character) for each; what is not UTF-8 comes as "".
template <class F>
void for_each_character(std::string_view text, const F& f) {
  for (std::size_t i = 0; i < text.size();) {
    const tandem::detail::Utf8Unit unit = tandem::detail::utf8_unit(text, i);
    f(unit.is_character ? text.substr(i, unit.bytes) : std::string_view());
    i += unit.bytes;
  }
}

TANDEM_INLINE std::string escaped(std::string_view text) {
  std::string r;
  for_each_character(text, [&](std::string_view character) {
    const std::uint32_t c = character.empty() ? 0xfffd : code_point(character);
    if (c == '&') r += "&amp;";
    else if (c == '<') r += "&lt;";
    else if (c == '>') r += "&gt;";
    else if (c == '"') r += "&quot;";
    else if (c == '\'') r += "&#39;";
    else if (c == '\t' || c == '\n' || c == '\r') r += ' ';
    else if (c < 0x20) (r += "\xe2\x90") += static_cast<char>(0x80 + c);
    else if (c == 0x7f) r += "\u2421";
    else if (character.empty() || (c > 0x7f && c < 0xa0) || (c & 0xfffe) == 0xfffe) r += "\ufffd";
    else r += character;
  });
  return r;
}

TANDEM_INLINE std::string position(double x) {
  const long tenths = std::lround(std::clamp(x, -1e5, 1e5) * 10);
  const long size = tenths < 0 ? -tenths : tenths;
  std::string s = (tenths < 0 ? "-" : "") + std::to_string(size / 10);
  if (size % 10) (s += '.') += static_cast<char>('0' + size % 10);
  return s;
}

TANDEM_INLINE std::string number_text(double x) {
  if (std::abs(x) < 1e9 && x == std::trunc(x)) return std::to_string(static_cast<long>(x));
  return tandem::detail::rounded_text(x, 4);
}

inline double character_width(std::string_view character) {
  if (character.empty()) return 1;
  const std::uint32_t c = code_point(character);
  if (c >= 0x0300 && c < 0x0370) return 0;  // combining marks
  if (c >= 0x1100) return c >= 0x2000 && c < 0x2e80 ? 0.7 : 1.1;
  const bool thin =
      character.size() == 1 && std::string_view(" !'()*,-./:;I[]fijlrt|").find(character[0]) != std::string_view::npos;
  return thin ? 0.38 : c == 'm' || c == 'w' || c == 'M' || c == 'W' ? 0.88 : 0.6;
}
TANDEM_INLINE double text_width(std::string_view text, double size) {
  double width = 0;
  for_each_character(text, [&](std::string_view character) { width += character_width(character); });
  return width * size;
}
TANDEM_INLINE std::string fitted(std::string_view text, double size, double width) {
  if (text.empty() || text_width(text, size) <= width) return std::string(text);
  std::string r;
  double used = character_width("\u2026");
  bool full = false;
  for_each_character(text, [&](std::string_view character) {
    used += character_width(character);
    full |= used * size > width;
    if (!full) r += character.empty() ? "\ufffd" : character;
  });
  return r + "\u2026";
}

TANDEM_INLINE std::string color_class(std::size_t i) { return "tp-c" + std::to_string(i % 10); }

TANDEM_INLINE void Canvas::line(double x1, double y1, double x2, double y2, std::string_view attributes) {
  path("M" + position(x1) + " " + position(y1) + "L" + position(x2) + " " + position(y2), attributes);
}
TANDEM_INLINE void Canvas::box(double x, double y, double width, double height, std::string_view attributes) {
  elements_ += "<rect x=\"" + position(x) + "\" y=\"" + position(y) + "\" width=\"" + position(std::max(width, 0.)) +
               "\" height=\"" + position(std::max(height, 0.)) + "\" ";
  (elements_ += attributes) += "/>\n";
}
TANDEM_INLINE void Canvas::disc(double x, double y, double radius, std::string_view attributes) {
  elements_ += "<circle cx=\"" + position(x) + "\" cy=\"" + position(y) + "\" r=\"" + position(radius) + "\" ";
  (elements_ += attributes) += "/>\n";
}
TANDEM_INLINE void Canvas::path(std::string_view d, std::string_view attributes) {
  if (d.empty()) return;
  (((elements_ += "<path d=\"") += d) += "\" ") += attributes;
  elements_ += "/>\n";
}
TANDEM_INLINE void Canvas::text(double x, double y, std::string_view words, const TextStyle& style) {
  if (words.empty()) return;
  elements_ += "<text x=\"" + position(x) + "\" y=\"" + position(y) + "\"";
  ((elements_ += " class=\"") += style.css) += "\"";
  if (style.size != text_size) elements_ += " font-size=\"" + position(style.size) + "\"";
  if (style.anchor != Anchor::start)
    elements_ += style.anchor == Anchor::end ? " text-anchor=\"end\"" : " text-anchor=\"middle\"";
  if (style.turned != 0)
    elements_ += " transform=\"rotate(" + position(style.turned) + " " + position(x) + " " + position(y) + ")\"";
  elements_ += ">" + escaped(words) + "</text>\n";
}
TANDEM_INLINE void Canvas::image(double x, double y, double width, double height, std::string_view uri,
                                 bool pixelated) {
  elements_ += "<image x=\"" + position(x) + "\" y=\"" + position(y) + "\" width=\"" + position(width) +
               "\" height=\"" + position(height) + "\" ";
  if (pixelated) elements_ += "style=\"image-rendering:pixelated\" ";
  ((elements_ += "href=\"") += uri) += "\"/>\n";
}
TANDEM_INLINE void Canvas::begin(std::string_view attributes) {
  ((elements_ += "<g ") += attributes) += ">\n";
  open_ += 'g';
}
TANDEM_INLINE void Canvas::begin_clipped(double x, double y, double width, double height) {
  // An inner <svg> is cut off at its border, without the id that a clip path needs.
  const std::string corner = position(x) + "\" y=\"" + position(y),
                    size = position(width) + "\" height=\"" + position(height);
  elements_ += "<svg x=\"" + corner + "\" width=\"" + size + "\" viewBox=\"" + position(x) + " " + position(y) + " " +
               position(width) + " " + position(height) + "\">\n";
  open_ += 's';
}
TANDEM_INLINE std::string_view Canvas::end_of_group() {
  const bool is_svg = open_.back() == 's';
  open_.pop_back();
  return is_svg ? "</svg>\n" : "</g>\n";
}

}  // namespace TANDEM_NS::plot::impl
