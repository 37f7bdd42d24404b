// synthetic_letters of data/synthetic.hpp.
#pragma once
#include <algorithm>
#include <array>

#include "tandem/data/draws.hpp"
#include "tandem/data/synthetic.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS::data {

namespace detail {

inline constexpr i64 alphabet = 26, longest_word = 14, letter_pixels = 16 * 8;
using LetterGlyphs = std::array<std::array<std::uint8_t, letter_pixels>, alphabet>;

inline LetterGlyphs letter_glyphs(Draws& draws) {
  LetterGlyphs glyphs;
  for (auto& glyph : glyphs)
    for (std::uint8_t& pixel : glyph) pixel = static_cast<std::uint8_t>(draws.below(2));
  glyphs[1] = glyphs[0], glyphs[3] = glyphs[2];
  return glyphs;
}
// `before`: the letter in front, or -1.
inline std::int32_t next_letter(Draws& draws, std::int32_t before, bool last) {
  if (before == 0 || before == 2) return static_cast<std::int32_t>(20 + draws.below(3));
  if (before == 1 || before == 3) return static_cast<std::int32_t>(23 + draws.below(3));
  return static_cast<std::int32_t>(last ? 4 + draws.below(alphabet - 4) : draws.below(alphabet));
}

}  // namespace detail

TANDEM_INLINE Letters synthetic_letters(i64 n, i64 seed) {
  const tandem::detail::OutsideTrace outside;
  detail::check_count("synthetic_letters", n);
  constexpr i64 most = detail::longest_word, pixels = detail::letter_pixels;
  constexpr double flip_probability = 0.05;
  const Letters r{Tensor::allocate({{n, most, 16, 8}, DType::uint8, {}}),
                  Tensor::allocate({{n, most}, DType::int32, {}}), Tensor::allocate({{n}, DType::int32, {}})};
  auto* image = static_cast<std::uint8_t*>(r.images.raw());
  auto *label = static_cast<std::int32_t*>(r.labels.raw()), *length = static_cast<std::int32_t*>(r.lengths.raw());
  std::fill_n(image, n * most * pixels, std::uint8_t{0});
  std::fill_n(label, n * most, 0);
  detail::Draws draws(detail::Draws::letters, seed);
  const detail::LetterGlyphs glyphs = detail::letter_glyphs(draws);
  for (i64 i = 0; i < n; ++i, image += most * pixels, label += most) {
    length[i] = static_cast<std::int32_t>(3 + draws.below(most - 2));
    for (i64 t = 0; t < length[i]; ++t) {
      label[t] = detail::next_letter(draws, t ? label[t - 1] : -1, t + 1 == length[i]);
      const auto& glyph = glyphs[static_cast<std::size_t>(label[t])];
      for (i64 p = 0; p < pixels; ++p)
        image[t * pixels + p] = glyph[static_cast<std::size_t>(p)] ^ draws.with_probability(flip_probability);
    }
  }
  return r;
}

}  // namespace TANDEM_NS::data
