// Asserts, prints and declared shapes in traced functions: kept at every call, in order, whoever uses them.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using errors::InvalidArgumentError;

TEST_CASE("function: prints and asserts that nothing uses run at every call, in order") {
  const std::string path = "function_debug_test.txt";
  std::remove(path.c_str());
  const PrintOptions page{.output_stream = "file://" + path};
  const Variable calls(constant(0));
  const auto f = function([&](const Tensor& x) {
    calls.assign_add(constant(1));
    print("call", calls, "of", x, page);
    debugging::assert_positive(x, {.message = "only gains"});
    calls.assign_add(constant(10));
    print("passed", page);
    return x * 2;
  });
  for (int i = 0; i < 3; ++i) CHECK(f(constant({1.f, 2.f})).to_vector<float>() == std::vector<float>{2, 4});
  CHECK(f.trace_count() == 1);
  CHECK_THROWS_AS(f(constant({1.f, -2.f})), InvalidArgumentError);
  CHECK_THROWS_WITH(f(constant({1.f, -2.f})), ContainsSubstring("only gains: x > 0 does not hold at [1]"));
  CHECK(calls.item<int>() == 35);
  std::ifstream in(path);
  const std::string all{std::istreambuf_iterator<char>(in), {}};
  CHECK(all ==
        "call 1 of [1.0, 2.0]\npassed\ncall 12 of [1.0, 2.0]\npassed\ncall 23 of [1.0, 2.0]\npassed\n"
        "call 34 of [1.0, -2.0]\ncall 35 of [1.0, -2.0]\n");
  std::remove(path.c_str());
}

TEST_CASE("function: declared shapes are checked at every call") {
  const auto f = function(
      [](const Tensor& x) {
        Tensor batch = x;
        batch.set_shape({32, none});
        CHECK(batch.shape() == Shape{32, 128});
        debugging::assert_shapes({{x, {"N", "D"}}, {batch, {"N", 128}}});
        return reduce_sum(x);
      },
      {.input_signature = {TensorSpec({none, 128}, float32)}});
  CHECK(f(ones({32, 128})).item<float>() == 32 * 128);
  CHECK_THROWS_AS(f(ones({31, 128})), InvalidArgumentError);
  CHECK_THROWS_WITH(f(ones({31, 128})), ContainsSubstring("[31,128]") && ContainsSubstring("(32, None)"));
  CHECK_THROWS_WITH(f(ones({32, 129})), ContainsSubstring("129") && ContainsSubstring("128"));
  CHECK(f(ones({32, 128})).item<float>() == 32 * 128);
  CHECK(f.trace_count() == 1);
}

TEST_CASE("function: one trace of an open spec serves every batch") {
  const auto f = function([](const Tensor& x) { return reduce_sum(x, 1); });
  const auto traced = f.get_concrete_function(TensorSpec({none, 4}, float32));
  for (i64 n = 1; n <= 100; ++n) CHECK(f(ones({n, 4})).shape() == Shape{n});
  CHECK(f.trace_count() == 1);
}
