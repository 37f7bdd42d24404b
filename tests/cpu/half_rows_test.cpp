// Conversion of half precision by rows: every value, on every instruction set, as base/half.hpp converts it.
#include "tandem/cpu/pointwise/half.hpp"

#include <cstring>
#include <random>
#include <vector>

#include "tandem/base/half.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;

namespace {

template <class H>
constexpr DType dtype_of_half = std::is_same_v<H, Half> ? DType::float16 : DType::bfloat16;
std::uint32_t bits_of(float x) { return std::bit_cast<std::uint32_t>(x); }

// Floats of every exponent, with fractions that are cut at every place and rounded at every place, and NaNs.
std::vector<float> floats_to_round() {
  std::vector<float> r;
  std::mt19937 bits(3);
  for (std::uint32_t exponent = 0; exponent < 512; ++exponent) {
    for (std::uint32_t place = 0; place < 23; ++place)
      for (std::uint32_t fraction : {1u << place, (1u << place) + 1, (1u << place) - 1, ~0u << place})
        r.push_back(std::bit_cast<float>(exponent << 23 | (fraction & 0x7fffffu)));
    for (int i = 0; i < 100; ++i)
      r.push_back(std::bit_cast<float>(exponent << 23 | (std::uint32_t(bits()) & 0x7fffffu)));
  }
  return r;
}

template <class F>
void on_each_set(F f) {
  const signed char before = static_cast<signed char>(cpu::isa());
  for (int level = 0; level <= cpu::best_isa(); ++level) {
    cpu::isa_level = static_cast<signed char>(level);
    CAPTURE(level);
    f();
  }
  cpu::isa_level = before;
}

}  // namespace

TEMPLATE_TEST_CASE("half rows: every value widens to what it means", "", Half, BFloat16) {
  std::vector<TestType> all(65536);
  for (unsigned b = 0; b < 65536; ++b) all[b].bits = static_cast<std::uint16_t>(b);
  on_each_set([&] {
    std::vector<float> wide(all.size());
    cpu::half_rows(dtype_of_half<TestType>).widen(all.data(), 0, wide.data(), 0, 1, 65536);
    int wrong = 0;
    for (std::size_t i = 0; i < all.size(); ++i) wrong += bits_of(wide[i]) != bits_of(static_cast<float>(all[i]));
    CHECK(wrong == 0);
  });
}

TEMPLATE_TEST_CASE("half rows: floats are rounded to the nearest, NaN stays NaN", "", Half, BFloat16) {
  const std::vector<float> x = floats_to_round();
  on_each_set([&] {
    std::vector<TestType> y(x.size());
    cpu::half_rows(dtype_of_half<TestType>).round(x.data(), 0, y.data(), 0, 1, static_cast<i64>(x.size()));
    int wrong = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      wrong += y[i].bits != TestType(x[i]).bits;
      wrong += (x[i] != x[i]) != (static_cast<float>(y[i]) != static_cast<float>(y[i]));
    }
    CHECK(wrong == 0);
  });
}

TEMPLATE_TEST_CASE("half rows: rows of any length and distance, and nothing beyond them", "", Half, BFloat16) {
  const cpu::HalfRows* rows = nullptr;
  on_each_set([&] {
    rows = &cpu::half_rows(dtype_of_half<TestType>);
    for (i64 n : {0, 1, 3, 4, 7, 8, 9, 15, 16, 17, 31, 33, 50}) {
      const i64 count = 3, ld = n + 2, step = n + 5;
      CAPTURE(n);
      std::vector<TestType> x(static_cast<std::size_t>((count - 1) * ld + n));  // not an element more
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = TestType(static_cast<float>(i % 100));
      std::vector<float> wide(static_cast<std::size_t>(count * step), -1.f);
      rows->widen(x.data(), ld, wide.data(), step, count, n);
      std::vector<TestType> back(static_cast<std::size_t>(count * ld), TestType(-2.f));
      rows->round(wide.data(), step, back.data(), ld, count, n);
      int wrong = 0;
      for (i64 r = 0; r < count; ++r) {
        for (i64 i = 0; i < step; ++i)
          wrong += wide[static_cast<std::size_t>(r * step + i)] !=
                   (i < n ? static_cast<float>(x[static_cast<std::size_t>(r * ld + i)]) : -1.f);
        for (i64 i = 0; i < ld; ++i)
          wrong += static_cast<float>(back[static_cast<std::size_t>(r * ld + i)]) !=
                   (i < n ? static_cast<float>(x[static_cast<std::size_t>(r * ld + i)]) : -2.f);
      }
      CHECK(wrong == 0);
    }
  });
}
