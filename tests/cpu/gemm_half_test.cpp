// Products of float16 and bfloat16: the bits of float32's product, rounded, for every shape, flag, instruction set and
// number of threads. Whether float32's are right: gemm_test.cpp.
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "tandem/base/half.hpp"
#include "tandem/cpu/gemm/gemm.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tests/support/catch.hpp"

#if !TANDEM_IS_HEADER_ONLY
using namespace tandem;
using cpu::Gemm;
using tandem::FusedActivation;

namespace {

struct OnSet {
  OnSet(int level, int threads) : before(static_cast<signed char>(cpu::isa())) {
    cpu::isa_level = static_cast<signed char>(level);
    config::set_intra_op_parallelism_threads(threads);
  }
  ~OnSet() {
    cpu::isa_level = before;
    config::set_intra_op_parallelism_threads(0);
  }
  signed char before;
};

// Narrow operands, the same numbers as floats, and room for both results. Rows are `gap` longer than they need to be.
template <class H>
struct HalfCase {
  HalfCase(i64 m, i64 n, i64 k, bool ta, bool tb, i64 gap) {
    narrow.m = wide.m = m, narrow.n = wide.n = n, narrow.k = wide.k = k;
    narrow.transpose_a = wide.transpose_a = ta, narrow.transpose_b = wide.transpose_b = tb;
    narrow.lda = wide.lda = (ta ? m : k) + gap, narrow.ldb = wide.ldb = (tb ? k : n) + gap;
    narrow.ldc = wide.ldc = n + gap;
    // Not an element more than the operands have: a read beyond them is for the sanitizer to see.
    draw(a, wide_a, ((ta ? k : m) - 1) * wide.lda + (ta ? m : k));
    draw(b, wide_b, ((tb ? n : k) - 1) * wide.ldb + (tb ? k : n));
    draw(bias, wide_bias, n);
    draw(c, wide_c, (m - 1) * wide.ldc + n);
    before = c;
    narrow.a = a.data(), narrow.b = b.data(), narrow.c = c.data();
    wide.a = wide_a.data(), wide.b = wide_b.data(), wide.c = wide_c.data();
  }
  void add_bias(FusedActivation f) {
    narrow.bias = bias.data(), wide.bias = wide_bias.data();
    narrow.activation = wide.activation = f;
  }
  // The number of elements of C that are not the rounded float32 result, or what was there before in the gaps.
  int wrong() {
    cpu::gemm(narrow), cpu::gemm(wide);
    int count = 0;
    for (std::size_t i = 0; i < c.size(); ++i) {
      const bool gap = i64(i) % wide.ldc >= wide.n;
      count += c[i].bits != (gap ? before[i] : H(wide_c[i])).bits;
    }
    return count;
  }

  Gemm<H> narrow;
  Gemm<float> wide;
  std::vector<H> a, b, c, bias, before;
  std::vector<float> wide_a, wide_b, wide_c, wide_bias;

 private:
  void draw(std::vector<H>& to, std::vector<float>& as_floats, i64 n) {
    static std::mt19937 bits(5);
    std::normal_distribution<float> normal;
    for (i64 i = 0; i < n; ++i) {
      to.push_back(H(normal(bits)));
      as_floats.push_back(static_cast<float>(to.back()));
    }
  }
};

template <class H>
void check_half(i64 m, i64 n, i64 k, i64 gap = 0) {
  for (int flags = 0; flags < 4; ++flags) {
    CAPTURE(m, n, k, flags, gap, int(cpu::isa()));
    CHECK(HalfCase<H>(m, n, k, flags & 1, flags & 2, gap).wrong() == 0);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("half products are float32's, rounded, for odd shapes and all flags", "", Half, BFloat16) {
  for (int level = 0; level <= cpu::best_isa(); ++level) {
    const OnSet s(level, 1);
    const i64 sizes[] = {2, 3, 7, 8, 13, 15, 16, 17, 31, 33, 65};
    int at = 0;
    for (i64 m : sizes)
      for (i64 n : sizes) check_half<TestType>(m, n, sizes[at % 11], at % 3 ? 0 : 5), ++at;
    for (i64 k : {1, 127, 128, 129, 257, 512, 513, 1030}) check_half<TestType>(19, 37, k, k % 2 * 3);
    check_half<TestType>(1200, 70, 20, 1);  // several blocks of rows
    check_half<TestType>(1100, 40, 520);    // several areas, in which sums are kept
    check_half<TestType>(30, 1700, 530);    // several ranges of columns
  }
}

TEMPLATE_TEST_CASE("half products with a vector are float32's, rounded", "", Half, BFloat16) {
  for (int level = 0; level <= cpu::best_isa(); ++level)
    for (int threads : {1, 3}) {
      const OnSet s(level, threads);
      for (auto [m, n, k] : {std::array<i64, 3>{1, 1, 1},
                             {1, 1, 700},
                             {1, 5, 33},
                             {1, 300, 700},
                             {5, 1, 33},
                             {300, 1, 700},
                             {1, 900, 1000},
                             {900, 1, 1000},
                             {3, 1, 20000},
                             {1, 3, 20000}})
        check_half<TestType>(m, n, k);
    }
}

TEMPLATE_TEST_CASE("half products: bias and activation are applied before the rounding", "", Half, BFloat16) {
  for (int level = 0; level <= cpu::best_isa(); ++level) {
    const OnSet s(level, 1);
    for (auto f : {FusedActivation::none, FusedActivation::relu, FusedActivation::tanh, FusedActivation::sigmoid})
      for (auto [m, n, k] : {std::array<i64, 3>{20, 45, 30}, {1, 100, 50}, {100, 1, 50}, {17, 33, 800}, {1, 1, 9}}) {
        HalfCase<TestType> x(m, n, k, false, false, 0);
        x.add_bias(f);
        CAPTURE(int(f), m, n, k, level);
        CHECK(x.wrong() == 0);
      }
  }
}

TEMPLATE_TEST_CASE("half products do not depend on the number of threads", "", Half, BFloat16) {
  for (int threads : {2, 5}) {
    const OnSet s(cpu::best_isa(), threads);
    check_half<TestType>(300, 200, 500);
    check_half<TestType>(64, 1024, 256);
    check_half<TestType>(1000, 33, 600);
  }
}

TEMPLATE_TEST_CASE("half products: inner size zero gives the activated bias", "", Half, BFloat16) {
  HalfCase<TestType> x(3, 40, 0, false, false, 0);
  CHECK(x.wrong() == 0);
  x.add_bias(FusedActivation::relu);
  CHECK(x.wrong() == 0);
}
#endif
