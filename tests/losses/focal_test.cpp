// Focal losses: Keras' formulas written out in double, gradients, traced calls, errors.
#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

namespace focal_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using Numbers = std::vector<double>;

constexpr std::size_t rows = 3, classes = 4;
const Tensor labels = constant(Numbers{0, 1, 0, 0, 1, 0, 0, 0, 0, 0, .25, .75}, {.shape = {3, 4}});
const Tensor scores = 2 * testing::wave({3, 4}, .5f, float64);
Tensor probabilities() { return sigmoid(scores); }

double clamped(double p) { return std::min(std::max(p, 1e-7), 1 - 1e-7); }
Numbers binary(const losses::BinaryFocalOptions& o, const Numbers& y, const Numbers& p) {
  Numbers r;
  for (std::size_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (std::size_t j = i * classes; j < (i + 1) * classes; ++j) {
      const double t = y[j] * (1 - o.label_smoothing) + .5 * o.label_smoothing;
      const double entropy = -(t * std::log(clamped(p[j])) + (1 - t) * std::log(1 - clamped(p[j])));
      const double focal = std::pow(1 - (t * p[j] + (1 - t) * (1 - p[j])), o.gamma);
      const double balance = o.apply_class_balancing ? t * o.alpha + (1 - t) * (1 - o.alpha) : 1;
      sum += balance * focal * entropy;
    }
    r.push_back(sum / classes);
  }
  return r;
}
Numbers categorical(const Numbers& alpha, double gamma, double smoothing, const Numbers& y, const Numbers& p) {
  Numbers r;
  for (std::size_t i = 0; i < rows; ++i) {
    double all = 0, sum = 0;
    for (std::size_t j = 0; j < classes; ++j) all += p[i * classes + j];
    for (std::size_t j = 0; j < classes; ++j) {
      const double t = y[i * classes + j] * (1 - smoothing) + smoothing / classes;
      const double q = clamped(p[i * classes + j] / all);
      sum += alpha[alpha.size() == 1 ? 0 : j] * std::pow(1 - q, gamma) * -t * std::log(q);
    }
    r.push_back(sum);
  }
  return r;
}
void check_close(const Tensor& got, const Numbers& want) {
  const Numbers have = cast(got, float64).to_vector<double>();
  REQUIRE(have.size() == want.size());
  for (std::size_t i = 0; i < want.size(); ++i) CHECK(have[i] == Approx(want[i]).epsilon(1e-6));
}
Numbers doubles(const Tensor& t) { return t.to_vector<double>(); }

TEST_CASE("binary_focal_crossentropy: Keras' formula") {
  for (losses::BinaryFocalOptions o :
       {losses::BinaryFocalOptions{}, losses::BinaryFocalOptions{.gamma = 0}, losses::BinaryFocalOptions{.gamma = 3.5},
        losses::BinaryFocalOptions{.apply_class_balancing = true},
        losses::BinaryFocalOptions{.apply_class_balancing = true, .alpha = .9, .label_smoothing = .2}}) {
    const Numbers want = binary(o, doubles(labels), doubles(probabilities()));
    check_close(losses::binary_focal_crossentropy(labels, probabilities(), o), want);
    o.from_logits = true;
    check_close(losses::binary_focal_crossentropy(labels, scores, o), want);
    const auto f = [&](const std::vector<Tensor>& x) {
      return reduce_sum(losses::binary_focal_crossentropy(x[0], x[1], o));
    };
    CHECK(test::compute_gradient_error(f, {0.5 * labels + 0.1, scores}, {.delta = 1e-5}) < 1e-6);
    const auto traced =
        function([&](const Tensor& t, const Tensor& s) { return losses::binary_focal_crossentropy(t, s, o); });
    check_close(traced(labels, scores), want);
  }
  // Keras' documentation.
  const Tensor t = constant({{0., 1.}, {0., 0.}}), p = constant({{.6, .4}, {.4, .6}});
  check_close(losses::binary_focal_crossentropy(t, p, {.gamma = 2}), {.32986468, .20579838});
  CHECK(losses::BinaryFocalCrossentropy({.gamma = 2, .from_logits = true})(constant({0., 1., 0., 0.}),
                                                                           constant({-18.6, .51, 2.94, -12.8}))
            .item<float>() == Approx(.6912120758).epsilon(1e-6));
  CHECK(losses::BinaryFocalCrossentropy({.apply_class_balancing = true, .gamma = 2, .from_logits = true})(
            constant({0., 1., 0., 0.}), constant({-18.6, .51, 2.94, -12.8}))
            .item<float>() == Approx(.5101332955).epsilon(1e-6));
}
TEST_CASE("categorical_focal_crossentropy: Keras' formula") {
  const Tensor p = nn::softmax(scores);
  for (const Numbers& alpha : {Numbers{.25}, Numbers{.1, .2, .3, .4}})
    for (const double gamma : {0., 2., 3.5})
      for (const double smoothing : {0., .2}) {
        const Numbers want = categorical(alpha, gamma, smoothing, doubles(labels), doubles(p));
        const auto loss = [&](const Tensor& y, const Tensor& x, bool logits, int axis = -1) {
          return losses::categorical_focal_crossentropy(
              y, x,
              {.alpha = alpha, .gamma = gamma, .from_logits = logits, .label_smoothing = smoothing, .axis = axis});
        };
        check_close(loss(labels, 3 * p, false), want);  // divided by their sum
        check_close(loss(labels, scores, true), want);
        check_close(loss(transpose(labels), transpose(p), false, 0), want);
        const auto f = [&](const std::vector<Tensor>& x) { return reduce_sum(loss(x[0], x[1], true)); };
        CHECK(test::compute_gradient_error(f, {labels, scores}, {.delta = 1e-5}) < 1e-6);
        const auto traced = function([&](const Tensor& t, const Tensor& s) { return loss(t, s, true); });
        check_close(traced(labels, scores), want);
      }
  // Keras' documentation.
  const Tensor y = constant({{0., 1., 0.}, {0., 0., 1.}}), q = constant({{.05, .9, .05}, {.1, .85, .05}});
  check_close(losses::categorical_focal_crossentropy(y, q), {2.63401289e-04, 6.75912094e-01});
  CHECK(losses::CategoricalFocalCrossentropy()(y, constant({{.05, .95, 0.}, {.1, .8, .1}})).item<float>() ==
        Approx(.23315276));
}
TEST_CASE("focal losses: reductions, names, errors") {
  const Numbers want = binary({}, doubles(labels), doubles(probabilities()));
  CHECK(
      losses::BinaryFocalCrossentropy({.reduction = losses::Reduction::sum})(labels, probabilities()).item<double>() ==
      Approx(want[0] + want[1] + want[2]));
  CHECK(losses::BinaryFocalCrossentropy().name() == "binary_focal_crossentropy");
  CHECK(losses::CategoricalFocalCrossentropy().name() == "categorical_focal_crossentropy");
  CHECK_THROWS_WITH(losses::BinaryFocalCrossentropy({.gamma = -1}), ContainsSubstring("gamma"));
  CHECK_THROWS_WITH(losses::CategoricalFocalCrossentropy({.label_smoothing = 2}), ContainsSubstring("smoothing"));
  CHECK_THROWS_WITH(losses::categorical_focal_crossentropy(labels, scores, {.alpha = {.1, .2}}),
                    ContainsSubstring("2 factors"));
  CHECK_THROWS_AS(losses::binary_focal_crossentropy(labels, scores[0]), errors::InvalidArgumentError);
}
}  // namespace focal_test
