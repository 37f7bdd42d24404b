// Comparison, choice, logic and bits: values, NaN, broadcasting, every dtype of where, errors.
#include "tandem/ops/pointwise/compare.hpp"

#include <complex>

#include "tandem/ops/cast.hpp"
#include "tandem/ops/pointwise/bitwise.hpp"
#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;

static_assert(!std::is_constructible_v<bool, Tensor>);

TEST_CASE("compare: six relations, NaN") {
  const Tensor a = f32({1, 2, 3, qnan, -0.f}), b = f32({2, 2, 2, qnan, 0});
  CHECK((a == b).to_vector<bool>() == Bools{false, true, false, false, true});
  CHECK((a != b).to_vector<bool>() == Bools{true, false, true, true, false});
  CHECK((a < b).to_vector<bool>() == Bools{true, false, false, false, false});
  CHECK((a <= b).to_vector<bool>() == Bools{true, true, false, false, true});
  CHECK((a > b).to_vector<bool>() == Bools{false, false, true, false, false});
  CHECK((a >= b).to_vector<bool>() == Bools{false, true, true, false, true});
  CHECK((a == b).dtype() == bool_);
  CHECK((a > 1).to_vector<bool>() == Bools{false, true, true, false, false});
  CHECK((1 > a).to_vector<bool>() == Bools{false, false, false, false, true});
  CHECK((constant({1, 2}) == constant({1, 3})).to_vector<bool>() == Bools{true, false});
  CHECK((constant({{1}, {2}}) < constant({1, 2, 3})).to_vector<bool>() == Bools{false, true, true, false, false, true});
}

TEST_CASE("compare: every length and width goes through the same loops") {
  for (int n : {0, 1, 2, 3, 7, 15, 16, 17, 31, 33, 64, 65, 100, 3000}) {
    std::vector<double> x(static_cast<std::size_t>(n));
    Bools want(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<double>(i % 5), want[i] = i % 5 > 2;
    for (DType d : {float32, float64, int32, int64, int8, uint16, uint64, float16, bfloat16}) {
      CAPTURE(n, name(d));
      CHECK((cast(constant(x), d) > 2).to_vector<bool>() == want);
    }
  }
}

TEST_CASE("compare: strings, bools, complex numbers; what has no order") {
  const Tensor words = constant({"a", "b", ""});
  CHECK((words == constant({"a", "c", ""})).to_vector<bool>() == Bools{true, false, true});
  CHECK((words != constant("b")).to_vector<bool>() == Bools{true, false, true});
  CHECK((b8({true, false}) == b8({true, true})).to_vector<bool>() == Bools{true, false});
  using Complex = std::complex<float>;
  const Tensor z = constant(std::vector<Complex>{{1, 2}, {3, 4}});
  CHECK((z == constant(std::vector<Complex>{{1, 2}, {3, 5}})).to_vector<bool>() == Bools{true, false});
  CHECK((z != constant(std::vector<Complex>{{1, 2}, {3, 5}})).to_vector<bool>() == Bools{false, true});
  CHECK_THROWS_WITH(z < z, ContainsSubstring("less: no kernel for complex64"));
  CHECK_THROWS_WITH(words < words, ContainsSubstring("less: no kernel for string"));
  CHECK_THROWS_WITH(f32({1}) == i32({1}), ContainsSubstring("equal: dtypes differ: float32[1] x int32[1]"));
}

TEST_CASE("where: broadcasts all three") {
  const Tensor c = b8({true, false}), a = constant({{3, 3}, {4, 4}, {5, 5}}), b = constant({{2}, {1}, {0}});
  CHECK(where(c, a, b).to_vector<std::int32_t>() == Ints{3, 2, 4, 1, 5, 0});
  CHECK(where(b8({true, false}), i32({3, 3}), i32({2, 2})).to_vector<std::int32_t>() == Ints{3, 2});
  CHECK(same(where(b8({true, false, true}), f32({1, 2, -0.f}), 0), {1, 0, -0.f}));
  CHECK(where(constant(true), i32({1, 2}), i32({3, 4})).to_vector<std::int32_t>() == Ints{1, 2});
  CHECK(where(c, Tensor::allocate({Shape{0, 2}, float32, {}}), 1.f).shape() == Shape{0, 2});
  CHECK_THROWS_WITH(where(i32({1}), a, b), ContainsSubstring("the condition must be bool, not int32"));
  CHECK_THROWS_WITH(where(b8({true, true, true}), f32({1, 2}), f32({1, 2})), ContainsSubstring("do not broadcast"));
  CHECK_THROWS_WITH(where(c, f32({1, 2}), f64({1, 2})), ContainsSubstring("dtypes differ"));
}

TEST_CASE("where: every dtype, every length") {
  for (std::size_t n : {1u, 5u, 16u, 33u, 100u, 2000u}) {
    Bools c(n);
    Ints a(n), b(n), want(n);
    for (std::size_t i = 0; i < n; ++i) {
      c[i] = i % 3 == 0, a[i] = static_cast<int>(i % 100), b[i] = 1;
      want[i] = c[i] ? a[i] : b[i];
    }
    for (DType d : {float32, float64, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float16, bfloat16,
                    complex64, complex128}) {
      CAPTURE(n, name(d));
      CHECK(cast(where(b8(c), cast(i32(a), d), cast(i32(b), d)), int32).to_vector<std::int32_t>() == want);
    }
  }
  CHECK(where(b8({true, false}), b8({false, false}), b8({true, true})).to_vector<bool>() == Bools{false, true});
  CHECK(where(b8({true, false}), constant({"a", "b"}), constant("z")).to_vector<std::string>() ==
        std::vector<std::string>{"a", "z"});
}

TEST_CASE("logic: bool_ alone; operators are bitwise on integers") {
  const Tensor t = b8({true, true, false, false}), u = b8({true, false, true, false});
  CHECK(logical_and(t, u).to_vector<bool>() == Bools{true, false, false, false});
  CHECK(logical_or(t, u).to_vector<bool>() == Bools{true, true, true, false});
  CHECK(logical_xor(t, u).to_vector<bool>() == Bools{false, true, true, false});
  CHECK((t & u).to_vector<bool>() == Bools{true, false, false, false});
  CHECK((t | u).to_vector<bool>() == Bools{true, true, true, false});
  CHECK((t ^ u).to_vector<bool>() == Bools{false, true, true, false});
  CHECK((~t).to_vector<bool>() == Bools{false, false, true, true});
  CHECK(!(~constant(true)).item<bool>());
  CHECK((t & true).to_vector<bool>() == Bools{true, true, false, false});
  CHECK((constant(6) & constant(3)).item<std::int32_t>() == 2);
  CHECK((i32({6}) | 1).item<std::int32_t>() == 7);
  CHECK((i32({6}) ^ 3).item<std::int32_t>() == 5);
  CHECK((~constant(0)).item<std::int32_t>() == -1);
  CHECK_THROWS_WITH(f32({1}) & f32({1}), ContainsSubstring("bitwise_and: no kernel for float32"));
  CHECK_THROWS_WITH(~f32({1}), ContainsSubstring("invert: no kernel for float32"));
  CHECK_THROWS_WITH(logical_and(i32({1}), i32({1})), ContainsSubstring("logical_and: no kernel for int32"));
  Tensor x = t;
  x &= u;
  x ^= t;
  CHECK(x.to_vector<bool>() == Bools{false, true, false, false});
}

TEST_CASE("bits: shifts clamp, population_count") {
  CHECK(bitwise::left_shift(i32({1, 1, 1, -1}), i32({3, -2, 40, 31})).to_vector<std::int32_t>() ==
        Ints{8, 1, INT32_MIN, INT32_MIN});
  CHECK(bitwise::right_shift(i32({-8, -8, 7}), i32({1, 99, 1})).to_vector<std::int32_t>() == Ints{-4, -1, 3});
  const Tensor bytes = constant(std::vector<std::uint8_t>{7, 255, 0});
  CHECK(bitwise::left_shift(bytes, 9).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{128, 128, 0});
  CHECK(bitwise::population_count(bytes).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{3, 8, 0});
  CHECK(bitwise::population_count(i32({7, -1})).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{3, 32});
  CHECK(bitwise::population_count(i32({7})).dtype() == uint8);
}

TEST_CASE("is_nan, is_inf, is_finite, approximate_equal") {
  const Tensor x = f32({0, qnan, inf, -inf, tiny, 3.4e38f});
  CHECK(is_nan(x).to_vector<bool>() == Bools{false, true, false, false, false, false});
  CHECK(is_inf(x).to_vector<bool>() == Bools{false, false, true, true, false, false});
  CHECK(is_finite(x).to_vector<bool>() == Bools{true, false, false, false, true, true});
  CHECK(is_finite(i32({1})).item<bool>());
  CHECK(!is_nan(i32({1})).item<bool>());
  CHECK(!is_inf(i32({1})).item<bool>());
  CHECK(approximate_equal(f32({1, 1}), f32({1.000001f, 1.1f})).to_vector<bool>() == Bools{true, false});
  CHECK(approximate_equal(f32({1}), f32({1.1f}), {.tolerance = 0.2}).item<bool>());
}
