// Tapes destroyed where their thread's observers cannot be reached: inside a trace, on another thread.
#include <atomic>
#include <memory>
#include <thread>

#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {
std::unique_ptr<GradientTape> watching(const Tensor& x, TapeOptions options = {}) {
  auto tape = std::make_unique<GradientTape>(options);
  tape->watch(x);
  return tape;
}
}  // namespace

TEST_CASE("tape lifetime: destroyed inside a traced function, it is gone after the trace") {
  const Tensor x = constant(3.f);
  auto tape = watching(x), outer = watching(x);
  const auto f = function([&](const Tensor& a) {
    tape.reset();
    return a * 2;
  });
  CHECK(f(x).item<float>() == 6);
  const Tensor y = x * x;
  CHECK(outer->gradient(y, x).item<float>() == 6);  // the other one still records
  CHECK(context.observers == nullptr);
}

TEST_CASE("tape lifetime: destroyed inside a custom gradient's forward function") {
  const Tensor x = constant(3.f);
  auto tape = watching(x);
  custom_gradient(
      [&](const Tensor& a) {
        tape.reset();
        return std::pair(a * 2, [](const Tensor& g) { return g * 2; });
      },
      x);
  CHECK(context.observers == nullptr);
  CHECK((x * x).item<float>() == 9);
}

TEST_CASE("tape lifetime: made inside a trace, it may outlive it") {
  const Tensor x = constant(3.f);
  std::unique_ptr<GradientTape> tape;
  const auto f = function([&](const Tensor& a) {
    tape = watching(a);
    return a * a;
  });
  CHECK(f(x).item<float>() == 9);
  CHECK(context.observers == nullptr);
  CHECK((x * x).item<float>() == 9);
  tape.reset();
  CHECK((x * x).item<float>() == 9);
}

TEST_CASE("tape lifetime: spent inside a trace, it can be reset and used again") {
  const Tensor x = constant(3.f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = x * x;
  const auto f = function([&](const Tensor& a) { return a * tape.gradient(y, x); });
  CHECK(f(x).item<float>() == 18);
  CHECK(context.observers == nullptr);
  tape.reset();
  tape.watch(x);
  CHECK(tape.gradient(x * x * x, x).item<float>() == 27);
}

TEST_CASE("tape lifetime: destroyed by another thread, it records no more and gives back what it kept") {
  const Tensor x = zeros({1 << 18});
  const std::int64_t before = memory::info().live;
  auto tape = watching(x);
  const Tensor y = exp(x);
  std::thread([&] { tape.reset(); }).join();
  const Tensor z = y * x;
  GradientTape next;  // the list is tidied up
  CHECK(context.observers->next == nullptr);
  CHECK(memory::info().live - before < (2 << 20) + 4096 + 65536);  // y and z
}

TEST_CASE("tape lifetime: a thread's list of tapes ends with it") {
  const Tensor x = zeros({1 << 18});
  const std::int64_t before = memory::info().live;
  std::unique_ptr<GradientTape> tape;
  std::thread([&] {
    tape = watching(x);
    exp(x);
  }).join();
  tape.reset();
  CHECK(memory::info().live - before < 65536);
}

TEST_CASE("tape lifetime: destroyed by another thread while its own runs ops") {
  const Tensor x = constant(2.f);
  for (int i = 0; i < 50; ++i) {
    auto tape = watching(x);
    std::atomic<int> steps{0};
    std::thread other([&] {
      while (steps < 20) std::this_thread::yield();
      tape.reset();
      steps = 1000;
    });
    Tensor y = x;
    while (steps < 1000) {
      y = y * x + x;
      int seen = steps;
      if (seen < 20) steps = seen + 1;
    }
    other.join();
    CHECK(y.is_set());
  }
  const GradientTape tape;
  CHECK(context.observers->next == nullptr);
}

TEST_CASE("tape lifetime: a traced call no tape listens to is not recorded") {
  const Tensor x = constant(2.f);
  auto tape = watching(x);
  std::thread([&] { tape.reset(); }).join();
  const auto f = function([](const Tensor& a) { return a * a; });
  CHECK(f(x).item<float>() == 4);
  CHECK(context.observers == nullptr);
}
