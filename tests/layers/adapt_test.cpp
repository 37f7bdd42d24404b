// adapt() of layers to elements that come one after another; the quantile sketch.
#include <algorithm>
#include <cmath>
#include <random>

#include "tandem/layers/all.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"

namespace layers_adapt_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using Doubles = std::vector<double>;

// x in parts of these numbers of rows.
std::vector<Tensor> parts(const Tensor& x, const std::vector<i64>& rows) {
  std::vector<Tensor> r;
  for (i64 at = 0; const i64 n : rows) r.push_back(x(Slice(at, at + n))), at += n;
  return r;
}
Doubles random_numbers(std::size_t n, unsigned seed) {
  std::mt19937_64 bits(seed);
  std::lognormal_distribution<double> draw(0, 2);
  Doubles r(n);
  for (double& x : r) x = draw(bits);
  return r;
}

TEST_CASE("Normalization: batches of any size are one tensor, to a rounding of float32") {
  const Tensor x = random::stateless_normal({50, 4, 3}, {1, 2}, {.mean = 1000, .stddev = 3});
  for (const Axes& axis : {Axes(-1), Axes{-2, -1}, Axes::none()}) {
    const layers::Normalization whole({.axis = axis}), batches({.axis = axis}), rows({.axis = axis});
    whole.adapt(x);
    batches.adapt(parts(x, {1, 30, 0, 17, 2}));
    std::vector<Tensor> examples;
    for (i64 i = 0; i < 50; ++i) examples.push_back(x[i]);
    rows.adapt(examples);
    for (const layers::Normalization* other : {&batches, &rows})
      for (std::size_t v = 0; v < 2; ++v) {
        const std::vector<float> a = whole.variables()[v].value().to_vector<float>(),
                                 b = other->variables()[v].value().to_vector<float>();
        REQUIRE(a.size() == b.size());
        for (std::size_t i = 0; i < a.size(); ++i) CHECK(std::fabs(a[i] - b[i]) <= 1.2e-7f * std::fabs(a[i]));
      }
  }
}
TEST_CASE("Normalization: float64 statistics of a large tensor, in parts") {
  // 2^20 elements and more are taken in several parts. A mean of 10^4 with a variance of 1/12 needs more than float32.
  const i64 n = 1'500'000;
  Doubles values(static_cast<std::size_t>(n));
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = 10'000 + static_cast<double>(i * 7919 % 1024) / 1024;
    sum += values[i] - 10'000;
  }
  const double mean = sum / static_cast<double>(n);
  for (const double v : values) squares += (v - 10'000 - mean) * (v - 10'000 - mean);
  const layers::Normalization norm;
  norm.adapt(constant(values, {.shape = {n, 1}}));
  CHECK(norm.variables()[0].value().item<float>() == static_cast<float>(10'000 + mean));
  CHECK(norm.variables()[1].value().item<float>() == Approx(squares / static_cast<double>(n)).epsilon(1e-7));
}
TEST_CASE("Normalization: numbers, errors") {
  const layers::Normalization numbers({.axis = Axes::none()});
  numbers.adapt(std::vector<int>{1, 2, 3, 4});
  CHECK(numbers(constant({2.5f})).item<float>() == 0);
  CHECK(numbers.variables()[1].value().item<float>() == 1.25f);
  const layers::Normalization norm;
  CHECK_THROWS_WITH(norm.adapt(std::vector<Tensor>{}), ContainsSubstring("cannot adapt to empty data"));
  CHECK_THROWS_WITH(norm.adapt(std::vector<Tensor>{zeros({0, 2})}), ContainsSubstring("cannot adapt to empty data"));
  CHECK_THROWS_WITH(norm.adapt(std::vector<Tensor>{ones({3, 2}), ones({3, 4})}),
                    ContainsSubstring("(4,) differ from those of the elements before, (2,)"));
  CHECK_THROWS_AS(norm(ones({1, 2})), errors::FailedPreconditionError);  // it learned nothing
  CHECK_THROWS_AS(layers::Normalization({.mean = ones({2}), .variance = ones({2})}).adapt(std::vector<int>{1}),
                  errors::FailedPreconditionError);
}

TEST_CASE("IntegerLookup: batches and single integers are one tensor") {
  const Tensor x = constant({3, 1, 1, 7, 7, 7, 5, 3, 9});
  const layers::IntegerLookup whole({.max_tokens = 4}), batches({.max_tokens = 4}), single;
  whole.adapt(x);
  batches.adapt(parts(x, {4, 0, 5}));
  CHECK(whole.get_vocabulary() == std::vector<i64>{-1, 7, 3, 1});
  CHECK(batches.get_vocabulary() == whole.get_vocabulary());
  single.adapt(std::vector<i64>{4, 4, 2});
  CHECK(single.get_vocabulary() == std::vector<i64>{-1, 4, 2});
  CHECK_THROWS_WITH(single.adapt(std::vector<Tensor>{constant({4}), constant({.5f})}),
                    ContainsSubstring("int32 or int64"));
  CHECK_THROWS_WITH(single.adapt(std::vector<i64>{}), ContainsSubstring("empty"));
  CHECK(single.get_vocabulary() == std::vector<i64>{-1, 4, 2});
}

TEST_CASE("Discretization: batches are one tensor, exactly, whatever their sizes") {
  const std::size_t n = 300'000;  // more than are kept as they are
  const Doubles values = random_numbers(n, 5);
  const Tensor x = constant(values);
  const layers::Discretization whole({.num_bins = 7}), batches({.num_bins = 7}), single({.num_bins = 7});
  whole.adapt(x);
  batches.adapt(parts(x, {1, 70'000, 200'000, 0, 29'999}));
  single.adapt(values);
  CHECK(whole.bin_boundaries().size() == 6);
  CHECK(batches.bin_boundaries() == whole.bin_boundaries());
  CHECK(single.bin_boundaries() == whole.bin_boundaries());
  CHECK_THROWS_WITH(whole.adapt(Doubles{1, NAN}), ContainsSubstring("NaN"));
  CHECK_THROWS_WITH(whole.adapt(Doubles{}), ContainsSubstring("empty"));
  CHECK(batches.bin_boundaries() == whole.bin_boundaries());
}
TEST_CASE("QuantileSketch: the ranks of what is kept are within the bound; few values are kept as they are") {
  using layers::detail::QuantileSketch;
  const std::size_t capacity = 64;
  for (const std::size_t n : {1u, 63u, 64u, 65u, 127u, 1000u, 100'000u})
    for (const bool sorted : {false, true}) {
      Doubles values = random_numbers(n, static_cast<unsigned>(n));
      Doubles ascending = values;
      std::sort(ascending.begin(), ascending.end());
      if (sorted) values = ascending;  // the worst order for samples
      QuantileSketch small(capacity), exact(2 * n);
      small.add("test", constant(values)), exact.add("test", constant(values));
      CHECK(small.size() == static_cast<i64>(n));
      const double bound =
          n < 2 * capacity
              ? 0
              : std::log2(static_cast<double>(n) / capacity) / (2. * capacity) * static_cast<double>(n) + 1;
      const int bins = n < 20 ? 1 : 10;
      const double epsilon = 1. / static_cast<double>(std::max<std::size_t>(n, 10));  // no value between two ranks
      const Doubles found = small.boundaries(bins, epsilon), right = exact.boundaries(bins, epsilon);
      REQUIRE(found.size() == right.size());
      const auto rank = [&](double x) {
        return static_cast<double>(std::lower_bound(ascending.begin(), ascending.end(), x) - ascending.begin());
      };
      for (std::size_t i = 0; i < found.size(); ++i) {
        INFO(n << " values, boundary " << i << ": " << found[i] << " for " << right[i]);
        CHECK(std::fabs(rank(found[i]) - rank(right[i])) <= bound);
      }
    }
}

}  // namespace layers_adapt_test
