// cast and saturate_cast: truncation, saturation, wrap, NaN, halves, complex numbers, every pair of dtypes.
#include "tandem/ops/cast.hpp"

#include <complex>

#include "tests/ops/pointwise/values.hpp"

using namespace tandem;
using namespace pointwise_test;

TEST_CASE("cast: float to integer truncates, saturates, NaN is 0") {
  const Tensor x = f32({-1.9f, 1.9f, qnan, inf, -inf, 3e9f, -0.f, 2147483520.f});
  CHECK(cast(x, int32).to_vector<std::int32_t>() == Ints{-1, 1, 0, INT32_MAX, INT32_MIN, INT32_MAX, 0, 2147483520});
  CHECK(cast(x, int64).to_vector<i64>() == std::vector<i64>{-1, 1, 0, INT64_MAX, INT64_MIN, 3000000000, 0, 2147483520});
  CHECK(cast(f32({300, -5, 254.9f, qnan}), uint8).to_vector<std::uint8_t>() ==
        std::vector<std::uint8_t>{255, 0, 254, 0});
  CHECK(cast(f64({-129, 127.9}), int8).to_vector<std::int8_t>() == std::vector<std::int8_t>{-128, 127});
  CHECK(cast(f64({1e20, -1}), uint64).to_vector<u64>() == std::vector<u64>{UINT64_MAX, 0});
}

TEST_CASE("cast: integers wrap, bool_ is 'not zero'") {
  CHECK(cast(i32({300, -1}), uint8).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{44, 255});
  CHECK(cast(constant(std::vector<i64>{(i64(1) << 32) + 5}), int32).item<std::int32_t>() == 5);
  CHECK(cast(f32({0, -0.f, qnan, 0.3f, inf}), bool_).to_vector<bool>() == Bools{false, false, true, true, true});
  CHECK(cast(i32({0, 256, -1}), bool_).to_vector<bool>() == Bools{false, true, true});
  CHECK(cast(b8({true, false}), float32).to_vector<float>() == Floats{1, 0});
  CHECK(cast(b8({true, false}), int64).to_vector<i64>() == std::vector<i64>{1, 0});
}

TEST_CASE("cast: float64 to float32 and halves round to nearest even, once") {
  CHECK(same(cast(f64({1e39, 0.1, 1e-50, -0.0}), float32), {inf, 0.1f, 0, -0.f}));
  CHECK(cast(cast(f32({1, 65504, 65520, 5.9604645e-8f}), float16), float32).to_vector<float>() ==
        Floats{1, 65504, inf, 5.9604645e-8f});
  // 1 + 2^-11 + 2^-40 is above the midpoint of two halves; through float it would be the midpoint itself.
  const double above = 1 + 0x1p-11 + 0x1p-40, below = 1 + 3 * 0x1p-11 - 0x1p-40;
  CHECK(cast(cast(f64({above, below, -above, -below}), float16), float32).to_vector<float>() ==
        Floats{1 + 0x1p-10f, 1 + 0x1p-10f, -1 - 0x1p-10f, -1 - 0x1p-10f});
  CHECK(cast(cast(f32({3.1415927f, -1e38f}), bfloat16), float32).to_vector<float>() == Floats{3.140625f, -0x1.2cp126f});
  CHECK(same(cast(cast(f32({qnan, -inf}), bfloat16), float32), {qnan, -inf}));
}

TEST_CASE("cast: complex numbers keep their real part") {
  using Complex = std::complex<float>;
  const Tensor z = constant(std::vector<Complex>{{1.5f, 2}, {0, 1}, {0, 0}});
  CHECK(cast(z, float32).to_vector<float>() == Floats{1.5f, 0, 0});
  CHECK(cast(z, int32).to_vector<std::int32_t>() == Ints{1, 0, 0});
  CHECK(cast(z, bool_).to_vector<bool>() == Bools{true, true, false});
  CHECK(cast(f32({2}), complex64).item<Complex>() == Complex(2, 0));
}

TEST_CASE("cast: every pair of dtypes, every length") {
  const DType all[] = {float32, float64, int8,   int16,   int32,    int64,     uint8,
                       uint16,  uint32,  uint64, float16, bfloat16, complex64, complex128};
  for (std::size_t n : {0u, 1u, 3u, 17u, 100u}) {
    Ints x(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<std::int32_t>(i);
    for (DType from : all)
      for (DType to : all) {
        CAPTURE(n, name(from), name(to));
        const Tensor y = cast(cast(i32(x), from), to);
        CHECK(y.dtype() == to);
        CHECK(cast(y, int32).to_vector<std::int32_t>() == x);
      }
  }
}

TEST_CASE("cast: the same dtype is the same value; strings are refused") {
  const Tensor x = f32({1});
  CHECK(cast(x, float32).is_same(x));
  CHECK_THROWS_WITH(cast(constant("1"), float32), ContainsSubstring("cannot convert string to float32: string[]"));
  CHECK_THROWS_WITH(cast(x, string), ContainsSubstring("to_string()"));
  CHECK_THROWS_AS(cast(x, string), errors::InvalidArgumentError);
}

TEST_CASE("saturate_cast: integers and floats stop at the ends") {
  CHECK(saturate_cast(i32({300, -1, 7}), uint8).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{255, 0, 7});
  CHECK(saturate_cast(i32({300, -300}), int8).to_vector<std::int8_t>() == std::vector<std::int8_t>{127, -128});
  CHECK(saturate_cast(constant(std::vector<u64>{UINT64_MAX, 3}), int64).to_vector<i64>() ==
        std::vector<i64>{INT64_MAX, 3});
  CHECK(saturate_cast(i32({-1, 5}), uint64).to_vector<u64>() == std::vector<u64>{0, 5});
  CHECK(saturate_cast(f32({300, qnan}), uint8).to_vector<std::uint8_t>() == std::vector<std::uint8_t>{255, 0});
  CHECK(saturate_cast(f64({1e300, -1e300, 0.5}), float32).to_vector<float>() ==
        Floats{3.4028235e38f, -3.4028235e38f, 0.5f});
  CHECK(cast(saturate_cast(f32({1e6f}), float16), float32).item<float>() == 65504);
  CHECK(saturate_cast(i32({5}), int64).item<i64>() == 5);
}

TEST_CASE("saturate_cast: infinity becomes the largest number that both floating dtypes have, NaN stays") {
  const float most = std::numeric_limits<float>::max();
  const Tensor x = f32({inf, -inf, qnan, most, 1});
  const std::vector<float> same = saturate_cast(x, float32).to_vector<float>();
  CHECK((same[0] == most && same[1] == -most && std::isnan(same[2]) && same[3] == most && same[4] == 1));
  const std::vector<double> wide = saturate_cast(x, float64).to_vector<double>();
  CHECK((wide[0] == most && wide[1] == -most && std::isnan(wide[2]) && wide[3] == most && wide[4] == 1));
  const std::vector<float> half = cast(saturate_cast(x, float16), float32).to_vector<float>();
  CHECK((half[0] == 65504 && half[1] == -65504 && std::isnan(half[2]) && half[3] == 65504 && half[4] == 1));
  CHECK(saturate_cast(cast(f32({inf, -inf}), float16), float32).to_vector<float>() ==
        std::vector<float>{65504, -65504});
  CHECK(cast(saturate_cast(cast(f32({inf}), float16), float16), float32).item<float>() == 65504);
  CHECK(cast(saturate_cast(cast(f32({inf}), bfloat16), bfloat16), float64).item<double>() == 0x1.fep127);
  CHECK(saturate_cast(f32({inf, -inf}), int32).to_vector<std::int32_t>() ==
        std::vector<std::int32_t>{INT32_MAX, INT32_MIN});
}
