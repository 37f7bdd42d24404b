// C++ numbers that a tensor's dtype does not hold raise, wherever they meet it, and those at its ends pass.
// Not here: which numbers a dtype holds (tests/base/scalar_test.cpp).
#include <limits>

#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

using Bytes8 = std::vector<std::uint8_t>;
using Bools = std::vector<bool>;

Tensor u8() { return constant(Bytes8{250, 10}); }
Tensor i8() { return constant(std::vector<std::int8_t>{1, -1}); }
Tensor i32() { return constant({5, -5}); }
Tensor u64s() { return constant(std::vector<u64>{1, UINT64_MAX}); }

template <class F>
void check_outside(const F& f) {
  CHECK_THROWS_AS(f(), errors::InvalidArgumentError);
  CHECK_THROWS_WITH(f(),
                    ContainsSubstring("is out of range for ") && ContainsSubstring(" and is not representable in "));
}
#define OUTSIDE(call) check_outside([&] { return call; })

}  // namespace

TEST_CASE("numbers out of range: operators") {
  OUTSIDE(u8() + 300);
  OUTSIDE(300 + u8());
  OUTSIDE(u8() - 256);
  OUTSIDE(i8() * 1000);
  OUTSIDE(i8() * -129);
  OUTSIDE(u8() / 300);
  OUTSIDE(u8() % 300);
  OUTSIDE(u8() < 300);
  OUTSIDE(u8() > -1);
  OUTSIDE(-1 > u8());
  OUTSIDE(i32() < 3000000000);
  OUTSIDE(i32() < 3e9);
  OUTSIDE(i32() == 4294967301LL);
  OUTSIDE(i32() != 4294967301LL);
  OUTSIDE(i32() <= 3000000000);
  OUTSIDE(i32() >= -3000000000);
  OUTSIDE(u64s() > -1);
  OUTSIDE(i32() + std::numeric_limits<float>::infinity());
  CHECK_THROWS_WITH(u8() + 300,
                    ContainsSubstring("300 is out of range for uint8 (0 to 255) and is not representable in uint8[2]"));
  Tensor x = i8();
  OUTSIDE(x += 200);
  OUTSIDE(x %= 200);
  CHECK(x.to_vector<std::int8_t>() == std::vector<std::int8_t>{1, -1});
}

TEST_CASE("numbers out of range: functions") {
  OUTSIDE(maximum(u8(), -5));
  OUTSIDE(minimum(300, u8()));
  OUTSIDE(clip_by_value(u8(), 0, 1000));
  OUTSIDE(clip_by_value(i8(), -1000, 100));
  OUTSIDE(where(u8() > 20, u8(), 999));
  OUTSIDE(where(u8() > 20, -1, u8()));
  OUTSIDE(pow(u8(), 256));
  OUTSIDE(pow(-1, u8()));
  OUTSIDE(floordiv(u8(), 1000));
  OUTSIDE(floormod(u8(), -3));
  OUTSIDE(truncatediv(i8(), 128));
  OUTSIDE(squared_difference(u8(), 256));
  OUTSIDE(pad(i8(), {{1, 1}}, {.constant_values = 300}));
  OUTSIDE(one_hot(constant({1}), 2, {.on_value = 300, .dtype = int8}));
  OUTSIDE(one_hot(constant({1}), 2, {.off_value = -1, .dtype = uint8}));
  OUTSIDE(full_like(i8(), 300));
  OUTSIDE(full_like(i32(), -1, {.dtype = uint16}));
  OUTSIDE(debugging::assert_less(u8(), 300));
  OUTSIDE(random::uniform({2}, {.minval = 0, .maxval = 1e30, .dtype = int32}));
}

TEST_CASE("numbers out of range: constants") {
  OUTSIDE(constant(300, {.dtype = uint8}));
  OUTSIDE(constant({1, 300}, {.dtype = int8}));
  OUTSIDE(constant({{1, 2}, {3, -1}}, {.dtype = uint32}));
  OUTSIDE(constant(1e10, {.dtype = int32}));
  OUTSIDE(constant(18446744073709551615ull, {.dtype = int64}));
  OUTSIDE(constant(std::vector<int>{7, 256}, {.dtype = uint8}));
  OUTSIDE(constant(std::vector<double>{1e10}, {.dtype = int32}));
  OUTSIDE(constant(std::vector<u64>{UINT64_MAX}, {.dtype = int64}));
  OUTSIDE(fill({2}, 300, {.dtype = int8}));
  CHECK_THROWS_WITH(constant({{1, 2}, {3, -1}}, {.dtype = uint32}), ContainsSubstring("uint32, at [1][1]"));
  CHECK_THROWS_WITH(constant(std::vector<int>{7, 256}, {.dtype = uint8}), ContainsSubstring("uint8, at [1]"));
  CHECK_THROWS_WITH(constant(-1.9, {.dtype = int32}), ContainsSubstring("-1.9 has a fraction"));
  CHECK_THROWS_WITH(constant(std::vector<float>{1.5f}, {.dtype = int64}), ContainsSubstring("1.5 has a fraction"));
  CHECK_THROWS_WITH(constant(std::vector<float>{NAN}, {.dtype = int64}), ContainsSubstring("is not a number"));
  CHECK(constant(std::vector<u64>{UINT64_MAX, 0}, {.dtype = float32}).to_vector<float>()[0] == 0x1p64f);
  CHECK(constant({-128, 127}, {.dtype = int8}).to_vector<std::int8_t>() == std::vector<std::int8_t>{-128, 127});
  CHECK(constant({0., 255.}, {.dtype = uint8}).to_vector<std::uint8_t>() == Bytes8{0, 255});
}

TEST_CASE("numbers out of range: sequences hold what is made, not the limit") {
  OUTSIDE(range(0, 300, 100, {.dtype = int8}));
  OUTSIDE(range(-1, 3, {.dtype = uint8}));
  OUTSIDE(range(300, 1, -100, {.dtype = uint8}));
  OUTSIDE(range(0., 1e30, 1e29, {.dtype = int64}));
  CHECK_THROWS_WITH(range(0.5, 3, {.dtype = int32}), ContainsSubstring("0.5 has a fraction"));
  CHECK(range(250, 256, 3, {.dtype = uint8}).to_vector<std::uint8_t>() == Bytes8{250, 253});
  CHECK(range(2, -1, -1, {.dtype = uint8}).to_vector<std::uint8_t>() == Bytes8{2, 1, 0});
  CHECK(range(300, 300, {.dtype = uint8}).size() == 0);
  CHECK(range(UINT64_MAX - 2, UINT64_MAX).to_vector<u64>() == std::vector<u64>{UINT64_MAX - 2, UINT64_MAX - 1});
  const auto end = [](u64 x) { return constant(std::vector<u64>{x}, {.shape = Shape{}}); };
  CHECK(range(end(0), end(UINT64_MAX), end(UINT64_MAX / 2)).to_vector<u64>() ==
        std::vector<u64>{0, UINT64_MAX / 2, UINT64_MAX - 1});
}

TEST_CASE("numbers at the ends of a dtype's range pass, and compare rightly") {
  CHECK((u8() <= 255).to_vector<bool>() == Bools{true, true});
  CHECK((u8() + 5).to_vector<std::uint8_t>() == Bytes8{255, 15});
  CHECK((i8() >= -128).to_vector<bool>() == Bools{true, true});
  CHECK((u64s() < 1e19).to_vector<bool>() == Bools{true, false});
  CHECK((u64s() < 18446744073709551615ull).to_vector<bool>() == Bools{true, false});
  CHECK((u64s() - 18446744073709551615ull).to_vector<u64>() == std::vector<u64>{2, 0});
  CHECK((i32() == 5.0).to_vector<bool>() == Bools{true, false});
  CHECK(clip_by_value(u8(), 0, 255).to_vector<std::uint8_t>() == Bytes8{250, 10});
  CHECK((cast(i32(), float16) * 1e6).size() == 2);  // floating dtypes round, to infinity too
}

TEST_CASE("numbers out of range: bool holds 0 and 1") {
  const Tensor flags = constant({true, false});
  CHECK((flags == 1).to_vector<bool>() == Bools{true, false});
  CHECK((flags == false).to_vector<bool>() == Bools{false, true});
  OUTSIDE(flags == 2);
  OUTSIDE(flags != -1);
  OUTSIDE(where(flags, flags, 2));
  OUTSIDE(full_like(flags, 2));
  OUTSIDE(constant({0, 2}, {.dtype = bool_}));
  CHECK_THROWS_WITH(flags == 0.5, ContainsSubstring("has a fraction"));
  CHECK(constant({0, 1}, {.dtype = bool_}).to_vector<bool>() == Bools{false, true});
}
