// Metrics that are means: Mean, Sum, MeanTensor, those of losses, accuracies, Perplexity; numbers of Keras'
// documentation, batches of unequal size, weights, traced updates, errors.
#include <cmath>
#include <limits>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace mean_metrics_test {
using namespace tandem;
using metrics::PredictionMetric;
using testing::error_of;

double number(const metrics::Metric& m) { return m.result().item<double>(); }
Tensor uniform(const Shape& s, int seed, double low = .1, double high = .9) {
  return random::stateless_uniform(s, {seed, 7}, {.minval = low, .maxval = high, .dtype = float64});
}

TEST_CASE("Mean, Sum and MeanTensor") {
  const metrics::Mean mean;
  CHECK(number(mean) == 0);
  mean.update_state(constant({1., 3., 5., 7.}));
  CHECK(number(mean) == 4);
  mean.reset_state();
  CHECK(mean(constant({1, 3, 5, 7}), constant({1., 1., 0., 0.})).item<double>() == 2);
  mean.update_state(constant({{10., 20.}, {30., 40.}}), constant({0., 1.}));  // one weight for each row
  CHECK(number(mean) == Approx(74. / 4));
  mean.update_state(constant({true, false}));
  CHECK(number(mean) == Approx(75. / 6));
  mean.reset_state();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(mean(constant({nan, 2.f}), constant({0, 1})).item<double>() == 2);
  CHECK(number(mean) == mean(zeros({0})).item<double>());
  CHECK(std::isnan(mean(constant(nan)).item<double>()));

  const metrics::Sum sum;
  CHECK(sum(constant({1., 3., 5., 7.})).item<double>() == 16);
  CHECK(sum(constant({1., 3.}), constant({2., 0.})).item<double>() == 18);
  CHECK(metrics::Sum({.dtype = float32})(ones({3})).item<float>() == 3);

  const metrics::MeanTensor each;
  CHECK_THAT(error_of([&] { each.result(); }), ContainsSubstring("MeanTensor: there are no values yet"));
  each.update_state(constant({0., 1., 2., 3.}));
  each.update_state(constant({4., 5., 6., 7.}));
  CHECK(each.result().to_vector<double>() == std::vector<double>{2, 3, 4, 5});
  each.update_state(constant({12., 10., 8., 6.}), constant({0., .2, .5, 1.}));
  const std::vector<double> weighted = each.result().to_vector<double>(), want{2, 3.6363636, 4.8, 5.3333333};
  for (std::size_t i = 0; i < 4; ++i) CHECK(weighted[i] == Approx(want[i]));
  CHECK_THAT(error_of([&] { each.update_state(zeros({3})); }), ContainsSubstring("after values of shape (4,)"));
  CHECK(metrics::MeanTensor({.shape = Shape{2}}).result().to_vector<double>() == std::vector<double>{0, 0});
}

TEST_CASE("counts stay exact above 2^24") {
  const metrics::Mean mean({.name = "share"});
  CHECK(mean.name() == "share");
  for (int i = 0; i < 3; ++i) mean.update_state(constant(1.), constant(16777216));
  mean.update_state(constant(0.));
  const std::vector<Variable> state = mean.variables();
  REQUIRE(state.size() == 2);
  CHECK((state[1].dtype() == float64 && state[1].item<double>() == 3. * 16777216 + 1 && !state[1].trainable()));
  CHECK(number(mean) < 1);
}

TEST_CASE("metrics of losses: the numbers of Keras") {
  const Tensor t = constant({{0., 1.}, {0., 0.}}), p = constant({{1., 1.}, {0., 0.}}), w = constant({1., 0.});
  const auto check = [&](const PredictionMetric& m, const Tensor& pred, double plain, double weighted) {
    INFO(m.name());
    CHECK(m(t, pred).item<double>() == Approx(plain).epsilon(1e-5));
    m.reset_state();
    CHECK(m(t, pred, w).item<double>() == Approx(weighted).epsilon(1e-5));
    m.reset_state();
    CHECK(number(m) == (m.name() == "perplexity" ? 1 : 0));
  };
  check(metrics::MeanSquaredError(), p, .25, .5);
  check(metrics::RootMeanSquaredError(), p, .5, .70710678);
  check(metrics::MeanAbsoluteError(), p, .25, .5);
  check(metrics::MeanAbsolutePercentageError(), p, 2.5e8, 5e8);
  check(metrics::MeanSquaredLogarithmicError(), p, .12011322, .24022646);
  check(metrics::LogCoshError(), p, .10844523, .21689045);
  check(metrics::Poisson(), p, .49999997, .99999994);
  const Tensor q = constant({{.6, .4}, {.4, .6}});
  check(metrics::Hinge(), q, 1.3, 1.1);
  check(metrics::SquaredHinge(), q, 1.86, 1.46);
  check(metrics::CategoricalHinge(), q, 1.4, 1.2);
  check(metrics::KLDivergence(), q, .45814306, .9162892);
  check(metrics::BinaryCrossentropy(), q, .81492424, .9162905);

  const metrics::CosineSimilarity cosine;  // positive: unlike the loss
  CHECK(cosine(constant({{0., 1.}, {1., 1.}}), constant({{1., 0.}, {1., 1.}})).item<double>() == Approx(.5));
  CHECK(cosine.name() == "cosine_similarity");
  const Tensor cp = constant({{.05, .95, 0.}, {.1, .8, .1}}), ct = constant({{0, 1, 0}, {0, 0, 1}});
  CHECK(metrics::CategoricalCrossentropy()(ct, cp, constant({.3, .7})).item<double>() == Approx(1.6271976));
  CHECK(metrics::SparseCategoricalCrossentropy()(constant({1, 2}), cp).item<double>() == Approx(1.1769392));
  const metrics::SparseCategoricalCrossentropy some({.ignore_class = 2});
  CHECK(some(constant({1, 2}), cp).item<double>() == Approx(.0512933).epsilon(1e-5));
  CHECK(some(constant({2, 2}), cp).item<double>() == Approx(.0512933).epsilon(1e-5));  // nothing new
  const metrics::MeanRelativeError relative(constant({1., 3., 2., 3.}));
  CHECK(relative(constant({1., 3., 2., 3.}), constant({2., 4., 6., 8.})).item<double>() == Approx(1.25));
  CHECK(metrics::MeanRelativeError(zeros({2}))(ones({2}), zeros({2})).item<double>() == 0);
}

TEST_CASE("batches of unequal size are as one batch") {
  const Tensor t = greater(uniform({7, 3}, 1), .5), p = uniform({7, 3}, 2);
  for (const PredictionMetric& m : std::vector<PredictionMetric>{
           metrics::BinaryAccuracy(), metrics::MeanSquaredError(), metrics::RootMeanSquaredError(),
           metrics::BinaryCrossentropy(), metrics::CategoricalAccuracy(), metrics::LogCoshError()}) {
    INFO(m.name());
    const double whole = m(t, p).item<double>();
    m.reset_state();
    m.update_state(t(Slice(0, 5)), p(Slice(0, 5)));
    m.update_state(t(Slice(5, none)), p(Slice(5, none)));
    CHECK(number(m) == Approx(whole).epsilon(1e-12));
    if (m.name() == "categorical_accuracy") continue;
    // Numbers without an axis of values are examples, too.
    m.reset_state();
    const double flat = m(t(Ellipsis, 0), p(Ellipsis, 0)).item<double>();
    m.reset_state();
    m.update_state(t(Slice(0, 5), 0), p(Slice(0, 5), 0));
    m.update_state(t(Slice(5, none), 0), p(Slice(5, none), 0), ones({2}));
    CHECK(number(m) == Approx(flat).epsilon(1e-12));
  }
}

TEST_CASE("accuracies: the numbers of Keras") {
  const metrics::Accuracy accuracy;
  CHECK(accuracy(constant({{1}, {2}, {3}, {4}}), constant({{0}, {2}, {3}, {4}})).item<double>() == .75);
  accuracy.reset_state();
  CHECK(accuracy(constant({1, 2, 3, 4}), constant({0., 2., 3., 4.}), constant({1, 1, 0, 0})).item<double>() == .5);
  const Tensor p = constant({{.98}, {1.}, {0.}, {.6}}), t = constant({{1}, {1}, {0}, {0}});
  CHECK(metrics::BinaryAccuracy()(t, p).item<double>() == .75);
  CHECK(metrics::BinaryAccuracy()(t, p, constant({1., 0., 0., 1.})).item<double>() == .5);
  CHECK(metrics::BinaryAccuracy({.threshold = .7})(t, p).item<double>() == 1);
  CHECK(metrics::binary_accuracy(transpose(t), transpose(p)).to_vector<float>() == std::vector<float>{.75f});
  const Tensor one_hot = constant({{0, 0, 1}, {0, 1, 0}}), scores = constant({{.1, .9, .8}, {.05, .95, 0.}});
  CHECK(metrics::CategoricalAccuracy()(one_hot, scores).item<double>() == .5);
  CHECK(metrics::CategoricalAccuracy()(one_hot, scores, constant({.7, .3})).item<double>() == Approx(.3));
  for (const Tensor& labels : {constant({2, 1}), constant({{2}, {1}})}) {
    CHECK(metrics::SparseCategoricalAccuracy()(labels, scores).item<double>() == .5);
    CHECK(metrics::SparseTopKCategoricalAccuracy({.k = 1})(labels, scores).item<double>() == .5);
    CHECK(metrics::SparseTopKCategoricalAccuracy({.k = 2})(labels, scores).item<double>() == 1);
  }
  CHECK(metrics::TopKCategoricalAccuracy({.k = 1})(one_hot, scores).item<double>() == .5);
  CHECK(metrics::TopKCategoricalAccuracy()(one_hot, scores).item<double>() == 1);
  // [batch, time]
  const Tensor both = stack({scores, scores}), labels = constant({{2, 1}, {0, 0}});
  CHECK(metrics::sparse_categorical_accuracy(labels, both).to_vector<float>() == std::vector<float>{0, 1, 0, 0});
  CHECK(metrics::sparse_top_k_categorical_accuracy(labels, both, 2).to_vector<float>() ==
        std::vector<float>{1, 1, 0, 1});
  CHECK(metrics::SparseCategoricalAccuracy()(labels, both, constant({1, 0})).item<double>() == .5);
}

TEST_CASE("Perplexity") {
  for (const i64 n : {2, 10, 83}) {
    const metrics::Perplexity uniform, logits({.from_logits = true});
    CHECK(uniform(zeros({4}, int32), fill({4, n}, 1.f / static_cast<float>(n))).item<double>() ==
          Approx(n).epsilon(1e-6));
    CHECK(logits(zeros({4}, int32), zeros({4, n})).item<double>() == Approx(n).epsilon(1e-6));
    CHECK(uniform.bits().item<double>() == Approx(std::log2(n)).epsilon(1e-6));
  }
  CHECK(metrics::Perplexity()(constant({1}), constant({{0., 1.}})).item<double>() == 1);
  CHECK(metrics::Perplexity()(constant({0}), constant({{0., 1.}})).item<double>() == Approx(1e10).epsilon(1e-5));
  CHECK(metrics::Perplexity({.from_logits = true})(constant({0}), constant({{0., 1e6}})).item<double>() ==
        Approx(1e10).epsilon(1e-5));
  const metrics::Perplexity masked({.ignore_class = 9});
  const Tensor p = constant({{.25, .75}, {.5, .5}, {0., 1.}});
  CHECK(masked(constant({0, 9, 0}), p, constant({1, 1, 0})).item<double>() == Approx(4));
  CHECK(number(metrics::Perplexity()) == 1);
}

TEST_CASE("updates in a traced function, and handles") {
  const metrics::Mean mean;
  const metrics::MeanTensor each;
  const metrics::BinaryAccuracy accuracy;
  const auto step = function(
      [&](const Tensor& t, const Tensor& p) {
        mean.update_state(p);
        each.update_state(p[0]);
        return accuracy(t, p);
      },
      {.input_signature = {{{none, 2}, float32, {}}, {{none, 2}, float32, {}}}});
  const Tensor t = constant({{1., 0.}, {1., 1.}}), p = constant({{.9, .2}, {.1, .8}});
  CHECK(step(t, p).item<double>() == .75);
  CHECK(step(ones({1, 2}), ones({1, 2})).item<double>() == Approx(5. / 6));
  CHECK(number(mean) == Approx(4. / 6));
  CHECK(each.result().to_vector<double>()[0] == Approx(.95));
  const metrics::BinaryAccuracy copy = accuracy;
  copy.reset_state();
  CHECK(number(accuracy) == 0);
  CHECK(step(t, p).item<double>() == .75);
  GradientTape tape;  // does not record updates
  tape.watch(p);
  CHECK_FALSE(tape.gradient(mean(p), p).is_set());
  const debugging::StrictShapes strict;
  CHECK(accuracy(t, p, constant({1., 2.})).rank() == 0);
}

TEST_CASE("metrics of one's own, and the names of state") {
  const metrics::MeanMetricWrapper bias("bias", [](const Tensor& t, const Tensor& p) { return p - t; });
  CHECK(bias(zeros({3}), constant({1., 2., 6.})).item<double>() == 3);
  CHECK(bias.name() == "bias");
  CHECK(bias.named_variables()[0].path == "total");
  CHECK(bias.trainable_variables().empty());
  CHECK(metrics::TopKCategoricalAccuracy().name() == "top_k_categorical_accuracy");
}

TEST_CASE("errors of means name the class; nothing has changed then") {
  const metrics::MeanSquaredError mse;
  const std::string message = error_of([&] { mse.update_state(zeros({4}), zeros({4, 1})); });
  for (const char* part :
       {"must have the same shape", "squeeze(y_pred, -1)", "in metrics::MeanSquaredError", "mean_metrics_test.cpp:"})
    CHECK_THAT(message, ContainsSubstring(part));
  CHECK_THAT(error_of([&] {
               mse.update_state(zeros({4, 1}), ones({4, 1}), zeros({3}));
             }),
             ContainsSubstring("MeanSquaredError: sample weights float32[3] do not match"));
  CHECK(mse.variables()[1].item<double>() == 0);
  CHECK_THAT(error_of([&] { metrics::Accuracy()(zeros({4}), zeros({4, 1})); }), ContainsSubstring("Accuracy: y_true"));
  CHECK_THAT(error_of([&] { metrics::Mean()(constant({"a"})); }), ContainsSubstring("Mean: values must be real"));
  CHECK_THAT(error_of([&] { metrics::Mean({.dtype = int32}); }), ContainsSubstring("must be floating"));
  CHECK_THAT(error_of([&] {
               metrics::SparseCategoricalAccuracy()(zeros({2}), zeros({2, 3}));
             }),
             ContainsSubstring("labels must be integers"));
}

}  // namespace mean_metrics_test
