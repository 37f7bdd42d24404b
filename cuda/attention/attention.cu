// The CUDA kernels of scaled dot-product attention without tensor cores: of float64, of any width and address, and of
// tiles that attention_mma.cu has marked. Blocks compute tiles of the result and never store the matrix of
// weights. Gradients are gathered, not added: a block goes over all queries of its keys, or all keys of its queries, in
// order, so results are reproducible. Half precision is computed in float32.
// Source: Dao et al. 2022, "FlashAttention"; Milakov and Gimelshein 2018, "Online normalizer calculation for softmax".
#include "cuda/attention/attention_mma.hpp"
#include "cuda/attention/tile.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/slices.hpp"

namespace TANDEM_NS::cuda {
namespace {

// Which tile a block computes: of a matrix of queries (or keys), some of its rows, and columns of the result.
struct TileGrid {
  i64 matrices, tiles, columns;
  int rows;
  const int* redo;  // null, or which tiles of mma_rows are computed
  TileGrid(i64 count, i64 steps, i64 width, int rows_of_tile, const int* chosen)
      : matrices(count),
        tiles((steps + rows_of_tile - 1) / rows_of_tile),
        columns((width + tile_columns - 1) / tile_columns),
        rows(rows_of_tile),
        redo(chosen) {}
  TANDEM_HD i64 count() const { return matrices * tiles * columns; }
  /// Whether a tile need not be computed.
  TANDEM_HD bool skips(i64 tile) const {
    if (!redo) return false;
    const i64 each = mma_rows / rows;
    return !redo[tile / tiles * ((tiles + each - 1) / each) + tile % tiles / each];
  }
};
template <class S>
TANDEM_HD TileRows<S> rows_of(const S* x, const MatrixPlaces& places, i64 matrix, i64 first, i64 steps) {
  return {x + places.at(matrix) + first * places.ld, places.ld, steps - first};
}
// Joins a number of each of the 16 threads of a row.
template <class T, class F>
__device__ T across_row(T x, const F& f) {
  for (int distance = tile_side / 2; distance; distance /= 2) x = f(x, __shfl_xor_sync(~0u, x, distance));
  return x;
}

// The rows of a thread: their highest scores and sums of weights so far.
template <class T, int R>
struct OnlineSoftmax {
  T highest[R], sum[R];
  __device__ OnlineSoftmax() {
    for (int i = 0; i < R; ++i) highest[i] = -std::numeric_limits<T>::infinity(), sum[i] = T(0);
  }
  /// Takes the scores of a tile into account; returns by what row i's results so far are multiplied, and sets what is
  /// subtracted from its scores.
  __device__ T take(int i, T top, T& shift) {
    const T before = highest[i], lowest = -std::numeric_limits<T>::infinity();
    highest[i] = top > before ? top : before;
    // A maximum of -inf: nothing visible, unless there are NaN, which e^(NaN - 0) keeps.
    shift = highest[i] == lowest ? T(0) : highest[i];
    const T factor = before == highest[i] ? T(1) : before == lowest ? T(0) : rules::exp(before - highest[i]);
    sum[i] *= factor;
    return factor;
  }
  __device__ T logsumexp(int i) const {
    const bool none = highest[i] == -std::numeric_limits<T>::infinity();
    return sum[i] == T(0) ? T(0) : (none ? T(0) : highest[i]) + rules::log(sum[i]);
  }
};

template <class S, class T>
__global__ void __launch_bounds__(block_size)
    attention_kernel(const S* q, const S* k, const S* v, S* y, T* lse, AttentionPlan p, TileGrid grid) {
  constexpr int R = tile_pairs<T>, rows = tile_rows<T>;
  __shared__ AttentionRoom<S, T> room;
  const unsigned lane = threadIdx.x % tile_side, line = threadIdx.x / tile_side;
  const bool hides = p.mask_kind || p.causal;
  for (i64 block = blockIdx.x; block < grid.count(); block += gridDim.x) {
    const i64 column = block % grid.columns * tile_columns, tile = block / grid.columns;
    if (grid.skips(tile)) continue;
    const i64 batch = tile / grid.tiles, query = tile % grid.tiles * rows, keys = p.keys_of(batch);
    const ScoreRule<S, T> rule(p, batch);
    OnlineSoftmax<T, R> softmax;
    T sums[R][own_columns] = {};
    for (i64 key = 0; key < p.n && !(p.causal && key >= query + rows); key += rows) {
      T s[R][R];
      tile_products<S, T>(room, rows_of(q, p.of_q, batch, query, p.m), rows_of(k, p.of_k, keys, key, p.n), p.d, s);
      for (int i = 0; i < R; ++i) {
        const i64 row = query + line * R + i;
        T top = -std::numeric_limits<T>::infinity(), sum(0), shift;
        bool seen[R];
        for (int j = 0; j < R; ++j) {
          seen[j] = rule.sees(row, key + lane + j * static_cast<i64>(tile_side), s[i][j], s[i][j]);
          if (seen[j] && s[i][j] > top) top = s[i][j];
        }
        top = across_row(top, [](T a, T b) { return a > b ? a : b; });
        const T factor = softmax.take(i, top, shift);
        for (int j = 0; j < own_columns; ++j) sums[i][j] *= factor;
        for (int j = 0; j < R; ++j) {
          const unsigned at = lane + static_cast<unsigned>(j) * tile_side, own = line * R + static_cast<unsigned>(i);
          const T weight = seen[j] ? rules::exp(s[i][j] - shift) : T(0);
          sum += weight;
          room.weights[own][at] = seen[j] ? weight * rule.kept(row, key + at) : T(0);
          room.seen[own][at] = seen[j];
        }
        softmax.sum[i] += across_row(sum, [](T a, T b) { return a + b; });
      }
      add_weighted<S, T>(room, false, hides, rows_of(v, p.of_v, keys, key, p.n), column, p.e, sums);
    }
    for (int i = 0; i < R; ++i) {
      const i64 row = query + line * R + i;
      if (row >= p.m) continue;
      const T factor = softmax.sum[i] == T(0) ? T(0) : T(1) / softmax.sum[i];
      for (int j = 0; j < own_columns; ++j)
        if (const i64 at = column + lane + j * static_cast<i64>(tile_side); at < p.e)
          y[p.of_y.at(batch) + row * p.of_y.ld + at] = static_cast<S>(sums[i][j] * factor);
      if (column == 0 && lane == 0) lse[batch * p.m + row] = softmax.logsumexp(i);
    }
  }
}

// delta[i] = the sum of g y over row i of the heads, [..., heads, steps].
template <class S, class T>
__global__ void __launch_bounds__(block_size)
    delta_kernel(const S* g, const S* y, T* delta, MatrixPlaces places, i64 steps, Slices s) {
  for_slices<T>(s, [&](const Slice<T>& slice, i64 row, bool live) {
    const i64 from = places.at(row / steps) + row % steps * places.ld - slice.base;
    const T sum =
        slice.sum_of([&](Element e) { return static_cast<T>(g[from + e.at]) * static_cast<T>(y[from + e.at]); });
    if (live && slice.lane == 0) delta[row] = sum;
  });
}

enum class Side { query, key, value };  // whose gradient is computed

template <class S, class T>
struct GradOperands {
  const S *g, *q, *k, *v;
  const T *lse, *delta;
};
// Puts into the room what the gradient of one side is a product of: the weights after dropout for values, the
// gradients of the products of queries and keys for the others.
template <class S, class T>
__device__ void grad_weights(AttentionRoom<S, T>& room, const GradOperands<S, T>& o, const AttentionPlan& p, Side side,
                             i64 batch, i64 keys, i64 query, i64 key) {
  constexpr int R = tile_pairs<T>;
  const unsigned lane = threadIdx.x % tile_side, line = threadIdx.x / tile_side;
  const ScoreRule<S, T> rule(p, batch);
  T s[R][R], dp[R][R];
  tile_products<S, T>(room, rows_of(o.q, p.of_q, batch, query, p.m), rows_of(o.k, p.of_k, keys, key, p.n), p.d, s);
  if (side != Side::value)
    tile_products<S, T>(room, rows_of(o.g, p.of_y, batch, query, p.m), rows_of(o.v, p.of_v, keys, key, p.n), p.e, dp);
  for (int i = 0; i < R; ++i)
    for (int j = 0; j < R; ++j) {
      const unsigned own = line * R + static_cast<unsigned>(i), at = lane + static_cast<unsigned>(j) * tile_side;
      const i64 row = query + own, column = key + at;
      T weight(0), score;
      const bool seen = rule.sees(row, column, s[i][j], score);
      if (seen) {
        const T kept = rule.kept(row, column);
        weight = rules::exp(score - o.lse[batch * p.m + row]);
        if (side == Side::value) weight *= kept;
        else weight *= (dp[i][j] * kept - o.delta[batch * p.m + row]) * static_cast<T>(p.scale);
      }
      room.weights[own][at] = weight;
      room.seen[own][at] = seen;
    }
}
template <class S, class T>
__device__ void write_tile(S* to, const MatrixPlaces& places, i64 matrix, i64 first, i64 steps, i64 column, i64 width,
                           const T (&sums)[tile_pairs<T>][own_columns]) {
  const unsigned lane = threadIdx.x % tile_side, line = threadIdx.x / tile_side;
  for (int i = 0; i < tile_pairs<T>; ++i) {
    const i64 row = first + line * tile_pairs<T> + i;
    for (int j = 0; j < own_columns; ++j)
      if (const i64 at = column + lane + j * static_cast<i64>(tile_side); row < steps && at < width)
        to[places.at(matrix) + row * places.ld + at] = static_cast<S>(sums[i][j]);
  }
}
template <class S, class T>
__global__ void __launch_bounds__(block_size)
    query_grad_kernel(GradOperands<S, T> o, S* dq, AttentionPlan p, TileGrid grid) {
  constexpr int rows = tile_rows<T>;
  __shared__ AttentionRoom<S, T> room;
  const bool hides = p.mask_kind || p.causal;
  for (i64 block = blockIdx.x; block < grid.count(); block += gridDim.x) {
    const i64 column = block % grid.columns * tile_columns, tile = block / grid.columns;
    if (grid.skips(tile)) continue;
    const i64 batch = tile / grid.tiles, query = tile % grid.tiles * rows, keys = p.keys_of(batch);
    T sums[tile_pairs<T>][own_columns] = {};
    for (i64 key = 0; key < p.n && !(p.causal && key >= query + rows); key += rows) {
      grad_weights<S, T>(room, o, p, Side::query, batch, keys, query, key);
      add_weighted<S, T>(room, false, hides, rows_of(o.k, p.of_k, keys, key, p.n), column, p.d, sums);
    }
    write_tile<S, T>(dq, p.of_q, batch, query, p.m, column, p.d, sums);
  }
}
// The gradient of keys or of values, which all matrices of queries that they serve contribute to.
template <class S, class T>
__global__ void __launch_bounds__(block_size)
    key_grad_kernel(GradOperands<S, T> o, S* to, Side side, AttentionPlan p, TileGrid grid) {
  constexpr int rows = tile_rows<T>;
  __shared__ AttentionRoom<S, T> room;
  const bool hides = p.mask_kind || p.causal, values = side == Side::value;
  const i64 width = values ? p.e : p.d;
  for (i64 block = blockIdx.x; block < grid.count(); block += gridDim.x) {
    const i64 column = block % grid.columns * tile_columns, tile = block / grid.columns;
    if (grid.skips(tile)) continue;
    const i64 keys = tile / grid.tiles, key = tile % grid.tiles * rows;
    T sums[tile_pairs<T>][own_columns] = {};
    for (i64 user = 0; user < p.users; ++user)
      for (i64 query = p.causal ? key / rows * rows : 0; query < p.m; query += rows) {
        const i64 batch = p.user_of(keys, user);
        grad_weights<S, T>(room, o, p, side, batch, keys, query, key);
        const TileRows<S> x =
            values ? rows_of(o.g, p.of_y, batch, query, p.m) : rows_of(o.q, p.of_q, batch, query, p.m);
        add_weighted<S, T>(room, true, hides, x, column, width, sums);
      }
    write_tile<S, T>(to, values ? p.of_v : p.of_k, keys, key, p.n, column, width, sums);
  }
}

inline constexpr DTypes with_half = dtypes::floating | dtypes::half_floating;

// Whether what tensor cores computed may have a NaN that does not belong there: of what is hidden; of an infinity, as
// float32 is split; or of one and a weight that float16 rounds to 0.
bool may_mix(DType dtype, const AttentionPlan& p) { return p.hides() || dtype != DType::bfloat16; }
std::size_t bytes_of_marks(i64 matrices, i64 steps) {
  return static_cast<std::size_t>(mma_tiles(matrices, steps)) * sizeof(int);
}

// Computes the gradients, or those tiles of them that are marked.
template <class S>
void grad_of(const KernelCall& c, const AttentionPlan& p, const int* redo_queries, const int* redo_keys) {
  using T = ComputeOf_t<S>;
  const GradOperands<S, T> o{c.in[0].as<const S>(), c.in[1].as<const S>(), c.in[2].as<const S>(),
                             c.in[3].as<const S>(), c.in[4].as<const T>(), c.in[5].as<const T>()};
  const TileGrid queries(p.batches, p.m, p.d, tile_rows<T>, redo_queries),
      keys(p.key_batches, p.n, p.d, tile_rows<T>, redo_keys), values(p.key_batches, p.n, p.e, tile_rows<T>, redo_keys);
  if (p.d) {
    launch(c, &query_grad_kernel<S, T>, blocks_for(queries.count(), 1), o, c.out[0].as<S>(), p, queries);
    launch(c, &key_grad_kernel<S, T>, blocks_for(keys.count(), 1), o, c.out[1].as<S>(), Side::key, p, keys);
  }
  if (p.e)
    launch(c, &key_grad_kernel<S, T>, blocks_for(values.count(), 1), o, c.out[2].as<S>(), Side::value, p, values);
}

}  // namespace

void attention(const KernelCall& c) {
  const AttentionPlan p(c, 0, 3);
  if (p.batches * p.m == 0) return;
  if (p.n == 0) {
    for (const Operand& y : c.out) fill_zero(c, y.data, y.spec->bytes());
    return;
  }
  const DType dtype = c.in[0].spec->dtype;
  const bool mma = fits_mma(dtype, p, {c.in[0].data, c.in[1].data, c.in[2].data, c.out[0].data});
  const Scratch marks(c, mma ? bytes_of_marks(p.batches, p.m) : 0);
  if (mma) {
    attention_by_mma(c, p, marks.as<int>());
    if (!may_mix(dtype, p)) return;
  }
  with_dtype<with_half>(c, dtype, [&]<class S>() {
    using T = ComputeOf_t<S>;
    // Values without columns still have a logsumexp.
    const TileGrid grid(p.batches, p.m, std::max<i64>(p.e, 1), tile_rows<T>, mma ? marks.as<int>() : nullptr);
    launch(c, &attention_kernel<S, T>, blocks_for(grid.count(), 1), c.in[0].as<const S>(), c.in[1].as<const S>(),
           c.in[2].as<const S>(), c.out[0].as<S>(), c.out[1].as<T>(), p, grid);
  });
}
void attention_delta(const KernelCall& c) {
  const Operand &g = c.in[0], &delta = c.out[0];
  if (delta.size() == 0) return;
  const MatrixPlaces places(g.shape(), c.attrs.get<rules::AttentionAttrs>().steps_first);
  Slices s{delta.size(), g.shape().dim(-1), 1, 8};
  s.choose_lanes();
  with_dtype<with_half>(c, g.spec->dtype, [&]<class S>() {
    using T = ComputeOf_t<S>;
    launch(c, &delta_kernel<S, T>, blocks_of(s), g.as<const S>(), c.in[1].as<const S>(), delta.as<T>(), places,
           delta.shape().dim(-1), s);
  });
}
void attention_grad(const KernelCall& c) {
  const AttentionPlan p(c, 1, 6);
  if (p.batches * p.m * p.n == 0) {
    for (const Operand& y : c.out) fill_zero(c, y.data, y.spec->bytes());
    return;
  }
  const DType dtype = c.in[1].spec->dtype;
  const bool mma = fits_mma(dtype, p, {c.in[0].data, c.in[1].data, c.in[2].data, c.in[3].data});
  const Scratch of_queries(c, mma ? bytes_of_marks(p.batches, p.m) : 0),
      of_keys(c, mma ? bytes_of_marks(p.key_batches, p.n) : 0);
  if (mma) {
    attention_grad_by_mma(c, p, of_queries.as<int>(), of_keys.as<int>());
    if (!may_mix(dtype, p)) return;
  }
  with_dtype<with_half>(c, dtype, [&]<class S>() {
    grad_of<S>(c, p, mma ? of_queries.as<int>() : nullptr, mma ? of_keys.as<int>() : nullptr);
  });
}

}  // namespace TANDEM_NS::cuda
