// host_function: eager and traced, sizes that depend on data, errors, threads, devices, together with
// custom_gradient.
#include "tandem/ops/host_function.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <utility>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/sim.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring, Catch::Matchers::StartsWith;
using testing::error_of;

namespace {

using Floats = std::vector<float>;

// Loops on the host, as code of other libraries does.
Tensor host_relu(const Tensor& x) {
  Floats values = x.to_vector<float>();
  for (float& v : values) v = std::max(v, 0.f);
  return reshape(constant(values), x.shape());
}
Tensor host_positive(const Tensor& x) {
  Floats kept;
  for (const float v : x.to_vector<float>())
    if (v > 0) kept.push_back(v);
  return constant(kept);
}
Tensor relu_by_loop(const Tensor& x) {
  return custom_gradient(
      [](const Tensor& x) {
        const Tensor y = host_function(host_relu, {x}, TensorSpec(x.shape(), float32));
        return std::pair(y, [x](const Tensor& g) { return where(x > 0, g, zeros_like(g)); });
      },
      x);
}

}  // namespace

TEST_CASE("host_function runs eagerly and at each call of a traced function") {
  int runs = 0;
  const auto doubled = [&](const Tensor& x) {
    return host_function(
        [&](const Tensor& x) {
          ++runs;
          return host_relu(x + x);
        },
        {x}, TensorSpec({none}, float32));
  };
  CHECK(doubled(constant({1.f, -2.f})).to_vector<float>() == Floats{2, 0});
  auto f = function([&](const Tensor& x) { return doubled(x) + 1; });
  runs = 0;
  for (int i = 0; i < 3; ++i) CHECK(f(constant({1.f, 2.f})).to_vector<float>() == Floats{3, 5});
  CHECK(runs == 3);
  CHECK(f.trace_count() == 1);
}

TEST_CASE("host_function: results whose size depends on the data") {
  auto f = function([](const Tensor& x) {
    const Tensor kept = host_function(host_positive, {x}, TensorSpec({none}, float32));
    return std::pair(kept * 10, reduce_sum(kept));
  });
  const auto [a, sum] = f(constant({1.f, -1.f, 2.f}));
  CHECK(a.to_vector<float>() == Floats{10, 20});
  CHECK(sum.item<float>() == 3);
  CHECK(f(constant({-1.f, -1.f, -2.f})).first.shape() == Shape{0});
}

TEST_CASE("host_function: lists, several results, no inputs") {
  const auto swap = [](const std::vector<Tensor>& x) { return std::vector<Tensor>{x[1], x[0]}; };
  const std::vector<TensorSpec> specs{TensorSpec({}, int32), TensorSpec({2}, float32)};
  auto f = function([&](const Tensor& a, const Tensor& b) { return host_function(swap, {a, b}, specs); });
  const std::vector<Tensor> got = f(constant({1.f, 2.f}), constant(3));
  CHECK(got[0].item<int>() == 3);
  CHECK(got[1].to_vector<float>() == Floats{1, 2});
  CHECK(host_function([] { return constant(7); }, {}, TensorSpec({}, int32)).item<int>() == 7);
  // The spec of a tensor goes where a TensorSpec goes, alone and in lists.
  const Tensor like = constant({1.f, 2.f});
  CHECK(host_function(host_relu, {like}, like.spec()).to_vector<float>() == std::vector<float>{1, 2});
  const std::vector<TensorSpec> signature{like.spec()};
  CHECK(function([](const Tensor& x) { return x * 2; }, {.input_signature = signature})(like).to_vector<float>() ==
        std::vector<float>{2, 4});
}

TEST_CASE("host_function: without a use it runs if it is stateful, and does not if it is pure") {
  for (const bool stateful : {true, false}) {
    int runs = 0;
    auto f = function([&](const Tensor& x) {
      host_function(
          [&](const Tensor& x) {
            ++runs;
            return x;
          },
          {x}, TensorSpec({2}, float32), {.stateful = stateful});
      return x + 1;
    });
    f(constant({1.f, 2.f}));
    CHECK(runs == stateful);
  }
}

TEST_CASE("host_function: its own ops are neither recorded nor traced") {
  const Tensor x = constant({1.f, 2.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = reduce_sum(host_function([](const Tensor& x) { return x * x; }, {x}, TensorSpec({2}, float32)));
  CHECK_THAT(error_of([&] { return tape.gradient(y, x); }), StartsWith("host_function: has no gradient"));
}

TEST_CASE("host_function with custom_gradient: the checker accepts relu(x x), eager and traced") {
  const Tensor x = random::stateless_normal({10}, constant({1, 2}));
  const auto f = [](const Tensor& x) { return relu_by_loop(x * x - 0.5); };
  CHECK(test::compute_gradient_error(f, x) < 1e-3);
  auto traced = function(f);
  CHECK(test::compute_gradient_error([&](const Tensor& x) { return traced(x); }, x) < 1e-3);
}

TEST_CASE("host_function on eight threads at once") {
  std::atomic<int> runs = 0;
  auto f = function([&](const Tensor& x) {
    return host_function(
        [&](const Tensor& x) {
          ++runs;
          return x + 1;
        },
        {x * 2}, TensorSpec({3}, float32));
  });
  f(constant({0.f, 0.f, 0.f}));
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        const float v = static_cast<float>(t * 100 + i);
        wrong += f(constant({v, v, v})).to_vector<float>() != Floats(3, 2 * v + 1);
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(runs == 401);
  CHECK(wrong == 0);
}

TEST_CASE("host_function: errors") {
  const Tensor x = constant({1.f, 2.f});
  const auto same = [](const Tensor& x) { return x; };
  CHECK_THAT(error_of([&] { return host_function(same, {x}, TensorSpec({3}, float32)); }),
             StartsWith("host_function: the function returned float32[2] as result 0, whose spec is float32[3]") &&
                 ContainsSubstring("host_function_test.cpp:"));
  CHECK_THAT(error_of([&] { return host_function(same, {x}, TensorSpec({2}, int32)); }),
             ContainsSubstring("whose spec is int32[2]"));
  CHECK_THAT(error_of([&] {
               return host_function(same, {x, x}, TensorSpec({2}, float32));
             }),
             ContainsSubstring("the function takes 1 tensors, not 2"));
  CHECK_THAT(error_of([&] { return host_function(same, {x}, std::vector<TensorSpec>(2, TensorSpec({2}, float32))); }),
             ContainsSubstring("returned 1 tensors, its specs are 2"));
  auto f = function([&](const Tensor& x) {
    return host_function([](const Tensor&) -> Tensor { throw std::runtime_error("no such file"); }, {x},
                         TensorSpec({2}, float32));
  });
  CHECK_THROWS_WITH(f(x), "no such file");
  CHECK_THROWS_WITH(f(x), "no such file");  // a failed call leaves the function usable
  auto saved = function([&](const Tensor& x) { return host_function(same, {x}, TensorSpec({2}, float32)); });
  CHECK_THAT(error_of([&] { return serialize(saved.get_concrete_function(x)->graph()); }),
             ContainsSubstring("closure"));
}

TEST_CASE("host_function gets host tensors and returns to the device of its input") {
  const sim::Installed installed;
  const Tensor x = constant({1.f, -2.f}).to(sim::device);
  const Tensor y = host_function(host_relu, {x}, TensorSpec({2}, float32));
  CHECK(y.device() == sim::device);
  CHECK(y.to_vector<float>() == Floats{1, 0});
  auto f = function([](const Tensor& x) { return host_function(host_relu, {x * 2}, TensorSpec({2}, float32)) + 1; });
  CHECK(f(x).device() == sim::device);
  CHECK(f(x).to_vector<float>() == Floats{3, 1});
}

TEST_CASE("host_function: results that belong to a trace are refused") {
  auto f = function(
      [](const Tensor& x) { return host_function([x](const Tensor&) { return x; }, {x}, TensorSpec({2}, float32)); });
  CHECK_THAT(error_of<errors::TraceError>([&] {
               return f(constant({1.f, 2.f}));
             }),
             ContainsSubstring("host_function") && ContainsSubstring("has no value"));
}

namespace {
Tensor run_on_host(const std::function<void()>& f, const Tensor& x) {
  const auto code = [f](const Tensor& t) {
    f();
    return t;
  };
  return host_function(code, {x}, TensorSpec({}, float32));
}
}  // namespace

TEST_CASE("host_function: Variables that it assigns are read afterwards, eager and traced") {
  const Variable c(0.f);
  const auto add = [&] { c.assign_add(1.f); };
  const auto f = [&](const Tensor& x) {
    const Tensor before = c + 0.f;
    run_on_host(add, x);
    return std::pair(before, x * 0 + c);
  };
  for (const bool plan : {true, false}) {
    auto traced = function(f, {.execution = {.plan = plan}});
    c.assign(0.f);
    for (int i = 0; i < 3; ++i) {
      const auto [before, after] = i ? traced(constant(5.f)) : f(constant(5.f));
      CHECK(before.item<float>() == static_cast<float>(i));
      CHECK(after.item<float>() == static_cast<float>(i + 1));
    }
  }
  auto loop = function([&](const Tensor& x) {
    return std::get<1>(while_loop([](const Tensor& i, const Tensor&) { return i < 3; },
                                  [&](const Tensor& i, const Tensor& sum) {
                                    run_on_host(add, x);
                                    return std::tuple(i + 1, sum + c);
                                  },
                                  std::tuple(constant(0), x)));
  });
  c.assign(0.f);
  CHECK(loop(constant(0.f)).item<float>() == 1 + 2 + 3);
  auto branch = function([&](const Tensor& x) {
    return cond(
        x > 0, [&] { return run_on_host(add, constant(0.f)), c + 0.f; }, [&] { return c + 0.f; });
  });
  c.assign(0.f);
  GradientTape tape;
  const Tensor y = branch(constant(1.f));
  CHECK(y.item<float>() == 1);
  CHECK(tape.gradient(y, c).item<float>() == 1);
}

TEST_CASE("host_function: what the traced function assigns it may read, not assign") {
  const Variable v(1.f, {.name = "counter"});
  float seen = 0;
  std::function<void()> work = [&] { seen = v.item<float>(); };
  auto inner = function([&] {
    v.assign_add(1.f);
    return v + 0.f;
  });
  inner();
  for (const bool plan : {true, false}) {
    auto f = function(
        [&](const Tensor& x) {
          v.assign(v * 2.f);
          run_on_host([&] { work(); }, x);
          v.assign_add(x);
          return v + 0.f;
        },
        {.execution = {.plan = plan}});
    v.assign(3.f);
    CHECK(f(constant(1.f)).item<float>() == 7);
    CHECK(seen == 6);
    for (const std::function<void()>& wrong :
         {std::function<void()>([&] { v.assign(1.f); }), {[&] { v.assign_add(1.f); }}, {[&] { inner(); }}}) {
      const std::function<void()> right = std::exchange(work, wrong);
      CHECK_THAT(error_of<errors::FailedPreconditionError>([&] { return f(constant(1.f)); }),
                 ContainsSubstring("the variable 'counter' is assigned by the traced function that is running"));
      work = right;
    }
    v.assign(3.f);
    CHECK(f(constant(1.f)).item<float>() == 7);  // no lock is left
  }
}
