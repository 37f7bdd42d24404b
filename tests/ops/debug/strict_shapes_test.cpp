// StrictShapes: what raises in the scope, what does not, and where the scope ends.
#include "tandem/ops/debug/strict_shapes.hpp"

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("StrictShapes: operands of different ranks raise") {
  const Tensor column = constant({{1}, {2}}), row = constant({1, 2});
  CHECK(reduce_sum(column + row).item<int>() == 12);
  {
    const debugging::StrictShapes strict;
    CHECK_THROWS_AS(column + row, errors::InvalidArgumentError);
    CHECK_THROWS_WITH(column + row, ContainsSubstring("add: ranks differ: (2, 1) and (2,)"));
    CHECK_THROWS_WITH(where(row > 0, column, 0), ContainsSubstring("ranks differ"));
    CHECK_THROWS_WITH(tandem::complex(zeros({2, 1}), zeros({2})), ContainsSubstring("ranks differ"));
    CHECK((column * 2 + constant(1)).to_vector<int>() == std::vector<int>{3, 5});
    CHECK((column + expand_dims(row, 0)).shape() == Shape{2, 2});
    CHECK((row + row).to_vector<int>() == std::vector<int>{2, 4});
    { const debugging::StrictShapes again; }
    CHECK_THROWS_AS(row + column, errors::InvalidArgumentError);
  }
  CHECK((column + row).shape() == Shape{2, 2});
}

TEST_CASE("StrictShapes: reductions and squeeze need an axis") {
  const Tensor x = ones({2, 1}), v = ones({3});
  const debugging::StrictShapes strict;
  CHECK_THROWS_WITH(reduce_sum(x), ContainsSubstring("reduce_sum: no axis is given for rank 2"));
  CHECK_THROWS_AS(reduce_max(x), errors::InvalidArgumentError);
  CHECK_THROWS_AS(reduce_variance(x), errors::InvalidArgumentError);
  CHECK_THROWS_AS(count_nonzero(x), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(squeeze(x), ContainsSubstring("squeeze: no axis is given for rank 2"));
  CHECK(reduce_sum(x, {0, 1}).item<float>() == 2);
  CHECK(reduce_sum(x, {.axis = Axes::none()}).shape() == Shape{2, 1});
  CHECK(reduce_sum(v).item<float>() == 3);
  CHECK(squeeze(x, 1).shape() == Shape{2});
  CHECK(squeeze(ones({1})).rank() == 0);
}

TEST_CASE("StrictShapes: gradients, the library's own calls and finished functions are not affected") {
  const Tensor x = ones({2, 3}), w = ones({2, 3}), ids = constant({0, 1});
  const auto traced = function(
      [](const Tensor& t) {
        return t + constant({1.f, 2.f, 3.f});
      },
      {.input_signature = {TensorSpec({none, 3}, float32)}});
  CHECK(traced(ones({1, 3})).shape() == Shape{1, 3});
  const debugging::StrictShapes strict;
  GradientTape tape;
  tape.watch(x);
  const Tensor y = segment_mean(reduce_variance(x * w, {.axis = 1, .keepdims = true}), ids);
  CHECK(Tensor(tape.gradient(y, x)).shape() == Shape{2, 3});
  CHECK(traced(x).shape() == Shape{2, 3});
  // Op by op: in the trace of another function, and under an observer of every op.
  const auto outer = function([&](const Tensor& t) { return traced(t); });
  CHECK(outer(x).shape() == Shape{2, 3});
  debugging::enable_check_numerics();
  CHECK(traced(x).shape() == Shape{2, 3});
  debugging::disable_check_numerics();
  const auto inside = function([](const Tensor& t) { return t + constant({1.f, 2.f, 3.f}); });
  CHECK_THROWS_WITH(inside(x), ContainsSubstring("ranks differ"));
}
