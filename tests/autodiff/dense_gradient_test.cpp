// Gradient::dense() is for dense gradients: the rows of a row-sparse one, which may have its shape, are not its value.
#include "tandem/autodiff/custom_gradient.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;

namespace dense_gradient_test {

TEST_CASE("dense() of a row-sparse gradient raises; tensor() is its dense form") {
  const Variable table(reshape(range(6.f), {3, 2}));
  GradientTape tape;
  const Tensor loss = reduce_sum(square(gather(table, constant({2, 0, 2}))));
  const std::vector<Gradient> g = tape.gradient(loss, std::vector<Variable>{table});
  REQUIRE(g[0].is_sparse());
  CHECK(g[0].values().shape() == table.shape());  // by chance
  CHECK_THROWS_WITH(g[0].dense(), ContainsSubstring("row-sparse") && ContainsSubstring("tensor()"));
  CHECK_THROWS_AS(Gradient(g[0]).dense(), errors::InvalidArgumentError);
  CHECK(g[0].tensor().to_vector<float>() == std::vector<float>{0, 2, 0, 0, 16, 20});
  CHECK(Gradient(constant(2.f)).dense().item<float>() == 2);
  CHECK_FALSE(Gradient().dense().is_set());
}

}  // namespace dense_gradient_test
