// The promise about linear algebra, with its numbers.
#include "tests/linalg/matrices.hpp"

namespace features_linalg {

using namespace matrices;

TEST_CASE("products and decompositions") {
  CHECK(matmul(ones({2, 3}), ones({3, 4})).shape() == Shape{2, 4});
  const Tensor a = random::normal({10, 2, 3}, {.seed = 1}), b = random::normal({10, 3, 4}, {.seed = 2});
  const Tensor products = matmul(a, b);
  CHECK(products.shape() == Shape{10, 2, 4});
  for (i64 i = 0; i < 10; ++i) CHECK(test::max_error(products[i], matmul(a[i], b[i])) == 0);
  // Least squares by the normal equations, by lstsq, and the coefficients that made the data.
  const Tensor x = random::normal({50, 4}, {.dtype = float64, .seed = 3});
  const Tensor w = doubles({4, 1}, {1.5, -2, .25, 3}), y = matmul(x, w);
  const Tensor normal = matmul(matmul(linalg::inv(matmul(x, x, {.transpose_a = true})), x, {.transpose_b = true}), y);
  CHECK(test::max_error(normal, w) < 1e-8);
  CHECK(test::max_error(linalg::lstsq(x, y), w) < 1e-8);
  CHECK_THAT(testing::error_of([] { matmul(ones({3}), ones({3})); }), ContainsSubstring("matvec"));
  CHECK(test::max_error(matmul(ones({2, 0}), ones({0, 3})), zeros({2, 3})) == 0);
  const linalg::Svd d = linalg::svd(doubles({2, 2}, {1, 2, 3, 4}));
  CHECK(d.s.to_vector<double>()[0] == Approx(5.4649857));
  CHECK(d.s.to_vector<double>()[1] == Approx(.3659662));
  CHECK(test::max_error(matmul(d.u * d.s, d.v, {.transpose_b = true}), doubles({2, 2}, {1, 2, 3, 4})) < 1e-12);
  CHECK_THROWS_AS(linalg::inv(doubles({2, 2}, {1, 2, 2, 4})), errors::InvalidArgumentError);
}

}  // namespace features_linalg
