// Traced functions that several threads call at once: Variables, draws and the pool under them.
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
