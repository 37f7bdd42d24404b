// Figure: a finished picture. Not here: the functions that draw one (lines.hpp, scatter.hpp, bars.hpp, heat_map.hpp,
// images.hpp, graph.hpp, plot_model.hpp), pages of several (report.hpp).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "tandem/config.hpp"

namespace TANDEM_NS::plot {

/// A picture as SVG text. It scales to the place it is given (a viewBox and no fixed size), is light or dark as the
/// reader prefers, has a title and a description for screen readers, and needs no script, font or other file.
class TANDEM_API Figure {
 public:
  /// An empty picture; the functions that draw make the others.
  Figure() = default;
  ///   body           the elements inside <svg>, well-formed; text is escaped already
  ///   width, height  of the body's coordinates; between 1 and 100000
  ///   throws         errors::InvalidArgumentError for another size
  Figure(std::string title, std::string description, double width, double height, std::string body);

  const std::string& title() const { return title_; }
  const std::string& description() const { return description_; }
  double width() const { return width_; }
  double height() const { return height_; }

  /// The picture as a document of its own: the content of an .svg file.
  std::string svg() const;
  /// The <svg> element without its style sheet, for an HTML page that has style_sheet() once.
  std::string inline_svg() const;
  /// CSS: the colors of all pictures, light and dark. All its class names begin with "tp".
  static std::string_view style_sheet();
  /// Writes svg() to a file, atomically. Missing folders are made.
  ///   throws  as io::write_file (io/file.hpp)
  void save(const std::string& path) const;

 private:
  std::string element(std::string_view style) const;
  std::string title_, description_, body_;
  double width_ = 560, height_ = 360;
};

struct BesideOptions {
  std::string title = {};
  std::string description = {};  ///< for screen readers; the pictures keep theirs
  int columns = 0;               ///< 0: all in one row
  double width = 1120;
};

/// Several pictures as one, in rows of equally wide columns.
///   throws  errors::InvalidArgumentError for a negative number of columns, or a width below 100 or above 100000
TANDEM_API Figure beside(const std::vector<Figure>& figures, const BesideOptions& options = {});

}  // namespace TANDEM_NS::plot
