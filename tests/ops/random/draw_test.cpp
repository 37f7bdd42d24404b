// The distributions of normal, truncated_normal and uniform, their dtypes, options and errors.
#include "tandem/ops/random/draw.hpp"

#include <algorithm>
#include <cmath>

#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

struct Moments {
  double mean = 0, variance = 0, skew = 0, kurtosis = 0;
};
template <class T>
Moments moments(const std::vector<T>& x) {
  Moments m;
  const auto n = static_cast<double>(x.size());
  for (T v : x) m.mean += static_cast<double>(v) / n;
  for (T v : x) {
    const double d = static_cast<double>(v) - m.mean;
    m.variance += d * d / n;
    m.skew += d * d * d / n;
    m.kurtosis += d * d * d * d / n;
  }
  m.skew /= std::pow(m.variance, 1.5);
  m.kurtosis /= m.variance * m.variance;
  return m;
}
double normal_cdf(double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); }
// The largest distance between the empirical distribution and the true one, times sqrt(n) (Kolmogorov).
template <class T, class F>
double kolmogorov(std::vector<T> x, F cdf) {
  std::sort(x.begin(), x.end());
  double worst = 0;
  const auto n = static_cast<double>(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double f = cdf(static_cast<double>(x[i]));
    worst = std::max({worst, std::abs(f - static_cast<double>(i) / n), std::abs(f - static_cast<double>(i + 1) / n)});
  }
  return worst * std::sqrt(n);
}
constexpr i64 many = 100'000;

}  // namespace

TEST_CASE("normal: moments and distribution") {
  const auto z = random::normal({many}, {.seed = 1}).to_vector<float>();
  const Moments m = moments(z);
  CHECK(std::abs(m.mean) < 0.02);
  CHECK(std::abs(m.variance - 1) < 0.03);
  CHECK(std::abs(m.skew) < 0.05);
  CHECK(std::abs(m.kurtosis - 3) < 0.15);
  CHECK(kolmogorov(z, normal_cdf) < 1.95);  // 1.95: passed by 999 of 1000 true samples
  const auto d = random::normal({many}, {.dtype = float64, .seed = 2}).to_vector<double>();
  CHECK(kolmogorov(d, normal_cdf) < 1.95);
  CHECK(std::abs(moments(d).kurtosis - 3) < 0.15);
}

TEST_CASE("normal: neighbours are not correlated at any small distance") {
  const auto z = random::normal({many}, {.seed = 3}).to_vector<float>();
  for (const std::size_t lag : {1u, 2u, 3u, 4u, 8u, 16u, 32u, 48u, 64u, 128u}) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i + lag < z.size(); ++i) {
      sum += static_cast<double>(z[i]) * static_cast<double>(z[i + lag]);
      const double a = static_cast<double>(z[i]) * static_cast<double>(z[i]) - 1;
      squares += a * (static_cast<double>(z[i + lag]) * static_cast<double>(z[i + lag]) - 1);
    }
    INFO("lag " << lag);
    CHECK(std::abs(sum / many) < 0.016);
    CHECK(std::abs(squares / many) < 0.04);
  }
}

TEST_CASE("normal: mean and stddev as numbers and as tensors") {
  const std::array<i64, 2> seed{7, 0};
  const auto z = random::stateless_normal({4}, seed).to_vector<float>();
  const auto scaled = random::stateless_normal({4}, seed, {.mean = 5, .stddev = 2}).to_vector<float>();
  const Tensor mean = constant({1.f, 2.f, 3.f, 4.f}), stddev = constant(0.5f);
  const auto by_tensor = random::stateless_normal({4}, seed, {.mean = mean, .stddev = stddev}).to_vector<float>();
  for (std::size_t i = 0; i < 4; ++i) {
    CHECK(scaled[i] == Approx(z[i] * 2 + 5));
    CHECK(by_tensor[i] == Approx(z[i] * 0.5f + static_cast<float>(i + 1)));
  }
  CHECK(random::stateless_normal({3}, seed, {.stddev = 0}).to_vector<float>() == std::vector<float>{0, 0, 0});
}

TEST_CASE("normal: gradients to mean and stddev") {
  const std::array<i64, 2> seed{7, 1};
  const Tensor mean = constant(1.f), stddev = constant(2.f);
  GradientTape tape({.persistent = true});
  tape.watch(mean);
  tape.watch(stddev);
  const Tensor y = random::stateless_normal({10}, seed, {.mean = mean, .stddev = stddev});
  float sum = 0;
  for (const float z : random::stateless_normal({10}, seed).to_vector<float>()) sum += z;
  CHECK(tape.gradient(y, mean).item<float>() == 10.f);
  CHECK(tape.gradient(y, stddev).item<float>() == Approx(sum));
}

TEST_CASE("truncated_normal: within two deviations, with the variance that leaves") {
  const auto z = random::truncated_normal({many}, {.mean = 5, .stddev = 1, .seed = 4}).to_vector<float>();
  CHECK(*std::min_element(z.begin(), z.end()) >= 3);
  CHECK(*std::max_element(z.begin(), z.end()) <= 7);
  const Moments m = moments(z);
  CHECK(std::abs(m.mean - 5) < 0.02);
  CHECK(std::abs(m.variance - 0.7737) < 0.015);
  const double inside = normal_cdf(2) - normal_cdf(-2);
  CHECK(kolmogorov(z, [&](double x) { return (normal_cdf(x - 5) - normal_cdf(-2)) / inside; }) < 1.95);
  const auto d = random::truncated_normal({many}, {.dtype = float64, .seed = 4}).to_vector<double>();
  CHECK(std::all_of(d.begin(), d.end(), [](double x) { return std::abs(x) <= 2; }));
  CHECK(kolmogorov(d, [&](double x) { return (normal_cdf(x) - normal_cdf(-2)) / inside; }) < 1.95);
}

TEST_CASE("uniform: ten even bins") {
  const auto check = [](const auto& x) {
    std::vector<int> bins(10);
    for (auto v : x) {
      REQUIRE(v >= 0);
      REQUIRE(v < 10);
      ++bins[static_cast<std::size_t>(v)];
    }
    for (const int n : bins) CHECK(std::abs(n - 10'000) <= 400);
  };
  check(random::uniform({many}, {.minval = 0, .maxval = 10, .seed = 5}).to_vector<float>());
  check(random::uniform({many}, {.minval = 0, .maxval = 10, .dtype = float64, .seed = 5}).to_vector<double>());
  check(random::uniform({many}, {.minval = 0, .maxval = 10, .dtype = int32, .seed = 5}).to_vector<std::int32_t>());
  check(random::uniform({many}, {.maxval = 10, .dtype = uint8, .seed = 5}).to_vector<std::uint8_t>());
  check(random::uniform({many}, {.maxval = 10, .dtype = int64, .seed = 5}).to_vector<i64>());
}

TEST_CASE("uniform: the upper end is never reached") {
  const auto x =
      random::uniform({1'000'000}, {.minval = 1, .maxval = std::nextafter(1.f, 2.f), .seed = 6}).to_vector<float>();
  CHECK(std::all_of(x.begin(), x.end(), [](float v) { return v == 1.f; }));
  const auto wide = random::uniform({1'000'000}, {.minval = -1000, .maxval = 1e-3, .seed = 6}).to_vector<float>();
  CHECK(std::all_of(wide.begin(), wide.end(), [](float v) { return v >= -1000 && v < 1e-3f; }));
  for (const DType half : {float16, bfloat16}) {
    const auto h = cast(random::uniform({100'000}, {.dtype = half, .seed = 6}), float32).to_vector<float>();
    CHECK(std::all_of(h.begin(), h.end(), [](float v) { return v >= 0 && v < 1; }));
    CHECK(std::abs(moments(h).mean - 0.5) < 0.01);
  }
}

TEST_CASE("uniform: integers at the ends of their dtype") {
  const auto bytes =
      random::uniform({100'000}, {.minval = -128, .maxval = 128, .dtype = int8, .seed = 7}).to_vector<std::int8_t>();
  CHECK(std::count(bytes.begin(), bytes.end(), -128) > 250);
  CHECK(std::count(bytes.begin(), bytes.end(), 127) > 250);
  const auto longs = random::uniform({1000}, {.minval = INT64_MIN, .maxval = INT64_MAX, .dtype = int64, .seed = 7});
  double mean = 0;
  for (const i64 v : longs.to_vector<i64>()) mean += static_cast<double>(v) / 1000;
  CHECK(std::abs(mean) < 1e18);
  const auto high = random::uniform({1000}, {.minval = u64(1) << 63, .maxval = UINT64_MAX, .dtype = uint64, .seed = 7});
  for (const u64 v : high.to_vector<u64>()) CHECK(v >> 63 == 1);
  mean = 0;
  for (const u64 v : random::uniform({1000}, {.maxval = UINT64_MAX, .dtype = uint64, .seed = 7}).to_vector<u64>())
    mean += static_cast<double>(v) / 1000;
  CHECK(std::abs(mean - 0x1p63) < 1e18);
  CHECK_THROWS_AS(random::uniform({2}, {.minval = -1, .maxval = 5, .dtype = uint64}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(random::uniform({2}, {.minval = 0, .maxval = u64(1) << 63, .dtype = int64}),
                  errors::InvalidArgumentError);
  CHECK(random::uniform({5}, {.minval = 3, .maxval = 4, .dtype = int32}).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>(5, 3));
}

TEST_CASE("uniform: integers have no modulo bias") {
  // A range of 3 * 2^62: taking the remainder would give the lowest third twice as often.
  const i64 low = INT64_MIN, high = INT64_MIN + 3 * (i64(1) << 61) + 3 * (i64(1) << 61) - 1;
  const auto x = random::uniform({30'000}, {.minval = low, .maxval = high, .dtype = int64, .seed = 8}).to_vector<i64>();
  int thirds[3] = {};
  for (const i64 v : x) ++thirds[(static_cast<u64>(v) - static_cast<u64>(low)) >> 62];
  for (const int n : thirds) CHECK(std::abs(n - 10'000) < 400);
}

TEST_CASE("random: dtypes, shapes, tensors of sizes") {
  CHECK(random::normal({2, 3}).spec() == Spec{{2, 3}, float32, {}});
  CHECK(random::normal({}).shape() == Shape{});
  CHECK(random::normal({0, 4}).size() == 0);
  CHECK(random::normal({2}, {.dtype = float16}).dtype() == float16);
  CHECK(random::uniform(constant({2, 5})).shape() == Shape{2, 5});
  CHECK(random::normal(Shape{3}).shape() == Shape{3});
  CHECK(random::bits({2}, {.dtype = int64}).dtype() == int64);
  CHECK(random::stateless_normal({2}, constant({1, 2})).to_vector<float>() ==
        random::stateless_normal({2}, {1, 2}).to_vector<float>());
  CHECK(random::stateless_uniform(constant({7}), {1, 2}).to_vector<float>() ==
        random::stateless_uniform({7}, {1, 2}).to_vector<float>());
}

TEST_CASE("random: bad arguments") {
  using errors::InvalidArgumentError;
  CHECK_THROWS_AS(random::normal({2}, {.dtype = int32}), InvalidArgumentError);
  CHECK_THROWS_WITH(random::normal({2}, {.stddev = -1}), ContainsSubstring("negative"));
  CHECK_THROWS_AS(random::normal({-2}), InvalidArgumentError);
  CHECK_THROWS_AS(random::uniform({2}, {.minval = 1, .maxval = 1}), InvalidArgumentError);
  CHECK_THROWS_WITH(random::uniform({2}, {.dtype = int32}), ContainsSubstring("needs .maxval"));
  CHECK_THROWS_AS(random::uniform({2}, {.maxval = 2.5, .dtype = int32}), InvalidArgumentError);
  CHECK_THROWS_WITH(random::uniform({2}, {.maxval = 300, .dtype = uint8}), ContainsSubstring("cannot hold"));
  CHECK_THROWS_AS(random::uniform({2}, {.minval = -3e38, .maxval = 3e38}), InvalidArgumentError);
  CHECK_THROWS_AS(random::uniform({2}, {.minval = NAN}), InvalidArgumentError);
  CHECK_THROWS_AS(random::uniform({2}, {.dtype = bool_}), InvalidArgumentError);
  CHECK_THROWS_AS(random::bits({2}, {.dtype = uint8}), InvalidArgumentError);
  CHECK_THROWS_AS(random::stateless_normal({2}, {1, 2, 3}), InvalidArgumentError);
  CHECK_THROWS_AS(random::stateless_normal({2}, constant({1.f, 2.f})), InvalidArgumentError);
}
