// Permutation: every number once, orders that are equally likely, the same on every machine.
#include "tandem/data/permutation.hpp"

#include <map>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace data_permutation_test {
using namespace tandem;

std::vector<i64> order_of(i64 n, i64 seed, i64 stream = 0) {
  const data::Permutation p(n, seed, stream);
  std::vector<i64> r;
  for (i64 i = 0; i < n; ++i) r.push_back(p(i));
  return r;
}

TEST_CASE("Permutation: every number once, for any size") {
  for (const i64 n : {1, 2, 3, 7, 8, 1023, 1024, 1025, 4096, 60000}) {
    std::vector<int> seen(static_cast<std::size_t>(n));
    bool in_range = true;
    for (const i64 x : order_of(n, 3, n)) {
      in_range &= x >= 0 && x < n;
      if (in_range) ++seen[static_cast<std::size_t>(x)];
    }
    REQUIRE(in_range);
    CHECK(seen == std::vector<int>(static_cast<std::size_t>(n), 1));
  }
  CHECK(order_of(0, 1).empty());
  CHECK_THROWS_AS(data::Permutation(-1, 0), errors::InvalidArgumentError);
  const data::Permutation large(i64{1} << 62, 5);
  for (const i64 i : {i64{0}, i64{1}, (i64{1} << 62) - 1}) CHECK((large(i) >= 0 && large(i) < i64{1} << 62));
}

TEST_CASE("Permutation: a function of seed and stream") {
  CHECK(order_of(100, 1, 2) == order_of(100, 1, 2));
  CHECK(order_of(100, 1, 2) != order_of(100, 1, 3));
  CHECK(order_of(100, 1, 2) != order_of(100, 2, 2));
  CHECK(order_of(100, 1, 2) != order_of(100, 2, 1));
  CHECK(order_of(10, 0) == std::vector<i64>{9, 5, 0, 4, 7, 6, 3, 8, 2, 1});  // saved data positions depend on it
}

// The statistic is chi-squared: its mean is the number of degrees of freedom d, its deviation sqrt(2 d).
TEST_CASE("Permutation: all orders of few elements are equally likely") {
  std::map<std::vector<i64>, int> count;
  for (i64 seed = 0; seed < 24000; ++seed) ++count[order_of(4, seed)];
  REQUIRE(count.size() == 24);
  double statistic = 0;
  for (const auto& [order, n] : count) statistic += (n - 1000.) * (n - 1000.) / 1000;
  CHECK(statistic < 23 + 5 * 6.8);
}
TEST_CASE("Permutation: each number is equally likely at each position") {
  constexpr i64 n = 50, trials = 20000;
  std::vector<double> count(n * n);
  for (i64 stream = 0; stream < trials; ++stream) {
    const data::Permutation p(n, 9, stream);
    for (i64 i = 0; i < n; ++i) ++count[static_cast<std::size_t>(i * n + p(i))];
  }
  constexpr double expected = double(trials) / n, freedom = (n - 1) * (n - 1);
  double statistic = 0;
  for (const double c : count) statistic += (c - expected) * (c - expected) / expected;
  CHECK(statistic < freedom + 5 * 69.3);
  CHECK(statistic > freedom - 5 * 69.3);
}

}  // namespace data_permutation_test
