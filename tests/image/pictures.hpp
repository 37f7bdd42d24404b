// What the tests of images share: a smooth picture, distances between pictures, the photographs beside the project.
#pragma once
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tests/image/files.hpp"
#include "tests/support/source_folder.hpp"

namespace pictures {

using Pixels = std::vector<std::uint8_t>;
using Floats = std::vector<float>;

/// A picture without noise, which JPEG stores well.
inline tandem::Tensor smooth(tandem::i64 height, tandem::i64 width, tandem::i64 channels) {
  Pixels pixels;
  for (tandem::i64 y = 0; y < height; ++y)
    for (tandem::i64 x = 0; x < width; ++x)
      for (tandem::i64 c = 0; c < channels; ++c)
        pixels.push_back(static_cast<std::uint8_t>(
            127.5 + 120 * std::sin(0.13 * static_cast<double>(y) + 0.4 * static_cast<double>(c)) *
                        std::cos(0.09 * static_cast<double>(x))));
  return tandem::constant(pixels, {.shape = {height, width, channels}});
}
/// Peak signal-to-noise ratio of uint8 or float pictures up to 255, in double precision.
inline double psnr(const tandem::Tensor& a, const tandem::Tensor& b) {
  const auto x = tandem::cast(a, tandem::float64).to_vector<double>();
  const auto y = tandem::cast(b, tandem::float64).to_vector<double>();
  double sum = x.size() == y.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < x.size() && std::isfinite(sum); ++i) sum += (x[i] - y[i]) * (x[i] - y[i]);
  return 10 * std::log10(255. * 255. * static_cast<double>(x.size()) / sum);
}
inline std::string text_of(const tandem::Tensor& t) { return t.item<std::string>(); }

/// The bytes of a photograph beside the project; empty if there is none.
inline std::string photograph(const std::string& name) {
  std::ifstream file(testing::source_folder() + "/../shared/data/images/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace pictures
