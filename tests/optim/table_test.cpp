// Every optimizer's first five steps on f(w) = w^2 against the values of its formula, eager and traced.
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

using Path = std::vector<double>;

// w after steps 1 to 5 from 1 with g = 2 w.
Path walk(const Optimizer& optimizer, DType dtype, bool traced) {
  const Variable w(constant(std::vector<double>{1}, dtype));
  const auto step = [&] { optimizer.minimize([&] { return reduce_sum(square(w)); }, {w}); };
  const auto f = function([&] { step(); });
  Path path;
  for (int i = 0; i < 5; ++i) {
    if (traced) f();
    else step();
    path.push_back(cast(w, float64).item<double>());
  }
  return path;
}
// The learning rate as a float64 Variable: that of a number is a float32 one, in which .1 is .1 + 1.5e-9.
template <class Make>
void check_path(const std::string& name, const Make& make, double rate, const Path& want) {
  for (const bool traced : {false, true}) {
    INFO(name << (traced ? ", traced" : ""));
    const Path exact = walk(make(Variable(constant(rate, float64))), float64, traced);
    const Path scheduled = walk(make([&](const Tensor&) { return constant(rate, float64); }), float64, traced);
    const Path number = walk(make(rate), float64, traced), single = walk(make(rate), float32, traced);
    for (std::size_t i = 0; i < want.size(); ++i) {
      INFO("step " << i + 1);
      CHECK(std::fabs(exact[i] - want[i]) < 5.01e-9);  // all printed digits
      CHECK(scheduled[i] == exact[i]);
      CHECK(std::fabs(number[i] - want[i]) < 3e-8);
      CHECK(std::fabs(single[i] - want[i]) < 1e-6);
    }
  }
}

}  // namespace

TEST_CASE("optimizers: five steps on w^2, to all printed digits") {
  using namespace optimizers;
  using R = LearningRate;
  const double lr = .1;
  check_path("SGD", [](R r) { return SGD(r); }, lr, {.8, .64, .512, .4096, .32768});
  check_path("momentum", [](R r) { return SGD(r, .9); }, lr, {.8, .46, .062, -.3086, -.58042});
  check_path("Nesterov", [](R r) { return SGD(r, .9, true); }, lr, {.62, .2224, -.108352, -.32482304, -.41571758});
  check_path("RMSprop", [](R r) { return RMSprop(r); }, lr, {.68377227, .49887066, .36918060, .27282494, .19979520});
  check_path("RMSprop, momentum", [](R r) { return RMSprop(r, .9, .9); }, lr,
             {.68377227, .21426570, -.26825664, -.62575630, -.78542035});
  check_path("RMSprop, centered", [](R r) { return RMSprop({.learning_rate = r, .centered = true}); }, lr,
             {.66666671, .46556773, .32356946, .22042609, .14637463});
  const Path adam{.90000016, .80041250, .70158664, .60393952, .50796419};
  check_path(
      "Adam", [](R r) { return Adam(r); }, lr, adam);
  check_path(
      "Adam, amsgrad", [](R r) { return Adam({.learning_rate = r, .amsgrad = true}); }, lr, adam);
  const Path adamw{.89960016, .79965498, .70051590, .60260194, .50640854};
  check_path(
      "AdamW", [](R r) { return AdamW(r); }, lr, adamw);
  check_path(
      "AdamW, amsgrad", [](R r) { return AdamW({.learning_rate = r, .amsgrad = true}); }, lr, adamw);
  check_path(
      "Adam, decay", [](R r) { return Adam({.learning_rate = r, .weight_decay = .004}); }, lr, adamw);
  check_path("Adagrad", [](R r) { return Adagrad(r); }, lr, {.90122704, .83473728, .78229920, .73819354, .69976950});
  check_path("Adadelta", [](R r) { return Adadelta(r); }, 1, {.99858579, .99715455, .99571246, .99426262, .99280686});
  check_path("Adamax", [](R r) { return Adamax(r); }, lr, {.9, .80516834, .71549949, .63097309, .55155382});
  check_path("Nadam", [](R r) { return Nadam(r); }, lr, {.89372122, .82024504, .75467428, .69171839, .62975307});
  check_path("Ftrl", [](R r) { return Ftrl(r); }, lr, {.74505328, .68578198, .63788958, .59719692, .56159614});
}

TEST_CASE("Ftrl: all options against a loop") {
  struct Case {
    double power, l1, l2, shrinkage, beta, accumulator;
  };
  for (const Case& c : {Case{-.5, .3, .2, .1, .4, .1}, Case{-.7, 0, .1, 0, 0, .5}, Case{0, .2, 0, 0, 1, 0},
                        Case{-.5, 20, 0, 0, 0, .1}}) {
    const double lr = .25;  // exact in float32
    const optimizers::Ftrl ftrl({.learning_rate = lr,
                                 .learning_rate_power = c.power,
                                 .initial_accumulator_value = c.accumulator,
                                 .l1_regularization_strength = c.l1,
                                 .l2_regularization_strength = c.l2,
                                 .l2_shrinkage_regularization_strength = c.shrinkage,
                                 .beta = c.beta});
    const Path got = walk(ftrl, float64, false);
    double w = 1, n = c.accumulator, z = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      const double g = 2 * w, next = n + g * g, before = std::pow(n, -c.power), after = std::pow(next, -c.power);
      z += g + 2 * c.shrinkage * w - (after - before) / lr * w;
      n = next;
      const double sign = z > 0 ? 1 : -1;
      w = std::fabs(z) > c.l1 ? (sign * c.l1 - z) / (after / lr + 2 * c.l2 + c.beta / lr) : 0;
      INFO("power " << c.power << ", step " << i + 1);
      CHECK(got[i] == Approx(w).epsilon(1e-12));
    }
  }
  // Without any gradient so far there is nothing to divide by.
  const Variable w(constant({2.f, 3.f}));
  const optimizers::Ftrl ftrl({.initial_accumulator_value = 0});
  ftrl.apply_gradients({Gradient(constant({0.f, 1.f}))}, {w});
  CHECK(w.to_vector<float>()[0] == 2);
  CHECK(std::isfinite(w.to_vector<float>()[1]));
}

TEST_CASE("Adam, amsgrad: the largest v stays") {
  const optimizers::Adam adam({.learning_rate = .5, .beta_2 = .5, .amsgrad = true});
  const Variable w(constant(std::vector<double>{1}));
  double m = 0, v = 0, largest = 0, want = 1;
  for (int t = 1; t <= 6; ++t) {
    const double g = t == 1 ? 10 : .5;
    adam.apply_gradients({Gradient(constant(std::vector<double>{g}))}, {w});
    m = .9 * m + (1 - .9) * g, v = .5 * v + .5 * g * g, largest = std::max(largest, v);
    want -= .5 * std::sqrt(1 - std::pow(.5, t)) / (1 - std::pow(.9, t)) * m / (std::sqrt(largest) + 1e-7);
    CHECK(w.item<double>() == Approx(want).epsilon(1e-12));
  }
  CHECK(largest == 50);
}

TEST_CASE("Lamb against a loop, eager and traced") {
  for (const bool traced : {false, true})
    for (const double decay : {0., .1}) {
      const double lr = .125;
      const optimizers::Lamb lamb({.learning_rate = lr, .weight_decay = decay});
      std::vector<double> w{1, -2, 3, .5}, m(4), v(4);
      const Variable x(constant(w)), zero(constant(std::vector<double>{0, 0}));
      const auto step = [&] { lamb.minimize([&] { return reduce_sum(square(x)) + reduce_sum(zero); }, {x, zero}); };
      const auto f = function([&] { step(); });
      for (int t = 1; t <= 5; ++t) {
        if (traced) f();
        else step();
        double ww = 0, uu = 0;
        std::vector<double> u(4);
        for (std::size_t i = 0; i < 4; ++i) {
          const double g = 2 * w[i];
          w[i] -= lr * decay * w[i];
          m[i] = .9 * m[i] + (1 - .9) * g, v[i] = .999 * v[i] + (1 - .999) * g * g;
          u[i] = m[i] / (1 - std::pow(.9, t)) / (std::sqrt(v[i] / (1 - std::pow(.999, t))) + 1e-7);
          ww += w[i] * w[i], uu += u[i] * u[i];
        }
        for (std::size_t i = 0; i < 4; ++i) {
          w[i] -= lr * std::sqrt(ww / uu) * u[i];
          CHECK(x.to_vector<double>()[i] == Approx(w[i]).epsilon(1e-12));
        }
        if (t == 1) CHECK(zero.to_vector<double>()[0] == Approx(-lr));  // |w| is 0: the ratio is 1
      }
    }
}

TEST_CASE("Lion against a loop, eager and traced; NaN and zeros") {
  for (const bool traced : {false, true}) {
    const optimizers::Lion lion({.learning_rate = .125, .beta_1 = .5, .beta_2 = .75});
    std::vector<double> w{1, -2, .1, .5}, m(4);
    const Variable x(constant(w));
    const auto step = [&] { lion.minimize([&] { return reduce_sum(square(x)); }, {x}); };
    const auto f = function([&] { step(); });
    for (int t = 1; t <= 5; ++t) {
      if (traced) f();
      else step();
      for (std::size_t i = 0; i < 4; ++i) {
        const double g = 2 * w[i], u = .5 * m[i] + .5 * g;
        w[i] -= .125 * (u > 0 ? 1 : u < 0 ? -1 : 0);
        m[i] = .75 * m[i] + .25 * g;
      }
      CHECK(x.to_vector<double>() == w);
    }
  }
  const Variable v(constant({1.f, 2.f, 3.f}));
  optimizers::Lion(.5).apply_gradients({Gradient(constant({0.f, NAN, 1e30f}))}, {v});
  CHECK(v.to_vector<float>()[0] == 1);
  CHECK(std::isnan(v.to_vector<float>()[1]));
  CHECK(v.to_vector<float>()[2] == 2.5f);
}
TEST_CASE("ScheduleFreeAdamW against a loop that keeps the average, eager and traced") {
  for (const bool traced : {false, true})
    for (const int warmup : {0, 3}) {
      const double lr = .125, decay = .25;
      const optimizers::ScheduleFreeAdamW optimizer(
          {.learning_rate = lr, .beta_1 = .75, .beta_2 = .5, .warmup_steps = warmup, .weight_decay = decay});
      std::vector<double> w{1, -2, .1, .5}, z = w, v(4);
      const Variable variable(constant(w));
      const auto step = [&] { optimizer.minimize([&] { return reduce_sum(square(variable)); }, {variable}); };
      const auto f = function([&] { step(); });
      for (int t = 1; t <= 5; ++t) {
        if (traced) f();
        else step();
        const double rate = lr * (warmup ? std::min(1., t / double(warmup)) : 1);
        for (std::size_t i = 0; i < 4; ++i) {
          const double g = 2 * w[i];
          w[i] -= lr * decay * w[i];
          if (t == 1) z[i] = w[i];
          double x = (w[i] - .25 * z[i]) / .75;
          v[i] = .5 * v[i] + .5 * g * g;
          z[i] -= rate * g / (std::sqrt(v[i] / (1 - std::pow(.5, t))) + 1e-8);
          x += (z[i] - x) / t;
          w[i] = .25 * z[i] + .75 * x;
          CHECK(variable.to_vector<double>()[i] == Approx(w[i]).epsilon(1e-12));
        }
      }
    }
}
TEST_CASE("ScheduleFreeAdamW: weights that are assigned after build()") {
  for (const DType d : {float32, float64, bfloat16})
    for (const i64 n : {3, 20000}) {  // one by one, and several Variables at once
      const Variable a(zeros({n}, d)), b(zeros({n}, d)), rows(zeros({n, 2}, d));
      const optimizers::ScheduleFreeAdamW optimizer(.125);
      optimizer.build({a, b, rows});
      for (const Variable& w : {a, b, rows}) w.assign(full_like(w, 100));
      const auto step = [&](const std::vector<i64>& indices) {
        const Tensor values = zeros({static_cast<i64>(indices.size()), 2}, d);
        const Gradient some = IndexedSlices{values, constant(indices), rows};
        optimizer.apply_gradients({Gradient(zeros({n}, d)), Gradient(zeros({n}, d)), some}, {a, b, rows});
      };
      step({0, 2});
      step({1, 2});  // row 1 for the first time
      for (const Variable& w : {a, b, rows}) CHECK(reduce_all(equal(w, 100)).item<bool>());
    }
  const Variable w(zeros({2})), same(fill({2}, 100.f));
  const optimizers::ScheduleFreeAdamW late(.125), early(.125);
  late.build({w});
  w.assign(same);
  for (int i = 0; i < 3; ++i) {
    late.apply_gradients({Gradient(constant({1.f, -2.f}))}, {w});
    early.apply_gradients({Gradient(constant({1.f, -2.f}))}, {same});
    CHECK(w.to_vector<float>() == same.to_vector<float>());
  }
}
TEST_CASE("Squares of gradients beyond float32: the element stays, clipping moves it") {
  const std::vector<Optimizer> all{optimizers::Adam(.1),    optimizers::AdamW(.1, 0), optimizers::Nadam(.1),
                                   optimizers::RMSprop(.1), optimizers::Adagrad(.1),  optimizers::Adadelta(1.)};
  for (const Optimizer& optimizer : all) {
    INFO(optimizer.settings());
    const Variable w(constant({1.f, 1.f}));
    for (int i = 0; i < 2; ++i) optimizer.apply_gradients({Gradient(constant({1e25f, 1.f}))}, {w});
    CHECK(w.to_vector<float>()[0] == 1);
    CHECK((w.to_vector<float>()[1] < 1 && w.to_vector<float>()[1] > 0));
  }
  const Variable w(constant({1.f, 1.f}));
  const optimizers::Adam clipped({.learning_rate = .1, .clipvalue = 1});
  clipped.apply_gradients({Gradient(constant({1e25f, 1.f}))}, {w});
  CHECK(w.to_vector<float>()[0] == Approx(.9));
}
