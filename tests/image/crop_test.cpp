// Crops, pads, flips, turns: every dtype, unknown sizes in a trace, gradients; random places and coins; errors.
#include "tandem/autodiff/check.hpp"
#include "tandem/function.hpp"
#include "tests/image/pictures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/values.hpp"

using namespace tandem;
using namespace pictures;
using errors::InvalidArgumentError;

namespace {

Tensor counted(const Shape& s) { return reshape(range(s.size()), s); }
std::vector<std::int64_t> longs(const Tensor& t) { return cast(t, int64).to_vector<std::int64_t>(); }
using Longs = std::vector<std::int64_t>;
Pixels pixels_of(const Tensor& t) { return t.to_vector<std::uint8_t>(); }

}  // namespace

TEST_CASE("central_crop, crop_to_bounding_box, pad_to_bounding_box: examples") {
  CHECK(pixels_of(image::central_crop(image_i(), .1)) == Pixels{3, 108, 233});
  CHECK(longs(image::central_crop(counted({5, 6, 1}), .5)) == Longs{7, 8, 9, 10, 13, 14, 15, 16, 19, 20, 21, 22});
  CHECK(image::central_crop(counted({2, 5, 6, 1}), .5).shape() == Shape{2, 3, 4, 1});
  CHECK(image::central_crop(image_i(), 1).shape() == Shape{3, 3, 3});
  CHECK(pixels_of(image::crop_to_bounding_box(image_i(), 0, 0, 2, 1)) == Pixels{0, 0, 0, 0, 191, 0});
  const Tensor padded = image::pad_to_bounding_box(image_i(), 0, 0, 4, 4);
  CHECK(padded.shape() == Shape{4, 4, 3});
  CHECK(pixels_of(image::crop_to_bounding_box(padded, 0, 0, 3, 3)) == colors);
  CHECK(reduce_sum(cast(padded, int32)).item<std::int32_t>() ==
        reduce_sum(cast(image_i(), int32)).item<std::int32_t>());
}

TEST_CASE("crops and pads: every dtype, as loops move the elements") {
  for (const DType dtype : testing::moved_dtypes) {
    CAPTURE(name(dtype));
    const Tensor x = testing::numbered({2, 4, 5, 2}, dtype);
    CHECK(testing::misplaced(image::crop_to_bounding_box(x, 1, 2, 3, 2), x, [&](const testing::Index& at) {
            return testing::place(x.shape(), {at[0], at[1] + 1, at[2] + 2, at[3]});
          }) == 0);
    CHECK(testing::misplaced(image::flip_left_right(x), x, [&](const testing::Index& at) {
            return testing::place(x.shape(), {at[0], at[1], 4 - at[2], at[3]});
          }) == 0);
    CHECK(testing::misplaced(image::pad_to_bounding_box(x, 1, 2, 6, 8), x, [&](const testing::Index& at) {
            const i64 y = at[1] - 1, z = at[2] - 2;
            return y < 0 || y >= 4 || z < 0 || z >= 5 ? -1 : testing::place(x.shape(), {at[0], y, z, at[3]});
          }) == 0);
  }
}

TEST_CASE("flips, rot90, transpose: examples, and what undoes them") {
  const Tensor corner = image::crop_to_bounding_box(image_i(), 0, 0, 2, 2);
  CHECK(pixels_of(image::flip_up_down(image::flip_left_right(corner))) ==
        Pixels{3, 108, 233, 0, 191, 0, 255, 255, 255, 0, 0, 0});
  const Tensor x = counted({2, 3, 1});
  CHECK(longs(image::rot90(x)) == Longs{2, 5, 1, 4, 0, 3});
  CHECK(longs(image::rot90(x, 3)) == Longs{3, 0, 4, 1, 5, 2});
  CHECK(longs(image::rot90(x, -1)) == longs(image::rot90(x, 3)));
  CHECK(longs(image::rot90(x, 2)) == Longs{5, 4, 3, 2, 1, 0});
  CHECK(longs(image::rot90(x, 4)) == longs(x));
  CHECK(longs(image::transpose(x)) == Longs{0, 3, 1, 4, 2, 5});
  const Tensor batch = counted({3, 2, 4, 2});
  for (int k = 0; k < 4; ++k) {
    CHECK(longs(image::rot90(image::rot90(batch, k), -k)) == longs(batch));
    CHECK(longs(image::rot90(batch, k)[1]) == longs(image::rot90(batch[1], k)));
  }
  CHECK(longs(image::transpose(batch)[2]) == longs(image::transpose(batch[2])));
}

TEST_CASE("crops, pads, flips: gradients by finite differences") {
  const Tensor x = cast(counted({2, 3, 4, 2}), float64) / 10.;
  const auto error = [&](const auto& f) {
    return test::compute_gradient_error([&](const Tensor& t) { return square(f(t)); }, x, {.delta = 1e-5});
  };
  CHECK(error([](const Tensor& t) { return image::central_crop(t, .5); }) < 1e-6);
  CHECK(error([](const Tensor& t) { return image::pad_to_bounding_box(t, 1, 1, 5, 6); }) < 1e-6);
  CHECK(error([](const Tensor& t) { return image::rot90(t, 1); }) < 1e-6);
  CHECK(error([](const Tensor& t) { return image::resize_with_crop_or_pad(t, 5, 2); }) < 1e-6);
}

TEST_CASE("crops and flips: unknown sizes in a traced function") {
  const auto f = function(
      [](const Tensor& x) {
        return std::vector<Tensor>{image::central_crop(x, .5),
                                   image::crop_to_bounding_box(x, 1, 1, 2, 2),
                                   image::pad_to_bounding_box(x, 1, 2, 9, 9),
                                   image::rot90(x),
                                   image::flip_up_down(x),
                                   image::random_flip_left_right(x),
                                   image::random_crop(x, {2, 2, 3})};
      },
      {.input_signature = {{{none, none, 3}, float32}}});
  for (const Shape& s : {Shape{4, 6, 3}, Shape{5, 3, 3}}) {
    const Tensor x = cast(counted(s), float32);
    const std::vector<Tensor> y = f(x);
    CHECK(longs(y[0]) == longs(image::central_crop(x, .5)));
    CHECK(longs(y[1]) == longs(image::crop_to_bounding_box(x, 1, 1, 2, 2)));
    CHECK(longs(y[2]) == longs(image::pad_to_bounding_box(x, 1, 2, 9, 9)));
    CHECK(longs(y[3]) == longs(image::rot90(x)));
    CHECK(longs(y[4]) == longs(image::flip_up_down(x)));
    CHECK((longs(y[5]) == longs(x) || longs(y[5]) == longs(image::flip_left_right(x))));
    CHECK(y[6].shape() == Shape{2, 2, 3});
  }
  CHECK_THROWS_AS(f(zeros({10, 4, 3})), errors::OpError);  // does not fit into 9 x 9
}

TEST_CASE("random_crop: all places occur, and only those") {
  const Tensor x = counted({3, 4, 1});
  int seen[2][3] = {};
  for (int i = 0; i < 300; ++i) {
    const Longs part = longs(image::random_crop(x, {2, 2, 1}, {.seed = 1}));
    const i64 first = part[0];
    REQUIRE(part == Longs{first, first + 1, first + 4, first + 5});
    ++seen[first / 4][first % 4];
  }
  CHECK(image::random_crop(x, {-1, 2, -1}).shape() == Shape{3, 2, 1});
  for (const auto& row : seen)
    for (const int n : row) CHECK(n > 25);  // 50 are expected
}

TEST_CASE("random_flip: each image of a batch by its own coin") {
  const Tensor x = counted({200, 1, 2, 1});
  for (const bool down : {false, true}) {
    const Tensor t = down ? reshape(x, {200, 2, 1, 1}) : x;
    const Longs y =
        longs(down ? image::random_flip_up_down(t, {.seed = 3}) : image::random_flip_left_right(t, {.seed = 3}));
    int flipped = 0;
    for (i64 i = 0; i < 200; ++i) {
      const i64 first = y[static_cast<std::size_t>(2 * i)];
      REQUIRE((first == 2 * i || first == 2 * i + 1));
      flipped += first != 2 * i;
    }
    CHECK(flipped > 70);
    CHECK(flipped < 130);
  }
}

TEST_CASE("cutout: a square of the value, its center inside of the image") {
  const Tensor y = image::cutout(ones({50, 12, 10, 2}), {4, 3}, -1, {.seed = 2});
  const auto v = y.to_vector<float>();
  bool clipped = false, whole = false;
  for (std::size_t image = 0; image < 50; ++image) {
    int cut = 0;
    for (std::size_t i = 0; i < 240; ++i) cut += v[image * 240 + i] == -1;
    CHECK(cut % 2 == 0);  // both channels
    CHECK(cut >= 2 * 2 * 2);
    CHECK(cut <= 2 * 4 * 3);
    whole |= cut == 2 * 4 * 3, clipped |= cut < 2 * 4 * 3;
  }
  CHECK(whole);
  CHECK(clipped);
  CHECK(image::cutout(image_i(), {1, 1}).dtype() == uint8);
  CHECK_THROWS_AS(image::cutout(image_i(), {0, 1}), InvalidArgumentError);
}

TEST_CASE("crops, pads, flips: wrong operands") {
  const Tensor flat = zeros({4, 4});
  CHECK_THROWS_AS(image::central_crop(flat, .5), InvalidArgumentError);
  CHECK_THROWS_AS(image::central_crop(image_i(), 0), InvalidArgumentError);
  CHECK_THROWS_AS(image::central_crop(image_i(), 1.1), InvalidArgumentError);
  CHECK_THROWS_AS(image::crop_to_bounding_box(image_i(), 0, 0, 4, 3), InvalidArgumentError);
  CHECK_THROWS_AS(image::crop_to_bounding_box(image_i(), -1, 0, 2, 2), InvalidArgumentError);
  CHECK_THROWS_AS(image::crop_to_bounding_box(image_i(), 0, 0, 0, 2), InvalidArgumentError);
  CHECK_THROWS_AS(image::pad_to_bounding_box(image_i(), 0, 1, 3, 3), InvalidArgumentError);
  CHECK_THROWS_AS(image::pad_to_bounding_box(image_i(), -1, 0, 4, 4), InvalidArgumentError);
  CHECK_THROWS_AS(image::flip_left_right(flat), InvalidArgumentError);
  CHECK_THROWS_AS(image::rot90(flat), InvalidArgumentError);
  CHECK_THROWS_AS(image::transpose(flat), InvalidArgumentError);
  CHECK_THROWS_AS(image::random_flip_up_down(flat), InvalidArgumentError);
  CHECK_THROWS_AS(image::random_crop(image_i(), {4, 1, 3}), InvalidArgumentError);
  CHECK_THROWS_AS(image::random_crop(image_i(), {1, 1}), InvalidArgumentError);
  CHECK_THROWS_AS(image::random_crop(image_i(), {1, -2, 3}), InvalidArgumentError);
}
