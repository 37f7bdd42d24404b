// Deadlines and cancellation: a call ends between two nodes, with the effects of those before.
#include <algorithm>
#include <thread>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/control/control.hpp"
#include "tandem/graph/control/scan.hpp"
#include "tandem/graph/control/while_loop.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/ops/host_function.hpp"
#include "tandem/util/inter_op.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/threads.hpp"

using namespace tandem;
using testing::error_of;

namespace {

// Cancels a token when the graph comes to it, and counts how often it does.
struct Stop {
  CancelToken token;
  int left = 0, calls = 0;  // left: the calls before the one that cancels
  Tensor operator()(const Tensor& x) {
    return host_function(
        [this](const Tensor& t) {
          ++calls;
          if (left-- == 0) token.cancel();
          return t;
        },
        {x}, x.spec());
  }
};
FunctionOptions by(bool plan) { return {.execution = {.plan = plan}}; }

}  // namespace

TEST_CASE("cancel: a call has the effects of the nodes before, and the error says where it ended") {
  for (const bool plan : {true, false}) {
    Stop stop;
    const Variable before(constant(0.f)), after(constant(0.f));
    const auto f = function(
        [&](const Tensor& x) {
          before.assign_add(x);
          const Tensor y = stop(x);
          after.assign_add(y);
          return y;
        },
        by(plan));
    const std::string error =
        error_of<errors::CancelledError>([&] { f.call_with({.cancel = stop.token}, constant(1.f)); });
    CHECK_THAT(error, ContainsSubstring("was cancelled before node '") && ContainsSubstring(" nodes done"));
    CHECK(before.item<float>() == 1);
    CHECK(after.item<float>() == 0);
    f(constant(1.f));  // without the token it runs on
    CHECK(before.item<float>() == 2);
    CHECK(after.item<float>() == 1);
    CHECK(stop.calls == 2);
    CHECK_THAT(error_of<errors::CancelledError>([&] { f.call_with({.cancel = stop.token}, constant(1.f)); }),
               ContainsSubstring("before it began"));
    CHECK(before.item<float>() == 2);
  }
}

TEST_CASE("cancel: another thread ends a loop that would not end") {
  for (const bool plan : {true, false}) {
    const auto f = function(
        [](const Tensor& x) {
          return while_loop([](const Tensor& y) { return y < 1e30f; }, [](const Tensor& y) { return y * 1.f; }, x);
        },
        by(plan));
    const CancelToken token;
    std::thread other([&] { token.cancel(); });
    CHECK_THROWS_AS(f.call_with({.cancel = token}, constant(1.f)), errors::CancelledError);
    other.join();
  }
}

TEST_CASE("deadline: ends a loop that would not end, also one whose body has nothing to do") {
  const auto busy = function([](const Tensor& x) {
    return while_loop([](const Tensor& y) { return y < 1e30f; }, [](const Tensor& y) { return y * 1.f; }, x);
  });
  const auto idle = function([](const Tensor& x) {
    return while_loop([](const Tensor&) { return constant(true); }, [](const Tensor& y) { return y; }, x);
  });
  for (const double seconds : {0.02, 0.0, -1.0})
    CHECK_THROWS_AS(busy.call_with({.deadline = Deadline::after(seconds)}, constant(1.f)),
                    errors::DeadlineExceededError);
  CHECK_THAT(error_of<errors::DeadlineExceededError>(
                 [&] { idle.call_with({.deadline = Deadline::after(0.02)}, constant(1.f)); }),
             ContainsSubstring("has not ended by its deadline"));
}

TEST_CASE("cancel: bodies of cond, while_loop and scan end at their nodes") {
  for (const bool plan : {true, false}) {
    Stop stop;
    const Variable sum(constant(0.f));
    const auto in_cond = function(
        [&](const Tensor& x) {
          return cond(
              x > 0,
              [&] {
                sum.assign_add(1.f);
                const Tensor y = stop(x);
                sum.assign_add(1.f);
                return y;
              },
              [&] { return x; });
        },
        by(plan));
    CHECK_THROWS_AS(in_cond.call_with({.cancel = stop.token}, constant(1.f)), errors::CancelledError);
    CHECK(sum.item<float>() == 1);

    Stop third;
    third.left = 2;
    const auto in_loop = function(
        [&](const Tensor& x) {
          return while_loop([](const Tensor& y) { return y < 10; }, [&](const Tensor& y) { return third(y) + 1.f; }, x);
        },
        by(plan));
    CHECK_THROWS_AS(in_loop.call_with({.cancel = third.token}, constant(0.f)), errors::CancelledError);
    CHECK(third.calls == 3);

    Stop second;
    second.left = 1;
    const auto in_scan = function(
        [&](const Tensor& x) {
          return scan([&](const Tensor& all, const Tensor& row) { return second(all + row); }, x, constant(0.f));
        },
        by(plan));
    CHECK_THROWS_AS(in_scan.call_with({.cancel = second.token}, ones({5})), errors::CancelledError);
    CHECK(second.calls == 2);
  }
}

TEST_CASE("cancel: a call under a tape ends, too") {
  Stop stop;
  const Variable last(constant(0.f));
  const auto f = function([&](const Tensor& x) {
    const Tensor y = x * x;
    last.assign(stop(stop_gradient(y)));
    return y * 2.f;
  });
  const Tensor x = constant(3.f);
  GradientTape tape;
  tape.watch(x);
  CHECK_THROWS_AS(f.call_with({.cancel = stop.token}, x), errors::CancelledError);
}

TEST_CASE("cancel: branches that other threads run end") {
  const testing::Threads one(1);  // of an op: more pay less for branches
  struct InterOp {
    InterOp() { config::set_inter_op_parallelism_threads(3); }
    ~InterOp() { config::set_inter_op_parallelism_threads(1); }
  } three;
  const auto tower = [](Tensor y, const Tensor& w) {
    for (int i = 0; i < 4; ++i) y = tanh(matmul(y, w));
    return y;
  };
  const auto f = function([&](const Tensor& x) { return tower(x, x) + tower(x, x * 0.5f) + tower(x, x * 0.25f); });
  const Tensor x = ones({64, 64}) * 0.01f;
  REQUIRE_THAT(f.get_concrete_function(x)->plan(), ContainsSubstring("branches"));
  CancelToken token;
  const CallScope scope({.cancel = token});
  f(x);
  token.cancel();
  CHECK_THROWS_AS(f(x), errors::CancelledError);
}

TEST_CASE("cancel: a Variable whose update is computed in its own buffer is old or new, never in between") {
  const Variable w(ones({1024, 64})), count(constant(0.f));
  const auto f = function([&] {
    w.assign(w * 1.f + 1.f);
    count.assign_add(1.f);
    return matmul(ones({1, 1024}), w);
  });
  f();
  const Tensor one_row = ones({1, 1024});
  const auto use = function([&] { return matmul(one_row, w); });  // by the packed form that w keeps
  for (int i = 0; i < 200; ++i) {
    const CancelToken token;
    const float before = w.read_value().to_vector<float>()[0];
    std::thread late([&] {
      std::this_thread::sleep_for(std::chrono::microseconds(i));
      token.cancel();
    });
    bool ended = false;
    try {
      f.call_with({.cancel = token});
    } catch (const errors::CancelledError&) {
      ended = true;
    }
    late.join();
    const std::vector<float> now = w.read_value().to_vector<float>();
    CHECK((now[0] == before || now[0] == before + 1));
    if (!ended) CHECK(now[0] == before + 1);
    CHECK(std::count(now.begin(), now.end(), now[0]) == 1024 * 64);
    CHECK(use().to_vector<float>()[0] == 1024 * now[0]);
  }
}

TEST_CASE("cancel: scopes nest, and the outer one holds inside") {
  const auto f = function([](const Tensor& x) { return x + 1.f; });
  const CancelToken outer, inner;
  {
    const CallScope scope({.cancel = outer});
    {
      const CallScope inside({.deadline = Deadline::after(1e300), .cancel = inner});
      CHECK(f(constant(1.f)).item<float>() == 2);
      inner.cancel();
      CHECK_THROWS_AS(f(constant(1.f)), errors::CancelledError);
    }
    CHECK(f(constant(1.f)).item<float>() == 2);
    outer.cancel();
    const CallScope inside({});
    CHECK_THROWS_AS(f(constant(1.f)), errors::CancelledError);
  }
  CHECK(f(constant(1.f)).item<float>() == 2);
}
