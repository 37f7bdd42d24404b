// Ops with masks, weights or lengths: attention, recurrent ops, CTC, moments, embeddings, segments, selections.
#include "tests/masked/property.hpp"

using namespace tandem;
using testing::check_masked, testing::List, testing::MaskedOptions, testing::Masked, testing::wave;

namespace {

// bool_ [batch, n, 1] -> [batch, n, width].
Tensor rows(const Tensor& ignored, i64 width) {
  const Tensor t = expand_dims(ignored, -1);
  return broadcast_to(t, {ignored.shape().dim(0), ignored.shape().dim(1), width});
}
// false where a step lies within its row's length, [time, batch, width].
Tensor past(const Tensor& lengths, i64 time, i64 width) {
  const Tensor t = transpose(logical_not(sequence_mask(lengths, time)));
  return rows(t, width);
}

}  // namespace

TEST_CASE("Attention: keys and values that a mask hides may be NaN") {
  for (const i64 n : {5, 300, 700}) {  // one tile and several
    CAPTURE(n);
    const i64 m = n == 5 ? 4 : 70;
    const Tensor keep = sequence_mask(constant({n - 2, n / 2}), n), hidden = rows(logical_not(keep), 8);
    const Tensor q = wave({2, m, 8}), k = wave({2, n, 8}, 1), v = wave({2, n, 8}, 2);
    const Tensor flags = expand_dims(keep, 1);
    const Tensor numbers = where(flags, 0.f, -std::numeric_limits<float>::infinity());
    const MaskedOptions o{.second = n == 5};
    check_masked(
        "nn::scaled_dot_product_attention.mask",
        [&](const List& x) { return List{nn::scaled_dot_product_attention(x[0], x[1], x[2], {.mask = flags})}; },
        {{q}, {k, hidden}, {v, hidden}}, {}, o);
    check_masked("nn::scaled_dot_product_attention.mask",
                 [&](const List& x) {
                   random::set_seed(7);
                   const Tensor mask = cast(numbers, x[0].dtype());
                   return List{nn::scaled_dot_product_attention(x[0], x[1], x[2],
                                                                {.mask = mask, .dropout_rate = .2, .seed = 3})};
                 },
                 {{q}, {k, hidden}, {v, hidden}}, {}, {.traced = false});
    check_masked(
        "nn::scaled_dot_product_attention.mask",  // queries that see no key
        [&](const List& x) {
          const Tensor both = logical_and(flags, expand_dims(sequence_mask(constant({m - 1, m / 2}), m), 2));
          return List{nn::scaled_dot_product_attention(x[0], x[1], x[2], {.mask = both})};
        },
        {{q, rows(logical_not(sequence_mask(constant({m - 1, m / 2}), m)), 8)}, {k, hidden}, {v, hidden}}, {}, o);
  }
}
TEST_CASE("Attention: keys that only some queries see do not touch the others") {
  for (const i64 n : {6, 150, 300}) {
    CAPTURE(n);
    // The last keys are in the future of all queries but the last, whose results and gradients do not count.
    const Tensor late = expand_dims(range(n) >= n - 1, 0), hidden = rows(concat({late, late}, 0), 8);
    const Tensor q = wave({2, n, 8}), k = wave({2, n, 8}, 1), v = wave({2, n, 8}, 2);
    const auto before = [&](const Tensor& y) { return List{where(rows(concat({late, late}, 0), 8), 0, y)}; };
    const MaskedOptions forward{.differentiable = false};
    check_masked(
        "nn::scaled_dot_product_attention.causal",
        [&](const List& x) { return before(nn::scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true})); },
        {{q}, {k, hidden}, {v, hidden}}, {}, forward);
    const Tensor triangle = expand_dims(range(n), 1) >= range(n);
    check_masked(
        "nn::scaled_dot_product_attention.mask",
        [&](const List& x) { return before(nn::scaled_dot_product_attention(x[0], x[1], x[2], {.mask = triangle})); },
        {{q}, {k, hidden}, {v, hidden}}, {}, forward);
    // The gradients of the queries that do not see it, and of the keys that are not its.
    check_masked(
        "nn::scaled_dot_product_attention.causal",
        [&](const List& x) {
          GradientTape tape;
          tape.watch(x[0]);
          const Tensor y = nn::scaled_dot_product_attention(x[0], x[1], x[2], {.causal = true});
          const Tensor g = tape.gradient(y, x[0], {.output_gradients = {cast(wave({2, n, 8}, 4), y.dtype())}});
          return before(g);
        },
        {{q}, {k, hidden}, {v, hidden}}, {}, forward);
  }
}
TEST_CASE("Attention: shared heads, steps first, composed of small ops") {
  const Tensor keep = sequence_mask(constant({4, 2}), 6), off = logical_not(keep);
  const Tensor hidden = broadcast_to(expand_dims(expand_dims(off, -1), -1), {2, 6, 2, 4});
  const Tensor mask = expand_dims(expand_dims(keep, 1), 1);
  const auto attend = [&](const List& x) {
    return List{nn::scaled_dot_product_attention(x[0], x[1], x[2], {.mask = mask, .steps_first = true})};
  };
  check_masked("nn::scaled_dot_product_attention.mask", attend,
               {{wave({2, 5, 4, 4})}, {wave({2, 6, 2, 4}, 1), hidden}, {wave({2, 6, 2, 4}, 2), hidden}}, {},
               {.second = true});
  const Tensor more = broadcast_to(expand_dims(off, -1), {2, 6, 4});
  check_masked("nn::scaled_dot_product_attention.mask",  // more keys than queries are not one kernel
               [&](const List& x) {
                 return List{nn::scaled_dot_product_attention(x[0], x[1], x[2], {.mask = expand_dims(keep, 1)})};
               },
               {{wave({1, 5, 4})}, {wave({2, 6, 4}, 1), more}, {wave({2, 6, 4}, 2), more}}, {}, {.second = true});
}
TEST_CASE("Attention: an infinite value that is seen counts, whatever is hidden") {
  const float infinity = std::numeric_limits<float>::infinity();
  const Tensor q = zeros({2, 1}), k = zeros({3, 1}), v = constant({{1.f}, {infinity}, {NAN}});
  const Tensor mask = constant({{true, false, false}, {true, true, false}});
  const Tensor y = nn::scaled_dot_product_attention(q, k, v, {.mask = mask});
  CHECK(y.to_vector<float>() == std::vector<float>{1, infinity});
  const Tensor all =
      nn::scaled_dot_product_attention(q, k, v, {.mask = constant({{true, false, false}, {true, false, true}})});
  CHECK(all.to_vector<float>()[0] == 1);
  CHECK(std::isnan(all.to_vector<float>()[1]));
}
TEST_CASE("Recurrent ops: steps past the lengths may be NaN") {
  const Tensor lengths = constant({3, 0, 5});
  const Tensor x = wave({5, 3, 4}), h = wave({3, 2}, 1), off = past(lengths, 5, 4);
  check_masked("nn::lstm.sequence_length",
               [&](const List& t) {
                 const nn::LstmResult r = nn::lstm(t[0], {t[1], t[2]}, t[3], t[4], t[5], {.sequence_length = lengths});
                 return List{r.output, r.state.h, r.state.c};
               },
               {{x, off}, {h}, {h + 1}, {wave({4, 8}, 2)}, {wave({2, 8}, 3)}, {wave({8}, 4)}}, {}, {.second = true});
  check_masked("nn::gru.sequence_length",
               [&](const List& t) {
                 const nn::GruResult r = nn::gru(t[0], t[1], t[2], t[3], t[4], {.sequence_length = lengths});
                 return List{r.output, r.state};
               },
               {{x, off}, {h}, {wave({4, 6}, 2)}, {wave({2, 6}, 3)}, {wave({2, 6}, 4)}}, {}, {.second = true});
}
TEST_CASE("CTC: steps past the lengths may be NaN") {
  const Tensor labels = constant({{1, 2}, {3, 3}, {1, 0}}), label_length = constant({2, 1, 0});
  const Tensor logit_length = constant({4, 2, 3}), off = past(logit_length, 5, 4);
  check_masked("nn::ctc_loss.logit_length",
               [&](const List& x) { return List{nn::ctc_loss(labels, x[0], label_length, logit_length)}; },
               {{wave({5, 3, 4}), off}}, {}, {.dtypes = {float32, float64}});
  check_masked("nn::ctc_greedy_decoder.sequence_length",
               [&](const List& x) {
                 const nn::CtcDecoded d = nn::ctc_greedy_decoder(x[0], logit_length);
                 return List{d.neg_sum_logits, d.values, d.row_lengths};
               },
               {{wave({5, 3, 4}), off}}, {}, {.traced = false, .dtypes = {float32}});
}
TEST_CASE("Means and moments: what the mask leaves out, or has weight 0, may be NaN") {
  const Tensor keep = sequence_mask(constant({3, 0, 2}), 4), off = logical_not(keep);
  check_masked("nn::masked_mean.mask",
               [&](const List& x) {
                 return List{nn::masked_mean(x[0], keep, {.axis = 1}), nn::masked_mean(x[0], keep)};
               },
               {{wave({3, 4}), off}}, {}, {.second = true});
  check_masked("nn::perplexity.mask", [&](const List& x) { return List{nn::perplexity(-abs(x[0]), keep)}; },
               {{wave({3, 4}), off}});
  const Tensor w = constant({{1.f, 0.f, 2.f}, {.5f, 3.f, 0.f}});
  check_masked("nn::weighted_moments.frequency_weights",
               [&](const List& x) {
                 const nn::Moments m = nn::weighted_moments(x[0], {1}, cast(w, x[0].dtype()));
                 return List{m.mean, m.variance};
               },
               {{wave({2, 3}), equal(w, 0)}}, {}, {.second = true});
}
TEST_CASE("Embeddings: rows of weight 0 may be NaN") {
  using nn::Combiner;
  for (const Combiner c : {Combiner::sum, Combiner::mean, Combiner::sqrtn})
    check_masked("nn::embedding_lookup_sparse.weights",
                 [&](const List& x) {
                   return List{nn::embedding_lookup_sparse(
                       x[0], constant({0, 2, 1, 2}), constant({0, 0, 1, 1}), 2,
                       {.weights = cast(constant({1.f, 0.f, 2.f, 0.f}), x[0].dtype()), .combiner = c})};
                 },
                 {{wave({3, 2}), constant({{false, false}, {false, false}, {true, true}})}}, {}, {.dtypes = {float32}});
}
TEST_CASE("Selections, segments and sequences: what is not taken may be NaN") {
  const Tensor keep = constant({true, false, true}), off = broadcast_to(expand_dims(logical_not(keep), 1), {3, 2});
  const Tensor x = wave({3, 2});
  check_masked("boolean_mask.mask", [&](const List& t) { return List{boolean_mask(t[0], keep)}; }, {{x, off}}, {},
               {.traced = false});
  check_masked("where", [&](const List& t) { return List{where(off, 1, t[0]) * 3}; }, {{x, off}});
  const Tensor ids = constant({1, -1, 1});
  check_masked("unsorted_segment_sum",
               [&](const List& t) {
                 return List{unsorted_segment_sum(t[0], ids, 2),
                             unsorted_segment_mean(t[0], ids, 2),
                             unsorted_segment_prod(t[0], ids, 2),
                             unsorted_segment_sqrt_n(t[0], ids, 2),
                             where(constant({{false}, {true}}), unsorted_segment_max(t[0], ids, 2), 0),
                             where(constant({{false}, {true}}), unsorted_segment_min(t[0], ids, 2), 0)};
               },
               {{x, off}}, {}, {.dtypes = {float32, float64}});
  const Tensor lengths = constant({2, 0, 3}), late = rows(logical_not(sequence_mask(lengths, 3)), 2);
  check_masked("nn::last_relevant.lengths",
               [&](const List& t) {
                 return List{nn::last_relevant(t[0], constant({2, 1, 3}))};
               },
               {{wave({3, 3, 2}), rows(logical_not(sequence_mask(constant({2, 1, 3}), 3)), 2)}});
  check_masked("reverse_sequence.lengths",
               [&](const List& t) {
                 const Tensor y = reverse_sequence(t[0], lengths, {.seq_axis = 1});
                 return List{where(late, 0, y)};
               },
               {{wave({3, 3, 2}), late}});
  const Tensor w = constant({1.f, 0.f, 2.f});
  check_masked("bincount.weights",
               [&](const List& t) {
                 return List{bincount(constant({0, 5, 1}), {.weights = t[0], .maxlength = 3})};
               },
               {{w, logical_not(keep)}}, {}, {.traced = false, .dtypes = {float32}});
}
TEST_CASE("CTC: lengths") {
  const Tensor logits = wave({3, 2, 4}), labels = constant({{1, 2}, {3, 1}});
  const auto loss = [&](const Tensor& label_length, const Tensor& logit_length) {
    return nn::ctc_loss(labels, logits, label_length, logit_length);
  };
  // No labels: all steps are blanks. No steps: certain without labels, impossible with any.
  const Tensor log_p = nn::log_softmax(logits);
  const Tensor blanks = loss(constant({0, 0}), constant({2, 0}));
  const float want = -(log_p(0, 0, 0) + log_p(1, 0, 0)).item<float>();
  CHECK(blanks.to_vector<float>()[0] == Approx(want));
  CHECK(blanks.to_vector<float>()[1] == 0);
  const Tensor none_left = loss(constant({1, 0}), constant({0, 3}));
  CHECK(none_left.to_vector<float>()[0] == std::numeric_limits<float>::infinity());
  using Catch::Matchers::ContainsSubstring;
  const auto refused = [&](const Tensor& a, const Tensor& b, const std::string& what) {
    CHECK_THROWS_WITH(loss(a, b), ContainsSubstring("ctc_loss") && ContainsSubstring(what));
    const auto traced = function([&](const Tensor& x, const Tensor& y) { return loss(x, y); });
    CHECK_THROWS_WITH(traced(a, b), ContainsSubstring(what));
  };
  refused(constant({2, 3}), constant({3, 3}), "label_length must be in [0, 2]");
  refused(constant({-1, 1}), constant({3, 3}), "label_length must be in [0, 2]");
  refused(constant({1, 1}), constant({3, 4}), "logit_length must be in [0, 3]");
  refused(constant({1, 1}), constant({-2, 3}), "logit_length must be in [0, 3]");
  CHECK_THROWS_WITH(nn::ctc_greedy_decoder(logits, constant({4, 1})),
                    ContainsSubstring("sequence_length must be in [0, 3]"));
}
