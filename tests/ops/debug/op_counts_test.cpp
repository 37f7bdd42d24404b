// debugging::op_counts: how often ops run, eager, in gradients and in traced functions.
#include "tandem/ops/debug/op_counts.hpp"

#include <thread>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Counts = std::map<std::string, long long>;

TEST_CASE("op_counts counts the ops of its thread while it is on") {
  const Tensor x = ones({2, 2});
  exp(x);
  debugging::enable_op_counts();
  CHECK(debugging::op_counts().empty());
  exp(x), exp(x), matmul(x, x);
  std::thread([&] { exp(x); }).join();
  debugging::enable_op_counts();  // no effect: it is on
  CHECK(debugging::op_counts() == Counts{{"exp", 2}, {"matmul", 1}});
  debugging::disable_op_counts();
  exp(x);
  debugging::disable_op_counts();
  CHECK(debugging::op_counts() == Counts{{"exp", 2}, {"matmul", 1}});
  debugging::enable_op_counts();
  CHECK(debugging::op_counts().empty());
  debugging::disable_op_counts();
}
TEST_CASE("op_counts counts the ops of gradients and of traced functions one by one") {
  const auto f = function([](const Tensor& x) { return exp(sin(x)) + 1; });
  const Tensor x = ones({2});
  debugging::enable_op_counts();
  f(x);
  CHECK(debugging::op_counts() == Counts{{"add", 1}, {"exp", 1}, {"sin", 1}});
  f(x);
  CHECK(debugging::op_counts() == Counts{{"add", 2}, {"exp", 2}, {"sin", 2}});
  {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = sin(x);
    tape.gradient(y, x);
  }
  const Counts counts = debugging::op_counts();
  CHECK(counts.at("sin") == 3);
  CHECK(counts.at("cos") == 1);
  const auto enabling = function([](const Tensor& t) {
    debugging::disable_op_counts();
    return t;
  });
  CHECK_THROWS_AS(enabling(x), errors::FailedPreconditionError);
  debugging::disable_op_counts();
  const auto late = function([](const Tensor& t) {
    debugging::enable_op_counts();
    return t;
  });
  CHECK_THROWS_AS(late(x), errors::FailedPreconditionError);
}
