// Colors and adjustments against TensorFlow's values; integers never wrap around; gradients; random amounts; errors.
#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/function.hpp"
#include "tests/image/pictures.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using namespace pictures;
using errors::InvalidArgumentError;
using testing::error_of;

namespace {

Tensor floats() { return image::convert_image_dtype(image_i(), float32); }
Pixels pixels_of(const Tensor& t) { return t.to_vector<std::uint8_t>(); }
void check_close(const Tensor& t, const Floats& expected, double atol = 2e-6) {
  test::assert_all_close(t, constant(expected, {.shape = t.shape()}), {.rtol = 1e-5, .atol = atol});
}
// Colors whose channels differ, so that hue and saturation are smooth there.
Tensor distinct(DType dtype = float64) {
  return constant(std::vector<double>{.1, .5, .9, .7, .2, .4, .35, .8, .6, .95, .45, .15},
                  {.dtype = dtype, .shape = {2, 2, 3}});
}

}  // namespace

TEST_CASE("adjust_contrast, hue, saturation, gamma, brightness: TensorFlow's pixels") {
  CHECK(pixels_of(image::adjust_contrast(image_i(), -.5)) == Pixels{170, 166, 124, 42,  39,  0, 43,  166, 124,
                                                                    170, 71,  124, 168, 112, 7, 170, 71,  124,
                                                                    43,  166, 124, 42,  39,  0, 170, 166, 124});
  CHECK(pixels_of(image::adjust_hue(image_i(), .7)) == Pixels{0,   0,  0,   255, 255, 255, 50,  0,  254,
                                                              191, 38, 0,   62,  233, 3,   191, 38, 0,
                                                              50,  0,  254, 255, 255, 255, 0,   0,  0});
  CHECK(pixels_of(image::adjust_saturation(image_i(), .4)) == Pixels{0,   0,   0,   255, 255, 255, 254, 152, 152,
                                                                     114, 191, 114, 141, 183, 233, 114, 191, 114,
                                                                     254, 152, 152, 255, 255, 255, 0,   0,   0});
  CHECK(pixels_of(image::adjust_gamma(image_i(), 2, .9)) ==
        Pixels{0, 0, 0, 229, 229, 229, 228, 0, 0, 0, 129, 0, 0, 41, 191, 0, 129, 0, 228, 0, 0, 229, 229, 229, 0, 0, 0});
  CHECK(pixels_of(image::adjust_brightness(image_i(), .2)) == Pixels{51,  51,  51, 255, 255, 255, 255, 51,  51,
                                                                     51,  242, 51, 54,  159, 255, 51,  242, 51,
                                                                     255, 51,  51, 255, 255, 255, 51,  51,  51});
  CHECK(pixels_of(image::adjust_brightness(image_i(), -.2)) ==
        Pixels{0, 0, 0, 204, 204, 204, 203, 0, 0, 0, 140, 0, 0, 57, 182, 0, 140, 0, 203, 0, 0, 204, 204, 204, 0, 0, 0});
  check_close(image::adjust_brightness(constant({254.f, 2.f, 15.f}), .2), {254.2f, 2.2f, 15.2f});
  CHECK(pixels_of(image::adjust_brightness(constant({254, 2, 15}, {.dtype = uint8}), .2)) == Pixels{255, 53, 66});
}

TEST_CASE("adjust_hue: negative channels keep their range, as in TensorFlow") {
  const Tensor x = constant({-.3f, .2f, .5f, -.9f, -.2f, -.5f, -.1f, -.7f, 0.f, .4f, -.3f, -.3f}, {.shape = {4, 3}});
  check_close(image::adjust_hue(x, .3), {.5f, -.3f, .36f, -.64f, -.9f, -.2f, 0, -.24f, -.7f, -.16f, .4f, -.3f});
  check_close(image::adjust_hue(x, -.4), {.5f, .48f, -.3f, -.2f, -.78f, -.9f, -.7f, 0, -.38f, -.3f, -.02f, .4f});
  const Tensor integers = constant({-3000, 20000, 100, -5, -30000, -200}, {.dtype = int16, .shape = {2, 3}});
  const auto y = image::adjust_hue(integers, .3).to_vector<std::int16_t>();
  const std::int16_t expected[] = {-3000, -1500, 20000, -5, -5809, -30000};
  for (std::size_t i = 0; i < 6; ++i) CHECK(std::abs(y[i] - expected[i]) <= 2);
  const auto f = [](const Tensor& t) { return image::adjust_hue(t, .3); };
  CHECK(test::compute_gradient_error(f, cast(x(Slice(none, 3)), float64), {.delta = 1e-5}) < 1e-7);
}

TEST_CASE("rgb_to_grayscale, rgb_to_hsv, YIQ, YUV: TensorFlow's values") {
  CHECK(pixels_of(image::rgb_to_grayscale(image_i())) == Pixels{0, 255, 76, 112, 91, 112, 76, 255, 0});
  check_close(image::rgb_to_hsv(floats()),
              {0,           0, 0,           0,           0,           1,           0,           1, 0.99607849f,
               0.33333334f, 1, 0.74901962f, 0.59057975f, 0.98712444f, 0.91372555f, 0.33333334f, 1, 0.74901962f,
               0,           1, 0.99607849f, 0,           0,           1,           0,           0, 0},
              1e-7);
  check_close(image::rgb_to_yiq(floats())[1], {0.43967453f, -0.20564833f, -0.39153966f, 0.35629416f, -0.40289241f,
                                               0.065445051f, 0.43967453f, -0.20564833f, -0.39153966f});
  check_close(image::rgb_to_yuv(floats())[1], {0.43967453f, -0.21636868f, -0.38571897f, 0.35629416f, 0.27431813f,
                                               -0.30224982f, 0.43967453f, -0.21636868f, -0.38571897f});
  check_close(image::yiq_to_rgb(floats())[1], {0.71605253f, -0.20374295f, -0.82897013f, 0.98391658f, -0.69480777f,
                                               1.1002266f, 0.71605253f, -0.20374295f, -0.82897013f});
  check_close(image::yuv_to_rgb(floats())[1],
              {0, -0.29559484f, 1.5220542f, 1.053305f, -0.68590695f, 0.87240273f, 0, -0.29559484f, 1.5220542f});
  check_close(image::hsv_to_rgb(image::rgb_to_hsv(floats())), floats().to_vector<float>());
  check_close(image::yiq_to_rgb(image::rgb_to_yiq(floats())), floats().to_vector<float>(), 1e-4);
  check_close(image::rgb_to_yiq(constant({1.f, 0.f, 0.f})), {.299f, .59590059f, .2115f}, 1e-7);
  check_close(image::yuv_to_rgb(image::rgb_to_yuv(floats())), floats().to_vector<float>(), 1e-5);
  CHECK(pixels_of(image::grayscale_to_rgb(constant({7, 9}, {.dtype = uint8, .shape = {1, 2, 1}}))) ==
        Pixels{7, 7, 7, 9, 9, 9});
}

TEST_CASE("rgb_to_lab: the values of CIE 1976 for sRGB and D65, and back") {
  const Tensor rgb = constant({{1.f, 1.f, 1.f}, {0.f, 0.f, 0.f}, {1.f, 0.f, 0.f}, {0.f, 1.f, 0.f}, {0.f, 0.f, 1.f}});
  check_close(
      image::rgb_to_lab(rgb),
      {100, 0, 0, 0, 0, 0, 53.2408f, 80.0925f, 67.2032f, 87.7347f, -86.1827f, 83.1793f, 32.2970f, 79.1875f, -107.8602f},
      1e-2);
  const Tensor colors = random::stateless_uniform({7, 5, 3}, {1, 2}), dark = colors * 0.05f;
  for (const Tensor& x : {colors, dark})
    check_close(image::lab_to_rgb(image::rgb_to_lab(x)), x.to_vector<float>(), 1e-4);
  CHECK(image::rgb_to_lab(cast(colors, bfloat16)).dtype() == bfloat16);
  check_close(cast(image::rgb_to_lab(cast(rgb, float16)), float32), image::rgb_to_lab(rgb).to_vector<float>(), 0.05);
  const auto to = [](const auto& x) { return image::rgb_to_lab(x[0]); };
  const auto from = [](const auto& x) { return image::lab_to_rgb(x[0]); };
  for (const Tensor& x : {colors, dark}) {
    const Tensor wide = cast(x, float64);
    CHECK(test::compute_gradient_error(to, {wide}, {.delta = 1e-6}) < 1e-4);
    CHECK(test::compute_gradient_error(from, {image::rgb_to_lab(wide)}, {.delta = 1e-6}) < 1e-6);
  }
}

TEST_CASE("convert_image_dtype: scaled, clamped, by powers of 2") {
  check_close(image::convert_image_dtype(constant({0, 3, 255}, {.dtype = uint8}), float32), {0, 0.011764707f, 1}, 1e-9);
  CHECK(pixels_of(image::convert_image_dtype(constant({-.1f, 0.f, .5f, .999f, 1.f, 1.5f}), uint8)) ==
        Pixels{0, 0, 127, 255, 255, 255});
  CHECK(image::convert_image_dtype(image_i()[1], uint16).to_vector<std::uint16_t>() ==
        std::vector<std::uint16_t>{0, 48896, 0, 768, 27648, 59648, 0, 48896, 0});
  CHECK(pixels_of(image::convert_image_dtype(constant({0, 1000, 65535}, {.dtype = uint16}), uint8)) ==
        Pixels{0, 3, 255});
  CHECK(image::convert_image_dtype(constant({3, 255}, {.dtype = uint8}), int32).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{25165824, 2139095040});
  for (const DType d : {int8, int16, int32, int64, uint8, uint16, uint32, uint64}) {
    CAPTURE(name(d));
    const Tensor back =
        image::convert_image_dtype(image::convert_image_dtype(constant({0.f, 1.f, 2.f, -1.f}), d), float32);
    CHECK(back.at<float>({0}) == 0);
    CHECK(back.at<float>({1}) == Catch::Approx(1));
    CHECK(back.at<float>({2}) == Catch::Approx(1));
  }
  CHECK(image::convert_image_dtype(image_i(), float16).dtype() == float16);
  for (const DType half : {float16, bfloat16}) {
    const Tensor f = cast(constant({0.f, .25f, .5f, 1.f}), half);
    CHECK(image::convert_image_dtype(f, uint16).to_vector<std::uint16_t>() ==
          std::vector<std::uint16_t>{0, 16383, 32767, 65535});
    CHECK(image::convert_image_dtype(f, int32).to_vector<std::int32_t>() ==
          std::vector<std::int32_t>{0, 536870912, 1073741824, 2147483647});
    CHECK(cast(image::convert_image_dtype(constant({0, 65535}, {.dtype = uint16}), half), float32).to_vector<float>() ==
          Floats{0, 1});
  }
  CHECK_THROWS_AS(image::convert_image_dtype(constant({true}), float32), InvalidArgumentError);
  CHECK_THROWS_AS(image::convert_image_dtype(image_i(), bool_), InvalidArgumentError);
}

TEST_CASE("per_image_standardization") {
  check_close(image::per_image_standardization(image_i()),
              {-0.86846274f, -0.86846274f, -0.86846274f, 1.294839f,    1.294839f,    1.294839f,    1.2863555f,
               -0.86846274f, -0.86846274f, -0.86846274f, 0.75189269f,  -0.86846274f, -0.84301209f, 0.047759179f,
               1.1082013f,   -0.86846274f, 0.75189269f,  -0.86846274f, 1.2863555f,   -0.86846274f, -0.86846274f,
               1.294839f,    1.294839f,    1.294839f,    -0.86846274f, -0.86846274f, -0.86846274f});
  check_close(image::per_image_standardization(fill({2, 2, 1}, 7.f)), {0, 0, 0, 0});
}

TEST_CASE("colors and adjustments: gradients by finite differences") {
  const auto error = [](const auto& f) { return test::compute_gradient_error(f, distinct(), {.delta = 1e-5}); };
  CHECK(error([](const Tensor& x) { return image::rgb_to_grayscale(x); }) < 1e-8);
  CHECK(error([](const Tensor& x) { return image::rgb_to_hsv(x); }) < 1e-7);
  CHECK(error([](const Tensor& x) { return image::hsv_to_rgb(x); }) < 1e-7);
  CHECK(error([](const Tensor& x) { return image::rgb_to_yiq(x); }) < 1e-8);
  CHECK(error([](const Tensor& x) { return image::yuv_to_rgb(x); }) < 1e-8);
  CHECK(error([](const Tensor& x) { return image::adjust_contrast(x, 1.7); }) < 1e-8);
  CHECK(error([](const Tensor& x) { return image::adjust_hue(x, .12); }) < 1e-7);
  CHECK(error([](const Tensor& x) { return image::adjust_saturation(x, .6); }) < 1e-7);
  CHECK(error([](const Tensor& x) { return image::adjust_gamma(x, 1.4, .8); }) < 1e-7);
  CHECK(error([](const Tensor& x) { return image::per_image_standardization(x); }) < 1e-7);
  GradientTape tape;
  const Tensor gray = fill({1, 2, 3}, 0.5f);
  tape.watch(gray);
  const Tensor y = reduce_sum(image::rgb_to_hsv(gray));
  for (const float g : tape.gradient(y, gray).to_vector<float>()) CHECK(std::isfinite(g));
}

TEST_CASE("adjustments: the same in a traced function") {
  const auto f = function([](const Tensor& x) {
    return std::vector<Tensor>{image::adjust_hue(x, .7), image::adjust_contrast(x, -.5), image::rgb_to_grayscale(x),
                               image::per_image_standardization(x)};
  });
  const std::vector<Tensor> y = f(image_i());
  CHECK(pixels_of(y[0]) == pixels_of(image::adjust_hue(image_i(), .7)));
  CHECK(pixels_of(y[1]) == pixels_of(image::adjust_contrast(image_i(), -.5)));
  CHECK(pixels_of(y[2]) == pixels_of(image::rgb_to_grayscale(image_i())));
  check_close(y[3], image::per_image_standardization(image_i()).to_vector<float>());
}

TEST_CASE("random_brightness, contrast, hue, saturation: amounts lie between their bounds and change") {
  const Tensor gray = fill({1, 1, 1}, 0.5f), two = constant({0.f, 1.f}, {.shape = {1, 2, 1}});
  double lowest = 1, highest = -1;
  for (int i = 0; i < 200; ++i) {
    const double delta = static_cast<double>(image::random_brightness(gray, .2, {.seed = 5}).item<float>()) - .5;
    const float spread = image::random_contrast(two, .5, 1.5, {.seed = 6}).at<float>({0, 1, 0}) - .5f;
    CHECK(std::abs(delta) <= .2);
    CHECK(spread >= .2499f);
    CHECK(spread <= .7501f);
    lowest = std::min(lowest, delta), highest = std::max(highest, delta);
  }
  CHECK(lowest < -.15);
  CHECK(highest > .15);
  const auto twice = [](const auto& f) {
    random::set_seed(3);
    const Tensor a = f(), b = f();
    random::set_seed(3);
    CHECK(a.to_vector<float>() == f().template to_vector<float>());
    CHECK(a.to_vector<float>() != b.to_vector<float>());
  };
  twice([] { return image::random_hue(floats(), .3, {.seed = 1}); });
  twice([] { return image::random_saturation(floats(), .2, .8, {.seed = 1}); });
  CHECK(image::random_brightness(gray, 0).item<float>() == .5f);
  check_close(image::random_hue(floats(), 0), floats().to_vector<float>());
  const random::Generator generator(4);
  CHECK(image::random_hue(image_i(), .1, {.generator = &generator}).dtype() == uint8);
}

TEST_CASE("adjust_jpeg_quality, random_jpeg_quality: noise that grows as the quality falls") {
  const Tensor x = smooth(40, 40, 3);
  const double low = psnr(x, image::adjust_jpeg_quality(x, 10)), high = psnr(x, image::adjust_jpeg_quality(x, 95));
  CHECK(low < high);
  CHECK(high > 40);
  const Tensor f = image::adjust_jpeg_quality(image::convert_image_dtype(x, float32), 95);
  CHECK(f.spec() == Spec{Shape{40, 40, 3}, float32, {}});
  const double some = psnr(x, image::random_jpeg_quality(x, 10, 95, {.seed = 2}));
  CHECK(some >= low - 1);
  CHECK(some <= high + 1);
  CHECK_THROWS_AS(image::adjust_jpeg_quality(x, 101), InvalidArgumentError);
  CHECK_THROWS_AS(image::random_jpeg_quality(x, 50, 50), InvalidArgumentError);
}

TEST_CASE("colors and adjustments: wrong operands") {
  const Tensor two = zeros({2, 2, 2});
  CHECK_THROWS_AS(image::rgb_to_grayscale(two), InvalidArgumentError);
  CHECK_THROWS_AS(image::grayscale_to_rgb(two), InvalidArgumentError);
  CHECK_THROWS_AS(image::rgb_to_hsv(two), InvalidArgumentError);
  CHECK_THROWS_AS(image::rgb_to_yuv(zeros({})), InvalidArgumentError);
  CHECK_THAT(error_of([] { image::rgb_to_hsv(image_i()); }), ContainsSubstring("convert_image_dtype"));
  CHECK_THROWS_AS(image::adjust_contrast(zeros({2, 2}), 2), InvalidArgumentError);
  CHECK_THROWS_AS(image::adjust_hue(image_i(), 1.5), InvalidArgumentError);
  CHECK_THROWS_AS(image::adjust_saturation(image_i(), -1), InvalidArgumentError);
  CHECK_THROWS_AS(image::adjust_gamma(image_i(), -1), InvalidArgumentError);
  CHECK_THROWS_AS(image::adjust_brightness(constant({true}), .1), InvalidArgumentError);
  CHECK_THROWS_AS(image::random_brightness(image_i(), -.1), InvalidArgumentError);
  CHECK_THROWS_AS(image::random_hue(image_i(), -.1), InvalidArgumentError);
  CHECK_THROWS_AS(image::random_contrast(image_i(), 1, .5), InvalidArgumentError);
  CHECK_THROWS_AS(image::random_saturation(image_i(), -1, .5), InvalidArgumentError);
  CHECK_THROWS_AS(image::random_hue(image_i(), .6), InvalidArgumentError);
  CHECK_THROWS_AS(image::per_image_standardization(zeros({2, 2})), InvalidArgumentError);
}
