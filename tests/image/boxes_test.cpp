// Boxes, patches and mixtures against TensorFlow's values and loops; gradients; errors.
#include "tandem/autodiff/check.hpp"
#include "tandem/function.hpp"
#include "tests/image/pictures.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using namespace pictures;
using errors::InvalidArgumentError;

namespace {

Tensor squares(DType dtype = float32) {
  Pixels p;
  for (int i = 0; i < 35; ++i) p.push_back(static_cast<std::uint8_t>(i * i % 23));
  return cast(constant(p, {.shape = {1, 5, 7, 1}}), dtype);
}
Tensor two(DType dtype = float32) { return concat({squares(dtype), reverse(squares(dtype), 1)}, 0); }
void check_close(const Tensor& t, const Floats& expected, double atol = 1e-5) {
  test::assert_all_close(t, constant(expected, {.shape = t.shape()}), {.rtol = 1e-5, .atol = atol});
}
using Ints = std::vector<std::int32_t>;
Ints ints(const Tensor& t) { return cast(t, int32).to_vector<std::int32_t>(); }

}  // namespace

TEST_CASE("draw_bounding_boxes: TensorFlow's lines") {
  const Tensor boxes = constant({{{.1f, .2f, .9f, .7f}, {-.5f, .5f, .6f, 1.4f}, {.5f, .5f, .2f, .9f}}});
  const Tensor colors = constant({{1.f}, {2.f}});
  check_close(image::draw_bounding_boxes(zeros({1, 5, 6, 1}), boxes, colors),
              {0, 1, 2, 1, 0, 0, 0, 1, 2, 1, 0, 0, 0, 1, 2, 2, 2, 2, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  const Tensor colored = image::draw_bounding_boxes(zeros({1, 5, 6, 3}), boxes);
  CHECK(Floats{colored.at<float>({0, 0, 1, 0}), colored.at<float>({0, 0, 1, 1}), colored.at<float>({0, 0, 1, 2})} ==
        Floats{1, 1, 0});  // the first box is yellow
  const auto f = function([&](const Tensor& x) { return image::draw_bounding_boxes(x, boxes, colors); });
  check_close(f(zeros({1, 5, 6, 1})),
              {0, 1, 2, 1, 0, 0, 0, 1, 2, 1, 0, 0, 0, 1, 2, 2, 2, 2, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK_THROWS_AS(image::draw_bounding_boxes(zeros({5, 6, 1}), boxes), InvalidArgumentError);
  CHECK_THROWS_AS(image::draw_bounding_boxes(zeros({1, 5, 6, 1}), zeros({1, 2, 3})), InvalidArgumentError);
  CHECK_THROWS_AS(image::draw_bounding_boxes(zeros({1, 5, 6, 1}), boxes, zeros({2, 2})), InvalidArgumentError);
}

TEST_CASE("draw_bounding_boxes: TensorFlow's colors; a box with a NaN is not drawn") {
  const Floats colors[] = {{1, 1, 0},   {0, 0, 1},  {1, 0, 0},  {0, 1, 0}, {.5, 0, .5},
                           {.5, .5, 0}, {.5, 0, 0}, {0, 0, .5}, {0, 1, 1}, {1, 0, 1}};
  for (i64 n = 1; n <= 11; ++n) {
    const Tensor boxes = tile(constant({0.f, 0.f, 1.f, 1.f}, {.shape = {1, 1, 4}}), {1, n, 1});
    CHECK(image::draw_bounding_boxes(zeros({1, 1, 1, 3}), boxes).to_vector<float>() == colors[(n - 1) % 10]);
    CHECK(image::draw_bounding_boxes(zeros({1, 1, 1, 1}), boxes).to_vector<float>() == Floats{1});
  }
  for (std::size_t i = 0; i < 4; ++i) {
    Floats corners{0, 0, 1, 1};
    corners[i] = NAN;
    const Tensor boxes = constant(corners, {.shape = {1, 1, 4}});
    CHECK(reduce_max(image::draw_bounding_boxes(zeros({1, 4, 4, 3}), boxes)).item<float>() == 0);
  }
}

TEST_CASE("non_max_suppression: overlaps in the precision of the boxes") {
  // Their overlap is 1/5, of which float32 and float64 fall on different sides.
  const Tensor boxes = constant({{3, 4, 1, 1}, {3, 5, 0, 3}}), scores = constant({2.f, 1.f});
  const Tensor single = cast(boxes, float32) / 5.f;
  CHECK(ints(image::non_max_suppression(single, scores, 5, {.iou_threshold = .2})) == Ints{0});
  CHECK(ints(image::non_max_suppression(cast(single, float64), scores, 5, {.iou_threshold = .2})) == Ints{0, 1});
}

TEST_CASE("non_max_suppression: TensorFlow's choice") {
  const Tensor boxes = constant({{0.f, 0.f, 1.f, 1.f},
                                 {0.f, .1f, 1.f, 1.1f},
                                 {0.f, -.1f, 1.f, .9f},
                                 {0.f, 10.f, 1.f, 11.f},
                                 {1.f, 10.1f, 0.f, 11.1f},
                                 {0.f, 100.f, 1.f, 101.f}});
  const Tensor scores = constant({.9f, .75f, .6f, .95f, .5f, .3f});
  CHECK(ints(image::non_max_suppression(boxes, scores, 3)) == Ints{3, 0, 5});
  CHECK(ints(image::non_max_suppression(boxes, scores, 30, {.iou_threshold = .95})) == Ints{3, 0, 1, 2, 4, 5});
  CHECK(ints(image::non_max_suppression(boxes, scores, 30, {.score_threshold = .4})) == Ints{3, 0});
  CHECK(image::non_max_suppression(boxes, scores, 0).shape() == Shape{0});
  CHECK(image::non_max_suppression(zeros({0, 4}), zeros({0}), 5).shape() == Shape{0});
  CHECK(ints(image::non_max_suppression(boxes, ones({6}), 30)) == Ints{0, 3, 5});  // equal scores: the first
  CHECK_THROWS_AS(image::non_max_suppression(boxes, zeros({5}), 3), InvalidArgumentError);
  CHECK_THROWS_AS(image::non_max_suppression(boxes, scores, -1), InvalidArgumentError);
  CHECK_THROWS_AS(image::non_max_suppression(boxes, scores, 3, {.iou_threshold = 1.5}), InvalidArgumentError);
  CHECK_THROWS_AS(
      function([](const Tensor& b, const Tensor& s) { return image::non_max_suppression(b, s, 3); })(boxes, scores),
      errors::TraceError);
}

TEST_CASE("crop_and_resize: TensorFlow's values") {
  const Tensor boxes = constant({{.1f, .2f, .8f, .9f}, {1.f, 0.f, .2f, 1.2f}, {-.2f, .3f, .4f, .35f}});
  check_close(image::crop_and_resize(two(), boxes, constant({0, 1, 1}), {2, 3}, {.extrapolation_value = -1}),
              {7.6799994f, 9.6199999f, 6.5599971f, 2.8400004f, 4.7600007f, 10.879998f, 0, 13.200001f, -1, 3.5999999f,
               5.1200008f, -1, -1, -1, -1, 3.6800003f, 2.27f, 2.4400001f});
  check_close(image::crop_and_resize(two(), boxes(Slice(none, 2)), constant({0, 1}), {2, 3},
                                     {.method = image::Sampling::nearest, .extrapolation_value = -1}),
              {1, 9, 2, 1, 1, 9, 0, 16, -1, 4, 4, -1});
  check_close(image::crop_and_resize(squares(uint8), boxes(Slice(none, 1)), constant({0}), {1, 1}), {9.2399988f});
  const auto f = [](const Tensor& x, const Tensor& b) {
    return image::crop_and_resize(x, b, constant({0, 1}), {2, 3});
  };
  const Tensor inside = constant({{.13, .22, .81, .93}, {.91, .05, .23, .71}}, {.dtype = float64});
  CHECK(test::compute_gradient_error(f, {two(float64) / 23., inside}, {.delta = 1e-6}) < 1e-6);
  CHECK_THROWS_AS(image::crop_and_resize(two(), boxes, constant({0, 1, 2}), {2, 3}), errors::OpError);
  CHECK_THROWS_AS(image::crop_and_resize(two(), boxes, constant({0, 1, 1}), {0, 3}), InvalidArgumentError);
  CHECK_THROWS_AS(image::crop_and_resize(two(), zeros({3, 3}), constant({0, 1, 1}), {2, 3}), InvalidArgumentError);
}

TEST_CASE("extract_patches: TensorFlow's values") {
  const Tensor x = reshape(cast(range(20), float32), {1, 4, 5, 1});
  const Tensor valid = image::extract_patches(x, {2, 3}, {.strides = {2, 2}});
  CHECK(valid.shape() == Shape{1, 2, 2, 6});
  check_close(valid, {0, 1, 2, 5, 6, 7, 2, 3, 4, 7, 8, 9, 10, 11, 12, 15, 16, 17, 12, 13, 14, 17, 18, 19});
  check_close(image::extract_patches(x, {3, 2}, {.strides = {2, 3}, .rates = {1, 2}, .padding = Padding::same}),
              {0, 2, 5, 7, 10, 12, 3, 0, 8, 0, 13, 0, 10, 12, 15, 17, 0, 0, 13, 0, 18, 0, 0, 0});
  CHECK(image::extract_patches(x, {5, 1}).shape() == Shape{1, 0, 5, 5});
  const auto f = [](const Tensor& t) {
    return square(image::extract_patches(t, {2, 3}, {.strides = {1, 2}, .padding = Padding::same}));
  };
  CHECK(test::compute_gradient_error(f, cast(x, float64) / 20., {.delta = 1e-5}) < 1e-7);
  CHECK_THROWS_AS(image::extract_patches(x, {0, 3}), InvalidArgumentError);
  CHECK_THROWS_AS(image::extract_patches(x[0], {2, 3}), InvalidArgumentError);
}

TEST_CASE("mixup: each image with another one, labels in the same proportion") {
  const Tensor images = cast(reshape(range(8), {8, 1, 1, 1}), float64),
               labels = one_hot(range(8), 8, {.dtype = float64});
  const auto [x, y] = image::mixup(images, labels, {.alpha = 1, .seed = 4});
  const auto values = x.to_vector<double>(), shares = y.to_vector<double>();
  bool changed = false;
  for (std::size_t i = 0; i < 8; ++i) {
    double sum = 0, expected = 0;
    for (std::size_t k = 0; k < 8; ++k)
      sum += shares[8 * i + k], expected += shares[8 * i + k] * static_cast<double>(k);
    CHECK(sum == Catch::Approx(1));
    CHECK(values[i] == Catch::Approx(expected).margin(1e-9));
    changed |= std::abs(values[i] - static_cast<double>(i)) > .05;
  }
  CHECK(changed);
  CHECK_THROWS_AS(image::mixup(cast(images, uint8), labels), InvalidArgumentError);
  CHECK_THROWS_AS(image::mixup(images, range(8)), InvalidArgumentError);
  CHECK_THROWS_AS(image::mixup(images, labels, {.alpha = 0}), InvalidArgumentError);
}

TEST_CASE("cutmix: a rectangle of another image, labels by its area") {
  const Tensor numbers = cast(range(6), float32), images = reshape(numbers, {6, 1, 1, 1}) + zeros({6, 10, 8, 2});
  const Tensor labels = one_hot(range(6), 6);
  for (int seed = 0; seed < 20; ++seed) {
    const auto [x, y] = image::cutmix(images, labels, {.alpha = 1, .seed = seed});
    // The mean of an image is the mean of the numbers of its sources, as the labels weigh them.
    test::assert_all_close(reduce_mean(x, {1, 2, 3}), reduce_sum(y * numbers, 1), {.rtol = 1e-5, .atol = 1e-5});
    test::assert_all_close(reduce_sum(y, 1), ones({6}));
  }
  CHECK(image::cutmix(cast(images, uint8), labels).images.dtype() == uint8);
  CHECK_THROWS_AS(image::cutmix(images[0], labels), InvalidArgumentError);
}
