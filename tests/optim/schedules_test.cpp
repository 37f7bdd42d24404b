// Schedules against their formulas in double, in optimizers and traced steps; ReduceLROnPlateau.
#include "tandem/optim/schedules.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tandem/optim/plateau.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using namespace tandem::optimizers::schedules;

namespace {

const std::vector<double> steps{0, 1, 24, 25, 50, 99, 100, 101, 199, 200, 250, 299, 300, 301, 700, 1000};

// A schedule at all steps: one by one, as a vector, in float32 and in a traced function.
template <class Schedule, class Formula>
void check_schedule(const Schedule& schedule, const Formula& formula) {
  const std::vector<double> all = schedule(constant(steps, float64)).template to_vector<double>();
  const auto traced = function([&](const Tensor& step) { return schedule(step); });
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const double step = steps[i], want = formula(step);
    INFO("step " << step);
    CHECK(all[i] == Approx(want).epsilon(1e-12).margin(1e-15));
    CHECK(schedule(constant(step, float64)).template item<double>() == Approx(all[i]).epsilon(1e-14).margin(1e-17));
    CHECK(traced(constant(step, float64)).template item<double>() == Approx(all[i]).epsilon(1e-14).margin(1e-17));
    CHECK(schedule(static_cast<int>(step)).template item<float>() == Approx(want).margin(1e-9));
    CHECK(schedule(constant(static_cast<i64>(step))).dtype() == float32);
  }
}
double cosine(double p) { return .5 * (1 + std::cos(std::numbers::pi * std::min(p, 1.))); }

}  // namespace

TEST_CASE("schedules: exponential and inverse time decay") {
  for (const bool staircase : {false, true}) {
    const auto share = [&](double step) { return staircase ? std::floor(step / 100) : step / 100; };
    check_schedule(ExponentialDecay(.1, 100, .96, {.staircase = staircase}),
                   [&](double s) { return .1 * std::pow(.96, share(s)); });
    check_schedule(InverseTimeDecay(.5, 100, 2, {.staircase = staircase}),
                   [&](double s) { return .5 / (1 + 2 * share(s)); });
  }
  CHECK(ExponentialDecay(.1, 100, .96)(250).item<float>() == Approx(.0902980).epsilon(1e-6));
  CHECK(ExponentialDecay(.1, 100, .96, {.staircase = true})(250).item<float>() == Approx(.09216).epsilon(1e-6));
}

TEST_CASE("schedules: piecewise constant") {
  check_schedule(PiecewiseConstantDecay({100, 200}, {1, .5, .25}), [](double s) {
    return s <= 100 ? 1 : s <= 200 ? .5 : .25;
  });
  check_schedule(PiecewiseConstantDecay({}, {.75}), [](double) { return .75; });
}

TEST_CASE("schedules: polynomial decay") {
  check_schedule(PolynomialDecay(.1, 100),
                 [](double s) { return (.1 - .0001) * (1 - std::min(s, 100.) / 100) + .0001; });
  check_schedule(PolynomialDecay(.1, 200, {.end_learning_rate = .01, .power = .5}),
                 [](double s) { return (.1 - .01) * std::sqrt(1 - std::min(s, 200.) / 200) + .01; });
  check_schedule(PolynomialDecay(.1, 100, {.end_learning_rate = .01, .power = 2, .cycle = true}), [](double s) {
    const double n = 100 * (s == 0 ? 1 : std::ceil(s / 100));
    return (.1 - .01) * std::pow(1 - s / n, 2) + .01;
  });
}

TEST_CASE("schedules: cosine decay and its warm-up") {
  check_schedule(CosineDecay(.1, 100), [](double s) { return .1 * cosine(s / 100); });
  CHECK(CosineDecay(.1, 100)(25).item<float>() == Approx(.0853553).epsilon(1e-6));
  check_schedule(CosineDecay(.1, 200, {.alpha = .25}), [](double s) { return .1 * (.75 * cosine(s / 200) + .25); });
  check_schedule(CosineDecay(.02, 200, {.alpha = .5, .warmup_target = .1, .warmup_steps = 100}), [](double s) {
    return s < 100 ? .02 + (.1 - .02) * s / 100 : .1 * (.5 * cosine((s - 100) / 200) + .5);
  });
  // Without a target there is no warm-up.
  check_schedule(CosineDecay(.1, 100, {.warmup_steps = 50}), [](double s) { return .1 * cosine(s / 100); });
}

TEST_CASE("schedules: cosine decay with restarts") {
  for (const double t_mul : {1., 1.5, 2.}) {
    check_schedule(CosineDecayRestarts(.1, 100, {.t_mul = t_mul, .m_mul = .5, .alpha = .1}), [&](double s) {
      double begin = 0, length = 100, height = 1;
      while (s >= begin + length) begin += length, length *= t_mul, height *= .5;
      return .1 * (.9 * height * cosine((s - begin) / length) + .1);
    });
  }
  // At the very first step of each period: the logarithm of 2^n / log 2 may round to either side of n.
  const CosineDecayRestarts restarts(1, 3);
  for (int n = 0; n < 30; ++n) {
    const double begin = 3 * (std::exp2(n) - 1);
    CHECK(restarts(constant(begin, float64)).item<double>() == 1);
    if (n) CHECK(restarts(constant(begin - 1, float64)).item<double>() < .8);
  }
}

TEST_CASE("schedules: warm-up around another") {
  check_schedule(WarmUp(ExponentialDecay(.1, 100, .5), 100),
                 [](double s) { return s < 100 ? .1 * s / 100 : .1 * std::pow(.5, (s - 100) / 100); });
  check_schedule(WarmUp(.25, 50, {.initial_learning_rate = .05}),
                 [](double s) { return s < 50 ? .05 + .2 * s / 50 : .25; });
}

TEST_CASE("schedules: wrong numbers raise") {
  CHECK_THROWS_WITH(ExponentialDecay(-.1, 100, .96),
                    ContainsSubstring("ExponentialDecay: initial_learning_rate must not be negative"));
  CHECK_THROWS_AS(ExponentialDecay(.1, 0, .96), errors::InvalidArgumentError);
  CHECK_THROWS_AS(InverseTimeDecay(.1, 10, -1), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(PiecewiseConstantDecay({1, 2}, {1, 2}), ContainsSubstring("2 values and 2 boundaries"));
  CHECK_THROWS_AS(PiecewiseConstantDecay({2, 2}, {1, 2, 3}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(PolynomialDecay(.1, -5), errors::InvalidArgumentError);
  CHECK_THROWS_AS(CosineDecay(.1, 100, {.alpha = -1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(CosineDecayRestarts(.1, 100, {.t_mul = .5}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(WarmUp(-1, 100), errors::InvalidArgumentError);
  CHECK_THROWS_AS(ExponentialDecay(.1, 100, .96)(constant({true})), errors::InvalidArgumentError);
  const optimizers::SGD vector({.learning_rate = [](const Tensor&) { return constant({.1f, .2f}); }});
  CHECK_THROWS_WITH(vector.apply_gradients({Gradient(constant(1.f))}, {Variable(1.f)}),
                    ContainsSubstring("a schedule must return a real scalar"));
}

TEST_CASE("schedules: an optimizer counts its steps from 0, eager and traced") {
  for (const bool traced : {false, true}) {
    const ExponentialDecay decay(.5, 2, .25);
    const optimizers::SGD sgd(decay);
    CHECK(sgd.has_schedule());
    const Variable w(constant(std::vector<double>{0}));
    const auto step = [&](const Tensor& g) { sgd.apply_gradients({Gradient(g)}, {w}); };
    const auto f = function([&](const Tensor& g) { step(g); });
    double want = 0;
    for (int i = 0; i < 6; ++i) {
      const Tensor g = constant(std::vector<double>{1});
      if (traced) f(g);
      else step(g);
      want -= .5 * std::pow(.25, i / 2.);
      CHECK(w.item<double>() == Approx(want).epsilon(1e-13));
      CHECK(sgd.learning_rate().item<float>() == Approx(.5 * std::pow(.25, i / 2.)));
    }
    CHECK(sgd.named_variables().size() == 2);
  }
}

TEST_CASE("learning rate: a Variable is shared") {
  const Variable rate(.5f);
  const optimizers::SGD a(rate), b({.learning_rate = rate});
  const Variable w(0.f);
  for (const auto* sgd : {&a, &b}) sgd->apply_gradients({Gradient(constant(1.f))}, {w});
  CHECK(w.item<float>() == -1);
  rate.assign(.25);
  for (const auto* sgd : {&a, &b}) sgd->apply_gradients({Gradient(constant(1.f))}, {w});
  CHECK(w.item<float>() == -1.5);
  CHECK(a.learning_rate().is_same(rate));
  CHECK_THROWS_AS(optimizers::SGD(Variable(constant({1.f}))), errors::InvalidArgumentError);
  CHECK_THROWS_AS(optimizers::SGD(Variable(constant(1))), errors::InvalidArgumentError);
}

TEST_CASE("ReduceLROnPlateau") {
  using optimizers::PlateauMode;
  using optimizers::ReduceLROnPlateau;
  const optimizers::SGD sgd(1.);
  const auto rate = [&] { return sgd.learning_rate().item<float>(); };
  const ReduceLROnPlateau plateau(sgd, {.factor = .5, .patience = 2, .min_delta = .1, .cooldown = 2, .min_lr = .2});
  std::vector<float> rates;
  // 1: best. .95: too small an improvement, then NaN: reduced. Two calls of cooldown, of which the second counts the
  // first miss (as in Keras); the next is reduced, and so on down to min_lr.
  for (const double metric : {1., .95, std::nan(""), 1., 1., 1., .5, .5, .5, .5, .5, .5, .5, .5, .5}) {
    plateau.update(metric);
    rates.push_back(rate());
  }
  CHECK(rates == std::vector<float>{1, 1, .5, .5, .5, .25, .25, .25, .2f, .2f, .2f, .2f, .2f, .2f, .2f});
  const optimizers::SGD other(1.);
  const ReduceLROnPlateau rising(other, {.patience = 1, .mode = PlateauMode::max});
  CHECK(!rising.update(.5));
  CHECK(!rising.update(.6));
  CHECK(rising.update(.6));
  CHECK(other.learning_rate().item<float>() == .1f);
  CHECK(rising.variables().size() == 3);
  CHECK_THROWS_AS(ReduceLROnPlateau(sgd, {.factor = 1}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(ReduceLROnPlateau(sgd, {.patience = 0}), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(ReduceLROnPlateau(optimizers::SGD(CosineDecay(.1, 10))), ContainsSubstring("is a schedule"));
}
