// Activations as layers.
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/layer_checks.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::check_close, testing::check_layer_gradients, testing::check_traced, testing::floats, testing::Floats;

namespace {
const Tensor points = constant({-1.f, 0.f, 1.f, 2.f});
Tensor samples(const Shape& shape) { return random::stateless_normal(shape, {1, 2}, {.dtype = float64}); }
}  // namespace

TEST_CASE("Activation: an op, a constant or a function, by itself and in a Sequential") {
  check_close(floats(layers::Activation(nn::tanh)(points)), floats(tanh(points)));
  const layers::Sequential net{layers::Activation(nn::relu), layers::Activation::sigmoid,
                               layers::Activation([](const Tensor& x) { return 2 * x; })};
  check_close(floats(net(points)), floats(2 * sigmoid(nn::relu(points))));
}

TEST_CASE("ReLU: bound, slope and threshold") {
  CHECK(floats(layers::ReLU()(points)) == Floats{0, 0, 1, 2});
  CHECK(floats(layers::ReLU({.max_value = 1.5})(points)) == Floats{0, 0, 1, 1.5});
  CHECK(floats(layers::ReLU({.max_value = 0})(points)) == Floats{0, 0, 0, 0});
  CHECK(floats(layers::ReLU({.negative_slope = .5})(points)) == Floats{-.5, 0, 1, 2});
  CHECK(floats(layers::ReLU({.threshold = 1.5})(points)) == Floats{0, 0, 0, 2});
  CHECK(floats(layers::ReLU({.max_value = 1.75, .negative_slope = .5, .threshold = 1})(points)) ==
        Floats{-1, -.5, 1, 1.75});
  CHECK(layers::ReLU()(range(-2, 3)).to_vector<int>() == std::vector<int>{0, 0, 0, 1, 2});
  CHECK(std::isnan(floats(layers::ReLU({.max_value = 1, .threshold = .5})(constant({std::nanf("")})))[0]));
  CHECK_THROWS_WITH(layers::ReLU({.negative_slope = -1}), ContainsSubstring("ReLU"));
  CHECK_THROWS_WITH(layers::ReLU({.max_value = -1}), ContainsSubstring("ReLU"));
}

TEST_CASE("LeakyReLU, ELU: slopes and limits") {
  check_close(floats(layers::LeakyReLU()(points)), {-.3f, 0, 1, 2});
  check_close(floats(layers::LeakyReLU({.negative_slope = .1})(points)), {-.1f, 0, 1, 2});
  check_close(floats(layers::ELU()(points)), {-.6321206f, 0, 1, 2});
  check_close(floats(layers::ELU({.alpha = 2})(points)), {-1.2642411f, 0, 1, 2});
}

TEST_CASE("PReLU: learned slopes, shared or not") {
  const layers::PReLU own({.alpha_initializer = initializers::Constant(.5), .dtype = float64});
  const Tensor x = samples({3, 2, 4});
  check_close(floats(cast(own(x), float32)), floats(cast(where(x > 0, x, .5 * x), float32)));
  CHECK(own.variables()[0].shape() == Shape{2, 4});
  CHECK(own.named_variables()[0].path == "alpha");
  const layers::PReLU shared({.shared_axes = {1}, .dtype = float64});
  shared(x);
  CHECK(shared.variables()[0].shape() == Shape{1, 4});
  shared(samples({2, 7, 4}));
  shared.variables()[0].assign(random::normal({1, 4}, {.dtype = float64}));
  for (const layers::PReLU* layer : {&own, &shared}) {
    check_layer_gradients(*layer, x, layer->variables());
    check_traced(*layer, x);
  }
  CHECK_THROWS_WITH(own(samples({3, 1, 4})), ContainsSubstring("PReLU: the layer was built for inputs"));
  CHECK_THROWS_WITH(layers::PReLU()(constant({1.f})), ContainsSubstring("PReLU"));
  CHECK_THROWS_WITH(layers::PReLU({.shared_axes = {3}})(x), ContainsSubstring("PReLU: axis 3"));
  CHECK_THROWS_WITH(layers::PReLU({.shared_axes = {0}})(x), ContainsSubstring("batch"));
}

TEST_CASE("Softmax: along an axis, and over the elements of a mask") {
  const Tensor x = constant({{1.f, 2.f, 3.f}, {4.f, 1.f, 0.f}});
  check_close(floats(layers::Softmax()(x)), floats(nn::softmax(x)));
  check_close(floats(layers::Softmax({.axis = 0})(x)), floats(nn::softmax(x, 0)));
  const Tensor mask = constant({{true, true, false}, {false, false, false}});
  const float e = std::exp(1.f);
  const Floats y = floats(layers::Softmax()(x, mask));
  check_close(Floats(y.begin(), y.begin() + 3), {1 / (1 + e), e / (1 + e), 0});
  CHECK(y[3] + y[4] + y[5] == Approx(1));
  CHECK(layers::Softmax()(cast(x, float16), mask).dtype() == float16);
  CHECK_THROWS_WITH(layers::Softmax()(x, x), ContainsSubstring("Softmax: the mask"));
}

TEST_CASE("activation layers: gradients and traces") {
  const auto check = [](const auto& layer) {
    check_layer_gradients(layer, samples({2, 5}), {});
    check_traced(layer, samples({2, 5}));
  };
  check(layers::ReLU({.max_value = .6, .negative_slope = .1, .threshold = .2}));
  check(layers::LeakyReLU());
  check(layers::ELU({.alpha = .7}));
  check(layers::Softmax());
}
