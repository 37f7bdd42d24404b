// assign_all: Variables replaced as one set while other threads call functions that read them.
#include <atomic>
#include <thread>

#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using testing::error_of;

namespace {

// How many of the calls of four threads, at least `calls` each, are not 0, while a fifth one runs `swap` with 1,
// 2, 3...
template <class Call, class Swap>
int count_mixed(int calls, const Call& call, const Swap& swap) {
  constexpr int least_swaps = 100;
  std::atomic<int> mixed{0}, running{4}, swaps{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < calls || swaps < least_swaps; ++i)
        if (call().template item<float>() != 0) ++mixed;
      --running;
    });
  for (float k = 1; running > 0; ++k, ++swaps) swap(k);
  for (std::thread& t : threads) t.join();
  return mixed;
}
FunctionOptions by(bool plan) { return {.execution = {.plan = plan}}; }

struct Pair {
  const Variable w1{constant(0.f), {.name = "w1"}}, w2{constant(0.f), {.name = "w2"}};
  void set(float k) const { assign_all({w1, w2}, {constant(k), constant(k)}); }
};

}  // namespace

TEST_CASE("assign_all: a call sees the old set or the new one") {
  for (const bool plan : {true, false}) {
    const Pair w;
    const auto f = function([&] { return w.w1 - w.w2; }, by(plan));
    CHECK(count_mixed(5000, f, [&](float k) { w.set(k); }) == 0);
    CHECK(f.trace_count() == 1);
    CHECK(w.w1.item<float>() > 0);
  }
}

TEST_CASE("assign_all: bodies of control flow see the set that their call sees") {
  const Pair w;
  const auto body = [&](const Tensor& n, const Tensor& sum) {
    const Tensor x = cond(
        n < 10.f, [&] { return w.w1 * 1.f; }, [&] { return w.w1 + 0.f; });
    return std::tuple(n + 1.f, sum + x - w.w2);
  };
  const auto loop = [&] {
    const std::tuple<Tensor, Tensor> begin(constant(0.f), constant(0.f));
    return std::get<1>(while_loop([](const Tensor& n, const Tensor&) { return n < 20.f; }, body, begin));
  };
  for (const bool plan : {true, false}) {
    const auto f = function(loop, by(plan));
    CHECK(count_mixed(300, f, [&](float k) { w.set(k); }) == 0);
  }
}

TEST_CASE("assign_all: what a step assigns is one set, too") {
  const Pair w;
  const auto step = function([&](const Tensor& k) {
    w.w1.assign(k * 2.f);
    w.w2.assign(k + k);
    return k;
  });
  const auto f = function([&] { return w.w1 - w.w2; });
  CHECK(count_mixed(3000, f, [&](float k) { step(constant(k)); }) == 0);
}

TEST_CASE("assign_all: calls that assign something see one set of the rest, and of what they assign") {
  const Pair w;
  const Variable count(constant(0)), w3(constant(0.f));
  const auto f = function([&] {
    count.assign_add(constant(1));
    const Tensor x = w.w1 - w.w2;
    return x + (w3.assign(w3 * 1.f) - w.w1);
  });
  const auto swap = [&](float k) { assign_all({w3, w.w1, w.w2}, {constant(k), constant(k), constant(k)}); };
  std::atomic<int> calls{0};
  CHECK(count_mixed(
            2000, [&] { return ++calls, f(); }, swap) == 0);
  CHECK(count.item<int>() == calls);
}

TEST_CASE("assign_all: recorded calls, and their gradients") {
  const Pair w;
  const auto f = function([&] { return w.w1 * 1.f - w.w2; });
  const auto call = [&] {
    GradientTape tape;
    const Tensor y = f();
    const auto [g1, g2] = tape.gradient(y, {w.w1, w.w2});
    return y + g1 + g2;  // 1 - 1
  };
  CHECK(count_mixed(300, call, [&](float k) { w.set(k); }) == 0);
}

TEST_CASE("assign_all: what does not fit changes nothing") {
  const Pair w;
  w.set(3);
  const Tensor one = constant(1.f), two = constant({1.f, 2.f});
  const auto fails = [&](const std::vector<Variable>& v, const std::vector<Tensor>& t) {
    return error_of<errors::InvalidArgumentError>([&] { assign_all(v, t); });
  };
  CHECK_THAT(fails({w.w1, w.w2}, {one}), ContainsSubstring("1 values for 2 variables"));
  CHECK_THAT(fails({w.w1, w.w2}, {one, two}),
             ContainsSubstring("variable 'w2' is float32[]") && ContainsSubstring("float32[2]"));
  CHECK_THAT(fails({w.w1, w.w2}, {one, constant(1)}), ContainsSubstring("int32[]"));
  CHECK_THAT(fails({w.w1, w.w2, w.w1}, {one, one, one}), ContainsSubstring("'w1' occurs twice"));
  CHECK(w.w1.item<float>() == 3);
  CHECK(w.w2.item<float>() == 3);
  assign_all({}, {});
  const auto twice = function([&](const Tensor& x) {
    assign_all({w.w1, w.w2, w.w1}, {x, x, x * 2.f});
    return x;
  });
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { twice(one); }), ContainsSubstring("'w1' occurs twice"));
  CHECK(w.w1.item<float>() == 3);

  // In a host function of a graph that assigns one of them: its call holds the lock.
  const auto f = function([&](const Tensor& x) {
    w.w1.assign_add(x);
    return host_function(
        [&](const Tensor& t) {
          CHECK_THROWS_AS(w.set(5), errors::FailedPreconditionError);
          return t;
        },
        {x}, x.spec());
  });
  f(one);
  CHECK(w.w1.item<float>() == 4);
  CHECK(w.w2.item<float>() == 3);
}

TEST_CASE("assign_all: in a traced function it is part of the graph") {
  const Pair w;
  const auto f = function([&](const Tensor& x) {
    assign_all({w.w1, w.w2}, {x, x * 2.f});
    return w.w1 + w.w2;
  });
  CHECK(f(constant(2.f)).item<float>() == 6);
  CHECK(f(constant(3.f)).item<float>() == 9);
  CHECK(w.w2.item<float>() == 6);
}
