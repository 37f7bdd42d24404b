// Tapes at their limits: a million ops, many inputs, memory that is given back, several threads.
#include <cmath>
#include <thread>

#include "tandem/autodiff/tape.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("tape: a chain of a million ops neither overflows nor leaks") {
  const Tensor x = constant(1.0, {.dtype = float64}), rate = constant(1.000001, {.dtype = float64});
  const auto run_chain = [&](bool differentiate) {
    GradientTape tape;
    tape.watch(x);
    Tensor y = x;
    for (int i = 0; i < 1000000; ++i) y = y * rate;
    return differentiate ? tape.gradient(y, x).item<double>() : y.item<double>();
  };
  const std::int64_t before = memory::info().live;
  CHECK(run_chain(true) == Approx(std::exp(1.0)).epsilon(1e-5));
  CHECK(run_chain(false) == Approx(std::exp(1.0)).epsilon(1e-5));  // destruction without a gradient
  CHECK(memory::info().live - before < 65536);
}

TEST_CASE("tape: going back frees what was saved") {
  constexpr std::int64_t large = 1 << 20;
  const Tensor x = zeros({large / 4});
  GradientTape tape;
  tape.watch(x);
  Tensor y = x;
  for (int i = 0; i < 20; ++i) y = exp(y) * 0.5;
  const std::int64_t recorded = memory::info().live;
  memory::reset_peak();
  const Tensor g = tape.gradient(y, x);
  const memory::Info after = memory::info();
  CHECK(after.peak - recorded < 8 * large);
  CHECK(recorded - after.live > 15 * large);
  CHECK(g.size() == x.size());
}

TEST_CASE("tape: an op of many inputs") {
  std::vector<Tensor> x;
  GradientTape tape;
  for (int i = 0; i < 300; ++i) {
    x.push_back(constant({static_cast<float>(i)}));
    tape.watch(x.back());
  }
  const Tensor y = concat(x, 0);
  const std::vector<Tensor> g = tape.gradient(y * y, x);
  for (int i = 0; i < 300; ++i) CHECK(g[static_cast<std::size_t>(i)].item<float>() == 2.f * static_cast<float>(i));
}

TEST_CASE("tape: an op of more inputs than 16 bits count, eager and as a traced call") {
  constexpr std::size_t n = 70000;
  const Tensor q = constant(3.f), one = constant(1.f);
  const auto first_of = [&](const Tensor& x) {
    std::vector<Tensor> list(n, one);
    list[0] = x;
    list[n - 1] = x * 2;
    return stack(list);
  };
  const auto slope = [&](const auto& f) {
    GradientTape tape;
    tape.watch(q);
    const Tensor y = f(q);
    return tape.gradient(reduce_sum(y * y), q).template item<float>();
  };
  CHECK(slope(first_of) == 30);
  CHECK(slope(function(first_of)) == 30);
  const auto taken = [&](const Tensor& x) {  // many outputs
    const std::vector<Tensor> parts = unstack(x * ones({static_cast<i64>(n)}));
    return parts[0] + parts[n - 1];
  };
  CHECK(slope(taken) == 24);
}

TEST_CASE("tape: many tapes one behind the other") {
  const Tensor x = constant(2.f);
  for (int i = 0; i < 10000; ++i) {
    GradientTape tape;
    tape.watch(x);
    REQUIRE(tape.gradient(x * x, x).item<float>() == 4);
  }
}

TEST_CASE("tape: each thread has its own, on tensors that they share") {
  const Tensor shared = constant({1.f, 2.f, 3.f});
  std::vector<std::vector<float>> got(4);
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < got.size(); ++k)
    threads.emplace_back([&, k] {
      for (int i = 0; i < 200; ++i) {
        GradientTape tape({.persistent = true});
        tape.watch(shared);
        const Tensor y = shared * shared * static_cast<float>(k);
        got[k] = tape.gradient(y, shared).to_vector<float>();
      }
    });
  GradientTape here;
  here.watch(shared);
  const Tensor mine = shared * 7;
  for (std::thread& t : threads) t.join();
  for (std::size_t k = 0; k < got.size(); ++k)
    CHECK(got[k] ==
          std::vector<float>{2.f * static_cast<float>(k), 4.f * static_cast<float>(k), 6.f * static_cast<float>(k)});
  CHECK(here.gradient(mine, shared).to_vector<float>() == std::vector<float>{7, 7, 7});
}

TEST_CASE("tape: a tape does not hear of other threads' ops") {
  const Tensor x = constant(2.f);
  GradientTape tape;
  tape.watch(x);
  Tensor elsewhere;
  std::thread([&] { elsewhere = x * x; }).join();
  const Tensor y = x * elsewhere;
  CHECK(tape.gradient(y, x).item<float>() == 4);
}
