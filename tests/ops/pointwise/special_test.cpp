// Whole division, division that takes zeros, clipping, error functions: values, edges, errors.
#include "tandem/ops/pointwise/special.hpp"

#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;

TEST_CASE("whole division of integers") {
  const Tensor a = i32({-7, 7, -7, 7, 6, INT32_MIN}), b = i32({2, -2, -2, 2, 3, -1});
  CHECK(floordiv(a, b).to_vector<std::int32_t>() == Ints{-4, -4, 3, 3, 2, INT32_MIN});
  CHECK(floormod(a, b).to_vector<std::int32_t>() == Ints{1, -1, -1, 1, 0, 0});
  CHECK(truncatediv(a, b).to_vector<std::int32_t>() == Ints{-3, -3, 3, 3, 2, INT32_MIN});
  CHECK(truncatemod(a, b).to_vector<std::int32_t>() == Ints{-1, 1, -1, 1, 0, 0});
  CHECK((a % b).to_vector<std::int32_t>() == floormod(a, b).to_vector<std::int32_t>());
  CHECK(mod(a, 4).to_vector<std::int32_t>() == Ints{1, 3, 1, 3, 2, 0});
  const Tensor bytes = constant(std::vector<std::uint8_t>{250, 7});
  CHECK(floordiv(bytes, 9).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{27, 0});
  CHECK(floormod(bytes, 9).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{7, 7});
  const Tensor small = constant(std::vector<std::int8_t>{-128, -128, 127});
  CHECK(floordiv(small, constant(std::vector<std::int8_t>{-1, 3, -2})).to_vector<std::int8_t>() ==
        std::vector<std::int8_t>{-128, -43, -64});
}

TEST_CASE("whole division: an integer zero is refused") {
  const Tensor a = i32({1, 2, 3}), zero = i32({1, 0, 1});
  CHECK_THROWS_WITH(
      floordiv(a, zero),
      ContainsSubstring("floordiv: integer division by zero: int32[3] x int32[3], element 1 of the divisor"));
  CHECK_THROWS_WITH(a % 0, ContainsSubstring("floormod: integer division by zero"));
  CHECK_THROWS_AS(truncatediv(a, zero), errors::InvalidArgumentError);
  CHECK_THROWS_AS(truncatemod(constant(std::vector<i64>{1}), 0), errors::InvalidArgumentError);
  CHECK(floordiv(Tensor::allocate({Shape{0}, int32, {}}), 0).size() == 0);
}

TEST_CASE("whole division of floats: floor and remainder fit together") {
  CHECK(same(floordiv(f32({-7, 7, 1, 0, -1}), f32({2, -2, 0.1f, 5, inf})), {-4, -4, 9, 0, -1}));
  CHECK(same(floormod(f32({-7, 7, 6, -6, -1}), f32({2, -2, 3, 3, inf})), {1, -1, 0, 0, inf}));
  CHECK(same(floordiv(f32({1, -1, 0, inf, qnan}), f32({0, 0, 0, 2, 1})), {inf, -inf, qnan, inf, qnan}));
  CHECK(same(truncatediv(f32({-7, 7, 1}), f32({2, -2, 0})), {-3, -3, inf}));
  CHECK(same(truncatemod(f32({-7, 7, 1}), f32({2, -2, 0})), {-1, 1, qnan}));
  Doubles a, b;
  for (int i = -40; i < 40; ++i)
    for (double d : {0.1, -0.3, 1.7, 100.0}) a.push_back(i * 0.37), b.push_back(d);
  const Tensor x = f64(a), y = f64(b), rest = floormod(x, y), back = floordiv(x, y) * y + rest;
  const Doubles r = rest.to_vector<double>(), z = back.to_vector<double>();
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(std::abs(z[i] - a[i]) < 1e-13);
    CHECK((r[i] == 0 || (r[i] < 0) == (b[i] < 0)));
    CHECK(std::abs(r[i]) <= std::abs(b[i]));
  }
}

TEST_CASE("division and logarithms that take zeros") {
  CHECK(same(div_no_nan(f32({5, 0, 6, inf}), f32({0, -0.f, 3, 0})), {0, 0, 2, 0}));
  CHECK(same(multiply_no_nan(f32({inf, qnan, 2}), f32({0, -0.f, 3})), {0, 0, 6}));
  CHECK(same(xlogy(f32({0, 0, 0, 1}), f32({0, qnan, -1, 1})), {0, 0, 0, 0}));
  CHECK(close<float>(xlogy(f32({2}), f32({3})), {2.1972246f}));
  CHECK(same(xlog1py(f32({0, 0}), f32({-1, qnan})), {0, 0}));
  CHECK(same(xdivy(f32({0, 0, 1}), f32({0, qnan, 0})), {0, 0, inf}));
  CHECK(squared_difference(i32({5, 3}), i32({3, 5})).to_vector<std::int32_t>() == Ints{4, 4});
  using C = std::complex<float>;
  CHECK(squared_difference(constant(C(1, -3)), constant(C(0, -1))).item<C>() == C(5, 0));
}

TEST_CASE("clip_by_value") {
  const Tensor x = i32({-5, -1, 0, 1, 5});
  CHECK(clip_by_value(x, -1, 1).to_vector<std::int32_t>() == Ints{-1, -1, 0, 1, 1});
  CHECK(same(clip_by_value(f32({qnan, inf, -inf, 0.5f}), -1, 1), {qnan, 1, -1, 0.5f}));
  CHECK(clip_by_value(x, i32({0, 0, 0, 0, 6}), constant(6)).to_vector<std::int32_t>() == Ints{0, 0, 0, 1, 6});
  CHECK(cast(clip_by_value(cast(f32({-3, 3}), float16), -1, 1), float32).to_vector<float>() == Floats{-1, 1});
  CHECK_THROWS_WITH(clip_by_value(x, 1, -1),
                    ContainsSubstring("clip_by_value: the lower bound is above the upper bound"));
  CHECK_THROWS_AS(clip_by_value(x, i32({0, 0, 0, 0, 9}), constant(6)), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(clip_by_value(x, f32({0}), f32({1})), ContainsSubstring("dtypes differ: int32[5] x float32[1]"));
}

TEST_CASE("error functions") {
  CHECK(close<float>(erf(f32({1, -1, 0})), {.8427008f, -.8427008f, 0}));
  CHECK(same(erf(f32({inf, -inf, qnan, -0.f})), {1, -1, qnan, -0.f}));
  CHECK(close<float>(erfc(f32({1, 5})), {.1572992f, 1.5374598e-12f}));
  CHECK(close<double>(erf(f64({0.3})), {std::erf(0.3)}));
}

namespace {

// The root of erf(y) = x by Newton's method in long double, from a first guess; |x| < 1.
long double inverse_of_erf(long double x, long double y) {
  const long double slope_at_0 = 1.128379167095512573896L, rest = 1 - std::abs(x);
  y = std::abs(y);
  for (int i = 0; i < 4; ++i) {
    const long double error = rest < 0.5L ? rest - std::erfc(y) : std::erf(y) - std::abs(x);
    y -= error / (slope_at_0 * std::exp(-y * y));
  }
  return std::copysign(y, x);
}
template <class T>
double worst_erfinv(const std::vector<T>& x) {
  const std::vector<T> y = erfinv(constant(x)).template to_vector<T>();
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double want = inverse_of_erf(x[i], y[i]);
    const T near = static_cast<T>(want);
    const long double ulp = std::nextafter(std::abs(near), std::numeric_limits<T>::infinity()) - std::abs(near);
    worst = std::max(worst, static_cast<double>(std::abs(y[i] - want) / ulp));
  }
  return worst;
}
// Numbers in (-1, 1): small ones, all over, and close to the ends.
template <class T>
std::vector<T> inside_one(int count) {
  std::vector<T> x;
  for (int i = 1; i < count; ++i) {
    const double part = static_cast<double>(i) / count;
    x.push_back(static_cast<T>(2 * part - 1));
    x.push_back(static_cast<T>(std::pow(2.0, -60 * part)));
    x.push_back(static_cast<T>(1 - std::pow(2.0, -(std::numeric_limits<T>::digits - 0.01) * part)));
  }
  std::erase_if(x, [](T v) { return std::abs(v) >= 1; });
  return x;
}

}  // namespace

TEST_CASE("erfinv: within 4 ulp, also next to -1, 0 and 1") {
  CHECK(worst_erfinv(inside_one<float>(20000)) <= 4);
  CHECK(worst_erfinv(inside_one<double>(20000)) <= 4);
  CHECK(same(erfinv(f32({1, -1, 0.f, -0.f, qnan})), {inf, -inf, 0.f, -0.f, qnan}));
  CHECK(same(erfinv(f32({1.5f, -2, inf})), {qnan, qnan, qnan}));
  CHECK(close<double>(erf(erfinv(f64({-0.75, 0.3, 0.999}))), {-0.75, 0.3, 0.999}));
}

TEST_CASE("nextafter of half precision: the neighbor by its bits") {
  for (const DType d : {float16, bfloat16}) {
    CAPTURE(name(d));
    const auto bits = [](const Tensor& t) { return bitcast(t, uint16).to_vector<std::uint16_t>(); };
    const auto half = [d](const std::vector<std::uint16_t>& v) { return bitcast(constant(v), d); };
    const std::uint16_t one = d == float16 ? 0x3c00 : 0x3f80, top = d == float16 ? 0x7c00 : 0x7f80;
    const auto minus = [](int v) { return static_cast<std::uint16_t>(v | 0x8000); };
    const auto near = [](int v) { return static_cast<std::uint16_t>(v); };
    const Tensor from = half({one, one, minus(one), minus(one), 0, minus(0), 1, top, near(top - 1), one, minus(0)}),
                 to = half({top, 0, 0, minus(top), one, minus(one), 0, 0, top, one, 0});
    CHECK(bits(nextafter(from, to)) == std::vector<std::uint16_t>{near(one + 1), near(one - 1), near(minus(one) - 1),
                                                                  near(minus(one) + 1), 1, minus(1), 0, near(top - 1),
                                                                  top, one, 0});
    CHECK(nextafter(from, half({0})).shape() == from.shape());
    const Tensor nan = half({near(top + 1)});
    CHECK(reduce_all(is_nan(nextafter(nan, half({one})))).item<bool>());
    CHECK(reduce_all(is_nan(nextafter(half({one}), nan))).item<bool>());
  }
}

TEST_CASE("nextafter reaches subnormals, which arithmetic keeps") {
  const Tensor least = nextafter(f32({0}), 1);
  CHECK(least.item<float>() == tiny);
  CHECK(same(least * 1, {tiny}));
  CHECK(same(nextafter(f32({1, -0.f, 3.4028235e38f}), f32({2, -1, inf})), {1.00000012f, -tiny, inf}));
  CHECK(nextafter(f64({1}), 0).item<double>() == std::nextafter(1., 0.));
}
