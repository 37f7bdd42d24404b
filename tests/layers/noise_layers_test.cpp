// Layers that are active in training only.
#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats;

namespace {
const layers::CallOptions training{.training = true};
float mean_of(const Tensor& x) { return reduce_mean(x).item<float>(); }
// Inactive in inference and where there is nothing to do; active by scope and by call; a traced call draws anew.
template <class L>
void check_modes(const L& layer, const L& idle, const Tensor& x) {
  CHECK(layer(x).is_same(x));
  CHECK(idle(x, training).is_same(x));
  CHECK(floats(layer(x, training)) != floats(x));
  const auto f = function([&](const Tensor& t) { return layer(t); }, {.input_signature = {TensorSpec(
                                                                          [&] {
                                                                            Shape s = x.shape();
                                                                            return s.set(0, none), s;
                                                                          }(),
                                                                          float32)}});
  CHECK(floats(f(x)) == floats(x));
  const auto scope = training_scope(true);
  CHECK(floats(layer(x)) != floats(x));
  CHECK(layer(x, {.training = false}).is_same(x));
  const Tensor first = f(x), second = f(x);
  CHECK(first.shape() == x.shape());
  CHECK(floats(first) != floats(second));
}
}  // namespace

TEST_CASE("Dropout: elements are dropped or scaled, as many as the rate says") {
  const layers::Dropout half(0.5);
  const Tensor x = constant({-.1f, 0.f, .1f, .2f});
  const Floats v = floats(x), y = floats(half(x, training));
  for (std::size_t i = 0; i < 4; ++i) CHECK((y[i] == 0 || y[i] == 2 * v[i]));
  const Tensor many = half(ones({100000}), training);
  CHECK(std::abs(mean_of(many) - 1) < .02);
  CHECK(std::abs(mean_of(cast(many != 0, float32)) - .5) < .02);
}

TEST_CASE("noise layers: idle in inference and without noise, active in training, eager and traced") {
  const Tensor x = random::normal({40, 3, 5});
  check_modes(layers::Dropout(.5), layers::Dropout(0), x);
  check_modes(layers::Dropout(.5, {.noise_shape = {none, 1, 5}}), layers::Dropout(0), x);
  check_modes(layers::SpatialDropout1D(.5), layers::SpatialDropout1D(0), x);
  check_modes(layers::GaussianNoise(.5), layers::GaussianNoise(0), x);
  check_modes(layers::GaussianDropout(.5), layers::GaussianDropout(0), x);
  check_modes(layers::AlphaDropout(.5), layers::AlphaDropout(0), x);
  check_modes(layers::AlphaDropout(.5, {.noise_shape = {none, 3, 1}}), layers::AlphaDropout(0), x);
}

TEST_CASE("Dropout in a Sequential follows the training scope, and its gradient the mask") {
  const layers::Sequential net{layers::Dropout(.5), [](const Tensor& x) { return 3 * x; }};
  const Tensor x = ones({1000});
  CHECK(floats(net(x)) == Floats(1000, 3));
  const auto scope = training_scope(true);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = net(x);
  CHECK(floats(tape.gradient(y, x)) == floats(y));
  CHECK(floats(y) != Floats(1000, 3));
}

TEST_CASE("Dropout: equal seeds draw equal sequences after set_seed") {
  const layers::Dropout layer(.5, {.seed = 7});
  const Tensor x = ones({200});
  random::set_seed(3);
  const Floats first = floats(layer(x, training)), second = floats(layer(x, training));
  random::set_seed(3);
  CHECK(floats(layer(x, training)) == first);
  CHECK(first != second);
}

TEST_CASE("SpatialDropout drops whole channels") {
  const Tensor y = layers::SpatialDropout2D(.5)(ones({8, 3, 4, 16}), training);
  const Tensor sums = reduce_sum(y, {1, 2});
  for (const float s : floats(sums)) CHECK((s == 0 || s == 24));
  CHECK(reduce_min(sums).item<float>() == 0);
  CHECK(reduce_max(sums).item<float>() == 24);
  const Tensor first = layers::SpatialDropout2D(.5, {.data_format = DataFormat::nchw})(ones({8, 16, 3, 4}), training);
  for (const float s : floats(reduce_sum(first, {2, 3}))) CHECK((s == 0 || s == 24));
  const Tensor volume = layers::SpatialDropout3D(.5)(ones({4, 2, 2, 2, 8}), training);
  for (const float s : floats(reduce_sum(volume, {1, 2, 3}))) CHECK((s == 0 || s == 16));
}

TEST_CASE("Gaussian noise has the stated mean and variance") {
  const Tensor added = layers::GaussianNoise(2)(zeros({100000}), training);
  CHECK(std::abs(mean_of(added)) < .04);
  CHECK(std::abs(reduce_std(added).item<float>() - 2) < .04);
  const Tensor scaled = layers::GaussianDropout(.2)(ones({100000}), training);
  CHECK(std::abs(mean_of(scaled) - 1) < .01);
  CHECK(std::abs(reduce_std(scaled).item<float>() - .5) < .01);
  CHECK(layers::GaussianNoise(1)(zeros({2}, {.dtype = float64}), training).dtype() == float64);
}

TEST_CASE("AlphaDropout keeps mean 0 and variance 1") {
  const Tensor y = layers::AlphaDropout(.3)(random::normal({100000}), training);
  CHECK(std::abs(mean_of(y)) < .02);
  CHECK(std::abs(reduce_std(y).item<float>() - 1) < .02);
  const Tensor one = layers::AlphaDropout(.3)(zeros({1000}), training);
  const double limit = -1.7580993408473766, a = 1 / std::sqrt(.7 * (1 + .3 * limit * limit)), b = -a * limit * .3;
  for (const float v : floats(one)) CHECK((v == Approx(b) || v == Approx(a * limit + b)));
}

TEST_CASE("ActivityRegularization: a loss in training only") {
  const layers::ActivityRegularization layer({.l1 = .5, .l2 = 2});
  const Tensor x = constant({1.f, -2.f});
  CHECK(layer(x).is_same(x));
  CHECK(layer.losses().empty());
  CHECK(layer(x, training).is_same(x));
  REQUIRE(layer.losses().size() == 1);
  CHECK(layer.losses()[0].item<float>() == (1.5f + 10) / 2);  // for each of two examples, as in Keras 3
  layer(x);
  CHECK(layer.losses().empty());
}

TEST_CASE("noise layers: wrong rates and input name the layer") {
  for (const double rate : {1., -.1, std::nan("")}) {
    CHECK_THROWS_WITH(layers::Dropout(rate), ContainsSubstring("Dropout") && ContainsSubstring("[0, 1)"));
    CHECK_THROWS_WITH(layers::SpatialDropout1D(rate), ContainsSubstring("SpatialDropout1D"));
    CHECK_THROWS_WITH(layers::GaussianDropout(rate), ContainsSubstring("GaussianDropout"));
    CHECK_THROWS_WITH(layers::AlphaDropout(rate), ContainsSubstring("AlphaDropout"));
  }
  CHECK_THROWS_WITH(layers::GaussianNoise(-1), ContainsSubstring("GaussianNoise"));
  CHECK_THROWS_WITH(layers::GaussianNoise(1)(constant({1}), training), ContainsSubstring("GaussianNoise: x must be"));
  CHECK_THROWS_WITH(layers::SpatialDropout2D(.5)(ones({2, 3}), training), ContainsSubstring("SpatialDropout2D"));
  CHECK_THROWS_WITH(layers::AlphaDropout(.5, {.noise_shape = {7}})(ones({2, 3}), training),
                    ContainsSubstring("AlphaDropout: noise_shape"));
}
