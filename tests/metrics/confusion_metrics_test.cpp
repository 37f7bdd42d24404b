// Metrics of decisions: counts, Precision, Recall, AUC, values at constraints, MeanIoU; numbers of Keras'
// documentation, counts by loops, weights, traced updates, errors.
#include <cmath>
#include <limits>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace confusion_metrics_test {
using namespace tandem;
using testing::error_of;
using Numbers = std::vector<double>;
using metrics::PredictionMetric;

void check(const PredictionMetric& m, const Tensor& t, const Tensor& p, double plain, const Tensor& w,
           double weighted) {
  INFO(m.name());
  CHECK(m.result().item<double>() == 0);
  CHECK(m(t, p).item<double>() == Approx(plain).epsilon(1e-6));
  m.reset_state();
  CHECK(m(t, p, w).item<double>() == Approx(weighted).epsilon(1e-6));
}

TEST_CASE("counts, Precision and Recall: the numbers of Keras") {
  const Tensor w = constant({0, 0, 1, 0});
  check(metrics::TruePositives(), constant({0, 1, 1, 1}), constant({1., 0., 1., 1.}), 2, w, 1);
  check(metrics::FalsePositives(), constant({0, 1, 0, 0}), constant({0., 0., 1., 1.}), 2, w, 1);
  check(metrics::TrueNegatives(), constant({0, 1, 0, 0}), constant({1., 1., 0., 0.}), 2, w, 1);
  check(metrics::FalseNegatives(), constant({0, 1, 1, 1}), constant({0., 1., 0., 0.}), 2, w, 1);
  check(metrics::Precision(), constant({0, 1, 1, 1}), constant({1., 0., 1., 1.}), 2. / 3, w, 1);
  check(metrics::Recall(), constant({0, 1, 1, 1}), constant({1., 0., 1., 1.}), 2. / 3, w, 1);
  // 0/0 = 0, and a score at the threshold is not positive.
  CHECK(metrics::Precision()(ones({2}), constant({.5, .1})).item<double>() == 0);
  CHECK(metrics::Recall()(zeros({2}), ones({2})).item<double>() == 0);
  CHECK(metrics::TruePositives({.thresholds = .3})(ones({1}), constant({.3})).item<double>() == 0);  // also in float32
  // Thresholds in any order; labels bool_; any rank, a weight for each row.
  const metrics::Recall several({.thresholds = {.7, .1, .4}});
  CHECK(several.result().to_vector<double>() == Numbers{0, 0, 0});
  const Tensor t = constant({{true, true}, {false, true}}), p = constant({{.2, .5}, {.9, .8}});
  CHECK(several(t, p).to_vector<double>() == Numbers{1. / 3, 1, 2. / 3});
  several.reset_state();
  CHECK(several(t, p, constant({3., 1.})).to_vector<double>() == Numbers{1. / 7, 1, 4. / 7});
  CHECK(metrics::TruePositives({.dtype = float32})(t, p).item<float>() == 1);
}

TEST_CASE("Precision and Recall of the best classes, and of one class") {
  const Tensor t = constant({{0, 0, 1, 1}}), p = constant({{1., 1., 1., 1.}});
  CHECK(metrics::Precision({.top_k = 2})(t, p).item<double>() == 0);  // the first two of equals
  CHECK(metrics::Precision({.top_k = 4})(t, p).item<double>() == .5);
  const Tensor scores = constant({{.1, .2, .6, .3}});
  CHECK(metrics::Precision({.top_k = 2})(t, scores).item<double>() == 1);
  CHECK(metrics::Precision({.thresholds = .5, .top_k = 2})(t, scores).item<double>() == 1);
  CHECK(metrics::Recall({.thresholds = .5, .top_k = 2})(t, scores).item<double>() == .5);
  CHECK(metrics::Recall({.top_k = 1, .class_id = 2})(t, scores).item<double>() == 1);
  CHECK(metrics::Recall({.top_k = 1, .class_id = 3})(t, scores).item<double>() == 0);
  CHECK(metrics::Precision({.class_id = 2})(concat({t, t}, 0), concat({scores, 1 - scores}, 0)).item<double>() == 1);
  CHECK_THAT(error_of([] { metrics::Precision({.top_k = 0}); }), ContainsSubstring("Precision: top_k"));
}

TEST_CASE("AUC: the numbers of Keras") {
  const Tensor t = constant({0, 0, 1, 1}), p = constant({0., .5, .3, .9}), w = constant({1, 0, 0, 1});
  check(metrics::AUC({.num_thresholds = 3}), t, p, .75, w, 1);
  CHECK(metrics::AUC({.thresholds = .5})(t, p).item<double>() == Approx(.75));
  // Weighted counts at thresholds -1e-7, .5, 1 + 1e-7: tp 7, 4, 0; fp 3, 0, 0.
  const Tensor weights = constant({1., 2., 3., 4.}), scores = constant({0., .5, .3, .9});
  const auto auc = [&](metrics::Curve c, metrics::SummationMethod m) {
    return metrics::AUC({.num_thresholds = 3, .curve = c, .summation_method = m})(t, scores, weights).item<double>();
  };
  using enum metrics::SummationMethod;
  using enum metrics::Curve;
  CHECK(auc(roc, interpolation) == Approx((1 + .571429) / 2).epsilon(1e-5));
  CHECK(auc(roc, majoring) == Approx(1));
  CHECK(auc(roc, minoring) == Approx(.571429).epsilon(1e-5));
  const double precision[] = {.7, 1, 0}, recall[] = {1, 4. / 7, 0};
  CHECK(auc(pr, majoring) == Approx((recall[0] - recall[1]) * 1 + recall[1] * 1));
  CHECK(auc(pr, minoring) == Approx((recall[0] - recall[1]) * precision[0]));
  const double slope0 = (7. - 4) / (10 - 4), intercept0 = 4 - slope0 * 4;
  CHECK(auc(pr, interpolation) == Approx((slope0 * (3 + intercept0 * std::log(10. / 4)) + 1. * 4) / 7).epsilon(1e-6));
  const metrics::AUC logits({.num_thresholds = 3, .from_logits = true});
  CHECK(logits(t, constant({-10., 0., -.1, 5.})).item<double>() == Approx(.75));
}

TEST_CASE("AUC and counts agree with loops") {
  const i64 n = 500;
  const Tensor p = random::stateless_uniform({n}, {1, 2}), w = random::stateless_uniform({n}, {3, 4});
  const Tensor t = greater(p + random::stateless_uniform({n}, {5, 6}), 1.f);
  const std::vector<float> scores = p.to_vector<float>(), weights = w.to_vector<float>();
  const std::vector<bool> labels = t.to_vector<bool>();
  Numbers recall, fall_out;
  double tp = 0, fp = 0, pos = 0, neg = 0;
  for (int k = 0; k < 200; ++k) {
    const float threshold = k == 0 ? -1e-7f : k == 199 ? 1.f + 1e-7f : static_cast<float>(k / 199.);
    tp = fp = pos = neg = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      (labels[i] ? pos : neg) += static_cast<double>(weights[i]);
      if (scores[i] > threshold) (labels[i] ? tp : fp) += static_cast<double>(weights[i]);
    }
    recall.push_back(tp / pos), fall_out.push_back(fp / neg);
  }
  double area = 0;
  for (std::size_t k = 0; k + 1 < recall.size(); ++k)
    area += (fall_out[k] - fall_out[k + 1]) * (recall[k] + recall[k + 1]) / 2;
  const metrics::AUC auc;
  CHECK(auc(t, p, w).item<double>() == Approx(area).epsilon(1e-12));
  // In parts, in a traced function with an unknown size.
  auc.reset_state();
  const auto step = function([&](const Tensor& a, const Tensor& b, const Tensor& c) { return auc(a, b, c); },
                             {.input_signature = {{{none}, bool_, {}}, {{none}, float32, {}}, {{none}, float32, {}}}});
  step(t(Slice(0, 100)), p(Slice(0, 100)), w(Slice(0, 100)));
  CHECK(step(t(Slice(100, none)), p(Slice(100, none)), w(Slice(100, none))).item<double>() ==
        Approx(area).epsilon(1e-12));
  CHECK_THROWS_WITH(step(t, p + 1, w), ContainsSubstring("predictions must be in [0, 1]"));
}

TEST_CASE("values at constraints: the numbers of Keras") {
  const Tensor t = constant({0, 0, 0, 1, 1}), p = constant({0., .3, .8, .3, .8});
  check(metrics::SensitivityAtSpecificity(.5), t, p, .5, constant({1, 1, 2, 2, 1}), 1. / 3);
  check(metrics::SpecificityAtSensitivity(.5), t, p, 2. / 3, constant({1, 1, 2, 2, 2}), .5);
  check(metrics::PrecisionAtRecall(.5), t, p, .5, constant({2, 2, 2, 1, 1}), 1. / 3);
  check(metrics::RecallAtPrecision(.8), constant({0, 0, 1, 1}), constant({0., .5, .3, .9}), .5, constant({1, 0, 0, 1}),
        1);
  CHECK_THAT(error_of([] { metrics::SensitivityAtSpecificity(1.5); }), ContainsSubstring("specificity must be in"));
}

TEST_CASE("MeanIoU: the numbers of Keras") {
  const Tensor t = constant({0, 0, 1, 1}), p = constant({0, 1, 0, 1});
  check(metrics::MeanIoU(2), t, p, 1. / 3, constant({.3, .3, .3, .1}), .23809524);
  // Absent classes do not count; ignored labels neither; scores instead of classes.
  CHECK(metrics::MeanIoU(5)(t, p).item<double>() == Approx(1. / 3));
  CHECK(metrics::MeanIoU(2, {.ignore_class = 255})(constant({0, 255, 255, 1}), p).item<double>() == 1);
  const metrics::MeanIoU scores(2, {.sparse_y_true = false, .sparse_y_pred = false});
  CHECK(scores(one_hot(t, 2), one_hot(p, 2) * .5).item<double>() == Approx(1. / 3));
  const metrics::MeanIoU traced(2);
  const auto step = function([&](const Tensor& a, const Tensor& b) { return traced(a, b); });
  CHECK(step(reshape(t, {2, 2}), reshape(p, {2, 2})).item<double>() == Approx(1. / 3));
  CHECK_THAT(error_of([&] { metrics::MeanIoU(1)(t, p); }), ContainsSubstring("in metrics::MeanIoU"));
  CHECK_THAT(error_of([&] { metrics::MeanIoU(2)(t, zeros({4})); }), ContainsSubstring("y_pred must have integers"));
  CHECK_THAT(error_of([&] { metrics::MeanIoU(2)(t, zeros({4, 1}, int32)); }), ContainsSubstring("same shape"));
  CHECK_THAT(error_of([&] { metrics::MeanIoU(0); }), ContainsSubstring("num_classes must be positive"));
}

TEST_CASE("errors of decisions") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const metrics::Precision precision;
  for (const float x : {1.5f, -.5f, nan})
    CHECK_THAT(error_of([&] { precision(ones({1}), fill({1}, x)); }),
               ContainsSubstring("predictions must be in [0, 1]; of logits take the sigmoid"));
  CHECK(precision.variables()[0].to_vector<double>() == Numbers(4));
  CHECK_THAT(error_of([&] { precision(ones({4}), ones({4, 1})); }), ContainsSubstring("squeeze(y_pred, -1)"));
  CHECK_THAT(error_of([&] { precision(ones({4}), ones({4}), ones({3})); }), ContainsSubstring("sample weights"));
  CHECK_THAT(error_of([] { metrics::Recall({.thresholds = {.5, 2.}}); }), ContainsSubstring("thresholds must be in"));
  CHECK_THAT(error_of([] { metrics::AUC({.num_thresholds = 1}); }), ContainsSubstring("AUC: num_thresholds"));
  CHECK(precision(zeros({0}), zeros({0})).item<double>() == 0);
}

}  // namespace confusion_metrics_test
