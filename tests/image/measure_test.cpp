// Edges, differences, and measures of similarity against TensorFlow's values; gradients; errors.
#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/function.hpp"
#include "tests/image/pictures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using namespace pictures;
using errors::InvalidArgumentError;

namespace {

Tensor floats() { return image::convert_image_dtype(image_i(), float32); }
void check_close(const Tensor& t, const Floats& expected, double atol = 2e-6) {
  test::assert_all_close(t, constant(expected, {.shape = t.shape()}), {.rtol = 1e-4, .atol = atol});
}
// Two patterns that resemble each other.
Tensor pattern(i64 step, i64 division) {
  Pixels p;
  for (i64 y = 0; y < 40; ++y)
    for (i64 x = 0; x < 44; ++x)
      for (i64 c = 0; c < 2; ++c)
        p.push_back(static_cast<std::uint8_t>((y * 37 + x * step + c * 23 + y * x / division) % 256));
  return constant(p, {.shape = {40, 44, 2}});
}

}  // namespace

TEST_CASE("sobel_edges, image_gradients, total_variation: TensorFlow's values") {
  Floats squares;
  for (int i = 0; i < 35; ++i) squares.push_back(static_cast<float>(i * i % 23));
  check_close(
      image::sobel_edges(constant(squares, {.shape = {1, 5, 7, 1}})),
      {0,  0,  0,  26, 0,   -4, 0,   12,  0,   -18, 0,   -2, 0,  0,  58, 0,  45, 13, 19,  -17, -7,  -1,  -10, -8,
       10, 8,  20, 0,  -32, 0,  -45, -13, -48, -20, -28, -4, -8, 12, 12, 28, 22, 0,  -30, 0,   -20, -16, 0,   0,
       20, 16, 17, 9,  -9,  25, -22, 0,   0,   0,   0,   -6, 0,  10, 0,  26, 0,  -4, 0,   12,  0,   0});
  CHECK(image::sobel_edges(constant(squares, {.shape = {5, 7, 1}})).shape() == Shape{5, 7, 1, 2});
  const auto [dy, dx] = image::image_gradients(expand_dims(floats(), 0));
  check_close(dy(0, Slice(), Slice(), 1),
              {0.74901962f, -0.57647055f, 0.74901962f, -0.74901962f, 0.57647055f, -0.74901962f, 0, 0, 0});
  check_close(dx(0, Slice(), Slice(), 1), {1, -1, 0, -0.32549018f, 0.32549018f, 0, 1, -1, 0});
  CHECK(image::total_variation(floats()).item<float>() == Catch::Approx(20.799999f));
  CHECK(image::total_variation(cast(image_i(), int32)).item<std::int32_t>() == 5304);
  CHECK(image::total_variation(stack({floats(), floats() * 2})).shape() == Shape{2});
}

TEST_CASE("total_variation, image_gradients: integers in which differences overflow are refused") {
  const Tensor row = constant({1, 0, 5, 2}, {.shape = {1, 1, 4, 1}});
  for (const DType dtype : {int32, int64, float16, bfloat16, float32, float64}) {
    const Tensor x = cast(row, dtype), sum = image::total_variation(x);
    CHECK(sum.dtype() == dtype);
    CHECK(cast(sum, float64).to_vector<double>() == std::vector<double>{9});
    CHECK(cast(image::image_gradients(x).dx, float64).to_vector<double>() == std::vector<double>{-1, 5, -3, 0});
  }
  for (const DType dtype : {uint8, uint16, uint32, uint64, int8, int16}) {
    const Tensor x = cast(row, dtype);
    const auto message = testing::error_of<InvalidArgumentError>([&] { image::total_variation(x); });
    CHECK_THAT(message, ContainsSubstring("total_variation: differences of pixels may not fit into the dtype of x"));
    CHECK_THAT(message, ContainsSubstring("cast(x, float32)"));
    CHECK_THROWS_AS(image::image_gradients(x), InvalidArgumentError);
  }
}

TEST_CASE("psnr, ssim, ssim_multiscale: TensorFlow's values") {
  const Tensor a = pattern(11, 1), b = pattern(13, 2), darker = cast(floordiv(cast(a, int32) * 9, 10), uint8);
  CHECK(image::psnr(a, b, 255).item<float>() == Catch::Approx(8.3037691f));
  check_close(image::ssim(a, b, 255), {0.00080832699f});
  check_close(image::ssim(a, b, 255, {.filter_size = 7, .filter_sigma = 1, .k1 = .02, .k2 = .05}), {0.09416347f});
  check_close(image::ssim_multiscale(a, darker, 255, {.power_factors = {.4, .6}}), {0.99099326f});
  check_close(image::ssim_multiscale(a, darker, 255, {.power_factors = {.2, .3, .5}, .filter_size = 5}), {0.99230188f});
  CHECK(image::psnr(a, a, 255).item<float>() == INFINITY);
  CHECK(image::ssim(a, a, 255).item<float>() == Catch::Approx(1));
  CHECK(image::ssim(stack({a, b}), stack({b, a}), 255).shape() == Shape{2});
}

TEST_CASE("measures: gradients by finite differences, and in a traced function") {
  const Tensor a = image::convert_image_dtype(smooth(13, 12, 2), float64), b = reverse(a, 0) * .9, darker = a * .8;
  const auto x = [](const Tensor& t) { return slice_by(t, {Slice(none, 4), Slice(none, 5), Slice()}); };
  const auto error = [](const auto& f, const Tensor& at) {
    return test::compute_gradient_error(f, at, {.delta = 1e-5});
  };
  CHECK(error([](const Tensor& t) { return image::sobel_edges(t); }, x(a)) < 1e-6);
  CHECK(error([](const Tensor& t) { return image::total_variation(t); }, x(a)) < 1e-6);
  CHECK(error([&](const Tensor& t) { return image::psnr(t, x(b), 1); }, x(a)) < 1e-5);
  CHECK(error([&](const Tensor& t) { return image::ssim(t, b, 1); }, a) < 1e-6);
  CHECK(error(
            [&](const Tensor& t) {
              return image::ssim_multiscale(t, darker, 1, {.power_factors = {.5, .5}, .filter_size = 5});
            },
            a) < 1e-6);
  const auto f = function([](const Tensor& s, const Tensor& t) { return image::ssim(s, t, 1); });
  CHECK(f(a, b).item<double>() == Catch::Approx(image::ssim(a, b, 1).item<double>()));
}

TEST_CASE("measures: wrong operands") {
  const Tensor x = zeros({12, 12, 1});
  CHECK_THROWS_AS(image::sobel_edges(image_i()), InvalidArgumentError);
  CHECK_THROWS_AS(image::sobel_edges(zeros({1, 4, 1})), errors::OpError);
  CHECK_THROWS_AS(image::image_gradients(x), InvalidArgumentError);
  CHECK_THROWS_AS(image::total_variation(zeros({2, 2})), InvalidArgumentError);
  CHECK_THROWS_AS(image::psnr(x, zeros({12, 11, 1}), 1), InvalidArgumentError);
  CHECK_THROWS_AS(image::psnr(x, cast(x, uint8), 1), InvalidArgumentError);
  CHECK_THROWS_AS(image::psnr(x, x, 0), InvalidArgumentError);
  CHECK_THROWS_AS(image::ssim(zeros({10, 12, 1}), zeros({10, 12, 1}), 1), InvalidArgumentError);
  CHECK_THROWS_AS(image::ssim(x, x, 1, {.filter_size = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(image::ssim_multiscale(x, x, 1), InvalidArgumentError);  // the second scale has 6 x 6 pixels
  CHECK_THROWS_AS(image::ssim_multiscale(x, x, 1, {.power_factors = {}}), InvalidArgumentError);
}
