// ConvLSTM1D, ConvLSTM2D, ConvLSTM3D: a loop by hand, layouts, masks and lengths, states, dropout, traced calls,
// gradients, errors.
#include "tandem/layers/conv_lstm.hpp"

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace conv_lstm_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using layers::ConvLSTM1D, layers::ConvLSTM2D, layers::ConvLSTM3D, layers::ConvLSTMOptions;

bool near(const Tensor& a, const Tensor& b, double bound = 1e-5) {
  return a.shape() == b.shape() && cast(reduce_max(abs(a - b)), float64).item<double>() < bound;
}
// A layer with weights that have no zeros.
template <class L>
L with_weights(const L& l, const Tensor& x) {
  (void)l(x);
  std::vector<Tensor> values;
  for (const Variable& v : l.trainable_variables())
    values.push_back(testing::wave(v.shape(), static_cast<float>(values.size()), v.dtype()) * .5f);
  std::vector<Variable> variables = l.trainable_variables();
  for (std::size_t i = 0; i < values.size(); ++i) variables[i].assign(values[i]);
  return l;
}
// [batch, time, ...] of all outputs.
Tensor by_loop(const Tensor& x, const std::vector<Tensor>& w, const nn::ConvOptions& window) {
  const nn::ConvOptions same{.padding = Padding::same};
  Tensor h, c;
  std::vector<Tensor> all;
  for (const Tensor& step : unstack(x, {.axis = 1})) {
    Tensor z = nn::convolution(step, w[0], window) + w[2];
    if (h.is_set()) z = z + nn::convolution(h, w[1], same);
    const std::vector<Tensor> gates = split(z, 4, {.axis = -1});
    const Tensor candidate = sigmoid(gates[0]) * tanh(gates[2]);
    c = c.is_set() ? sigmoid(gates[1]) * c + candidate : candidate;
    h = sigmoid(gates[3]) * tanh(c);
    all.push_back(h);
  }
  return stack(all, {.axis = 1});
}

const Tensor images = testing::wave({2, 4, 6, 5, 2}, 1);

TEST_CASE("ConvLSTM2D: a loop by hand; strides, dilation, sequences, states") {
  struct Case {
    ConvLSTMOptions options;
    nn::ConvOptions window;
  };
  for (const Case& c :
       {Case{{}, {}}, Case{{.strides = 2, .padding = Padding::same}, {.strides = 2, .padding = Padding::same}},
        Case{{.dilation_rate = {2, 1}}, {.dilations = {2, 1}}}}) {
    ConvLSTMOptions options = c.options;
    options.return_sequences = true;
    const ConvLSTM2D l = with_weights(ConvLSTM2D(3, {2, 3}, options), images);
    const auto r = l(images);
    const Tensor want = by_loop(images, l.get_weights(), c.window);
    CHECK(near(r.output, want));
    CHECK(near(r.state.h, want(Ellipsis, Slice(), Slice(), Slice())(Slice(), 3)));
    CHECK(r.state.c.shape() == r.state.h.shape());
    options.return_sequences = false;
    const ConvLSTM2D last(3, {2, 3}, options);
    (void)last(images);
    last.set_weights(l.get_weights());
    CHECK(near(last(images).output, r.state.h));
  }
  const ConvLSTM2D l(3, {2, 3});
  (void)l(images);
  CHECK(l.get_weights()[2].to_vector<float>() == std::vector<float>{0, 0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0});
  CHECK(l.get_weights()[0].shape() == Shape{2, 3, 2, 12});
  CHECK(l.get_weights()[1].shape() == Shape{2, 3, 3, 12});
  const ConvLSTM2D bare(3, 2, {.activation = nn::relu, .use_bias = false});
  CHECK(bare(images).output.shape() == Shape{2, 5, 4, 3});
  CHECK(bare.get_weights().size() == 2);
}
TEST_CASE("ConvLSTM1D and ConvLSTM3D: 2D with axes of size 1; channels first; time major") {
  const Tensor x = images(Slice(), Slice(), Slice(), 0);  // [2, 4, 6, 2]
  const ConvLSTM1D one = with_weights(ConvLSTM1D(3, 2, {.return_sequences = true}), x);
  const ConvLSTM2D two(3, {2, 1}, {.return_sequences = true});
  const ConvLSTM3D three(3, {2, 1, 1}, {.return_sequences = true});
  const Tensor wide = expand_dims(x, 3), wider = expand_dims(wide, 3);
  (void)two(wide), (void)three(wider);
  const std::vector<Tensor> w = one.get_weights();
  two.set_weights({expand_dims(w[0], 1), expand_dims(w[1], 1), w[2]});
  three.set_weights({expand_dims(expand_dims(w[0], 1), 1), expand_dims(expand_dims(w[1], 1), 1), w[2]});
  const Tensor want = one(x).output;
  CHECK(near(squeeze(two(wide).output, 3), want));
  CHECK(near(squeeze(squeeze(three(wider).output, 3), 3), want));
  const ConvLSTM1D first(3, 2, {.data_format = DataFormat::channels_first, .return_sequences = true});
  const ConvLSTM1D major(3, 2, {.return_sequences = true, .time_major = true});
  const Tensor turned = transpose(x, {.perm = {0, 1, 3, 2}}), swapped = transpose(x, {.perm = {1, 0, 2, 3}});
  (void)first(turned), (void)major(swapped);
  first.set_weights(w), major.set_weights(w);
  CHECK(near(transpose(first(turned).output, {.perm = {0, 1, 3, 2}}), want));
  CHECK(near(transpose(major(swapped).output, {.perm = {1, 0, 2, 3}}), want));
}
TEST_CASE("ConvLSTM1D: lengths, masks, backwards") {
  const Tensor x = images(Slice(), Slice(), Slice(), 0);
  const ConvLSTM1D l = with_weights(ConvLSTM1D(2, 3, {.return_sequences = true}), x);
  const Tensor whole = l(x).output, part = l(x, {.sequence_length = constant({4, 2})}).output;
  CHECK(near(part[0], whole[0]));
  CHECK(near(part[1](Slice(0, 2)), whole[1](Slice(0, 2))));
  CHECK(reduce_max(abs(part[1](Slice(2, 4)))).item<float>() == 0);
  const ConvLSTM1D last(2, 3), back(2, 3, {.go_backwards = true});
  (void)last(x), (void)back(x);
  last.set_weights(l.get_weights()), back.set_weights(l.get_weights());
  CHECK(near(last(x, {.sequence_length = constant({4, 2})}).output[1], whole[1][1]));
  CHECK(near(back(x).output, last(reverse(x, {1})).output));
  // The steps that a mask leaves out might as well not be there.
  const Tensor mask = constant({{true, false, true, true}, {true, true, true, true}});
  const Tensor kept = concat({x(Slice(0, 1), Slice(0, 1)), x(Slice(0, 1), Slice(2, 4))}, 1);
  CHECK(near(last(x, {.mask = mask}).output[0], last(kept).output[0]));
  const layers::Sequential net{layers::Masking(-5.f), ConvLSTM1D(2, 3)};
  CHECK_THROWS_AS(net(constant(1.f)), errors::InvalidArgumentError);
}
TEST_CASE("ConvLSTM1D: initial states, stateful calls") {
  const Tensor x = images(Slice(), Slice(), Slice(), 0);
  const ConvLSTM1D l = with_weights(ConvLSTM1D(2, 3), x);
  const auto first = l(x(Slice(), Slice(0, 3)));
  CHECK(near(l(x(Slice(), Slice(3, 4)), {.initial_state = first.state}).output, l(x).output));
  const ConvLSTM1D kept(2, 3, {.stateful = true});
  (void)kept(x);
  for (std::size_t i = 0; i < 3; ++i) kept.trainable_variables()[i].assign(l.get_weights()[i]);
  kept.reset_states();
  (void)kept(x(Slice(), Slice(0, 3)));
  const std::vector<Tensor> state = kept.get_weights();
  CHECK(near(kept(x(Slice(), Slice(3, 4))).output, l(x).output));
  kept.set_weights(state);  // as a checkpoint does
  const auto traced = function([&](const Tensor& t) { return kept(t).output; });
  CHECK(near(traced(x(Slice(), Slice(3, 4))), l(x).output));
  kept.reset_states();
  CHECK(near(kept(x).output, l(x).output));
  CHECK_THROWS_WITH(kept(x(Slice(0, 1))), ContainsSubstring("ConvLSTM1D: the batch has 1 rows"));
  for (const i64 length : {4, 7})
    CHECK_THROWS_WITH(
        kept(zeros({2, 1, length, 2})),
        ContainsSubstring("ConvLSTM1D: the states of this layer (.stateful) are float32[2,4,2], but this input needs"));
  CHECK_THROWS_WITH(l.reset_states(), ContainsSubstring(".stateful"));
}
TEST_CASE("ConvLSTM1D: traced with unknown sizes and as a loop, gradients") {
  const Tensor x = testing::wave({2, 20, 5, 2}, 1, float64);
  const ConvLSTM1D l = with_weights(ConvLSTM1D(2, 2, {.dtype = float64}), x);
  const auto f = function([&](const Tensor& t) { return l(t).output; },
                          {.input_signature = {TensorSpec({none, none, 5, 2}, float64)}});
  for (const i64 steps : {20, 3}) {
    const Tensor part = x(Slice(), Slice(0, steps));
    CHECK(near(f(part), l(part).output, 1e-12));
  }
  CHECK(f(x(Slice(), Slice(0, 0))).to_vector<double>() == std::vector<double>(2 * 4 * 2, 0));
  const Tensor few = x(Slice(), Slice(0, 3));
  const auto loss = [&](const Tensor& t) { return reduce_sum(square(l(t).output)); };
  CHECK(test::compute_gradient_error(loss, {few}, {.delta = 1e-6}) < 1e-6);
  GradientTape tape;
  const Tensor y = loss(few);
  for (const Gradient& g : tape.gradient(y, l.trainable_variables()))
    CHECK(reduce_max(abs(g.tensor())).item<double>() > 0);
}
TEST_CASE("ConvLSTM1D: dropout in training alone") {
  const Tensor x = ones({2, 3, 6, 2});
  for (const ConvLSTMOptions& options : {ConvLSTMOptions{.dropout = .5}, ConvLSTMOptions{.recurrent_dropout = .5}}) {
    const ConvLSTM1D l = with_weights(ConvLSTM1D(2, 3, options), x);
    const Tensor y = l(x).output;
    CHECK(near(l(x, {.training = false}).output, y, 1e-7));
    CHECK(!near(l(x, {.training = true}).output, y, 1e-4));
    // At the first step there is no state to drop.
    const Tensor one = x(Slice(), Slice(0, 1));
    CHECK(near(l(one, {.training = true}).output, l(one).output) == (options.recurrent_dropout != 0));
  }
}
TEST_CASE("ConvLSTM: errors leave the layer unbuilt") {
  const ConvLSTM2D l(3, 3);
  CHECK_THROWS_WITH(l(images[0]), ContainsSubstring("ConvLSTM2D: needs an input of rank 5, [batch, time, ...]"));
  CHECK_THROWS_WITH(l(cast(images, float64)), ContainsSubstring("ConvLSTM2D"));
  CHECK(l.variables().empty());
  (void)l(images);
  CHECK_THROWS_WITH(l(images(Ellipsis, Slice(0, 1))), ContainsSubstring("ConvLSTM2D: the layer was built for 2"));
  CHECK_THROWS_WITH(l(images, {.initial_state = nn::LstmState{zeros({2, 3}), zeros({2, 3})}}),
                    ContainsSubstring("ConvLSTM2D: the initial state must be two tensors of float32[2,4,3,3]"));
  CHECK_THROWS_WITH(ConvLSTM1D(0, 3), ContainsSubstring("ConvLSTM1D: filters must be positive"));
  CHECK_THROWS_WITH(ConvLSTM1D(2, 3, {.recurrent_dropout = 1}), ContainsSubstring("ConvLSTM1D: rate 1"));
  CHECK_THROWS_WITH(ConvLSTM2D(2, {3, 3, 3}), ContainsSubstring("ConvLSTM2D"));
}
}  // namespace conv_lstm_test
