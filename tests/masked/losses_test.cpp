// Losses and metrics with sample weights of 0, and labels that are ignored.
#include <cmath>
#include <limits>
#include <utility>

#include "tests/masked/property.hpp"
#include "tests/support/derivatives.hpp"

using namespace tandem;
using testing::check_masked, testing::List, testing::MaskedOptions, testing::Masked, testing::wave;

namespace {

// Four examples of three numbers, two of which do not count.
const Tensor weights = constant({1.f, 0.f, 2.f, 0.f});
const Tensor ignored = broadcast_to(constant({{false}, {true}, {false}, {true}}), {4, 3});
const Tensor probabilities = sigmoid(wave({4, 3}, 1));
const Tensor labels = cast(wave({4, 3}, 2) > 0, float32);

void check_loss(const losses::Loss& loss, const std::string& name, const Tensor& y_true = labels,
                const Tensor& y_pred = probabilities) {
  for (const Tensor& w : {weights, expand_dims(weights, 1)})
    check_masked("losses::" + name, [&](const List& x) { return List{loss(x[0], x[1], w)}; },
                 {{y_true, ignored}, {y_pred, ignored}});
}

using losses::Reduction;

}  // namespace

TEST_CASE("A loss with weight 0 may be NaN: losses of real values") {
  for (const Reduction r : {Reduction::sum_over_batch_size, Reduction::sum, Reduction::none}) {
    check_loss(losses::MeanSquaredError({.reduction = r}), "MeanSquaredError");
    check_loss(losses::Huber({.reduction = r}), "Huber");
  }
  check_loss(losses::MeanAbsoluteError(), "MeanAbsoluteError");
  check_loss(losses::MeanAbsolutePercentageError(), "MeanAbsolutePercentageError", labels + 1);
  check_loss(losses::MeanSquaredLogarithmicError(), "MeanSquaredLogarithmicError");
  check_loss(losses::LogCosh(), "LogCosh");
  check_loss(losses::Poisson(), "Poisson");
  check_loss(losses::CosineSimilarity(), "CosineSimilarity");
  check_loss(losses::Hinge(), "Hinge");
  check_loss(losses::Hinge(), "Hinge", labels * 2 - 1);
  check_loss(losses::SquaredHinge(), "SquaredHinge");
  check_loss(losses::CategoricalHinge(), "CategoricalHinge");
  check_loss(losses::Dice({.axis = 1}), "Dice");
  check_loss(losses::Tversky({.alpha = .3, .beta = .7, .axis = 1}), "Tversky");
}
TEST_CASE("A loss with weight 0 may be NaN: cross entropies, of probabilities and logits") {
  for (const bool logits : {false, true}) {
    check_loss(losses::BinaryCrossentropy({.from_logits = logits}), "BinaryCrossentropy");
    check_loss(losses::BinaryCrossentropy({.from_logits = logits, .label_smoothing = .1}), "BinaryCrossentropy");
    check_loss(losses::CategoricalCrossentropy({.from_logits = logits}), "CategoricalCrossentropy");
    check_loss(losses::BinaryFocalCrossentropy({.from_logits = logits}), "BinaryFocalCrossentropy");
    check_loss(losses::CategoricalFocalCrossentropy({.from_logits = logits}), "CategoricalFocalCrossentropy");
    const losses::SparseCategoricalCrossentropy sparse({.from_logits = logits});
    const losses::SparseCategoricalCrossentropy ignoring({.from_logits = logits, .ignore_class = -1});
    const Tensor classes = constant({0, 1, 2, 0}), some = constant({0, -1, 2, -1});
    check_masked("losses::SparseCategoricalCrossentropy",
                 [&](const List& x) {
                   return List{sparse(classes, x[0], weights), ignoring(some, x[0])};
                 },
                 {{probabilities, ignored}});
  }
  check_loss(losses::KLDivergence(), "KLDivergence");
  const Tensor classes = constant({0, 1, 2, 0}), sequences = constant({{1, 2}, {1, 0}, {2, 2}, {0, 0}});
  check_masked(
      "losses::CategoricalGeneralizedCrossEntropy",
      [&](const List& x) { return List{losses::CategoricalGeneralizedCrossEntropy()(classes, x[0], weights)}; },
      {{probabilities, ignored}});
  const losses::CTC ctc;
  check_masked("losses::CTC", [&](const List& x) { return List{ctc(sequences, x[0], weights)}; },
               {{wave({4, 5, 3}), broadcast_to(reshape(weights < 0.5f, {4, 1, 1}), {4, 5, 3})}});
}
TEST_CASE("A loss with weight 0 may be NaN: along other axes, of one step of a sequence, of one's own") {
  const Tensor columns = constant({1.f, 0.f, .5f}), of_columns = broadcast_to(constant({{false, true, false}}), {4, 3});
  const losses::CosineSimilarity cosine({.axis = 0});
  const losses::BinaryCrossentropy binary({.axis = 0});
  const losses::CategoricalCrossentropy categorical({.axis = 0});
  check_masked(
      "losses::Loss",
      [&](const List& x) {
        return List{cosine(x[0], x[1], columns), binary(x[0], x[1], columns), categorical(x[0], x[1], columns)};
      },
      {{labels, of_columns}, {probabilities, of_columns}});
  const Tensor steps = constant({{1.f, 0.f}, {0.f, 1.f}}), off = broadcast_to(expand_dims(steps, 2) < 1, {2, 2, 3});
  const losses::Loss own(
      "own", [](const Tensor& t, const Tensor& p) { return sqrt(reduce_mean(square(p - cast(t, p.dtype())), -1)); });
  check_masked("losses::Loss",
               [&](const List& x) {
                 return List{own(x[0], x[1], steps), losses::Poisson()(x[0], x[1], steps)};
               },
               {{wave({2, 2, 3}), off}, {sigmoid(wave({2, 2, 3}, 3)), off}});
  const losses::Loss per_batch("per_batch", [](const Tensor& t, const Tensor& p) {
    return norm(p - cast(t, p.dtype()), {.axis = {1, 2}});
  });
  const Tensor half = constant({0.f, 1.f}), first = broadcast_to(constant({{{true}}, {{false}}}), {2, 2, 3});
  check_masked("losses::Loss", [&](const List& x) { return List{per_batch(x[0], x[1], half)}; },
               {{wave({2, 2, 3}), first}, {wave({2, 2, 3}, 3), first}});
}
TEST_CASE("A loss with weight 0 keeps the gradient to its weight") {
  const Tensor t = constant({{1.f}, {1.f}}), p = constant({{3.f}, {4.f}}), w = constant({1.f, 0.f});
  GradientTape tape;
  tape.watch(w);
  const Tensor g = tape.gradient(losses::MeanSquaredError({.reduction = Reduction::sum})(t, p, w), w);
  CHECK(g.to_vector<float>() == std::vector<float>{4, 9});
}

namespace {

template <class M>
void check_metric(const M& metric, const std::string& name, const Tensor& y_true = labels,
                  const Tensor& y_pred = probabilities, const Tensor& mask = ignored) {
  const bool labelled = is_floating(y_true.dtype());
  check_masked("metrics::" + name,
               [&](const List& x) {
                 metric.reset_state();
                 return List{metric(labelled ? x[1] : y_true, x[0], weights)};
               },
               labelled ? std::vector<Masked>{{y_pred, mask}, {y_true, mask}} : std::vector<Masked>{{y_pred, mask}}, {},
               {.differentiable = false, .traced = false});
}
template <class M>
void check_values(const M& metric, const std::string& name) {
  check_masked("metrics::" + name,
               [&](const List& x) {
                 metric.reset_state();
                 return List{metric(x[0], weights)};
               },
               {{wave({4}), constant({false, true, false, true})}}, {}, {.differentiable = false, .traced = false});
}

}  // namespace

TEST_CASE("A metric does not count what has weight 0: means") {
  check_values(metrics::Mean(), "Mean");
  check_values(metrics::Sum(), "Sum");
  check_values(metrics::MeanTensor(), "MeanTensor");
  check_metric(metrics::MeanMetricWrapper("own", &losses::hinge), "MeanMetricWrapper");
  check_metric(metrics::MeanSquaredError(), "MeanSquaredError");
  check_metric(metrics::RootMeanSquaredError(), "RootMeanSquaredError");
  check_metric(metrics::MeanAbsoluteError(), "MeanAbsoluteError");
  check_metric(metrics::MeanAbsolutePercentageError(), "MeanAbsolutePercentageError");
  check_metric(metrics::MeanSquaredLogarithmicError(), "MeanSquaredLogarithmicError");
  check_metric(metrics::LogCoshError(), "LogCoshError");
  check_metric(metrics::Poisson(), "Poisson");
  check_metric(metrics::Hinge(), "Hinge");
  check_metric(metrics::SquaredHinge(), "SquaredHinge");
  check_metric(metrics::CategoricalHinge(), "CategoricalHinge");
  check_metric(metrics::MeanRelativeError(constant({1.f, 2.f, 3.f})), "MeanRelativeError");
  check_metric(metrics::CosineSimilarity(), "CosineSimilarity");
  check_metric(metrics::KLDivergence(), "KLDivergence");
  check_metric(metrics::BinaryCrossentropy(), "BinaryCrossentropy");
  check_metric(metrics::CategoricalCrossentropy(), "CategoricalCrossentropy");
  check_metric(metrics::R2Score(), "R2Score");
  check_metric(metrics::PearsonCorrelation(), "PearsonCorrelation");
  check_metric(metrics::ConcordanceCorrelation(), "ConcordanceCorrelation");
}
TEST_CASE("A metric does not count what has weight 0: classes and thresholds") {
  const Tensor classes = constant({0, 1, 2, 0}), of_one = constant({{false}, {true}, {false}, {true}});
  check_metric(metrics::SparseCategoricalCrossentropy(), "SparseCategoricalCrossentropy", classes);
  check_metric(metrics::Perplexity(), "Perplexity", classes);
  check_metric(metrics::Accuracy(), "Accuracy", labels, labels);
  check_metric(metrics::BinaryAccuracy(), "BinaryAccuracy");
  check_metric(metrics::CategoricalAccuracy(), "CategoricalAccuracy");
  check_metric(metrics::SparseCategoricalAccuracy(), "SparseCategoricalAccuracy", classes);
  check_metric(metrics::TopKCategoricalAccuracy({.k = 2}), "TopKCategoricalAccuracy");
  check_metric(metrics::SparseTopKCategoricalAccuracy({.k = 2}), "SparseTopKCategoricalAccuracy", classes);
  check_metric(metrics::MeanIoU(3, {.sparse_y_pred = false}), "MeanIoU", classes);
  check_metric(metrics::IoU(3, {0, 2}, {.sparse_y_pred = false}), "IoU", classes);
  check_metric(metrics::OneHotMeanIoU(3), "OneHotMeanIoU");
  check_metric(metrics::OneHotIoU(3, {1}), "OneHotIoU");
  check_metric(metrics::BinaryIoU(), "BinaryIoU");
  const Tensor t = slice(labels, {0, 0}, {4, 1}), p = slice(probabilities, {0, 0}, {4, 1});
  check_metric(metrics::TruePositives(), "TruePositives", t, p, of_one);
  check_metric(metrics::FalsePositives(), "FalsePositives", t, p, of_one);
  check_metric(metrics::TrueNegatives(), "TrueNegatives", t, p, of_one);
  check_metric(metrics::FalseNegatives(), "FalseNegatives", t, p, of_one);
  check_metric(metrics::Precision(), "Precision", t, p, of_one);
  check_metric(metrics::Precision({.top_k = 2}), "Precision");
  check_metric(metrics::Recall(), "Recall", t, p, of_one);
  check_metric(metrics::Recall({.class_id = 1}), "Recall");
  check_metric(metrics::AUC(), "AUC", t, p, of_one);
  check_metric(metrics::SensitivityAtSpecificity(.5), "SensitivityAtSpecificity", t, p, of_one);
  check_metric(metrics::SpecificityAtSensitivity(.5), "SpecificityAtSensitivity", t, p, of_one);
  check_metric(metrics::PrecisionAtRecall(.5), "PrecisionAtRecall", t, p, of_one);
  check_metric(metrics::RecallAtPrecision(.5), "RecallAtPrecision", t, p, of_one);
  check_metric(metrics::FBetaScore({.average = metrics::FScoreAverage::macro}), "FBetaScore");
  check_metric(metrics::F1Score({.average = metrics::FScoreAverage::macro}), "F1Score");
}
TEST_CASE("Circle: a row of weight 0 that is NaN stays in the pairs of the others as 0.5") {
  const losses::Circle circle({.gamma = 2});
  const Tensor classes = constant({0, 0, 1, 1});
  const auto of = [&](float row) {
    const Tensor x = where(ignored, row, probabilities);
    GradientTape tape;
    tape.watch(x);
    const Tensor loss = circle(classes, x, weights);
    const Tensor g = tape.gradient(loss, x);
    return std::pair(loss.item<float>(), testing::floats(where(ignored, 0, g)));
  };
  const auto expected = of(0.5f);
  CHECK(std::isfinite(expected.first));
  for (const float row : {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    const auto got = of(row);
    CHECK(got.first == expected.first);
    CHECK(got.second == expected.second);
  }
}
