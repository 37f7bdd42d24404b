// extract_glimpse against TensorFlow's values; sample_distorted_bounding_box against what it promises.
#include "tandem/image/glimpse.hpp"

#include <algorithm>

#include "tandem/autodiff/check.hpp"
#include "tandem/function.hpp"
#include "tandem/image/boxes.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace image_glimpse_test {
using namespace tandem;
using errors::InvalidArgumentError;
using image::GlimpseNoise;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<i64>;
using Floats = std::vector<float>;

// 1 to 35 in 5 rows.
const Tensor picture = reshape(range(1.f, 36.f), {1, 5, 7, 1});
Ints glimpse(const image::Size& size, float y, float x, bool centered, bool normalized) {
  const Tensor r = image::extract_glimpse(
      picture, size, constant({{y, x}}), {.centered = centered, .normalized = normalized, .noise = GlimpseNoise::zero});
  CHECK(r.shape() == Shape{1, size[0], size[1], 1});
  return cast(r, int32).to_vector<std::int32_t>();
}

TEST_CASE("extract_glimpse: TensorFlow's windows") {
  CHECK(glimpse({3, 4}, 0, 0, true, true) == Ints{9, 10, 11, 12, 16, 17, 18, 19, 23, 24, 25, 26});
  CHECK(glimpse({3, 4}, .3f, -.4f, true, true) == Ints{8, 9, 10, 11, 15, 16, 17, 18, 22, 23, 24, 25});
  CHECK(glimpse({3, 4}, -1, 1, true, true) == Ints{0, 0, 0, 0, 6, 7, 0, 0, 13, 14, 0, 0});
  CHECK(glimpse({3, 4}, 1, 1, true, true) == Ints{27, 28, 0, 0, 34, 35, 0, 0, 0, 0, 0, 0});
  CHECK(glimpse({3, 4}, 2.5f, 2, true, true) == Ints(12));
  CHECK(glimpse({2, 3}, -.5f, -.6f, true, true) == Ints{1, 2, 3, 8, 9, 10});
  CHECK(glimpse({7, 9}, 0, 0, true, true) == Ints{0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  1,  2,  3,  4,  5,  6,
                                                  7,  0,  0,  8,  9,  10, 11, 12, 13, 14, 0,  0,  15, 16, 17, 18,
                                                  19, 20, 21, 0,  0,  22, 23, 24, 25, 26, 27, 28, 0,  0,  29, 30,
                                                  31, 32, 33, 34, 35, 0,  0,  0,  0,  0,  0,  0,  0,  0,  0});
  CHECK(glimpse({3, 4}, 0, 0, true, false) == Ints{18, 19, 20, 21, 25, 26, 27, 28, 32, 33, 34, 35});
  CHECK(glimpse({3, 4}, -1.9f, .5f, true, false) == Ints{5, 6, 7, 0, 12, 13, 14, 0, 19, 20, 21, 0});
  CHECK(glimpse({2, 2}, 1.7f, 3.2f, true, false) == Ints{35, 0, 0, 0});
  CHECK(glimpse({3, 4}, .3f, -.4f, false, true) == Ints{0, 0, 8, 9, 0, 0, 15, 16, 0, 0, 22, 23});
  CHECK(glimpse({3, 4}, 1, 1, false, true) == Ints(12));
  CHECK(glimpse({3, 4}, -1, 1, false, false) == Ints{0, 0, 0, 0, 2, 3, 4, 5, 9, 10, 11, 12});
  CHECK(glimpse({3, 4}, -1.9f, .5f, false, false) == Ints{0, 0, 0, 0, 1, 2, 3, 4, 8, 9, 10, 11});
  CHECK(glimpse({2, 2}, 1.7f, 3.2f, false, false) == Ints{11, 12, 18, 19});
}
TEST_CASE("extract_glimpse: a window for each image, channels, in a trace; gradients") {
  const Tensor x = concat({picture, 10.f * picture}, 0), two = concat({x, -x}, -1);
  const Tensor offsets = constant({{-1.f, 1.f}, {1.f, 1.f}});
  const image::ExtractGlimpseOptions zero{.noise = GlimpseNoise::zero};
  const Tensor y = image::extract_glimpse(two, {3, 4}, offsets, zero);
  CHECK(cast(y(0, Slice(), Slice(), 0), int32).to_vector<std::int32_t>() == Ints{0, 0, 0, 0, 6, 7, 0, 0, 13, 14, 0, 0});
  CHECK(cast(y(1, Slice(), Slice(), 1), int32).to_vector<std::int32_t>() ==
        Ints{-270, -280, 0, 0, -340, -350, 0, 0, 0, 0, 0, 0});
  const auto f = function(
      [&](const Tensor& t, const Tensor& at) {
        return image::extract_glimpse(t, {3, 4}, at, zero);
      },
      {.input_signature = {{{none, none, none, 2}, float32, {}}, {{none, 2}, float32, {}}}});
  CHECK(f(two, offsets).to_vector<float>() == y.to_vector<float>());
  const Tensor wide = random::stateless_normal({2, 5, 7, 1}, {1, 2}, {.dtype = float64});
  const auto loss = [&](const Tensor& t) {
    return reduce_sum(square(image::extract_glimpse(t, {3, 4}, cast(offsets, float64), zero)));
  };
  CHECK(test::compute_gradient_error(loss, wide, {.delta = 1e-5}) < 1e-6);
}
TEST_CASE("extract_glimpse: noise has the range, the mean and the deviation of the image") {
  const Tensor x = concat({picture, 10.f * picture + 100.f}, -1), corner = constant({{1.f, 1.f}});
  const auto outside = [&](GlimpseNoise noise) {  // [pixels, channels]
    const Tensor y = image::extract_glimpse(x, {200, 200}, corner, {.noise = noise, .seed = 7});
    return reshape(y(0, Slice(110, none)), {-1, 2});
  };
  const auto between = [](const Tensor& t, double low, double high, double close) {
    const double least = reduce_min(t).item<float>(), most = reduce_max(t).item<float>();
    CHECK((least >= low && least < low + close && most <= high && most > high - close));
  };
  const Tensor uniform = outside(GlimpseNoise::uniform), gaussian = outside(GlimpseNoise::gaussian);
  for (i64 c = 0; c < 2; ++c) between(uniform(Slice(), c), 1, 450, 1);  // of the whole image, as in TensorFlow
  CHECK(reduce_mean(uniform).item<float>() == Approx(225.5).margin(5));
  // The normal distribution of the channel, clamped to its values: 1 to 35, 110 to 450.
  between(gaussian(Slice(), 0), 1, 35, 1e-3);
  between(gaussian(Slice(), 1), 110, 450, 1e-3);
  const nn::Moments m = nn::moments(gaussian, 0);
  CHECK(m.mean.at<float>({0}) == Approx(18).margin(.3));
  CHECK(m.mean.at<float>({1}) == Approx(280).margin(3));
  CHECK(std::sqrt(m.variance.at<float>({0})) == Approx(9.27).margin(.2));  // 10.1 before it is clamped
  const auto draw = [&](i64 seed) {
    return image::extract_glimpse(x, {6, 6}, corner, {.seed = seed}).to_vector<float>();
  };
  random::set_seed(1);
  const Floats first = draw(3);
  random::set_seed(1);
  CHECK(draw(3) == first);
  CHECK(draw(4) != first);
}
TEST_CASE("extract_glimpse: errors") {
  const Tensor at = zeros({1, 2});
  CHECK_THROWS_AS(image::extract_glimpse(zeros({5, 7, 1}), {2, 2}, at), InvalidArgumentError);
  CHECK_THROWS_AS(image::extract_glimpse(zeros({1, 5, 7, 1}, int32), {2, 2}, at), InvalidArgumentError);
  CHECK_THROWS_AS(image::extract_glimpse(picture, {0, 2}, at), InvalidArgumentError);
  CHECK_THROWS_AS(image::extract_glimpse(picture, {2, 2}, zeros({2, 2})), InvalidArgumentError);
  CHECK_THROWS_AS(image::extract_glimpse(picture, {2, 2}, zeros({1, 3})), InvalidArgumentError);
}

struct Rectangle {
  i64 y, x, height, width;
};
Rectangle rectangle(const image::DistortedBox& box) {
  const Longs begin = box.begin.to_vector<i64>(), size = box.size.to_vector<i64>();
  CHECK(begin[2] == 0);
  CHECK(size[2] == -1);
  return {begin[0], begin[1], size[0], size[1]};
}

TEST_CASE("sample_distorted_bounding_box: within the image, of an allowed area and ratio, with enough of a box") {
  const i64 height = 120, width = 200;
  const Tensor size = constant({height, width, i64{3}});
  const Tensor boxes = constant({{{.2f, .3f, .5f, .6f}, {.7f, .1f, .9f, .2f}}});  // 24..60 x 60..120, 84..108 x 20..40
  const double pixel[2][4] = {{24, 60, 60, 120}, {84, 20, 108, 40}};
  random::set_seed(2);
  int with[2] = {}, least_y = 1000, most_x = 0;
  for (int draw = 0; draw < 300; ++draw) {
    const image::DistortedBox box = image::sample_distorted_bounding_box(
        size, boxes,
        {.min_object_covered = .5, .aspect_ratio_range = {.5, 2}, .area_range = {.1, .6}, .max_attempts = 500});
    const Rectangle r = rectangle(box);
    REQUIRE(
        (r.y >= 0 && r.x >= 0 && r.height >= 1 && r.width >= 1 && r.y + r.height <= height && r.x + r.width <= width));
    const double area = static_cast<double>(r.height * r.width) / static_cast<double>(height * width);
    CHECK((area >= .1 && area <= .6));
    CHECK(static_cast<double>(r.width) >= static_cast<double>(r.height) * .5 - .5);
    CHECK(static_cast<double>(r.width) <= static_cast<double>(r.height) * 2 + .5);
    bool any = false;
    for (int b = 0; b < 2; ++b) {
      const double h = std::min<double>(static_cast<double>(r.y + r.height), pixel[b][2]) -
                       std::max<double>(static_cast<double>(r.y), pixel[b][0]);
      const double w = std::min<double>(static_cast<double>(r.x + r.width), pixel[b][3]) -
                       std::max<double>(static_cast<double>(r.x), pixel[b][1]);
      const double all = (pixel[b][2] - pixel[b][0]) * (pixel[b][3] - pixel[b][1]);
      const bool covers = std::max(h, 0.) * std::max(w, 0.) >= .5 * all - 60;  // the boxes are float32
      with[b] += covers, any |= covers;
    }
    CHECK(any);
    least_y = std::min(least_y, static_cast<int>(r.y)), most_x = std::max(most_x, static_cast<int>(r.x + r.width));
    const Floats parts = box.bboxes.to_vector<float>();
    CHECK(box.bboxes.shape() == Shape{1, 1, 4});
    CHECK(parts[0] == static_cast<float>(r.y) / 120.f);
    CHECK(parts[3] == Approx(static_cast<double>(r.x + r.width) / 200).epsilon(1e-6));
  }
  CHECK((with[0] > 30 && with[1] > 30));
  CHECK((least_y < 10 && most_x > 190));
}
TEST_CASE("sample_distorted_bounding_box: the whole image where nothing fits; places are evenly spread; seeds") {
  const Tensor size = constant({8, 8, 1}), all = constant({{{0.f, 0.f, 1.f, 1.f}}});
  const Rectangle whole = rectangle(image::sample_distorted_bounding_box(
      size, all, {.min_object_covered = 1, .area_range = {.1, .2}, .max_attempts = 20}));
  CHECK((whole.y == 0 && whole.x == 0 && whole.height == 8 && whole.width == 8));
  const Rectangle tiny = rectangle(image::sample_distorted_bounding_box(
      size, constant({{{.5f, .5f, .51f, .51f}}}), {.area_range = {.1, .2}}));  // smaller than a pixel
  CHECK(tiny.height == 8);
  // Squares of 4 x 4 at 25 places.
  int places[5][5] = {};
  random::set_seed(5);
  for (int draw = 0; draw < 1000; ++draw) {
    const Rectangle r = rectangle(image::sample_distorted_bounding_box(size, zeros({0, 0, 4}),
                                                                       {.min_object_covered = 0,
                                                                        .aspect_ratio_range = {1, 1},
                                                                        .area_range = {.25, .25},
                                                                        .max_attempts = 1,
                                                                        .use_image_if_no_bounding_boxes = true}));
    REQUIRE((r.height == 4 && r.width == 4));
    ++places[r.y][r.x];
  }
  for (const auto& row : places)
    for (const int n : row) CHECK((n > 15 && n < 75));  // 40 are expected
  const auto draw = [&] {
    return image::sample_distorted_bounding_box(constant({100, 80, 3}), all, {.seed = 9}).bboxes.to_vector<float>();
  };
  random::set_seed(1);
  const Floats first = draw(), second = draw();
  random::set_seed(1);
  CHECK(draw() == first);
  CHECK(first != second);
}
TEST_CASE("sample_distorted_bounding_box: in a trace, with a crop of unknown size; errors") {
  const auto f = function(
      [](const Tensor& x, const Tensor& boxes) {
        const image::DistortedBox box = image::sample_distorted_bounding_box(shape(x, {.out_type = int64}), boxes);
        return std::pair(slice(x, Dims(box.begin), Dims(box.size)), box.size);
      },
      {.input_signature = {{{none, none, 1}, float32, {}}, {{1, 1, 4}, float32, {}}}});
  for (const i64 n : {20, 31}) {
    const auto [crop, size] = f(zeros({n, 30, 1}), constant({{{.1f, .1f, .9f, .9f}}}));
    CHECK(crop.shape() == Shape{size.to_vector<i64>()[0], size.to_vector<i64>()[1], 1});
  }
  const Tensor size = constant({8, 8, 1}), all = constant({{{0.f, 0.f, 1.f, 1.f}}});
  const auto fails = [&](const Tensor& s, const Tensor& b, const image::SampleDistortedBoundingBoxOptions& o = {}) {
    return testing::error_of<InvalidArgumentError>([&] { image::sample_distorted_bounding_box(s, b, o); });
  };
  CHECK_THAT(fails(constant({8, 8}), all), ContainsSubstring("image_size [3]"));
  CHECK_THAT(fails(size, zeros({1, 4})), ContainsSubstring("bounding_boxes [1, n, 4]"));
  CHECK_THAT(fails(size, zeros({2, 1, 4})), ContainsSubstring("bounding_boxes [1, n, 4], not"));
  CHECK_THAT(fails(size, 2.5f * all), ContainsSubstring("in [0, 1], but have 2.5"));
  CHECK_THAT(fails(size, zeros({0, 0, 4})), ContainsSubstring("use_image_if_no_bounding_boxes"));
  CHECK_THAT(fails(size, all, {.min_object_covered = 2}), ContainsSubstring("min_object_covered"));
  CHECK_THAT(fails(size, all, {.aspect_ratio_range = {2, 1}}), ContainsSubstring("aspect_ratio_range"));
  CHECK_THAT(fails(size, all, {.area_range = {0, 1}}), ContainsSubstring("area_range"));
  CHECK_THAT(fails(size, all, {.area_range = {.5, 1.5}}), ContainsSubstring("area_range"));
  CHECK_THAT(fails(size, all, {.max_attempts = 0}), ContainsSubstring("max_attempts"));
}

}  // namespace image_glimpse_test
