// Tensors from C++ values: literals, braces, containers, pointers, borrowed memory; dtypes, shapes, errors.
#include "tandem/ops/create/constant.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <numeric>
#include <span>

#include "tandem/core/variable.hpp"
#include "tandem/ops/pointwise/operand.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

TEST_CASE("constant: literals choose their dtype") {
  CHECK(constant(50).dtype() == int32);
  CHECK(constant(50).shape() == Shape{});
  CHECK(constant(50).item<std::int32_t>() == 50);
  CHECK(constant(0.5).dtype() == float32);
  CHECK(constant(0.5f).item<float>() == 0.5f);
  CHECK(constant(5l).dtype() == int64);
  CHECK(constant(true).item<bool>());
  CHECK(constant(std::uint8_t(200)).item<std::uint8_t>() == 200);
  CHECK(constant(UINT64_MAX).item<u64>() == UINT64_MAX);
  CHECK(constant(INT64_MIN).item<i64>() == INT64_MIN);
  CHECK(constant("pear").item<std::string>() == "pear");
  CHECK(constant(std::string("pear")).item<std::string>() == "pear");
  CHECK(constant(std::complex<float>(1, -2)).item<std::complex<float>>() == std::complex<float>(1, -2));
}

TEST_CASE("constant: nested braces give the shape") {
  const Tensor m = constant({{1, 2, 3}, {4, 5, 6}});
  CHECK(m.shape() == Shape{2, 3});
  CHECK(m.to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  CHECK(constant({1.f, 2.f}).shape() == Shape{2});
  CHECK(constant({1.f, 2.f}).dtype() == float32);
  CHECK(constant({7}).shape() == Shape{1});
  CHECK(constant({{7}}).shape() == Shape{1, 1});
  CHECK(constant({{1.f, 2.f}}).shape() == Shape{1, 2});
  CHECK(constant({{{{{{1}}}}}}).shape() == Shape{1, 1, 1, 1, 1, 1});
  CHECK(constant({{{1, 2}, {3, 4}, {5, 6}}, {{1, 2}, {3, 4}, {5, 6}}}).shape() == Shape{2, 3, 2});
  CHECK(constant({true, false, true}).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK(constant({{true}, {false}}).dtype() == bool_);
  CHECK(constant({"apple", "peach", "grape"}).to_vector<std::string>() ==
        std::vector<std::string>{"apple", "peach", "grape"});
  CHECK(constant({"a", "b"}).shape() == Shape{2});
  CHECK(constant({{"a", "b"}, {"c", "d"}}).shape() == Shape{2, 2});
  CHECK(constant({{}, {}}).shape() == Shape{2, 0});
}

TEST_CASE("constant: ragged and mixed braces are refused, naming the place") {
  CHECK_THROWS_WITH(constant({{1, 2}, {3}}),
                    ContainsSubstring("ragged braces at [1]: 1 items where the first list has 2"));
  CHECK_THROWS_WITH(constant({{{1}, {2}}, {{3}, {4, 5}}}), ContainsSubstring("ragged braces at [1][1]"));
  CHECK_THROWS_WITH(constant({{1, 2}, 3}), ContainsSubstring("at [1]: a value where a list was expected"));
  CHECK_THROWS_WITH(constant({1, {2}}), ContainsSubstring("at [1]: a list where a value was expected"));
  CHECK_THROWS_WITH(constant({1, "two"}), ContainsSubstring("mixes int32 and string literals, at [1]"));
  CHECK_THROWS_WITH(constant({{{{{{{{{1}}}}}}}}}), ContainsSubstring("rank 9"));
  CHECK_THROWS_AS(constant({{1, 2}, {3}}), errors::InvalidArgumentError);
}

TEST_CASE("constant: numbers of one list are promoted") {
  CHECK(constant({1, 2.5}).dtype() == float32);
  CHECK(constant({1, 2.5}).to_vector<float>() == std::vector<float>{1, 2.5f});
  CHECK(constant({{0.5, 1}, {2, 3}}).to_vector<float>() == std::vector<float>{0.5f, 1, 2, 3});
  CHECK(constant({1, i64{1} << 40}).to_vector<i64>() == std::vector<i64>{1, i64{1} << 40});
  const std::complex<float> i(0, 1);
  CHECK(constant({1, 0.5, i}).to_vector<std::complex<float>>() == std::vector<std::complex<float>>{1, 0.5f, i});
  using I8 = std::int8_t;
  using U8 = std::uint8_t;
  using U16 = std::uint16_t;
  CHECK(constant({I8(-1), U8(200)}).to_vector<std::int16_t>() == std::vector<std::int16_t>{-1, 200});
  CHECK(constant({U8(200), U16(60000)}).dtype() == uint16);
  CHECK(constant({I8(-1), U8(1), U16(60000)}).to_vector<std::int32_t>() == std::vector<std::int32_t>{-1, 1, 60000});
  CHECK(constant({-1, 4000000000u}).to_vector<i64>() == std::vector<i64>{-1, 4000000000});
  CHECK(constant({4000000000u, UINT64_MAX}).to_vector<u64>() == std::vector<u64>{4000000000, UINT64_MAX});
  CHECK_THROWS_WITH(constant({i64{-1}, u64{1}}),
                    ContainsSubstring("mixes int64 and uint64 literals, at [1]; give the dtype"));
  CHECK_THROWS_WITH(constant({true, 2}), ContainsSubstring("mixes bool and int32 literals, at [1]; give the dtype"));
  CHECK_THROWS_WITH(constant({1.5, true}), ContainsSubstring("in which true is 1"));
  // With a dtype: what it can represent.
  CHECK(constant({{0, 0.5}, {1, 2}}, float32).to_vector<float>() == std::vector<float>{0, 0.5f, 1, 2});
  CHECK(constant({1, 0.1}, float64).to_vector<double>() == std::vector<double>{1, 0.1});
  CHECK(constant({true, 2, 0.5}, float64).to_vector<double>() == std::vector<double>{1, 2, 0.5});
  CHECK(constant({true, 0, 1.0}, bool_).to_vector<bool>() == std::vector<bool>{true, false, true});
  CHECK(constant({1, 2.0}, int32).to_vector<std::int32_t>() == std::vector<std::int32_t>{1, 2});
  CHECK(constant({i64{-1}, u64{5}}, int64).to_vector<i64>() == std::vector<i64>{-1, 5});
  CHECK(constant({(i64{1} << 62) + 1, 2.0}, int64).to_vector<i64>() == std::vector<i64>{(i64{1} << 62) + 1, 2});
  CHECK(static_cast<float>(constant({1, 0.5}, float16).at<Half>({1})) == 0.5f);
  CHECK(constant({1, std::complex<double>(0.1, 0.2)}, complex128).to_vector<std::complex<double>>() ==
        std::vector<std::complex<double>>{1, {0.1, 0.2}});
  CHECK_THROWS_WITH(constant({1, 2.5}, int32), ContainsSubstring("2.5 has a fraction") && ContainsSubstring("at [1]"));
  CHECK_THROWS_WITH(constant({1, i64{300}}, uint8), ContainsSubstring("300 is out of range for uint8"));
  CHECK_THROWS_WITH(constant({1, i}, float32), ContainsSubstring("a complex number") && ContainsSubstring("at [1]"));
  CHECK_THROWS_WITH(constant({1, "two"}, string), ContainsSubstring("mixes int32 and string literals, at [1]"));
  // An integer that double does not hold is rounded once.
  const i64 tie = (i64{1} << 60) + (i64{1} << 36) + 1;
  CHECK(constant(tie, float32).item<float>() == static_cast<float>(tie));
  CHECK(constant(tie, float32).item<float>() != static_cast<float>(static_cast<double>(tie)));
}

TEST_CASE("a Variable of literals") {
  CHECK(Variable({1, 2.5}).to_vector<float>() == std::vector<float>{1, 2.5f});
  CHECK(Variable({{1, 2}, {3, 4}}, {.dtype = float64}).shape() == Shape{2, 2});
  CHECK(Variable({{1, 2}, {3, 4}}, {.dtype = float64}).dtype() == float64);
  CHECK_THROWS_WITH(Variable({1, 2.5}, {.dtype = int32}), ContainsSubstring("2.5 has a fraction"));
}

TEST_CASE("constant: .dtype converts, and a double keeps its digits") {
  CHECK(constant(0.1, {.dtype = float64}).item<double>() == 0.1);
  CHECK(constant({0.1, 1e300}, {.dtype = float64}).to_vector<double>() == std::vector<double>{0.1, 1e300});
  CHECK(constant(3, {.dtype = float32}).item<float>() == 3.f);
  CHECK(constant(-2.0, {.dtype = int32}).item<std::int32_t>() == -2);
  CHECK(constant({0, 1}, {.dtype = bool_}).to_vector<bool>() == std::vector<bool>{false, true});
  CHECK(static_cast<float>(constant(1.5, {.dtype = float16}).item<Half>()) == 1.5f);
  CHECK(constant(std::complex<double>(0.1, 0.2), {.dtype = complex128}).item<std::complex<double>>() ==
        std::complex<double>(0.1, 0.2));
  CHECK(constant(std::vector<float>{3.f}, {.dtype = int64}).to_vector<i64>() == std::vector<i64>{3});
  CHECK_THROWS_AS(constant("a", {.dtype = float32}), errors::InvalidArgumentError);
}

TEST_CASE("constant: .shape is filled by one value or by all") {
  CHECK(constant(0.1, {.shape = {3}}).to_vector<float>() == std::vector<float>(3, 0.1f));
  CHECK(constant({1, 2, 3, 4}, {.shape = {2, 2}}).at<std::int32_t>({1, 0}) == 3);
  CHECK(constant("x", {.shape = {2, 300}}).to_vector<std::string>() == std::vector<std::string>(600, "x"));
  CHECK(constant(7, {.shape = Shape{}}).shape() == Shape{});
  CHECK(constant(7, {.shape = {0, 2}}).size() == 0);
  CHECK_THROWS_WITH(constant({1, 2, 3}, {.shape = {2, 2}}), ContainsSubstring("3 values do not fill the shape (2, 2)"));
  CHECK_THROWS_AS(constant({1, 2}, {.shape = {3}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(constant(1, {.shape = {-1}}), errors::InvalidArgumentError);
  CHECK_THROWS_AS(constant(1, {.shape = {none}}), errors::InvalidArgumentError);
}

TEST_CASE("constant: one value fills large shapes of every width") {
  const i64 n = 300'001;
  const Tensor f = constant(2.5, {.dtype = float64, .shape = {n}});
  const auto values = f.to_vector<double>();
  CHECK(std::all_of(values.begin(), values.end(), [](double x) { return x == 2.5; }));
  const auto bytes = constant(std::uint8_t(7), {.shape = {n}}).to_vector<std::uint8_t>();
  CHECK(std::count(bytes.begin(), bytes.end(), 7) == n);
}

TEST_CASE("constant: containers keep their own type") {
  std::vector<double> v{0.1, 0.2};
  CHECK(constant(v).dtype() == float64);
  CHECK(constant(v).to_vector<double>() == v);
  v[0] = 9;
  CHECK(constant(std::span<const double>(v)).at<double>({0}) == 9);
  CHECK(constant(std::array<std::int16_t, 3>{1, 2, 3}).dtype() == int16);
  CHECK(constant(std::vector<bool>{true, false}).to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(constant(std::vector<bool>{}).dtype() == bool_);
  CHECK(constant(std::vector<std::string>{"a", ""}).to_vector<std::string>() == std::vector<std::string>{"a", ""});
  CHECK(constant(std::vector<std::complex<double>>{{1, 2}}).dtype() == complex128);
  CHECK(constant(std::vector<float>{}).shape() == Shape{0});
  CHECK(constant(std::vector<float>{1, 2, 3, 4}, {.shape = {2, 2}}).shape() == Shape{2, 2});
  const float raw[] = {1, 2, 3, 4, 5, 6};
  CHECK(constant(raw, Shape{3, 2}).at<float>({2, 1}) == 6);
  CHECK(constant(raw, Shape{}).item<float>() == 1);
}

TEST_CASE("constant: a container is copied") {
  std::vector<float> v{1, 2};
  const Tensor t = constant(v);
  v[0] = 9;
  CHECK(t.at<float>({0}) == 1);
}

TEST_CASE("constant: strings hold any bytes") {
  const std::string odd("\0a\xff\n", 4);
  CHECK(constant(odd).item<std::string>() == odd);
  CHECK(constant({std::string_view(odd), std::string_view("")}).to_vector<std::string>() ==
        std::vector<std::string>{odd, ""});
  const std::string large(100'000, 'z');
  CHECK(constant(std::vector<std::string>(3, large)).at<std::string>({2}) == large);
}

TEST_CASE("convert_to_tensor passes tensors and Variables through") {
  const Tensor t = constant(1);
  CHECK(convert_to_tensor(t).is_same(t));
  const Variable v(t);
  CHECK(convert_to_tensor(v).item<std::int32_t>() == 1);
  CHECK(convert_to_tensor({1.f, 2.f}).shape() == Shape{2});
  CHECK(convert_to_tensor(std::vector<i64>{1, 2, 3}).dtype() == int64);
}

TEST_CASE("from_blob borrows, and releases its owner with the last handle") {
  struct Owner final : Opaque {
    bool& gone;
    explicit Owner(bool& g) : gone(g) {}
    ~Owner() override { gone = true; }
    const char* kind() const override { return "owner"; }
  };
  bool gone = false;
  const float raw[] = {1, 2, 3, 4};
  Tensor t = from_blob(raw, Shape{2, 2}, Ref<Opaque>(new Owner(gone)));
  CHECK(t.data<float>().data() == raw);
  CHECK(t.at<float>({1, 0}) == 3);
  Tensor same = t;
  t = Tensor();
  CHECK_FALSE(gone);
  same = Tensor();
  CHECK(gone);
  CHECK(from_blob(raw, Shape{4}).data<float>()[3] == 4);
}

TEST_CASE("scalar_like adapts a number to the tensor it meets") {
  CHECK(tandem::detail::scalar_like(3, constant(1.5)).item<float>() == 3.f);
  CHECK(tandem::detail::scalar_like(2.0, constant(1)).item<std::int32_t>() == 2);
  CHECK(tandem::detail::scalar_like(0.1, constant(0.5, {.dtype = float64})).item<double>() == 0.1);
  CHECK(static_cast<float>(tandem::detail::scalar_like(0.5, constant(1, {.dtype = float16})).item<Half>()) == 0.5f);
  CHECK_THROWS_WITH(tandem::detail::scalar_like(2.5, constant(1)), ContainsSubstring("has a fraction"));
  CHECK_THROWS_AS(tandem::detail::scalar_like(1, constant("a")), errors::OpError);
}
