// cumsum and cumprod against loops in all four modes and on every axis; gradients with zeros; linear_scan and shift.
#include "tandem/ops/reduce/scan.hpp"

#include <algorithm>
#include <limits>

#include "loops.hpp"
#include "tandem/autodiff/check.hpp"
#include "tandem/autodiff/tape.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/sets.hpp"

namespace scan_test {
using namespace tandem;
using loops::numbers;
using Scan = Tensor (*)(const Tensor&, ScanOptions);

void check_scan(Scan f, bool product, const Tensor& x, double tolerance) {
  const auto values = numbers(x);
  for (int axis = 0; axis < x.rank(); ++axis)
    for (int mode = 0; mode < 4; ++mode) {
      const bool exclusive = mode & 1, reverse = mode & 2;
      const Tensor y = f(x, {.axis = axis % 2 ? axis - x.rank() : axis, .exclusive = exclusive, .reverse = reverse});
      REQUIRE(y.shape() == x.shape());
      const auto got = numbers(y);
      for (auto& g : loops::groups(x.shape(), values, 1u << axis)) {
        if (reverse) std::reverse(g.places.begin(), g.places.end());
        double carry = product ? 1 : 0, size = 1;
        for (i64 p : g.places) {
          const double v = values[static_cast<std::size_t>(p)], next = product ? carry * v : carry + v;
          size += std::abs(v);
          INFO(to_string(x.spec()) << " axis " << axis << " mode " << mode << " at " << p);
          REQUIRE(std::abs(got[static_cast<std::size_t>(p)] - (exclusive ? carry : next)) <= tolerance * size);
          carry = next;
        }
      }
    }
}

TEST_CASE("scans agree with loops on every axis") {
  for (int rank = 1; rank <= 4; ++rank)
    for (const Shape& s : loops::shapes(rank)) {
      check_scan(&cumsum, false, loops::random(s, 2), 1e-6);
      check_scan(&cumsum, false, loops::random(s, 2, DType::float64), 1e-14);
      check_scan(&cumprod, true, loops::random(s, 3, DType::float64), 1e-6);
      for (DType d : {DType::int16, DType::int32, DType::int64, DType::uint32}) {
        check_scan(&cumsum, false, loops::random_ints(s, 4, d), 0);
        check_scan(&cumprod, true, loops::random_ints(s, 5, d, 0, 1), 0);
      }
    }
}
TEST_CASE("scans of long rows") {
  for (i64 n : {255, 256, 1023, 4096, 5000, 100001}) {
    check_scan(&cumsum, false, loops::random_ints({n}, 6, DType::int64, -50, 50), 0);
    check_scan(&cumsum, false, loops::positive({n}, 7), 1e-5);
  }
  check_scan(&cumsum, false, loops::random_ints({700, 3}, 8, DType::int32), 0);
  check_scan(&cumsum, false, loops::random_ints({3, 2100}, 9, DType::int32), 0);
}
TEST_CASE("every instruction set scans rows of every length") {
  testing::on_every_set([] {
    for (i64 n = 1; n < 70; ++n) {
      check_scan(&cumsum, false, loops::random_ints({2, n}, 10, DType::int32), 0);
      check_scan(&cumsum, false, loops::random_ints({2, n}, 11, DType::int64), 0);
      check_scan(&cumsum, false, loops::random({2, n}, 12), 1e-6);
    }
  });
}
TEST_CASE("scan examples") {
  const Tensor x = constant({1, 2, 3});
  CHECK(cumsum(x).to_vector<int>() == std::vector<int>{1, 3, 6});
  CHECK(cumsum(x, {.exclusive = true}).to_vector<int>() == std::vector<int>{0, 1, 3});
  CHECK(cumsum(x, {.reverse = true}).to_vector<int>() == std::vector<int>{6, 5, 3});
  CHECK(cumsum(x, {.exclusive = true, .reverse = true}).to_vector<int>() == std::vector<int>{5, 3, 0});
  CHECK(cumprod(x).to_vector<int>() == std::vector<int>{1, 2, 6});
  CHECK(cumsum(constant({{1, 2}, {3, 4}}), -1).to_vector<int>() == std::vector<int>{1, 3, 3, 7});
  CHECK(cumsum(constant(std::vector<float>{}, {.shape = {0, 2}})).shape() == Shape{0, 2});
  CHECK(cumsum(constant(std::vector<std::int8_t>{100, 100})).at<std::int8_t>({1}) == static_cast<std::int8_t>(200));
  using C = std::complex<float>;
  const Tensor z = constant(std::vector<C>{{1, 1}, {2, -1}, {0, 1}});
  CHECK(cumsum(z).to_vector<C>() == std::vector<C>{{1, 1}, {3, 0}, {3, 1}});
  CHECK(cumprod(z).to_vector<C>() == std::vector<C>{{1, 1}, {3, 1}, {-1, 3}});
  CHECK_THROWS_WITH(cumsum(x, 1), ContainsSubstring("cumsum: axis 1 is out of range for rank 1"));
  CHECK_THROWS_WITH(cumprod(constant(1.f)), ContainsSubstring("a scalar has no axes"));
}
TEST_CASE("linear_scan and shift") {
  const Tensor a = constant({2.f, 3.f, 4.f}), b = constant({1.f, 1.f, 1.f});
  CHECK(detail::linear_scan(a, b, 0, false).to_vector<float>() == std::vector<float>{1, 4, 17});
  CHECK(detail::linear_scan(a, b, 0, true).to_vector<float>() == std::vector<float>{9, 4, 1});
  const float inf = std::numeric_limits<float>::infinity();  // a = 0 begins anew, whatever came before
  CHECK(detail::linear_scan(constant({0.f, inf, 0.f}), constant({2.f, 1.f, 3.f}), 0, false).to_vector<float>() ==
        std::vector<float>{2, inf, 3});
  CHECK(detail::shift(a, 0, false).to_vector<float>() == std::vector<float>{0, 2, 3});
  CHECK(detail::shift(a, 0, true).to_vector<float>() == std::vector<float>{3, 4, 0});
  const Tensor m = constant({{1.f, 2.f}, {3.f, 4.f}});
  CHECK(detail::shift(m, 1, false).to_vector<float>() == std::vector<float>{0, 1, 0, 3});
}
TEST_CASE("gradients of scans agree with differences, to second order, zeros included") {
  for (bool zeros : {false, true})
    for (const Shape& s : {Shape{4}, Shape{2, 3}, Shape{2, 3, 2}})
      for (int axis = 0; axis < s.rank(); ++axis)
        for (int mode = 0; mode < 4; ++mode)
          for (Scan f : std::initializer_list<Scan>{&cumsum, &cumprod}) {
            Tensor x = loops::random(s, 31, DType::float64);
            if (zeros) x = x * loops::random_ints(s, 32, DType::float64, 0, 1);
            const ScanOptions o{.axis = axis, .exclusive = (mode & 1) != 0, .reverse = (mode & 2) != 0};
            const auto value = [&](const Tensor& t) { return f(t, o) * f(t, o); };
            INFO(to_string(s) << " axis " << axis << " mode " << mode << " zeros " << zeros);
            CHECK(test::compute_gradient_error(value, x, {.delta = 1e-5}) < 1e-7);
            const auto slope = [&](const Tensor& t) {
              GradientTape tape;
              tape.watch(t);
              return tape.gradient(value(t), t);
            };
            CHECK(test::compute_gradient_error(slope, x, {.delta = 1e-5}) < 1e-6);
          }
}

}  // namespace scan_test
