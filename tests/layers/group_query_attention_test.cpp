// GroupQueryAttention against heads by hand and against MultiHeadAttention with repeated kernels; windows, gates,
// masks, scores, gradients, traces, errors.
#include "tandem/layers/group_query_attention.hpp"

#include "tandem/layers/multi_head_attention.hpp"
#include "tandem/layers/sequential.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/graph_eval.hpp"
#include "tests/support/layer_checks.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::distance, testing::floats, testing::List, testing::wave;

namespace group_query_attention_test {
namespace {

using Options = layers::GroupQueryAttentionOptions;

const Tensor query = wave({2, 3, 4}), value = wave({2, 5, 4}, 1), key = wave({2, 5, 4}, 2);
const Tensor value_mask = constant({{true, true, false, true, false}, {false, false, false, false, false}});
const Initializer drawn = initializers::RandomNormal(0, 0.5, 3);

layers::GroupQueryAttention layer_with(Options options, i64 heads = 4, i64 shared = 2) {
  options.kernel_initializer = drawn, options.bias_initializer = initializers::RandomNormal(0, 0.5, 4);
  return layers::GroupQueryAttention(3, heads, shared, options);
}
// The kernel or bias of one head of each n, as that of `times` heads.
Tensor repeated(const Tensor& w, i64 heads, i64 times) {
  const i64 width = w.shape().dim(-1) / heads;
  List all;
  for (i64 h = 0; h < heads * times; ++h) {
    const i64 from = h / times * width;
    all.push_back(w(Ellipsis, Slice(from, from + width)));
  }
  return concat(all, -1);
}
// MultiHeadAttention with the weights of a layer.
layers::MultiHeadAttention repeated(const layers::GroupQueryAttention& l, i64 heads, i64 shared, bool use_gate) {
  const layers::MultiHeadAttention r(heads, 3, {.use_gate = use_gate});
  (void)r(query, value, {.key = key});
  std::vector<Tensor> w = l.get_weights();
  const std::size_t of_values = use_gate ? 6 : 4;
  for (const std::size_t i : {std::size_t{2}, std::size_t{3}, of_values, of_values + 1})
    w[i] = repeated(w[i], shared, heads / shared);
  r.set_weights(w);
  return r;
}

}  // namespace

TEST_CASE("GroupQueryAttention: each head of keys and values serves adjacent heads of queries") {
  for (const auto& [heads, shared] : {std::pair(4, 2), std::pair(3, 1), std::pair(2, 2)})
    for (const bool use_gate : {false, true}) {
      CAPTURE(heads, shared, use_gate);
      const layers::GroupQueryAttention l = layer_with({.use_gate = use_gate}, heads, shared);
      const Tensor y = l(query, value, {.key = key});
      CHECK(y.shape() == Shape{2, 3, 4});
      const layers::MultiHeadAttention whole = repeated(l, heads, shared, use_gate);
      for (const layers::AttentionCall& call :
           {layers::AttentionCall{.key = key}, {.key = key, .use_causal_mask = true}, {.value_mask = value_mask}}) {
        CHECK(distance(l(query, value, call), whole(query, value, call)) < 1e-6);
        layers::AttentionCall asks = call;
        asks.return_attention_scores = true;
        const auto got = l(query, value, asks), want = whole(query, value, asks);
        CHECK(got.scores.shape() == Shape{2, heads, 3, 5});
        CHECK(distance(got.scores, want.scores) < 1e-6);
        CHECK(distance(got.output, want.output) < 1e-6);
      }
    }
  const auto paths = layer_with({.use_gate = true});
  (void)paths(query);
  std::vector<std::string> names;
  for (const auto& n : paths.named_variables()) names.push_back(n.path + to_string(n.variable.shape()));
  CHECK(names == std::vector<std::string>{"query_kernel(4, 12)", "query_bias(12,)", "key_kernel(4, 6)", "key_bias(6,)",
                                          "gate_kernel(4, 12)", "gate_bias(12,)", "value_kernel(4, 6)",
                                          "value_bias(6,)", "attention_output_kernel(12, 4)",
                                          "attention_output_bias(4,)"});
}

TEST_CASE("MultiHeadAttention: a gate multiplies what the heads return") {
  const layers::MultiHeadAttention gated(2, 3, {.value_dim = 5, .kernel_initializer = drawn, .use_gate = true}),
      plain(2, 3, {.value_dim = 5});
  (void)gated(query, value), (void)plain(query, value);
  std::vector<Tensor> w = gated.get_weights();
  REQUIRE(w[4].shape() == Shape{4, 10});
  const Tensor gate = sigmoid(tensordot(query, w[4], 1) + w[5]);
  std::vector<Tensor> others(w.begin(), w.begin() + 4);
  others.insert(others.end(), w.begin() + 6, w.end());
  others[6] = eye(10), others[7] = zeros({10});  // the heads' results themselves
  const layers::MultiHeadAttention heads(2, 3, {.value_dim = 5, .output_shape = 10});
  (void)heads(query, value);
  heads.set_weights(others);
  CHECK(distance(gated(query, value), tensordot(heads(query, value) * gate, w[8], 1) + w[9]) < 1e-5);
  testing::check_layer_gradients([l = layers::MultiHeadAttention(2, 3, {.use_gate = true, .dtype = float64})](
                                     const Tensor& x) -> Tensor { return l(x); },
                                 cast(query, float64), {});
}

TEST_CASE("GroupQueryAttention: a sliding window, alone and with other masks") {
  const Tensor near = abs(expand_dims(range(3), 1) - range(5)) < 2;
  const layers::GroupQueryAttention windowed = layer_with({.sliding_window = 2}), wide = layer_with({});
  (void)windowed(query, value), (void)wide(query, value);
  wide.set_weights(windowed.get_weights());
  CHECK(distance(windowed(query, value), wide(query, value, {.attention_mask = near})) < 1e-6);
  CHECK(distance(windowed(query, value, {.value_mask = value_mask, .use_causal_mask = true}),
                 wide(query, value, {.attention_mask = near, .value_mask = value_mask, .use_causal_mask = true})) <
        1e-6);
  const Tensor pairs = greater(wave({2, 3, 5}, 3), 0.f);
  const auto scores = [&](const layers::GroupQueryAttention& l, const Tensor& mask) {
    return l(query, value, {.attention_mask = mask, .return_attention_scores = true}).scores;
  };
  CHECK(distance(scores(windowed, pairs), scores(wide, logical_and(pairs, near))) < 1e-6);
  // Keys that no query sees may be NaN: those from the fifth on.
  const Tensor blank = concat({value(Slice(), Slice(0, 4)), fill({2, 1, 4}, NAN)}, 1);
  CHECK(distance(windowed(query, blank), windowed(query, value)) == 0);
}

TEST_CASE("GroupQueryAttention: in Sequential a mask goes along; half precision; dropout in training") {
  const layers::GroupQueryAttention l = layer_with({.dropout = .5});
  const layers::Sequential net{layers::Embedding(6, 4, {.mask_zero = true}), l, layers::GlobalAveragePooling1D()};
  const Tensor ids = constant({{1, 2, 0}, {3, 0, 0}});
  CHECK(distance(net(ids)(0), net(constant({{1, 2}}))(0)) < 1e-6);
  const auto two = layer_with({.dtype = float16});
  CHECK(Tensor(two(cast(query, float16))).dtype() == float16);
  const Tensor y = l(query);
  CHECK(floats(l(query)) == floats(y));
  CHECK(floats(l(query, query, {.training = true})) != floats(y));
}

TEST_CASE("GroupQueryAttention: gradients to the input and each weight, traces of any size") {
  for (Options o : {Options{}, Options{.sliding_window = 2}, Options{.use_bias = false, .use_gate = true}}) {
    o.dtype = float64;
    const layers::GroupQueryAttention l = layer_with(o);
    const auto f = [&](const Tensor& x) -> Tensor { return l(x, x, {.use_causal_mask = true}); };
    const Tensor x = cast(value, float64);
    (void)f(x);
    testing::check_layer_gradients(f, x, l.variables());
    testing::check_traced(f, x);
  }
  const layers::GroupQueryAttention l = layer_with({.sliding_window = 2});
  const auto f = [&](const Tensor& q, const Tensor& v) {
    const auto r = l(q, v, {.return_attention_scores = true});
    return List{l(q, v), r.output, r.scores};
  };
  const List want = f(query, value);
  const auto open =
      function(f, {.input_signature = {TensorSpec({none, none, 4}, float32), TensorSpec({none, none, 4}, float32)}});
  const List got = open(query, value);
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(distance(got[i], want[i]) < 1e-6);
  CHECK(open(zeros({1, 2, 4}), zeros({1, 1, 4}))[2].shape() == Shape{1, 4, 2, 1});
  CHECK(open.trace_count() == 1);
}

TEST_CASE("GroupQueryAttention: errors name the layer and leave it without weights") {
  const auto made = [](i64 width, i64 heads, i64 shared, const Options& o = {}) {
    return layers::GroupQueryAttention(width, heads, shared, o);
  };
  CHECK_THROWS_WITH(made(0, 4, 2), ContainsSubstring("GroupQueryAttention") && ContainsSubstring("head_dim"));
  CHECK_THROWS_WITH(made(2, 4, 0), ContainsSubstring("num_key_value_heads"));
  CHECK_THROWS_WITH(made(2, 4, 3),
                    ContainsSubstring("num_query_heads, 4, must be a multiple of num_key_value_heads, 3"));
  CHECK_THROWS_WITH(made(2, 4, 2, {.dropout = 1}), ContainsSubstring("GroupQueryAttention"));
  CHECK_THROWS_WITH(made(2, 4, 2, {.sliding_window = -1}), ContainsSubstring("sliding_window"));
  const layers::GroupQueryAttention l = made(2, 4, 2);
  CHECK_THROWS_WITH(l(zeros({2, 3})), ContainsSubstring("GroupQueryAttention"));
  CHECK_THROWS_WITH(l(query, value, {.value_mask = ones({2, 5})}),
                    ContainsSubstring("GroupQueryAttention: value_mask must be bool[2,5]"));
  CHECK_THROWS_AS(l(query, wave({3, 5, 4})), errors::InvalidArgumentError);
  CHECK(l.variables().empty());
}

}  // namespace group_query_attention_test
