// Convolutions of empty images, of NaN, in half precision and with unknown sizes; errors. Not here: values
// (conv_test.cpp).
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/conv/conv.hpp"
#include "tandem/ops/conv/conv_transpose.hpp"
#include "tandem/ops/conv/pool.hpp"
#include "tests/ops/conv/conv_loops.hpp"
#include "tests/support/errors.hpp"

namespace conv_edge_test {
using namespace tandem;
using conv_loops::check_close;
using conv_loops::numbers;
using conv_loops::wave;
using testing::error_of;

TEST_CASE("conv: empty images and sums over nothing") {
  CHECK(nn::conv2d(zeros({0, 5, 6, 3}), zeros({3, 3, 3, 4})).shape() == Shape{0, 3, 4, 4});
  CHECK(nn::conv2d(zeros({2, 2, 6, 3}), zeros({3, 3, 3, 4})).shape() ==
        Shape{2, 0, 4, 4});  // no row fits, none is too many
  CHECK(nn::conv2d(zeros({2, 0, 6, 3}), zeros({3, 3, 3, 4}), {.padding = Padding::same}).shape() == Shape{2, 0, 6, 4});
  CHECK(nn::conv1d(zeros({1, 3, 0}), zeros({2, 0, 2})).to_vector<float>() == std::vector<float>(4));
  GradientTape tape;
  const Tensor x = ones({0, 5, 6, 3}), w = ones({3, 3, 3, 4});
  tape.watch(w);
  const Tensor dw = tape.gradient(nn::conv2d(x, w), w);
  CHECK(dw.shape() == w.shape());
  CHECK(dw.to_vector<float>() == std::vector<float>(108));
}

// As tf.nn of TensorFlow 2.21 in eager calls and in functions whose sizes are unknown. In functions with known sizes
// TensorFlow refuses each of these images; here a traced call does what an eager one does.
TEST_CASE("conv: a window that is too large by less than two strides gives an empty result, as in TensorFlow") {
  const auto rows_of = [](i64 h, i64 window, i64 stride, i64 dilation) -> i64 {
    const Tensor x = ones({1, h, 5, 2}), w = ones({window, 1, 2, 4});
    const nn::ConvOptions options{.strides = {stride, 1}, .dilations = {dilation, 1}};
    const auto traced = [&](i64 size) {
      return function(
          [=](const Tensor& t) {
            return nn::conv2d(t, ones({window, 1, 2, 4}), options);
          },
          {.input_signature = {TensorSpec({none, size, none, 2})}});
    };
    const auto known = traced(h), unknown = traced(none);
    try {
      const Shape y = nn::conv2d(x, w, options).shape();
      CHECK(known(x).shape() == y);
      CHECK(unknown(x).shape() == y);
      GradientTape tape;
      tape.watch(x), tape.watch(w);
      const auto [dx, dw] = tape.gradient(nn::conv2d(x, w, options), {x, w});
      if (y.dim(1) == 0) {
        CHECK(numbers(dx) == std::vector<double>(static_cast<std::size_t>(x.size())));
        CHECK(numbers(dw) == std::vector<double>(static_cast<std::size_t>(w.size())));
      }
      return y.dim(1);
    } catch (const errors::InvalidArgumentError& e) {
      CHECK(e.message().find("does not fit into size " + std::to_string(h)) != std::string::npos);
      CHECK_THROWS_AS(known(x), errors::InvalidArgumentError);
      CHECK_THROWS_AS(unknown(x), errors::InvalidArgumentError);
      return -1;
    }
  };
  CHECK(rows_of(3, 3, 1, 1) == 1);
  CHECK(rows_of(2, 3, 1, 1) == 0);
  CHECK(rows_of(1, 3, 1, 1) == -1);
  CHECK(rows_of(0, 3, 1, 1) == -1);
  CHECK(rows_of(2, 3, 2, 1) == 0);
  CHECK(rows_of(1, 3, 2, 1) == 0);
  CHECK(rows_of(0, 3, 2, 1) == 0);
  CHECK(rows_of(0, 5, 2, 1) == -1);
  CHECK(rows_of(0, 5, 3, 1) == 0);
  CHECK(rows_of(4, 3, 1, 2) == 0);
  CHECK(rows_of(3, 3, 1, 2) == -1);
}
TEST_CASE("conv: all convolutions and poolings agree on windows that do not fit") {
  const Tensor w1 = ones({3, 2, 4}), w2 = ones({3, 3, 2, 4}), w3 = ones({3, 3, 3, 2, 4});
  for (const i64 h : {2, 1}) {
    const auto check = [&](const auto& f, const Shape& y) {
      if (h == 2) CHECK(f().shape() == y);
      else CHECK_THROWS_AS(f(), errors::InvalidArgumentError);
    };
    const Tensor x1 = ones({1, h, 2}), x2 = ones({1, h, 5, 2}), x3 = ones({1, h, 5, 5, 2});
    check([&] { return nn::conv1d(x1, w1); }, {1, 0, 4});
    check([&] { return nn::conv2d(x2, w2); }, {1, 0, 3, 4});
    check([&] { return nn::conv3d(x3, w3); }, {1, 0, 3, 3, 4});
    check([&] { return nn::depthwise_conv2d(x2, w2); }, {1, 0, 3, 8});
    check([&] { return nn::separable_conv2d(x2, ones({3, 3, 2, 1}), ones({1, 1, 2, 4})); }, {1, 0, 3, 4});
    for (const auto pool : {&nn::max_pool, &nn::avg_pool}) {
      check([&] { return pool(x1, {.ksize = 3, .strides = 1}); }, {1, 0, 2});
      check([&] { return pool(x2, {.ksize = 3, .strides = 1}); }, {1, 0, 3, 2});
      check([&] { return pool(x3, {.ksize = 3, .strides = 1}); }, {1, 0, 3, 3, 2});
    }
  }
  CHECK(
      nn::conv2d_transpose(ones({1, 0, 5, 2}), ones({3, 3, 4, 2}), {1, 2, 7, 4}, {.padding = Padding::valid}).shape() ==
      Shape{1, 2, 7, 4});
  CHECK(nn::max_pool(ones({1, 1, 5, 2})).shape() == Shape{1, 0, 2, 2});  // a window of 2
}

TEST_CASE("conv: NaN and infinity reach the windows that contain them, and no others") {
  std::vector<float> v(6 * 6 * 2, 1);
  v[(2 * 6 + 3) * 2] = std::nanf("");
  const auto y = nn::conv2d(constant(v, {.shape = {1, 6, 6, 2}}), ones({3, 3, 2, 1}), {.padding = Padding::same})
                     .to_vector<float>();
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 6; ++c)
      CHECK(std::isnan(y[static_cast<std::size_t>(r * 6 + c)]) == (std::abs(r - 2) <= 1 && std::abs(c - 3) <= 1));
}

TEST_CASE("conv: half precision is computed in float32") {
  const Tensor x = wave({1, 5, 5, 2}, .3), w = wave({3, 3, 2, 3}, .4);
  for (DType d : {float16, bfloat16}) {
    const Tensor y = nn::conv2d(cast(x, d), cast(w, d));
    CHECK(y.dtype() == d);
    CHECK(numbers(y) == numbers(cast(nn::conv2d(cast(cast(x, d), float32), cast(cast(w, d), float32)), d)));
  }
}

TEST_CASE("conv: traced calls with unknown sizes") {
  const auto f = function(
      [](const Tensor& x, const Tensor& w) {
        const Tensor y = nn::conv2d(x, w, {.strides = 2, .padding = Padding::same});
        CHECK(y.shape().dim(3) == 4);
        return y;
      },
      {.input_signature = {TensorSpec({none, none, 7, none}), TensorSpec({3, 3, none, 4})}});
  const auto gradient = function(
      [&](const Tensor& x, const Tensor& w) {
        GradientTape tape;
        tape.watch(x);
        tape.watch(w);
        const auto d = tape.gradient(square(nn::conv2d(x, w, {.strides = 2, .padding = Padding::same})),
                                     std::vector<Tensor>{x, w});
        return reduce_sum(square(d[0])) + reduce_sum(square(d[1]));
      },
      {.input_signature = {TensorSpec({none, none, 7, none}), TensorSpec({3, 3, none, 4})}});
  for (i64 n : {1, 3}) {
    const Tensor x = wave({n, n + 4, 7, 2 * n}, .3), w = wave({3, 3, n, 4}, .5);
    check_close(f(x, w), numbers(nn::conv2d(x, w, {.strides = 2, .padding = Padding::same})), 1e-6);
    GradientTape tape;
    tape.watch(x);
    tape.watch(w);
    const auto d =
        tape.gradient(square(nn::conv2d(x, w, {.strides = 2, .padding = Padding::same})), std::vector<Tensor>{x, w});
    check_close(gradient(x, w), numbers(reduce_sum(square(d[0])) + reduce_sum(square(d[1]))), 1e-5);
  }
}

TEST_CASE("conv: scratch that no memory holds raises") {
  const i64 far = i64(1) << 29;
  const auto f = [&] {
    nn::conv3d(
        ones({1, 1, 1, 1, 1}), ones({2, 2, 2, 1, 1}),
        {.strides = far, .padding = {{2 * far, 2 * far}, {2 * far, 2 * far}, {2 * far, 2 * far}}, .dilations = far});
  };
  CHECK_THROWS_AS(f(), errors::ResourceExhaustedError);
}

TEST_CASE("depthwise_conv2d and conv2d_transpose: channels that are known when a traced function runs") {
  const auto deep = function([](const Tensor& x, const Tensor& w) { return nn::depthwise_conv2d(x, w); },
                             {.input_signature = {TensorSpec({1, 4, 4, none}), TensorSpec({3, 3, none, none})}});
  const Tensor x = wave({1, 4, 4, 4}, .3);
  check_close(deep(x, wave({3, 3, 4, 2}, 1)), numbers(nn::depthwise_conv2d(x, wave({3, 3, 4, 2}, 1))), 1e-6);
  CHECK_THROWS_AS(deep(x, wave({3, 3, 2, 6}, 1)), errors::InvalidArgumentError);
  const auto transposed = function(
      [](const Tensor& g, const Tensor& w) {
        return nn::conv2d_transpose(g, w, {1, 4, 4, 4}, {.strides = 2});
      },
      {.input_signature = {TensorSpec({1, 2, 2, 4}), TensorSpec({3, 3, none, 4})}});
  CHECK(transposed(ones({1, 2, 2, 4}), ones({3, 3, 4, 4})).shape() == Shape{1, 4, 4, 4});
  CHECK_THROWS_AS(transposed(ones({1, 2, 2, 4}), ones({3, 3, 2, 4})), errors::InvalidArgumentError);
}

TEST_CASE("conv: errors of empty images and filters, and of too short a list of paddings") {
  const Tensor x = zeros({2, 5, 6, 3}), w = zeros({3, 3, 3, 4});
  CHECK(error_of([&] {
          nn::conv2d(zeros({2, 5, 6, 0}), w);
        }).find("conv2d: the filter has 3 input channels, the image 0") == 0);
  CHECK(error_of([&] {
          nn::conv2d(x, zeros({3, 0, 3, 4}));
        }).find("conv2d: the filter has size 0 on spatial axis 1") == 0);
  CHECK(error_of([&] {
          nn::conv2d(x, w, {.padding = {{1, 1}}});
        }).find("conv2d: padding has 1 entries for 2 spatial axes (give 2 or 4 with batch and channels)") == 0);
}

TEST_CASE("conv: errors") {
  const Tensor x = zeros({2, 5, 6, 3}), w = zeros({3, 3, 3, 4});
  CHECK(error_of([&] {
          nn::conv2d(x, zeros({3, 3, 2, 4}));
        }).find("conv2d: the filter has 2 input channels, the image 3: float32[2,5,6,3] x float32[3,3,2,4]") == 0);
  CHECK(error_of([&] {
          nn::conv2d(zeros({1, 5, 5, 4}), zeros({3, 3, 2, 5}));
        }).find("conv2d: 5 output channels cannot be divided into 2 groups") == 0);
  CHECK(error_of([&] {
          nn::conv2d(zeros({5, 6, 3}), w);
        }).find("conv2d: image and filter must have rank 4: float32[5,6,3] x float32[3,3,3,4]") == 0);
  CHECK(error_of([&] {
          nn::conv2d(x, zeros({7, 3, 3, 4}));
        }).find("conv2d: a window of 7 with dilation 1 does not fit into size 5 of spatial axis 0") == 0);
  CHECK(error_of([&] {
          nn::conv1d(zeros({1, 3, 1}), zeros({3, 1, 1}), {.dilations = 3});
        }).find("conv1d: a window of 3 with dilation 3 does not fit into size 3 of spatial axis 0") == 0);
  CHECK(error_of([&] {
          nn::conv2d(x, w, {.strides = {1, 2, 3}});
        }).find("conv2d: strides has 3 entries for 2 spatial axes") == 0);
  CHECK(error_of([&] {
          nn::conv2d(x, w, {.strides = {2, 1, 1, 1}});
        }).find("conv2d: strides must be 1 for batch and channels, not 2 and 1") == 0);
  CHECK(error_of([&] { nn::conv2d(x, w, {.strides = 0}); }).find("conv2d: strides must be positive, not 0") == 0);
  CHECK(error_of([&] { nn::conv2d(x, w, {.dilations = -1}); }).find("conv2d: dilations must be positive, not -1") == 0);
  CHECK(error_of([&] {
          nn::conv2d(x, w, {.padding = {{1, 1}, {0, -1}}});
        }).find("conv2d: padding is negative: {0, -1}") == 0);
  CHECK(error_of([&] {
          nn::conv2d(x, w, {.padding = {{1, 1}, {0, 0}, {0, 0}, {0, 0}}});
        }).find("conv2d: batch and channels cannot be padded") == 0);
  CHECK(error_of([&] {
          nn::conv2d(x, zeros({3, 3, 3, 4}, float64));
        }).find("conv2d: dtypes differ: float32[2,5,6,3] x float64[3,3,3,4]") == 0);
  CHECK_THROWS_AS(nn::conv2d(cast(x, int32), cast(w, int32)), errors::UnimplementedError);
  CHECK(error_of([&] {
          nn::convolution(zeros({2, 3}), w);
        }).find("convolution: float32[2,3] does not have rank 3, 4 or 5") == 0);
  CHECK(error_of([&] {
          nn::depthwise_conv2d(x, zeros({3, 3, 2, 2}));
        }).find("depthwise_conv2d: channels of image and filter differ: float32[2,5,6,3] x float32[3,3,2,2]") == 0);
  CHECK(error_of([&] {
          nn::separable_conv2d(x, zeros({3, 3, 3, 2}), zeros({2, 1, 6, 2}));
        }).find("separable_conv2d: the pointwise filter must be [1,1,in,out]") == 0);
  CHECK(
      error_of([&] {
        apply1(conv2d_op, rules::ConvAttrs{{{1, i64(1) << 40}, {1, 1}, {}, PaddingKind::valid}, {}}, no_options, x, w);
      }).find("conv2d: strides and dilations must be positive") == 0);
  CHECK(error_of([&] {
          apply1(conv2d_op, rules::ConvAttrs{{{1}, {1}, {}, PaddingKind::valid}, {}}, no_options, x, w);
        }).find("conv2d: image and filter must have rank 3") == 0);
}

}  // namespace conv_edge_test
