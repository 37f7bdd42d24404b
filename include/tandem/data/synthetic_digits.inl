// synthetic_digits of data/synthetic.hpp: dots of a glyph, mapped to pixels.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/data/draws.hpp"
#include "tandem/data/synthetic.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS::data {

namespace detail {

// Rows of five dots, the leftmost in the highest bit.
inline constexpr unsigned char digit_glyphs[10][7] = {
    {0x0e, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0e}, {0x04, 0x0c, 0x04, 0x04, 0x04, 0x04, 0x0e},
    {0x0e, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1f}, {0x1f, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0e},
    {0x02, 0x06, 0x0a, 0x12, 0x1f, 0x02, 0x02}, {0x1f, 0x10, 0x1e, 0x01, 0x01, 0x11, 0x0e},
    {0x06, 0x08, 0x10, 0x1e, 0x11, 0x11, 0x0e}, {0x1f, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},
    {0x0e, 0x11, 0x11, 0x0e, 0x11, 0x11, 0x0e}, {0x0e, 0x11, 0x11, 0x0f, 0x01, 0x02, 0x0c}};
inline constexpr int digit_side = 28;

// How a digit is drawn.
struct DigitPose {
  double row, column;       // of the centre
  double height, width;     // of a dot
  double turn, slant, ink;  // ink: the strength of the strokes
  static DigitPose drawn(Draws& draws) {
    constexpr double middle = (digit_side - 1) / 2.;
    DigitPose p;
    p.row = middle + draws.uniform(-2.5, 2.5), p.column = middle + draws.uniform(-2.5, 2.5);
    p.height = draws.uniform(2.3, 3.3), p.width = draws.uniform(2.3, 3.7);
    p.turn = draws.uniform(-0.25, 0.25), p.slant = draws.uniform(-0.3, 0.3);
    p.ink = draws.uniform(1.4, 2.8);
    return p;
  }
};
// The strength of a stroke, 0 to 1, at a place among the dots of a glyph: between dots it is interpolated.
inline double stroke_at(const unsigned char* glyph, double row, double column) {
  const int r = static_cast<int>(std::floor(row)), c = static_cast<int>(std::floor(column));
  double sum = 0;
  for (int i = std::max(r, 0); i <= std::min(r + 1, 6); ++i)
    for (int j = std::max(c, 0); j <= std::min(c + 1, 4); ++j)
      if (glyph[i] >> (4 - j) & 1) sum += (1 - std::abs(row - i)) * (1 - std::abs(column - j));
  return sum;
}
TANDEM_INLINE void draw_digit(const unsigned char* glyph, Draws& draws, std::uint8_t* image) {
  const DigitPose p = DigitPose::drawn(draws);
  const double cosine = std::cos(p.turn), sine = std::sin(p.turn);
  constexpr double faintest = 0.15, noise = 20;
  for (int r = 0; r < digit_side; ++r)
    for (int c = 0; c < digit_side; ++c) {
      const double dr = r - p.row, dc = c - p.column;
      const double row = (cosine * dr - sine * dc) / p.height;
      const double column = (sine * dr + cosine * dc) / p.width + p.slant * row;
      const double stroke = std::clamp((stroke_at(glyph, row + 3, column + 2) - faintest) * p.ink, 0., 1.);
      *image++ = static_cast<std::uint8_t>(std::lround(std::clamp(255 * stroke + draws.normal(0, noise), 0., 255.)));
    }
}

}  // namespace detail

TANDEM_INLINE Digits synthetic_digits(i64 n, i64 seed) {
  const tandem::detail::OutsideTrace outside;
  detail::check_count("synthetic_digits", n);
  constexpr i64 side = detail::digit_side;
  const Digits r{Tensor::allocate({{n, side, side}, DType::uint8, {}}), Tensor::allocate({{n}, DType::uint8, {}})};
  auto *image = static_cast<std::uint8_t*>(r.images.raw()), *label = static_cast<std::uint8_t*>(r.labels.raw());
  detail::Draws draws(detail::Draws::digits, seed);
  for (i64 i = 0; i < n; ++i, image += side * side) {
    label[i] = static_cast<std::uint8_t>(draws.below(10));
    detail::draw_digit(detail::digit_glyphs[label[i]], draws, image);
  }
  return r;
}

}  // namespace TANDEM_NS::data
