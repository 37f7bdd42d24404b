// Zero padding, cropping and upsampling layers.
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/layer_checks.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::check_layer_gradients, testing::check_traced, testing::floats, testing::Floats;

namespace {
Tensor counted(const Shape& shape, DType dtype = float32) {
  return cast(reshape(range(1.f, static_cast<float>(shape.size() + 1)), shape), dtype);
}
}  // namespace

TEST_CASE("ZeroPadding: one number, one for each axis, or two for each axis") {
  const Tensor x = counted({1, 1, 2, 1});
  CHECK(floats(layers::ZeroPadding2D()(x)) == Floats{0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0});
  CHECK(layers::ZeroPadding2D({2, 1})(x).shape() == Shape{1, 5, 4, 1});
  CHECK(floats(layers::ZeroPadding2D({{0, 1}, {1, 0}})(x)) == Floats{0, 1, 2, 0, 0, 0});
  CHECK(floats(layers::ZeroPadding1D({0, 2})(counted({1, 2, 1}))) == Floats{1, 2, 0, 0});
  CHECK(layers::ZeroPadding3D(2)(counted({1, 1, 2, 3, 4})).shape() == Shape{1, 5, 6, 7, 4});
  CHECK(layers::ZeroPadding2D({2, 1}, {.data_format = DataFormat::nchw})(counted({1, 3, 4, 5})).shape() ==
        Shape{1, 3, 8, 7});
}

TEST_CASE("Cropping undoes ZeroPadding") {
  const Tensor x = counted({2, 3, 4, 2});
  CHECK(floats(layers::Cropping2D({{1, 0}, {0, 2}})(layers::ZeroPadding2D({{1, 0}, {0, 2}})(x))) == floats(x));
  CHECK(floats(layers::Cropping1D({1, 1})(counted({1, 4, 1}))) == Floats{2, 3});
  CHECK(floats(layers::Cropping1D()(counted({1, 3, 1}))) == Floats{2});
  CHECK(floats(layers::Cropping2D()(x)) == floats(x));
  CHECK(layers::Cropping3D(1)(counted({1, 3, 4, 5, 2})).shape() == Shape{1, 1, 2, 3, 2});
  CHECK(layers::Cropping2D({1, 0}, {.data_format = DataFormat::nchw})(x).shape() == Shape{2, 3, 2, 2});
}

TEST_CASE("UpSampling repeats pixels") {
  CHECK(floats(layers::UpSampling2D({1, 2})(counted({1, 2, 2, 1}))) == Floats{1, 1, 2, 2, 3, 3, 4, 4});
  CHECK(floats(layers::UpSampling2D()(counted({1, 1, 2, 1}))) == Floats{1, 1, 2, 2, 1, 1, 2, 2});
  CHECK(floats(layers::UpSampling1D(3)(counted({1, 2, 2}))) == Floats{1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4});
  CHECK(layers::UpSampling3D({1, 2, 3})(counted({1, 2, 2, 2, 3})).shape() == Shape{1, 2, 4, 6, 3});
  const Tensor x = counted({2, 3, 2, 2});
  CHECK(floats(layers::UpSampling2D(2, {.data_format = DataFormat::nchw})(transpose(x, {0, 3, 1, 2}))) ==
        floats(transpose(layers::UpSampling2D(2)(x), {0, 3, 1, 2})));
}

TEST_CASE("padding layers: traces of batches of unknown size, gradients") {
  const auto check = [](const auto& layer, const Shape& shape) {
    check_traced(layer, counted(shape));
    check_layer_gradients(layer, counted(shape, float64), {});
  };
  check(layers::ZeroPadding2D({{0, 1}, {2, 1}}), {2, 2, 3, 1});
  check(layers::Cropping2D({{0, 1}, {1, 1}}), {2, 2, 3, 1});
  check(layers::UpSampling2D({3, 2}), {2, 2, 3, 2});
  check(layers::UpSampling1D(2), {2, 3, 2});
  const layers::Sequential all{layers::ZeroPadding2D(1), layers::UpSampling2D(2), layers::Cropping2D({1, 3})};
  const auto f = function([&](const Tensor& x) { return all(x); },
                          {.input_signature = {TensorSpec({none, none, none, 1}, float32)}});
  const Tensor x = counted({1, 3, 4, 1});
  CHECK(floats(f(x)) == floats(all(x)));
  CHECK(f(counted({2, 5, 2, 1})).shape() == Shape{2, 12, 2, 1});
}

TEST_CASE("padding layers: wrong input and borders name the layer") {
  const Tensor x = counted({1, 3, 4, 1});
  CHECK_THROWS_WITH(layers::ZeroPadding1D()(x), ContainsSubstring("ZeroPadding1D"));
  CHECK_THROWS_WITH(layers::ZeroPadding2D({1, 2, 3}),
                    ContainsSubstring("ZeroPadding2D") && ContainsSubstring("3 of 2"));
  CHECK_THROWS_WITH(layers::ZeroPadding2D(-1), ContainsSubstring("negative"));
  CHECK_THROWS_WITH(layers::Cropping2D({{2, 1}, {0, 0}})(x),
                    ContainsSubstring("Cropping2D: nothing is left of axis 1"));
  CHECK_THROWS_WITH(layers::UpSampling2D(0), ContainsSubstring("UpSampling2D: size"));
  CHECK_THROWS_WITH(layers::UpSampling3D()(x), ContainsSubstring("UpSampling3D"));
}
