// Transforms against TensorFlow's values, rotation, grid_sample against loops; gradients; errors.
#include <cmath>
#include <numbers>

#include "tandem/autodiff/check.hpp"
#include "tandem/function.hpp"
#include "tests/image/pictures.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using namespace pictures;
using errors::InvalidArgumentError;
using image::FillMode;
using image::Sampling;

namespace {

Tensor squares(DType dtype = float32) {
  Pixels p;
  for (int i = 0; i < 35; ++i) p.push_back(static_cast<std::uint8_t>(i * i % 23));
  return cast(constant(p, {.shape = {5, 7, 1}}), dtype);
}
const Floats bent{1.2f, .1f, -.7f, -.2f, .9f, .6f, .01f, -.02f};
void check_close(const Tensor& t, const Floats& expected, double atol = 2e-4) {
  test::assert_all_close(t, constant(expected, {.shape = t.shape()}), {.rtol = 1e-5, .atol = atol});
}

}  // namespace

TEST_CASE("projective_transform: TensorFlow's values, for every mode") {
  struct Case {
    FillMode mode;
    Sampling sampling;
    Floats values;
  };
  const Case cases[] = {
      {FillMode::constant,
       Sampling::bilinear,
       {0.88999999f, 4.4279981f, 5.1568632f,  8.0776711f, 12.69305f,  1.7528365f, 5.2080765f, 0.5f, 0.5f,
        3.3211164f,  13.201102f, 12.48f,      8.1986074f, 8.6205273f, 5.5512319f, 7.7300258f, 0.5f, 0.5f,
        4.0937486f,  12.444686f, 3.7609324f,  10.861339f, 6.1200018f, 9.2040977f, 3.8114157f, 0.5f, 0.5f,
        1.923948f,   4.049861f,  0.17013776f, 3.5886929f, 7.5302024f, 12.112537f, 2.3399937f, 0.5f, 0.5f}},
      {FillMode::constant, Sampling::nearest, {0.5f, 0,    4,    9,  16,   2,    0.5f, 0.5f, 0.5f, 0.5f, 18,   12,
                                               8,    6,    2,    13, 0.5f, 0.5f, 0.5f, 18,   3,    13,   2,    6,
                                               0.5f, 0.5f, 0.5f, 2,  1,    0,    1,    4,    9,    0.5f, 0.5f, 0.5f}},
      {FillMode::nearest,
       Sampling::bilinear,
       {1.8000001f, 4.4279981f, 5.1568632f,  8.0776711f, 15.596157f, 2.5238128f, 13,         13,         13,
        7.7755098f, 13.201102f, 12.48f,      8.1986074f, 8.6205273f, 5.5512319f, 11.557692f, 12.523809f, 13,
        7.9999981f, 12.444686f, 3.7609324f,  10.861339f, 6.1200018f, 9.2040977f, 8.1764708f, 8.1456308f, 9.1538467f,
        2.978724f,  4.049861f,  0.17013776f, 3.5886929f, 7.5302024f, 12.112537f, 9.6999989f, 8.8811874f, 8.666666f}},
      {FillMode::nearest, Sampling::nearest, {3, 0,  4, 9,  16, 2, 13, 13, 13, 12, 18, 12, 8, 6, 2, 13, 13, 13,
                                              4, 18, 3, 13, 2,  6, 8,  8,  8,  2,  1,  0,  1, 4, 9, 9,  9,  9}},
      {FillMode::reflect,
       Sampling::bilinear,
       {1.8000001f, 4.4279981f, 5.1568632f,  8.0776711f, 15.596157f, 2.5238128f, 13,         10.841119f, 5.3703709f,
        7.7755098f, 13.201102f, 12.48f,      8.1986074f, 8.6205273f, 5.5512319f, 11.557692f, 8.1768579f, 8.8679409f,
        7.9999981f, 12.444686f, 3.7609324f,  10.861339f, 6.1200018f, 9.2040977f, 8.1764708f, 6.6302176f, 7.5000029f,
        2.978724f,  4.049861f,  0.17013776f, 3.5886929f, 7.5302024f, 12.112537f, 9.6999989f, 14.342128f, 3.490202f}},
      {FillMode::reflect, Sampling::nearest, {3, 0,  4, 9,  16, 2, 13, 13, 2, 12, 18, 12, 8, 6, 2, 13, 13, 2,
                                              4, 18, 3, 13, 2,  6, 8,  6,  6, 2,  1,  0,  1, 4, 9, 9,  16, 2}},
      {FillMode::wrap,
       Sampling::bilinear,
       {10,         4.4279981f, 5.1568632f,  8.0776711f, 12.346151f, 7.9047613f, 2,           4.1588807f, 10.592592f,
        8.530612f,  13.201102f, 12.48f,      8.1986074f, 8.6205273f, 5.5512319f, 0.86538452f, 1.2857174f, 8.0943279f,
        12.500002f, 12.444686f, 3.7609324f,  10.861339f, 6.1200018f, 9.2040977f, 4.5882349f,  12.688014f, 11.134611f,
        10.89362f,  4.049861f,  0.17013776f, 3.5886929f, 7.5302024f, 12.112537f, 11.200001f,  17.440062f, 6.1045799f}},
      {FillMode::wrap, Sampling::nearest, {8,  0,  4, 9,  12, 8, 2, 2,  13, 9, 18, 12, 8, 6, 2, 0,  0,  13,
                                           16, 18, 3, 13, 2,  6, 3, 18, 12, 6, 1,  0,  1, 4, 9, 12, 18, 3}},
  };
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.mode), static_cast<int>(c.sampling));
    const image::TransformOptions o{
        .interpolation = c.sampling, .fill_mode = c.mode, .fill_value = .5, .output_size = image::Size{4, 9}};
    const Tensor y = image::projective_transform(squares(), constant(bent), o);
    CHECK(y.shape() == Shape{4, 9, 1});
    check_close(y, c.values);
    const Tensor batch = image::projective_transform(stack({squares(), squares() * 2}), constant(bent), o);
    check_close(batch[0], c.values);
    CHECK(image::projective_transform(squares(uint8), constant(bent), o).dtype() == uint8);
  }
}

TEST_CASE("affine_transform: Keras's values; one transform for each image") {
  const Tensor t = constant({1.2f, .1f, -.7f, -.2f, .9f, .6f});
  check_close(
      image::affine_transform(squares(), t),
      {0.54000002f, 4.500001f,  5.2399998f, 8.5f,       11.679996f, 3.1800015f,  2.5999973f, 3,          13.080001f,
       12.48f,      8.1000004f, 8.1599989f, 6.6000004f, 4.5999956f, 4.3999996f,  13.340003f, 4.4999986f, 11.079998f,
       6.1200018f,  9.1999998f, 2.4599977f, 2.0400004f, 2.519999f,  0.30000114f, 4.3600016f, 6.8000054f, 12.219998f,
       1.9399934f,  1.1200004f, 11.900001f, 3.6200001f, 10.48f,     7.9000006f,  12.440002f, 1.5999908f});
  const Tensor same = constant({1.f, 0.f, 0.f, 0.f, 1.f, 0.f}), down = constant({1.f, 0.f, 0.f, 0.f, 1.f, -1.f});
  const Tensor y = image::affine_transform(stack({squares(), squares()}), stack({same, down}));
  check_close(y[0], squares().to_vector<float>());
  check_close(y(1, Slice(1, none)), squares()(Slice(none, -1)).to_vector<float>());
}

TEST_CASE("rotate: quarter turns are those of rot90, a full turn changes nothing") {
  const Tensor x = smooth(6, 6, 2), f = image::convert_image_dtype(x, float32);
  const double quarter = std::numbers::pi / 2;
  for (int k = 0; k < 5; ++k)
    check_close(image::rotate(f, k * quarter, {.fill_mode = FillMode::nearest}), image::rot90(f, k).to_vector<float>(),
                1e-5);
  CHECK(image::rotate(x, quarter, {.fill_mode = FillMode::nearest}).to_vector<std::uint8_t>() ==
        image::rot90(x).to_vector<std::uint8_t>());
  const Tensor both =
      image::rotate(stack({f, f}), constant({0.f, static_cast<float>(2 * quarter)}), {.fill_mode = FillMode::nearest});
  check_close(both[1], image::rot90(f, 2).to_vector<float>(), 1e-5);
  const auto traced = function([](const Tensor& t) { return image::rotate(t, .3, {.fill_mode = FillMode::reflect}); });
  check_close(traced(f), image::rotate(f, .3, {.fill_mode = FillMode::reflect}).to_vector<float>(), 1e-6);
}

TEST_CASE("grid_sample: against a loop, with aligned corners or not") {
  const Tensor x = stack({squares(float64), squares(float64) * 2.});
  const std::vector<double> points{-1, -1, 1, 1, .3, -.7, -.2, .45, 1.2, .1, 0, -1.4};
  const Tensor grid = constant(points, {.dtype = float64, .shape = {2, 1, 3, 2}});
  for (const bool align : {false, true}) {
    const Tensor y = image::grid_sample(x, grid, {.align_corners = align});
    REQUIRE(y.shape() == Shape{2, 1, 3, 1});
    for (i64 k = 0; k < 6; ++k) {
      const double px = points[static_cast<std::size_t>(2 * k)], py = points[static_cast<std::size_t>(2 * k + 1)];
      const double u = align ? (px + 1) / 2 * 6 : ((px + 1) * 7 - 1) / 2,
                   v = align ? (py + 1) / 2 * 4 : ((py + 1) * 5 - 1) / 2;
      double expected = 0;
      for (i64 r = 0; r < 5; ++r)
        for (i64 c = 0; c < 7; ++c)
          expected += std::max(0., 1 - std::abs(v - static_cast<double>(r))) *
                      std::max(0., 1 - std::abs(u - static_cast<double>(c))) * x.at<double>({k / 3, r, c, 0});
      CHECK(y.at<double>({k / 3, 0, k % 3, 0}) == Catch::Approx(expected).margin(1e-12));
    }
  }
}

TEST_CASE("transforms: points that are not finite are filled, with every mode") {
  const Tensor x = expand_dims(squares(), 0),
               grid = constant({{NAN, 0.f}, {0.f, INFINITY}, {-INFINITY, NAN}, {0.f, 0.f}}, {.shape = {1, 1, 4, 2}});
  const Tensor horizon = constant({1.f, 0.f, 0.f, 0.f, 1.f, 0.f, -.25f, 0.f});  // 0 / 0 or n / 0 in column 4
  for (const FillMode mode : {FillMode::constant, FillMode::nearest, FillMode::reflect, FillMode::wrap})
    for (const Sampling sampling : {Sampling::bilinear, Sampling::nearest}) {
      CAPTURE(static_cast<int>(mode), static_cast<int>(sampling));
      const auto y = image::grid_sample(x, grid, {.interpolation = sampling, .fill_mode = mode, .fill_value = -7})
                         .to_vector<float>();
      CHECK(Floats(y.begin(), y.begin() + 3) == Floats{-7, -7, -7});
      CHECK(y[3] == x.at<float>({0, 2, 3, 0}));
      const image::TransformOptions o{.interpolation = sampling, .fill_mode = mode, .fill_value = -7};
      const Tensor seen = image::projective_transform(squares(), horizon, o);
      for (i64 row = 0; row < 5; ++row) CHECK(seen.at<float>({row, 4, 0}) == -7);
      CHECK(seen.at<float>({0, 0, 0}) == x.at<float>({0, 0, 0, 0}));
      GradientTape tape;
      tape.watch(horizon);
      const Tensor sum = reduce_sum(image::projective_transform(squares(), horizon, o));
      if (sampling == Sampling::bilinear)
        for (const float g : tape.gradient(sum, horizon).to_vector<float>()) CHECK(std::isfinite(g));
    }
}

TEST_CASE("transforms: gradients to images and coordinates by finite differences") {
  const Tensor x = stack({squares(float64), squares(float64) * .5}) / 23.;
  for (const FillMode mode : {FillMode::constant, FillMode::nearest, FillMode::reflect, FillMode::wrap}) {
    CAPTURE(static_cast<int>(mode));
    const auto f = [&](const Tensor& images, const Tensor& angle) {
      return image::rotate(images, angle, {.fill_mode = mode, .fill_value = .3});
    };
    CHECK(test::compute_gradient_error(f, {x, constant({.37, -.21}, {.dtype = float64})}, {.delta = 1e-6}) < 1e-6);
  }
  const Tensor grid =
      constant(std::vector<double>{-.83, -.61, .37, .92, .3, -.7, -.2, .45}, {.dtype = float64, .shape = {2, 1, 2, 2}});
  const auto g = [](const Tensor& images, const Tensor& at) { return image::grid_sample(images, at); };
  CHECK(test::compute_gradient_error(g, {x, grid}, {.delta = 1e-6}) < 1e-6);
}

TEST_CASE("transforms: wrong operands") {
  CHECK_THROWS_AS(image::projective_transform(zeros({4, 4}), constant(bent)), InvalidArgumentError);
  CHECK_THROWS_AS(image::projective_transform(squares(), zeros({7})), InvalidArgumentError);
  CHECK_THROWS_AS(image::projective_transform(zeros({3, 4, 4, 1}), zeros({2, 8})), InvalidArgumentError);
  CHECK_THROWS_AS(image::affine_transform(squares(), constant(bent)), InvalidArgumentError);
  CHECK_THROWS_AS(image::rotate(squares(), constant({1, 2})), InvalidArgumentError);
  CHECK_THROWS_AS(image::rotate(squares(), .1, {.output_size = image::Size{3, 3}}), InvalidArgumentError);
  CHECK_THROWS_AS(image::grid_sample(zeros({1, 4, 4, 1}), zeros({2, 1, 1, 2})), InvalidArgumentError);
  CHECK_THROWS_AS(image::grid_sample(zeros({1, 4, 4, 1}), zeros({1, 1, 1, 3})), InvalidArgumentError);
}
