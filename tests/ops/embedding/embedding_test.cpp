// Lookups of embeddings: with a largest norm, and sparse ones, whose gradients stay sparse.
#include "tandem/ops/embedding/embedding.hpp"

#include <cmath>

#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/all.hpp"
#include "tests/ops/reduce/loops.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("embedding_lookup bounds norms and keeps its gradient sparse") {
  const Tensor table = constant({{3.f, 4.f}, {.3f, .4f}, {0.f, 0.f}}), ids = constant({{0, 1}, {2, 0}});
  const auto y = nn::embedding_lookup(table, ids, {.max_norm = 1}).to_vector<float>();
  const std::vector<float> want{.6f, .8f, .3f, .4f, 0, 0, .6f, .8f};
  for (std::size_t i = 0; i < 8; ++i) CHECK(y[i] == Approx(want[i]));
  CHECK(nn::embedding_lookup(table, ids).shape() == Shape{2, 2, 2});
  const Tensor wide = loops::random({4, 3}, 1, float64), some = constant({3, 0, 3});
  const auto f = [&](const std::vector<Tensor>& t) {
    return square(nn::embedding_lookup(t[0], some, {.max_norm = 1.2}));
  };
  CHECK(test::compute_gradient_error(f, std::vector<Tensor>{wide}, {.delta = 1e-5}) < 1e-7);
  CHECK_THROWS_WITH(nn::embedding_lookup(table, ids, {.max_norm = 0}),
                    ContainsSubstring("embedding_lookup: max_norm must be positive"));
}

TEST_CASE("embedding_lookup_sparse: combiners, empty examples, gradients, errors") {
  const Tensor table = constant({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}}), ids = constant({0, 2, 1}),
               to = constant({1, 1, 0});
  const auto combine = [&](nn::Combiner c) {
    return nn::embedding_lookup_sparse(table, ids, to, 3, {.combiner = c}).to_vector<float>();
  };
  CHECK(combine(nn::Combiner::sum) == std::vector<float>{3, 4, 6, 8, 0, 0});
  CHECK(combine(nn::Combiner::mean) == std::vector<float>{3, 4, 3, 4, 0, 0});
  CHECK(combine(nn::Combiner::sqrtn)[2] == Approx(6 / std::sqrt(2.)));
  const Variable v(table);
  GradientTape tape;
  const Tensor y = nn::embedding_lookup_sparse(v, ids, to, 3);
  const auto g = tape.gradient(y, std::vector<Variable>{v});
  CHECK(g[0].is_sparse());
  CHECK(g[0].tensor().to_vector<float>() == std::vector<float>{.5, .5, 1, 1, .5, .5});
  const Tensor wide = cast(table, float64), w = constant(std::vector<double>{.5, 2, 1});
  for (const nn::Combiner c : {nn::Combiner::sum, nn::Combiner::mean, nn::Combiner::sqrtn})
    CHECK(test::compute_gradient_error(
              [&](const Tensor& t, const Tensor& u) {
                return nn::embedding_lookup_sparse(t, ids, to, 3, {.weights = u, .combiner = c});
              },
              {wide, w}, {.delta = 1e-5}) < 1e-6);
  CHECK_THROWS_WITH(nn::embedding_lookup_sparse(table, ids, constant({0, 1}), 3), ContainsSubstring("one length"));
  CHECK_THROWS_AS(nn::embedding_lookup_sparse(table, constant({0, 3, 1}), to, 3), errors::InvalidArgumentError);
  CHECK_THROWS_AS(nn::embedding_lookup_sparse(table, ids, constant({0, 3, 1}), 3), errors::InvalidArgumentError);
}
