// The promises about convolution and pooling, with their numbers.
#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

namespace features_conv {

using namespace tandem;
using Floats = std::vector<float>;

Floats floats(const Tensor& t) { return t.to_vector<float>(); }
Tensor image(const Tensor& rows) { return expand_dims(expand_dims(rows, 0), -1); }
Tensor filter(const Tensor& rows) { return expand_dims(expand_dims(rows, -1), -1); }

TEST_CASE("the exact arrays, layouts, dilation, sizes and gradients of convolutions") {
  const Tensor x = constant({0.f, 1.f, 2.f, 3.f, 2.f, 4.f, 6.f, 8.f}, {.shape = {2, 2, 2, 1}});
  CHECK(floats(nn::conv2d(x, constant({1.f, 2.f}, {.shape = {1, 1, 1, 2}}))) ==
        Floats{0, 0, 1, 2, 2, 4, 3, 6, 2, 4, 4, 8, 6, 12, 8, 16});
  const Tensor ramp = reshape(range(0.f, 6.f), {1, 6}) + .1f * reshape(range(0.f, 6.f), {6, 1});
  const Tensor column = constant({{0.f, .5f, 0.f}, {0.f, 1.f, 0.f}, {0.f, .5f, 0.f}});
  const Floats want{2.20000005f, 8.19999981f, 2.79999995f, 8.80000019f};
  const Floats got = floats(nn::conv2d(image(ramp), filter(column), {.strides = 3, .padding = Padding::same}));
  REQUIRE(got.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-6));
  const Tensor a = random::normal({2, 7, 6, 3}, {.seed = 1}), w = random::normal({3, 3, 3, 4}, {.seed = 2});
  const Tensor nhwc = nn::conv2d(a, w, {.padding = Padding::same});
  const Tensor nchw =
      nn::conv2d(transpose(a, {0, 3, 1, 2}), w, {.padding = Padding::same, .data_format = DataFormat::nchw});
  CHECK(test::max_error(transpose(nchw, {0, 2, 3, 1}), nhwc) < 1e-5);
  Tensor stuffed = zeros({5, 5, 3, 4});  // zeros between the filter's elements
  stuffed = reshape(stack({w, zeros({3, 3, 3, 4})}, {.axis = 1}), {6, 3, 3, 4})(Slice(0, 5));
  stuffed = reshape(stack({stuffed, zeros({5, 3, 3, 4})}, {.axis = 2}), {5, 6, 3, 4})(Ellipsis, Slice(0, 5), Slice(),
                                                                                      Slice());
  CHECK(test::max_error(nn::conv2d(a, w, {.dilations = 2}), nn::conv2d(a, stuffed)) < 1e-5);
  const Tensor s = random::normal({1, 5, 4, 2}, {.dtype = float64, .seed = 3}),
               f = random::normal({3, 2, 2, 2}, {.dtype = float64, .seed = 4});
  CHECK(test::compute_gradient_error(
            [](const Tensor& p, const Tensor& q) {
              return nn::conv2d(p, q, {.strides = {1, 2}, .padding = Padding::same});
            },
            {s, f}, {.delta = 1e-5}) < 1e-6);
  Tensor net = zeros({1, 250, 151, 1});
  const auto layer = [&](i64 size, i64 channels, int stride) {
    net = nn::conv2d(net, zeros({size, size, net.shape()[3], channels}), {.strides = stride, .padding = Padding::same});
    return std::vector<i64>{net.shape()[1], net.shape()[2]};
  };
  using Sizes = std::vector<i64>;
  CHECK(layer(5, 2, 2) == Sizes{125, 76});
  CHECK(layer(5, 2, 2) == Sizes{63, 38});
  CHECK(layer(3, 2, 1) == Sizes{63, 38});
  CHECK(layer(3, 64, 2) == Sizes{32, 19});
  CHECK(nn::flatten(net).shape() == Shape{1, 38912});
}

TEST_CASE("edge and sharpening kernels") {
  const Tensor edge = constant({{-1.f, -1.f, -1.f}, {-1.f, 8.f, -1.f}, {-1.f, -1.f, -1.f}});
  const Tensor sharpen = constant({{0.f, -1.f, 0.f}, {-1.f, 5.f, -1.f}, {0.f, -1.f, 0.f}});
  const Tensor picture = broadcast_to(constant({0.f, 0.f, 9.f, 9.f}), {4, 4});
  const auto apply = [](const Tensor& p, const Tensor& kernel, Padding padding) {
    return nn::conv2d(image(p), filter(kernel), {.padding = padding});
  };
  CHECK(floats(apply(picture, edge, Padding::same)[0][1]) == Floats{0, -27, 27, 27});
  CHECK(floats(apply(picture, sharpen, Padding::same)[0][1]) == Floats{0, -9, 18, 18});
  const Tensor flat = fill({5, 5}, 7.f);
  CHECK(floats(apply(flat, edge, Padding::valid)) == Floats(9, 0));
  CHECK(floats(apply(flat, sharpen, Padding::valid)) == Floats(9, 7));
  CHECK(floats(minimum(nn::relu(apply(picture * 30, edge, Padding::same)), 255.f)[0][1]) == Floats{0, 0, 255, 255});
}

TEST_CASE("depthwise, separable and transposed convolutions") {
  const Tensor x = random::normal({2, 6, 5, 3}, {.seed = 1}), depth = random::normal({3, 3, 3, 2}, {.seed = 2}),
               point = random::normal({1, 1, 6, 4}, {.seed = 3});
  const Tensor deep = nn::depthwise_conv2d(x, depth, {.padding = Padding::same});
  for (int k = 0; k < 3; ++k)  // channel k mult + q is channel k by filter q
    for (int q = 0; q < 2; ++q) {
      const Tensor one =
          nn::conv2d(x(Ellipsis, Slice(k, k + 1)), depth(Slice(), Slice(), Slice(k, k + 1), Slice(q, q + 1)),
                     {.padding = Padding::same});
      CHECK(test::max_error(deep(Ellipsis, Slice(2 * k + q, 2 * k + q + 1)), one) < 1e-5);
    }
  CHECK(test::max_error(nn::separable_conv2d(x, depth, point, {.padding = Padding::same}), nn::conv2d(deep, point)) <
        1e-5);
  const Tensor w = random::normal({3, 3, 3, 4}, {.seed = 4}), g = random::normal({2, 3, 3, 4}, {.seed = 5});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = nn::conv2d(x, w, {.strides = 2, .padding = Padding::same});
  const Tensor dx = tape.gradient(y, x, {.output_gradients = {g}});
  CHECK(test::max_error(nn::conv2d_transpose(g, w, {2, 6, 5, 3}, {.strides = 2, .padding = Padding::same}), dx) < 1e-5);
  const Tensor line = nn::conv1d_transpose(constant({1.f, 2.f}, {.shape = {1, 2, 1}}), ones({3, 1, 1}), {1, 4, 1},
                                           {.strides = 2, .padding = Padding::same});
  CHECK(floats(line) == Floats{1, 1, 3, 2});
}

TEST_CASE("pooling and local response normalization") {
  const Tensor m = constant({{1.f, .2f, 1.5f}, {.1f, 1.2f, 1.4f}, {1.1f, .4f, .4f}});
  CHECK(nn::max_pool(image(m), {.ksize = 3}).to_vector<float>() == Floats{1.5});
  const Tensor a = constant({{1.f, 1.f, 1.f}, {1.f, .5f, 0.f}, {0.f, 0.f, 0.f}});
  CHECK(nn::avg_pool(image(a), {.ksize = 3}).to_vector<float>()[0] == Approx(.5));
  const Tensor small = image(constant({{1.f, 2.f}, {3.f, 4.f}}));
  CHECK(floats(nn::max_pool(small, {.ksize = 2, .strides = 1, .padding = Padding::same})) == Floats{4, 4, 4, 4});
  CHECK(floats(nn::avg_pool(small, {.ksize = 2, .strides = 1, .padding = Padding::same})) == Floats{2.5, 3, 3.5, 4});
  const Floats n = floats(nn::lrn(constant({1.f, 2.f, 3.f}, {.shape = {1, 1, 3, 1}})));
  const double want[] = {.70710677, .89442718, .94868326};
  for (std::size_t i = 0; i < 3; ++i) CHECK(n[i] == Approx(want[i]).epsilon(1e-6));
}

TEST_CASE("convolution and pooling over three axes") {
  const Tensor x = random::normal({1, 4, 3, 5, 2}, {.dtype = float64, .seed = 1}),
               w = random::normal({2, 2, 3, 2, 3}, {.dtype = float64, .seed = 2});
  const Tensor y = nn::conv3d(x, w);
  REQUIRE(y.shape() == Shape{1, 3, 2, 3, 3});
  const auto at = [](const Tensor& t, std::initializer_list<i64> index) { return t.at<double>(index); };
  for (i64 d = 0; d < 3; ++d)
    for (i64 h = 0; h < 2; ++h)
      for (i64 v = 0; v < 3; ++v)
        for (i64 c = 0; c < 3; ++c) {
          double sum = 0;
          for (i64 i = 0; i < 2; ++i)
            for (i64 j = 0; j < 2; ++j)
              for (i64 k = 0; k < 3; ++k)
                for (i64 b = 0; b < 2; ++b) sum += at(x, {0, d + i, h + j, v + k, b}) * at(w, {i, j, k, b, c});
          CHECK(at(y, {0, d, h, v, c}) == Approx(sum).epsilon(1e-12).margin(1e-12));
        }
  const Tensor cube = reshape(range(0.f, 8.f), {1, 2, 2, 2, 1});
  CHECK(floats(nn::max_pool3d(cube)) == Floats{7});
  CHECK(floats(nn::avg_pool3d(cube)) == Floats{3.5});
}

}  // namespace features_conv
