// Traced functions that several threads call at once: Variables, draws and the pool under them.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "tandem/cpu/parallel.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/wave.hpp"

using namespace tandem;
using testing::wave;

TEST_CASE("function: calls that assign what the other one reads do not wait for each other") {
  const Variable a(constant(0.f)), b(constant(0.f));
  const auto from_b = function([&] { return a.assign(b * 0.5f + 1); });
  const auto from_a = function([&] { return b.assign(a * 0.5f + 1); });
  const auto many = [](const auto& f) {
    for (int i = 0; i < 2000; ++i) f();
  };
  std::thread other([&] { many(from_b); });
  many(from_a);
  other.join();
  from_b();
  CHECK(a.item<float>() == b.item<float>() * 0.5f + 1);
}

// How many steps another thread makes while a call of `read` waits, in the mean.
template <class Step, class Read>
i64 steps_while_reading(const Step& step, const Read& read) {
  std::atomic<bool> stop = false;
  std::atomic<i64> steps = 0;
  std::thread other([&] {
    for (; !stop; ++steps) step();
  });
  while (steps == 0) std::this_thread::yield();
  const i64 before = steps;
  constexpr int calls = 30;
  for (int i = 0; i < calls; ++i) read();
  const i64 made = steps - before;
  stop = true;
  other.join();
  return made / calls;
}

TEST_CASE("function: who reads what another thread trains without a pause soon gets through") {
  for (const bool plan : {true, false}) {
    const FunctionOptions how{.execution = {.plan = plan}};
    const std::vector<Variable> w{Variable(wave({128, 128}, 1)), Variable(wave({128}, 2)),
                                  Variable(wave({128, 128}, 3))};
    const optimizers::SGD sgd(1e-3);
    const Tensor x = wave({128, 128}, 4);
    const auto net = [&](const Tensor& in) { return matmul(tanh(matmul(in, w[0]) + w[1]), w[2]); };
    const auto step = function([&] { return sgd.minimize([&] { return reduce_mean(square(net(x))); }, w); }, how);
    const auto predict = function([&] { return net(x); }, how);
    const Variable calls(constant(0)), sum(constant(0.f));
    const auto counted = function(
        [&] {
          calls.assign_add(constant(1));
          sum.assign_add(reduce_sum(net(x)));
          return sum.value();
        },
        how);
    step(), predict(), counted();
    CHECK(steps_while_reading(step, predict) <= 60);
    CHECK(steps_while_reading(step, counted) <= 60);
    CHECK(steps_while_reading(step, [&] { return w[0].value(); }) <= 60);
    CHECK(calls.item<int>() == 31);
  }
}

// The reader may hold `low` when the step holds `high`, and the step's host function then waits for `low`.
TEST_CASE("function: who reads two Variables, and a step whose host function reads one of them, both go on") {
  std::vector<Variable> made{Variable(constant(1.f)), Variable(constant(2.f))};
  std::sort(made.begin(), made.end(), &VariableAccess::is_before);
  const Variable low = made[0], high = made[1], steps(constant(0));
  const auto step = function([&] {
    steps.assign_add(constant(1));
    high.assign(host_function(
        [&](const Tensor& x) {
          std::this_thread::yield();
          return x * 1 + (low.value() - low.value());
        },
        {high.value()}, TensorSpec({}, float32)));
    return high.value();
  });
  const auto both = function([&] { return low + high; });
  step(), both();
  std::atomic<bool> stop = false;
  std::thread other([&] {
    while (!stop) step();
  });
  int wrong = 0;
  for (int i = 0; i < 100; ++i) wrong += both().item<float>() != 3;
  stop = true;
  other.join();
  CHECK(wrong == 0);
}

TEST_CASE("function: calls from several threads at once") {
  const Variable count(constant(0));
  const auto f = function([&](const Tensor& x) {
    count.assign_add(constant(1));
    return reduce_sum(exp(x) * 2);
  });
  const Tensor x = wave({100}, 0);
  const float expected = reduce_sum(exp(x) * 2).item<float>();
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        if (f(x).item<float>() != Approx(expected)) ++wrong;
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(count.item<int>() == 800);
  CHECK(f.trace_count() == 1);
}

TEST_CASE("function: a training step that several threads run, with draws and work for the pool") {
  const int before = config::intra_op_parallelism_threads();
  config::set_intra_op_parallelism_threads(2);
  random::set_seed(5);
  const Variable w(random::normal({128, 256}, 0, 0.1f)), b(zeros({256}));
  const optimizers::Adam adam(1e-3);
  const auto step = function([&](const Tensor& x) {
    return adam.minimize([&] { return reduce_mean(square(nn::dropout(tanh(matmul(x, w) + b), {.rate = 0.1}) - 0.5f)); },
                         {w, b});
  });
  const Tensor x = wave({64, 128}, 1);
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 3; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 15; ++i) {
        step(x);
        if (!std::isfinite(reduce_sum(w * 1).item<float>())) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  config::set_intra_op_parallelism_threads(before);
  CHECK(wrong == 0);
  CHECK(step.trace_count() == 1);
  CHECK(adam.iterations().item<i64>() == 45);
}
