// The parts of attention by tensor cores: rows as fragments of a warp, tiles of the other side in shared memory, and
// their products. A warp has 16 rows of the block's side, queries or keys, in registers; the block goes over tiles of
// the other side, in order, so results are reproducible. The scores of a tile stay in registers: as fragments they are
// operands of the next product. For .cu files.
// Source: Dao 2023, "FlashAttention-2".
#pragma once
#include <algorithm>

#include "cuda/attention/mma.hpp"
#include "cuda/attention/tile.hpp"

namespace TANDEM_NS::cuda {

template <class S>
inline constexpr int other_rows = sizeof(S) == 2 ? 64 : 32;  // of a tile in shared memory

/// The weight of a score from which the largest, or the logsumexp, is subtracted: e^x. Half precision does not see the
/// error of the instruction.
template <class S>
__device__ float weight_of(float score) {
  if constexpr (sizeof(S) == 2) {
#ifdef TANDEM_CUDA_EMULATED
    return ::exp2f(score * 1.44269504f);
#else
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(score * 1.44269504f));
    return y;
#endif
  } else {
    return rules::exp(score);
  }
}
/// Combines a number of each of the four threads that have a row.
template <class F>
__device__ float across_lanes(float x, const F& f) {
  x = f(x, __shfl_xor_sync(~0u, x, 1));
  return f(x, __shfl_xor_sync(~0u, x, 2));
}

/// Rows of the other side: 16 bytes at a time from memory to registers, and from there to shared memory, so that the
/// memory's latency passes while the tile before is used.
template <class S, int D>
class Tile {
 public:
  static constexpr int rows = other_rows<S>, chunk = 16 / static_cast<int>(sizeof(S)), ld = D + chunk;
  struct alignas(16) Room {
    S at[rows * ld];
  };

  __device__ void fetch(const TileRows<S>& from, i64 width) {
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      const int at = static_cast<int>(threadIdx.x) + i * static_cast<int>(block_size);
      const i64 row = at / per_row, column = at % per_row * chunk;
      part_[i] = row < from.count && column < width ? *reinterpret_cast<const uint4*>(from.x + row * from.ld + column)
                                                    : uint4{0, 0, 0, 0};
    }
  }
  __device__ void put(Room& to) const {
#pragma unroll
    for (int i = 0; i < parts; ++i) {
      const int at = static_cast<int>(threadIdx.x) + i * static_cast<int>(block_size);
      *reinterpret_cast<uint4*>(&to.at[at / per_row * ld + at % per_row * chunk]) = part_[i];
    }
  }

 private:
  static constexpr int per_row = D / chunk, parts = rows * per_row / static_cast<int>(block_size);
  static_assert(rows * per_row % static_cast<int>(block_size) == 0);
  uint4 part_[parts];
};

/// The rows of a warp as fragments.
template <class S, int D>
struct OwnRows {
  static constexpr int steps = D / Mma<S>::k;
  typename Mma<S>::A at[steps];

  __device__ void load(const TileRows<S>& from, i64 width) {
#pragma unroll
    for (int k = 0; k < steps; ++k) Mma<S>::load_a(at[k], from.x, from.ld, from.count, k * Mma<S>::k, width);
  }
  /// out = the products of own rows and the rows of a tile.
  template <int N>
  __device__ void times(const typename Tile<S, D>::Room& tile, float (&out)[N][4]) const {
#pragma unroll
    for (int n = 0; n < N; ++n)
#pragma unroll
      for (int i = 0; i < 4; ++i) out[n][i] = 0;
#pragma unroll
    for (int k = 0; k < steps; ++k) {
      const typename Mma<S>::Split own(at[k]);
#pragma unroll
      for (int n = 0; n < N; n += 2) {
        typename Mma<S>::B b[2];
        Mma<S>::load_b(b, tile.at, Tile<S, D>::ld, n * 8, k * Mma<S>::k);
        Mma<S>::multiply(out[n], own, b[0]);
        Mma<S>::multiply(out[n + 1], own, b[1]);
      }
    }
  }
};
/// sums += weights (own rows by rows of the tile) times the tile.
template <class S, int D, int N>
__device__ void add_products(float (&sums)[D / 8][4], const float (&weights)[N][4],
                             const typename Tile<S, D>::Room& tile) {
  constexpr int steps = N * 8 / Mma<S>::k;
#pragma unroll
  for (int k = 0; k < steps; ++k) {
    typename Mma<S>::A a;
    Mma<S>::from_c(a, weights, k);
    const typename Mma<S>::Split own(a);
#pragma unroll
    for (int n = 0; n < D / 8; n += 2) {
      typename Mma<S>::B b[2];
      Mma<S>::load_b_rows(b, tile.at, Tile<S, D>::ld, k * Mma<S>::k, n * 8);
      Mma<S>::multiply(sums[n], own, b[0]);
      Mma<S>::multiply(sums[n + 1], own, b[1]);
    }
  }
}
template <class S>
TANDEM_HD TileRows<S> rows_from(const S* x, const MatrixPlaces& places, i64 matrix, i64 first, i64 steps) {
  return {x + places.at(matrix) + first * places.ld, places.ld, steps - first};
}
/// Writes own rows, of which `count` exist; returns whether there was a NaN.
template <class S, int D>
__device__ bool write_rows(S* to, i64 ld, i64 count, i64 width, const float (&sums)[D / 8][4],
                           const float (&factor)[2]) {
  const MmaPlace at;
  bool bad = false;
#pragma unroll
  for (int n = 0; n < D / 8; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const i64 row = at.group + i / 2 * 8, column = n * 8 + 2 * at.lane + i % 2;
      if (row >= count || column >= width) continue;
      const float x = sums[n][i] * factor[i / 2];
      bad = bad || x != x;
      to[row * ld + column] = static_cast<S>(x);
    }
  return bad;
}
/// Which columns of a tile, whose first one is `from`, an own row sees: those from `low` to `high` - 1, but for what a
/// mask hides. Columns are keys or, of a row of keys, the queries that see it.
struct Seen {
  int low, high;
  static __device__ int clamped(i64 n) { return static_cast<int>(n < 0 ? 0 : n > 1024 ? 1024 : n); }
  static __device__ Seen keys(const AttentionPlan& p, i64 query, i64 from) {
    if (query >= p.m) return {0, 0};
    return {0, clamped((p.causal && query + 1 < p.n ? query + 1 : p.n) - from)};
  }
  static __device__ Seen queries(const AttentionPlan& p, i64 key, i64 from) {
    if (key >= p.n) return {0, 0};
    return {p.causal ? clamped(key - from) : 0, clamped(p.m - from)};
  }
  __device__ bool has(int column) const { return column >= low && column < high; }
};

// f<the dtype's numbers, the width of the kernel, whether there is neither a mask nor dropout>().
template <class F>
void with_kernel(const KernelCall& c, DType dtype, const AttentionPlan& p, const F& f) {
  const bool plain = !p.mask_kind && !p.key;
  with_dtype<dtypes::half_floating | DType::float32>(c, dtype, [&]<class S>() {
    const auto of_width = [&]<int D>() {
      if (plain) f.template operator()<S, D, true>();
      else f.template operator()<S, D, false>();
    };
    if (std::max(p.d, p.e) <= 64) of_width.template operator()<64>();
    else of_width.template operator()<128>();
  });
}

}  // namespace TANDEM_NS::cuda
