// Ops that need a size which is open in a trace: the error says so and names the way out.
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("pad: an axis of open size is not mirrored, the others are") {
  const FunctionOptions open{.input_signature = {TensorSpec({none, 3})}};
  const auto mirrored = [&](i64 rows, i64 columns) {
    return function(
        [=](const Tensor& x) {
          return pad(x, {{rows, rows}, {columns, columns}}, {.mode = PadMode::reflect});
        },
        open)(constant({{1.f, 2.f, 3.f}}));
  };
  CHECK(mirrored(0, 1).to_vector<float>() == std::vector<float>{2, 1, 2, 3, 2});
  CHECK_THROWS_AS(mirrored(1, 0), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(mirrored(1, 0), ContainsSubstring("axis 0 of float32[None,3]") &&
                                        ContainsSubstring("not known while the function is traced") &&
                                        ContainsSubstring("set_shape"));
}

TEST_CASE("set_shape: an error when it runs names no line of the library") {
  const auto f = function(
      [](Tensor x) {
        x.set_shape({2});
        return x + 1.f;
      },
      {.input_signature = {TensorSpec({none})}});
  CHECK(f(ones({2})).size() == 2);
  CHECK_THROWS_WITH(f(ones({3})), !ContainsSubstring("shape_of"));
}
