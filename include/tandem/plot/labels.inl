// Definitions of plot/labels.hpp.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/plot/labels.hpp"

namespace TANDEM_NS::plot::impl {

template <class F>
void TakenAreas::for_each_cell(const Area& a, const F& f) {
  const auto index = [](double x) { return static_cast<int>(std::floor(x / cell)); };
  for (int i = index(a.left); i <= index(a.right); ++i)
    for (int k = index(a.top); k <= index(a.bottom); ++k) f(std::pair(i, k));
}
TANDEM_INLINE bool TakenAreas::overlaps(const Area& a) const {
  bool found = false;
  for_each_cell(a, [&](const std::pair<int, int>& at) {
    if (const auto here = cells_.find(at); here != cells_.end() && !found)
      found = std::any_of(here->second.begin(), here->second.end(), [&](const Area& b) { return b.overlaps(a); });
  });
  return found;
}
TANDEM_INLINE void TakenAreas::add(const Area& a) {
  for_each_cell(a, [&](const std::pair<int, int>& at) { cells_[at].push_back(a); });
}

TANDEM_INLINE bool place_label(TakenAreas& taken, const Area& inside, double x, double y, double gap,
                               std::string_view text, double size, Label& label) {
  const double width = text_width(text, size), middle = y + 0.35 * size, up = 0.8 * size, down = 0.25 * size;
  const Label places[] = {{x + gap, middle, Anchor::start},
                          {x - gap, middle, Anchor::end},
                          {x, y - gap - down, Anchor::middle},
                          {x, y + gap + up, Anchor::middle}};
  for (const Label& place : places) {
    const double left = place.x - width * (place.anchor == Anchor::start ? 0 : place.anchor == Anchor::end ? 1 : 0.5);
    const Area area{left, place.y - up, left + width, place.y + down};
    const bool fits = area.left >= inside.left && area.right <= inside.right && area.top >= inside.top &&
                      area.bottom <= inside.bottom;
    if (!fits || taken.overlaps(area)) continue;
    taken.add(area);
    label = place;
    return true;
  }
  return false;
}

}  // namespace TANDEM_NS::plot::impl
