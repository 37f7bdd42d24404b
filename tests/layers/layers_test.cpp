// Layers in general: Sequential, regularizers, the training mode, summaries, merging layers, layers of one's own.
#include "tandem/layers/all.hpp"

#include "tandem/module/model.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats;

namespace {

struct Scale : layers::Layer {
  Scale() : Layer("scale") {}
  Tensor operator()(const Tensor& x) const {
    return run_with_weights(
        [&] {
          return Weights{{"scale", {features_of("Scale", x)}, initializers::Constant(3)}};
        },
        [&](const Tensors& w) { return x * w[0]; });
  }
};
// Doubles in training.
struct Doubling : layers::Layer {
  Doubling() : Layer("doubling") {}
  Tensor operator()(const Tensor& x, const layers::CallOptions& call = {}) const {
    return call.is_training() ? 2 * x : x;
  }
};
const Tensor pair_of_rows = constant({{1.f, 2.f}, {-1.f, .5f}});

}  // namespace

TEST_CASE("Sequential: layers and functions, one after the other") {
  const layers::Sequential net{layers::Flatten(), layers::Dense(3, nn::relu), [](const Tensor& x) { return 2 * x; },
                               Scale()};
  const Tensor x = reshape(range(0.f, 24.f), {2, 3, 4});
  const Tensor y = net(x);
  const std::vector<Variable> w = net.variables();
  REQUIRE(w.size() == 3);
  CHECK(floats(y) == floats(6 * nn::relu(matmul(reshape(x, {2, 12}), w[0]) + w[1])));
  CHECK(net.named_variables()[0].path == "dense/kernel");
  CHECK(net.named_variables()[2].path == "scale/scale");
  GradientTape tape;
  const Tensor loss = reduce_sum(net(x));
  for (const Gradient& g : tape.gradient(loss, w)) CHECK(g.is_set());
}

TEST_CASE("Sequential: the second layer of a class has a name of its own; nested models; an empty one") {
  const layers::Sequential net{layers::Dense(2), layers::Sequential(layers::Dense(2), layers::Dense(1)),
                               layers::Dense(1)};
  net.build({none, 4});
  std::vector<std::string> paths;
  for (const Module::Named& n : net.named_variables()) paths.push_back(n.path);
  CHECK(paths == std::vector<std::string>{"dense/kernel", "dense/bias", "sequential/dense/kernel",
                                          "sequential/dense/bias", "sequential/dense_1/kernel",
                                          "sequential/dense_1/bias", "dense_1/kernel", "dense_1/bias"});
  CHECK(net.count_params() == 4 * 2 + 2 + 6 + 3 + 2);
  CHECK(floats(layers::Sequential()(pair_of_rows)) == Floats{1, 2, -1, .5f});
}

TEST_CASE("build makes the weights from a shape alone, also inside of a trace") {
  const layers::Sequential net{layers::Dense(3), layers::Dense(1)};
  net.build({none, 4});
  CHECK(net.variables().size() == 4);
  CHECK(floats(net.variables()[1]) == Floats{0, 0, 0});
  const layers::Sequential traced{layers::Dense(1)};
  const auto f = function([&](const Tensor& x) {
    traced.build({none, 2});
    return traced(x);
  });
  CHECK(f(pair_of_rows).shape() == Shape{2, 1});
  CHECK(traced.variables()[0].shape() == Shape{2, 1});
  CHECK_THROWS_WITH(layers::Sequential(layers::Dense(1)).build({none, none}), ContainsSubstring("Dense"));
}

TEST_CASE("a call that raises leaves the layers after it unbuilt") {
  const layers::Sequential net{layers::Dense(3), layers::Reshape({2, 2}), layers::Dense(1)};
  CHECK_THROWS_WITH(net(pair_of_rows), ContainsSubstring("reshape"));
  CHECK(net.variables().size() == 2);
}

TEST_CASE("Sequential: itself as a layer raises and is not added") {
  layers::Sequential net{layers::Dense(3)};
  CHECK_THROWS_WITH(net.add(net), ContainsSubstring("itself"));
  CHECK(net.size() == 1);
  CHECK(net(pair_of_rows).shape() == Shape{2, 3});
}

TEST_CASE("Sequential: a layer that is added later makes the output shape of the summary unknown") {
  layers::Sequential net{layers::Dense(3)};
  net(pair_of_rows);
  CHECK_THAT(net.summary(), ContainsSubstring("sequential     (None, 3)"));
  net.add(layers::Dense(4));
  CHECK(net(pair_of_rows).shape() == Shape{2, 4});
  CHECK_THAT(net.summary(), ContainsSubstring("sequential       -"));
}

TEST_CASE("summary: a cell and attention with scores have no output shape of rank 0") {
  struct Net : Model<Net> {
    layers::RNN<layers::LSTMCell> rnn{layers::LSTMCell(2)};
    layers::TransformerBlock block{4, 1};
  };
  const Net net;
  net.rnn(ones({1, 3, 2}));
  net.block(ones({1, 3, 2}));
  CHECK_THAT(net.summary(), !ContainsSubstring("[]"));
}

TEST_CASE("losses of outputs: none from build(); those of a traced call raise outside of it") {
  const layers::Sequential net{
      layers::Dense(1, {.kernel_initializer = initializers::Ones(), .activity_regularizer = regularizers::L2(1)})};
  net.build({none, 2});
  CHECK(net.losses().empty());  // build() computes nothing
  const auto traced = function([&](const Tensor& x) {
    net(x);
    return add_n(net.losses());
  });
  CHECK(traced(ones({1, 2})).item<float>() == 4);
  CHECK_THROWS_WITH(add_n(net.losses()), ContainsSubstring("finished trace"));  // a penalty is not lost silently
  net(ones({2, 2}));
  net.build({none, 2});
  REQUIRE(net.losses().size() == 1);
  CHECK(net.losses()[0].item<float>() == 4);
}

TEST_CASE("rates of dropout outside of [0, 1) raise when the layer is made, with its name") {
  CHECK_THROWS_WITH(layers::LSTM(2, {.dropout = 1.5}), ContainsSubstring("LSTM: rate 1.5"));
  CHECK_THROWS_WITH(layers::RNN(layers::GRUCell(2), {.dropout = -1}), ContainsSubstring("RNN: rate -1"));
  CHECK_THROWS_WITH(layers::Attention({.dropout = 1}), ContainsSubstring("Attention: rate 1"));
  CHECK_THROWS_WITH(layers::AdditiveAttention({.dropout = 1}), ContainsSubstring("AdditiveAttention: rate 1"));
  CHECK_THROWS_WITH(layers::MultiHeadAttention(1, 2, {.dropout = 1}), ContainsSubstring("MultiHeadAttention: rate 1"));
  CHECK_THROWS_WITH(layers::TransformerBlock(2, 1, {.dropout = 1}), ContainsSubstring("TransformerBlock: rate 1"));
}

TEST_CASE("TransformerBlock: a first call that raises makes no weights, those of attention neither") {
  const auto flat = [](const Tensor& x) { return reshape(x, {-1}); };
  const layers::TransformerBlock block(4, 2, {.activation = flat});
  CHECK_THROWS_WITH(block(ones({1, 2, 4})), ContainsSubstring("dense"));
  CHECK(block.variables().empty());
}

TEST_CASE("positions: errors name the layer") {
  const layers::PositionEmbedding learned(5);
  learned(ones({2, 3, 4}));
  CHECK_THROWS_WITH(learned(ones({2, 3, 5})), ContainsSubstring("PositionEmbedding: the layer was built for 4"));
  CHECK_THROWS_WITH(layers::SinePositionEncoding()(ones({1, 2, 4}, {.dtype = int32})),
                    ContainsSubstring("SinePositionEncoding: x must be floating"));
}

TEST_CASE("copies of a Sequential share weights, clones of a Model have their own") {
  struct Net : Model<Net> {
    layers::Sequential body{layers::Dense(2), Scale()};
    Tensor operator()(const Tensor& x) const { return body(x); }
  };
  const Net a;
  a(pair_of_rows);
  const Net shared = a, own = a.clone();
  a.variables()[0].assign(0);
  CHECK(floats(shared(pair_of_rows)) == Floats{0, 0, 0, 0});
  CHECK(floats(own(pair_of_rows)) != Floats{0, 0, 0, 0});
  CHECK(own.variables().size() == 3);
}

TEST_CASE("regularizers: the penalties of the trainable weights, with gradients") {
  const layers::Dense d(2, {.kernel_initializer = initializers::Constant(-2),
                            .bias_initializer = initializers::Ones(),
                            .kernel_regularizer = regularizers::L2(0.01),
                            .bias_regularizer = regularizers::L1(0.5)});
  CHECK(d.losses().empty());
  d.build(3);
  GradientTape tape;
  const std::vector<Tensor> losses = d.losses();
  REQUIRE(losses.size() == 2);
  CHECK(losses[0].item<float>() == 0.01f * 24);
  CHECK(losses[1].item<float>() == 1);
  const auto g = tape.gradient(add_n(losses), d.variables());
  CHECK(floats(g[0]) == Floats(6, -0.04f));
  CHECK(floats(g[1]) == Floats{.5f, .5f});
  d.set_trainable(false);
  CHECK(d.losses().empty());
}

TEST_CASE("regularizers of outputs: divided by the batch, which may be unknown or empty") {
  const layers::Dense d(1, {.kernel_initializer = initializers::Ones(), .activity_regularizer = regularizers::L1(1)});
  d(ones({4, 3}));
  CHECK(d.losses().at(0).item<float>() == 3);
  const auto traced = function(
      [&](const Tensor& x) {
        d(x);
        return add_n(d.losses());
      },
      {.input_signature = {TensorSpec({none, 3}, float32)}});
  CHECK(traced(ones({2, 3})).item<float>() == 3);
  CHECK(traced(ones({0, 3})).item<float>() == 0);
  CHECK(regularizers::L2(1).of_output(constant(2.f)).item<float>() == 4);
  // Rounded once: the sum over all rows, 100,000, is not a float16.
  const Tensor half = regularizers::L2(1).of_output(ones({1000, 100}, {.dtype = float16}));
  CHECK(half.dtype() == float16);
  CHECK(cast(half, float32).item<float>() == 100);
  const Regularizer own([](const Tensor& y) { return reduce_sum(square(cast(y, float32))); });
  CHECK(own.of_output(fill({2, 1000}, 20.f, {.dtype = float16})).item<float>() == 400'000);
}
TEST_CASE("regularizers of outputs: TimeDistributed divides by the batch, not by the steps") {
  const layers::Dense d(2, {.kernel_initializer = initializers::Ones(), .activity_regularizer = regularizers::L2(.1)});
  const layers::TimeDistributed each(d), nested(each);
  const Tensor x = ones({2, 3, 4});
  const auto penalty = [&](const auto& layer, const Tensor& in) {
    layer(in);
    REQUIRE(d.losses().size() == 1);
    return d.losses()[0].template item<float>();
  };
  CHECK(penalty(d, x) == Approx(9.6));  // .1 * 12 * 16 / 2, as Keras' Dense
  CHECK(penalty(each, x) == Approx(9.6));
  CHECK(penalty(nested, ones({2, 3, 5, 4})) == Approx(48));
  CHECK(penalty(layers::Sequential{each}, x) == Approx(9.6));
  layers::SequenceMask mask = fill({2, 3}, true);
  each.call_with_mask(x, mask);
  CHECK(d.losses()[0].item<float>() == Approx(9.6));
  const auto open = function(
      [&](const Tensor& in) {
        each(in);
        return add_n(d.losses());
      },
      {.input_signature = {TensorSpec({none, none, 4}, float32)}});
  CHECK(open(x).item<float>() == Approx(9.6));
  CHECK(penalty(d, x[0]) == Approx(1.6 * 2));  // outside of it, as before
}
TEST_CASE("regularizers: L1L2, a function of one's own, of the output; a shared layer counts once") {
  const layers::Dense d(1, {.kernel_initializer = initializers::Constant(2),
                            .kernel_regularizer = regularizers::L1L2(1, 0.5),
                            .bias_regularizer = [](const Tensor& b) { return reduce_max(b) + 7; },
                            .activity_regularizer = regularizers::L2(1)});
  const layers::Sequential twice{d, layers::Reshape({1}), d};
  twice(ones({2, 1}));
  std::vector<float> values;
  for (const Tensor& loss : twice.losses()) values.push_back(loss.item<float>());
  std::sort(values.begin(), values.end());
  CHECK(values == std::vector<float>{2 + .5f * 4, 7, 16});  // weights once, the latest output for each of two examples
}

TEST_CASE("the training mode: by scope, by call, and in traced functions") {
  const layers::Sequential net{Doubling()};
  const Tensor x = constant(3.f);
  const auto value = [&] { return net(x).item<float>(); };
  CHECK(value() == 3);
  const auto traced = function([&](const Tensor& t) { return net(t); });
  CHECK(traced(x).item<float>() == 3);
  {
    const auto scope = training_scope(true);
    CHECK(value() == 6);
    CHECK(traced(x).item<float>() == 6);
    {
      const auto inner = training_scope(false);
      CHECK(value() == 3);
    }
    CHECK(Doubling()(x, {.training = false}).item<float>() == 3);
    CHECK(value() == 6);
  }
  CHECK(traced(x).item<float>() == 3);
  CHECK(traced.trace_count() == 2);
  CHECK(Doubling()(x, {.training = true}).item<float>() == 6);
}

TEST_CASE("summary: layers, output shapes, parameters") {
  const layers::Sequential net{layers::Flatten(), layers::Dense(128, nn::relu), layers::Dense(10)};
  net.build({none, 28, 28});
  CHECK(net.summary() ==
        "Layer              Output shape    Parameters\n"
        "---------------------------------------------\n"
        "sequential         (None, 10)               0\n"
        "flatten (flatten)  (None, 784)              0\n"
        "dense (dense)      (None, 128)        100,480\n"
        "dense_1 (dense)    (None, 10)           1,290\n"
        "---------------------------------------------\n"
        "Total: 101,770, trainable: 101,770\n");
  net.set_trainable(false);
  CHECK_THAT(net.summary(), ContainsSubstring("trainable: 0"));
}

TEST_CASE("layers that rearrange") {
  const Tensor x = reshape(range(0.f, 12.f), {2, 3, 2});
  CHECK(layers::Flatten()(x).shape() == Shape{2, 6});
  CHECK(layers::Flatten()(constant({1.f, 2.f})).shape() == Shape{2, 1});
  CHECK(layers::Flatten()(zeros({0, 3, 2})).shape() == Shape{0, 6});
  CHECK(layers::Reshape({2, -1})(x).shape() == Shape{2, 2, 3});
  CHECK(floats(layers::Permute({2, 1})(x)) == floats(transpose(x, {0, 2, 1})));
  CHECK(floats(layers::RepeatVector(2)(constant({{1.f, 2.f}, {3.f, 4.f}}))) == Floats{1, 2, 1, 2, 3, 4, 3, 4});
  CHECK_THROWS_WITH(layers::Permute({0, 1}), ContainsSubstring("permutation of 1 to 2"));
  CHECK_THROWS_WITH(layers::Permute({1, 1}), ContainsSubstring("permutation"));
  CHECK_THROWS_WITH(layers::Flatten()(constant(1.f)), ContainsSubstring("Flatten"));
  CHECK_THROWS_WITH(layers::RepeatVector(2)(x), ContainsSubstring("[batch, features]"));
  CHECK_THROWS_WITH(layers::RepeatVector(0), ContainsSubstring("positive"));
}

TEST_CASE("layers that rearrange a batch of unknown size") {
  const auto f = function(
      [](const Tensor& x) {
        return layers::Flatten()(layers::Permute({2, 1})(layers::Reshape({3, 2})(layers::Flatten()(x))));
      },
      {.input_signature = {TensorSpec({none, 2, 3}, float32)}});
  CHECK(floats(f(reshape(range(0.f, 6.f), {1, 2, 3}))) == Floats{0, 2, 4, 1, 3, 5});
  CHECK(f(zeros({4, 2, 3})).shape() == Shape{4, 6});
  CHECK(f.trace_count() == 1);
}

TEST_CASE("layers of several inputs") {
  const Tensor a = constant({{1.f, 4.f}}), b = constant({{3.f, 2.f}}), c = constant({{5.f, 0.f}});
  CHECK(floats(layers::Add()({a, b, c})) == Floats{9, 6});
  CHECK(floats(layers::Multiply()({a, b})) == Floats{3, 8});
  CHECK(floats(layers::Maximum()({a, b, c})) == Floats{5, 4});
  CHECK(floats(layers::Minimum()({a, b, c})) == Floats{1, 0});
  CHECK(floats(layers::Average()({a, b, c})) == Floats{3, 2});
  CHECK(floats(layers::Subtract()({a, b})) == Floats{-2, 2});
  CHECK(floats(layers::Concatenate()({a, b})) == Floats{1, 4, 3, 2});
  CHECK(layers::Concatenate(0)({a, b}).shape() == Shape{2, 2});
  CHECK(floats(layers::Dot(1)({a, b})) == Floats{11});
  CHECK(layers::Dot(1)({a, b}).shape() == Shape{1, 1});
  CHECK(layers::Dot(1, {.normalize = true})({a, a}).item<float>() == Approx(1));
  const Tensor m = reshape(range(0.f, 12.f), {2, 2, 3});
  CHECK(floats(layers::Dot(2)({m, m})) == floats(matmul(m, m, {.transpose_b = true})));
  CHECK(floats(layers::Dot(1)({m, m})) == floats(matmul(m, m, {.transpose_a = true})));
  CHECK_THROWS_WITH(layers::Add()({a}), ContainsSubstring("Add") && ContainsSubstring("two or more"));
  CHECK_THROWS_WITH(layers::Subtract()({a, b, c}), ContainsSubstring("two tensors"));
  const Tensor tall = transpose(m, {0, 2, 1});
  CHECK(floats(layers::Dot({2, 1})({m, tall})) == floats(matmul(m, tall)));
  CHECK(floats(layers::Dot({-1, -2})({m, tall})) == floats(matmul(m, tall)));
  CHECK(floats(layers::Dot({1, 2})({m, tall})) == floats(matmul(m, tall, {.transpose_a = true, .transpose_b = true})));
  CHECK(floats(layers::Dot(-1)({m, m})) == floats(layers::Dot(2)({m, m})));
  const Tensor cosines = layers::Dot({2, 1}, {.normalize = true})({m, tall});
  CHECK(cosines(0, 1, 1).item<float>() == Approx(1));
  CHECK_THROWS_WITH(layers::Dot({2, -3})({m, m}), ContainsSubstring("axes 2 and -3"));
  CHECK_THROWS_AS(layers::Dot({3, 1})({m, m}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(layers::Dot(0)({a, b}), ContainsSubstring("axes 0 and 0"));
}

TEST_CASE("Merge equals tile, concat and Dense with the kernel split by rows") {
  const Tensor a = random::normal({5, 3, 5}), b = random::normal({5, 1, 6});
  const layers::Merge merge(10, {.activation = nn::relu, .bias_initializer = initializers::RandomNormal()});
  const Tensor y = merge({a, b});
  CHECK(y.shape() == Shape{5, 3, 10});
  const std::vector<Variable> w = merge.variables();
  REQUIRE(w.size() == 3);
  CHECK(w[0].shape() == Shape{5, 10});
  CHECK(w[1].shape() == Shape{6, 10});
  const Tensor joined = concat({a, tile(b, {1, 3, 1})}, -1);
  const Tensor expected = nn::relu(matmul(reshape(joined, {15, 11}), concat({w[0], w[1]}, 0)) + w[2]);
  CHECK(reduce_max(abs(reshape(y, {15, 10}) - expected)).item<float>() < 1e-5f);
  CHECK(merge({zeros({4, 1, 5}), zeros({1, 7, 6})}).shape() == Shape{4, 7, 10});
  CHECK_THROWS_WITH(merge({a}), ContainsSubstring("built for 2"));
  CHECK_THROWS_WITH(layers::Merge(3)({}), ContainsSubstring("one tensor"));
}

TEST_CASE("Embedding: the mask of padding") {
  const layers::Embedding e(5, 2, {.mask_zero = true});
  CHECK(e.compute_mask(constant({{1, 0}, {0, 4}})).to_vector<bool>() == std::vector<bool>{true, false, false, true});
  CHECK_FALSE(layers::Embedding(5, 2).compute_mask(constant({1})).is_set());
}
