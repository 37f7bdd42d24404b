// Dice, Tversky, CategoricalGeneralizedCrossEntropy, CTC: the numbers of Keras' documentation, formulas by loops, axes,
// weights, gradients, half precision, traced calls, errors.
#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace overlap_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<double>;

const Tensor masks = constant(Numbers{1, 1, 0, 0, 1, 1, 0, 0}, {.shape = {2, 2, 2, 1}});
const Tensor guesses = constant(Numbers{0, 1, 0, 1, .4, 0, 0, .9}, {.shape = {2, 2, 2, 1}});

TEST_CASE("Dice and Tversky: the numbers of Keras, axes, weights") {
  const losses::Dice each({.axis = {1, 2, 3}, .reduction = losses::Reduction::none});
  const Numbers dice = each(masks, guesses).to_vector<double>();
  CHECK(dice[0] == Approx(.5));
  CHECK(dice[1] == Approx(.75757575));
  CHECK(losses::Dice()(masks, guesses).item<double>() == Approx(.6164384));
  CHECK(losses::Tversky()(masks, guesses).item<double>() == Approx(.6164384));
  // What is true and not predicted: 1 + 1.6; the other way round: 1 + .9; both: 1 + .4.
  CHECK(losses::Tversky({.alpha = .3, .beta = .7})(masks, guesses).item<double>() ==
        Approx(1 - 1.4 / (1.4 + .3 * 2.6 + .7 * 1.9)));
  CHECK(losses::Dice({.axis = {1, 2, 3}})(masks, guesses, constant({2., 0.})).item<double>() == Approx(.5));
  CHECK_THROWS_WITH(losses::Dice()(masks, guesses, constant({2., 0.})), ContainsSubstring("sample weights"));
  CHECK(losses::Dice()(zeros({2, 3}), zeros({2, 3})).item<float>() == 1);
  CHECK(losses::Dice()(ones({2, 3}), ones({2, 3})).item<float>() == Approx(0).margin(1e-6));
  CHECK(losses::Dice()(zeros({0, 3}), zeros({0, 3})).item<float>() == 1);
  CHECK(losses::Tversky().name() == "tversky");
  CHECK_THROWS_WITH(losses::Dice({.axis = 4})(masks, guesses), ContainsSubstring("axis"));
  CHECK_THROWS_WITH(losses::Dice()(masks, guesses(0)), ContainsSubstring("in losses::Dice"));
  CHECK_THROWS_WITH(losses::Tversky({.alpha = -1}), ContainsSubstring("alpha and beta must not be negative"));
  CHECK_THROWS_AS(losses::tversky(masks, guesses, {.beta = NAN}), errors::InvalidArgumentError);
}
TEST_CASE("Generalized cross entropy: the formula, its limits, errors") {
  const Tensor labels = constant({0, 1, 0, 1});
  const Tensor p = constant(Numbers{.7, .3, .2, .8, .6, .4, .4, .6}, {.shape = {4, 2}});
  double sum = 0;
  for (const double x : {.7, .8, .6, .6}) sum += (1 - std::sqrt(x)) / .5;
  const losses::CategoricalGeneralizedCrossEntropy loss;
  CHECK(loss(labels, p).item<double>() == Approx(sum / 4));
  CHECK(loss(expand_dims(labels, -1), p).item<double>() == Approx(sum / 4));
  CHECK(loss(labels, cast(p, float16)).dtype() == float16);
  for (const DType half : {float16, bfloat16}) {  // only the result is rounded
    const Tensor narrow = cast(p, half);
    const Tensor want = losses::categorical_generalized_cross_entropy(labels, cast(narrow, float32), .05);
    const Tensor got = losses::categorical_generalized_cross_entropy(labels, narrow, .05);
    CHECK(got.dtype() == half);
    CHECK(cast(got, float32).to_vector<float>() == cast(cast(want, half), float32).to_vector<float>());
  }
  const Tensor nearly = losses::categorical_generalized_cross_entropy(labels, p, 1e-9);
  CHECK(nearly.to_vector<double>()[0] == Approx(-std::log(.7)).epsilon(1e-6));
  CHECK(loss.name() == "categorical_generalized_cross_entropy");
  CHECK_THROWS_WITH(losses::CategoricalGeneralizedCrossEntropy({.q = 1}), ContainsSubstring("q must be in (0, 1)"));
  CHECK_THROWS_WITH(loss(constant({0, 1, 2, 0}), p), ContainsSubstring("2"));
  CHECK_THROWS_WITH(loss(p, p), ContainsSubstring("integers"));
  CHECK_THROWS_WITH(loss(labels, labels), ContainsSubstring("floating"));
}
TEST_CASE("CTC: the op's losses, weights, errors") {
  const Tensor labels = constant({{1, 2, 2}, {3, 0, 0}}), logits = testing::wave({2, 6, 4}, .3f, float64);
  const Tensor want = nn::ctc_loss(labels, logits, constant({3, 1}), constant({6, 6}), {.logits_time_major = false});
  const Numbers each = want.to_vector<double>();
  CHECK(losses::ctc(labels, logits).to_vector<double>() == each);
  CHECK(losses::CTC()(labels, logits).item<double>() == Approx((each[0] + each[1]) / 2));
  CHECK(losses::CTC({.reduction = losses::Reduction::sum})(labels, logits, constant({0., 3.})).item<double>() ==
        Approx(3 * each[1]));
  CHECK_THROWS_WITH(losses::CTC()(labels(0), logits), ContainsSubstring("integer labels [batch, labels]"));
  CHECK_THROWS_AS(losses::CTC()(labels + 2, logits), errors::InvalidArgumentError);
  const auto refused = [&](const Tensor& wrong, const std::string& where) {
    CHECK_THROWS_WITH(losses::CTC()(wrong, logits), ContainsSubstring("in losses::CTC") && ContainsSubstring(where));
    const auto traced = function([&](const Tensor& t) { return losses::ctc(t, logits); });
    CHECK_THROWS_WITH(traced(wrong), ContainsSubstring(where));
  };
  refused(constant({{1, 2, 2}, {3, -1, -1}}), "at [1,1]");  // padding is 0
  refused(constant({{1, 0, 2}, {3, 0, 0}}), "at [0,1]");    // behind the last label
  refused(constant({{1, 2, 0}, {0, 0, 3}}), "at [1,0]");
  refused(constant({{1, 2, 4}, {3, 0, 0}}), "at [0,2]");
}
TEST_CASE("Losses of overlap and sparse labels: gradients, traces") {
  const Tensor labels = constant({0, 1, 0}), p = sigmoid(testing::wave({3, 4}, .2f, float64));
  const Tensor t = cast(testing::wave({3, 4}, 1) > 0, float64);
  const auto check = [&](const losses::Loss& loss, const Tensor& y) {
    INFO(loss.name());
    CHECK(test::compute_gradient_error([&](const Tensor& x) { return loss(y, x); }, {p}, {.delta = 1e-5}) < 1e-6);
    const auto f = function([&](const Tensor& a, const Tensor& b) { return loss(a, b); });
    CHECK(f(y, p).item<double>() == Approx(loss(y, p).item<double>()));
  };
  check(losses::Dice(), t);
  check(losses::Dice({.axis = 1}), t);
  check(losses::Tversky({.alpha = .2, .beta = .9}), t);
  check(losses::CategoricalGeneralizedCrossEntropy({.q = .3}), labels);
}
}  // namespace overlap_test
