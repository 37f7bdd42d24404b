// F1Score, FBetaScore, R2Score: Keras' formulas by loops, the numbers of its documentation, weights, batches, traces,
// errors.
#include <cmath>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace score_metrics_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<double>;
using metrics::FScoreAverage, metrics::R2Aggregation;
using testing::wave;

constexpr std::size_t n = 12, classes = 3;
// Labels of several classes, and scores.
Tensor labels() { return cast(wave({12, 3}, .3f) > 0.2f, float32); }
Tensor scores() { return 0.5f + 0.5f * wave({12, 3}, 1.1f); }
Tensor weights() { return abs(wave({12}, 2)); }

struct Counts {
  double tp = 0, fp = 0, fn = 0, labels = 0;
  double score(double beta) const {
    const double precision = tp + fp > 0 ? tp / (tp + fp) : 0, recall = tp + fn > 0 ? tp / (tp + fn) : 0;
    const double under = beta * beta * precision + recall;
    return under > 0 ? (1 + beta * beta) * precision * recall / under : 0;
  }
};
std::vector<Counts> counted(std::optional<double> threshold, const std::vector<float>& w) {
  const std::vector<float> t = labels().to_vector<float>(), p = scores().to_vector<float>();
  std::vector<Counts> r(classes);
  for (std::size_t i = 0; i < n; ++i) {
    const float best = std::max({p[i * 3], p[i * 3 + 1], p[i * 3 + 2]});
    for (std::size_t c = 0; c < classes; ++c) {
      const float x = p[i * 3 + c];
      const bool positive = threshold ? x > *threshold : x >= best && std::fabs(x) > 1e-9;
      (t[i * 3 + c] != 0 ? (positive ? r[c].tp : r[c].fn) : (positive ? r[c].fp : r[c].labels)) +=
          t[i * 3 + c] != 0 || positive ? static_cast<double>(w[i]) : 0;
      if (t[i * 3 + c] != 0) r[c].labels += static_cast<double>(w[i]);
    }
  }
  return r;
}
Numbers expected(FScoreAverage average, double beta, const std::vector<Counts>& counts) {
  Numbers each;
  Counts all;
  double mean = 0, weighted = 0;
  for (const Counts& c : counts) {
    each.push_back(c.score(beta));
    all.tp += c.tp, all.fp += c.fp, all.fn += c.fn, all.labels += c.labels;
    mean += c.score(beta) / static_cast<double>(classes), weighted += c.score(beta) * c.labels;
  }
  if (average == FScoreAverage::none) return each;
  return {average == FScoreAverage::micro   ? all.score(beta)
          : average == FScoreAverage::macro ? mean
                                            : weighted / all.labels};
}
void check_close(const Tensor& got, const Numbers& want, double tolerance = 1e-6) {
  const Numbers have = cast(got, float64).to_vector<double>();
  REQUIRE(have.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(have[i] == Approx(want[i]).epsilon(tolerance).margin(tolerance));
}
// In two batches, eagerly and traced.
template <class M>
void check_batches(const M& m, const Tensor& t, const Tensor& p, const Tensor& w, const Numbers& want) {
  const auto part = [](const Tensor& x, i64 from, i64 to) { return x.is_set() ? x(Slice(from, to)) : x; };
  m.update_state(part(t, 0, 5), part(p, 0, 5), part(w, 0, 5));
  m.update_state(part(t, 5, 12), part(p, 5, 12), part(w, 5, 12));
  check_close(m.result(), want);
  m.reset_state();
  const auto f = function([&](const Tensor& a, const Tensor& b) { m.update_state(a, b, w); });
  f(t, p);
  check_close(m.result(), want);
}

TEST_CASE("FBetaScore and F1Score: counts by loops, averages, thresholds, weights") {
  const std::vector<float> even(n, 1.f), uneven = weights().to_vector<float>();
  for (const auto average : {FScoreAverage::none, FScoreAverage::micro, FScoreAverage::macro, FScoreAverage::weighted})
    for (const std::optional<double> threshold : {std::optional<double>(), std::optional<double>(.5)})
      for (const double beta : {1., 2., .5}) {
        const auto make = [&] {
          return metrics::FBetaScore({.average = average, .beta = beta, .threshold = threshold});
        };
        check_batches(make(), labels(), scores(), {}, expected(average, beta, counted(threshold, even)));
        check_batches(make(), labels(), scores(), weights(), expected(average, beta, counted(threshold, uneven)));
        if (beta == 1)
          check_batches(metrics::F1Score({.average = average, .threshold = threshold}), labels(), scores(), {},
                        expected(average, 1, counted(threshold, even)));
      }
}
TEST_CASE("FBetaScore and F1Score: the numbers of Keras, names, errors") {
  const Tensor t = constant({{1, 1, 1}, {1, 0, 0}, {1, 1, 0}}),
               p = constant({{.2, .6, .7}, {.2, .6, .6}, {.6, .8, 0.}});
  check_close(metrics::FBetaScore({.beta = 2, .threshold = .5})(t, p), {.3846154, .90909094, .8333334});
  check_close(metrics::F1Score({.threshold = .5})(t, p), {.5, .8, .6666667});
  CHECK(metrics::FBetaScore().name() == "fbeta_score");
  CHECK(metrics::F1Score().name() == "f1_score");
  CHECK(metrics::F1Score({.average = FScoreAverage::macro}).result().item<double>() == 0);
  CHECK_THROWS_AS(metrics::F1Score().result(), errors::FailedPreconditionError);
  const metrics::F1Score f1;
  f1.update_state(t, p);
  CHECK_THROWS_WITH(f1.update_state(t(Slice(), Slice(0, 2)), p(Slice(), Slice(0, 2))), ContainsSubstring("F1Score"));
  CHECK_THROWS_AS(f1.update_state(t[0], p[0]), errors::InvalidArgumentError);
  CHECK_THROWS_AS(metrics::FBetaScore({.beta = 0}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(metrics::F1Score({.threshold = 1.5}), errors::InvalidArgumentError);
  // An example without a score has no positive class.
  CHECK(metrics::F1Score({.average = FScoreAverage::micro})(ones({1, 2}), zeros({1, 2})).item<double>() == 0);
}

// 1 - squared error / variance of each output, by two passes.
Numbers r2_of(const Numbers& t, const Numbers& p, const Numbers& w, R2Aggregation aggregation) {
  const std::size_t outputs = t.size() / n;
  Numbers each;
  double mean = 0, weighted = 0, variances = 0;
  for (std::size_t c = 0; c < outputs; ++c) {
    double all = 0, sum = 0, error = 0, variance = 0;
    for (std::size_t i = 0; i < n; ++i) all += w[i], sum += w[i] * t[i * outputs + c];
    for (std::size_t i = 0; i < n; ++i) {
      error += w[i] * std::pow(t[i * outputs + c] - p[i * outputs + c], 2);
      variance += w[i] * std::pow(t[i * outputs + c] - sum / all, 2);
    }
    each.push_back(1 - error / variance);
    mean += each.back() / static_cast<double>(outputs), weighted += each.back() * variance, variances += variance;
  }
  if (aggregation == R2Aggregation::none) return each;
  return {aggregation == R2Aggregation::uniform_average ? mean : weighted / variances};
}

TEST_CASE("R2Score: two passes by hand, weights, batches, adjusted") {
  const Tensor t = wave({12, 2}, 0, float64), p = t + 0.3 * wave({12, 2}, 1, float64);
  const Numbers even(n, 1.), uneven = cast(weights(), float64).to_vector<double>();
  for (const auto a : {R2Aggregation::none, R2Aggregation::uniform_average, R2Aggregation::variance_weighted_average}) {
    const auto make = [&] { return metrics::R2Score({.class_aggregation = a}); };
    check_batches(make(), t, p, {}, r2_of(t.to_vector<double>(), p.to_vector<double>(), even, a));
    check_batches(make(), t, p, weights(), r2_of(t.to_vector<double>(), p.to_vector<double>(), uneven, a));
  }
  const Tensor one = t(Slice(), 0), guess = p(Slice(), 0);
  const double plain = metrics::R2Score()(one, guess).item<double>();
  CHECK(plain == Approx(r2_of(one.to_vector<double>(), guess.to_vector<double>(), even, R2Aggregation::none)[0]));
  CHECK(metrics::R2Score({.num_regressors = 3})(one, guess).item<double>() == Approx(1 - (1 - plain) * 11 / 8));
  CHECK(metrics::R2Score({.num_regressors = 11})(one, guess).item<double>() == Approx(plain));  // too many
}
TEST_CASE("R2Score: the number of Keras, edges, errors") {
  const Tensor t = constant({{1.}, {4.}, {3.}}), p = constant({{2.}, {4.}, {4.}});
  CHECK(metrics::R2Score()(t, p).item<double>() == Approx(.57142855));
  CHECK(metrics::R2Score().result().item<double>() == 0);
  // Odd numbers beyond 2^24 are labels that float32 does not have: 1 - 4 / 20.
  const Tensor exact = constant(Numbers{16777217, 16777219, 16777221, 16777223});
  CHECK(metrics::R2Score()(exact, cast(exact - 1, float32)).item<double>() == Approx(.8).epsilon(1e-12));
  CHECK(metrics::R2Score()(ones({3}), constant({1., 2., 1.})).item<double>() == 0);  // labels that do not vary
  CHECK(metrics::R2Score().name() == "r2_score");
  CHECK_THROWS_AS(metrics::R2Score({.class_aggregation = R2Aggregation::none}).result(),
                  errors::FailedPreconditionError);
  CHECK_THROWS_AS(metrics::R2Score({.num_regressors = -1}), errors::InvalidArgumentError);
  const metrics::R2Score r2;
  r2.update_state(t, p);
  CHECK_THROWS_WITH(r2.update_state(ones({3, 2}), ones({3, 2})), ContainsSubstring("outputs"));
  CHECK_THROWS_AS(r2.update_state(ones({3, 2, 1}), ones({3, 2, 1})), errors::InvalidArgumentError);
}
}  // namespace score_metrics_test
