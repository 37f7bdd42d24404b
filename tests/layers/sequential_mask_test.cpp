// Masks in Sequential: a padded sequence gives what the same sequence without padding does, through every layer that
// reads a mask or passes it on; layers that drop it. Eager, traced, gradients.
#include "tandem/layers/sequence_mask.hpp"

#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats, testing::wave, testing::distance, testing::List;

namespace {

const Tensor ids = constant({{1, 2, 3}, {4, 5, 1}}), padded = constant({{1, 2, 3, 0, 0}, {4, 5, 1, 0, 0}});

layers::Embedding embedding() {
  return layers::Embedding(6, 4, {.embeddings_initializer = initializers::RandomNormal(0, 1), .mask_zero = true});
}
// Steps that are 0 where `padded` is.
Tensor vectors(const Tensor& of) { return gather(concat({zeros({1, 4}), wave({5, 4})}, 0), of); }

// The network gives the same for both inputs: eagerly, traced, with an unknown number of steps; and its weights get the
// same gradients.
template <class Net>
void check_same(const Net& net, const Tensor& plain, const Tensor& with_padding) {
  net(with_padding);
  const Tensor want = net(plain);
  CHECK(reduce_max(abs(want)).template item<float>() > 0);
  CHECK(distance(net(with_padding), want) < 1e-6);
  const auto traced = function([&](const Tensor& x) { return net(x); });
  CHECK(distance(traced(with_padding), want) < 1e-6);
  Shape open{none, none};
  for (int i = 2; i < plain.rank(); ++i) open.push_back(plain.shape().dim(i));
  const auto any =
      function([&](const Tensor& x) { return net(x); }, {.input_signature = {TensorSpec(open, plain.dtype())}});
  CHECK(distance(any(with_padding), want) < 1e-6);
  CHECK(distance(any(plain), want) < 1e-6);
  const std::vector<Variable> weights = net.trainable_variables();
  const auto gradients = [&](const Tensor& x) {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(net(x)));
    List r;
    for (const Gradient& g : tape.gradient(loss, weights)) r.push_back(g.tensor());
    return r;
  };
  const List expected = gradients(plain), eager = gradients(with_padding),
             inside = function([&](const Tensor&x) { return gradients(x); })(with_padding);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    CHECK(distance(eager[i], expected[i]) < 1e-5);
    CHECK(distance(inside[i], expected[i]) < 1e-5);
  }
}

struct Doubled : layers::Layer {
  static constexpr bool supports_masking = true;
  Tensor operator()(const Tensor& x) const { return x * 2.f; }
};
struct OnlyPositive : layers::Layer {
  Tensor operator()(const Tensor& x) const { return x; }
  Tensor compute_mask(const Tensor& x) const { return reduce_any(x > 0, {.axis = -1}); }
};
struct CountsSteps : layers::Layer {
  Tensor operator()(const Tensor& x) const { return x; }
  Tensor call_with_mask(const Tensor&, layers::SequenceMask& mask) const {
    return reduce_sum(cast(mask.tensor(), float32), {.axis = 1});
  }
};

}  // namespace

TEST_CASE("Sequential: Embedding's mask reaches recurrent layers") {
  const auto check = [](auto... layer) { check_same(layers::Sequential{embedding(), layer...}, ids, padded); };
  check(layers::LSTM(3));
  check(layers::GRU(3, {.num_layers = 2}));
  check(layers::SimpleRNN(3));
  check(layers::LSTM(3, {.go_backwards = true}));
  check(layers::RNN{layers::LSTMCell(3)});
  check(layers::Bidirectional{layers::LSTM(3)});
  check(layers::LSTM(3, {.return_sequences = true}), layers::GRU(2));
  check(layers::Bidirectional{layers::GRU(3, {.return_sequences = true})}, layers::LSTM(2));
  check(layers::RNN{layers::GRUCell(3), {.return_sequences = true}}, layers::LSTM(2));
  // A run from the last step to the first has the padding in front.
  check(layers::LSTM(3, {.return_sequences = true, .go_backwards = true}), layers::GRU(2));
  check(layers::GRU(3, {.return_sequences = true}), layers::GlobalAveragePooling1D());
}
TEST_CASE("Sequential: layers that pass the mask on") {
  const auto check = [](auto... layer) {
    check_same(layers::Sequential{embedding(), layer..., layers::LSTM(3)}, ids, padded);
  };
  check(layers::Dense(4, nn::relu));
  check(layers::Dropout(0.5), layers::SpatialDropout1D(0.5), layers::GaussianNoise(1), layers::GaussianDropout(0.5),
        layers::AlphaDropout(0.5), layers::ActivityRegularization());
  check(layers::LayerNormalization(), layers::BatchNormalization(), layers::RMSNormalization());
  check(layers::UnitNormalization());
  check(layers::Activation(nn::tanh), layers::LeakyReLU(), layers::ELU(), layers::Softmax());
  check(layers::ReLU({.negative_slope = 0.1}));
  check(layers::TimeDistributed{layers::Dense(4)});
  check(layers::TransformerBlock(8, 2));
  check(layers::MultiHeadAttention(2, 3));
  check(layers::Sequential{layers::Dense(4), layers::Dense(4)});
}
TEST_CASE("masks of another batch, length or dtype raise in the layer's name") {
  const Tensor x = wave({3, 4, 2}), fits = fill({3, 4}, true);
  const std::vector<Tensor> wrong{fill({1, 4}, true), fill({3, 1}, true),       fill({3, 5}, true), fill({6, 4}, true),
                                  fill({4}, true),    fill({3, 4, 2, 1}, true), ones({3, 4}, int32)};
  const auto check = [&](const auto& layer, const char* name, const Tensor& in) {
    layers::SequenceMask good = fits;
    CHECK_NOTHROW(layer.call_with_mask(in, good));
    for (const Tensor& m : wrong) {
      CAPTURE(name, to_string(m.spec()));
      layers::SequenceMask mask = m;
      CHECK_THROWS_WITH(layer.call_with_mask(in, mask),
                        ContainsSubstring(name) && ContainsSubstring(to_string(m.spec())));
    }
  };
  check(layers::Sequential{layers::Dense(2)}, "Sequential: the mask must be bool_", x);
  check(layers::Sequential{embedding()}, "Sequential: the mask must be bool_", ones({3, 4}, int32));
  check(layers::TimeDistributed{layers::Dense(2)}, "TimeDistributed: the mask must be bool_", x);
  check(layers::GlobalAveragePooling1D(), "GlobalAveragePooling1D: the mask", x);
  check(layers::MultiHeadAttention(2, 3), "MultiHeadAttention: value_mask must be bool[3,4]", x);
  check(layers::TransformerBlock(4, 1), "value_mask must be bool[3,4]", x);
  check(layers::LSTM(2), "LSTM: the mask must be bool_", x);
  CHECK_THROWS_WITH(layers::Softmax()(ones({1, 4}), fill({3, 4}, true)),
                    ContainsSubstring("Softmax: the mask bool[3,4] does not broadcast"));
  layers::SequenceMask numbers = ones({3, 4}, int32);
  CHECK_THROWS_WITH(layers::Sequential{layers::Dense(2)}.call_with_mask(x, numbers),
                    ContainsSubstring("mask != 0 makes it bool_"));
}
TEST_CASE("Sequential: GlobalAveragePooling1D takes the mean of the steps that count") {
  check_same(layers::Sequential{embedding(), layers::GlobalAveragePooling1D(), layers::Dense(2)}, ids, padded);
  const layers::Sequential net{embedding(), layers::GlobalAveragePooling1D()};
  CHECK(floats(net(constant({{0, 0}}))) == Floats(4, 0.f));
}
TEST_CASE("Sequential: MultiHeadAttention attends to the steps that count") {
  check_same(
      layers::Sequential{embedding(), layers::MultiHeadAttention(2, 3, {.bias_initializer = initializers::Ones()}),
                         layers::GlobalAveragePooling1D()},
      ids, padded);
}
TEST_CASE("Sequential: Masking's mask") {
  const Tensor x = vectors(ids), y = vectors(padded);
  check_same(layers::Sequential{layers::Masking(0), layers::GRU(3)}, x, y);
  check_same(layers::Sequential{layers::Masking(0), layers::Dense(3), layers::Bidirectional{layers::SimpleRNN(3)}}, x,
             y);
  check_same(layers::Sequential{layers::Masking(-1), layers::LSTM(3)}, x, concat({x, fill({2, 2, 4}, -1.f)}, 1));
  // Inside of a sequence, too.
  const layers::Sequential net{layers::Masking(0), layers::LSTM(3)};
  const Tensor hole = constant({{1, 0, 2, 0, 3}, {0, 0, 4, 5, 1}});
  CHECK(distance(net(vectors(hole)), net(x)) < 1e-6);
}
TEST_CASE("Sequential: a mask of words inside of sentences, through TimeDistributed") {
  const Tensor words = constant({{{1, 2}, {3, 0}, {0, 0}}}), all = constant({{{1, 2}, {3, 0}}});
  check_same(layers::Sequential{embedding(), layers::TimeDistributed{layers::LSTM(3)}, layers::GRU(2)}, all, words);
  check_same(layers::Sequential{embedding(), layers::TimeDistributed{layers::GlobalAveragePooling1D()}, layers::GRU(2)},
             all, words);
  check_same(layers::Sequential{layers::TimeDistributed{embedding()}, layers::TimeDistributed{layers::LSTM(3)},
                                layers::LSTM(2)},
             all, words);
  // The mean of a sentence has one word.
  const layers::Sequential mean{embedding(), layers::TimeDistributed{layers::GlobalAveragePooling1D()}};
  const layers::Sequential one{mean};
  CHECK(distance(mean(constant({{{3, 0}}})), mean(constant({{{3}}}))) == 0);
}
TEST_CASE("Sequential: layers that drop the mask, as in Keras") {
  const auto mask_of = [](auto... layer) {
    layers::SequenceMask mask;
    layers::Sequential{embedding(), layer...}.call_with_mask(padded, mask);
    return mask.is_set();
  };
  CHECK(mask_of());
  CHECK(mask_of(layers::Dense(2)));
  CHECK(mask_of(layers::LSTM(2, {.return_sequences = true})));
  CHECK_FALSE(mask_of(layers::LSTM(2)));
  CHECK_FALSE(mask_of(layers::Bidirectional{layers::LSTM(2)}));
  CHECK_FALSE(mask_of(layers::Flatten()));
  CHECK_FALSE(mask_of(layers::Reshape({4, 5})));
  CHECK_FALSE(mask_of(layers::MaxPooling1D(2)));
  CHECK_FALSE(mask_of(layers::GlobalAveragePooling1D()));
  CHECK_FALSE(mask_of(layers::GlobalMaxPooling1D()));
  CHECK_FALSE(mask_of(layers::Conv1D(2, 3)));
  CHECK_FALSE(mask_of([](const Tensor& x) { return x * 2.f; }));
  layers::SequenceMask none_yet;
  layers::Sequential{layers::Embedding(6, 4)}.call_with_mask(padded, none_yet);
  CHECK_FALSE(none_yet.is_set());
}
TEST_CASE("Sequential: the mask of its input, and of its result") {
  const layers::Sequential net{layers::Dense(4), layers::LSTM(3, {.return_sequences = true, .go_backwards = true})};
  layers::SequenceMask mask(constant({{true, true, false}}));
  const Tensor x = wave({1, 3, 2});
  const Tensor y = net.call_with_mask(x, mask);
  CHECK(mask.tensor().to_vector<bool>() == std::vector<bool>{false, true, true});  // the order of the run
  CHECK(floats(y(0, 0)) == Floats(3, 0.f));
  CHECK(distance(y(Slice(), Slice(1, 3)), net(x(Slice(), Slice(0, 2)))) < 1e-6);
}
TEST_CASE("Sequential: layers of one's own say what they do with a mask") {
  const Tensor x = constant({{{1.f}, {-1.f}, {2.f}}});
  CHECK(floats(layers::Sequential{OnlyPositive(), Doubled(), CountsSteps()}(x)) == Floats{2});
}
TEST_CASE("Sequential: a mask through masked softmax, and build() with masks") {
  const layers::Sequential net{layers::Softmax()};
  layers::SequenceMask mask(constant({{true, true, false}}));
  CHECK(floats(net.call_with_mask(constant({{1.f, 1.f, 5.f}}), mask)) == Floats{.5f, .5f, 0});
  const layers::Sequential built{embedding(), layers::Bidirectional{layers::LSTM(3, {.return_sequences = true})},
                                 layers::TimeDistributed{layers::Dense(2)}, layers::GlobalAveragePooling1D()};
  built.build({none, none}, int32);
  CHECK(built(padded).shape() == Shape{2, 2});
}
