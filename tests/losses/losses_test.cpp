// Losses: numbers of Keras' documentation, formulas in double, weights and reductions, gradients, traced calls, errors.
#include <cmath>
#include <limits>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace losses_test {
using namespace tandem;
using Numbers = std::vector<double>;
using losses::Reduction;

Numbers numbers(const Tensor& t) { return cast(t, float64).to_vector<double>(); }
double number(const Tensor& t) { return cast(t, float64).item<double>(); }
void check_close(const Tensor& got, const Numbers& want, double tolerance = 1e-6) {
  const Numbers have = numbers(got);
  REQUIRE(have.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(have[i] == Approx(want[i]).epsilon(tolerance).margin(tolerance));
}
Tensor uniform(const Shape& s, int seed, double low = .1, double high = .9) {
  return random::stateless_uniform(s, {seed, 7}, {.minval = low, .maxval = high, .dtype = float64});
}
template <class F>
double gradient_error(const F& f, const std::vector<Tensor>& x) {
  return test::compute_gradient_error(f, x, {.delta = 1e-5});
}

TEST_CASE("losses of real values: the numbers of Keras") {
  for (const DType d : {float32, float64}) {
    const Tensor t = cast(constant({{0., 1.}, {0., 0.}}), d), p = cast(constant({{1., 1.}, {1., 0.}}), d);
    CHECK(losses::MeanSquaredError()(t, p).dtype() == d);
    CHECK(number(losses::MeanSquaredError()(t, p)) == Approx(.5));
    CHECK(number(losses::MeanAbsoluteError()(t, p)) == Approx(.5));
    CHECK(number(losses::Huber()(t, cast(constant({{.6, .4}, {.4, .6}}), d))) == Approx(.155));
    CHECK(number(losses::LogCosh()(cast(constant({{0., 1.}, {0., 0.}}), d), cast(constant({{1., 1.}, {0., 0.}}), d))) ==
          Approx(.10844523));
    CHECK(number(losses::MeanSquaredLogarithmicError()(t, p)) == Approx(.24022650).epsilon(1e-5));
    CHECK(number(losses::MeanAbsolutePercentageError()(cast(constant({{2., 1.}, {2., 3.}}), d),
                                                       cast(constant({{1., 1.}, {1., 0.}}), d))) == Approx(50));
    CHECK(number(losses::Poisson()(t, cast(constant({{1., 1.}, {0., 0.}}), d))) == Approx(.5).epsilon(1e-6));
    CHECK(number(losses::CosineSimilarity()(cast(constant({{0., 1.}, {1., 1.}}), d),
                                            cast(constant({{1., 0.}, {1., 1.}}), d))) == Approx(-.5));
  }
  CHECK(losses::huber(constant({{0., 0.}}), constant({{.5, .5}})).to_vector<float>() == std::vector<float>{.125f});
  CHECK(losses::huber(constant({{0.}}), constant({{2.}})).item<float>() == 1.5f);
  CHECK(losses::huber(constant({{0.}}), constant({{-5.}}), 3).item<float>() == 10.5f);
  CHECK(losses::log_cosh(constant({{0.}}), constant({{2.}})).item<float>() == Approx(1.3250027));
  CHECK(losses::log_cosh(constant({{0.}}), constant({{1e-3}})).item<float>() == Approx(5e-7).epsilon(1e-5));
  CHECK(losses::log_cosh(constant({{0.}}), constant({{-1e4}})).item<float>() == Approx(1e4 - std::log(2.)));
  CHECK(losses::cosine_similarity(constant({1., 2., 3.}), constant({4., 5., 6.})).item<float>() == Approx(-.9746318));
  CHECK(losses::cosine_similarity(zeros({3}), constant({4., 5., 6.})).item<float>() == 0);
  check_close(losses::cosine_similarity(constant({{1., 0.}, {1., 1.}}), constant({{1., 1.}, {0., 1.}}), 0),
              {-std::sqrt(.5), -std::sqrt(.5)});
}

TEST_CASE("hinges") {
  const Tensor t = constant({{0., 1.}, {0., 0.}}), p = constant({{.6, .4}, {.4, .6}});
  CHECK(number(losses::Hinge()(t, p)) == Approx(1.3));
  CHECK(number(losses::SquaredHinge()(t, p)) == Approx(1.86));
  CHECK(number(losses::CategoricalHinge()(t, p)) == Approx(1.4));
  CHECK(number(losses::hinge(constant({{-1., 1.}}), constant({{.5, 2.}}))[0]) == Approx(.75));
  CHECK(number(losses::Hinge()(constant({{0, 1}, {0, 0}}), p)) == Approx(1.3));  // integer labels
  CHECK(number(losses::Hinge()(constant({{false, true}, {false, false}}), p)) == Approx(1.3));
}

TEST_CASE("cross entropies and divergence: the numbers of Keras") {
  const Tensor t = constant({{0., 1.}, {0., 0.}}), p = constant({{.6, .4}, {.4, .6}});
  CHECK(number(losses::BinaryCrossentropy()(t, p)) == Approx(.81492424).epsilon(1e-6));
  const Tensor labels = constant({{0., 1., 0., 0.}}), logits = constant({{-18.6, .51, 2.94, -12.8}});
  CHECK(number(losses::BinaryCrossentropy({.from_logits = true})(labels, logits)) == Approx(.865458).epsilon(1e-6));
  const Tensor ct = constant({{0., 1., 0.}, {0., 0., 1.}}), cp = constant({{.05, .95, 0.}, {.1, .8, .1}});
  CHECK(number(losses::CategoricalCrossentropy()(ct, cp)) == Approx(1.1769392).epsilon(1e-6));
  check_close(losses::CategoricalCrossentropy({.reduction = Reduction::none})(ct, cp), {.0512933, 2.3025851});
  CHECK(number(losses::CategoricalCrossentropy()(ct, cp, constant({.3, .7}))) == Approx(.8135988).epsilon(1e-5));
  CHECK(number(losses::SparseCategoricalCrossentropy()(constant({1, 2}), cp)) == Approx(1.1769392).epsilon(1e-6));
  CHECK(number(losses::SparseCategoricalCrossentropy()(constant({{1}, {2}}), cp)) == Approx(1.1769392).epsilon(1e-6));
  CHECK(number(losses::KLDivergence()(constant({{.4, .6}}), constant({{.5, .5}}))) == Approx(.0201355).epsilon(1e-5));
  // A class axis in front, and labels of a narrow dtype.
  CHECK(number(losses::SparseCategoricalCrossentropy({.axis = 0})(constant({1, 2}, uint8), transpose(cp))) ==
        Approx(1.1769392).epsilon(1e-6));
  // Smoothed labels: [.5 + (1 - .2) (t - .5)], and [.8 t + .2 / 3].
  const double b = -(.9 * std::log(.4) + .1 * std::log(.6));
  CHECK(number(losses::binary_crossentropy(constant({1.}), constant({.4}), {.label_smoothing = .2})) == Approx(b));
  const double c = -(.2 / 3 * (std::log(.2) + std::log(.3)) + (.8 + .2 / 3) * std::log(.5));
  CHECK(number(losses::categorical_crossentropy(constant({0., 0., 1.}), constant({.2, .3, .5}),
                                                {.label_smoothing = .2})) == Approx(c));
}

TEST_CASE("certain mistakes have finite losses and gradients") {
  const Tensor t = constant({{0., 1.}, {1., 0.}, {0., 0.}}), p = constant({{0., 1.}, {0., 1.}, {0., 0.}});
  const auto finite = [&](const losses::Loss& loss, const Tensor& labels) {
    INFO(loss.name());
    GradientTape tape;
    tape.watch(p);
    const Tensor y = loss(labels, p);
    CHECK(std::isfinite(y.item<float>()));
    for (const float g : tape.gradient(y, p).to_vector<float>()) CHECK(std::isfinite(g));
  };
  for (const losses::Loss& loss : std::vector<losses::Loss>{
           losses::BinaryCrossentropy(), losses::CategoricalCrossentropy(), losses::KLDivergence(), losses::Poisson(),
           losses::CosineSimilarity(), losses::MeanAbsolutePercentageError(), losses::BinaryCrossentropy({true}),
           losses::CategoricalCrossentropy({true})})
    finite(loss, t);
  finite(losses::SparseCategoricalCrossentropy(), constant({0, 0, 1}));
  CHECK(losses::binary_crossentropy(constant({1.}), constant({0.})).item<float>() == Approx(-std::log(1e-7)));
  const float inf = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(losses::MeanSquaredError()(constant({{0.f}}), constant({{nan}})).item<float>()));
  CHECK(losses::Huber()(constant({{0.f}}), constant({{inf}})).item<float>() == inf);
}

TEST_CASE("weights and reductions") {
  const Tensor t = constant({{0., 1.}, {0., 0.}}), p = constant({{1., 1.}, {1., 0.}}), w = constant({.7, .3});
  CHECK(number(losses::MeanSquaredError()(t, p, w)) == Approx(.25));
  CHECK(number(losses::MeanSquaredError({Reduction::sum})(t, p)) == Approx(1));
  CHECK(numbers(losses::MeanSquaredError({Reduction::none})(t, p)) == Numbers{.5, .5});
  CHECK(number(losses::MeanSquaredError()(t, p, constant(3))) == Approx(1.5));
  CHECK(number(losses::MeanSquaredError()(t, p, constant({{.7}, {.3}}))) == Approx(.25));  // [batch, 1]
  CHECK(number(losses::MeanSquaredError()(t, p, constant({true, false}))) == Approx(.25));
  // Losses [batch, time]: weights for each row, or each place.
  const Tensor y = constant({{{1.}, {2.}}, {{3.}, {4.}}}), z = zeros({2, 2, 1});
  CHECK(number(losses::MeanAbsoluteError({Reduction::sum})(z, y, constant({1., 10.}))) == Approx(73));
  CHECK(number(losses::MeanAbsoluteError({Reduction::sum})(z, y, constant({{1., 0.}, {0., 10.}}))) == Approx(41));
  CHECK(number(losses::MeanAbsoluteError()(z, y, constant({1., 10.}))) == Approx(73. / 4));
  // An example with weight 0 does not count; an empty batch is 0.
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(losses::MeanSquaredError()(zeros({2, 1}), constant({{nan}, {2.f}}), constant({0, 1})).item<float>() == 2);
  CHECK(losses::MeanSquaredError()(zeros({0, 3}), zeros({0, 3})).item<float>() == 0);
  CHECK(losses::MeanSquaredError()(zeros({2, 1}), ones({2, 1}), zeros({2})).item<float>() == 0);
  // Half precision is computed in float32: 70000 losses of 3 have a sum beyond float16.
  const Tensor half = losses::MeanAbsoluteError()(zeros({70000, 1}, float16), fill({70000, 1}, 3, {.dtype = float16}));
  CHECK((half.dtype() == float16 && number(half) == 3));
}

TEST_CASE("ignored classes do not count") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor logits = constant({{1.f, 2.f, 3.f}, {nan, 0.f, 0.f}, {0.f, 0.f, 0.f}});
  const losses::SparseCategoricalCrossentropy loss({.from_logits = true, .ignore_class = -1});
  const Tensor labels = constant({2, -1, 0});
  CHECK(number(loss(labels, logits)) == Approx((.4076060 + std::log(3.)) / 2));
  CHECK(number(loss(labels, logits, constant({1., 1., 3.}))) == Approx((.4076060 + 3 * std::log(3.)) / 2));
  CHECK(number(loss(constant({-1, -1, -1}), logits)) == 0);
  GradientTape tape;
  tape.watch(logits);
  const std::vector<float> g = tape.gradient(loss(labels, logits), logits).to_vector<float>();
  CHECK((g[3] == 0 && g[4] == 0 && g[6] == Approx(-1. / 3)));
  CHECK(numbers(losses::SparseCategoricalCrossentropy(
            {.from_logits = true, .ignore_class = -1, .reduction = Reduction::none})(labels, logits))[1] == 0);
}

TEST_CASE("gradients of all losses") {
  const Tensor t = uniform({3, 4}, 1), p = uniform({3, 4}, 2), w = uniform({3}, 3);
  using losses::Loss;
  for (const Loss& loss : std::vector<Loss>{
           losses::MeanSquaredError(), losses::MeanAbsoluteError(), losses::MeanAbsolutePercentageError(),
           losses::MeanSquaredLogarithmicError(), losses::Huber({.delta = .3}), losses::LogCosh(), losses::Poisson(),
           losses::CosineSimilarity(), losses::Hinge(), losses::SquaredHinge(), losses::CategoricalHinge(),
           losses::KLDivergence(), losses::BinaryCrossentropy(), losses::BinaryCrossentropy({.from_logits = true}),
           losses::CategoricalCrossentropy({.label_smoothing = .1}),
           losses::CategoricalCrossentropy({.from_logits = true, .axis = 0, .reduction = Reduction::sum})}) {
    INFO(loss.name());
    const auto f = [&](const std::vector<Tensor>& x) { return loss(x[0], x[1]); };
    CHECK(gradient_error(f, {t, p}) < 1e-6);
    if (loss.reduction() == Reduction::sum) continue;  // its losses lie along the other axis
    const auto weighted = [&](const std::vector<Tensor>& x) { return loss(t, x[0], x[1]); };
    CHECK(gradient_error(weighted, {p, w}) < 1e-6);
  }
  for (const bool from_logits : {false, true}) {
    const losses::SparseCategoricalCrossentropy loss({.from_logits = from_logits, .ignore_class = 9});
    CHECK(gradient_error([&](const Tensor& x) { return loss(constant({1, 9, 3}), x); }, {p}) < 1e-6);
  }
  // log cosh on both sides of the change of formulas.
  const Tensor e = constant({{-3., -1.1, -.9, -1e-3, 1e-3, .5, 1.2, 20.}}, float64);
  CHECK(gradient_error([&](const Tensor& x) { return losses::log_cosh(zeros_like(x), x); }, {e}) < 1e-6);
}

TEST_CASE("losses in traced functions, with unknown sizes") {
  const losses::Loss all[] = {losses::MeanSquaredError(), losses::BinaryCrossentropy({.label_smoothing = .1}),
                              losses::CategoricalCrossentropy({.label_smoothing = .1}), losses::Hinge(),
                              losses::Huber({.reduction = Reduction::sum})};
  for (const losses::Loss& loss : all) {
    INFO(loss.name());
    const auto traced =
        function([&](const Tensor& t, const Tensor& p, const Tensor& w) { return loss(t, p, w); },
                 {.input_signature = {{{none, none}, float64, {}}, {{none, 4}, float64, {}}, {{none}, float64, {}}}});
    for (const i64 n : {3, 5, 0}) {
      const Tensor t = uniform({n, 4}, 1), p = uniform({n, 4}, 2), w = uniform({n}, 3);
      CHECK(number(traced(t, p, w)) == Approx(number(loss(t, p, w))));
    }
    CHECK_THROWS_AS(traced(uniform({3, 1}, 1), uniform({3, 4}, 2), uniform({3}, 3)), errors::InvalidArgumentError);
  }
  const debugging::StrictShapes strict;
  CHECK(losses::Hinge()(zeros({2, 3}), ones({2, 3}), constant({1., 2.})).rank() == 0);
}

TEST_CASE("a loss of one's own") {
  const losses::Loss cubic("cubic", [](const Tensor& t, const Tensor& p) { return reduce_mean(pow(p - t, 3), -1); });
  CHECK(number(cubic(zeros({2, 1}), constant({{1.}, {2.}}), constant({1, 2}))) == Approx(8.5));
  CHECK(cubic.name() == "cubic");
  CHECK(losses::MeanSquaredError().name() == "mean_squared_error");
  CHECK(losses::KLDivergence({.name = "kl"}).name() == "kl");
}

TEST_CASE("errors of losses name the class, the shapes and the way out") {
  using testing::error_of;
  const losses::MeanSquaredError mse;
  const std::string broadcast = error_of([&] { mse(zeros({4}), zeros({4, 1})); });
  for (const char* part : {"mean_squared_error: y_true and y_pred must have the same shape", "squeeze(y_pred, -1)",
                           "float32[4]", "float32[4,1]", "in losses::MeanSquaredError", "losses_test.cpp:"})
    CHECK_THAT(broadcast, ContainsSubstring(part));
  CHECK_THAT(error_of([&] { mse(zeros({4, 1}), zeros({4})); }), ContainsSubstring("squeeze(y_true, -1)"));
  CHECK_THAT(error_of([&] {
               losses::CategoricalCrossentropy()(constant({1, 2}), zeros({2, 3}));
             }),
             ContainsSubstring("class numbers need a sparse loss"));
  CHECK_THAT(error_of([&] { mse(zeros({1, 3}), zeros({2, 3})); }), ContainsSubstring("shapes are not broadcast"));
  CHECK_THAT(error_of([&] { mse(zeros({}), zeros({})); }), ContainsSubstring("at least one axis"));
  CHECK_THAT(error_of([&] { mse(zeros({2}), constant({1, 2})); }), ContainsSubstring("y_pred must be floating"));
  CHECK_THAT(error_of([&] {
               mse(constant({"a", "b"}), zeros({2}));
             }),
             ContainsSubstring("labels are string; use StringLookup"));
  CHECK_THAT(error_of([&] {
               mse(zeros({4, 1}), zeros({4, 1}), zeros({3}));
             }),
             ContainsSubstring("sample weights float32[3] do not match values of shape (4,)"));
  CHECK_THAT(error_of([&] { mse(zeros({4}), zeros({4}), zeros({4})); }), ContainsSubstring("use [batch, 1]"));
  const losses::SparseCategoricalCrossentropy sparse;
  CHECK_THAT(error_of([&] {
               sparse(constant({1., 2.}), zeros({2, 3}));
             }),
             ContainsSubstring("labels must be integers"));
  CHECK_THAT(error_of([&] { sparse(constant({1, 2, 0}), zeros({2, 3})); }), ContainsSubstring("without the axis"));
  CHECK_THAT(error_of([&] { sparse(constant({{1, 0}, {0, 1}}), zeros({2, 2})); }), ContainsSubstring("one-hot labels"));
  CHECK_THAT(error_of([&] { sparse(constant({1, 3}), zeros({2, 3})); }), ContainsSubstring("3"));
  CHECK_THAT(error_of([&] { losses::Huber({.delta = 0})(zeros({1}), zeros({1})); }),
             ContainsSubstring("delta must be positive"));
  CHECK_THAT(error_of([] { losses::BinaryCrossentropy({.label_smoothing = 2}); }),
             ContainsSubstring("label_smoothing must be in [0, 1]"));
  CHECK_THAT(error_of([&] { mse({}, zeros({2})); }), ContainsSubstring("unset"));
}

}  // namespace losses_test
