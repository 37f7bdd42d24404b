// resize against TensorFlow's values; gradients against finite differences; batches, dtypes, aspect ratios, errors.
#include "tandem/autodiff/check.hpp"
#include "tandem/function.hpp"
#include "tests/image/pictures.hpp"
#include "tests/image/resize_values.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using namespace pictures;
using errors::InvalidArgumentError;
using testing::error_of;

namespace {

constexpr ResizeMethod methods[] = {ResizeMethod::bilinear, ResizeMethod::nearest,      ResizeMethod::bicubic,
                                    ResizeMethod::area,     ResizeMethod::lanczos3,     ResizeMethod::lanczos5,
                                    ResizeMethod::gaussian, ResizeMethod::mitchellcubic};
Tensor squares(DType dtype = float32) {
  Pixels pixels;
  for (int i = 0; i < 35; ++i) pixels.push_back(static_cast<std::uint8_t>(i * i % 23));
  return cast(constant(pixels, {.shape = {5, 7, 1}}), dtype);
}
// The largest difference.
double distance(const Tensor& a, const std::vector<float>& b) {
  const auto x = cast(a, float64).to_vector<double>();
  double worst = x.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(x[i] - static_cast<double>(b[i])));
  return worst;
}
// A batch of two images of so many channels, each channel the first plus its number.
Tensor batch_of(const Tensor& x, i64 channels) {
  std::vector<Tensor> list;
  for (i64 c = 0; c < channels; ++c) list.push_back(x + c);
  const Tensor image = concat(list, 2);
  return stack({image, reverse(image, 0)});
}

}  // namespace

TEST_CASE("resize: TensorFlow's values, for every method") {
  for (const bool older : {false, true})
    for (const Resized& r : older ? resized_older : resized) {
      CAPTURE(static_cast<int>(r.method), r.antialias, r.size[0], older);
      const image::ResizeOptions o{.method = r.method, .antialias = r.antialias, .half_pixel_centers = !older};
      for (const DType dtype : {float32, uint8, uint16, int32, float16, float64}) {
        const Tensor y = image::resize(squares(dtype), r.size, o);
        CHECK(y.shape() == Shape{r.size[0], r.size[1], 1});
        CHECK(y.dtype() == (r.method == ResizeMethod::nearest || dtype == float64 ? dtype : float32));
        CHECK(distance(y, r.values) < 2e-5);
      }
    }
}

TEST_CASE("resize: batches, and any number of channels, are as their channels one by one") {
  for (const ResizeMethod method : methods)
    for (const bool antialias : {false, true})
      for (const i64 channels : {1, 2, 3, 4, 5, 19})
        for (const image::Size size : {image::Size{3, 4}, {6, 9}, {1, 1}, {5, 20}}) {
          CAPTURE(static_cast<int>(method), antialias, channels, size[0], size[1]);
          const image::ResizeOptions o{.method = method, .antialias = antialias};
          const Tensor y = image::resize(batch_of(squares(), channels), size, o);
          CHECK(y.shape() == Shape{2, size[0], size[1], channels});
          const Tensor last = image::resize(reverse(squares(), 0) + (channels - 1), size, o);
          test::assert_all_close(slice_by(y, {1, Slice(), Slice(), Slice(channels - 1, none)}), last,
                                 {.rtol = 1e-5, .atol = 2e-5});
        }
}

TEST_CASE("resize: examples") {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}}, {.shape = {2, 2, 1}});
  CHECK(image::resize(x, {4, 4}).to_vector<float>() ==
        Floats{1, 1.25, 1.75, 2, 1.5, 1.75, 2.25, 2.5, 2.5, 2.75, 3.25, 3.5, 3, 3.25, 3.75, 4});
  CHECK(image::resize(image_i(), {3, 3}).to_vector<float>() == Floats(colors.begin(), colors.end()));
  CHECK(image::resize(image_i(), {6, 3}, {.method = ResizeMethod::nearest}).dtype() == uint8);
  // The aspect ratio: 5 x 7 into 3 x 30.
  CHECK(image::resize(squares(), {3, 30}, {.preserve_aspect_ratio = true}).shape() == Shape{3, 4, 1});
  CHECK(image::resize(squares(), {50, 14}, {.preserve_aspect_ratio = true}).shape() == Shape{10, 14, 1});
}

TEST_CASE("resize: gradients of both orders, by finite differences") {
  for (const ResizeMethod method : methods)
    for (const bool antialias : {false, true})
      for (const image::Size size : {image::Size{3, 9}, {6, 4}}) {
        CAPTURE(static_cast<int>(method), antialias);
        const auto f = [&](const Tensor& x) {
          return image::resize(x, size, {.method = method, .antialias = antialias});
        };
        const Tensor x = batch_of(squares(float64) / 23., 2);
        CHECK(test::compute_gradient_error(f, x, {.delta = 1e-5}) < 1e-7);
        const auto slope = [&](const Tensor& t) {
          GradientTape tape;
          tape.watch(t);
          const Tensor y = reduce_sum(square(f(t)));
          return tape.gradient(y, t);
        };
        CHECK(test::compute_gradient_error(slope, squares(float64) / 23., {.delta = 1e-5}) < 1e-6);
      }
  const auto older = [](const Tensor& x) {
    return image::resize(x, {4, 5}, {.method = ResizeMethod::bicubic, .half_pixel_centers = false});
  };
  CHECK(test::compute_gradient_error(older, squares() / 23.f) < 1e-3);
}

TEST_CASE("resize: a large picture is the same on every number of threads, and in a trace") {
  const Tensor x = smooth(301, 407, 3);
  for (const bool antialias : {false, true}) {
    const auto f = function(
        [=](const Tensor& t) {
          return image::resize(t, {100, 131}, {.antialias = antialias});
        },
        {.input_signature = {{{none, none, 3}, uint8}}});
    const Tensor y = image::resize(x, {100, 131}, {.antialias = antialias});
    CHECK(f(x).to_vector<float>() == y.to_vector<float>());
    CHECK(f(smooth(5, 5, 3)).shape() == Shape{100, 131, 3});
    CHECK_THROWS_AS(f(zeros({0, 5, 3}, {.dtype = uint8})), InvalidArgumentError);
    config::set_intra_op_parallelism_threads(1);
    const Tensor one = image::resize(x, {100, 131}, {.antialias = antialias});
    config::set_intra_op_parallelism_threads(0);
    CHECK(one.to_vector<float>() == y.to_vector<float>());
  }
}

TEST_CASE("resize: wrong operands") {
  CHECK_THROWS_AS(image::resize(squares(), {0, 4}), InvalidArgumentError);
  CHECK_THROWS_AS(image::resize(zeros({5, 7}), {3, 4}), InvalidArgumentError);
  CHECK_THROWS_AS(image::resize(zeros({0, 7, 3}), {3, 4}), InvalidArgumentError);
  CHECK_THROWS_AS(image::resize(constant({"a"}, {.shape = {1, 1, 1}}), {3, 4}), errors::OpError);
  CHECK_THROWS_AS(image::resize(squares(), {3, 4}, {.antialias = true, .half_pixel_centers = false}),
                  InvalidArgumentError);
  CHECK_THROWS_AS(image::resize(squares(), {3, 4}, {.method = ResizeMethod::lanczos3, .half_pixel_centers = false}),
                  InvalidArgumentError);
  CHECK(image::resize(zeros({0, 5, 7, 3}), {3, 4}).shape() == Shape{0, 3, 4, 3});
  CHECK(image::resize(zeros({5, 7, 0}), {3, 4}).shape() == Shape{3, 4, 0});
  CHECK_THAT(error_of([] {
               function(
                   [](const Tensor& x) {
                     return image::resize(x, {3, 4}, {.preserve_aspect_ratio = true});
                   },
                   {.input_signature = {{{none, none, 3}, float32}}})(zeros({4, 4, 3}));
             }),
             ContainsSubstring("needs to know height and width"));
}

TEST_CASE("resize: the gaussian's edge falls where TensorFlow's does") {
  Floats squares;
  for (int i = 0; i < 26; ++i) squares.push_back(static_cast<float>(i * i % 23));
  const auto resized_to = [&](i64 pixels, i64 size) {
    return image::resize(constant(Floats(squares.begin(), squares.begin() + pixels), {.shape = {pixels, 1, 1}}),
                         {size, 1}, {.method = ResizeMethod::gaussian, .antialias = true});
  };
  CHECK(distance(resized_to(13, 6),
                 {1.467081904f, 7.661237717f, 8.786051750f, 9.868498802f, 10.90838909f, 6.585952759f}) < 2e-5);
  CHECK(
      distance(resized_to(13, 12), {0.1733412147f, 1.513014674f, 5.083930016f, 10.99153423f, 10.44643593f, 7.232741356f,
                                    7.777304649f, 12.07932758f, 13.71936417f, 8.891654968f, 6.398695469f, 6}) < 2e-5);
}

TEST_CASE("resize_with_crop_or_pad: unknown sizes in a traced function") {
  const auto f = function([](const Tensor& x) { return image::resize_with_crop_or_pad(x, 4, 5); },
                          {.input_signature = {{{none, none, none, 3}, uint8}}});
  for (const Shape& s : {Shape{2, 3, 9, 3}, Shape{1, 8, 2, 3}, Shape{3, 4, 5, 3}, Shape{1, 7, 8, 3}}) {
    const Tensor x = cast(reshape(range(s.size()) % 251, s), uint8), y = f(x);
    CHECK(y.shape() == Shape{s[0], 4, 5, 3});
    CHECK(y.to_vector<std::uint8_t>() == image::resize_with_crop_or_pad(x, 4, 5).to_vector<std::uint8_t>());
  }
  const auto known = function([](const Tensor& x) {
    const Tensor y = image::resize_with_crop_or_pad(ensure_shape(x, {none, 6, 3}), 4, 5);
    CHECK(y.shape() == Shape{4, 5, 3});
    return y;
  });
  CHECK(known(zeros({3, 6, 3})).shape() == Shape{4, 5, 3});
}

TEST_CASE("resize_with_crop_or_pad, resize_with_pad") {
  const Tensor y = image::resize_with_crop_or_pad(image_i(), 2, 5);
  CHECK(y.to_vector<std::uint8_t>() == Pixels{0, 0, 0, 0, 0,   0, 255, 255, 255, 254, 0,   0, 0, 0, 0,
                                              0, 0, 0, 0, 191, 0, 3,   108, 233, 0,   191, 0, 0, 0, 0});
  CHECK(image::resize_with_crop_or_pad(squares(), 8, 3).shape() == Shape{8, 3, 1});
  const Tensor ones_wide = ones({50, 100, 1});
  const Tensor padded = image::resize_with_pad(ones_wide, 60, 60);  // the picture: 30 high, below 15 rows of zeros
  REQUIRE(padded.shape() == Shape{60, 60, 1});
  CHECK(reduce_sum(padded).item<float>() == Catch::Approx(30 * 60));
  CHECK(padded.at<float>({14, 30, 0}) == 0);
  CHECK(padded.at<float>({15, 0, 0}) == 1);
  CHECK(padded.at<float>({44, 59, 0}) == 1);
  CHECK(padded.at<float>({45, 30, 0}) == 0);
  // TensorFlow's float32: 59 columns in double precision; 12, not 13, of 25.
  CHECK(reduce_sum(image::resize_with_pad(ones({6, 33, 1}), 24, 60)).item<float>() == Catch::Approx(10 * 60));
  CHECK(image::resize(ones({22, 11, 1}), {25, 25}, {.preserve_aspect_ratio = true}).shape() == Shape{25, 12, 1});
  CHECK_THROWS_AS(image::resize_with_crop_or_pad(squares(), 0, 3), InvalidArgumentError);
  CHECK_THROWS_AS(image::resize_with_pad(squares(), 3, -1), InvalidArgumentError);
}
