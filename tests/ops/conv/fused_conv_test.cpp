// Convolutions with an epilogue against their decomposition, for every kernel of convolutions; the layers that use
// them. Not here: gradients (tests generated from the op table), the pass that makes them
// (tests/graph/conv_epilogues_test.cpp).
#include "tandem/ops/conv/fused_conv.hpp"

#include "tandem/core/apply.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/layers/conv.hpp"
#include "tandem/ops/pointwise/activation.hpp"
#include "tandem/ops/pointwise/exp.hpp"
#include "tandem/ops/shape/transpose.hpp"
#include "tests/ops/conv/conv_loops.hpp"
#include "tests/support/errors.hpp"

namespace fused_conv_test {
using namespace tandem;
using conv_loops::check_close;
using conv_loops::numbers;
using conv_loops::wave;
using testing::error_of;

constexpr FusedActivation activations[] = {FusedActivation::none, FusedActivation::relu, FusedActivation::tanh,
                                           FusedActivation::sigmoid};

rules::FusedConvAttrs attrs_of(i64 stride, PaddingKind padding, FusedActivation activation) {
  rules::FusedConvAttrs a;
  a.strides = Shape{stride, stride}, a.dilations = Shape{1, 1}, a.padding = padding, a.activation = activation;
  return a;
}
void check(const Shape& x, const Shape& w, i64 stride, DType dtype) {
  const i64 o = w.dim(-1);
  // Small filters, so that results are where activations are not flat.
  const Tensor in[] = {wave(x, .4, dtype), wave(w, .7, dtype) * .1, wave({o}, 1, dtype), wave({o}, 1.3, dtype),
                       wave({o}, .9, dtype)};
  for (const FusedActivation activation : activations)
    for (std::size_t count = 2; count <= 5; ++count) {
      INFO(to_string(in[0].spec()) << " * " << to_string(w) << " stride " << stride << ", " << count << " inputs");
      const Attrs a = attrs_of(stride, PaddingKind::same, activation);
      const Tensor* const pointers[] = {&in[0], &in[1], &in[2], &in[3], &in[4]};
      const Tensor y = apply(fused_conv_op, {pointers, count}, a)[0];
      check_close(y, numbers(fused_conv_op.rare.decomposition({in, count}, a)[0]), dtype == float64 ? 1e-13 : 1e-5);
    }
}

TEST_CASE("fused_conv: every kernel agrees with the decomposition on every instruction set") {
  const int best = cpu::best_isa();
  for (int level = 0; level <= best; ++level) {
    cpu::isa_level.store(static_cast<signed char>(level));
    for (const DType dtype : {float32, float64}) {
      check({2, 6, 7, 3}, {3, 3, 3, 37}, 1, dtype);
      check({1, 9, 8, 70}, {5, 3, 70, 5}, 2, dtype);                            // sums in several blocks
      check({1, 5, 6, 6}, {3, 2, 3, 40}, 1, dtype);                             // groups
      check({2, 7, 5, 21}, {3, 3, 1, 21}, 1, dtype);                            // depthwise
      check({2, 4, 5, 6}, {3, 3, 1, 12}, 2, dtype);                             // ... with two filters for each channel
      check({2, 5, 5, 9}, {1, 1, 9, 20}, 1, dtype);                             // a product
      check({1, 1, 1, 9}, {1, 1, 9, 20}, 1, dtype);                             // ... of one row
      for (i64 o : {1, 2, 3, 4}) check({1, 4, 70, 3}, {3, 3, 3, o}, 1, dtype);  // lanes are pixels
    }
  }
  cpu::isa_level.store(static_cast<signed char>(best));
}

TEST_CASE("fused_conv: results do not depend on the number of threads") {
  const Tensor x = wave({4, 20, 20, 16}, .3), w = wave({3, 3, 16, 40}, .7), b = wave({40}, 1);
  const Attrs a = attrs_of(1, PaddingKind::same, FusedActivation::tanh);
  const int threads = config::intra_op_parallelism_threads();
  config::set_intra_op_parallelism_threads(1);
  const auto one = numbers(apply1(fused_conv_op, a, no_options, x, w, b));
  config::set_intra_op_parallelism_threads(3);
  CHECK(numbers(apply1(fused_conv_op, a, no_options, x, w, b)) == one);
  config::set_intra_op_parallelism_threads(threads);
}

TEST_CASE("fused_conv: without channels, and where all windows lie in the padding") {
  const Tensor b = constant({-1.f, 2.f}), scale = constant({3.f, 4.f}), offset = constant({.5f, .25f});
  const Attrs same = attrs_of(1, PaddingKind::same, FusedActivation::relu);
  const Tensor none =
      apply1(fused_conv_op, same, no_options, zeros({1, 1, 2, 0}), zeros({3, 3, 0, 2}), b, scale, offset);
  CHECK(none.to_vector<float>() == std::vector<float>{0, 8.25f, 0, 8.25f});
  CHECK(apply1(fused_conv_op, same, no_options, zeros({0, 3, 3, 1}), zeros({3, 3, 1, 2}), b).shape() ==
        Shape{0, 3, 3, 2});
  rules::FusedConvAttrs far = attrs_of(1, PaddingKind::given, FusedActivation::none);
  far.pads = Shape{9, 0, 9, 0}, far.dilations = Shape{1, 1};
  const Tensor y = apply1(fused_conv_op, far, no_options, ones({1, 1, 1, 1}), ones({1, 1, 1, 2}), b);
  CHECK(y.shape() == Shape{1, 10, 10, 2});
  CHECK(y.to_vector<float>()[0] == -1);
  CHECK(y.to_vector<float>()[199] == 3);  // the only pixel
}

TEST_CASE("fused_conv: relu keeps NaN and -0 of a convolution without a bias") {
  const Tensor x = constant({std::nanf(""), -1.f, 2.f}, {.shape = {1, 1, 3, 1}}), w = ones({1, 1, 1, 1});
  const auto y =
      apply1(fused_conv_op, attrs_of(1, PaddingKind::same, FusedActivation::relu), no_options, x, w).to_vector<float>();
  CHECK(std::isnan(y[0]));
  CHECK(y[1] == 0);
  CHECK(y[2] == 2);
}

TEST_CASE("fused_conv: errors name the inputs") {
  const Tensor x = ones({1, 4, 4, 2}), w = ones({3, 3, 2, 5});
  const Attrs a = attrs_of(1, PaddingKind::same, FusedActivation::relu);
  const auto run = [&](const Tensor& b) {
    return error_of([&] { (void)apply1(fused_conv_op, a, no_options, x, w, b); });
  };
  CHECK(run(ones({4})).find("one element for each output channel") != std::string::npos);
  CHECK(run(ones({1, 5})).find("one element for each output channel") != std::string::npos);
  CHECK(run(ones({5}, {.dtype = float64})).find("dtypes differ") != std::string::npos);
}

TEST_CASE("convolution layers: an activation in the kernel equals the ops") {
  const Tensor x = wave({2, 9, 8, 3}, .4);
  for (const Activation& activation : {Activation::relu, Activation::tanh, Activation::sigmoid})
    for (const DataFormat format : {DataFormat::channels_last, DataFormat::channels_first})
      for (const bool use_bias : {true, false}) {
        const bool first = format == DataFormat::channels_first;
        const layers::Conv2D layer(
            7, 3, {.padding = Padding::same, .data_format = format, .activation = activation, .use_bias = use_bias});
        const Tensor image = first ? transpose(x, {.perm = {0, 3, 1, 2}}) : x;
        (void)layer(image);
        const std::vector<Variable> weights = layer.variables();
        Tensor want = nn::conv2d(x, weights[0], {.padding = Padding::same});
        if (use_bias) weights[1].assign(wave({7}, 1)), want = want + weights[1];
        want = activation(want);
        check_close(first ? transpose(layer(image), {.perm = {0, 2, 3, 1}}) : layer(image), numbers(want), 1e-6);
      }
}

}  // namespace fused_conv_test
