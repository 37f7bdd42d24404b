// A tile of attention in the shared memory of a block: products of queries and keys, of weights and values. Numbers are
// stored as S and computed as T. For .cu files.
#pragma once
#include <limits>

#include "cuda/attention/plan.hpp"
#include "tandem/util/philox.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cuda {

/// 16 x 16 threads have R x R pairs of a query and a key each: those of rows `R * (thread / 16)` and the following, and
/// of keys `thread % 16` and every 16th after it. A tile has as many rows as keys.
inline constexpr unsigned tile_side = 16;
template <class T>
inline constexpr int tile_pairs = sizeof(T) == 4 ? 4 : 2;
template <class T>
inline constexpr int tile_rows = tile_pairs<T>* static_cast<int>(tile_side);
/// The columns of the result that one block computes; each thread has every 16th of them.
inline constexpr int tile_columns = 128, own_columns = tile_columns / 16;

/// Rows `ld` apart, of which `count` exist; the others count as 0.
template <class S>
struct TileRows {
  const S* x;
  i64 ld, count;
  template <class T>
  __device__ T at(i64 row, i64 column, i64 width) const {
    return row < count && column < width ? static_cast<T>(x[row * ld + column]) : T(0);
  }
};

template <class S, class T>
struct AttentionRoom {
  static constexpr int rows = tile_rows<T>;
  T a[rows][tile_side + 1], b[rows][tile_side + 1];  // parts of two operands
  T weights[rows][rows + 1];
  unsigned char seen[rows][rows + 1];  // whether a weight counts, if some do not
  T values[tile_side][tile_columns];
};

/// out[i][j] = the product of a row of x and a row of y, over `width` columns, for the thread's pairs.
template <class S, class T, int R>
__device__ void tile_products(AttentionRoom<S, T>& room, const TileRows<S>& x, const TileRows<S>& y, i64 width,
                              T (&out)[R][R]) {
  const unsigned lane = threadIdx.x % tile_side, line = threadIdx.x / tile_side;
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < R; ++j) out[i][j] = T(0);
  for (i64 first = 0; first < width; first += tile_side) {
    __syncthreads();
    for (int i = 0; i < R; ++i) {
      const unsigned row = line + static_cast<unsigned>(i) * tile_side;
      room.a[row][lane] = x.template at<T>(row, first + lane, width);
      room.b[row][lane] = y.template at<T>(row, first + lane, width);
    }
    __syncthreads();
    for (unsigned k = 0; k < tile_side; ++k) {
      T right[R];
      for (int j = 0; j < R; ++j) right[j] = room.b[lane + static_cast<unsigned>(j) * tile_side][k];
      for (int i = 0; i < R; ++i)
        for (int j = 0; j < R; ++j) out[i][j] += room.a[line * R + static_cast<unsigned>(i)][k] * right[j];
    }
  }
}
/// sums[i][j] += the weights of row i of the thread's rows (of its column, if `transposed`) times column `thread % 16`
/// + 16 j of x from `column` on. What a weight that does not count is multiplied by may be a NaN.
template <class S, class T, int R>
__device__ void add_weighted(AttentionRoom<S, T>& room, bool transposed, bool hides, const TileRows<S>& x, i64 column,
                             i64 width, T (&sums)[R][own_columns]) {
  const unsigned lane = threadIdx.x % tile_side, line = threadIdx.x / tile_side;
  for (unsigned first = 0; first < static_cast<unsigned>(tile_rows<T>); first += tile_side) {
    __syncthreads();
    for (int j = 0; j < own_columns; ++j) {
      const unsigned at = lane + static_cast<unsigned>(j) * tile_side;
      room.values[line][at] = x.template at<T>(first + line, column + at, width);
    }
    __syncthreads();
    for (unsigned k = 0; k < tile_side; ++k)
      for (int i = 0; i < R; ++i) {
        const unsigned own = line * R + static_cast<unsigned>(i), other = first + k;
        const T weight = transposed ? room.weights[other][own] : room.weights[own][other];
        if (hides && !(transposed ? room.seen[other][own] : room.seen[own][other])) continue;
        for (int j = 0; j < own_columns; ++j)
          sums[i][j] += weight * room.values[k][lane + static_cast<unsigned>(j) * tile_side];
      }
  }
  __syncthreads();
}

/// What the scores of one matrix of queries become.
template <class S, class T>
struct ScoreRule {
  const AttentionPlan& p;
  i64 batch, mask;
  random::Stream stream{};

  __device__ ScoreRule(const AttentionPlan& plan, i64 matrix) : p(plan), batch(matrix), mask(plan.mask_of(matrix)) {
    if (p.key) stream = random::stream_of(p.key);
  }

  /// Whether a query sees a key; sets the score from a product.
  __device__ bool sees(i64 query, i64 key, T product, T& score) const {
    score = product * static_cast<T>(p.scale);
    if (query >= p.m || key >= p.n || (p.causal && key > query)) return false;
    const i64 at = mask + query * p.mask_row + key * p.mask_column;
    if (p.mask_kind == 1) return static_cast<const unsigned char*>(p.mask)[at] != 0;
    if (p.mask_kind == 2) {
      const T bias = static_cast<T>(static_cast<const S*>(p.mask)[at]);
      score = score + bias;
      return bias != -std::numeric_limits<T>::infinity();
    }
    return true;
  }
  /// What dropout multiplies a weight by. It depends on the key and the weight's position only.
  __device__ T kept(i64 query, i64 key) const {
    if (!p.key) return T(1);
    const i64 at = (batch * p.m + query) * p.n + key;
    const std::uint32_t word =
        sizeof(T) == 4 ? random::word32(stream, at) : static_cast<std::uint32_t>(random::word64(stream, at) >> 32);
    return word >= p.threshold ? static_cast<T>(p.keep_scale) : T(0);
  }
};

}  // namespace TANDEM_NS::cuda
