// sort, argsort and top_k against std::stable_sort: every dtype and instruction set, row lengths on both sides of the
// kernels' limits, many ties, NaN, zeros of both signs, rows that mislead the choice of pivots and samples.
#include "tandem/ops/index/sort.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "tandem/cpu/simd/isa.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sets.hpp"
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

void check_order(const Tensor& x) {
  const int n = static_cast<int>(x.shape()[0]);
  const std::vector<double> v = cast(x, float64).to_vector<double>();
  const std::vector<int> up = order_of(v, 0, n, false), down = order_of(v, 0, n, true);
  CHECK(argsort(x).to_vector<int>() == up);
  CHECK(argsort(x, {.direction = Direction::descending}).to_vector<int>() == down);
  for (const int k : {1, 5, 40, 100, n}) {
    if (k > n) continue;
    CAPTURE(n, k);
    CHECK(nn::top_k(x, k).indices.to_vector<int>() == std::vector<int>(down.begin(), down.begin() + k));
  }
}
// Positions whose elements a pivot is chosen from: five runs of `lanes` elements.
std::vector<std::size_t> sampled(std::size_t n, std::size_t lanes) {
  std::vector<std::size_t> at;
  for (std::size_t k = 0; k < 5; ++k)
    for (std::size_t i = 0; i < lanes; ++i) at.push_back(k * ((n - lanes) / 4) + i);
  return at;
}
// A row of which every pivot is nearly the smallest element: what is sampled gets the smallest numbers that are left.
std::vector<float> misleading_row(std::size_t n, std::size_t lanes) {
  std::vector<float> row(n, -1);
  std::vector<std::size_t> left(n);
  std::iota(left.begin(), left.end(), std::size_t{0});
  for (float next = 0; left.size() > 16 * lanes;) {
    const std::vector<std::size_t> at = sampled(left.size(), lanes);
    for (const std::size_t i : at)
      if (row[left[i]] < 0) row[left[i]] = next++;
    std::vector<float> medians;
    for (std::size_t i = 0; i < lanes; ++i) {
      std::vector<float> five;
      for (std::size_t k = 0; k < 5; ++k) five.push_back(row[left[at[k * lanes + i]]]);
      std::sort(five.begin(), five.end());
      medians.push_back(five[2]);
    }
    std::sort(medians.begin(), medians.end());
    std::erase_if(left, [&](std::size_t i) { return row[i] >= 0 && row[i] < medians[lanes / 2]; });
  }
  for (float& x : row)
    if (x < 0) x = static_cast<float>(n);
  return row;
}

}  // namespace

TEST_CASE("every instruction set sorts alike", "[sort]") {
  testing::Shapes random(94);
  testing::on_every_set([&] {
    for (const int n : {1, 9, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 300, 1001, 6000})
      for (const DType d : {float32, int32, uint32, float64, int16})
        check_order(numbers(random, {n}, d, 1 << (n % 15)));
  });
}

TEST_CASE("rows that mislead the choice of pivots and samples are sorted", "[sort]") {
  testing::on_every_set([] {
    check_order(constant(misleading_row(3000, cpu::isa() == cpu::level_v4 ? 8 : 4)));
    for (const float outlier : {-1e30f, 1e30f, std::numeric_limits<float>::quiet_NaN()}) {
      constexpr std::size_t n = 20000, sample = 512;
      std::vector<float> row(n);
      for (std::size_t i = 0; i < n; ++i) row[i] = static_cast<float>((i * 7919) % n);
      for (std::size_t i = 0; i < sample; ++i) row[i * n / sample] = outlier;
      check_order(constant(row));
    }
  });
}

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
