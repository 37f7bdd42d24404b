// IoU, BinaryIoU, OneHotIoU, OneHotMeanIoU, PearsonCorrelation, ConcordanceCorrelation: the numbers of Keras'
// documentation, weights, 0 / 0, traced updates, state, errors; and squares of numbers that float32 cannot square.
#include <cmath>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace overlap_metrics_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using testing::error_of;
using Numbers = std::vector<double>;

TEST_CASE("IoU and its kin: the numbers of Keras") {
  const Tensor t = constant({0, 0, 1, 1}), p = constant({0, 1, 0, 1}), w = constant({.3, .3, .3, .1});
  CHECK(metrics::IoU(2, {0})(t, p).item<double>() == Approx(1. / 3));
  CHECK(metrics::IoU(2, {0})(t, p, w).item<double>() == Approx(1. / 3));
  CHECK(metrics::IoU(2, {1})(t, p, w).item<double>() == Approx(1. / 7));
  CHECK(metrics::IoU(2, {1, 0})(t, p, w).item<double>() == Approx(metrics::MeanIoU(2)(t, p, w).item<double>()));
  const Tensor scores = constant({.1, .2, .4, .7}), labels = constant({0, 1, 0, 1});
  CHECK(metrics::BinaryIoU({.threshold = .3})(labels, scores).item<double>() == Approx(1. / 3));
  CHECK(metrics::BinaryIoU({.threshold = .3})(labels, scores, constant({.2, .3, .4, .1})).item<double>() ==
        Approx(.17361111));
  const Tensor of_three = constant({0, 0, 1, 2}), rows = one_hot(of_three, 3);
  const Tensor guesses = constant({{.2, .3, .5}, {.1, .2, .7}, {.5, .3, .1}, {.1, .4, .5}});
  CHECK(metrics::OneHotIoU(3, {0, 2})(rows, guesses).item<double>() == Approx(1. / 6));
  CHECK(metrics::OneHotMeanIoU(3)(rows, guesses).item<double>() == Approx(1. / 9));
  CHECK(metrics::OneHotMeanIoU(3, {.sparse_y_pred = true})(rows, of_three).item<double>() == 1);
  CHECK(metrics::OneHotMeanIoU(3, {.axis = 0})(transpose(rows), transpose(guesses)).item<double>() == Approx(1. / 9));
}
TEST_CASE("IoU: absent classes, thresholds, empty batches, traces, state, errors") {
  const Tensor t = constant({0, 0, 1, 1}), p = constant({0, 1, 0, 1});
  CHECK(metrics::IoU(5, {0, 3})(t, p).item<double>() == Approx(1. / 3));  // 3 does not occur
  CHECK(metrics::IoU(5, {3})(t, p).item<double>() == 0);
  const metrics::BinaryIoU binary({.target_class_ids = {1}});
  CHECK(binary.result().item<double>() == 0);
  CHECK(binary(zeros({0}), zeros({0})).item<double>() == 0);
  CHECK(binary(constant({true, false}), constant({.5f, .499f})).item<double>() == 1);  // at the threshold is class 1
  binary.reset_state();
  CHECK(binary.variables()[0].to_vector<double>() == Numbers(4));
  const metrics::IoU traced(2, {0}), whole(2, {0});
  const auto step = function([&](const Tensor& a, const Tensor& b) { return traced(a, b); },
                             {.input_signature = {{{none}, int32, {}}, {{none}, int32, {}}}});
  step(t(Slice(0, 1)), p(Slice(0, 1)));
  CHECK(step(t(Slice(1, none)), p(Slice(1, none))).item<double>() == whole(t, p).item<double>());
  CHECK(traced.variables()[0].name() == "total_confusion_matrix");
  CHECK_THAT(error_of([] { metrics::IoU(2, {2}); }), ContainsSubstring("IoU: target_class_ids has 2"));
  CHECK_THAT(error_of([] { metrics::IoU(2, {1, 1}); }), ContainsSubstring("twice"));
  CHECK_THAT(error_of([] { metrics::OneHotIoU(2, {}); }), ContainsSubstring("target_class_ids is empty"));
  CHECK_THAT(error_of([&] { metrics::BinaryIoU()(t, p); }), ContainsSubstring("y_pred must be floating"));
  CHECK_THAT(error_of([&] { metrics::IoU(1, {0})(t, p); }), ContainsSubstring("in metrics::IoU"));
  CHECK(metrics::BinaryIoU().name() == "binary_io_u");
}
TEST_CASE("Correlations: labels of float64 beside predictions of float32 are exact") {
  // From 2^24 on float32 has no odd numbers.
  const double first = 16777216;
  const Tensor t = constant(Numbers{first + 1, first + 3, first + 5, first + 7}, {.shape = {1, 4}});
  const Tensor p = cast(t - 1, float32);
  CHECK(metrics::pearson_correlation(t, p).to_vector<double>()[0] == Approx(1).epsilon(1e-12));
  CHECK(metrics::concordance_correlation(t, p).to_vector<double>()[0] == Approx(10. / 11).epsilon(1e-12));
  CHECK(metrics::PearsonCorrelation()(t, p).item<double>() == Approx(1).epsilon(1e-12));
  CHECK(metrics::ConcordanceCorrelation()(t, p).item<double>() == Approx(10. / 11).epsilon(1e-12));
}
TEST_CASE("Correlations: the numbers of Keras, axes, weights, 0 / 0, traces, errors") {
  const Tensor t = constant({{0., 1., .5}, {1., 1., .2}}), p = constant({{.1, .9, .5}, {1., .9, .2}});
  CHECK(metrics::PearsonCorrelation()(t, p).item<double>() == Approx(.9966996338993913));
  CHECK(metrics::ConcordanceCorrelation()(t, p).item<double>() == Approx(.9816320385426076).epsilon(1e-6));
  CHECK(metrics::PearsonCorrelation()(t, p, constant({1., 0.})).item<double>() == Approx(1));
  CHECK(metrics::PearsonCorrelation({.axis = 0})(transpose(t), transpose(p)).item<double>() ==
        Approx(.9966996338993913));
  CHECK(metrics::pearson_correlation(t, -3 * p + 1).to_vector<double>()[0] == Approx(-1));
  const Tensor same = ones({1, 3}, float64), other = constant({{1., 2., 3.}});
  CHECK(metrics::pearson_correlation(same, other).to_vector<double>() == Numbers{0});
  CHECK(metrics::concordance_correlation(same, same).to_vector<double>() == Numbers{0});
  CHECK(metrics::concordance_correlation(other, other).to_vector<double>()[0] == Approx(1));
  // A shift lowers concordance alone: 2 v / (2 v + 1), with the variance v = 2 / 3.
  CHECK(metrics::pearson_correlation(other, other + 1).to_vector<double>()[0] == Approx(1));
  CHECK(metrics::concordance_correlation(other, other + 1).to_vector<double>()[0] == Approx(4. / 7));
  const Tensor large = constant({{1e25f, 2e25f, 4e25f}});  // whose squares are infinite in float32
  CHECK(metrics::pearson_correlation(large, large).to_vector<double>()[0] == Approx(1));
  const metrics::PearsonCorrelation traced;
  const auto step = function([&](const Tensor& a, const Tensor& b) { return traced(a, b); });
  step(t(Slice(0, 1)), p(Slice(0, 1)));
  CHECK(step(t(Slice(1, 2)), p(Slice(1, 2))).item<double>() == Approx(.9966996338993913));
  CHECK(metrics::PearsonCorrelation()(zeros({0, 3}), zeros({0, 3})).item<double>() == 0);
  CHECK(metrics::PearsonCorrelation().name() == "pearson_correlation");
  CHECK_THAT(error_of([&] { metrics::PearsonCorrelation({.axis = 2})(t, p); }), ContainsSubstring("axis"));
  CHECK_THAT(error_of([&] { metrics::ConcordanceCorrelation()(t, p(Slice(), Slice(0, 2))); }),
             ContainsSubstring("in metrics::ConcordanceCorrelation"));
}
TEST_CASE("Metrics of squares: errors whose squares are infinite in float32") {
  const Tensor t = constant({{1e25f}, {-1e25f}}), p = constant({{3e25f}, {1e25f}});
  CHECK(metrics::RootMeanSquaredError()(t, p).item<double>() == Approx(2e25));
  CHECK(metrics::MeanSquaredError()(t, p).item<double>() == Approx(4e50));
  CHECK(metrics::SquaredHinge()(t, p).item<double>() == Approx(5e99));
  const Tensor a = constant({{3e25f, 4e25f}}), b = constant({{4e25f, 3e25f}});
  CHECK(metrics::CosineSimilarity()(a, b).item<double>() == Approx(.96));
}
}  // namespace overlap_metrics_test
