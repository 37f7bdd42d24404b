// Pooling layers: windows, whole images, grids.
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/layer_checks.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::check_close, testing::check_layer_gradients, testing::check_traced, testing::floats, testing::Floats;

namespace {
Tensor picture(std::vector<float> pixels, i64 h, i64 w) { return constant(pixels, {.shape = Shape{1, h, w, 1}}); }
Tensor images(const Shape& shape, DType dtype = float32) {
  return random::stateless_normal(shape, {1, 2}, {.dtype = dtype});
}
Tensor channels_first(const Tensor& x) {
  std::vector<int> perm{0, x.rank() - 1};
  for (int i = 1; i < x.rank() - 1; ++i) perm.push_back(i);
  return transpose(x, {.perm = perm});
}
}  // namespace

TEST_CASE("pooling layers: the numbers of the ops") {
  CHECK(floats(layers::MaxPooling2D(3)(picture({1, .2f, 1.5f, .1f, 1.2f, 1.4f, 1.1f, .4f, .4f}, 3, 3))) ==
        Floats{1.5f});
  CHECK(floats(layers::AveragePooling2D(3)(picture({1, 1, 1, 1, .5f, 0, 0, 0, 0}, 3, 3))) == Floats{.5f});
  const Tensor small = picture({1, 2, 3, 4}, 2, 2);
  CHECK(floats(layers::MaxPooling2D(2, {.strides = 1, .padding = Padding::same})(small)) == Floats{4, 4, 4, 4});
  CHECK(floats(layers::AveragePooling2D(2, {.strides = 1, .padding = Padding::same})(small)) ==
        Floats{2.5f, 3, 3.5f, 4});
  const Tensor row = constant({1.f, 5.f, 2.f, 3.f, 9.f}, {.shape = Shape{1, 5, 1}});
  CHECK(floats(layers::MaxPooling1D()(row)) == Floats{5, 3});
  CHECK(floats(layers::AveragePooling1D(3, {.strides = 2})(row)) == Floats{8.f / 3, 14.f / 3});
  CHECK(layers::MaxPooling2D({3, 2}, {.strides = {1, 2}})(images({2, 5, 6, 3})).shape() == Shape{2, 3, 3, 3});
  CHECK(layers::MaxPooling3D()(images({1, 4, 5, 6, 2})).shape() == Shape{1, 2, 2, 3, 2});
  CHECK(floats(layers::AveragePooling3D()(ones({1, 2, 2, 2, 1}))) == Floats{1});
}

TEST_CASE("global pooling layers: maxima and means of the spatial axes") {
  const Tensor x = images({2, 3, 4, 5});
  CHECK(floats(layers::GlobalMaxPooling2D()(x)) == floats(reduce_max(x, {1, 2})));
  CHECK(floats(layers::GlobalAveragePooling2D()(x)) == floats(reduce_mean(x, {1, 2})));
  CHECK(layers::GlobalAveragePooling2D({.keepdims = true})(x).shape() == Shape{2, 1, 1, 5});
  CHECK(layers::GlobalMaxPooling2D({.data_format = DataFormat::nchw})(x).shape() == Shape{2, 3});
  CHECK(layers::GlobalMaxPooling1D()(images({2, 3, 4})).shape() == Shape{2, 4});
  CHECK(layers::GlobalMaxPooling3D()(images({2, 3, 4, 2, 6})).shape() == Shape{2, 6});
  CHECK(layers::GlobalAveragePooling3D()(images({2, 3, 4, 2, 6})).shape() == Shape{2, 6});
}

TEST_CASE("GlobalAveragePooling1D: with a mask, the mean of the steps that count") {
  const Tensor x = reshape(range(1.f, 13.f), {2, 3, 2});
  const Tensor mask = constant({{true, false, true}, {false, false, false}});
  const layers::GlobalAveragePooling1D pool;
  CHECK(floats(pool(x, mask)) == Floats{3, 4, 0, 0});
  CHECK(floats(layers::GlobalAveragePooling1D({.data_format = DataFormat::ncw})(transpose(x, {0, 2, 1}), mask)) ==
        Floats{3, 4, 0, 0});
  CHECK(layers::GlobalAveragePooling1D({.keepdims = true})(x, mask).shape() == Shape{2, 1, 2});
  CHECK_THROWS_WITH(pool(x, ones({2, 3})), ContainsSubstring("GlobalAveragePooling1D") && ContainsSubstring("bool"));
}

TEST_CASE("adaptive pooling layers: windows from floor(i n / o) to ceil((i + 1) n / o)") {
  const Tensor row = constant({1.f, 2.f, 3.f, 4.f, 10.f}, {.shape = Shape{1, 5, 1}});
  CHECK(floats(layers::AdaptiveAveragePooling1D(3)(row)) == Floats{1.5f, 3, 7});  // [0,2) [1,4) [3,5)
  CHECK(floats(layers::AdaptiveMaxPooling1D(3)(row)) == Floats{2, 4, 10});
  CHECK(floats(layers::AdaptiveMaxPooling1D(7)(row)) == Floats{1, 2, 3, 3, 4, 10, 10});
  const Tensor x = images({2, 6, 4, 3});
  check_close(floats(layers::AdaptiveAveragePooling2D({3, 2})(x)), floats(layers::AveragePooling2D(2)(x)));
  CHECK(floats(layers::AdaptiveMaxPooling2D({3, 2})(x)) == floats(layers::MaxPooling2D(2)(x)));
  check_close(floats(layers::AdaptiveAveragePooling2D(1)(x)), floats(reduce_mean(x, {1, 2})));
  const Tensor volume = random::stateless_normal({2, 4, 6, 2, 3}, {1, 2});
  check_close(floats(layers::AdaptiveAveragePooling3D({2, 3, 1})(volume)), floats(layers::AveragePooling3D(2)(volume)));
  CHECK(floats(layers::AdaptiveMaxPooling3D({2, 3, 1})(volume)) == floats(layers::MaxPooling3D(2)(volume)));
  const Tensor y = layers::AdaptiveAveragePooling2D({4, 3})(x);
  CHECK(y.shape() == Shape{2, 4, 3, 3});
  const Tensor window = x(Slice(), Slice(1, 3), Slice(1, 3));
  check_close(floats(y(Slice(), 1, 1)), floats(reduce_mean(window, {1, 2})));
}

TEST_CASE("pooling layers: traces of batches of unknown size, gradients, channels first") {
  const auto check = [](const auto& last, const auto& first, const Shape& shape) {
    const Tensor x = images(shape, float64);
    check_traced(last, x);
    check_layer_gradients(last, x, {});
    Tensor y = last(x);
    if (y.rank() == x.rank()) y = channels_first(y);
    CHECK(test::max_error(first(channels_first(x)), y) < 1e-12);
  };
  const DataFormat f = DataFormat::channels_first;
  check(layers::MaxPooling1D(2), layers::MaxPooling1D(2, {.data_format = f}), {2, 5, 3});
  check(layers::MaxPooling2D(2, {.padding = Padding::same}),
        layers::MaxPooling2D(2, {.padding = Padding::same, .data_format = f}), {2, 3, 4, 2});
  check(layers::AveragePooling2D(3, {.strides = 1}), layers::AveragePooling2D(3, {.strides = 1, .data_format = f}),
        {1, 4, 4, 2});
  check(layers::AveragePooling3D(2), layers::AveragePooling3D(2, {.data_format = f}), {1, 2, 4, 2, 2});
  check(layers::GlobalAveragePooling1D(), layers::GlobalAveragePooling1D({.data_format = f}), {2, 4, 3});
  check(layers::GlobalMaxPooling3D(), layers::GlobalMaxPooling3D({.data_format = f}), {1, 2, 3, 2, 2});
  check(layers::AdaptiveAveragePooling2D(2), layers::AdaptiveAveragePooling2D(2, {.data_format = f}), {2, 3, 5, 2});
  check(layers::AdaptiveMaxPooling1D(2), layers::AdaptiveMaxPooling1D(2, {.data_format = f}), {2, 5, 2});
}

TEST_CASE("pooling layers: wrong input and options name the layer") {
  CHECK_THROWS_WITH(layers::MaxPooling2D()(images({2, 3, 4})), ContainsSubstring("MaxPooling2D"));
  CHECK_THROWS_WITH(layers::MaxPooling2D({1, 2, 3}), ContainsSubstring("MaxPooling2D: pool_size"));
  CHECK_THROWS_WITH(layers::AveragePooling1D(0), ContainsSubstring("AveragePooling1D: pool_size"));
  CHECK_THROWS_WITH(layers::MaxPooling3D(2, {.strides = {1, 2}}), ContainsSubstring("MaxPooling3D: strides"));
  CHECK_THROWS_WITH(layers::MaxPooling1D(2, {.padding = Padding::causal}), ContainsSubstring("MaxPooling1D"));
  CHECK_THROWS_WITH(layers::GlobalMaxPooling1D()(images({2, 3})), ContainsSubstring("GlobalMaxPooling1D"));
  CHECK_THROWS_WITH(layers::AdaptiveMaxPooling1D(2)(images({2, 3, 4, 1})), ContainsSubstring("AdaptiveMaxPooling1D"));
  const auto f = function([](const Tensor& x) { return layers::AdaptiveMaxPooling1D(2)(x); },
                          {.input_signature = {TensorSpec({1, none, 1}, float32)}});
  CHECK_THROWS_WITH(f(images({1, 3, 1})), ContainsSubstring("known size"));
}
