// debugging::StrictShapes does not apply to what layers, cells, losses and searches consist of.
#include "tandem/ops/debug/strict_shapes.hpp"

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;

namespace {
// Calls f before the scope, in it, and in it in a trace. What differs or raises fails.
template <class F>
void check_lenient(const char* name, const F& f) {
  INFO(name);
  const Shape want = f().shape();
  const debugging::StrictShapes strict;
  CHECK(f().shape() == want);
  const auto traced = function([&](const Tensor&) { return f(); });
  CHECK(traced(zeros({})).shape() == want);
}
}  // namespace

TEST_CASE("StrictShapes: layers and cells") {
  const Tensor x = random::stateless_normal({3, 4}, {1, 2}), steps = random::stateless_normal({3, 5, 4}, {3, 4});
  const Tensor lengths = constant({5, 2, 0});
  const layers::Dense dense(2), active(2, nn::gelu), bare(2, {.use_bias = false});
  const layers::Embedding embedding(7, 4);
  const layers::LSTMCell lstm_cell(2);
  const layers::GRUCell gru_cell(2), classic_cell(2, {.reset_after = false});
  const layers::LSTM lstm(2, {.return_sequences = true, .num_layers = 2});
  const layers::GRU gru(2, {.time_major = true}), classic(2, {}, {.reset_after = false});
  check_lenient("Dense", [&] { return dense(x) + active(x) + bare(x); });
  check_lenient("Dense of rank 3", [&] { return active(steps); });
  check_lenient("Embedding", [&] { return embedding(constant({{1, 2}, {3, 4}})); });
  check_lenient("LSTMCell", [&] { return lstm_cell(x, lstm_cell.zero_state(3)).h; });
  check_lenient("GRUCell", [&] { return gru_cell(x, gru_cell.zero_state(3)); });
  check_lenient("GRUCell, classic", [&] { return classic_cell(x, classic_cell.zero_state(3)); });
  check_lenient("LSTM", [&] { return Tensor(lstm(steps, {.sequence_length = lengths})); });
  check_lenient("GRU", [&] { return Tensor(gru(transpose(steps, {1, 0, 2}))); });
  check_lenient("GRU, classic", [&] { return Tensor(classic(steps, {.sequence_length = lengths})); });
  // A layer that is built in the scope.
  const debugging::StrictShapes strict;
  CHECK(layers::LSTMCell(2)(x, lstm_cell.zero_state(3)).h.shape() == Shape{3, 2});
  CHECK(layers::GRUCell(2)(x, gru_cell.zero_state(3)).shape() == Shape{3, 2});
  CHECK(layers::Dense(2)(x).shape() == Shape{3, 2});
}

TEST_CASE("StrictShapes: recurrent layers over loops, masks and both directions; attention") {
  const Tensor steps = random::stateless_normal({3, 5, 4}, {3, 4}), lengths = constant({5, 2, 0});
  const Tensor mask = greater(steps(Ellipsis, 0), 0.f);
  const layers::SimpleRNN simple(2, {.return_sequences = true, .go_backwards = true});
  const layers::LSTM peepholes(2, {.return_sequences = true}, {.use_peepholes = true});
  const layers::RNN stacked(layers::StackedRNNCells({layers::SimpleRNNCell(3), layers::SimpleRNNCell(2)}));
  const layers::Bidirectional both(layers::GRU(2, {.return_sequences = true}));
  const layers::TimeDistributed each(layers::Dense(2));
  const layers::MultiHeadAttention heads(2, 2);
  const layers::Attention dot({.use_scale = true});
  const layers::AdditiveAttention additive;
  const layers::TransformerBlock block(6, 2);
  const layers::PositionEmbedding learned(5);
  const layers::AttentionCall call{.attention_mask = fill({5, 5}, true), .query_mask = mask, .value_mask = mask};
  check_lenient("SimpleRNN", [&] { return Tensor(simple(steps, {.mask = mask, .sequence_length = lengths})); });
  check_lenient("LSTM with peepholes", [&] { return Tensor(peepholes(steps, {.sequence_length = lengths})); });
  check_lenient("RNN", [&] { return Tensor(stacked(steps, {.mask = mask})); });
  check_lenient("Bidirectional", [&] { return Tensor(both(steps, {.mask = mask, .sequence_length = lengths})); });
  check_lenient("TimeDistributed", [&] { return each(steps); });
  check_lenient("MultiHeadAttention", [&] { return Tensor(heads(steps, steps, call)); });
  check_lenient("MultiHeadAttention with scores",
                [&] { return heads(steps, steps, {.value_mask = mask, .return_attention_scores = true}).scores; });
  check_lenient("Attention", [&] { return Tensor(dot(steps, steps, call)); });
  check_lenient("AdditiveAttention", [&] { return Tensor(additive(steps, steps, call)); });
  check_lenient("TransformerBlock", [&] { return block(steps, {.padding_mask = mask}); });
  check_lenient("positions", [&] { return learned(steps) + layers::SinePositionEncoding()(steps); });
}

TEST_CASE("StrictShapes: beam search") {
  const Tensor table = random::stateless_normal({5, 5}, {1, 2}), rows = zeros({2, 1});
  const debugging::StrictShapes strict;
  for (const double penalty : {0., .6}) {
    const auto step = [&](const Tensor& ids, const Tensor& state) { return std::pair(gather(table, ids), state); };
    const auto search = [&](const Tensor& state) {
      return nn::rnn_beam_search(step, state,
                                 {.sequence_length = 3, .beam_width = 2, .end_token_id = 4, .length_penalty = penalty})
          .ids;
    };
    const Tensor ids = search(rows);
    CHECK(ids.shape() == Shape{2, 2, 3});
    CHECK(function(search)(rows).to_vector<int>() == ids.to_vector<int>());
  }
}

TEST_CASE("StrictShapes: losses and normalizations") {
  const Tensor x = random::stateless_normal({3, 4}, {1, 2}), p = nn::softmax(x), rows = constant({0, 1, 3});
  const Tensor image = random::stateless_normal({2, 4, 4, 4}, {5, 6}), one = ones({4}), v = constant({.1f, .2f, .3f});
  const Tensor mask = constant({true, false, true});
  check_lenient("l2_loss", [&] { return nn::l2_loss(image); });
  check_lenient("l2_normalize", [&] { return nn::l2_normalize(image, {.axis = {1, 2}}); });
  check_lenient("moments", [&] { return nn::moments(image, {0, 1}).variance; });
  check_lenient("zero_fraction", [&] { return nn::zero_fraction(image); });
  check_lenient("softmax_cross_entropy", [&] { return nn::softmax_cross_entropy_with_logits(p, x); });
  check_lenient("sparse", [&] { return nn::sparse_softmax_cross_entropy_with_logits(rows, x); });
  check_lenient("sigmoid_cross_entropy", [&] { return nn::sigmoid_cross_entropy_with_logits(p, x); });
  check_lenient("weighted_cross_entropy", [&] { return nn::weighted_cross_entropy_with_logits(p, x, one); });
  check_lenient("log_poisson_loss", [&] { return nn::log_poisson_loss(p, x, {.compute_full_loss = true}); });
  check_lenient("entropy", [&] { return nn::entropy(p) + nn::cross_entropy(p, p) + nn::softmax_entropy(x); });
  check_lenient("gaussian_kl", [&] { return nn::gaussian_kl({x, x}); });
  check_lenient("perplexity", [&] { return nn::perplexity(x); });
  check_lenient("batch_normalization", [&] { return nn::batch_normalization(image, one, one, one, one, 1e-3); });
  check_lenient("fused_batch_norm", [&] { return nn::fused_batch_norm(image, one, one).y; });
  check_lenient("layer_norm", [&] { return nn::layer_norm(image, {.scale = one, .offset = one}); });
  check_lenient("rms_norm", [&] { return nn::rms_norm(image, {.scale = one}); });
  check_lenient("group_norm", [&] { return nn::group_norm(image, 2, {.scale = one, .offset = one}); });
  check_lenient("bias_add", [&] { return nn::bias_add(image, one); });
  check_lenient("masked_mean", [&] { return nn::masked_mean(v, mask); });
  check_lenient("weighted_moments", [&] { return nn::weighted_moments(image, {0}, one).mean; });
  check_lenient("dropout", [&] { return nn::dropout(image, {.rate = .5}); });
  check_lenient("local_response_normalization", [&] { return nn::local_response_normalization(image); });
  check_lenient("in_top_k", [&] { return nn::in_top_k(rows, x, 2); });
  check_lenient("crelu", [&] { return nn::crelu(x); });
}

TEST_CASE("StrictShapes: checks on another device") {
  const sim::Installed installed;
  const Tensor x = ones({2, 3}).to(sim::device), row = ones({3}).to(sim::device);
  const debugging::StrictShapes strict;
  CHECK_NOTHROW(debugging::assert_all_finite(x));
  CHECK_NOTHROW(debugging::assert_near(x, row));
  CHECK_NOTHROW(debugging::assert_equal(x, row));
  CHECK_NOTHROW(debugging::assert_positive(x));
  CHECK(debugging::check_numerics(x, "x").shape() == Shape{2, 3});
  debugging::enable_check_numerics();
  const Tensor y = x * 2;
  debugging::disable_check_numerics();
  CHECK(y.cpu().to_vector<float>() == std::vector<float>(6, 2));
  CHECK_THROWS_WITH(x + row, ContainsSubstring("ranks differ"));
}
