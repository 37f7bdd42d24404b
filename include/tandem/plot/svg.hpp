// What pictures are made of: text that is safe inside XML, positions, widths of text, and a canvas that collects
// elements. For the definitions of plot/.
#pragma once
#include <string>
#include <string_view>

#include "tandem/config.hpp"

namespace TANDEM_NS::plot::impl {

/// Text for the content of an XML or HTML element or for a quoted attribute: & < > " ' are entities. Tabs and line ends
/// become spaces, other control characters their pictures (U+2400 and up), what is not UTF-8 U+FFFD.
TANDEM_API std::string escaped(std::string_view text);
/// A position with at most one decimal: "12", "-0.5". What is beyond 100000, where no picture reaches, is moved there.
///   x  not NaN
TANDEM_API std::string position(double x);
/// A number for readers: whole ones below 10^9 in full, others with four digits.
TANDEM_API std::string number_text(double x);
/// About how wide a text is, in units of the picture; wide characters (East Asian, emoji) count double.
TANDEM_API double text_width(std::string_view text, double size);
/// The text, or its beginning and "..." if it is wider than this.
TANDEM_API std::string fitted(std::string_view text, double size, double width);
/// The class that sets the color of series or class i: "tp-c0" to "tp-c9", then from the start.
TANDEM_API std::string color_class(std::size_t i);

enum class Anchor { start, middle, end };

inline constexpr double text_size = 14, title_size = 17;  // units; 10 px where a picture of 560 units has 400 px

struct TextStyle {
  double size = text_size;
  Anchor anchor = Anchor::start;
  std::string_view css = "tp-ink";
  double turned = 0;  // degrees, clockwise, around the anchor
};

/// Collects elements, one a line. `attributes` is XML: class="tp-line".
class TANDEM_API Canvas {
 public:
  void line(double x1, double y1, double x2, double y2, std::string_view attributes);
  void box(double x, double y, double width, double height, std::string_view attributes);
  void disc(double x, double y, double radius, std::string_view attributes);
  void path(std::string_view d, std::string_view attributes);
  /// A text whose baseline begins, is centred or ends at x, y. Empty texts are left out.
  void text(double x, double y, std::string_view words, const TextStyle& style = {});
  /// An image file. pixelated: without smoothing where it is enlarged
  void image(double x, double y, double width, double height, std::string_view uri, bool pixelated);
  /// A group, until end().
  void begin(std::string_view attributes);
  /// The same for a group that is cut off at this rectangle.
  void begin_clipped(double x, double y, double width, double height);
  void end() { elements_ += end_of_group(); }
  const std::string& elements() const { return elements_; }

 private:
  std::string_view end_of_group();
  std::string elements_, open_;  // open_: for each group, g or s (a clipped one)
};

}  // namespace TANDEM_NS::plot::impl
