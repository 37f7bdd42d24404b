// .debug of a function: frozen host values and traces that are not what eager code does are found and named.
#include "tandem/graph/debug/debug.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/layers/all.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/random/dropout.hpp"
#include "tandem/optim/optimizer.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("debug: a counter that is frozen into the trace is named, with both values and the way out") {
  float count = 0;
  const auto f = function(
      [&](const Tensor& x) {
        const Tensor y = exp(x);
        return multiply(y, constant(++count), {.name = "scaled"});
      },
      {.name = "counting", .debug = true});
  CHECK_THROWS_WITH(f(constant(1.f)), ContainsSubstring("counting") && ContainsSubstring("debug_test.cpp:") &&
                                          ContainsSubstring("Tensor(1") && ContainsSubstring("Tensor(2") &&
                                          ContainsSubstring("scaled") && ContainsSubstring("keep it in a Variable"));
  CHECK(f.trace_count() == 0);
}

TEST_CASE("debug: ops, attributes, results and Variables that change from trace to trace are named") {
  int n = 0;
  const auto ops = function([&](const Tensor& x) { return n++ % 2 ? sin(x) : cos(x); }, {.debug = true});
  CHECK_THROWS_WITH(ops(constant(1.f)), ContainsSubstring("it is cos and then sin"));
  const auto attributes = function([&](const Tensor& x) { return reduce_sum(x, n++ % 2); }, {.debug = true});
  CHECK_THROWS_WITH(attributes(ones({2, 2})), ContainsSubstring("axis is [0] and then [1]"));
  const auto plain = function([&](const Tensor& x) { return std::pair(x + 1, n++); }, {.debug = true});
  CHECK_THROWS_WITH(plain(constant(1.f)), ContainsSubstring("plain value"));
  const auto longer = function(
      [&](Tensor x) {
        for (int i = 0; i < 1 + n % 2; ++i) x = sqrt(x);
        ++n;
        return x;
      },
      {.debug = true});
  n = 0;
  CHECK_THROWS_WITH(longer(constant(1.f)), ContainsSubstring("only in the second trace"));
  const Variable a(constant(1.f), {.name = "a"}), b(constant(2.f), {.name = "b"});
  const auto variables = function([&] { return (n++ % 2 ? a : b).read_value() * 2; }, {.debug = true});
  CHECK_THROWS_WITH(variables(), ContainsSubstring("variable 'b'") && ContainsSubstring("'a'"));
}

TEST_CASE("debug: a Variable's value that was taken on the host shows, for the second trace sees another one") {
  const Variable rate(constant(0.5f));
  const auto f = function([&](const Tensor& x) { return x * rate.value_untracked().item<float>() + rate; },
                          {.name = "rated", .debug = true});
  CHECK_THROWS_WITH(f(constant(1.f)), ContainsSubstring("Tensor(0.5") && ContainsSubstring("Tensor(1.5"));
  CHECK(rate.item<float>() == 0.5f);
}

TEST_CASE("debug: what changes between calls is found by the comparison with eager") {
  float scale = 2;
  const auto f = function(
      [&](const Tensor& x) { return tandem::detail::sum_to_like(exp(multiply(x, scale, {.name = "times"})), x); },
      {.name = "scaling", .debug = true});
  CHECK(f(constant(0.f)).item<float>() == 1);
  scale = 3;
  CHECK_THROWS_WITH(f(constant(1.f)), ContainsSubstring("scaling") && ContainsSubstring("result 0") &&
                                          ContainsSubstring("'times'") && ContainsSubstring("debug_test.cpp:") &&
                                          ContainsSubstring("is 2, not 3"));
  scale = 2;
  CHECK_NOTHROW(f(constant(1.f)));
  scale = 3;  // after the first three calls nothing is compared
  CHECK(f(constant(1.f)).item<float>() == Approx(std::exp(2.f)));
}

TEST_CASE("debug: an effect that the trace lacks is found, and the state is as after one call") {
  const Variable v(constant(1), {.name = "total"});
  int calls = 0;
  const auto f = function(
      [&](const Tensor& x) {
        v.assign_add(x);
        if (++calls > 2) v.assign_add(x);
        return v.read_value();
      },
      {.debug = true});
  CHECK_THROWS_WITH(f(constant(1)), ContainsSubstring("result 0") || ContainsSubstring("total"));
  CHECK(v.item<int>() == 1);
  calls = -100;
  CHECK(f(constant(1)).item<int>() == 2);
  CHECK(v.item<int>() == 2);
}

TEST_CASE("debug: errors must come in both") {
  bool fail = false;
  const auto f = function(
      [&](const Tensor& x, const Tensor& i) {
        if (fail) errors::raise<errors::InvalidArgumentError>("mine", "no");
        return gather(x, i);
      },
      {.debug = true});
  const Tensor x = constant({1, 2});
  CHECK(f(x, constant(1)).item<int>() == 2);
  CHECK_THROWS_AS(f(x, constant(2)), errors::InvalidArgumentError);
  fail = true;
  CHECK_THROWS_WITH(f(x, constant(1)), ContainsSubstring("mine: no"));
}

TEST_CASE("debug: code without mistakes passes: training, random numbers, nested calls, open dims") {
  random::Generator generator(3);
  layers::Dense dense(4, {.activation = Activation::tanh});
  dense.build(3);
  optimizers::Adam adam({.learning_rate = 0.1});
  const std::vector<Variable> w = dense.variables();
  const auto inner = function([&](const Tensor& h) { return nn::dropout(h, {.rate = 0.5, .generator = &generator}); },
                              {.debug = true});
  const auto step = function(
      [&](const Tensor& x) {
        GradientTape tape;
        const Tensor loss = reduce_mean(square(inner(dense(x)))) + reduce_sum(zeros_like(w[0].value_untracked()));
        adam.apply_gradients(tape.gradient(loss, w), w);
        return loss;
      },
      {.name = "step", .reduce_retracing = true, .debug = true});
  const Tensor before = w[0].read_value();
  for (const i64 n : {2, 3, 4, 5, 6})
    for (int i = 0; i < 5; ++i) step(random::stateless_normal({n, 3}, {n, i}));
  CHECK(adam.iterations().item<i64>() == 25);
  CHECK(step.trace_count() == 2);
  CHECK(!value_difference(before, w[0].read_value()).empty());
}

TEST_CASE("debug: differences of values in words") {
  CHECK(value_difference(constant({1.f, 2.f}), constant({1.f, 2.f + 1e-6f})).empty());
  CHECK(value_difference(constant({{1.f, 2.f}}), constant({{1.f, 3.f}})) ==
        "element [0,1] is 3, not 2 (1 of 2 differ)");
  CHECK(value_difference(constant(1), constant(1.f)) == "it is float32[], not int32[]");
  CHECK(value_difference(constant(NAN), constant(NAN)).empty());
  CHECK(!value_difference(constant(NAN), constant(1.f)).empty());
  CHECK(!value_difference(constant({"a", "b"}), constant({"a", "c"})).empty());
  CHECK(value_difference(constant({true, false}), constant({true, false})).empty());
}
