// The matrix products against a double loop in a wider type: shapes, flags, leading dimensions, instruction sets,
// threads. Not here: speed (bench/), the op with its shape rules and gradients (tests/ops).
#include "tandem/cpu/gemm/gemm.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tests/support/catch.hpp"

using tandem::FusedActivation;
using tandem::i64;
using tandem::cpu::Gemm;
using tandem::cpu::gemm;

namespace {

/// Runs the rest of its scope on one instruction set and with a number of threads.
struct Setting {
  Setting(int level, int threads) : before(tandem::cpu::isa()) {
    tandem::cpu::isa_level = static_cast<signed char>(level);
    tandem::config::set_intra_op_parallelism_threads(threads);
  }
  ~Setting() {
    tandem::cpu::isa_level = before;
    tandem::config::set_intra_op_parallelism_threads(0);
  }
  signed char before;
};

std::mt19937& random_bits() {
  static std::mt19937 bits(7);
  return bits;
}

template <class T>
T draw() {
  if constexpr (std::is_integral_v<T>) return T((tandem::u64(random_bits()()) << 32) | random_bits()());
  else return T((double(random_bits()()) - 0x1p31) * 0x1p-30);  // in [-2, 2): a distribution's object takes far longer
}
template <class T>
std::vector<T> numbers(i64 n) {
  std::vector<T> v(n);
  for (T& x : v) x = draw<T>();
  return v;
}
template <>
std::vector<std::complex<float>> numbers(i64 n) {
  std::vector<std::complex<float>> v(n);
  for (auto& x : v) x = {draw<float>(), draw<float>()};
  return v;
}

/// A product with its operands; rows of A, B, C are `gap` longer than they need to be.
template <class T>
struct Case {
  Case(i64 m, i64 n, i64 k, bool ta = false, bool tb = false, i64 gap = 0) {
    g.m = m, g.n = n, g.k = k, g.transpose_a = ta, g.transpose_b = tb;
    g.lda = (ta ? m : k) + gap, g.ldb = (tb ? k : n) + gap, g.ldc = n + gap;
    // Not a number more than the operands have: a read beyond them is for the sanitizer to see.
    a = numbers<T>(std::max<i64>(0, ((ta ? k : m) - 1) * g.lda + (ta ? m : k)));
    b = numbers<T>(std::max<i64>(0, ((tb ? n : k) - 1) * g.ldb + (tb ? k : n)));
    c = numbers<T>(std::max<i64>(0, (m - 1) * g.ldc + n));
    bias = numbers<T>(n);
    before = c;
    g.a = a.data(), g.b = b.data(), g.c = c.data();
  }
  T a_at(i64 i, i64 p) const { return g.transpose_a ? a[p * g.lda + i] : a[i * g.lda + p]; }
  T b_at(i64 p, i64 j) const { return g.transpose_b ? b[j * g.ldb + p] : b[p * g.ldb + j]; }

  Gemm<T> g;
  std::vector<T> a, b, c, bias, before;
};

template <class Wide>
Wide activate(FusedActivation f, Wide x) {
  switch (f) {
    case FusedActivation::none: return x;
    case FusedActivation::relu: return x < 0 ? 0 : x;
    case FusedActivation::tanh: return std::tanh(x);
    case FusedActivation::sigmoid: return 1 / (1 + std::exp(-x));
  }
  return x;
}

/// The product of a case's operands by a double loop, which serves every result that is computed from them.
template <class T>
class Reference {
 public:
  explicit Reference(const Case<T>& x) : sums_(x.g.m * x.g.n), sizes_(x.g.m * x.g.n) {
    const i64 n = x.g.n;
    std::vector<Wide> b(x.g.k * n);
    for (i64 p = 0; p < x.g.k; ++p)
      for (i64 j = 0; j < n; ++j) b[p * n + j] = x.b_at(p, j);
    for (i64 i = 0; i < x.g.m; ++i)
      for (i64 p = 0; p < x.g.k; ++p) {
        const Wide a = x.a_at(i, p), *const row = b.data() + p * n;
        Wide *const sum = sums_.data() + i * n, *const size = sizes_.data() + i * n;
        for (i64 j = 0; j < n; ++j) {
          const Wide v = a * row[j];
          sum[j] += v, size[j] += v < 0 ? -v : v;
        }
      }
  }
  /// The largest error of C, in units of the bound on it: (k + 8) eps (|A| |B| + |C| + |bias|), plus what the
  /// activation adds.
  double error(const Case<T>& x) const {
    const Wide eps = std::numeric_limits<T>::epsilon();
    double worst = 0;
    for (i64 i = 0; i < x.g.m; ++i)
      for (i64 j = 0; j < x.g.n; ++j) {
        Wide sum = sums_[i * x.g.n + j], size = sizes_[i * x.g.n + j];
        auto add = [&](Wide v) { sum += v, size += std::fabs(v); };
        if (x.g.accumulate) add(x.before[i * x.g.ldc + j]);
        if (x.g.bias) add(x.bias[j]);
        const Wide bound = (x.g.k + 8) * eps * size + (x.g.activation == FusedActivation::none ? 0 : 8 * eps);
        const Wide off = std::fabs(activate(x.g.activation, sum) - x.c[i * x.g.ldc + j]);
        if (!(off <= bound)) worst = std::max(worst, bound > 0 && off == off ? double(off / bound) : 1e30);
      }
    return worst;
  }

 private:
  using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;
  std::vector<Wide> sums_, sizes_;
};

/// True if the room between the rows of C is as it was.
template <class T>
bool gaps_untouched(const Case<T>& x) {
  for (std::size_t at = 0; at < x.c.size(); ++at)
    if (i64(at) % x.g.ldc >= x.g.n && std::memcmp(&x.c[at], &x.before[at], sizeof(T)) != 0) return false;
  return true;
}

template <class T>
void check(Case<T>& x, const Reference<T>& reference) {
  x.c = x.before;
  x.g.c = x.c.data();
  gemm(x.g);
  INFO("m " << x.g.m << " n " << x.g.n << " k " << x.g.k << " ta " << x.g.transpose_a << " tb " << x.g.transpose_b
            << " lda " << x.g.lda << " accumulate " << x.g.accumulate << " bias " << (x.g.bias != nullptr)
            << " activation " << int(x.g.activation) << " packed " << (x.g.packed_b != nullptr) << " set "
            << int(tandem::cpu::isa()));
  CHECK(reference.error(x) == 0);
  CHECK(gaps_untouched(x));
}
template <class T>
void check(Case<T>& x) {
  check(x, Reference<T>(x));
}

// On every instruction set.
template <class T>
void check_flags(i64 m, i64 n, i64 k, i64 gap, int step = 1) {
  for (int flags = 0; flags < 8; flags += step) {
    Case<T> x(m, n, k, flags & 1, flags & 2, gap);
    x.g.accumulate = flags & 4;
    const Reference<T> reference(x);
    for (int level = 0; level <= tandem::cpu::best_isa(); ++level) {
      const Setting s(level, 1);
      check(x, reference);
    }
  }
}

const i64 sizes[] = {1, 2, 3, 5, 7, 8, 13, 14, 15, 16, 17, 29, 31, 32, 33, 48, 63, 65};

}  // namespace

TEMPLATE_TEST_CASE("gemm equals the double loop for odd shapes and all flags", "", float, double) {
  int at = 0;
  for (i64 m : sizes)
    for (i64 n : sizes) {
      check_flags<TestType>(m, n, sizes[at % 18], at % 3 == 0 ? 5 : 0);
      ++at;
    }
  for (i64 k : {2, 3, 4, 9, 31, 64, 100, 257, 383, 384, 385, 400, 769, 1025})
    check_flags<TestType>(19, 37, k, k % 2 * 3);
  // Operands that are worth packing, in one block of rows and in several.
  check_flags<TestType>(170, 300, 40, 0, 3);
  check_flags<TestType>(1200, 280, 20, 1, 3);
  check_flags<TestType>(339, 270, 390, 1, 3);
  check_flags<TestType>(30, 3100, 10, 0, 3);
}

TEMPLATE_TEST_CASE("leading dimensions of large powers of two", "", float, double) {
  check_flags<TestType>(33, 70, 40, 1024 - 40);
  check_flags<TestType>(256, 256, 256, 0, 3);
}

TEMPLATE_TEST_CASE("bias and activation", "", float, double) {
  for (int level = 0; level <= tandem::cpu::best_isa(); ++level) {
    Setting s(level, 1);
    for (auto f : {FusedActivation::none, FusedActivation::relu, FusedActivation::tanh, FusedActivation::sigmoid})
      for (auto [m, n, k] :
           {std::array<i64, 3>{20, 45, 30}, {1, 100, 50}, {100, 1, 50}, {17, 33, 800}, {4, 4, 0}, {64, 64, 64}})
        for (int flags = 0; flags < 4; ++flags) {
          Case<TestType> x(m, n, k, false, false, flags & 1 ? 3 : 0);
          x.g.activation = f;
          x.g.accumulate = flags & 2;
          x.g.bias = flags & 1 ? x.bias.data() : nullptr;
          check(x);
        }
  }
}

TEMPLATE_TEST_CASE("a packed B gives the same bits as the plain one", "", float, double) {
  for (auto [m, n, k] :
       {std::array<i64, 3>{1, 64, 64}, {5, 1, 30}, {64, 1024, 256}, {33, 71, 900}, {200, 100, 385}, {6, 40, 0}})
    for (bool transposed : {false, true}) {
      Case<TestType> x(m, n, k, false, transposed, 2);
      const Reference<TestType> reference(x);
      for (int level = 0; level <= tandem::cpu::best_isa(); ++level)
        for (int threads : {1, 3}) {
          const Setting s(level, threads);
          std::vector<TestType> packed(tandem::cpu::packed_b_size<TestType>(k, n) + 16);
          tandem::cpu::pack_b(x.b.data(), x.g.ldb, transposed, k, n, packed.data());
          x.g.packed_b = packed.data();
          check(x, reference);
          const auto with_packed = x.c;
          x.g.packed_b = nullptr;
          check(x, reference);
          if (m > 1 && n > 1) CHECK(std::memcmp(with_packed.data(), x.c.data(), x.c.size() * sizeof(TestType)) == 0);
        }
    }
}

TEMPLATE_TEST_CASE("the result does not depend on the number of threads", "", float, double) {
  for (auto [m, n, k] : {std::array<i64, 3>{300, 200, 500},
                         {1, 1000, 700},
                         {900, 1, 700},
                         {1, 200, 20000},
                         {100, 1, 20000},
                         {1, 1, 50000},
                         {64, 1024, 256},
                         {1000, 33, 100},
                         {15, 3000, 77},
                         {401, 399, 401}})
    for (int flags = 0; flags < 4; ++flags) {
      Case<TestType> x(m, n, k, flags & 1, flags & 2);
      std::optional<Reference<TestType>> reference;
      if (flags == 0) reference.emplace(x);
      for (int level = 0; level <= tandem::cpu::best_isa(); ++level) {
        std::vector<TestType> first;
        for (int threads : {1, 2, 5}) {
          Setting s(level, threads);
          x.c = x.before;
          gemm(x.g);
          if (threads == 1) first = x.c;
          CAPTURE(level, m, n, k, flags, threads);
          CHECK(std::memcmp(first.data(), x.c.data(), x.c.size() * sizeof(TestType)) == 0);
        }
        if (reference) CHECK(reference->error(x) == 0);
      }
    }
}

namespace {
// The largest relative error of a product whose terms all equal 0.1f * 0.1f: added one by one they lose a bit of each
// term as soon as the sum has outgrown it. `equal` has k * max(m, n) elements of 0.1f.
template <class T>
double error_of_equal_terms(const std::vector<T>& equal, i64 m, i64 n, i64 k, bool ta, bool tb) {
  std::vector<T> c(static_cast<std::size_t>(m * n));
  Gemm<T> g;
  g.m = m, g.n = n, g.k = k, g.transpose_a = ta, g.transpose_b = tb;
  g.lda = ta ? m : k, g.ldb = tb ? k : n, g.ldc = n;
  g.a = g.b = equal.data(), g.c = c.data();
  gemm(g);
  const double want = double(0.1f) * double(0.1f) * double(k);
  double worst = 0;
  for (const T& y : c) worst = std::max(worst, double(std::abs(y - T(want))) / want);
  return worst;
}
}  // namespace

TEST_CASE("a long row or column is summed as accurately as rows of a matrix are") {
  const std::vector<float> equal(8'000'000, 0.1f);
  const std::vector<double> wide(3'000'000, 0.1f);
  for (int level = 0; level <= tandem::cpu::best_isa(); ++level) {
    Setting s(level, 1);
    for (const i64 k : {1'000, 100'000, 1'000'000})
      for (int flags = 0; flags < 4; flags += 3) {
        const bool ta = flags & 1, tb = flags & 2;
        const double matrix = error_of_equal_terms(equal, 8, 8, k, ta, tb);
        for (const auto& [m, n] : {std::pair<i64, i64>{1, 1}, {1, 3}, {1, 8}, {3, 1}, {8, 1}}) {
          CAPTURE(level, k, flags, matrix, m, n);
          const double e = error_of_equal_terms(equal, m, n, k, ta, tb);
          CHECK(e < 8e-6);
          CHECK(e < std::max(matrix, 4e-6));
        }
      }
    CHECK(error_of_equal_terms(wide, 1, 3, 1'000'000, false, false) < 1e-14);
    CHECK(error_of_equal_terms(wide, 3, 1, 1'000'000, false, false) < 1e-14);
  }
  const std::vector<std::complex<float>> complex(200'000, 0.1f);
  CHECK(error_of_equal_terms(complex, 1, 2, 100'000, false, false) < 4e-5);
  CHECK(error_of_equal_terms(complex, 2, 1, 100'000, false, true) < 4e-5);
}

TEMPLATE_TEST_CASE("a workspace of the caller's serves as scratch", "", float, double) {
  for (int threads : {1, 4}) {
    Setting s(tandem::cpu::best_isa(), threads);
    Case<TestType> x(300, 400, 410, true, true);
    const std::size_t bytes = tandem::cpu::gemm_workspace<TestType>(300, 400, 410);
    REQUIRE(bytes > 0);
    std::vector<unsigned char> room(bytes + 64 + 64, 0xab);
    x.g.workspace = room.data() + (64 - reinterpret_cast<std::uintptr_t>(room.data()) % 64);
    x.g.workspace_bytes = bytes;
    check(x);
    const auto* used = static_cast<const unsigned char*>(x.g.workspace);
    CHECK(std::count(used, used + bytes, 0xab) < std::ptrdiff_t(bytes / 2));
    CHECK(std::count(used + bytes, static_cast<const unsigned char*>(room.data()) + room.size(), 0xab) ==
          room.data() + room.size() - (used + bytes));
    x.g.workspace_bytes = 64;
    check(x);
  }
}

TEMPLATE_TEST_CASE("inner size zero gives zeros, outer size zero nothing", "", float, double, std::int32_t,
                   std::int64_t) {
  Case<TestType> x(3, 4, 0);
  gemm(x.g);
  CHECK(x.c == std::vector<TestType>(12, TestType(0)));
  x.c = x.before;
  x.g.accumulate = true;
  gemm(x.g);
  CHECK(x.c == x.before);
  for (auto [m, n] : {std::pair<i64, i64>{0, 4}, {4, 0}, {0, 0}}) {
    Case<TestType> none(m, n, 5);
    none.g.c = nullptr;
    CHECK_NOTHROW(gemm(none.g));
  }
}

TEMPLATE_TEST_CASE("integers wrap", "", std::int32_t, std::int64_t) {
  using U = std::make_unsigned_t<TestType>;
  for (int threads : {1, 4})
    for (int flags = 0; flags < 8; ++flags) {
      Setting s(tandem::cpu::best_isa(), threads);
      Case<TestType> x(37, 300, 70, flags & 1, flags & 2, 2);
      x.g.accumulate = flags & 4;
      x.g.bias = flags & 1 ? x.bias.data() : nullptr;
      gemm(x.g);
      i64 wrong = 0;
      for (i64 i = 0; i < 37; ++i)
        for (i64 j = 0; j < 300; ++j) {
          U sum = U(x.g.accumulate ? x.before[i * x.g.ldc + j] : 0) + U(x.g.bias ? x.bias[j] : 0);
          for (i64 p = 0; p < 70; ++p) sum += U(x.a_at(i, p)) * U(x.b_at(p, j));
          wrong += TestType(sum) != x.c[i * x.g.ldc + j];
        }
      CHECK(wrong == 0);
      CHECK(gaps_untouched(x));
    }
}

TEST_CASE("complex products") {
  using C = std::complex<float>;
  for (int flags = 0; flags < 4; ++flags) {
    Case<C> x(9, 21, 130, flags & 1, flags & 2);
    gemm(x.g);
    for (i64 i = 0; i < 9; ++i)
      for (i64 j = 0; j < 21; ++j) {
        std::complex<double> sum = 0;
        double size = 0;
        for (i64 p = 0; p < 130; ++p) {
          const auto v = std::complex<double>(x.a_at(i, p)) * std::complex<double>(x.b_at(p, j));
          sum += v, size += std::abs(v);
        }
        CHECK(std::abs(sum - std::complex<double>(x.c[i * 21 + j])) <= 140 * 1.2e-7 * size);
      }
  }
}

TEMPLATE_TEST_CASE("NaN and infinity pass through", "", float, double) {
  const TestType nan = std::numeric_limits<TestType>::quiet_NaN(), inf = std::numeric_limits<TestType>::infinity();
  for (int level = 0; level <= tandem::cpu::best_isa(); ++level)
    for (i64 m : {1, 20}) {
      Setting s(level, 1);
      Case<TestType> x(m, 35, 40);
      x.a[5] = nan;
      x.g.activation = FusedActivation::relu;
      gemm(x.g);
      CHECK(std::isnan(x.c[0]));
      CHECK(std::isnan(x.c[34]));
      x.a[5] = 0;
      x.b[5 * 35 + 3] = inf;
      x.g.activation = FusedActivation::none;
      gemm(x.g);
      CHECK(std::isnan(x.c[3]));
      CHECK_FALSE(std::isnan(x.c[2]));
    }
}
