// Frame: the part that pictures with two axes share: title, legend, grid, ticks, names of axes. For the definitions of
// plot/.
#pragma once
#include <string>
#include <vector>

#include "tandem/plot/figure.hpp"
#include "tandem/plot/scale.hpp"
#include "tandem/plot/svg.hpp"

namespace TANDEM_NS::plot::impl {

/// An entry of a legend: a short line, dashed or not, or a disc, and a name. Entries without a name are left out.
struct LegendEntry {
  std::string name, color;  // color: a class
  bool dashed = false, disc = false;
};

struct Axis {
  std::string label;
  Range range;       ///< of the data, or of what was asked for
  double share = 0;  ///< by which the range is widened
  bool log = false;
  std::vector<std::string> names = {};  ///< instead of ticks: the names of 0, 1, 2, ...
  bool shown = true;                    ///< whether it has ticks or names
  bool grid = true;                     ///< whether the ticks have lines; a vertical axis without goes downwards
  double room = 0;                      ///< left free behind it (the horizontal axis)
  bool whole = false;                   ///< ticks are whole numbers
};

/// Draws the frame around a picture of this size and computes where values lie in it.
class TANDEM_API Frame {
 public:
  ///   what    the function, for errors
  ///   throws  errors::InvalidArgumentError if the picture is smaller than 100 x 80 units
  Frame(const char* what, std::string title, double width, double height, const Axis& x, const Axis& y,
        const std::vector<LegendEntry>& legend);

  Canvas canvas;
  Scale x, y;
  double left, top, right, bottom;  // of the area of the data
  bool is_empty;                    // no data: a text says so
  /// The picture of what was drawn.
  Figure finish(std::string description);

 private:
  void draw_legend(const std::vector<LegendEntry>& legend);
  double y_label_width(const Axis& axis, const std::vector<Tick>& ticks) const;
  void draw_vertical(const Axis& axis, const std::vector<Tick>& ticks);
  void draw_horizontal(const Axis& axis, const std::vector<Tick>& ticks);
  void draw_names(const std::vector<std::string>& names);
  std::string title_;
  double width_, height_;
};

/// Draws a title at the top of a picture; returns the height that it takes, 0 without one.
double draw_title(Canvas& canvas, const std::string& title, double width);
/// Ticks whose labels do not overlap along a horizontal axis.
std::vector<Tick> horizontal_ticks(const Scale& scale, double length, bool whole);

}  // namespace TANDEM_NS::plot::impl
