// Sums with their rounding errors: two_sum, two_sum_rows.
#include <cmath>
#include <complex>
#include <limits>

#include "tandem/autodiff/check.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/two_sum.hpp"
#include "tandem/ops/random/draw.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace two_sum_test {
using namespace tandem;
using tandem::detail::two_sum;
using tandem::detail::two_sum_rows;
using testing::error_of;
using Floats = std::vector<float>;

TEST_CASE("two_sum: sum and error are exactly what is added") {
  const Tensor x = random::stateless_normal({1000}, {1, 2}) * 1e4f, y = random::stateless_normal({1000}, {3, 4});
  for (const bool swapped : {false, true}) {
    const Tensors r = swapped ? two_sum(y, x) : two_sum(x, y);
    const Floats a = x.to_vector<float>(), b = y.to_vector<float>(), s = r[0].to_vector<float>(),
                 e = r[1].to_vector<float>();
    int inexact = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      CHECK(s[i] == a[i] + b[i]);
      CHECK(static_cast<double>(s[i]) + static_cast<double>(e[i]) ==
            static_cast<double>(a[i]) + static_cast<double>(b[i]));
      inexact += e[i] != 0;
    }
    CHECK(inexact > 900);
  }
}
TEST_CASE("two_sum: complex numbers part by part, and doubles") {
  const std::complex<float> big(1, -2), small(1e-8f, 3e-8f);
  const Tensors r = two_sum(constant(big), constant(small));
  CHECK(r[0].item<std::complex<float>>() == big);
  CHECK(r[1].item<std::complex<float>>() == small);
  const Tensors d = two_sum(ones({}, float64), fill({}, 1e-20, {.dtype = float64}));
  CHECK(d[0].item<double>() == 1);
  CHECK(d[1].item<double>() == 1e-20);
}
TEST_CASE("two_sum: a sum that is not finite has no error") {
  constexpr float inf = std::numeric_limits<float>::infinity(), most = std::numeric_limits<float>::max();
  const Tensors r = two_sum(constant({inf, 1.f, -inf, most, inf}), constant({1.f, -inf, inf, most, std::nanf("")}));
  const Floats s = r[0].to_vector<float>();
  CHECK(s[0] == inf);
  CHECK(s[1] == -inf);
  CHECK(std::isnan(s[2]));
  CHECK(s[3] == inf);
  CHECK(std::isnan(s[4]));
  CHECK(r[1].to_vector<float>() == Floats(5, 0));
}
TEST_CASE("two_sum_rows: rows of equal indices are added in turn, and the error does not grow") {
  constexpr i64 n = 200'000;
  for (const i64 width : {1, 40}) {
    const Tensors r = two_sum_rows(zeros({3, width}), zeros({3, width}), ones({n}, int64), ones({n, width}) * 0.1f);
    const Floats s = r[0].to_vector<float>(), e = r[1].to_vector<float>();
    const double exact = static_cast<double>(0.1f) * static_cast<double>(n);
    for (i64 c = 0; c < width; ++c) {
      const auto i = static_cast<std::size_t>(width + c);
      CHECK(std::abs((static_cast<double>(s[i]) + static_cast<double>(e[i])) / exact - 1) < 6e-8);
      CHECK(s[static_cast<std::size_t>(c)] == 0);
    }
  }
}
TEST_CASE("two_sum_rows: adds to sums and errors that are there, also of complex numbers and no rows") {
  const Tensor x = constant({{1.f, 2.f}, {3.f, 4.f}}), errors = constant({{.5f, .25f}, {0.f, 1e-9f}});
  const Tensors r = two_sum_rows(x, errors, constant({0}), constant({{1e-9f, 1.f}}));
  CHECK(r[0].to_vector<float>() == Floats{1.5f, 3.25f, 3, 4});
  CHECK(r[1].to_vector<float>() == Floats{0, 0, 0, 1e-9f});
  CHECK(x.to_vector<float>() == Floats{1, 2, 3, 4});
  const Tensors none_at_all = two_sum_rows(x, errors, zeros({0}, {.dtype = int32}), zeros({0, 2}));
  CHECK(none_at_all[0].to_vector<float>() == x.to_vector<float>());
  CHECK(none_at_all[1].to_vector<float>() == errors.to_vector<float>());
  const std::complex<float> one(1, 1), tiny(1e-9f, 2e-9f);
  const Tensors z =
      two_sum_rows(constant({one, one}), zeros({2}, {.dtype = complex64}), constant({1, 1}), constant({tiny, tiny}));
  CHECK(z[0].to_vector<std::complex<float>>() == std::vector<std::complex<float>>{one, one});
  CHECK(z[1].to_vector<std::complex<float>>()[1] == tiny + tiny);
}
TEST_CASE("two_sum: gradients are those of exact sums") {
  const auto wave = [](const Shape& s, i64 seed) {
    return random::stateless_normal(Dims(s), {1, seed}, {.dtype = float64});
  };
  const auto check = [](const auto& f, const std::vector<Tensor>& x) {
    for (const test::Jacobians& j : test::compute_gradient(f, x, {.delta = 1e-5}))
      CHECK(reduce_max(abs(j.theoretical - j.numerical)).item<double>() < 1e-6);
  };
  check([](const Tensor& x, const Tensor& y) { return two_sum(x, y); }, {wave({2, 3}, 1), wave({2, 3}, 2)});
  const Tensor at = constant({3, 0, 3});
  const auto rows = [at](const Tensor& x, const Tensor& e, const Tensor& r) { return two_sum_rows(x, e, at, r); };
  check(rows, {wave({4, 2}, 1), wave({4, 2}, 2), wave({3, 2}, 3)});
  check([rows](const Tensor& x, const Tensor& e, const Tensor& r) { return rows(x, e, r)[0]; },
        {wave({4, 2}, 1), wave({4, 2}, 2), wave({3, 2}, 3)});
  check([rows](const Tensor& x, const Tensor& e, const Tensor& r) { return rows(x, e, r)[1]; },
        {wave({4, 2}, 1), wave({4, 2}, 2), wave({3, 2}, 3)});
}
TEST_CASE("two_sum: errors") {
  CHECK(error_of([] { two_sum(ones({2}), ones({1})); }).find("two_sum: shapes differ: float32[2] x float32[1]") == 0);
  CHECK(error_of([] { two_sum(ones({2}), ones({2}, float64)); }).find("two_sum: dtypes differ") == 0);
  CHECK_THROWS_AS(two_sum(ones({2}, int32), ones({2}, int32)), errors::UnimplementedError);
  CHECK_THROWS_AS(two_sum(ones({2}, float16), ones({2}, float16)), errors::UnimplementedError);
  const Tensor x = ones({2, 3});
  CHECK(error_of([&] { two_sum_rows(x, x, constant({2}), ones({1, 3})); }).find("two_sum_rows: ") == 0);
  CHECK(error_of([&] {
          two_sum_rows(x, x, constant({1}), ones({1, 2}));
        }).find("two_sum_rows: the new rows must be float32[1,3]") == 0);
  CHECK(error_of([&] {
          two_sum_rows(x, ones({3}), constant({1}), ones({1, 3}));
        }).find("two_sum_rows: shapes differ") == 0);
  CHECK(error_of([&] {
          two_sum_rows(x, x, constant({{1}}), ones({1, 3}));
        }).find("two_sum_rows: the indices must have rank 1") == 0);
  CHECK(error_of([&] {
          two_sum_rows(ones({}), ones({}), constant({1}), ones({1}));
        }).find("two_sum_rows: a scalar has no rows") == 0);
}

}  // namespace two_sum_test
