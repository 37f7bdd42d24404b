// Products of small matrices by the instructions of tensor cores, which the 32 threads of a warp execute together:
// c [16, 8] += a [16, k] b [k, 8]. Half precision is multiplied exactly and summed in float32, k = 16. Numbers of
// float32 are split into two of TF32, and three products keep their digits up to the last, k = 8. For .cu files.
// Source: the PTX manual, "Warp-level matrix instructions"; Markidis et al. 2018, "NVIDIA Tensor Core Programmability,
// Performance & Precision".
#pragma once
#include <cstdint>

#include "cuda/number.hpp"

#ifdef TANDEM_CUDA_EMULATED
#include "tests/cuda/emulator/mma.hpp"
#endif

namespace TANDEM_NS::cuda {

/// The thread's place in fragments: rows `group` and `group` + 8, columns by `lane`.
struct MmaPlace {
  unsigned group = threadIdx.x % 32 / 4, lane = threadIdx.x % 4;
};

/// Two adjacent numbers of half precision, and their fragments. A thread has of a: rows group, group + 8, then both
/// again 8 columns on; of b: rows 2 lane and 2 lane + 1 of column group, then both 8 rows on; of c: columns 2 lane and
/// 2 lane + 1 of rows group, then group + 8.
template <class S>
struct Mma {
  static constexpr int k = 16;
  using A = std::uint32_t[4];
  using B = std::uint32_t[2];

  static __device__ std::uint32_t pair(S first, S second) {
    return static_cast<std::uint32_t>(first.bits) | static_cast<std::uint32_t>(second.bits) << 16;
  }
  static __device__ std::uint32_t rounded(float first, float second) {
#ifdef TANDEM_CUDA_EMULATED
    return pair(S(first), S(second));
#else
    std::uint32_t r;
    if constexpr (std::is_same_v<S, Half>) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first));
    else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(second), "f"(first));
    return r;
#endif
  }
  /// Rows from `x` on, `ld` apart, columns `column` to `column` + 15; `count` rows and `width` columns exist.
  static __device__ void load_a(A& a, const S* x, i64 ld, i64 count, i64 column, i64 width) {
    const MmaPlace at;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const i64 row = at.group + i % 2 * 8, first = column + 2 * at.lane + i / 2 * 8;
      a[i] = row < count && first < width ? *reinterpret_cast<const std::uint32_t*>(x + row * ld + first) : 0;
    }
  }
  /// Of a tile in shared memory with rows `ld` apart: b[i] = the transpose of rows `row` + 8 i to `row` + 8 i + 7,
  /// columns `column` to `column` + 15.
  static __device__ void load_b(B (&b)[2], const S* tile, int ld, int row, int column) {
#ifdef TANDEM_CUDA_EMULATED
    const MmaPlace at;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const S* const from = tile + (row + at.group + i / 2 * 8) * ld + column + i % 2 * 8 + 2 * at.lane;
      b[i / 2][i % 2] = pair(from[0], from[1]);
    }
#else
    const unsigned lane = threadIdx.x % 32;
    load_matrices<false>(b, tile + (row + lane % 8 + lane / 16 * 8) * ld + column + lane / 8 % 2 * 8);
#endif
  }
  /// b[i] = rows `row` to `row` + 15, columns `column` + 8 i to `column` + 8 i + 7.
  static __device__ void load_b_rows(B (&b)[2], const S* tile, int ld, int row, int column) {
#ifdef TANDEM_CUDA_EMULATED
    const MmaPlace at;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const S* const from = tile + (row + i % 2 * 8 + 2 * at.lane) * ld + column + i / 2 * 8 + at.group;
      b[i / 2][i % 2] = pair(from[0], from[ld]);
    }
#else
    const unsigned lane = threadIdx.x % 32;
    load_matrices<true>(b, tile + (row + lane % 16) * ld + column + lane / 16 * 8);
#endif
  }
  /// The columns of c fragments `first` and `first` + 1 as one fragment of a.
  template <int N>
  static __device__ void from_c(A& a, const float (&c)[N][4], int step) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float* const from = c[2 * step + i / 2] + i % 2 * 2;
      a[i] = rounded(from[0], from[1]);
    }
  }
  struct Split {  // nothing to split
    const A& a;
    __device__ explicit Split(const A& x) : a(x) {}
  };
  static __device__ void multiply(float (&c)[4], const Split& s, const B& b) {
#ifdef TANDEM_CUDA_EMULATED
    emulator::mma<S>(c, s.a, b);
#else
    if constexpr (std::is_same_v<S, Half>)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(s.a[0]), "r"(s.a[1]), "r"(s.a[2]), "r"(s.a[3]), "r"(b[0]), "r"(b[1]));
    else
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(s.a[0]), "r"(s.a[1]), "r"(s.a[2]), "r"(s.a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }

#ifndef TANDEM_CUDA_EMULATED
 private:
  // Four matrices of 8 x 8; thread i of the warp gives the address of row i % 8 of matrix i / 8.
  template <bool Transposed>
  static __device__ void load_matrices(B (&b)[2], const S* row) {
    const auto at = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
    if constexpr (Transposed)
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(b[0][0]), "=r"(b[0][1]), "=r"(b[1][0]), "=r"(b[1][1])
                   : "r"(at)
                   : "memory");
    else
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                   : "=r"(b[0][0]), "=r"(b[0][1]), "=r"(b[1][0]), "=r"(b[1][1])
                   : "r"(at)
                   : "memory");
  }
#endif
};

/// float32. A thread has of a: rows group, group + 8 of column lane, then both of column lane + 4; of b: row lane, then
/// lane + 4, of column group. Which column of a is multiplied by which row of b does not matter to the sum: where a
/// comes from c, they are 2 lane, then 2 lane + 1.
template <>
struct Mma<float> {
  static constexpr int k = 8;
  using A = float[4];
  using B = float[2];

  static __device__ void load_a(A& a, const float* x, i64 ld, i64 count, i64 column, i64 width) {
    const MmaPlace at;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i) {
      const i64 row = at.group + i % 2 * 8, from = column + at.lane + i / 2 * 4;
      a[i] = row < count && from < width ? x[row * ld + from] : 0;
    }
  }
  static __device__ void load_b(B (&b)[2], const float* tile, int ld, int row, int column) {
    const MmaPlace at;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      b[i / 2][i % 2] = tile[(row + at.group + i / 2 * 8) * ld + column + at.lane + i % 2 * 4];
  }
  static __device__ void load_b_rows(B (&b)[2], const float* tile, int ld, int row, int column) {
    const MmaPlace at;
#pragma unroll
    for (unsigned i = 0; i < 4; ++i)
      b[i / 2][i % 2] = tile[(row + 2 * at.lane + i % 2) * ld + column + at.group + i / 2 * 8];
  }
  template <int N>
  static __device__ void from_c(A& a, const float (&c)[N][4], int step) {
#pragma unroll
    for (int i = 0; i < 4; ++i) a[i] = c[step][i % 2 * 2 + i / 2];
  }
  struct Split {
    std::uint32_t high[4], low[4];
    __device__ explicit Split(const A& x) {
#pragma unroll
      for (int i = 0; i < 4; ++i) split(x[i], high[i], low[i]);
    }
  };
  static __device__ void multiply(float (&c)[4], const Split& a, const B& b) {
    std::uint32_t high[2], low[2];
#pragma unroll
    for (int i = 0; i < 2; ++i) split(b[i], high[i], low[i]);
    once(c, a.low, high);
    once(c, a.high, low);
    once(c, a.high, high);
  }

 private:
  static __device__ std::uint32_t rounded(float x) {
#ifdef TANDEM_CUDA_EMULATED
    return emulator::to_tf32(x);
#else
    std::uint32_t r;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(r) : "f"(x));
    return r;
#endif
  }
  static __device__ void split(float x, std::uint32_t& high, std::uint32_t& low) {
    high = rounded(x);
    low = rounded(x - std::bit_cast<float>(high));
  }
  static __device__ void once(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2]) {
#ifdef TANDEM_CUDA_EMULATED
    emulator::mma<float>(c, a, b);
#else
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }
};

}  // namespace TANDEM_NS::cuda
