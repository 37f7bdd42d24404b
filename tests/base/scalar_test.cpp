// Scalar: which dtype holds which C++ number, and the text of one that none holds.
#include "tandem/base/scalar.hpp"

#include <cmath>
#include <limits>

#include "tandem/base/error.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

const DType whole_dtypes[] = {int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool_};

struct Ends {
  __int128 low, high;
};
Ends ends_of(DType d) {
  if (d == bool_) return {0, 1};
  const int bits = 8 * static_cast<int>(size_of(d));
  const __int128 one = 1;
  if (dtypes::unsigned_integer.has(d)) return {0, (one << bits) - 1};
  return {-(one << (bits - 1)), (one << (bits - 1)) - 1};
}
// Near the ends of every dtype, from above and below.
std::vector<__int128> corners() {
  std::vector<__int128> r;
  for (const DType d : whole_dtypes)
    for (const __int128 end : {ends_of(d).low, ends_of(d).high})
      for (int by = -2; by <= 2; ++by) r.push_back(end + by);
  return r;
}

}  // namespace

TEST_CASE("scalar: an integer fits the dtypes whose range it is in") {
  int numbers = 0;
  for (const __int128 x : corners()) {
    for (const DType d : whole_dtypes) {
      const bool want = x >= ends_of(d).low && x <= ends_of(d).high;
      CAPTURE(name(d), static_cast<double>(x));
      if (x >= INT64_MIN && x <= INT64_MAX) {
        CHECK(Scalar(static_cast<i64>(x)).fits(d) == want);
        CHECK(Scalar(static_cast<i64>(x)).wide() == x);
        ++numbers;
      }
      if (x >= 0 && x <= static_cast<__int128>(UINT64_MAX)) {
        CHECK(Scalar(static_cast<u64>(x)).fits(d) == want);
        CHECK(Scalar(static_cast<u64>(x)).wide() == x);
        ++numbers;
      }
      const auto real = static_cast<double>(x);
      if (static_cast<__int128>(real) == x) CHECK(Scalar(real).fits(d) == want);
    }
    for (const DType d : {float32, float64, float16, complex64}) CHECK(Scalar(static_cast<double>(x)).fits(d));
  }
  CHECK(numbers > 500);
}

TEST_CASE("scalar: no integer dtype holds a fraction, infinity or NaN") {
  for (const double x : {0.5, -1.5, 1e-300, 4503599627370495.5, std::numeric_limits<double>::infinity(),
                         -std::numeric_limits<double>::infinity(), std::nan(""), 1e30, 0x1p64, -0x1.8p63})
    for (const DType d : whole_dtypes) {
      CAPTURE(x, name(d));
      CHECK_FALSE(Scalar(x).fits(d));
    }
  CHECK(Scalar(0.5f).has_fraction());
  CHECK_FALSE(Scalar(1e19).has_fraction());
  CHECK_FALSE(Scalar(1e300).has_fraction());
  CHECK(Scalar(1e19).fits(uint64));
  CHECK(static_cast<u64>(Scalar(1e19).whole()) == 10'000'000'000'000'000'000u);
}

TEST_CASE("scalar: the error says what is wrong with the number") {
  const auto text = [](const Scalar& x, DType d) -> std::string {
    try {
      detail::raise_unfit("op", x, d, "it");
    } catch (const errors::InvalidArgumentError& e) {
      return e.what();
    }
  };
  CHECK(text(300, uint8) == "op: 300 is out of range for uint8 (0 to 255) and is not representable in it");
  CHECK(text(-129, int8) == "op: -129 is out of range for int8 (-128 to 127) and is not representable in it");
  CHECK(text(UINT64_MAX, int64) ==
        "op: 18446744073709551615 is out of range for int64 (-9223372036854775808 to 9223372036854775807) and is not "
        "representable in it");
  CHECK(text(-1, uint64) ==
        "op: -1 is out of range for uint64 (0 to 18446744073709551615) and is not representable in it");
  CHECK(text(1e19, int32) ==
        "op: 1e+19 is out of range for int32 (-2147483648 to 2147483647) and is not representable in it");
  CHECK(text(2, bool_) == "op: 2 is out of range for bool (0 and 1) and is not representable in it");
  CHECK(text(0.5, int32) == "op: 0.5 has a fraction and is not representable in it");
  CHECK(text(300.0000001, uint8) == "op: 300.00000010000002 has a fraction and is not representable in it");
  CHECK(text(std::nan(""), int32) == "op: nan is not a number and is not representable in it");
}
