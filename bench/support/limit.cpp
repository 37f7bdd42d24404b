// The limits of the machine, measured by plain loops over AVX-512 or AVX2 registers, split over the threads. Built
// for the machine on which it runs.
#include "limit.hpp"

#include <immintrin.h>
#include <omp.h>
#include <sys/mman.h>

#include <cstdlib>
#include <memory>
#include <new>

void bench::prepare(int threads) { omp_set_num_threads(threads); }

namespace bench::limit {
namespace {

#ifdef __AVX512F__
using Vector = __m512;
constexpr int width = 16;
inline Vector load(const float* p) { return _mm512_load_ps(p); }
inline void store(float* p, Vector v) { _mm512_store_ps(p, v); }
inline void stream(float* p, Vector v) { _mm512_stream_ps(p, v); }
inline Vector plus(Vector a, Vector b) { return _mm512_add_ps(a, b); }
inline Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
inline Vector fill(float x) { return _mm512_set1_ps(x); }
#else
using Vector = __m256;
constexpr int width = 8;
inline Vector load(const float* p) { return _mm256_load_ps(p); }
inline void store(float* p, Vector v) { _mm256_store_ps(p, v); }
inline void stream(float* p, Vector v) { _mm256_stream_ps(p, v); }
inline Vector plus(Vector a, Vector b) { return _mm256_add_ps(a, b); }
inline Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
inline Vector fill(float x) { return _mm256_set1_ps(x); }
#endif

constexpr int chains = 12;  // latency 4 times 2 units, plus a reserve

[[gnu::noinline]] void multiply_add(std::int64_t rounds) {
  const Vector a = fill(0.999f), b = fill(0.001f);
  Vector sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = fill(static_cast<float>(i));
  for (std::int64_t r = 0; r < rounds; ++r) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) sums[i] = fma(sums[i], a, b);
  }
  for (int i = 1; i < chains; ++i) sums[0] = plus(sums[0], sums[i]);
  benchmark::DoNotOptimize(sums[0]);
}

struct Buffers {
  float *a, *b, *c, *d;
};

template <bool NonTemporal>
void write(float* p, Vector v) {
  NonTemporal ? stream(p, v) : store(p, v);
}

template <bool NonTemporal>
[[gnu::noinline]] void copy(Buffers m, std::int64_t from, std::int64_t to) {
  for (std::int64_t i = from; i < to; i += 2 * width) {
    write<NonTemporal>(m.c + i, load(m.a + i));
    write<NonTemporal>(m.c + i + width, load(m.a + i + width));
  }
  if (NonTemporal) _mm_sfence();
}

template <bool NonTemporal>
[[gnu::noinline]] void sum(Buffers m, std::int64_t from, std::int64_t to) {
  for (std::int64_t i = from; i < to; i += 2 * width) {
    write<NonTemporal>(m.c + i, plus(load(m.a + i), load(m.b + i)));
    write<NonTemporal>(m.c + i + width, plus(load(m.a + i + width), load(m.b + i + width)));
  }
  if (NonTemporal) _mm_sfence();
}

[[gnu::noinline]] void read(Buffers m, std::int64_t from, std::int64_t to) {
  Vector s[4] = {fill(0), fill(0), fill(0), fill(0)};
  for (std::int64_t i = from; i < to; i += 4 * width) {
    for (int j = 0; j < 4; ++j) s[j] = plus(s[j], load(m.a + i + j * width));
  }
  s[0] = plus(plus(s[0], s[1]), plus(s[2], s[3]));
  benchmark::DoNotOptimize(s[0]);
}

[[gnu::noinline]] void update(Buffers m, std::int64_t from, std::int64_t to) {
  for (std::int64_t i = from; i < to; i += width) {
    const Vector d = load(m.d + i);
    for (float* p : {m.a, m.b, m.c}) store(p + i, plus(load(p + i), d));
  }
}

using Loop = void (*)(Buffers, std::int64_t, std::int64_t);

Loop loop_for(Stream kind, bool non_temporal) {
  if (kind == Stream::read) return read;
  if (kind == Stream::update) return update;
  if (kind == Stream::copy) return non_temporal ? copy<true> : copy<false>;
  return non_temporal ? sum<true> : sum<false>;
}

/// Allocates and touches memory in huge pages, so that neither page faults nor TLB misses are part of the limit.
/// Buffers with different numbers start at different offsets within a 4 KB page: loads that follow stores to the
/// same offset would wait for them.
std::shared_ptr<float> memory(std::int64_t count, int number) {
  constexpr std::size_t huge = std::size_t{2} << 20, shift = 960;
  const std::size_t bytes = (static_cast<std::size_t>(count) * sizeof(float) + 4 * shift + huge - 1) / huge * huge;
  auto* p = static_cast<float*>(std::aligned_alloc(huge, bytes));
  if (!p) throw std::bad_alloc();
  madvise(p, bytes, MADV_HUGEPAGE);
  for (std::size_t i = 0; i < bytes / sizeof(float); ++i) p[i] = static_cast<float>(i & 7);
  return {std::shared_ptr<float>(p, std::free), p + static_cast<std::size_t>(number) * shift / sizeof(float)};
}
}  // namespace

Work arithmetic(double operations) {
  const auto rounds = static_cast<std::int64_t>(operations / (2.0 * width * chains * threads())) + 1;
  Work work;
  work.run = [rounds](std::int64_t n) {
    const int parts = threads();
    if (parts == 1) {
      for (std::int64_t i = 0; i < n; ++i) multiply_add(rounds);
      return;
    }
#pragma omp parallel num_threads(parts)
    for (std::int64_t i = 0; i < n; ++i) multiply_add(rounds);
  };
  return work;
}

Work stream(Stream kind, std::int64_t count, bool non_temporal) {
  const auto a = memory(count, 0), b = memory(count, 1), c = memory(count, 2);
  const auto d = memory(kind == Stream::update ? count : 0, 3);
  const Loop loop = loop_for(kind, non_temporal);
  Work work;
  work.run = [=](std::int64_t n) {
    const Buffers buffers{a.get(), b.get(), c.get(), d.get()};
    const std::int64_t part = count / threads();
    for (std::int64_t i = 0; i < n; ++i) {
      if (threads() == 1) {
        loop(buffers, 0, count);
        continue;
      }
#pragma omp parallel num_threads(threads())
      loop(buffers, part * omp_get_thread_num(), part * (omp_get_thread_num() + 1));
    }
  };
  return work;
}

bool add_stream(const std::string& name, Stream kind, std::int64_t count) {
  if (kind == Stream::copy || kind == Stream::add) add(name + "@nt", [=] { return stream(kind, count, true); });
  return add(name + "@plain", [=] { return stream(kind, count, false); });
}
}  // namespace bench::limit
