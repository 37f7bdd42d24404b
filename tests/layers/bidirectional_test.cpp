// Bidirectional against two runs by hand, merge modes, padding, states, names; TimeDistributed.
#include "tandem/layers/bidirectional.hpp"

#include "tandem/module/model.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats, testing::wave, testing::distance, testing::List;

namespace {

const Tensor steps = wave({4, 5, 3});
const Tensor lengths = constant({5, 0, 2, 3});
const Tensor mask = constant({{true, false, true, true, true},
                              {false, false, false, false, false},
                              {true, true, false, false, true},
                              {false, true, true, true, false}});

template <class L>
void check_two_runs(const L& layer) {
  const layers::Bidirectional both{layer};
  const auto y = both(steps, {.sequence_length = lengths});
  const bool sequences = layer.options().return_sequences;
  const L &f = both.forward_layer(), &b = both.backward_layer();
  const auto forward = f(steps, {.sequence_length = lengths});
  auto backward = b(reverse_sequence(steps, lengths), {.sequence_length = lengths});
  if (sequences) backward.output = reverse_sequence(backward.output, lengths);
  CHECK(floats(y) == floats(concat({forward.output, backward.output}, -1)));
  CHECK(floats(y.forward) == floats(forward.output));
  CHECK(floats(y.backward) == floats(backward.output));
  const List states = control::tensors_of(y.backward_state), want = control::tensors_of(backward.state);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(floats(states[i]) == floats(want[i]));
  // The weights are the layers' own.
  CHECK(f.variables()[0].id() != b.variables()[0].id());
  CHECK(both.variables().size() == 2 * f.variables().size());
  // Any values of padding give the same.
  const Tensor padding = where(expand_dims(sequence_mask(lengths, 5), -1), steps, 1000.f);
  CHECK(floats(both(padding, {.sequence_length = lengths})) == floats(y));
  const Tensor masked = where(expand_dims(mask, -1), steps, 1000.f);
  CHECK(floats(both(masked, {.mask = mask})) == floats(both(steps, {.mask = mask})));
  // A mask that says what the lengths say.
  CHECK(distance(both(steps, {.mask = sequence_mask(lengths, 5)}), y) < 1e-6);
  CHECK(distance(both(steps, {.mask = fill({4, 5}, true), .sequence_length = lengths}), y) < 1e-6);
}

}  // namespace

TEST_CASE("Bidirectional equals two runs by hand") {
  check_two_runs(layers::LSTM(4, {.return_sequences = true}));
  check_two_runs(layers::LSTM(4, {.num_layers = 2}));
  check_two_runs(layers::GRU(4, {.return_sequences = true}));
  check_two_runs(layers::SimpleRNN(4));
  check_two_runs(
      layers::RNN{layers::StackedRNNCells({layers::LSTMCell(2), layers::LSTMCell(4)}), {.return_sequences = true}});
  CHECK(layers::Bidirectional{layers::LSTM(300, {.return_sequences = true})}(zeros({50, 14, 8})).output.shape() ==
        Shape{50, 14, 600});
}

TEST_CASE("Bidirectional: the backward outputs are those of the remaining steps") {
  const layers::Bidirectional both{layers::GRU(2, {.return_sequences = true})};
  const auto y = both(steps, {.mask = mask});
  // Row 2 keeps steps 0, 1 and 4: its backward output at step 1 has seen 4 and 1.
  const layers::GRU& b = both.backward_layer();
  const auto seen = b(stack({stack({steps(2, 4), steps(2, 1)})}));
  CHECK(distance(y.backward(2, 1), seen.output(0, 1)) < 1e-6);
  CHECK(floats(y.backward(2, 2)) == Floats{0, 0});
}

TEST_CASE("Bidirectional: merge modes") {
  const layers::GRU f(3), b(3);
  const auto merged = [&](const layers::MergeMode& mode) {
    return layers::Bidirectional(f, {.merge_mode = mode, .backward_layer = b})(steps);
  };
  const auto parts = merged(layers::MergeMode::none);
  CHECK_FALSE(parts.output.is_set());
  CHECK(floats(parts.backward) == floats(b(reverse(steps, {1}))));
  const Tensor &x = parts.forward, &y = parts.backward;
  CHECK(floats(merged(layers::MergeMode::concat)) == floats(concat({x, y}, -1)));
  CHECK(floats(merged(layers::MergeMode::sum)) == floats(x + y));
  CHECK(floats(merged(layers::MergeMode::mul)) == floats(x * y));
  CHECK(floats(merged(layers::MergeMode::ave)) == floats((x + y) * 0.5));
  CHECK(floats(merged([](const Tensor& p, const Tensor& q) { return p - q; })) == floats(x - y));
}

TEST_CASE("Bidirectional: names, states, errors, clones") {
  struct Net : Model<Net> {
    layers::Bidirectional<layers::LSTM> both{layers::LSTM(2)};
    Tensor operator()(const Tensor& x) const { return both(x); }
  };
  const Net net;
  const Tensor y = net(steps);
  const auto named = net.named_variables();
  REQUIRE(named.size() == 6);
  CHECK(named[0].path == "bidirectional/forward_lstm/cell_0/kernel");
  CHECK(named[3].path == "bidirectional/backward_lstm/cell_0/kernel");
  const Net copy = net.clone();
  for (const Variable& v : net.variables()) v.assign(zeros_like(v));
  CHECK(floats(copy(steps)) == floats(y));

  const layers::GRU f(2), b(2);
  const layers::Bidirectional both(f, {.backward_layer = b});
  const Tensor h = wave({4, 2}), k = wave({4, 2}, 1);
  const auto r = both(steps, {.initial_forward_state = {h}, .initial_backward_state = {k}});
  CHECK(floats(r.forward_state[0]) == floats(f(steps, {.initial_state = {h}}).state[0]));
  CHECK(floats(r.backward_state[0]) == floats(b(reverse(steps, {1}), {.initial_state = {k}}).state[0]));

  CHECK_THROWS_WITH(layers::Bidirectional(f, {.backward_layer = layers::GRU(2, {.return_sequences = true})}),
                    ContainsSubstring("Bidirectional") && ContainsSubstring("return_sequences"));
}

TEST_CASE("Bidirectional: time_major, traced with unknown sizes, gradients") {
  const layers::LSTM f(3, {.return_sequences = true}), b(3, {.return_sequences = true});
  const layers::Bidirectional both(f, {.backward_layer = b});
  const Tensor y = both(steps, {.mask = mask, .sequence_length = lengths});
  layers::LSTM tf(3, {.return_sequences = true, .time_major = true}),
      tb(3, {.return_sequences = true, .time_major = true});
  tf.build(3), tb.build(3);
  tf.set_weights(f.get_weights()), tb.set_weights(b.get_weights());
  const layers::Bidirectional time_major(tf, {.backward_layer = tb});
  const Tensor t = time_major(transpose(steps, {1, 0, 2}), {.mask = transpose(mask), .sequence_length = lengths});
  CHECK(floats(transpose(t, {1, 0, 2})) == floats(y));

  const auto loss = [&](const Tensor& x, const Tensor& m, const Tensor& n) {
    GradientTape tape;
    tape.watch(x);
    const Tensor v =
        reduce_sum(square(both(x, {.mask = m}).output)) + reduce_sum(both(x, {.sequence_length = n}).output);
    return List{v, tape.gradient(v, x)};
  };
  const auto open = function(loss, {.input_signature = {TensorSpec({none, none, 3}, float32),
                                                        TensorSpec({none, none}, bool_), TensorSpec({none}, int32)}});
  const List want = loss(steps, mask, lengths), got = open(steps, mask, lengths);
  CHECK(distance(got[0], want[0]) < 1e-5);
  CHECK(distance(got[1], want[1]) < 1e-5);
  CHECK(open(zeros({1, 2, 3}), fill({1, 2}, true), constant({1}))[1].shape() == Shape{1, 2, 3});
}

TEST_CASE("recurrent layers in a Sequential, with its summary") {
  const layers::Sequential net{layers::Embedding(10, 4),
                               layers::Bidirectional(layers::GRU(3, {.return_sequences = true})),
                               layers::RNN(layers::LSTMCell(2)), layers::LSTM(3), layers::Dense(1)};
  CHECK_THROWS_WITH(net(constant({{1, 2, 3}})), ContainsSubstring("LSTM"));  // the RNN returns its last output
  const layers::Sequential tagger{layers::Embedding(10, 4),
                                  layers::Bidirectional(layers::GRU(3, {.return_sequences = true})), layers::LSTM(5),
                                  layers::Dense(1)};
  tagger.build({none, none}, int32);
  CHECK(tagger.variables().size() == 12);
  CHECK(tagger(constant({{1, 2, 3}, {4, 5, 6}})).shape() == Shape{2, 1});
  CHECK_THAT(tagger.summary(), ContainsSubstring("lstm") && ContainsSubstring("5)"));
}

TEST_CASE("TimeDistributed applies a layer to each step") {
  const layers::Dense dense(2);
  const layers::TimeDistributed each{dense};
  const Tensor y = each(steps);
  CHECK(y.shape() == Shape{4, 5, 2});
  CHECK(distance(y(1, 2), dense(expand_dims(steps(1, 2), 0))[0]) < 1e-6);
  CHECK(each.named_variables()[0].path == "dense/kernel");
  const layers::TimeDistributed flat{layers::Flatten()};
  CHECK(flat(zeros({2, 3, 4, 5})).shape() == Shape{2, 3, 20});
  CHECK(flat(zeros({0, 3, 4, 5})).shape() == Shape{0, 3, 20});
  const layers::TimeDistributed lambda{[](const Tensor& x) { return 2 * x; }};
  CHECK(floats(lambda(steps)) == floats(2 * steps));
  const layers::Sequential net{layers::TimeDistributed(layers::Dense(1)), layers::Flatten()};
  CHECK(net(steps).shape() == Shape{4, 5});
  const auto open =
      function([&](const Tensor& x) { return each(x); }, {.input_signature = {TensorSpec({none, none, 3}, float32)}});
  CHECK(distance(open(steps), y) < 1e-6);
  CHECK_THROWS_WITH(each(constant({1.f})), ContainsSubstring("TimeDistributed"));
}

TEST_CASE("Bidirectional: a first call with a wrong length makes the weights of both layers or of none") {
  const layers::Bidirectional both{layers::GRU(2)};
  CHECK_THROWS_WITH(both(steps, {.sequence_length = constant({9, 0, 2, 3})}), ContainsSubstring("length 9"));
  CHECK(both.variables().size() == 6);
  const layers::Bidirectional refused{layers::GRU(2)};
  CHECK_THROWS_AS(refused(steps[0]), errors::InvalidArgumentError);
  CHECK(refused.variables().empty());
}
