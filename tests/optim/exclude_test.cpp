// Optimizer::exclude_from_weight_decay: by handle and by name, for decay inside and outside of the update, joined
// updates, row-sparse gradients, traced steps, errors.
#include "tandem/layers/all.hpp"
#include "tandem/optim/optimizers.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using namespace tandem::optimizers;
using Catch::Matchers::ContainsSubstring;
using testing::wave;

namespace {

std::vector<float> values(const Variable& v) { return v.to_vector<float>(); }

// Three Variables, two of them excluded: these take the steps of the optimizer without decay.
template <class Make>
void check_excluded(const Make& make, i64 n) {
  for (const bool traced : {false, true}) {
    CAPTURE(traced, n);
    const Tensor start = wave({n});
    const Variable kernel(start, {.name = "kernel"}), bias(start, {.name = "bias"}), gamma(start, {.name = "gamma"});
    const Variable decayed(start), plain(start);
    const Optimizer some = make(0.1), all = make(0.1), none_of_it = make(0);
    some.exclude_from_weight_decay({.var_list = {gamma}, .var_names = {"bia"}});
    const auto loss = [](const std::vector<Variable>& v) {
      Tensor sum = constant(0.f);
      for (const Variable& x : v) sum = sum + reduce_sum(square(x - 0.3f));
      return sum;
    };
    const auto step = [&] {
      const std::vector<Variable> three{bias, kernel, gamma};
      some.minimize([&] { return loss(three); }, three);
      all.minimize([&] { return loss({decayed}); }, {decayed});
      none_of_it.minimize([&] { return loss({plain}); }, {plain});
    };
    const auto f = function([&] { step(); });
    for (int i = 0; i < 3; ++i) traced ? f() : step();
    CHECK(values(kernel) == values(decayed));
    CHECK(values(bias) == values(plain));
    CHECK(values(gamma) == values(plain));
    CHECK(values(plain) != values(decayed));
  }
}

}  // namespace

TEST_CASE("exclude_from_weight_decay: every way of decay") {
  const LearningRate lr = .05;
  for (const i64 n : {3, 20000}) {  // one by one, and joined
    check_excluded([&](double d) { return AdamW({.learning_rate = lr, .weight_decay = d}); }, n);
    check_excluded([&](double d) { return AdamW({.learning_rate = lr, .weight_decay = d, .amsgrad = true}); }, n);
    check_excluded([&](double d) { return Adam({.learning_rate = lr, .weight_decay = d}); }, n);
    check_excluded([&](double d) { return SGD({.learning_rate = lr, .momentum = .9, .weight_decay = d}); }, n);
  }
  check_excluded([&](double d) { return Lamb({.learning_rate = lr, .weight_decay = d}); }, 3);
  check_excluded([&](double d) { return Adagrad({.learning_rate = lr, .weight_decay = d}); }, 3);
  check_excluded([&](double d) { return RMSprop({.learning_rate = lr, .weight_decay = d}); }, 3);
  check_excluded([&](double d) { return Nadam({.learning_rate = lr, .weight_decay = d}); }, 3);
  check_excluded([&](double d) { return Adamax({.learning_rate = lr, .weight_decay = d}); }, 3);
  check_excluded([&](double d) { return Adadelta({.learning_rate = lr, .weight_decay = d}); }, 3);
  check_excluded([&](double d) { return Lion({.learning_rate = lr, .weight_decay = d}); }, 3);
  check_excluded([&](double d) { return ScheduleFreeAdamW({.learning_rate = lr, .weight_decay = d}); }, 3);
  check_excluded([&](double d) { return Ftrl({.learning_rate = lr, .weight_decay = d}); }, 3);
}
TEST_CASE("exclude_from_weight_decay: the biases of a model; a decay alone moves the rest") {
  const layers::Sequential net{layers::Dense(3), layers::LayerNormalization(), layers::Dense(1)};
  net.build({none, 2});
  for (const Variable& v : net.variables()) v.assign(ones_like(v));
  const AdamW adamw({.learning_rate = .5, .weight_decay = .5});
  adamw.exclude_from_weight_decay({.var_names = {"bias", "gamma", "beta"}});
  std::vector<Gradient> zero;
  for (const Variable& v : net.trainable_variables()) zero.push_back(Gradient(zeros_like(v)));
  adamw.apply_gradients(zero, net.trainable_variables());
  for (const Module::Named& n : net.named_variables()) {
    CAPTURE(n.path);
    const bool is_kernel = n.path.find("kernel") != std::string::npos;
    CHECK(reduce_min(n.variable).item<float>() == (is_kernel ? .75f : 1));
  }
}
TEST_CASE("exclude_from_weight_decay: row-sparse gradients") {
  for (const bool excluded : {false, true}) {
    const Variable table(ones({3, 2}));
    const AdamW adamw({.learning_rate = .5, .weight_decay = .5});
    if (excluded) adamw.exclude_from_weight_decay({.var_list = {table}});
    adamw.apply_gradients({Gradient(IndexedSlices{zeros({1, 2}), constant({1}), table})}, {table});
    CHECK(table.value()(1, 0).item<float>() == (excluded ? 1 : .75f));
    CHECK(table.value()(0, 0).item<float>() == 1);
  }
}
TEST_CASE("exclude_from_weight_decay: before the first step, and parts of names") {
  const Variable w(ones({2}), {.name = "w"});
  const AdamW adamw({.learning_rate = .5, .weight_decay = .5});
  CHECK_THROWS_WITH(adamw.exclude_from_weight_decay({.var_names = {"^bias$"}}), ContainsSubstring("regular"));
  CHECK_THROWS_AS(adamw.exclude_from_weight_decay({.var_names = {""}}), errors::InvalidArgumentError);
  const AdamW copy = adamw;  // a handle to the same optimizer
  copy.exclude_from_weight_decay({.var_names = {"w"}});
  adamw.apply_gradients({Gradient(zeros({2}))}, {w});
  CHECK(values(w) == std::vector<float>{1, 1});
  CHECK_THROWS_AS(adamw.exclude_from_weight_decay({.var_list = {w}}), errors::FailedPreconditionError);
}
