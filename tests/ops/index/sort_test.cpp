// sort, argsort and top_k against std::stable_sort: every dtype, row lengths on both sides of the kernels' limits, many
// ties, NaN, zeros of both signs.
#include "tandem/ops/index/sort.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/threads.hpp"
#include "tests/support/values.hpp"

using namespace tandem;

namespace {

// Whether a belongs before b in ascending order.
bool before(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }
std::vector<int> order_of(const std::vector<double>& v, std::size_t first, int n, bool descending) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    const double x = v[first + static_cast<std::size_t>(a)], y = v[first + static_cast<std::size_t>(b)];
    return descending ? before(y, x) : before(x, y);
  });
  return order;
}
// Numbers of a dtype, with ties; floating ones with fractions, zeros of both signs, infinities and NaN.
Tensor numbers(testing::Shapes& random, const Shape& s, DType d, int kinds) {
  const bool floating = is_floating(d), negative = !dtypes::unsigned_integer.has(d);
  std::vector<double> v(static_cast<std::size_t>(s.size()));
  for (double& x : v) {
    x = random.pick(negative ? -kinds : 0, kinds);
    if (!floating) continue;
    const int special = random.pick(0, 40);
    x = special == 0   ? std::numeric_limits<double>::quiet_NaN()
        : special == 1 ? -std::numeric_limits<double>::infinity()
        : special == 2 ? -0.
                       : x * 0.37;
  }
  return cast(constant(v, {.dtype = float64, .shape = s}), d);
}

}  // namespace

TEST_CASE("sort and argsort equal a stable sort", "[sort]") {
  testing::Shapes random(91);
  const DType kinds[] = {float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16};
  for (int round = 0; round < 132; ++round) {
    const DType d = kinds[round % 11];
    const int n = random.pick(1, round % 3 ? 90 : 1500), most = random.pick(1, size_of(d) == 1 ? 100 : 30000);
    const Tensor x = numbers(random, {2, n}, d, most);
    const std::vector<double> v = cast(x, float64).to_vector<double>();
    const Direction direction = round % 2 ? Direction::descending : Direction::ascending;
    const Tensor places = argsort(x, {.direction = direction}), y = cast(sort(x, {.direction = direction}), float64);
    i64 wrong = 0;
    for (int r = 0; r < 2; ++r) {
      const std::vector<int> want = order_of(v, static_cast<std::size_t>(r * n), n, round % 2);
      for (int i = 0; i < n; ++i) {
        const double value = v[static_cast<std::size_t>(r * n + want[static_cast<std::size_t>(i)])];
        const double got = y.at<double>({r, i});
        wrong += places.at<int>({r, i}) != want[static_cast<std::size_t>(i)];
        wrong += !(got == value && std::signbit(got) == std::signbit(value)) && !(std::isnan(got) && std::isnan(value));
      }
    }
    CAPTURE(round, n);
    CHECK(wrong == 0);
  }
}

TEST_CASE("the limits of integers sort as numbers", "[sort]") {
  const Tensor x = constant(std::vector<i64>{0, INT64_MIN, INT64_MAX, -1, 1});
  CHECK(sort(x).to_vector<i64>() == std::vector<i64>{INT64_MIN, -1, 0, 1, INT64_MAX});
  CHECK(sort(x, {.direction = Direction::descending}).to_vector<i64>() ==
        std::vector<i64>{INT64_MAX, 1, 0, -1, INT64_MIN});
  CHECK(sort(constant(std::vector<u64>{5, UINT64_MAX, 0})).to_vector<u64>() == std::vector<u64>{0, 5, UINT64_MAX});
}

TEST_CASE("top_k equals the first of a stable sort, whatever k", "[sort]") {
  testing::Shapes random(92);
  const DType kinds[] = {float32, float64, int8, int16, int32, int64, uint8, uint16};
  for (int round = 0; round < 160; ++round) {
    const DType d = kinds[round % 8];
    const int n = random.pick(1, round % 4 ? 300 : 5000), k = random.pick(1, round % 5 ? n : std::min(n, 64));
    const Tensor x = numbers(random, {1, n}, d, random.pick(1, size_of(d) == 1 ? 100 : 30000));
    std::vector<int> want = order_of(cast(x, float64).to_vector<double>(), 0, n, true);
    want.resize(static_cast<std::size_t>(k));
    CAPTURE(round, n, k);
    const nn::TopK y = nn::top_k(x, k);
    CHECK(y.indices.to_vector<int>() == want);
    CHECK(reduce_all(equal(y.values, y.values) == equal(gather(x, y.indices[0], {.axis = 1}), y.values)).item<bool>());
  }
}

TEST_CASE("sorting does not depend on the number of threads", "[sort]") {
  testing::Shapes random(93);
  const Tensor x = random.reals({40, 3000});
  std::vector<int> one;
  {
    const testing::Threads threads(1);
    one = argsort(x).to_vector<int>();
  }
  const testing::Threads threads(4);
  CHECK(argsort(x).to_vector<int>() == one);
}
