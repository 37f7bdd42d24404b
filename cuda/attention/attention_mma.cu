// The CUDA kernel of attention by tensor cores (mma_tile.hpp). What a mask hides has the weight 0, but 0 times a NaN or
// an infinity is a NaN: tiles with a NaN are marked, and computed again by attention.cu. Not here: the gradients
// (attention_mma_grad.cu).
// Source: Milakov and Gimelshein 2018, "Online normalizer calculation for softmax".
#include "cuda/attention/attention_mma.hpp"

#include <limits>

#include "cuda/attention/mma_tile.hpp"

namespace TANDEM_NS::cuda {
namespace {

constexpr float lowest = -std::numeric_limits<float>::infinity();

// The products of 16 queries, from `first` on, and the keys from `key` on become scores: -inf where a key is not seen.
template <bool Plain, int N, class S>
__device__ __forceinline__ void set_scores(float (&s)[N][4], const ScoreRule<S, float>& rule, i64 first, i64 key) {
  const AttentionPlan& p = rule.p;
  const auto scale = static_cast<float>(p.scale);
  const MmaPlace at;
#pragma unroll
  for (int n = 0; n < N; ++n)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const i64 row = first + at.group + i / 2 * 8, column = key + n * 8 + 2 * at.lane + i % 2;
      if constexpr (Plain) s[n][i] *= scale;
      else if (float score; rule.sees(row, column, s[n][i], score)) s[n][i] = score;
      else s[n][i] = lowest;
    }
  if constexpr (Plain) {
    if (key + N * 8 <= p.n && !(p.causal && key + N * 8 - 1 > first)) return;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const Seen seen = Seen::keys(p, first + at.group + i / 2 * 8, key);
#pragma unroll
      for (int n = 0; n < N; ++n)
        if (!seen.has(n * 8 + 2 * static_cast<int>(at.lane) + i % 2)) s[n][i] = lowest;
    }
  }
}

// Of a thread's two rows of queries: their weighted values, their highest scores and sums of weights so far.
template <class S, int D>
struct OnlineRows {
  float sums[D / 8][4] = {}, highest[2] = {lowest, lowest}, total[2] = {};

  /// Takes the scores of a tile into account, which become weights, and rescales what there is.
  template <int N>
  __device__ __forceinline__ void take(float (&s)[N][4]) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float top = lowest, sum = 0;
#pragma unroll
      for (int n = 0; n < N; ++n) top = ::fmaxf(top, ::fmaxf(s[n][2 * half], s[n][2 * half + 1]));
      top = across_lanes(top, [](float a, float b) { return ::fmaxf(a, b); });
      const float before = highest[half];
      highest[half] = ::fmaxf(before, top);
      const float shift = highest[half] == lowest ? 0 : highest[half];
      const float factor = before == highest[half] ? 1 : before == lowest ? 0 : weight_of<S>(before - shift);
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          s[n][i] = weight_of<S>(s[n][i] - shift);  // 0 of what is hidden
          sum += s[n][i];
        }
      total[half] = total[half] * factor + sum;
#pragma unroll
      for (int n = 0; n < D / 8; ++n) sums[n][2 * half] *= factor, sums[n][2 * half + 1] *= factor;
    }
  }
  /// Adds up the weights of the threads that share the rows; then total is that of the row.
  __device__ void join() {
    for (float& t : total) t = across_lanes(t, [](float a, float b) { return a + b; });
  }
  __device__ float factor(int half) const { return total[half] == 0 ? 0 : 1 / total[half]; }
  __device__ float logsumexp(int half) const {
    return total[half] == 0 ? 0 : (highest[half] == lowest ? 0 : highest[half]) + rules::log(total[half]);
  }
};

template <class S, int D, bool Plain>
__global__ void __launch_bounds__(block_size, Plain&& D == 64 && sizeof(S) == 2 ? 2 : 1)
    forward_kernel(const S* q, const S* k, const S* v, S* y, float* lse, AttentionPlan p, i64 tiles, int* redo) {
  using T = Tile<S, D>;
  __shared__ typename T::Room keys_room, values_room;
  const MmaPlace at;
  for (i64 block = blockIdx.x; block < p.batches * tiles; block += gridDim.x) {
    // Under causality later tiles take longer: they come first.
    const i64 batch = block / tiles, tile = p.causal ? tiles - 1 - block % tiles : block % tiles;
    const i64 query = tile * mma_rows, first = query + threadIdx.x / 32 * 16, keys = p.keys_of(batch);
    const ScoreRule<S, float> rule(p, batch);
    OwnRows<S, D> own;
    own.load(rows_from(q, p.of_q, batch, first, p.m), p.d);
    OnlineRows<S, D> rows;
    T key_tile, value_tile;
    const auto fetch = [&](i64 key) {
      key_tile.fetch(rows_from(k, p.of_k, keys, key, p.n), p.d);
      value_tile.fetch(rows_from(v, p.of_v, keys, key, p.n), p.e);
    };
    const i64 end = p.causal && query + mma_rows < p.n ? query + mma_rows : p.n;
    fetch(0);
    for (i64 key = 0; key < end; key += T::rows) {
      __syncthreads();
      key_tile.put(keys_room), value_tile.put(values_room);
      __syncthreads();
      if (key + T::rows < end) fetch(key + T::rows);
      float s[T::rows / 8][4];
      own.times(keys_room, s);
      set_scores<Plain>(s, rule, first, key);
      rows.take(s);
      if (!Plain && p.key)
#pragma unroll
        for (int n = 0; n < T::rows / 8; ++n)
#pragma unroll
          for (int i = 0; i < 4; ++i)
            s[n][i] *= rule.kept(first + at.group + i / 2 * 8, key + n * 8 + 2 * at.lane + i % 2);
      add_products<S, D>(rows.sums, s, values_room);
    }
    rows.join();
    const float factor[2] = {rows.factor(0), rows.factor(1)};
#pragma unroll
    for (int half = 0; half < 2; ++half)
      if (const i64 row = first + at.group + half * 8; row < p.m && at.lane == 0)
        lse[batch * p.m + row] = rows.logsumexp(half);
    const bool bad =
        write_rows<S, D>(y + p.of_y.at(batch) + first * p.of_y.ld, p.of_y.ld, p.m - first, p.e, rows.sums, factor);
    const int any = __syncthreads_or(bad);
    if (threadIdx.x == 0) redo[batch * tiles + tile] = any != 0;
  }
}

}  // namespace

bool fits_mma(DType dtype, const AttentionPlan& p, std::initializer_list<const void*> operands) {
  if (dtype == DType::float64 || p.d == 0 || p.e == 0 || p.d > 128 || p.e > 128) return false;
  const i64 chunk = dtype == DType::float32 ? 4 : 8;
  for (const i64 n : {p.d, p.e, p.of_q.ld, p.of_k.ld, p.of_v.ld, p.of_y.ld})
    if (n % chunk) return false;
  for (const void* x : operands)
    if (reinterpret_cast<std::uintptr_t>(x) % 16) return false;
  return true;
}

void attention_by_mma(const KernelCall& c, const AttentionPlan& p, int* redo) {
  with_kernel(c, c.in[0].spec->dtype, p, [&]<class S, int D, bool Plain>() {
    const i64 tiles = mma_tiles(1, p.m);
    launch(c, &forward_kernel<S, D, Plain>, blocks_for(p.batches * tiles, 1), c.in[0].as<const S>(),
           c.in[1].as<const S>(), c.in[2].as<const S>(), c.out[0].as<S>(), c.out[1].as<float>(), p, tiles, redo);
  });
}

}  // namespace TANDEM_NS::cuda
