// Attention layers: known numbers, one head against the plain form, masks, scores, dropout, gradients, traces;
// TransformerBlock against its parts, positions.
#include "tandem/layers/attention.hpp"

#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/layers/multi_head_attention.hpp"
#include "tandem/layers/position.hpp"
#include "tandem/layers/transformer.hpp"
#include "tandem/module/model.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::floats, testing::Floats, testing::wave, testing::distance, testing::List, testing::check_close;

namespace {

// q = k = identity(2), v = [[1, 2], [3, 4]].
const Tensor unit = constant({{{1.f, 0.f}, {0.f, 1.f}}}), values = constant({{{1.f, 2.f}, {3.f, 4.f}}});
const layers::MultiHeadAttentionOptions plain_projection{.use_bias = false,
                                                         .kernel_initializer = initializers::Identity()};
const Tensor query = wave({2, 3, 4}), value = wave({2, 5, 4}, 1), key = wave({2, 5, 4}, 2);
const Tensor value_mask = constant({{true, true, false, true, false}, {false, false, false, false, false}});
const Tensor query_mask = constant({{true, false, true}, {true, true, true}});
const Tensor pair_mask = greater(wave({2, 3, 5}, 3), 0.f);

}  // namespace

TEST_CASE("MultiHeadAttention: one head with identity projections is the plain form") {
  const layers::MultiHeadAttention one(1, 2, plain_projection);
  check_close(floats(one(unit, values, {.key = unit})), {1.660477f, 2.660477f, 2.339523f, 3.339523f});
  const Floats causal = floats(one(unit, values, {.key = unit, .use_causal_mask = true}));
  check_close(causal, {1, 2, 2.339523f, 3.339523f});
  const Tensor hidden = constant({{false, false}});
  CHECK(floats(one(unit, values, {.key = unit, .value_mask = hidden})) == Floats{0, 0, 0, 0});
  CHECK(one.variables().size() == 4);
  const layers::MultiHeadAttention four(1, 4, plain_projection);
  CHECK(distance(four(query, value, {.key = key}), nn::scaled_dot_product_attention(query, key, value)) < 1e-6);
}

TEST_CASE("MultiHeadAttention: heads, value sizes, output size, biases") {
  const layers::MultiHeadAttention mha(2, 3,
                                       {.value_dim = 5,
                                        .output_shape = 7,
                                        .kernel_initializer = initializers::RandomNormal(0, 0.5, 3),
                                        .bias_initializer = initializers::RandomNormal(0, 0.5, 4)});
  const auto y = mha(query, value, {.key = key, .attention_mask = pair_mask, .return_attention_scores = true});
  CHECK(y.output.shape() == Shape{2, 3, 7});
  CHECK(y.scores.shape() == Shape{2, 2, 3, 5});
  CHECK(distance(mha(query, value, {.key = key, .attention_mask = pair_mask}), y.output) < 1e-6);
  const std::vector<Variable> w = mha.variables();
  REQUIRE(w.size() == 8);
  CHECK(mha.named_variables()[2].path == "key_kernel");
  const auto head = [&](const Tensor& x, std::size_t i, i64 h, i64 n) {
    return (tensordot(x, w[i], 1) + w[i + 1])(Ellipsis, Slice(h * n, (h + 1) * n));
  };
  List heads;
  for (const i64 h : {0, 1}) {
    const Tensor a = nn::scaled_dot_product_attention(head(query, 0, h, 3), head(key, 2, h, 3), head(value, 4, h, 5),
                                                      {.mask = pair_mask});
    heads.push_back(a);
    CHECK(distance(y.scores(Slice(), h), nn::scaled_dot_product_attention(head(query, 0, h, 3), head(key, 2, h, 3),
                                                                          tile(expand_dims(eye(5), 0), {2, 1, 1}),
                                                                          {.mask = pair_mask})) < 1e-6);
  }
  CHECK(distance(y.output, tensordot(concat(heads, -1), w[6], 1) + w[7]) < 1e-5);
}

TEST_CASE("MultiHeadAttention: heads are split and merged without a copy") {
  const layers::MultiHeadAttention mha(2, 3);
  mha(query, value);
  const auto g = testing::traced({query.spec(), value.spec()}, [&](const List& in) -> List {
    GradientTape tape;
    const Tensor loss = reduce_sum(mha(in[0], in[1]));
    List r;
    for (const Gradient& d : tape.gradient(loss, mha.trainable_variables())) r.push_back(d.tensor());
    return r;
  });
  CHECK(testing::count(*g, scaled_dot_product_attention_grad_op) == 1);
  for (const Node& n : g->nodes) CHECK(!(n.op == &transpose_op && g->spec(n.first_out).shape.rank() == 4));
}

TEST_CASE("attention layers: masks hide keys, and give zeros for queries") {
  const auto check = [](const auto& layer, bool bias_free) {
    const auto y = layer(query, value, {.value_mask = value_mask, .return_attention_scores = true});
    const Tensor scores = y.scores.rank() == 4 ? y.scores(Slice(), 0) : y.scores;
    CHECK(reduce_max(abs(scores(0, Slice(), 2))).template item<float>() == 0);
    CHECK(reduce_max(abs(scores[1])).template item<float>() == 0);
    check_close(floats(reduce_sum(scores[0], {.axis = -1})), {1, 1, 1});
    if (bias_free) CHECK(reduce_max(abs(y.output[1])).template item<float>() == 0);
    const auto q = layer(query, value, {.query_mask = query_mask});
    if (bias_free) CHECK(reduce_max(abs(q.output(0, 1))).template item<float>() == 0);
    CHECK(distance(q.output(0, 2), layer(query, value).output(0, 2)) < 1e-6);
    // Two masks are one.
    const Tensor both = logical_and(pair_mask, expand_dims(value_mask, 1));
    CHECK(distance(layer(query, value, {.attention_mask = pair_mask, .value_mask = value_mask}).output,
                   layer(query, value, {.attention_mask = both}).output) < 1e-6);
    const Tensor causal = linalg::band_part(fill({3, 5}, true), -1, 0);
    CHECK(distance(layer(query, value, {.use_causal_mask = true}).output,
                   layer(query, value, {.attention_mask = causal}).output) < 1e-6);
    CHECK_THROWS_WITH(layer(query, value, {.value_mask = ones({2, 5})}), ContainsSubstring("value_mask"));
    CHECK_THROWS_AS(layer(query, value, {.value_mask = fill({2, 4}, true)}), errors::InvalidArgumentError);
    // A query of one example and masks of two would give two results.
    const Tensor q1 = query(Slice(0, 1)), v1 = value(Slice(0, 1));
    CHECK_THROWS_WITH(layer(q1, v1, {.value_mask = value_mask}), ContainsSubstring("value_mask must be bool[1,5]"));
    CHECK_THROWS_WITH(layer(q1, v1, {.query_mask = query_mask}), ContainsSubstring("query_mask must be bool[1,3]"));
    CHECK_THROWS_WITH(layer(q1, v1, {.attention_mask = pair_mask}), ContainsSubstring("attention_mask must be bool["));
    CHECK(distance(layer(query, value, {.attention_mask = expand_dims(causal, 0)}).output,
                   layer(query, value, {.attention_mask = causal}).output) < 1e-6);
  };
  check(layers::MultiHeadAttention(2, 4, {.use_bias = false}), true);
  check(layers::Attention(), true);
  check(layers::Attention({.use_scale = true}), true);
  check(layers::AdditiveAttention(), true);
}

TEST_CASE("Attention: unscaled scores, a weight for the scale") {
  const layers::Attention plain, scaled({.use_scale = true});
  const Tensor want = matmul(nn::softmax(matmul(query, key, {.transpose_b = true})), value);
  CHECK(distance(plain(query, value, {.key = key}), want) < 1e-6);
  CHECK(plain.variables().empty());
  CHECK(distance(scaled(query, value, {.key = key}), want) < 1e-6);
  REQUIRE(scaled.variables().size() == 1);
  scaled.variables()[0].assign(constant(0.5f));
  CHECK(distance(scaled(query, value, {.key = key}),
                 matmul(nn::softmax(matmul(query, key, {.transpose_b = true}) * 0.5f), value)) < 1e-6);
  GradientTape tape;
  const Tensor loss = reduce_sum(square(scaled(query, value).output));
  CHECK(tape.gradient(loss, scaled.variables()[0]).is_set());
}

TEST_CASE("AdditiveAttention: the sum of tanh over the features") {
  const layers::AdditiveAttention plain({.use_scale = false}), scaled;
  const auto want = [&](const Tensor& scale) {
    List rows;
    for (i64 b = 0; b < 2; ++b)
      for (i64 m = 0; m < 3; ++m) {
        const Tensor scores = reduce_sum(tanh(query(b, m) + key[b]) * scale, {.axis = 1});
        rows.push_back(reduce_sum(expand_dims(nn::softmax(scores), 1) * value[b], {.axis = 0}));
      }
    return reshape(stack(rows), {2, 3, 4});
  };
  CHECK(distance(plain(query, value, {.key = key}), want(ones({4}))) < 1e-6);
  const Tensor y = scaled(query, value, {.key = key});
  CHECK(distance(y, want(scaled.variables()[0])) < 1e-6);
}

TEST_CASE("attention layers: dropout only in training, with a scope or a call") {
  const layers::MultiHeadAttention mha(2, 4, {.dropout = 0.5});
  const Tensor y = mha(query, value);
  CHECK(floats(mha(query, value)) == floats(y));
  const auto trained = mha(query, value, {.return_attention_scores = true, .training = true});
  CHECK(reduce_min(trained.scores).item<float>() == 0);
  CHECK(floats(mha(query, value, {.training = true})) != floats(y));
  const auto scope = training_scope(true);
  CHECK(floats(mha(query, value)) != floats(y));
  CHECK(floats(mha(query, value, {.training = false})) == floats(y));
}

TEST_CASE("attention layers: gradients, second calls of another width, errors") {
  const auto check = [](const auto& layer) {
    const Tensor q = cast(query, float64), v = cast(value, float64);
    const auto f = [&](const Tensor& a, const Tensor& b) {
      return reduce_sum(square(layer(a, b, {.value_mask = value_mask}).output));
    };
    f(q, v);
    CHECK(test::compute_gradient_error(f, {q, v}, {.delta = 1e-5}) < 1e-7);
  };
  const layers::MultiHeadAttention mha(2, 3, {.dtype = float64});
  check(mha);
  check(layers::Attention({.use_scale = true}));
  check(layers::AdditiveAttention());
  CHECK_THROWS_AS(mha(zeros({2, 3, 5}, float64), zeros({2, 3, 5}, float64)), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(layers::MultiHeadAttention(0, 2), ContainsSubstring("num_heads"));
  CHECK_THROWS_WITH(layers::MultiHeadAttention(2, 2)(zeros({2, 3}), zeros({2, 3})),
                    ContainsSubstring("MultiHeadAttention"));
  const layers::MultiHeadAttention fresh(2, 2);
  CHECK_THROWS_AS(fresh(query, wave({3, 5, 4})), errors::InvalidArgumentError);
  CHECK(fresh.variables().empty());
}

TEST_CASE("attention layers in a traced function with unknown sizes") {
  const layers::MultiHeadAttention mha(2, 3);
  const layers::AdditiveAttention additive;
  const auto f = [&](const Tensor& q, const Tensor& v, const Tensor& mask) {
    return List{mha(q, v, {.value_mask = mask}), additive(q, v, {.value_mask = mask, .use_causal_mask = true}),
                mha(q, v, {.use_causal_mask = true, .return_attention_scores = true}).scores};
  };
  const auto open =
      function(f, {.input_signature = {TensorSpec({none, none, 4}, float32), TensorSpec({none, none, 4}, float32),
                                       TensorSpec({none, none}, bool_)}});
  const List got = open(query, value, value_mask), want = f(query, value, value_mask);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(distance(got[i], want[i]) < 1e-6);
  CHECK(open(zeros({1, 2, 4}), zeros({1, 1, 4}), fill({1, 1}, true))[0].shape() == Shape{1, 2, 4});
  CHECK(open.trace_count() == 1);
}

TEST_CASE("TransformerBlock: post-norm and pre-norm equal their parts") {
  const Tensor x = wave({2, 5, 4});
  for (const bool first : {false, true}) {
    const layers::TransformerBlock block(6, 2,
                                         {.activation = nn::gelu,
                                          .bias_initializer = initializers::RandomNormal(0, 0.5, 4),
                                          .normalize_first = first,
                                          .use_causal_mask = true});
    const Tensor y = block(x, {.padding_mask = value_mask});
    REQUIRE(block.variables().size() == 16);
    CHECK(block.named_variables()[0].path == "self_attention/query_kernel");
    const layers::MultiHeadAttention attention(2, 2);
    attention(x);
    const std::vector<Tensor> w = block.get_weights();
    attention.set_weights({w.begin(), w.begin() + 8});
    const auto norm = [&](const Tensor& t, std::size_t i) {
      return nn::layer_norm(t, {.epsilon = 1e-5, .scale = w[i], .offset = w[i + 1]});
    };
    const auto attend = [&](const Tensor& t) -> Tensor {
      return attention(t, t, {.value_mask = value_mask, .use_causal_mask = true});
    };
    const auto feed = [&](const Tensor& t) { return nn::dense(nn::gelu(nn::dense(t, w[10], w[11])), w[12], w[13]); };
    Tensor want;
    if (first) {
      const Tensor a = x + attend(norm(x, 8));
      want = a + feed(norm(a, 14));
    } else {
      const Tensor a = norm(x + attend(x), 8);
      want = norm(a + feed(a), 14);
    }
    CHECK(distance(y, want) < 1e-5);
    // A causal block does not see what comes later.
    const Tensor other = concat({x(Slice(), Slice(0, 3)), wave({2, 2, 4}, 5)}, 1);
    CHECK(distance(block(other)(Slice(), Slice(0, 3)), block(x)(Slice(), Slice(0, 3))) < 1e-6);
    CHECK(distance(block(other)(Slice(), 4), block(x)(Slice(), 4)) > 1e-3);
  }
}

TEST_CASE("TransformerBlock: training, gradients, traces, clones, errors") {
  const Tensor x = wave({2, 5, 4});
  struct Net : Model<Net> {
    layers::TransformerBlock block{8, 2, {.dropout = 0.3}};
    Tensor operator()(const Tensor& t) const { return block(t); }
  };
  const Net net;
  const Tensor y = net(x);
  CHECK(floats(net(x)) == floats(y));
  CHECK(floats(net.block(x, {.training = true})) != floats(y));
  const auto step = [&](const Tensor& t) {
    GradientTape tape;
    const Tensor loss = reduce_sum(square(net(t)));
    List r;
    for (const Gradient& g : tape.gradient(loss, net.trainable_variables())) r.push_back(g.tensor());
    return r;
  };
  const List want = step(x);
  const auto open = function(step, {.input_signature = {TensorSpec({none, none, 4}, float32)}});
  const List got = open(x);
  REQUIRE(want.size() == 16);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(distance(got[i], want[i]) < 1e-4);
  const Net copy = net.clone();
  for (const Variable& v : net.variables()) v.assign(zeros_like(v));
  CHECK(floats(copy(x)) == floats(y));
  const layers::TransformerBlock three(8, 3);
  CHECK_THROWS_WITH(three(x), ContainsSubstring("TransformerBlock") && ContainsSubstring("does not divide"));
  CHECK(three.variables().empty());
  CHECK_THROWS_WITH(layers::TransformerBlock(0, 1), ContainsSubstring("intermediate_dim"));
}

TEST_CASE("positions") {
  const Tensor x = wave({2, 3, 4});
  const layers::PositionEmbedding learned(5);
  const Tensor p = learned(x);
  const Tensor table = learned.variables()[0];
  CHECK(table.shape() == Shape{5, 4});
  CHECK(floats(p[0]) == floats(table(Slice(0, 3))));
  CHECK(floats(p[1]) == floats(p[0]));
  CHECK(floats(learned(x, {.start_index = 2})[1]) == floats(table(Slice(2, 5))));
  CHECK_THROWS_WITH(learned(x, {.start_index = 3}), ContainsSubstring("PositionEmbedding"));
  CHECK_THROWS_WITH(learned(zeros({1, 6, 4})), ContainsSubstring("PositionEmbedding"));
  const layers::SinePositionEncoding waves;
  const Tensor w = waves(x);
  CHECK(w.shape() == x.shape());
  for (i64 t = 0; t < 3; ++t)
    for (i64 i = 0; i < 4; ++i) {
      const double angle = static_cast<double>(t) * std::pow(10000.0, -static_cast<double>(i / 2 * 2) / 4);
      CHECK(w.at<float>({1, t, i}) == Approx(i % 2 ? std::cos(angle) : std::sin(angle)).margin(1e-6));
    }
  CHECK(floats(waves(x, {.start_index = 1})(0, 0)) == floats(w(0, 1)));
  const auto open = function(
      [&](const Tensor& t) {
        return List{learned(t), waves(t)};
      },
      {.input_signature = {TensorSpec({none, none, 4}, float32)}});
  CHECK(floats(open(x)[0]) == floats(p));
  CHECK(distance(open(x)[1], w) < 1e-6);
}

TEST_CASE("a traced function returns the outputs of layers as they are") {
  const Tensor x = wave({2, 3, 4});
  const layers::LSTM lstm(5, {.return_sequences = true});
  const auto eager = lstm(x);
  const auto traced = function([&](const Tensor& t) { return lstm(t); })(x);
  check_close(floats(traced.output), floats(eager.output));
  check_close(floats(traced.state[0].c), floats(eager.state[0].c));

  const layers::Bidirectional both{layers::GRU(3)};
  const auto b = both(x);
  const auto b_traced = function([&](const Tensor& t) { return both(t); })(x);
  check_close(floats(b_traced.output), floats(b.output));
  check_close(floats(b_traced.backward_state[0]), floats(b.backward_state[0]));

  const layers::Attention attention;
  const layers::AttentionCall call{.return_attention_scores = true};
  const auto a = attention(x, x, call);
  const auto a_traced = function([&](const Tensor& t) { return attention(t, t, call); })(x);
  check_close(floats(a_traced.output), floats(a.output));
  check_close(floats(a_traced.scores), floats(a.scores));
}

TEST_CASE("MultiHeadAttention: a masked query's result is the bias of the last projection") {
  const layers::MultiHeadAttention layer(2, 3, {.bias_initializer = initializers::Constant(.25)});
  const Tensor y = layer(query, value, {.query_mask = query_mask});
  const Tensor bias = layer.variables().back().value();
  CHECK(floats(y[0][1]) == floats(bias));
  CHECK(floats(y[0][0]) != floats(bias));
  const layers::MultiHeadAttention plain(2, 3, {.use_bias = false});
  const Tensor z = plain(query, value, {.query_mask = query_mask});
  CHECK(floats(z[0][1]) == Floats(4, 0));
}
