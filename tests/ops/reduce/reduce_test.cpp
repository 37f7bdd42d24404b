// reduce_sum ... reduce_all against loops over every axis subset; examples, empty inputs, NaN, wrapping, errors.
#include "tandem/ops/reduce/reduce.hpp"

#include <limits>

#include "gradients.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/support/catch.hpp"

namespace reduce_test {
using namespace tandem;
using loops::numbers;

using loops::Reduction;
using Fold = double (*)(const std::vector<double>&);

double sum(const std::vector<double>& v) {
  double r = 0;
  for (double x : v) r += x;
  return r;
}
double sum_int8(const std::vector<double>& v) { return static_cast<std::int8_t>(static_cast<int>(sum(v))); }  // wraps
double sum_uint8(const std::vector<double>& v) { return static_cast<std::uint8_t>(static_cast<int>(sum(v))); }
double mean(const std::vector<double>& v) { return sum(v) / static_cast<double>(v.size()); }
double whole_mean(const std::vector<double>& v) { return std::trunc(mean(v)); }
double prod(const std::vector<double>& v) {
  double r = 1;
  for (double x : v) r *= x;
  return r;
}
// The product as an integer of type T has it: modulo 2^bits.
template <class T>
double wrapped_prod(const std::vector<double>& v) {
  u64 r = 1;
  for (double x : v) r *= static_cast<u64>(static_cast<i64>(x));
  return static_cast<double>(static_cast<T>(r));
}
Fold product_of(DType d) {
  switch (d) {
    case DType::int8: return &wrapped_prod<std::int8_t>;
    case DType::int16: return &wrapped_prod<std::int16_t>;
    case DType::int32: return &wrapped_prod<std::int32_t>;
    case DType::int64: return &wrapped_prod<i64>;
    case DType::uint8: return &wrapped_prod<std::uint8_t>;
    case DType::uint16: return &wrapped_prod<std::uint16_t>;
    case DType::uint32: return &wrapped_prod<std::uint32_t>;
    default: return &wrapped_prod<u64>;
  }
}
double largest(const std::vector<double>& v) {
  double r = v[0];
  for (double x : v) r = x > r ? x : r;
  return r;
}
double smallest(const std::vector<double>& v) {
  double r = v[0];
  for (double x : v) r = x < r ? x : r;
  return r;
}

void check_everywhere(Reduction f, Fold by_loop, const Tensor& x, double tolerance) {
  const auto values = numbers(x);
  for (std::uint32_t mask = 0; mask < 1u << x.rank(); ++mask) {
    const auto groups = loops::groups(x.shape(), values, mask);
    for (bool keepdims : {false, true}) {
      const Tensor y = f(x, {.axis = loops::axes_of(x.rank(), mask), .keepdims = keepdims});
      INFO(to_string(x.spec()) << " over " << mask);
      REQUIRE(y.shape() == loops::reduced(x.shape(), mask, keepdims));
      REQUIRE(y.dtype() == x.dtype());
      const auto got = numbers(y);
      REQUIRE(got.size() == groups.size());
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double want = by_loop(groups[i].values);
        if (!(std::abs(got[i] - want) <= tolerance * (1 + std::abs(want))))
          FAIL("element " << i << " is " << got[i] << ", not " << want);
      }
    }
  }
}

TEST_CASE("reductions agree with loops over every axis subset") {
  for (int rank = 0; rank <= 4; ++rank)
    for (const Shape& s : loops::shapes(rank)) {
      for (DType d : {DType::float32, DType::float64}) {
        const Tensor x = loops::random(s, 7, d);
        const double tolerance = d == DType::float32 ? 1e-5 : 1e-13;
        check_everywhere(&reduce_sum, &sum, x, tolerance);
        check_everywhere(&reduce_mean, &mean, x, tolerance);
        check_everywhere(&reduce_prod, &prod, x, tolerance);
        check_everywhere(&reduce_max, &largest, x, 0);
        check_everywhere(&reduce_min, &smallest, x, 0);
      }
      for (DType d : {DType::int8, DType::int16, DType::int32, DType::int64, DType::uint8, DType::uint16, DType::uint32,
                      DType::uint64}) {
        const bool is_signed = dtypes::signed_integer.has(d);
        const Tensor x = loops::random_ints(s, 3, d, is_signed ? -7 : 0);
        check_everywhere(&reduce_sum, d == DType::int8 ? &sum_int8 : d == DType::uint8 ? &sum_uint8 : &sum, x, 0);
        check_everywhere(&reduce_prod, product_of(d), x, 0);
        check_everywhere(&reduce_mean, &whole_mean, x, 0);
        check_everywhere(&reduce_max, &largest, x, 0);
        check_everywhere(&reduce_min, &smallest, x, 0);
      }
      const Tensor b = cast(loops::random_ints(s, 5, DType::int32, 0, 1), DType::bool_);
      check_everywhere(&reduce_any, &largest, b, 0);
      check_everywhere(&reduce_all, &smallest, b, 0);
    }
}

// Added one by one, as the first check does, such a sum is off by far more.
TEST_CASE("reductions of long arrays keep their accuracy, whatever the pattern") {
  const auto one_by_one = [](const Tensor& x) {
    float r = 0;
    for (const float v : x.to_vector<float>()) r += v;
    return static_cast<double>(r);
  };
  const Tensor equal = fill({4'000'000}, 0.1f);
  const double want = 4e6 * static_cast<double>(0.1f);
  CHECK(std::abs(one_by_one(equal) - want) > 1e-3 * want);
  for (const Shape& s : {Shape{4'000'000}, Shape{2, 2'000'000}, Shape{2'000'000, 2}, Shape{1000, 4, 1000},
                         Shape{2000, 2000}, Shape{4, 1000, 10, 100}}) {
    const Tensor x = fill(s, 0.1f);
    for (std::uint32_t mask = 1; mask < 1u << s.rank(); ++mask) {
      INFO(to_string(s) << " over " << mask);
      const Axes axes = loops::axes_of(s.rank(), mask);
      const Tensor y = reduce_sum(x, {.axis = axes}), m = reduce_mean(x, {.axis = axes});
      const double each = want / static_cast<double>(y.size());
      for (const float v : y.to_vector<float>())
        if (!(std::abs(v - each) <= 1e-6 * each)) FAIL("the sum is " << v << ", not " << each);
      for (const float v : m.to_vector<float>())
        if (!(std::abs(v - 0.1f) <= 1e-6 * 0.1f)) FAIL("the mean is " << v << ", not 0.1");
    }
  }
}

TEST_CASE("reductions of long arrays agree with loops, whatever the pattern") {
  for (const Shape& s : {Shape{300000}, Shape{3, 100000}, Shape{100000, 3}, Shape{1000, 2, 150}, Shape{64, 3, 32, 33},
                         Shape{700, 700}, Shape{5, 2000, 40}}) {
    const Tensor x = loops::positive(s, 11);
    check_everywhere(&reduce_sum, &sum, x, 1e-6);
    check_everywhere(&reduce_max, &largest, x, 0);
  }
}

TEST_CASE("reduction examples") {
  const Tensor x = constant({{2.f, 3.f}, {3.f, 4.f}});
  CHECK(reduce_sum(x).item<float>() == 12);
  CHECK(reduce_sum(x, 0).to_vector<float>() == std::vector<float>{5, 7});
  CHECK(reduce_sum(x, -1).to_vector<float>() == std::vector<float>{5, 7});
  CHECK(reduce_sum(x, {.axis = {0, -1}}).item<float>() == 12);
  CHECK(reduce_sum(x, {.axis = Axes::none()}).to_vector<float>() == x.to_vector<float>());
  CHECK(reduce_mean(constant({1, 0, 1, 0})).item<int>() == 0);
  CHECK(reduce_mean(constant({-3, -4})).item<int>() == -3);
  CHECK(reduce_prod(constant({{5, 3}, {2, 1}})).item<int>() == 30);
  CHECK(reduce_any(constant({true, false})).item<bool>());
  CHECK_FALSE(reduce_all(constant({true, false})).item<bool>());
  CHECK(reduce_sum(constant(7.f)).item<float>() == 7);
}

TEST_CASE("reductions of nothing") {
  const Tensor x = constant(std::vector<float>{}, {.shape = {0}});
  const Tensor n = constant(std::vector<int>{}, {.shape = {0}});
  const float inf = std::numeric_limits<float>::infinity();
  CHECK(reduce_sum(x).item<float>() == 0);
  CHECK(reduce_prod(x).item<float>() == 1);
  CHECK(std::isnan(reduce_mean(x).item<float>()));
  CHECK(reduce_max(x).item<float>() == -inf);
  CHECK(reduce_min(x).item<float>() == inf);
  CHECK(reduce_max(n).item<int>() == std::numeric_limits<int>::lowest());
  CHECK(reduce_min(n).item<int>() == std::numeric_limits<int>::max());
  CHECK_FALSE(reduce_any(cast(n, DType::bool_)).item<bool>());
  CHECK(reduce_all(cast(n, DType::bool_)).item<bool>());
  CHECK_THROWS_WITH(reduce_mean(n),
                    ContainsSubstring("reduce_mean: the mean of no integers") && ContainsSubstring("int32[0]"));
  const Tensor wide = constant(std::vector<float>{}, {.shape = {3, 0, 2}});
  CHECK(reduce_sum(wide, 1).to_vector<float>() == std::vector<float>(6));
  CHECK(reduce_sum(wide, 0).shape() == Shape{0, 2});
}

TEST_CASE("NaN passes through extremes") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (i64 n : {3, 40, 1000})
    for (i64 at : {i64(0), n / 2, n - 1}) {
      std::vector<float> v(static_cast<std::size_t>(n), 1.f);
      v[static_cast<std::size_t>(at)] = nan;
      CHECK(std::isnan(reduce_max(constant(v)).item<float>()));
      CHECK(std::isnan(reduce_min(constant(v)).item<float>()));
      CHECK(std::isnan(reduce_max(constant(v, {.shape = {n, 1, 1}}), 0).at<float>({0, 0})));
    }
}

TEST_CASE("integer sums and products wrap") {
  const std::vector<std::int8_t> v(100, 100);
  CHECK(reduce_sum(constant(v)).item<std::int8_t>() == static_cast<std::int8_t>(100 * 100));
  CHECK(reduce_mean(constant(v)).item<std::int8_t>() == 100);
  const std::vector<int> big(4, 1 << 20);
  CHECK(reduce_prod(constant(big)).item<int>() == 0);
  CHECK(reduce_sum(constant(std::vector<std::uint8_t>(300, 1))).item<std::uint8_t>() == 44);
}

TEST_CASE("complex sums, means and products") {
  const std::vector<std::complex<float>> v{{1, 2}, {3, -1}, {0, 1}, {2, 2}};
  const Tensor x = constant(v, {.shape = {2, 2}});
  using C = std::complex<float>;
  CHECK(reduce_sum(x).item<C>() == C(6, 4));
  CHECK(reduce_sum(x, 0).to_vector<C>() == std::vector<C>{{1, 3}, {5, 1}});
  CHECK(reduce_mean(x, 1).to_vector<C>() == std::vector<C>{{2, 0.5f}, {1, 1.5f}});
  CHECK(reduce_prod(x, 1).to_vector<C>() == std::vector<C>{C(1, 2) * C(3, -1), C(0, 1) * C(2, 2)});
}

TEST_CASE("reduction errors name op, axis and rank") {
  const Tensor x = constant({1.f, 2.f});
  CHECK_THROWS_WITH(reduce_sum(x, 1), ContainsSubstring("reduce_sum: axis 1 is out of range for rank 1"));
  CHECK_THROWS_WITH(reduce_sum(x, {.axis = {0, -1}}), ContainsSubstring("axis -1 is given twice"));
  CHECK_THROWS_WITH(reduce_max(constant(1.f), 0), ContainsSubstring("a scalar has no axes"));
  CHECK_THROWS_WITH(reduce_sum(x, {.name = "total", .axis = 3}), ContainsSubstring("reduce_sum 'total'"));
  CHECK_THROWS_AS(reduce_any(x), errors::UnimplementedError);
  CHECK_THROWS_AS(reduce_max(constant({"a"})), errors::UnimplementedError);
}

TEST_CASE("gradients of reductions agree with differences, to second order") {
  for (const Shape& s : {Shape{3}, Shape{2, 3}, Shape{2, 3, 2}})
    for (std::uint32_t mask = 0; mask < 1u << s.rank(); ++mask)
      for (Reduction f : std::initializer_list<Reduction>{&reduce_sum, &reduce_mean, &reduce_prod, &reduce_max})
        loops::check_gradients(f, loops::random(s, 23, DType::float64), mask);
}

std::vector<float> slope(Reduction f, const Tensor& x) {
  GradientTape tape;
  tape.watch(x);
  return tape.gradient(f(x, {}), x).to_vector<float>();
}

TEST_CASE("gradients at ties and zeros") {
  CHECK(slope(&reduce_max, constant({1.f, 3.f, 3.f})) == std::vector<float>{0, .5f, .5f});
  CHECK(slope(&reduce_min, constant({1.f, 3.f, 1.f, 1.f})) == std::vector<float>{1 / 3.f, 0, 1 / 3.f, 1 / 3.f});
  CHECK(slope(&reduce_prod, constant({0.f, 2.f, 3.f})) == std::vector<float>{6, 0, 0});
  CHECK(slope(&reduce_prod, constant({0.f, 2.f, 0.f})) == std::vector<float>{0, 0, 0});
  CHECK(slope(&reduce_prod, constant({{0.f, 2.f}, {3.f, 5.f}})) == std::vector<float>{30, 0, 0, 0});
  CHECK(slope(&reduce_prod, constant({2.f, 3.f, 4.f})) == std::vector<float>{12, 8, 6});
}

}  // namespace reduce_test
