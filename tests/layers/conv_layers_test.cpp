// Convolution layers: values, shapes, gradients, data formats, shared weights, errors.
#include "tandem/layers/all.hpp"
#include "tandem/module/model.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/layer_checks.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::check_close, testing::check_layer_gradients, testing::check_traced, testing::floats, testing::Floats;

namespace {

Tensor images(const Shape& shape, DType dtype = float32) {
  return random::stateless_normal(shape, {1, 2}, {.dtype = dtype});
}
// The same layer for [n, c, h, w]: the result of `last` is that of `first`, transposed.
template <class Last, class First>
void check_formats(const Last& last, const First& first, const Tensor& x) {
  const Tensor y = last(x);
  std::vector<int> to_first{0, x.rank() - 1};
  for (int i = 1; i < x.rank() - 1; ++i) to_first.push_back(i);
  first(transpose(x, {.perm = to_first}));
  first.set_weights(last.get_weights());
  CHECK(test::max_error(first(transpose(x, {.perm = to_first})), transpose(y, {.perm = to_first})) < 1e-5);
}

}  // namespace

TEST_CASE("Conv2D: four filters of one pixel with relu, on a picture") {
  const layers::Conv2D conv(4, 1, nn::relu);
  const Tensor y = conv(images({1, 3, 3, 3}));
  CHECK(y.shape() == Shape{1, 3, 3, 4});
  CHECK(reduce_min(y).item<float>() >= 0);
  CHECK(reduce_max(y).item<float>() > 0);
  CHECK(conv.variables()[0].shape() == Shape{1, 1, 3, 4});
  CHECK(conv.named_variables()[0].path == "kernel");
  CHECK(conv.named_variables()[1].path == "bias");
  CHECK(conv.count_params() == 16);
}

TEST_CASE("Conv2D: the exact array of the op, with a bias and an activation") {
  const layers::Conv2D conv(
      2, 1, {.activation = [](const Tensor& x) { return 2 * x; }, .bias_initializer = initializers::Constant(1)});
  const Tensor x = constant({0.f, 1.f, 2.f, 3.f, 2.f, 4.f, 6.f, 8.f}, {.shape = Shape{2, 2, 2, 1}});
  conv(x);
  conv.variables()[0].assign(constant({1.f, 2.f}, {.shape = Shape{1, 1, 1, 2}}));
  const Floats op{0, 0, 1, 2, 2, 4, 3, 6, 2, 4, 4, 8, 6, 12, 8, 16};
  Floats expected;
  for (const float v : op) expected.push_back(2 * (v + 1));
  CHECK(floats(conv(x)) == expected);
}

TEST_CASE("Conv1D, Conv2D, Conv3D: options as those of the ops") {
  const auto check = [](const auto& layer, const Tensor& x, const nn::ConvOptions& options) {
    layer(x);
    layer.variables()[1].assign(random::normal(layer.variables()[1].shape()));
    const Tensor expected = nn::convolution(x, layer.variables()[0], options) + layer.variables()[1];
    check_close(floats(layer(x)), floats(expected));
    CHECK(layer(x).shape() == expected.shape());
    check_traced(layer, x);
  };
  check(layers::Conv1D(3, 2, {.strides = 2}), images({2, 7, 4}), {.strides = 2});
  check(layers::Conv1D(3, 3, {.dilation_rate = 2}), images({2, 7, 4}), {.dilations = 2});
  check(layers::Conv2D(4, {3, 2}, {.strides = {2, 1}, .padding = Padding::same}), images({2, 7, 6, 4}),
        {.strides = {2, 1}, .padding = Padding::same});
  check(layers::Conv2D(4, 3, {.padding = {{1, 2}, {0, 1}}}), images({2, 5, 5, 1}), {.padding = {{1, 2}, {0, 1}}});
  check(layers::Conv2D(4, 3, {.groups = 2}), images({2, 5, 5, 6}), {});
  check(layers::Conv3D(2, {1, 2, 3}, {.padding = Padding::same}), images({1, 4, 5, 3, 2}), {.padding = Padding::same});
  const layers::Conv2D grouped(4, 3, {.groups = 2});
  grouped(images({1, 5, 5, 6}));
  CHECK(grouped.variables()[0].shape() == Shape{3, 3, 3, 4});
  const layers::Conv2D plain(4, 3, {.use_bias = false});
  plain(images({1, 5, 5, 6}));
  CHECK(plain.variables().size() == 1);
}

TEST_CASE("Conv2D: the shape chain of a small image classifier") {
  const layers::Sequential net{layers::Conv2D(32, 5, {.strides = 2, .padding = Padding::same, .activation = nn::relu}),
                               layers::MaxPooling2D(2, {.padding = Padding::same}),
                               layers::Conv2D(64, 5, {.padding = Padding::same}),
                               layers::MaxPooling2D(2, {.padding = Padding::same}), layers::Flatten()};
  net.build({none, 250, 151, 1});
  const std::string s = net.summary();
  CHECK_THAT(s, ContainsSubstring(", 125, 76, 32)") && ContainsSubstring(", 63, 38, 32)") &&
                    ContainsSubstring(", 63, 38, 64)") && ContainsSubstring(", 32, 19, 64)") &&
                    ContainsSubstring(", 38912)"));
}

TEST_CASE("Conv1D: causal padding lets no result depend on later elements") {
  const layers::Conv1D conv(1, 3, {.padding = Padding::causal, .dilation_rate = 2, .use_bias = false});
  const Tensor x = images({1, 8, 1});
  conv(x);
  conv.variables()[0].assign(constant({1.f, 10.f, 100.f}, {.shape = Shape{3, 1, 1}}));
  const Floats v = floats(x), y = floats(conv(x));
  REQUIRE(y.size() == 8);
  const auto at = [&](int i) { return i < 0 ? 0.f : v[static_cast<std::size_t>(i)]; };
  for (int t = 0; t < 8; ++t)
    CHECK(y[static_cast<std::size_t>(t)] == Approx(at(t - 4) + 10 * at(t - 2) + 100 * at(t)).margin(1e-4));
  check_traced(conv, x);
  CHECK_THROWS_WITH(layers::Conv2D(1, 3, {.padding = Padding::causal}), ContainsSubstring("Conv2D"));
  CHECK_THROWS_WITH(nn::conv2d(images({1, 3, 3, 1}), images({2, 2, 1, 1}), {.padding = Padding::causal}),
                    ContainsSubstring("causal"));
  const Tensor w = images({3, 1, 1}), first = transpose(x, {0, 2, 1});
  const nn::Conv1dOptions ncw{.padding = Padding::causal, .data_format = DataFormat::ncw, .dilations = {1, 1, 2}};
  check_close(floats(nn::conv1d(first, w, ncw)),
              floats(nn::conv1d(x, w, {.padding = Padding::causal, .dilations = {1, 2, 1}})));
}

TEST_CASE("convolution layers: a layer that is used twice has one set of weights, and its gradient is the sum") {
  const layers::Conv2D conv(2, 3), other(2, 3);
  const Tensor a = images({1, 4, 4, 1}), b = 2 * a + 1;
  conv(a), other(a);
  CHECK(conv.variables().size() == 2);
  CHECK_FALSE(conv.variables()[0].is_same(other.variables()[0]));
  const std::vector<Variable> w = conv.variables();
  GradientTape tape({.persistent = true});
  const Tensor la = reduce_sum(square(conv(a))), lb = reduce_sum(square(conv(b))), both = la + lb;
  CHECK(conv.variables().size() == 2);
  const auto ga = tape.gradient(la, w), gb = tape.gradient(lb, w), sum = tape.gradient(both, w);
  for (std::size_t i = 0; i < 2; ++i) check_close(floats(sum[i].dense()), floats(ga[i].dense() + gb[i].dense()));
}

TEST_CASE("convolution layers: gradients to input and weights") {
  const auto check = [](const auto& layer, const Shape& shape) {
    const Tensor x = images(shape, float64);
    layer(x);
    check_layer_gradients(layer, x, layer.variables());
  };
  check(layers::Conv1D(2, 3, {.padding = Padding::causal, .dtype = float64}), {2, 5, 2});
  check(layers::Conv2D(2, 2, {.strides = 2, .activation = nn::tanh, .dtype = float64}), {1, 4, 4, 2});
  check(layers::Conv2D(2, 2, {.groups = 2, .dtype = float64}), {1, 3, 3, 4});
  check(layers::Conv3D(1, 2, {.dtype = float64}), {1, 3, 3, 3, 1});
  check(layers::Conv2DTranspose(2, 3, {.strides = 2, .padding = Padding::same, .dtype = float64}), {1, 3, 3, 2});
  check(layers::DepthwiseConv2D(2, {.depth_multiplier = 2, .dtype = float64}), {1, 3, 3, 2});
  check(layers::SeparableConv2D(3, 2, {.depth_multiplier = 2, .dtype = float64}), {1, 3, 3, 2});
}

TEST_CASE("convolution layers: channels first equals channels last, transposed") {
  const DataFormat first = DataFormat::channels_first;
  check_formats(layers::Conv1D(3, 2), layers::Conv1D(3, 2, {.data_format = first}), images({2, 5, 4}));
  check_formats(layers::Conv2D(3, 3, {.strides = 2, .padding = Padding::same}),
                layers::Conv2D(3, 3, {.strides = 2, .padding = Padding::same, .data_format = first}),
                images({2, 5, 4, 2}));
  check_formats(layers::Conv3D(3, 2), layers::Conv3D(3, 2, {.data_format = first}), images({1, 3, 4, 3, 2}));
  check_formats(layers::Conv2DTranspose(3, 3, {.strides = 2}),
                layers::Conv2DTranspose(3, 3, {.strides = 2, .data_format = first}), images({2, 3, 4, 2}));
  check_formats(layers::DepthwiseConv2D(3, {.depth_multiplier = 2}),
                layers::DepthwiseConv2D(3, {.depth_multiplier = 2, .data_format = first}), images({2, 5, 4, 2}));
  check_formats(layers::SeparableConv1D(3, 2), layers::SeparableConv1D(3, 2, {.data_format = first}),
                images({2, 5, 4}));
}

TEST_CASE("transposed convolution layers: the array of the op") {
  const layers::Conv1DTranspose t(1, 3,
                                  {.strides = 2, .padding = Padding::same, .kernel_initializer = initializers::Ones()});
  CHECK(floats(t(constant({1.f, 2.f}, {.shape = Shape{1, 2, 1}}))) == Floats{1, 1, 3, 2});
}

TEST_CASE("transposed convolution layers: sizes as in Keras") {
  const auto size = [](i64 n, i64 kernel, const layers::ConvTransposeOptions& options) {
    const layers::Conv1DTranspose layer(1, kernel, options);
    const Tensor y = layer(images({2, n, 3}));
    check_traced(layer, images({2, n, 3}));
    // Each size must be one that the convolution maps back.
    CHECK(nn::conv1d(y, layer.variables()[0],
                     {.stride = options.strides, .padding = options.padding, .dilations = options.dilation_rate})
              .shape()
              .dim(1) == n);
    return y.shape().dim(1);
  };
  CHECK(size(4, 3, {.strides = 2}) == 9);
  CHECK(size(4, 2, {.strides = 3}) == 12);
  CHECK(size(4, 3, {.strides = 2, .padding = Padding::same}) == 8);
  CHECK(size(4, 3, {.dilation_rate = 2}) == 8);
  CHECK(size(4, 3, {.strides = 2, .output_padding = 1}) == 10);
  CHECK(size(4, 3, {.strides = 2, .padding = Padding::same, .output_padding = 0}) == 7);
  CHECK(size(4, 3, {.strides = 2, .padding = Padding::same, .output_padding = {1}}) == 8);
  const layers::Conv2DTranspose two(5, {3, 2}, {.strides = {2, 3}, .output_padding = {0, 1}});
  CHECK(two(images({1, 4, 5, 2})).shape() == Shape{1, 9, 15, 5});
  CHECK(two.variables()[0].shape() == Shape{3, 2, 5, 2});
  CHECK(layers::Conv3DTranspose(2, 2, {.strides = 2})(images({1, 2, 3, 2, 1})).shape() == Shape{1, 4, 6, 4, 2});
}

TEST_CASE("transposed convolution layers: images of unknown size in one trace") {
  const layers::Conv2DTranspose layer(2, 3, {.strides = 2});
  layer(images({1, 3, 4, 2}));
  const auto f = function([&](const Tensor& x) { return layer(x); },
                          {.input_signature = {TensorSpec({none, none, none, 2}, float32)}});
  for (const Shape& s : {Shape{1, 3, 4, 2}, Shape{2, 5, 1, 2}}) {
    const Tensor x = images(s);
    CHECK(f(x).shape() == layer(x).shape());
    check_close(floats(f(x)), floats(layer(x)));
  }
  CHECK(f.trace_count() == 1);
}

TEST_CASE("depthwise and separable convolution layers are their ops") {
  const Tensor x = images({2, 5, 4, 3});
  const layers::DepthwiseConv2D depthwise({3, 2}, {.strides = 2, .padding = Padding::same, .depth_multiplier = 2});
  CHECK(depthwise(x).shape() == Shape{2, 3, 2, 6});
  const std::vector<Variable> w = depthwise.variables();
  CHECK(w[0].shape() == Shape{3, 2, 3, 2});
  CHECK(w[1].shape() == Shape{6});
  check_close(floats(depthwise(x)), floats(nn::depthwise_conv2d(x, w[0], {.strides = 2, .padding = Padding::same})));
  check_traced(depthwise, x);
  const layers::SeparableConv2D separable(5, 3, {.depth_multiplier = 2, .activation = nn::relu});
  CHECK(separable(x).shape() == Shape{2, 3, 2, 5});
  const std::vector<Variable> v = separable.variables();
  CHECK(v[1].shape() == Shape{1, 1, 6, 5});
  check_close(floats(separable(x)), floats(nn::relu(nn::separable_conv2d(x, v[0], v[1]))));
  check_traced(separable, x);
  const layers::DepthwiseConv1D line(2, {.use_bias = false});
  const Tensor s = images({1, 4, 3});
  line(s);
  const Tensor k = line.variables()[0];
  check_close(floats(line(s)),
              floats(s(0, Slice(0, 3)) * squeeze(k(0), {-1}) + s(0, Slice(1, 4)) * squeeze(k(1), {-1})));
}

TEST_CASE("convolution layers: fans count the receptive field") {
  const layers::Conv2D conv(8, 5);
  conv(images({1, 6, 6, 4}));
  const double limit = std::sqrt(6. / (25 * 4 + 25 * 8));
  const float largest = reduce_max(abs(conv.variables()[0].value())).item<float>();
  CHECK(largest <= limit);
  CHECK(largest > .9 * limit);
}

TEST_CASE("convolution layers: regularizers, copies and clones") {
  const layers::Conv2D conv(1, 1,
                            {.kernel_initializer = initializers::Constant(2),
                             .bias_initializer = initializers::Ones(),
                             .kernel_regularizer = regularizers::L2(0.5),
                             .bias_regularizer = regularizers::L1(3),
                             .activity_regularizer = regularizers::L1(1)});
  conv(ones({1, 2, 2, 1}));
  Floats losses;
  for (const Tensor& l : conv.losses()) losses.push_back(l.item<float>());
  std::sort(losses.begin(), losses.end());
  CHECK(losses == Floats{2, 3, 12});
  struct Net : Model<Net> {
    layers::Conv2D conv{2, 3};
    layers::SeparableConv2D separable{2, 1};
    Tensor operator()(const Tensor& x) const { return separable(conv(x)); }
  };
  const Net net, copy = net;
  const Tensor x = images({1, 3, 3, 1});
  net(x);
  CHECK(net.variables()[0].is_same(copy.variables()[0]));
  const Net clone = net.clone();
  check_close(floats(clone(x)), floats(net(x)));
  clone.variables()[0].assign(0);
  CHECK(floats(clone(x)) != floats(net(x)));
}

// As Keras 3 does, also of a layer that is built; a function whose sizes are unknown does as nn::conv2d.
TEST_CASE("convolution layers: an image that is too small for a window is an error") {
  const auto refuses = [](const auto& layer, const Shape& small, const Shape& large, const std::string& size) {
    for (const bool built : {false, true}) {
      if (built) layer(images(large));
      CHECK(layer.variables().empty() != built);
      CHECK_THROWS_WITH(
          layer(images(small)),
          ContainsSubstring("a window of 3 with dilation 1 does not fit into size " + size + " of spatial axis 0"));
    }
  };
  refuses(layers::Conv2D(4, 3), {1, 2, 5, 2}, {1, 3, 5, 2}, "2");
  refuses(layers::Conv2D(4, 3, nn::relu), {1, 2, 5, 2}, {1, 3, 5, 2}, "2");
  refuses(layers::Conv2D(4, 3, {.strides = 2}), {1, 0, 5, 2}, {1, 3, 5, 2}, "0");
  refuses(layers::Conv2D(4, 3, {.data_format = DataFormat::nchw}), {1, 2, 2, 5}, {1, 2, 3, 5}, "2");
  refuses(layers::Conv1D(4, 3), {1, 2, 2}, {1, 3, 2}, "2");
  refuses(layers::Conv1D(4, 3, {.padding = Padding::causal}), {1, 0, 2}, {1, 3, 2}, "0");
  refuses(layers::Conv3D(4, 3), {1, 2, 5, 5, 2}, {1, 3, 5, 5, 2}, "2");
  refuses(layers::DepthwiseConv2D(3), {1, 2, 5, 2}, {1, 3, 5, 2}, "2");
  refuses(layers::SeparableConv2D(4, 3), {1, 2, 5, 2}, {1, 3, 5, 2}, "2");
  refuses(layers::ConvLSTM2D(4, 3), {1, 2, 2, 5, 2}, {1, 2, 3, 5, 2}, "2");
  CHECK(layers::Conv2D(4, 3)(images({0, 5, 5, 2})).shape() == Shape{0, 3, 3, 4});
  CHECK(layers::Conv2D(4, 3, {.padding = Padding::same})(images({1, 0, 5, 2})).shape() == Shape{1, 0, 5, 4});
  CHECK(layers::MaxPooling2D(3, {.strides = 1})(images({1, 2, 5, 2})).shape() == Shape{1, 0, 3, 2});
  const layers::Conv2D conv(4, 3);
  conv(images({1, 3, 5, 2}));
  const auto f = function([&](const Tensor& x) { return conv(x); }, {.input_signature = {TensorSpec({1, none, 5, 2})}});
  CHECK(f(images({1, 2, 5, 2})).shape() == Shape{1, 0, 3, 4});
  CHECK_THROWS_WITH(f(images({1, 1, 5, 2})), ContainsSubstring("does not fit"));
}

TEST_CASE("convolution layers: wrong input and options are named, and leave the layer as it was") {
  const layers::Conv2D conv(4, 3);
  CHECK_THROWS_WITH(conv(images({1, 5, 5})), ContainsSubstring("Conv2D") && ContainsSubstring("rank 4"));
  CHECK_THROWS_WITH(conv(images({1, 1, 5, 3})), ContainsSubstring("does not fit"));
  CHECK_THROWS_WITH(conv(images({1, 5, 5, 2}, float64)), ContainsSubstring("Conv2D") && ContainsSubstring("float64"));
  CHECK(conv.variables().empty());
  conv(images({1, 5, 5, 2}));
  CHECK_THROWS_WITH(conv(images({1, 5, 5, 4})), ContainsSubstring("Conv2D") && ContainsSubstring("2 channels"));
  CHECK_THROWS_WITH(layers::Conv2D(0, 3), ContainsSubstring("Conv2D") && ContainsSubstring("filters"));
  CHECK_THROWS_WITH(layers::Conv2D(1, {1, 2, 3}), ContainsSubstring("kernel_size"));
  CHECK_THROWS_WITH(layers::Conv2D(1, 3, {.strides = 0}), ContainsSubstring("Conv2D") && ContainsSubstring("strides"));
  CHECK_THROWS_WITH(layers::Conv2D(1, 3, {.padding = {{1, 1}}}), ContainsSubstring("padding"));
  CHECK_THROWS_WITH(layers::Conv2D(3, 3, {.groups = 2}), ContainsSubstring("2 groups"));
  CHECK_THROWS_WITH(layers::Conv2D(4, 3, {.groups = 2})(images({1, 5, 5, 3})), ContainsSubstring("3 channels"));
  CHECK_THROWS_WITH(layers::Conv2DTranspose(1, 3, {.padding = {{1, 1}, {1, 1}}}), ContainsSubstring("Conv2DTranspose"));
  CHECK_THROWS_WITH(layers::Conv2DTranspose(1, 3, {.strides = 2, .output_padding = 2}),
                    ContainsSubstring("output_padding 2"));
  CHECK_THROWS_WITH(layers::DepthwiseConv2D(3)(images({1, 5, 5})), ContainsSubstring("DepthwiseConv2D"));
  const auto unknown = function([](const Tensor& x) { return layers::Conv2D(1, 1)(x); },
                                {.input_signature = {TensorSpec({none, 3, 3, none}, float32)}});
  CHECK_THROWS_WITH(unknown(images({1, 3, 3, 1})), ContainsSubstring("channels must be known"));
}
