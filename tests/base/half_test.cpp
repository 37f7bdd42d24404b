// float16 and bfloat16: every value there and back, and every place where rounding turns.
#include "tandem/base/half.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

template <class H>
H of_bits(unsigned bits) {
  H h;
  h.bits = static_cast<std::uint16_t>(bits);
  return h;
}
// What IEEE 754 says the bits mean: `exponent_bits` of exponent, the rest fraction.
double meaning(unsigned bits, int exponent_bits) {
  const int fraction_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = static_cast<int>(bits >> fraction_bits) & ((1 << exponent_bits) - 1);
  const double fraction = bits & ((1u << fraction_bits) - 1), sign = bits & 0x8000u ? -1 : 1;
  if (exponent == (1 << exponent_bits) - 1) return fraction != 0 ? std::nan("") : sign * INFINITY;
  const double mantissa = exponent ? 1 + std::ldexp(fraction, -fraction_bits) : std::ldexp(fraction, 1 - fraction_bits);
  return sign * std::ldexp(mantissa, exponent - bias);
}
template <class H>
int wrong_meanings(int exponent_bits) {
  int wrong = 0;
  for (unsigned b = 0; b < 65536; ++b) {
    const float x = static_cast<float>(of_bits<H>(b));
    const double want = meaning(b, exponent_bits);
    if (std::isnan(want)) wrong += !std::isnan(x) || !std::isnan(static_cast<float>(H(x)));
    else wrong += x != want || std::signbit(x) != std::signbit(want) || H(x).bits != b;
  }
  return wrong;
}
// Between neighbours: the middle goes to the even one, everything else to the nearer.
template <class H>
int wrong_roundings(unsigned infinite_bits, double first_beyond) {
  int wrong = 0;
  for (unsigned b = 0; b < infinite_bits; ++b)
    for (const float sign : {1.f, -1.f}) {
      const double low = static_cast<float>(of_bits<H>(b));
      const bool last = b + 1 == infinite_bits;
      const double high = last ? first_beyond : static_cast<float>(of_bits<H>(b + 1));
      const double middle = 0.5 * (low + high);
      const unsigned sign_bit = sign < 0 ? 0x8000u : 0;
      const auto m = static_cast<float>(middle);
      if (m != middle) return -1;  // a float cannot stand between them: the test would be wrong
      wrong += H(sign * m).bits != ((b & 1 ? b + 1 : b) | sign_bit);
      wrong += H(sign * std::nextafter(m, 0.f)).bits != (b | sign_bit);
      wrong += H(sign * std::nextafter(m, infinity)).bits != ((b + 1) | sign_bit);
    }
  return wrong;
}

}  // namespace

TEST_CASE("half: every float16 means what IEEE 754 says, and comes back") { CHECK(wrong_meanings<Half>(5) == 0); }
TEST_CASE("half: every bfloat16 means what it says, and comes back") { CHECK(wrong_meanings<BFloat16>(8) == 0); }

TEST_CASE("half: rounding to nearest, ties to even, overflow to infinity") {
  CHECK(wrong_roundings<Half>(0x7c00, 0x1p16) == 0);
  CHECK(Half(infinity).bits == 0x7c00);
  CHECK(Half(-1e30f).bits == 0xfc00);
  CHECK(Half(1e-30f).bits == 0);
  CHECK(Half(-1e-30f).bits == 0x8000);
}

TEST_CASE("half: bfloat16 rounds alike") {
  CHECK(wrong_roundings<BFloat16>(0x7f80, 0x1p128) == 0);
  CHECK(BFloat16(std::numeric_limits<float>::max()).bits == 0x7f80);
  CHECK(BFloat16(infinity).bits == 0x7f80);
}

TEST_CASE("half: every NaN stays NaN, with its sign") {
  for (const std::uint32_t bits : {0x7f800001u, 0x7fffffffu, 0x7fc00000u, 0xff800001u, 0x7f80ffffu}) {
    const float nan = std::bit_cast<float>(bits);
    CHECK(std::isnan(static_cast<float>(Half(nan))));
    CHECK(std::isnan(static_cast<float>(BFloat16(nan))));
    CHECK((Half(nan).bits >> 15) == (bits >> 31));
    CHECK((BFloat16(nan).bits >> 15) == (bits >> 31));
  }
}
