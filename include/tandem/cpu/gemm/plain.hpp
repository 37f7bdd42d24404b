// Products of integers and complex numbers by a plain blocked loop. For gemm.inl.
#pragma once
#include <algorithm>
#include <type_traits>

#include "tandem/core/allocator.hpp"
#include "tandem/cpu/gemm/gemm.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu::product {

// Integers wrap: computed as unsigned, where overflow is not undefined behavior. Complex: the textbook formula, so
// that a loop does not make one library call per element to handle infinities.
template <class T>
inline T plain_multiply_add(T a, T b, T c) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return T(U(c) + U(a) * U(b));
  } else {
    return T(c.real() + (a.real() * b.real() - a.imag() * b.imag()),
             c.imag() + (a.real() * b.imag() + a.imag() * b.real()));
  }
}
template <class T>
inline T plain_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return T(U(a) + U(b));
  } else {
    return a + b;
  }
}

inline constexpr i64 plain_depth = 64, plain_width = 256;

/// Computes rows [i0, i1) of C. Blocks of B are copied to `room` if they are transposed.
template <class T>
void plain_rows(const Gemm<T>& g, i64 i0, i64 i1, T* room) {
  for (i64 i = i0; i < i1; ++i)
    for (i64 j = 0; j < g.n; ++j) {
      T& c = g.c[i * g.ldc + j];
      c = plain_add(g.accumulate ? c : T(0), g.bias ? g.bias[j] : T(0));
    }
  T sum[plain_width];  // of a block: rounding errors grow with the number of blocks, not with k
  for (i64 p0 = 0; p0 < g.k; p0 += plain_depth)
    for (i64 j0 = 0; j0 < g.n; j0 += plain_width) {
      const i64 depth = std::min(plain_depth, g.k - p0), wide = std::min(plain_width, g.n - j0);
      for (i64 p = 0; g.transpose_b && p < depth; ++p)
        for (i64 j = 0; j < wide; ++j) room[p * plain_width + j] = g.b[(j0 + j) * g.ldb + p0 + p];
      for (i64 i = i0; i < i1; ++i) {
        std::fill_n(sum, wide, T(0));
        for (i64 p = 0; p < depth; ++p) {
          const T a = g.transpose_a ? g.a[(p0 + p) * g.lda + i] : g.a[i * g.lda + p0 + p];
          const T* b = g.transpose_b ? room + p * plain_width : g.b + (p0 + p) * g.ldb + j0;
          for (i64 j = 0; j < wide; ++j) sum[j] = plain_multiply_add(a, b[j], sum[j]);
        }
        T* c = g.c + i * g.ldc + j0;
        for (i64 j = 0; j < wide; ++j) c[j] = plain_add(c[j], sum[j]);
      }
    }
}

template <class T>
void run_plain(const Gemm<T>& g) {
  if (g.m <= 0 || g.n <= 0) return;
  const double row_work = double(g.n) * double(std::max<i64>(g.k, 1));
  parallel_for(g.m, i64(1e4 / row_work) + 1, [&](i64 begin, i64 end) {
    const memory::Scratch room(g.transpose_b ? sizeof(T) * plain_depth * plain_width : 0);
    plain_rows(g, begin, end, static_cast<T*>(room.data()));
  });
}

}  // namespace TANDEM_NS::cpu::product
