// Where texts beside points have room. For the definitions of plot/.
#pragma once
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "tandem/plot/svg.hpp"

namespace TANDEM_NS::plot::impl {

/// Part of a picture, in its units.
struct Area {
  double left, top, right, bottom;
  bool overlaps(const Area& a) const { return left < a.right && a.left < right && top < a.bottom && a.top < bottom; }
};

/// The areas that are taken, found by their place: a test looks only at those nearby.
class TANDEM_API TakenAreas {
 public:
  bool overlaps(const Area& a) const;
  void add(const Area& a);

 private:
  static constexpr double cell = 40;
  template <class F>
  static void for_each_cell(const Area& a, const F& f);
  std::map<std::pair<int, int>, std::vector<Area>> cells_;
};

struct Label {
  double x, y;  // of the text's anchor
  Anchor anchor;
};
/// A place for a text right of, left of, above or below a point, within `inside` and on nothing that is taken; takes
/// it. Returns false if there is none.
TANDEM_API bool place_label(TakenAreas& taken, const Area& inside, double x, double y, double gap,
                            std::string_view text, double size, Label& label);

}  // namespace TANDEM_NS::plot::impl
