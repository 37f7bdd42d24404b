// Layers that augment: what they do in training and outside of it, by amounts that are fixed or drawn; errors.
#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/function.hpp"
#include "tandem/image.hpp"
#include "tandem/layers.hpp"
#include "tests/image/pictures.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using namespace pictures;
using errors::InvalidArgumentError;
using image::FillMode;

namespace {

Tensor floats() { return cast(smooth(6, 6, 2), float32); }
Tensor batch() { return stack({floats(), 255 - floats(), floats() * .5}); }
void check_close(const Tensor& a, const Tensor& b) { test::assert_all_close(a, b, {.rtol = 1e-5, .atol = 1e-3}); }
constexpr layers::CallOptions training{.training = true};

}  // namespace

TEST_CASE("CenterCrop, RandomCrop: the middle, or a random place in training") {
  const Tensor x = batch();
  check_close(layers::CenterCrop(4, 2)(x), image::crop_to_bounding_box(x, 1, 2, 4, 2));
  check_close(layers::RandomCrop(4, 2)(x), image::crop_to_bounding_box(x, 1, 2, 4, 2));
  const layers::RandomCrop crop(3, 4, {.seed = 5});
  bool moved = false;
  for (int i = 0; i < 20; ++i) {
    const Tensor y = crop(x, training);
    REQUIRE(y.shape() == Shape{3, 3, 4, 2});
    bool found = false;
    for (i64 r = 0; r < 4; ++r)
      for (i64 c = 0; c < 3; ++c) {
        const bool here = y.to_vector<float>() == image::crop_to_bounding_box(x, r, c, 3, 4).to_vector<float>();
        found |= here, moved |= here && (r != 1 || c != 1);
      }
    CHECK(found);
  }
  CHECK(moved);
  const auto traced = function(
      [&](const Tensor& t) {
        const Tensor y = crop(t, training);
        CHECK(y.shape() == Shape{none, 3, 4, 2});
        return y;
      },
      {.input_signature = {{{none, 6, 6, 2}, float32}}});
  CHECK(traced(x).shape() == Shape{3, 3, 4, 2});
  CHECK(traced(x(Slice(none, 2))).shape() == Shape{2, 3, 4, 2});
  CHECK(layers::CenterCrop(12, 6)(x).shape() == Shape{3, 12, 6, 2});  // enlarged to 12 x 12 first
  CHECK(layers::RandomCrop(12, 6)(floats(), training).shape() == Shape{12, 6, 2});
  CHECK_THROWS_AS(layers::CenterCrop(0, 3), InvalidArgumentError);
  CHECK_THROWS_AS(layers::RandomCrop(3, 3)(zeros({4, 4})), InvalidArgumentError);
}

TEST_CASE("RandomRotation: fixed angles are rot90; nothing outside of training") {
  const Tensor x = batch();
  const layers::RandomRotation quarter({.25, .25}, {.fill_mode = FillMode::nearest});
  check_close(quarter(x, training), image::rot90(x));
  check_close(quarter(floats(), training), image::rot90(floats()));
  CHECK(quarter(x).to_vector<float>() == x.to_vector<float>());
  const layers::RandomRotation any(.5, {.seed = 1});
  const Tensor y = any(stack({floats(), floats()}), training);
  CHECK(test::max_error(y[0], y[1]) > 1);  // each image by an angle of its own
  CHECK(any(smooth(6, 6, 2), training).dtype() == uint8);
  CHECK_THROWS_AS(layers::RandomRotation({.5, -.5}), InvalidArgumentError);
}

TEST_CASE("RandomTranslation: down and to the right, filled as asked for") {
  const Tensor x = batch();
  const layers::RandomTranslation shift({1. / 3, 1. / 3}, {-.5, -.5},
                                        {.fill_mode = FillMode::constant, .fill_value = 7});
  const Tensor y = shift(x, training);
  check_close(image::crop_to_bounding_box(y, 2, 0, 4, 3), image::crop_to_bounding_box(x, 0, 3, 4, 3));
  CHECK(y.at<float>({0, 0, 0, 0}) == Catch::Approx(7));
  CHECK(y.at<float>({1, 5, 5, 1}) == Catch::Approx(7));
  CHECK(shift(x).to_vector<float>() == x.to_vector<float>());
  CHECK_THROWS_AS(layers::RandomTranslation(2, .1), InvalidArgumentError);
}

TEST_CASE("RandomZoom: shows more or less of the image") {
  const Tensor x = floats();
  // Twice as much: pixel i shows 2.5 + 2 (i - 2.5).
  const Tensor out = layers::RandomZoom({1, 1}, {}, {.fill_mode = FillMode::constant, .fill_value = -1})(x, training);
  CHECK(out.at<float>({0, 0, 0}) == Catch::Approx(-1));
  const float expected =
      (x.at<float>({1, 1, 0}) + x.at<float>({1, 2, 0}) + x.at<float>({2, 1, 0}) + x.at<float>({2, 2, 0})) / 4;
  CHECK(out.at<float>({2, 2, 0}) == Catch::Approx(expected));
  const Tensor wide = layers::RandomZoom({0, 0}, layers::AmountRange(-.5, -.5))(x, training);  // columns alone
  check_close(wide(Slice(), 3), x(Slice(), 2) * .25 + x(Slice(), 3) * .75);
  CHECK(layers::RandomZoom(.3)(x).to_vector<float>() == x.to_vector<float>());
  CHECK_THROWS_AS(layers::RandomZoom(-1.5), InvalidArgumentError);
}

TEST_CASE("RandomContrast, RandomBrightness: one amount for each image, clamped") {
  const Tensor x = batch();
  const Tensor mean = reduce_mean(x, {.axis = {1, 2}, .keepdims = true});
  check_close(layers::RandomContrast({.5, .5})(fill({2, 2, 1}, 9.f), training), fill({2, 2, 1}, 9.f));
  const Tensor y = layers::RandomContrast(.9, {.seed = 3})(x, training);
  const Tensor inner = (y - mean) / (x - mean);  // the amount, where nothing was clamped
  for (i64 i = 0; i < 3; ++i) {
    const float amount = inner.at<float>({i, 3, 3, 0});
    CHECK(amount >= .0999f);
    CHECK(amount <= 1.9001f);
    const Tensor expected = clip_by_value((x[i] - mean[i]) * amount + mean[i], 0, 255);
    CHECK(test::max_error(y[i], expected) < .5);
  }
  check_close(layers::RandomBrightness({.2, .2})(x, training), clip_by_value(x + 51, 0, 255));
  check_close(layers::RandomBrightness({-.5, -.5}, {.lowest = -1, .highest = 1})(zeros({2, 2, 1}), training),
              fill({2, 2, 1}, -1.f));
  const Tensor lit = layers::RandomBrightness(.3, {.seed = 2})(ones({8, 1, 1, 1}) * 100, training);
  CHECK(reduce_std(lit).item<float>() > 1);
  CHECK(layers::RandomBrightness(.3)(smooth(3, 3, 1)).dtype() == float32);
  CHECK(layers::RandomContrast(.3)(x).to_vector<float>() == x.to_vector<float>());
  CHECK_THROWS_AS(layers::RandomBrightness(1.5), InvalidArgumentError);
  CHECK_THROWS_AS(layers::RandomContrast(1.5), InvalidArgumentError);
  check_close(layers::RandomContrast({.5, -.5})(x, training), clip_by_value((x - mean) * .5 + mean, 0, 255));
  check_close(layers::RandomContrast({-.5, -.5})(x, training), clip_by_value((x - mean) * .5 + mean, 0, 255));
  CHECK_THROWS_AS(layers::RandomContrast(.1)(zeros({2, 2})), InvalidArgumentError);
}

TEST_CASE("layers that augment: in a model, in a traced training step, with gradients") {
  struct Net : Model<Net> {
    layers::RandomTranslation shift{.2, .2, {.seed = 1}};
    layers::RandomZoom zoom{.2, {}, {.seed = 2}};
    layers::RandomRotation turn{.1, {.seed = 3}};
    layers::RandomContrast contrast{.2, {.seed = 4}};
    Tensor operator()(const Tensor& x) const { return contrast(turn(zoom(shift(x)))); }
  };
  const Net net;
  const auto step = function([&](const Tensor& x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = reduce_sum(net(x));
    return tape.gradient(y, x);
  });
  const auto scope = training_scope(true);
  const Tensor first = step(batch()), second = step(batch());
  CHECK(first.shape() == batch().shape());
  CHECK(test::max_error(first, second) > 0);  // new amounts in each call
}
