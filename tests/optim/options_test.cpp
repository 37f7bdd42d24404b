// The options of all optimizers: clipping, weight decay; row-sparse gradients against dense ones; wrong options.
#include <cmath>
#include <limits>
#include <vector>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/optim/clip.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tandem/optim/schedules.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;
using namespace tandem::optimizers;

namespace {

using Floats = std::vector<float>;

// Calls f with each optimizer, with options that matter on rows.
template <class F>
void for_each_optimizer(const F& f) {
  f("SGD", SGD({.learning_rate = .1, .weight_decay = .1}));
  f("momentum", SGD({.learning_rate = .1, .momentum = .9, .nesterov = true, .weight_decay = .1}));
  f("RMSprop", RMSprop({.learning_rate = .1, .momentum = .5, .centered = true, .weight_decay = .1}));
  f("Adam", Adam({.learning_rate = .1, .amsgrad = true, .weight_decay = .1}));
  f("AdamW", AdamW({.learning_rate = .1, .weight_decay = .1}));
  f("Adamax", Adamax({.learning_rate = .1, .weight_decay = .1}));
  f("Nadam", Nadam({.learning_rate = .1, .weight_decay = .1}));
  f("Lamb", Lamb({.learning_rate = .1, .weight_decay = .1}));
  f("Lion", Lion({.learning_rate = .1, .weight_decay = .1}));
  f("ScheduleFreeAdamW", ScheduleFreeAdamW({.learning_rate = .1, .weight_decay = .1}));
  f("Adagrad", Adagrad({.learning_rate = .1, .weight_decay = .1}));
  f("Adadelta", Adadelta({.learning_rate = 1., .weight_decay = .1}));
  f("Ftrl", Ftrl({.learning_rate = .1, .l1_regularization_strength = .01, .weight_decay = .1}));
}
// What a step with this gradient does to zeros: minus the gradient that the update has seen.
Floats seen(const SGDOptions& options, const std::vector<Gradient>& g) {
  const SGD sgd(options);
  std::vector<Variable> w;
  for (const Gradient& x : g) w.emplace_back(x.is_set() ? zeros(x.shape()) : constant(7.f));
  sgd.apply_gradients(g, w);
  Floats all;
  for (const Variable& v : w)
    for (const float x : v.to_vector<float>()) all.push_back(-x);
  return all;
}
const std::vector<Gradient> gradients() {
  return {Gradient(constant({3.f, 4.f})), Gradient(), Gradient(constant(std::vector<float>{12}))};
}

}  // namespace

TEST_CASE("optimizers: clipping") {
  CHECK(seen({.learning_rate = 1}, gradients()) == Floats{3, 4, -7, 12});
  CHECK(seen({.learning_rate = 1, .clipnorm = 2.5}, gradients()) == Floats{1.5, 2, -7, 2.5});
  CHECK(seen({.learning_rate = 1, .clipvalue = 3.5}, gradients()) == Floats{3, 3.5, -7, 3.5});
  CHECK(seen({.learning_rate = 1, .global_clipnorm = 6.5}, gradients()) == Floats{1.5, 2, -7, 6});
  CHECK(seen({.learning_rate = 1, .global_clipnorm = 100}, gradients()) == Floats{3, 4, -7, 12});
  CHECK(seen({.learning_rate = 1, .clipnorm = std::nullopt}, gradients()) == Floats{3, 4, -7, 12});
  const Gradient inf(constant(std::vector<float>{std::numeric_limits<float>::infinity()}));
  CHECK_THROWS_AS(seen({.learning_rate = 1, .global_clipnorm = 1}, {gradients()[0], inf}),
                  errors::InvalidArgumentError);
  // Row-sparse gradients stay so, and count their values.
  const Variable table(zeros({4, 2}));
  const IndexedSlices rows{constant({{3.f, 4.f}}), constant({2}), table};
  Adam({.learning_rate = 1, .clipnorm = 1}).apply_gradients({Gradient(rows)}, {table});
  for (std::size_t i = 0; i < 8; ++i) CHECK((table.to_vector<float>()[i] != 0) == (i / 2 == 2));
}

TEST_CASE("optimizers: clipping in a traced step") {
  for (const bool traced : {false, true}) {
    const Variable a(constant({3.f, 4.f})), b(constant(std::vector<float>{12}));
    const SGD sgd({.learning_rate = .5, .global_clipnorm = 13});
    const auto step = [&] { sgd.minimize([&] { return reduce_sum(square(a)) + reduce_sum(square(b)); }, {a, b}); };
    const auto f = function([&] { step(); });
    if (traced) f();
    else step();
    CHECK(a.to_vector<float>() == Floats{1.5, 2});
    CHECK(b.to_vector<float>() == Floats{6});
  }
}

TEST_CASE("clip_by_norm along axes, clip_by_global_norm with a known norm") {
  const Tensor t = constant({{3.f, 4.f}, {.3f, .4f}, {0.f, 0.f}});
  CHECK(clip_by_norm(t, 1, {.axes = {1}}).to_vector<float>()[0] == Approx(.6));
  CHECK(clip_by_norm(t, 1, {.axes = -1}).to_vector<float>()[3] == .4f);
  CHECK(clip_by_norm(t, 1, {.axes = {0, 1}}).to_vector<float>() == clip_by_norm(t, 1).to_vector<float>());
  CHECK_THROWS_WITH(clip_by_norm(t, -1, {.name = "mine"}), ContainsSubstring("mine"));
  const ClippedGradients c = clip_by_global_norm(gradients(), 5, {.use_norm = constant(10.f)});
  CHECK(c.gradients[2].tensor().item<float>() == 6);
  CHECK(c.norm.item<float>() == 10);
}

TEST_CASE("optimizers: weights decay before the update, those with a gradient alone") {
  const Variable w(constant({2.f, -4.f})), other(constant({8.f}));
  const SGD sgd({.learning_rate = .5, .weight_decay = .25});
  sgd.apply_gradients({Gradient(constant({1.f, 0.f})), Gradient()}, {w, other});
  CHECK(w.to_vector<float>() == Floats{2 * .875f - .5f, -4 * .875f});
  CHECK(other.to_vector<float>() == Floats{8});
  // The form with the decay inside of the update has the numbers of the one with an op before it.
  const Variable a(constant({1., -2.})), b(constant({1., -2.}));
  const AdamW inside({.learning_rate = .1, .weight_decay = .5});
  const Adam before({.learning_rate = .1, .weight_decay = .5});
  for (int i = 0; i < 4; ++i) {
    inside.minimize([&] { return reduce_sum(square(a)); }, {a});
    before.minimize([&] { return reduce_sum(square(b)); }, {b});
  }
  CHECK(a.to_vector<float>() == b.to_vector<float>());
}

TEST_CASE("optimizers: row-sparse gradients change their rows as dense ones, and no others") {
  for_each_optimizer([](const char* name, const Optimizer& optimizer) {
    for (const bool traced : {false, true}) {
      INFO(name << (traced ? ", traced" : ""));
      const Tensor start = reshape(range(1.f, 13.f), {4, 3});
      const Variable table(start), rows(gather(start, constant({3, 1})));
      const auto values = constant({{1.f, 2.f, -3.f}, {-4.f, 5.f, 6.f}, {.5f, 0.f, 1.f}});
      const auto step = [&] {  // row 3 occurs twice
        optimizer.apply_gradients({Gradient(IndexedSlices{values, constant({3, 1, 3}), table})}, {table});
        optimizer.apply_gradients({Gradient(constant({{1.5f, 2.f, -2.f}, {-4.f, 5.f, 6.f}}))}, {rows});
      };
      const auto f = function([&] { step(); });
      for (int i = 0; i < 3; ++i) {
        if (traced) f();
        else step();
      }
      const Floats all = table.to_vector<float>(), two = rows.to_vector<float>(), before = start.to_vector<float>();
      for (std::size_t c = 0; c < 3; ++c) {
        CHECK(all[c] == before[c]);
        CHECK(all[6 + c] == before[6 + c]);
        // The two have different numbers of steps: compared with an optimizer of each below.
        CHECK(all[9 + c] != before[9 + c]);
      }
      CHECK(two.size() == 6);
    }
  });
  // One optimizer for each: the same numbers.
  std::vector<Floats> sparse, dense;
  for (const bool is_sparse : {true, false})
    for_each_optimizer([&](const char*, const Optimizer& optimizer) {
      const Tensor start = reshape(range(1.f, 13.f), {4, 3});
      const Variable w(is_sparse ? start : gather(start, constant({1, 3})));
      for (int i = 0; i < 4; ++i) {
        const Tensor g = constant({{-4.f, 5.f, 6.f}, {1.5f, 2.f, -2.f}}) / static_cast<float>(i + 1);
        if (is_sparse) optimizer.apply_gradients({Gradient(IndexedSlices{g, constant({1, 3}), w})}, {w});
        else optimizer.apply_gradients({Gradient(g)}, {w});
      }
      (is_sparse ? sparse : dense)
          .push_back((is_sparse ? gather(w, constant({1, 3})) : w.read_value()).to_vector<float>());
    });
  REQUIRE(sparse.size() == 13);
  for (std::size_t k = 0; k < sparse.size(); ++k)
    for (std::size_t i = 0; i < 6; ++i) {
      INFO("optimizer " << k);
      CHECK(sparse[k][i] == Approx(dense[k][i]).epsilon(1e-6));
    }
}

TEST_CASE("optimizers: many Variables in a traced step have the numbers of eager ones") {
  for_each_optimizer([](const char* name, const Optimizer& optimizer) {
    INFO(name);
    std::vector<Variable> w{Variable(ones({3, 2})), Variable(constant(2.f)), Variable(zeros({0})),
                            Variable(ones({70}))};
    const auto step = [&] {
      optimizer.minimize(
          [&] {
            Tensor sum = constant(0.f);
            for (const Variable& v : w) sum = sum + reduce_sum(square(v));
            return sum;
          },
          w);
    };
    const auto f = function([&] { step(); });
    for (int i = 0; i < 3; ++i) f();
    std::vector<Floats> traced;
    for (const Variable& v : w) {
      traced.push_back(v.to_vector<float>());
      v.reset();
    }
    for (const Variable& v : optimizer.variables()) v.reset();
    for (int i = 0; i < 3; ++i) step();
    for (std::size_t k = 0; k < w.size(); ++k)
      for (std::size_t i = 0; i < traced[k].size(); ++i)
        CHECK(w[k].to_vector<float>()[i] == Approx(traced[k][i]).epsilon(1e-6));
  });
}

TEST_CASE("optimizers: wrong options raise") {
  using errors::InvalidArgumentError;
  CHECK_THROWS_WITH(SGD({.learning_rate = -.1}), ContainsSubstring("SGD: learning_rate must not be negative"));
  CHECK_THROWS_WITH(SGD({.learning_rate = -.1, .name = "mine"}), ContainsSubstring("options_test.cpp:"));
  CHECK_THROWS_AS(SGD(std::nan("")), InvalidArgumentError);
  CHECK_THROWS_WITH(AdamW({.weight_decay = -1}), ContainsSubstring("AdamW: weight_decay must not be negative"));
  CHECK_THROWS_AS(Adagrad({.weight_decay = -1}), InvalidArgumentError);
  CHECK_THROWS_WITH(Nadam({.beta_1 = 1}), ContainsSubstring("Nadam: beta_1 must be in [0, 1)"));
  CHECK_THROWS_AS(Adamax({.beta_2 = -.1}), InvalidArgumentError);
  CHECK_THROWS_AS(Lamb({.beta_2 = 1.5}), InvalidArgumentError);
  CHECK_THROWS_AS(Adam({.epsilon = -1}), InvalidArgumentError);
  CHECK_THROWS_WITH(Lion({.beta_1 = 0}), ContainsSubstring("Lion: beta_1 must be positive"));
  CHECK_THROWS_AS(Lion({.beta_2 = 1}), InvalidArgumentError);
  CHECK_THROWS_AS(ScheduleFreeAdamW({.beta_1 = 1}), InvalidArgumentError);
  CHECK_THROWS_WITH(ScheduleFreeAdamW({.warmup_steps = -1}), ContainsSubstring("warmup_steps must not be negative"));
  CHECK_THROWS_AS(Adadelta({.rho = 1}), InvalidArgumentError);
  CHECK_THROWS_AS(Adagrad({.initial_accumulator_value = -1}), InvalidArgumentError);
  CHECK_THROWS_AS(Ftrl({.learning_rate_power = .5}), InvalidArgumentError);
  CHECK_THROWS_AS(Ftrl({.learning_rate = 0}), InvalidArgumentError);
  CHECK_THROWS_AS(Ftrl({.l1_regularization_strength = -1}), InvalidArgumentError);
  CHECK_THROWS_WITH(SGD({.clipnorm = 0}), ContainsSubstring("clipnorm must be positive"));
  CHECK_THROWS_AS(SGD({.global_clipnorm = -1}), InvalidArgumentError);
  CHECK_THROWS_WITH(SGD({.clipnorm = 1, .clipvalue = 1}), ContainsSubstring("only one of"));
}

TEST_CASE("optimizers: compute_gradients, then apply_gradients") {
  const Variable w(constant({1.f, 2.f})), unused(5.f);
  const SGD sgd(.5);
  const auto pairs = sgd.compute_gradients([&] { return reduce_sum(square(w)); }, {w, unused});
  REQUIRE(pairs.size() == 2);
  CHECK(pairs[0].gradient.to_vector<float>() == Floats{2, 4});
  CHECK(!pairs[1].gradient.is_set());
  sgd.apply_gradients(pairs);
  CHECK(w.to_vector<float>() == Floats{0, 0});
  CHECK(unused.item<float>() == 5);
}

TEST_CASE("optimizers: a Variable as learning rate that is not on the host says where to make it") {
  const sim::Installed installed;
  const Variable rate(constant(0.1f).to(sim::device));
  CHECK_THROWS_WITH(SGD({.learning_rate = rate}),
                    ContainsSubstring("not float32[] on SIM:0; make it in the scope of tandem::device(\"CPU:0\")"));
}
