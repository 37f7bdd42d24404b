// Resizing and RandomFlip: values by tf.image.resize's formula, gradients, traces, shares of flipped images, errors.
#include <algorithm>
#include <cmath>

#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/layer_checks.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients, testing::check_traced, testing::distance, testing::floats, testing::Floats,
    testing::wave;

namespace {

// An axis of another size, element by element in double precision.
std::vector<double> resized(const std::vector<double>& row, i64 size, bool bilinear) {
  const i64 n = static_cast<i64>(row.size());
  const auto at = [&](i64 i) { return row[static_cast<std::size_t>(std::clamp<i64>(i, 0, n - 1))]; };
  std::vector<double> r;
  for (i64 i = 0; i < size; ++i) {
    const double center = (static_cast<double>(i) + .5) * static_cast<double>(n) / static_cast<double>(size);
    const double p = center - .5, f = std::floor(p);
    r.push_back(bilinear ? at(static_cast<i64>(f)) * (1 - (p - f)) + at(static_cast<i64>(f) + 1) * (p - f)
                         : at(static_cast<i64>(std::floor(center))));
  }
  return r;
}
Tensor ramp(i64 h, i64 w) { return reshape(range(0.f, static_cast<float>(h * w)), {1, h, w, 1}); }
const layers::CallOptions training{.training = true};

}  // namespace

TEST_CASE("Resizing: bilinear, with TensorFlow's example") {
  const Tensor x = constant({{{{1.f}, {2.f}}, {{3.f}, {4.f}}}});
  CHECK(floats(layers::Resizing(4, 4)(x)) ==
        Floats{1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  CHECK(floats(layers::Resizing(2, 2)(x)) == floats(x));
  CHECK(floats(layers::Resizing(1, 1)(x)) == Floats{2.5});
  const Tensor twice = layers::UpSampling2D(2, {.interpolation = layers::Interpolation::bilinear})(wave({2, 3, 5, 2}));
  CHECK(distance(layers::Resizing(6, 10)(wave({2, 3, 5, 2})), twice) < 1e-6);
}
TEST_CASE("Resizing: any sizes, along either axis") {
  for (const bool bilinear : {true, false})
    for (const auto& [n, size] : {std::pair<i64, i64>{7, 3}, {3, 7}, {5, 4}, {1, 3}, {6, 1}, {4, 8}, {9, 3}}) {
      const layers::ResizingOptions o{.interpolation =
                                          bilinear ? layers::Interpolation::bilinear : layers::Interpolation::nearest};
      const std::vector<double> row = cast(wave({n}, 1), float64).to_vector<double>(),
                                want = resized(row, size, bilinear);
      const Tensor down = layers::Resizing(size, 1, o)(reshape(wave({n}, 1), {1, n, 1, 1}));
      const Tensor right = layers::Resizing(1, size, o)(reshape(wave({n}, 1), {1, 1, n, 1}));
      REQUIRE(down.shape() == Shape{1, size, 1, 1});
      REQUIRE(right.shape() == Shape{1, 1, size, 1});
      for (std::size_t i = 0; i < want.size(); ++i) {
        CHECK(floats(down)[i] == Approx(want[i]).margin(1e-6));
        CHECK(floats(right)[i] == Approx(want[i]).margin(1e-6));
      }
    }
}
TEST_CASE("Resizing: pixels where float32 would round their centers to another one") {
  std::vector<double> row(2'000'003);
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<double>(i % 7);
  const Tensor x = reshape(constant(row, float64), {1, 1, -1, 1});
  CHECK(layers::Resizing(1, 1'999'993)(x).to_vector<double>() == [&] {
    // In whole numbers: the center of pixel i is ((2 i + 1) n - size) / (2 size).
    std::vector<double> r;
    const i64 n = static_cast<i64>(row.size()), size = 1'999'993;
    const auto at = [&](i64 i) { return row[static_cast<std::size_t>(std::clamp<i64>(i, 0, n - 1))]; };
    for (i64 i = 0; i < size; ++i) {
      const i64 center = (2 * i + 1) * n - size, f = center >= 0 ? center / (2 * size) : -1;
      const double part = static_cast<double>(center - f * 2 * size) / static_cast<double>(2 * size);
      r.push_back(at(f) * (1 - part) + at(f + 1) * part);
    }
    return r;
  }());
  for (i64 n = 1; n < 60; ++n)
    for (i64 size = 1; size < 60; ++size) {
      std::vector<float> want;
      for (i64 i = 0; i < size; ++i) want.push_back(static_cast<float>((2 * i + 1) * n / (2 * size)));
      INFO(n << " to " << size);
      CHECK(floats(layers::Resizing(1, size, {.interpolation = layers::Interpolation::nearest})(ramp(1, n))) == want);
    }
}

TEST_CASE("Resizing: dtypes, formats, gradients, unknown sizes") {
  const layers::Resizing layer(3, 5), nearest(3, 5, {.interpolation = layers::Interpolation::nearest});
  const Tensor image = wave({2, 4, 3, 2});
  CHECK(layer(cast(image * 100, int32)).dtype() == float32);
  CHECK(nearest(cast(image * 100, uint8)).dtype() == uint8);
  CHECK(layer(cast(image, float16)).dtype() == float16);
  CHECK(distance(cast(layer(cast(image, float16)), float32), layer(image)) < 1e-3);
  const layers::Resizing first(3, 5, {.data_format = DataFormat::nchw});
  CHECK(floats(transpose(first(transpose(image, {0, 3, 1, 2})), {0, 2, 3, 1})) == floats(layer(image)));
  check_layer_gradients(layer, wave({1, 4, 3, 2}, 0, float64), {});
  check_traced(layer, image);
  check_traced(nearest, image);
  const auto any = function([&](const Tensor& t) { return layer(t); },
                            {.input_signature = {TensorSpec({none, none, none, 2}, float32)}});
  CHECK(distance(any(image), layer(image)) < 1e-6);
  CHECK(any(wave({1, 9, 2, 2})).shape() == Shape{1, 3, 5, 2});
  CHECK(any.trace_count() == 1);
  CHECK(layer(zeros({0, 4, 4, 2})).shape() == Shape{0, 3, 5, 2});
}
TEST_CASE("Resizing: cropped to the aspect ratio, in the middle") {
  const layers::Resizing square(2, 2, {.interpolation = layers::Interpolation::nearest, .crop_to_aspect_ratio = true});
  CHECK(floats(square(ramp(2, 4))) == Floats{1, 2, 5, 6});
  CHECK(floats(square(ramp(5, 2))) == Floats{2, 3, 4, 5});
  const layers::Resizing wide(1, 3, {.interpolation = layers::Interpolation::nearest, .crop_to_aspect_ratio = true});
  CHECK(floats(wide(ramp(3, 3))) == Floats{3, 4, 5});
  const auto any =
      function([&](const Tensor& t) { return square(t); }, {.input_signature = {TensorSpec({1, none, 4, 1}, float32)}});
  CHECK_THROWS_WITH(any(ramp(2, 4)), ContainsSubstring("Resizing: .crop_to_aspect_ratio needs the sizes"));
}
TEST_CASE("Resizing: errors") {
  CHECK_THROWS_WITH(layers::Resizing(0, 2), ContainsSubstring("Resizing: height must be positive"));
  CHECK_THROWS_WITH(layers::Resizing(2, 2)(zeros({2, 2, 1})), ContainsSubstring("Resizing: needs an input of rank 4"));
  CHECK_THROWS_WITH(layers::Resizing(2, 2)(zeros({1, 0, 3, 1})),
                    ContainsSubstring("Resizing: the images have no pixels"));
  const layers::Interpolation other([](const Tensor& x, const Shape&, DataFormat) { return x; });
  CHECK_THROWS_WITH(layers::Resizing(2, 2, {.interpolation = other}), ContainsSubstring("not another function"));
}

TEST_CASE("RandomFlip: about half of the images, each direction for itself, in training only") {
  random::set_seed(3);
  const Tensor one = constant({{{{1.f}, {2.f}}, {{3.f}, {4.f}}}}), many = tile(one, {400, 1, 1, 1});
  const auto counts = [&](layers::FlipMode mode) {
    const Floats all = floats(layers::RandomFlip(mode)(many, training));
    std::vector<int> r(4);  // as it was, flipped left to right, upside down, both
    for (std::size_t i = 0; i < all.size(); i += 4) {
      const Floats image(all.begin() + static_cast<std::ptrdiff_t>(i),
                         all.begin() + static_cast<std::ptrdiff_t>(i + 4));
      const std::vector<Floats> ways{{1, 2, 3, 4}, {2, 1, 4, 3}, {3, 4, 1, 2}, {4, 3, 2, 1}};
      const auto way = std::find(ways.begin(), ways.end(), image);
      REQUIRE(way != ways.end());
      ++r[static_cast<std::size_t>(way - ways.begin())];
    }
    return r;
  };
  for (const int n : counts(layers::FlipMode::horizontal_and_vertical)) CHECK((n > 60 && n < 140));
  const auto horizontal = counts(layers::FlipMode::horizontal), vertical = counts(layers::FlipMode::vertical);
  CHECK((horizontal[0] > 150 && horizontal[1] > 150 && horizontal[0] + horizontal[1] == 400));
  CHECK((vertical[0] > 150 && vertical[2] > 150 && vertical[0] + vertical[2] == 400));
  const layers::RandomFlip flip;
  CHECK(floats(flip(many)) == floats(many));
  const auto scope = training_scope(true);
  CHECK(floats(flip(many)) != floats(many));
  const auto traced = function([&](const Tensor& t) { return flip(t); },
                               {.input_signature = {TensorSpec({none, none, none, none}, float32)}});
  const Floats first = floats(traced(many));
  CHECK(first != floats(traced(many)));
  CHECK(traced.trace_count() == 1);
}
TEST_CASE("RandomFlip: formats, dtypes, seeds, gradients, errors") {
  const Tensor image = cast(ramp(3, 2), uint8);
  const layers::RandomFlip last(layers::FlipMode::horizontal, {.seed = 5}),
      first(layers::FlipMode::horizontal, {.seed = 5, .data_format = DataFormat::nchw});
  const Tensor many = tile(image, {16, 1, 1, 1});
  random::set_seed(1);
  const Tensor a = last(many, training);
  random::set_seed(1);
  const Tensor b = transpose(first(transpose(many, {0, 3, 1, 2}), training), {0, 2, 3, 1});
  CHECK(a.dtype() == uint8);
  CHECK(a.to_vector<std::uint8_t>() == b.to_vector<std::uint8_t>());
  CHECK(a.to_vector<std::uint8_t>() != many.to_vector<std::uint8_t>());
  GradientTape tape;
  const Tensor x = wave({8, 3, 2, 1});
  tape.watch(x);
  const Tensor y = layers::RandomFlip()(x, training);
  const Tensor g = tape.gradient(reduce_sum(y * y), x);
  CHECK(distance(g, 2 * x) < 1e-6);
  CHECK_THROWS_WITH(last(zeros({2, 2})), ContainsSubstring("RandomFlip: needs an input of rank 4"));
}
