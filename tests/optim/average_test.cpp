// Exponential moving averages and running means of weights, and their use as weights.
#include "tandem/optim/average.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

// Applies an average after each of 20 values, eagerly or in a traced step, and compares with a loop.
template <class Weight>
void check_average(const WeightAverage& average, const Variable& count, bool traced, const Weight& weight) {
  const Variable w(constant(std::vector<double>{4, -4})), x(constant(1.f));
  const auto step = [&](const Tensor& value) {
    w.assign(value);
    count.assign_add(1);
    average.apply({w, x});
  };
  const auto f = function([&](const Tensor& value) { step(value); });
  if (traced) average.build({w, x});
  double want[2] = {traced ? 4. : 0, traced ? -4. : 0};
  for (int i = 1; i <= 20; ++i) {
    const std::vector<double> value{std::sin(i), i * .5};
    if (traced) f(constant(value));
    else step(constant(value));
    if (i == 1 && !traced) want[0] = value[0], want[1] = value[1];
    for (std::size_t k = 0; k < 2; ++k) {
      want[k] += weight(i) * (value[k] - want[k]);
      CHECK(average.average(w).to_vector<double>()[k] == Approx(want[k]).epsilon(1e-12));
    }
    CHECK(w.to_vector<double>() == value);
  }
  CHECK(average.average(x).item<float>() == 1);
  CHECK(average.iterations().item<i64>() == 20);
}

}  // namespace

TEST_CASE("averages of weights against a loop") {
  for (const bool traced : {false, true}) {
    const Variable n(constant(i64{0}));
    check_average(ExponentialMovingAverage(.9), n, traced, [](int) { return 1 - .9; });
    check_average(StochasticWeightAverage(), n, traced, [](int i) { return 1. / i; });
    n.assign(0);
    check_average(ExponentialMovingAverage(.5, {.num_updates = n}), n, traced,
                  [](int i) { return 1 - std::min(.5, (1. + i) / (10. + i)); });
  }
}

TEST_CASE("averages as weights within a scope") {
  const Variable w(constant({1.f, 2.f})), other(3.f);
  const ExponentialMovingAverage ema(.5);
  CHECK_THROWS_AS(ema.swap_in(), errors::FailedPreconditionError);
  ema.apply({w});
  w.assign(constant({3.f, 6.f}));
  ema.apply({w});
  using Floats = std::vector<float>;
  const auto f = function([&] { return w * 1; });
  {
    const auto scope = ema.swap_in();
    CHECK(w.to_vector<float>() == Floats{2, 4});
    CHECK(f().to_vector<float>() == Floats{2, 4});
    CHECK(other.item<float>() == 3);
    w.assign(constant({9.f, 9.f}));
    CHECK(ema.average(w).to_vector<float>() == Floats{2, 4});
  }
  CHECK(w.to_vector<float>() == Floats{3, 6});
  CHECK(f().to_vector<float>() == Floats{3, 6});
  const auto g = function([&] { const auto scope = ema.swap_in(); });
  CHECK_THROWS_WITH(g(), ContainsSubstring("while a function is traced"));
  CHECK(w.to_vector<float>() == Floats{3, 6});
  ema.assign_averages();
  CHECK(w.to_vector<float>() == Floats{2, 4});
  w.assign_add(1);
  CHECK(ema.average(w).to_vector<float>() == Floats{2, 4});
  CHECK(!ema.average(w).trainable());
}

TEST_CASE("averages: wrong input raises") {
  CHECK_THROWS_WITH(ExponentialMovingAverage(1),
                    ContainsSubstring("ExponentialMovingAverage: decay must be in [0, 1)"));
  CHECK_THROWS_AS(ExponentialMovingAverage(-.1), errors::InvalidArgumentError);
  CHECK_THROWS_AS(ExponentialMovingAverage(.9, {.num_updates = Variable(1.f)}), errors::InvalidArgumentError);
  const StochasticWeightAverage swa;
  const Variable w(1.f, {.name = "w"}), whole(1, {.name = "whole"});
  CHECK(!swa.has_average(w));
  CHECK_THROWS_WITH(swa.average(w), ContainsSubstring("variable 'w' has no average"));
  CHECK_THROWS_WITH(swa.apply({w, whole}), ContainsSubstring("variable 'whole' is int32[]"));
  CHECK(!swa.has_average(w));
  CHECK(swa.iterations().item<i64>() == 0);
}

namespace {
// Its weight raises when it is told to.
struct Fragile : WeightAverage {
  bool* raises;
  explicit Fragile(bool& r) : WeightAverage("fragile"), raises(&r) {}
  Tensor weight_of(const Tensor&) const override {
    if (*raises) throw std::runtime_error("no weight");
    return constant(.5, DType::float64);
  }
};
}  // namespace

TEST_CASE("average: a call that raises is not counted") {
  bool raises = false;
  const Fragile average(raises);
  const Variable w(constant({1.f, 2.f}));
  average.apply({w});
  raises = true;
  CHECK_THROWS_AS(average.apply({w}), std::runtime_error);
  CHECK(average.iterations().item<i64>() == 1);
  raises = false;
  average.apply({w});
  CHECK(average.iterations().item<i64>() == 2);
}
