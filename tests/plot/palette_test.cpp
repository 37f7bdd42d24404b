// The colors of pictures: contrast with the background, and distances as people with color blindness see them.
#include <algorithm>
#include <array>
#include <cmath>
#include <regex>
#include <string>
#include <vector>

#include "tandem/plot/figure.hpp"
#include "tests/support/catch.hpp"

namespace plot_palette_test {
using Color = std::array<double, 3>;
using Matrix = std::array<Color, 3>;

Color times(const Matrix& m, const Color& c) {
  Color r{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) r[i] += m[i][k] * c[k];
  return r;
}
// "0072b2" as linear sRGB (IEC 61966-2-1).
Color linear(const std::string& hex) {
  Color c{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double v = std::stoi(hex.substr(2 * i, 2), nullptr, 16) / 255.;
    c[i] = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  }
  return c;
}
constexpr Matrix to_xyz{{{0.4124, 0.3576, 0.1805}, {0.2126, 0.7152, 0.0722}, {0.0193, 0.1192, 0.9505}}};
// CIE L*a*b*, white D65.
Color lab(Color rgb) {
  for (double& v : rgb) v = std::clamp(v, 0., 1.);
  Color xyz = times(to_xyz, rgb);
  const Color white{0.9505, 1, 1.089};
  for (std::size_t i = 0; i < 3; ++i) {
    const double t = xyz[i] / white[i];
    xyz[i] = t > 0.008856 ? std::cbrt(t) : 7.787 * t + 16. / 116;
  }
  return {116 * xyz[1] - 16, 500 * (xyz[0] - xyz[1]), 200 * (xyz[1] - xyz[2])};
}
double contrast(const Color& a, const Color& b) {
  const double x = times(to_xyz, a)[1], y = times(to_xyz, b)[1];
  return (std::max(x, y) + 0.05) / (std::min(x, y) + 0.05);
}
// Machado, Oliveira, Fernandes (2009), table 1, severity 1: none, protanopia, deuteranopia, tritanopia.
constexpr Matrix sights[] = {
    {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
    {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}},
    {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}},
    {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}};

TEST_CASE("plot: colors differ for all readers and from the background") {
  const std::string css(tandem::plot::Figure::style_sheet());
  const std::regex rule(R"(\.tp-c(\d)\{color:#([0-9a-f]{6})\})");
  std::vector<Color> colors;
  for (std::sregex_iterator at(css.begin(), css.end(), rule), end; at != end; ++at) {
    CHECK(std::stoul((*at)[1]) == colors.size() % 10);
    colors.push_back(linear((*at)[2]));
  }
  REQUIRE(colors.size() == 20);  // light, then dark
  for (const std::size_t first : {0u, 10u}) {
    const Color background = linear(first == 0 ? "ffffff" : "14171c");
    CHECK(css.find(first == 0 ? ".tp-bg{fill:#fff}" : ".tp-bg{fill:#14171c}") != std::string::npos);
    for (std::size_t i = first; i < first + 10; ++i) {
      CHECK(contrast(colors[i], background) > 2.95);
      for (std::size_t k = first; k < i; ++k)
        for (const Matrix& sight : sights) {
          INFO(i << " and " << k << ", sight " << &sight - sights);
          const Color a = lab(times(sight, colors[i])), b = lab(times(sight, colors[k]));
          CHECK(std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) > 18.5);
        }
    }
  }
}

}  // namespace plot_palette_test
