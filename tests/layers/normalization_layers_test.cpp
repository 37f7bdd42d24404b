// Normalization layers: values, moving averages, training and frozen modes, traces, gradients, errors.
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

Tensor samples(const Shape& shape, DType dtype = float32) {
  return 2 * random::stateless_normal(shape, {1, 2}, {.dtype = dtype}) + 1;
}
const Tensor column = constant({{1.f}, {2.f}, {3.f}, {4.f}});
const layers::CallOptions training{.training = true};
// The moving mean and variance of a layer with gamma and beta.
Floats averages(const layers::BatchNormalization& layer) {
  Floats r = floats(layer.variables()[2]);
  for (const float v : floats(layer.variables()[3])) r.push_back(v);
  return r;
}
struct Net : Model<Net> {
  layers::BatchNormalization norm{{.momentum = .5}};
  Tensor operator()(const Tensor& x) const { return norm(x); }
};

}  // namespace

TEST_CASE("BatchNormalization: three batches 1 2 3 4 move the averages to .6775 and 1.06775") {
  const layers::BatchNormalization layer({.momentum = .9});
  for (int i = 0; i < 3; ++i) layer(column, training);
  check_close(averages(layer), {.6775f, 1.06775f}, 1e-6);
  CHECK(layer.trainable_variables().size() == 2);
  CHECK(layer.variables().size() == 4);
  CHECK(layer.named_variables()[2].path == "moving_mean");
}

TEST_CASE("BatchNormalization: in training by the batch, otherwise by the averages, which then do not move") {
  const layers::BatchNormalization layer;
  const double d = std::sqrt(1.25 + .001);
  check_close(floats(layer(column, training)), {float(-1.5 / d), float(-.5 / d), float(.5 / d), float(1.5 / d)});
  check_close(averages(layer), {.025f, .99f + .0125f});
  const double e = std::sqrt(1.0025 + .001);
  const Floats inferred{float(.975 / e), float(1.975 / e), float(2.975 / e), float(3.975 / e)};
  check_close(floats(layer(column)), inferred);
  {
    const auto scope = training_scope(true);
    check_close(floats(layer(column, {.training = false})), inferred);
    check_close(averages(layer), {.025f, 1.0025f});
    layer(column);
  }
  check_close(averages(layer), {.025f * .99f + .025f, 1.0025f * .99f + .0125f});
}

TEST_CASE("BatchNormalization: gamma and beta, or none of them; axes and ranks") {
  const Tensor x = samples({3, 4, 2, 5});
  const layers::BatchNormalization last(
      {.beta_initializer = initializers::RandomNormal(0, 1), .gamma_initializer = initializers::RandomNormal(0, 1)});
  const Tensor mean = reduce_mean(x, {0, 1, 2}), variance = reduce_variance(x, {0, 1, 2});
  const Tensor y = last(x, training);
  check_close(floats(y),
              floats(nn::batch_normalization(x, mean, variance, last.variables()[1], last.variables()[0], .001)), 1e-4);
  const layers::BatchNormalization first({.axis = 1});
  first(transpose(x, {0, 3, 1, 2}));
  first.set_weights(last.get_weights());
  check_close(floats(transpose(first(transpose(x, {0, 3, 1, 2}), training), {0, 2, 3, 1})), floats(y), 1e-4);
  const layers::BatchNormalization plain({.center = false, .scale = false});
  check_close(floats(plain(x, training)), floats(nn::batch_normalization(x, mean, variance, {}, {}, .001)), 1e-4);
  CHECK(plain.trainable_variables().empty());
  CHECK(plain.variables().size() == 2);
  const layers::BatchNormalization scaled({.center = false});
  CHECK(scaled(x).shape() == x.shape());
  CHECK(scaled.variables()[0].name() == "gamma");
  CHECK(layers::BatchNormalization()(samples({2, 1, 2, 1, 2, 3}), training).shape() == Shape{2, 1, 2, 1, 2, 3});
}

TEST_CASE("BatchNormalization: a frozen layer infers, also when the model around it was frozen") {
  const auto moves = [](const Net& net) {
    const Floats before = floats(net.variables()[2]);
    const auto scope = training_scope(true);
    net(column);
    return floats(net.variables()[2]) != before;
  };
  const Net net;
  net(column);
  CHECK(moves(net));
  net.norm.set_trainable(false);
  CHECK_FALSE(moves(net));
  net.norm.set_trainable(true);
  CHECK(moves(net));
  net.set_trainable(false);
  CHECK_FALSE(moves(net));
  CHECK_FALSE(moves(net.clone()));
  net.set_trainable(true);
  CHECK(moves(net));
  CHECK(moves(net.clone()));
}

TEST_CASE("BatchNormalization: frozen with a Sequential, also where it is added later") {
  const layers::BatchNormalization inner, later;
  layers::Sequential net{layers::Sequential(inner)};
  net.set_trainable(false);
  net.add(later);
  const auto scope = training_scope(true);
  net(column);
  CHECK(averages(inner) == Floats{0, 1});
  CHECK(averages(later) == Floats{0, 1});
  net.set_trainable(true);
  net(column);
  CHECK(averages(inner)[0] != 0);
  CHECK(averages(later)[1] != 1);
}

TEST_CASE("BatchNormalization: traced calls move the averages as eager ones do, in both modes, for all batch sizes") {
  const layers::BatchNormalization eager({.momentum = .5}), traced({.momentum = .5});
  const auto f =
      function([&](const Tensor& x) { return traced(x); }, {.input_signature = {TensorSpec({none, 3}, float32)}});
  for (const i64 n : {4, 7}) {
    const Tensor x = samples({n, 3});
    const auto scope = training_scope(true);
    check_close(floats(f(x)), floats(eager(x)));
    check_close(averages(traced), averages(eager));
  }
  const Tensor x = samples({2, 3});
  check_close(floats(f(x)), floats(eager(x)));
  check_close(averages(traced), averages(eager));
  CHECK(f.trace_count() == 2);
}

TEST_CASE("BatchNormalization: in a branch of cond only the branch that runs moves the averages") {
  const layers::BatchNormalization layer({.momentum = .5});
  layer(column);
  const auto f = function([&](const Tensor& x, const Tensor& train) {
    return cond(
        train, [&] { return layer(x, {.training = true}); }, [&] { return layer(x, {.training = false}); });
  });
  f(column, constant(false));
  CHECK(averages(layer) == Floats{0, 1});
  f(column, constant(true));
  check_close(averages(layer), {1.25f, 1.125f});
}

TEST_CASE("BatchNormalization: building from a shape in a training scope leaves the averages") {
  const layers::BatchNormalization layer;
  const layers::Sequential net{layer};
  const auto scope = training_scope(true);
  net.build({none, 2});
  CHECK(averages(layer) == Floats{0, 0, 1, 1});
}

TEST_CASE("BatchNormalization: trains in a traced step with an optimizer") {
  random::set_seed(5);
  const layers::Sequential net{layers::Dense(4, nn::tanh), layers::BatchNormalization({.momentum = .8}),
                               layers::Dense(1)};
  net.build({none, 2});
  optimizers::Adam adam({.learning_rate = .02});
  const Tensor x = samples({32, 2}), target = expand_dims(reduce_prod(x, {1}), 1);
  const auto step = function([&](const Tensor& a, const Tensor& b) {
    const auto scope = training_scope(true);
    GradientTape tape;
    const Tensor loss = reduce_mean(square(net(a) - b));
    const std::vector<Variable> w = net.trainable_variables();
    adam.apply_gradients(tape.gradient(loss, w), w);
    return loss;
  });
  const float before = step(x, target).item<float>();
  for (int i = 0; i < 200; ++i) step(x, target);
  CHECK(step(x, target).item<float>() < .5f * before);
  const Tensor inferred = reduce_mean(square(net(x) - target));
  CHECK(inferred.item<float>() < .5f * before);
}

TEST_CASE("BatchNormalization: half precision keeps averages in float32") {
  const layers::BatchNormalization layer({.dtype = bfloat16});
  const Tensor x = cast(column, bfloat16);
  CHECK(layer(x, training).dtype() == bfloat16);
  CHECK(layer(x).dtype() == bfloat16);
  CHECK(layer.variables()[2].dtype() == float32);
  CHECK(averages(layer)[0] == Approx(.025));
}

TEST_CASE("LayerNormalization, RMSNormalization: the numbers, axes, options") {
  const Tensor row = constant({{1.f, 2.f, 3.f, 4.f}});
  check_close(floats(layers::LayerNormalization()(row)), {-1.3411045f, -.4470348f, .4470348f, 1.3411045f});
  const Tensor x = samples({2, 3, 4});
  const layers::LayerNormalization two({.axis = {1, 2},
                                        .beta_initializer = initializers::RandomNormal(0, 1),
                                        .gamma_initializer = initializers::RandomNormal(0, 1)});
  const Tensor y = two(x);
  CHECK(two.variables()[0].shape() == Shape{3, 4});
  const nn::Moments m = nn::moments(x, {1, 2}, {.keepdims = true});
  check_close(floats(y), floats((x - m.mean) / sqrt(m.variance + .001) * two.variables()[0] + two.variables()[1]),
              1e-4);
  const layers::LayerNormalization plain({.center = false, .scale = false});
  plain(x);
  CHECK(plain.variables().empty());
  const layers::RMSNormalization rms({.scale_initializer = initializers::Constant(2)});
  check_close(floats(rms(row)), floats(2 * row / std::sqrt(7.5)));
}

TEST_CASE("GroupNormalization, UnitNormalization: the numbers") {
  const Tensor x = constant({{0.f, 1.f, 2.f, 3.f}, {4.f, 5.f, 6.f, 7.f}});
  Floats expected;
  for (int i = 0; i < 4; ++i) expected.push_back(-.998006f), expected.push_back(.998006f);
  check_close(floats(layers::GroupNormalization({.groups = 2})(x)), expected);
  const Tensor image = samples({2, 3, 3, 4});
  check_close(floats(layers::GroupNormalization({.groups = -1})(image)), floats(nn::instance_norm(image)));
  check_close(floats(layers::GroupNormalization({.groups = 1, .center = false, .scale = false})(image)),
              floats(nn::layer_norm(image, {1, 2, 3})), 1e-4);
  CHECK(layers::GroupNormalization()(samples({2, 64})).shape() == Shape{2, 64});
  check_close(floats(layers::UnitNormalization()(constant({{3.f, 4.f}, {0.f, 0.f}}))), {.6f, .8f, 0, 0});
  check_close(floats(layers::UnitNormalization(0)(constant({{3.f}, {4.f}}))), {.6f, .8f});
}

TEST_CASE("normalization layers: gradients and traces") {
  const auto check = [](const auto& layer, const Shape& shape) {
    const Tensor x = samples(shape, float64);
    layer(x);
    check_layer_gradients(layer, x, layer.trainable_variables());
    check_traced(layer, x);
  };
  check(layers::BatchNormalization({.dtype = float64}), {3, 2});
  check(layers::LayerNormalization({.dtype = float64}), {2, 3});
  check(layers::LayerNormalization({.axis = {1, 2}, .dtype = float64}), {2, 2, 3});
  check(layers::RMSNormalization({.dtype = float64}), {2, 3});
  check(layers::GroupNormalization({.groups = 2, .dtype = float64}), {2, 2, 4});
  check(layers::UnitNormalization(), {2, 3});
  for (const bool has_parameters : {true, false}) {
    const layers::BatchNormalization norm({.center = has_parameters, .scale = has_parameters, .dtype = float64});
    const Tensor x = samples({4, 2, 3}, float64);
    norm(x);
    check_layer_gradients([&](const Tensor& t) { return norm(t, training); }, x, norm.trainable_variables());
  }
}

TEST_CASE("normalization layers: regularizers") {
  const layers::BatchNormalization norm({.gamma_regularizer = regularizers::L2(2)});
  norm(column);
  REQUIRE(norm.losses().size() == 1);
  CHECK(norm.losses()[0].item<float>() == 2);
}

TEST_CASE("normalization layers: wrong input and options name the layer, and leave it as it was") {
  const layers::BatchNormalization norm;
  CHECK_THROWS_WITH(norm(constant({1.f})), ContainsSubstring("BatchNormalization") && ContainsSubstring("rank 2"));
  CHECK_THROWS_WITH(norm(samples({2, 2}, float64)),
                    ContainsSubstring("BatchNormalization") && ContainsSubstring("dtype"));
  CHECK(norm.variables().empty());
  norm(column);
  CHECK_THROWS_WITH(norm(samples({2, 3}), training),
                    ContainsSubstring("BatchNormalization") && ContainsSubstring("1 channels"));
  CHECK(averages(norm) == Floats{0, 1});
  CHECK_THROWS_WITH(layers::BatchNormalization({.axis = 5})(column), ContainsSubstring("BatchNormalization: axis 5"));
  CHECK_THROWS_WITH(layers::BatchNormalization({.momentum = 1.5}), ContainsSubstring("momentum"));
  CHECK_THROWS_WITH(layers::LayerNormalization({.axis = 3})(column), ContainsSubstring("LayerNormalization: axis 3"));
  CHECK_THROWS_WITH(layers::GroupNormalization({.groups = 0}), ContainsSubstring("GroupNormalization"));
  CHECK_THROWS_WITH(layers::GroupNormalization({.groups = 2})(samples({2, 3})), ContainsSubstring("2 groups"));
  CHECK_THROWS_WITH(layers::RMSNormalization()(constant({1})), ContainsSubstring("RMSNormalization"));
}

TEST_CASE("BatchNormalization: an empty batch leaves the averages, also one of unknown size") {
  const layers::BatchNormalization layer({.momentum = .5});
  const auto scope = training_scope(true);
  const auto traced =
      function([&](const Tensor& x) { return layer(x); }, {.input_signature = {TensorSpec({none, 1}, float32)}});
  for (const bool is_traced : {false, true}) {
    const auto call = [&](const Tensor& x) { return is_traced ? traced(x) : layer(x); };
    CHECK(call(zeros({0, 1})).shape() == Shape{0, 1});
    CHECK(layer.variables()[2].item<float>() == (is_traced ? 1 : 0));
    call(constant({{1.f}, {3.f}}));
  }
  CHECK(layer.variables()[2].item<float>() == 1.5f);
  CHECK(layer.variables()[3].item<float>() == 1);
}
