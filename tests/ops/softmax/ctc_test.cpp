// Connectionist temporal classification against all alignments; its decoder.
#include "tandem/ops/softmax/ctc.hpp"

#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using testing::error_of;

namespace {
using Ids = std::vector<i64>;

// The probability that classes, drawn step by step from p [t, c], give these labels: a sum over all paths.
double by_paths(const std::vector<double>& p, int t, int c, const Ids& labels, int blank) {
  double total = 0;
  int paths = 1;
  for (int i = 0; i < t; ++i) paths *= c;
  for (int path = 0; path < paths; ++path) {
    Ids merged;
    double probability = 1;
    int rest = path, before = -1;
    for (int i = 0; i < t; ++i, rest /= c) {
      const int k = rest % c;
      probability *= p[static_cast<std::size_t>(i * c + k)];
      if (k != before && k != blank) merged.push_back(k);
      before = k;
    }
    if (merged == labels) total += probability;
  }
  return total;
}
}  // namespace

TEST_CASE("ctc_loss is minus the logarithm of a sum over all paths") {
  const Tensor logits = random::normal({5, 1, 3}, {.dtype = float64, .seed = 1});
  const auto p = nn::softmax(logits).to_vector<double>();
  for (const int blank : {0, 2})
    for (const Ids& labels : {Ids{}, Ids{1}, Ids{1, 1}, Ids{1, blank == 0 ? 2 : 0, 1}, Ids{1, 1, 1}}) {
      CAPTURE(blank, labels.size());
      const auto n = static_cast<i64>(labels.size());
      const Tensor list = constant(labels, {.shape = {1, n}});
      const Tensor loss = nn::ctc_loss(list, logits, constant(Ids{n}), constant(Ids{5}), {.blank_index = blank});
      CHECK(loss.item<double>() == Approx(-std::log(by_paths(p, 5, 3, labels, blank))));
    }
  const Tensor labels = constant({{1, 2}, {2, 0}});
  const Tensor many = random::normal({4, 2, 3}, {.dtype = float64, .seed = 2});
  const auto loss = [&](const Tensor& x) { return nn::ctc_loss(labels, x, constant({2, 1}), constant({4, 3})); };
  CHECK(test::compute_gradient_error(loss, many, {.delta = 1e-5}) < 1e-6);
  const Tensor other = nn::ctc_loss(labels, transpose(many, {1, 0, 2}), constant({2, 1}), constant({4, 3}),
                                    {.logits_time_major = false, .blank_index = -3});
  test::assert_all_close(other, loss(many), {.rtol = 1e-12});
  test::assert_all_close(function(loss)(many), loss(many), {.rtol = 1e-12});
}

TEST_CASE("ctc_loss: labels that do not fit are impossible, without a NaN in the gradient") {
  const Tensor x = zeros({2, 1, 3});
  GradientTape tape;
  tape.watch(x);
  const Tensor loss = nn::ctc_loss(constant({{1, 1}}), x, constant({2}), constant({2}));  // needs a blank between
  CHECK(loss.item<float>() == INFINITY);
  CHECK(tape.gradient(loss, x).to_vector<float>() == std::vector<float>(6));
}

TEST_CASE("ctc_loss and its decoder: errors") {
  const Tensor x = zeros({4, 2, 3}), labels = constant({{1, 2}, {2, 1}}), two = constant({2, 2});
  const auto invalid = [](const auto& f) { return error_of<errors::InvalidArgumentError>(f); };
  CHECK_THAT(invalid([&] { nn::ctc_loss(labels, zeros({4, 3}), two, two); }), ContainsSubstring("rank 3"));
  CHECK_THAT(invalid([&] { nn::ctc_loss(constant({1, 2}), x, two, two); }), ContainsSubstring("labels"));
  CHECK_THAT(invalid([&] { nn::ctc_loss(labels, x, constant({2}), two); }), ContainsSubstring("label_length"));
  CHECK_THAT(invalid([&] { nn::ctc_loss(labels, x, two, constant({2.f, 2.f})); }), ContainsSubstring("logit_length"));
  CHECK_THAT(invalid([&] { nn::ctc_loss(labels, x, two, two, {.blank_index = 3}); }), ContainsSubstring("[-3, 3)"));
  CHECK_THAT(invalid([&] { nn::ctc_loss(constant({{1, 9}, {2, 1}}), x, two, two); }), ContainsSubstring("9"));
  CHECK_THAT(invalid([&] { nn::ctc_loss(labels, zeros({0, 2, 3}), two, two); }), ContainsSubstring("step"));
  const auto label = [&](const Tensor& wrong, i64 blank, const std::string& where) {
    CHECK_THAT(invalid([&] { nn::ctc_loss(wrong, x, two, two, {.blank_index = blank}); }),
               ContainsSubstring("nn::ctc_loss: labels must be classes in [0, 3) other than the blank") &&
                   ContainsSubstring(where));
  };
  label(constant({{1, 2}, {2, -1}}), 0, "at [1,1]");
  label(constant({{1, 3}, {2, 1}}), 0, "at [0,1]");
  label(constant({{0, 2}, {2, 1}}), 0, "at [0,0]");  // the blank
  label(constant({{0, 2}, {2, 1}}), 1, "at [1,1]");
  label(constant({{0, 1}, {1, 2}}), -1, "at [1,1]");
  label(constant({{-1, 1}, {1, 0}}), 2, "at [0,0]");
  CHECK_NOTHROW(nn::ctc_loss(constant({{1, -1}, {-7, 9}}), x, constant({1, 0}), two));  // behind the labels
  CHECK_NOTHROW(nn::ctc_loss(constant({{-1, -1}, {0, 0}}), zeros({4, 2, 1}), constant({0, 0}), two));
  CHECK_THAT(invalid([&] {
               nn::ctc_loss(constant({{0}, {1}}), zeros({4, 2, 1}), constant({0, 1}), two);
             }),
             ContainsSubstring("1"));
  CHECK_THAT(invalid([&] { nn::ctc_greedy_decoder(zeros({4, 3}), two); }), ContainsSubstring("ctc_greedy_decoder"));
  CHECK_THAT(invalid([&] { nn::ctc_greedy_decoder(x, constant({1})); }), ContainsSubstring("sequence_length"));
}

TEST_CASE("ctc_greedy_decoder merges repeated classes and removes blanks") {
  // Classes step by step: 0 0 2 0 1, of which the second sequence has three steps; 2 is the blank.
  const Tensor x = expand_dims(one_hot(constant({0, 0, 2, 0, 1}), 3, {.on_value = 3, .off_value = 1}), 1);
  const Tensor both = concat({x, x}, 1), steps = constant({5, 3});
  const nn::CtcDecoded d = nn::ctc_greedy_decoder(both, steps, {.blank_index = -1});
  CHECK(d.values.to_vector<i64>() == Ids{0, 0, 1, 0});
  CHECK(d.row_lengths.to_vector<i64>() == Ids{3, 1});
  CHECK(
      (d.neg_sum_logits.shape() == Shape{2, 1} && d.neg_sum_logits.to_vector<float>() == std::vector<float>{-15, -9}));
  const nn::CtcDecoded all = nn::ctc_greedy_decoder(both, steps, {.merge_repeated = false});
  CHECK(all.values.to_vector<i64>() == Ids{2, 1, 2});
  CHECK(all.row_lengths.to_vector<i64>() == Ids{2, 1});
  CHECK(nn::ctc_greedy_decoder(zeros({0, 2, 3}), constant({0, 0})).values.size() == 0);
}
