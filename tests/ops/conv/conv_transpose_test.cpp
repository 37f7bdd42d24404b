// Transposed convolutions: against loops, as input gradients of convolutions, sizes, errors.
#include "tandem/ops/conv/conv_transpose.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tests/ops/conv/conv_loops.hpp"
#include "tests/support/errors.hpp"

namespace conv_transpose_test {
using namespace tandem;
using conv_loops::Axis;
using conv_loops::check_close;
using conv_loops::numbers;
using conv_loops::wave;
using testing::error_of;

TEST_CASE("conv1d_transpose: example") {
  const Tensor x = constant({1.f, 2.f}, {.shape = {1, 2, 1}});
  const Tensor y = nn::conv1d_transpose(x, ones({3, 1, 1}), {1, 4, 1}, {.strides = 2, .padding = Padding::same});
  CHECK(y.shape() == Shape{1, 4, 1});
  CHECK(y.to_vector<float>() == std::vector<float>{1, 1, 3, 2});
}

TEST_CASE("conv2d_transpose: overlaps add") {
  const Tensor x = wave({2, 3, 4, 3}, .1, float64), w = wave({3, 2, 5, 3}, .5, float64);
  const Tensor y = nn::conv2d_transpose(x, w, {2, 6, 7, 5}, {.strides = {1, 2, 2, 1}});
  const std::vector<Axis> axes{{6, 3, 2, 1, 0, 0, true}, {7, 2, 2, 1, 0, 0, true}};
  std::vector<double> want(static_cast<std::size_t>(2 * 6 * 7 * 5));
  const auto vx = numbers(x), vw = numbers(w);
  conv_loops::each_product(2, axes, 5, 5, 3, [&](i64 at_y, i64 at_x, i64 at_w) {
    want[static_cast<std::size_t>(at_x)] += vx[static_cast<std::size_t>(at_y)] * vw[static_cast<std::size_t>(at_w)];
  });
  check_close(y, want, 1e-14);
}

TEST_CASE("conv transposes are the input gradients of convolutions") {
  const Tensor x = wave({2, 5, 6, 3}, .2), w = wave({3, 4, 3, 2}, .3);
  const nn::ConvOptions o{.strides = 2, .padding = {{1, 2}, {0, 3}}};
  GradientTape tape;
  tape.watch(x);
  const Tensor y = nn::conv2d(x, w, o), g = wave(y.shape(), .9);
  const Tensor dx = tape.gradient(y, x, {.output_gradients = {g}});
  check_close(nn::conv2d_transpose(g, w, x.shape(), {.strides = 2, .padding = {{1, 2}, {0, 3}}}), numbers(dx), 1e-5);
  const Tensor first =
      nn::conv2d_transpose(transpose(g, {.perm = {0, 3, 1, 2}}), w, {2, 3, 5, 6},
                           {.strides = {1, 1, 2, 2}, .padding = {{1, 2}, {0, 3}}, .data_format = DataFormat::nchw});
  check_close(transpose(first, {.perm = {0, 2, 3, 1}}), numbers(dx), 1e-5);
  const Tensor v = wave({1, 2, 3, 2, 2}, .4), w3 = wave({2, 2, 1, 3, 2}, .1);
  const Tensor y3 = nn::conv3d_transpose(v, w3, {1, 4, 6, 4, 3}, {.strides = 2});
  CHECK(numbers(reduce_sum(y3 * y3))[0] ==
        Approx(numbers(reduce_sum(v * nn::conv3d(y3, w3, {.strides = 2, .padding = Padding::same})))[0]).epsilon(1e-5));
}

TEST_CASE("conv2d_transpose: sizes that are known when a traced function runs") {
  const auto f = function(
      [](const Tensor& x, const Tensor& w) {
        const auto s = get_shape(x);
        const Tensor height = s[1].value() * constant(i64{2});
        return nn::conv2d_transpose(x, w, {s[0], height, 6, 2}, {.strides = 2});
      },
      {.input_signature = {TensorSpec({none, none, 3, 4}), TensorSpec({3, 3, 2, 4})}});
  for (i64 n : {1, 2}) {
    const Tensor x = wave({n, n + 1, 3, 4}, .2), w = wave({3, 3, 2, 4}, .3);
    const Tensor want = nn::conv2d_transpose(x, w, {n, 2 * n + 2, 6, 2}, {.strides = 2}), got = f(x, w);
    CHECK(got.shape() == want.shape());
    check_close(got, numbers(want), 1e-6);
  }
}

TEST_CASE("conv2d_transpose: empty, and errors") {
  const Tensor w = zeros({3, 3, 2, 4});
  CHECK(nn::conv2d_transpose(zeros({0, 2, 2, 4}), w, {0, 4, 4, 2}, {.strides = 2}).shape() == Shape{0, 4, 4, 2});
  const Tensor x = zeros({1, 2, 2, 4});
  CHECK(error_of([&] {
          nn::conv2d_transpose(x, w, {1, 5, 4, 2}, {.strides = 2});
        })
            .find("conv2d_transpose: output_shape (1, 5, 4, 2) would be mapped to (1, 3, 2, 4): float32[1,2,2,4] x "
                  "float32[3,3,2,4]") == 0);
  CHECK(error_of([&] {
          nn::conv2d_transpose(x, w, {1, 4, 4, 3}, {.strides = 2});
        }).find("conv2d_transpose: output_shape has 3 channels, the filter 2: float32[1,2,2,4] x float32[3,3,2,4]") ==
        0);
  CHECK(error_of([&] {
          nn::conv2d_transpose(x, w, {1, 4, 4, 4}, {.strides = 2});  // not a convolution of two groups
        }).find("conv2d_transpose: output_shape has 4 channels, the filter 2") == 0);
  CHECK(error_of([&] {
          nn::conv2d_transpose(x, w, {4, 4, 2});
        }).find("conv2d_transpose: output_shape (4, 4, 2) does not have the rank of the input") == 0);
  CHECK(error_of([&] {
          nn::conv2d_transpose(x, w, {1, -4, 4, 2});
        }).find("conv2d_transpose: output_shape (1, -4, 4, 2) has a negative size") == 0);
  CHECK(error_of([&] {
          nn::conv2d_transpose(x, zeros({3, 2, 4}), {1, 4, 4, 2});
        }).find("conv2d_transpose: image and filter must have rank 4") == 0);
}

}  // namespace conv_transpose_test
