// Layers with masks or lengths.
#include "tests/masked/property.hpp"

using namespace tandem;
using testing::check_masked, testing::List, testing::MaskedOptions, testing::Masked, testing::wave;

namespace {

const Tensor keep = constant({{true, true, true, false, false}, {true, false, true, true, false}});
const Tensor lengths = constant({3, 5}), within = sequence_mask(lengths, 5);
const Tensor x = wave({2, 5, 4}), z = wave({2, 5, 4}, 3);

Tensor steps(const Tensor& mask) { return broadcast_to(expand_dims(logical_not(mask), -1), {2, 5, 4}); }
// y where the mask is true; other steps do not count.
Tensor counted(const Tensor& y, const Tensor& mask = keep) { return where(expand_dims(mask, -1), y, 0); }
const MaskedOptions single{.dtypes = {float32}};

// All results of a recurrent layer, with a mask, with lengths and with both.
template <class L, class States>
void check_recurrent(const std::string& name, const L& layer, const States& states) {
  layer(x);
  const std::vector<Variable> variables = layer.trainable_variables();
  const auto results = [&](const auto& y) {
    List all = states(y);
    all.push_back(y.output);
    return all;
  };
  check_masked(
      name + ".mask", [&](const List& t) { return results(layer(t[0], {.mask = keep})); }, {{x, steps(keep)}},
      variables, single);
  check_masked(
      name + ".sequence_length", [&](const List& t) { return results(layer(t[0], {.sequence_length = lengths})); },
      {{x, steps(within)}}, variables, single);
  check_masked(
      name + ".mask", [&](const List& t) { return results(layer(t[0], {.mask = keep, .sequence_length = lengths})); },
      {{x, steps(logical_and(keep, within))}}, variables, single);
}
const auto one = [](const auto& y) { return List{y.state}; };
const auto two = [](const auto& y) { return List{y.state[0].h, y.state[0].c}; };

}  // namespace

TEST_CASE("Recurrent layers: masked steps may be NaN") {
  for (const bool sequences : {false, true})
    for (const bool backwards : {false, true}) {
      CAPTURE(sequences, backwards);
      check_recurrent("layers::LSTM", layers::LSTM(3, {.return_sequences = sequences, .go_backwards = backwards}), two);
      check_recurrent("layers::GRU", layers::GRU(3, {.return_sequences = sequences, .go_backwards = backwards}), one);
      check_recurrent("layers::SimpleRNN",
                      layers::SimpleRNN(3, {.return_sequences = sequences, .go_backwards = backwards}), one);
    }
  check_recurrent("layers::LSTM", layers::LSTM(3, {}, {.activation = nn::relu}), two);
  check_recurrent("layers::GRU", layers::GRU(3, {}, {.reset_after = false}), one);
  check_recurrent("layers::RNN", layers::RNN(layers::LSTMCell(3)), [](const auto& y) {
    return List{y.state.h, y.state.c};
  });
}
TEST_CASE("Recurrent layers with dropout, in stacks: masked steps may be NaN") {
  // What is dropped depends on the seed, which each call sets. Training leaves the fused kernels.
  for (const int num_layers : {1, 3})
    for (const bool backwards : {false, true})
      for (const std::pair<double, double>& rates : {std::pair(.5, 0.), std::pair(0., .5), std::pair(.5, .5)}) {
        CAPTURE(num_layers, backwards, rates.first, rates.second);
        const layers::RnnLayerOptions o{.return_sequences = true,
                                        .num_layers = num_layers,
                                        .go_backwards = backwards,
                                        .dropout = rates.first,
                                        .recurrent_dropout = rates.second};
        const auto check = [&](const std::string& name, const auto& layer) {
          layer(x);
          const auto results = [&](const List& t, const auto& call) {
            random::set_seed(5);
            const auto y = layer(t[0], call);
            List all{y.output};
            for (const auto& state : y.state) {
              if constexpr (std::is_convertible_v<decltype(state), Tensor>) all.push_back(state);
              else all.push_back(state.h), all.push_back(state.c);
            }
            return all;
          };
          using Call = typename std::decay_t<decltype(layer)>::Call;
          const MaskedOptions eager{.traced = false, .dtypes = {float32}};
          const std::vector<Variable> variables = layer.trainable_variables();
          check_masked(
              name + ".mask", [&](const List& t) { return results(t, Call{.mask = keep, .training = true}); },
              {{x, steps(keep)}}, variables, eager);
          check_masked(
              name + ".sequence_length",
              [&](const List& t) { return results(t, Call{.sequence_length = lengths, .training = true}); },
              {{x, steps(within)}}, variables, eager);
        };
        check("layers::LSTM", layers::LSTM(3, o));
        check("layers::GRU", layers::GRU(3, o));
        check("layers::SimpleRNN", layers::SimpleRNN(3, o));
      }
  for (const int num_layers : {2, 3}) {
    check_masked(
        "layers::LSTM.mask",
        [layer = layers::LSTM(3, {.return_sequences = true, .num_layers = num_layers})](const List& t) {
          return List{layer(t[0], {.mask = keep}).output};
        },
        {{x, steps(keep)}}, {}, single);
  }
}
TEST_CASE("Bidirectional: masked steps may be NaN") {
  const layers::Bidirectional both(layers::LSTM(3, {.return_sequences = true}));
  both(x);
  const std::vector<Variable> variables = both.trainable_variables();
  check_masked(
      "layers::Bidirectional.mask", [&](const List& t) { return List{both(t[0], {.mask = keep}).output}; },
      {{x, steps(keep)}}, variables, single);
  check_masked(
      "layers::Bidirectional.sequence_length",
      [&](const List& t) { return List{both(t[0], {.sequence_length = lengths}).output}; }, {{x, steps(within)}},
      variables, single);
}
TEST_CASE("Attention layers: masked values and queries may be NaN") {
  const Tensor mask = logical_and(expand_dims(within, 2), expand_dims(keep, 1));
  const auto check = [&](const std::string& name, const auto& layer) {
    layer(x, z);
    const std::vector<Variable> variables = layer.trainable_variables();
    for (const bool scores : {false, true}) {
      check_masked(
          name + ".value_mask",
          [&](const List& t) {
            return List{layer(t[0], t[1], {.value_mask = keep, .return_attention_scores = scores}).output};
          },
          {{x}, {z, steps(keep)}}, variables, single);
      check_masked(
          name + ".query_mask",
          [&](const List& t) {
            return List{
                layer(t[0], t[1],
                      {.key = t[2], .query_mask = within, .value_mask = keep, .return_attention_scores = scores})
                    .output};
          },
          {{x, steps(within)}, {z, steps(keep)}, {z + 1, steps(keep)}}, variables, single);
      check_masked(
          name + ".attention_mask",
          [&](const List& t) {
            return List{layer(t[0], t[1], {.attention_mask = mask, .return_attention_scores = scores}).output};
          },
          {{x, steps(within)}, {z, steps(keep)}}, variables, single);
    }
  };
  check("layers::Attention", layers::Attention({.use_scale = true}));
  check("layers::AdditiveAttention", layers::AdditiveAttention());
  check("layers::MultiHeadAttention", layers::MultiHeadAttention(2, 3));
  check("layers::GroupQueryAttention", layers::GroupQueryAttention(3, 4, 2, {.use_gate = true}));
}
TEST_CASE("TransformerBlock: steps that the padding mask hides do not touch the others") {
  for (const bool first : {false, true}) {
    const layers::TransformerBlock block(8, 2, {.normalize_first = first});
    block(x);
    check_masked(
        "layers::TransformerBlock.padding_mask",
        [&](const List& t) { return List{counted(block(t[0], {.padding_mask = keep}))}; }, {{x, steps(keep)}},
        block.trainable_variables(), single);
    const Tensor mask = broadcast_to(expand_dims(keep, 1), {2, 5, 5});
    check_masked("layers::TransformerBlock.attention_mask",
                 [&](const List& t) { return List{counted(block(t[0], {.attention_mask = mask}))}; },
                 {{x, steps(keep)}}, {}, {.differentiable = false, .dtypes = {float32}});
  }
}
TEST_CASE("BatchNormalization, pooling, softmax, masking: masked steps may be NaN") {
  for (const bool training : {true, false}) {
    const layers::BatchNormalization norm;
    norm(x);
    check_masked("layers::BatchNormalization.mask",
                 [&](const List& t) {
                   for (const Variable& v : norm.variables()) v.reset();
                   return List{counted(norm(t[0], keep, {.training = training})), norm.variables()[2].read_value(),
                               norm.variables()[3].read_value()};
                 },
                 {{x, steps(keep)}}, norm.trainable_variables(), {.traced = false, .dtypes = {float32}});
  }
  const layers::GlobalAveragePooling1D average;
  check_masked("layers::GlobalAveragePooling1D.mask", [&](const List& t) { return List{average(t[0], keep)}; },
               {{x, steps(keep)}}, {}, {.second = true});
  const layers::Softmax softmax;
  const Tensor some = constant({{true, false, true}, {false, true, true}});
  check_masked("layers::Softmax.mask", [&](const List& t) { return List{softmax(t[0], some)}; },
               {{wave({2, 3}), logical_not(some)}});
  const layers::Masking masking(-std::numeric_limits<double>::infinity());
  const Tensor padding = constant({{{1.f, 2.f}, {-INFINITY, -INFINITY}}});
  CHECK(masking(padding).to_vector<float>() == std::vector<float>{1, 2, 0, 0});
}
TEST_CASE("Sequential passes masks on: padding may be NaN") {
  const layers::Sequential net(layers::LSTM(3, {.return_sequences = true}), layers::LSTM(2), layers::Dense(1));
  net(x);
  check_masked(
      "layers::Sequential",
      [&](const List& t) {
        layers::SequenceMask mask(keep);
        return List{net.call_with_mask(t[0], mask)};
      },
      {{x, steps(keep)}}, net.trainable_variables(), single);
}
TEST_CASE("Sequential, layers that pass a mask on: padding may be NaN") {
  const auto check = [&](const std::string& name, const auto& net, const Tensor& input, const Tensor& mask,
                         const Tensor& off) {
    net(input);
    check_masked(
        "layers::Sequential, " + name,
        [&](const List& t) {
          layers::SequenceMask m(mask);
          const Tensor y = net.call_with_mask(t[0], m);
          return List{m.is_set() ? counted(y, mask) : y};
        },
        {{input, off}}, net.trainable_variables(), single);
  };
  using layers::Dense, layers::GlobalAveragePooling1D, layers::Sequential, layers::TimeDistributed;
  check("TimeDistributed", Sequential(TimeDistributed(Dense(3)), GlobalAveragePooling1D()), x, keep, steps(keep));
  check("TimeDistributed alone", TimeDistributed(Dense(3)), x, keep, steps(keep));
  check("Dense", Sequential(Dense(3, nn::relu), Activation(nn::softmax), GlobalAveragePooling1D()), x, keep,
        steps(keep));
  check("LayerNormalization", Sequential(layers::LayerNormalization(), layers::PReLU(), GlobalAveragePooling1D()), x,
        keep, steps(keep));
  check("nested", Sequential(Sequential(Dense(3), TimeDistributed(Sequential(Dense(2)))), GlobalAveragePooling1D()), x,
        keep, steps(keep));
  check("the mask stays", Sequential(Dense(4), TimeDistributed(Dense(4))), x, keep, steps(keep));
  // A mask of the steps inside of each step.
  const Tensor inner = wave({2, 3, 5, 4}), mask = stack({keep, keep, logical_not(keep)}, {.axis = 1});
  const Sequential sentences(TimeDistributed(Sequential(Dense(3), GlobalAveragePooling1D())), GlobalAveragePooling1D());
  check("inner steps", sentences, inner, mask, broadcast_to(expand_dims(logical_not(mask), -1), {2, 3, 5, 4}));
  // Finite elements of masked steps go through, as in Keras.
  const TimeDistributed plain(Dense(3));
  layers::SequenceMask m(keep);
  CHECK(testing::same_bits(plain.call_with_mask(x, m), plain(x)));
}
