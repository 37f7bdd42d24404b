// The CUDA kernels of the gradients of attention by tensor cores (mma_tile.hpp); tiles with a NaN are marked, as by the
// kernel of attention.
#include "cuda/attention/attention_mma.hpp"
#include "cuda/attention/mma_tile.hpp"

namespace TANDEM_NS::cuda {
namespace {

template <class S>
struct GradOperands {
  const S *g, *q, *k, *v;
  const float *lse, *delta;
};
// What is known of two queries: their logsumexp, and the sum of gradient times result.
template <class S>
struct QueryPair {
  float lse[2], delta[2];
  /// Queries `first` and `first` + step of those that begin at `base`; of one that does not exist, what is never used.
  __device__ void load(const GradOperands<S>& o, i64 base, i64 first, i64 step, i64 queries) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const i64 query = first + i * step, at = base + (query < queries ? query : queries - 1);
      lse[i] = o.lse[at];
      delta[i] = o.delta[at];
    }
  }
};
// Of the side whose rows are own: the queries, or the keys. First: the gradient of queries or keys, a product of the
// gradients of scores; Second: that of values, a product of weights.
template <class S, int D, bool Plain, bool OwnQueries, bool First, bool Second>
__global__ void __launch_bounds__(block_size)
    grad_kernel(GradOperands<S> o, S* first_to, S* second_to, AttentionPlan p, i64 tiles, int* redo) {
  using T = Tile<S, D>;
  constexpr int N = T::rows / 8;
  const auto scale = static_cast<float>(p.scale);
  __shared__ typename T::Room room, gradient_room;
  const MmaPlace at;
  const i64 matrices = OwnQueries ? p.batches : p.key_batches, own_steps = OwnQueries ? p.m : p.n;
  for (i64 block = blockIdx.x; block < matrices * tiles; block += gridDim.x) {
    const i64 matrix = block / tiles, tile = block % tiles, start = tile * mma_rows,
              mine = start + threadIdx.x / 32 * 16;
    OwnRows<S, D> own, own_gradient;  // queries and gradients of the result, or keys and values
    if constexpr (OwnQueries) {
      own.load(rows_from(o.q, p.of_q, matrix, mine, p.m), p.d);
      own_gradient.load(rows_from(o.g, p.of_y, matrix, mine, p.m), p.e);
    } else {
      own.load(rows_from(o.k, p.of_k, matrix, mine, p.n), p.d);
      if constexpr (First) own_gradient.load(rows_from(o.v, p.of_v, matrix, mine, p.n), p.e);
    }
    QueryPair<S> of_query;
    if constexpr (OwnQueries) of_query.load(o, matrix * p.m, mine + at.group, 8, p.m);
    float first_sums[First ? D / 8 : 1][4] = {}, second_sums[Second ? D / 8 : 1][4] = {};
    for (i64 user = 0; user < (OwnQueries ? 1 : p.users); ++user) {
      const i64 batch = OwnQueries ? matrix : p.user_of(matrix, user), keys = OwnQueries ? p.keys_of(matrix) : matrix;
      const ScoreRule<S, float> rule(p, batch);
      const i64 steps = OwnQueries ? p.n : p.m;
      const i64 begin = !OwnQueries && p.causal ? start / T::rows * T::rows : 0;
      const i64 end = OwnQueries && p.causal && start + mma_rows < steps ? start + mma_rows : steps;
      T other, other_gradient;
      const auto fetch = [&](i64 from) {
        if constexpr (OwnQueries) {
          other.fetch(rows_from(o.k, p.of_k, keys, from, p.n), p.d);
          other_gradient.fetch(rows_from(o.v, p.of_v, keys, from, p.n), p.e);
        } else {
          other.fetch(rows_from(o.q, p.of_q, batch, from, p.m), p.d);
          other_gradient.fetch(rows_from(o.g, p.of_y, batch, from, p.m), p.e);
        }
      };
      if (begin < end) fetch(begin);
      for (i64 from = begin; from < end; from += T::rows) {
        __syncthreads();
        other.put(room), other_gradient.put(gradient_room);
        __syncthreads();
        if (from + T::rows < end) fetch(from + T::rows);
        float s[N][4], dp[First ? N : 1][4];
        own.times(room, s);
        if constexpr (First) own_gradient.times(gradient_room, dp);
        const bool all = mine + 16 <= own_steps && from + T::rows <= steps &&
                         !(p.causal && (OwnQueries ? from + T::rows - 1 > mine : mine + 15 > from));
        Seen seen[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const i64 row = mine + at.group + half * 8;
          seen[half] = OwnQueries ? Seen::keys(p, row, from) : Seen::queries(p, row, from);
        }
#pragma unroll
        for (int n = 0; n < N; ++n) {
          if constexpr (!OwnQueries)
            of_query.load(o, batch * p.m, from + n * 8 + 2 * static_cast<int>(at.lane), 1, p.m);
#pragma unroll
          for (int i = 0; i < 4; ++i) {
            const int near = n * 8 + 2 * static_cast<int>(at.lane) + i % 2, of = OwnQueries ? i / 2 : i % 2;
            const i64 row = mine + at.group + i / 2 * 8;
            const i64 query = OwnQueries ? row : from + near, key = OwnQueries ? from + near : row;
            float exponent, score, kept = 1;
            bool sees = all || seen[i / 2].has(near);
            if constexpr (Plain) {
              exponent = ::fmaf(s[n][i], scale, -of_query.lse[of]);
            } else {
              sees = rule.sees(query, key, s[n][i], score);
              exponent = score - of_query.lse[of];
              if (p.key) kept = rule.kept(query, key);
            }
            const float plain = sees ? weight_of<S>(exponent) : 0;
            if constexpr (First) dp[n][i] = sees ? plain * (dp[n][i] * kept - of_query.delta[of]) : 0;
            s[n][i] = plain * kept;
          }
        }
        if constexpr (First) add_products<S, D>(first_sums, dp, room);
        if constexpr (Second) add_products<S, D>(second_sums, s, gradient_room);
      }
    }
    const float scales[2] = {scale, scale}, one[2] = {1, 1};  // small numbers of half precision are scaled at the end
    bool bad = false;
    if constexpr (First) {
      const MatrixPlaces& places = OwnQueries ? p.of_q : p.of_k;
      bad = write_rows<S, D>(first_to + places.at(matrix) + mine * places.ld, places.ld, own_steps - mine, p.d,
                             first_sums, scales);
    }
    if constexpr (Second)
      bad |= write_rows<S, D>(second_to + p.of_v.at(matrix) + mine * p.of_v.ld, p.of_v.ld, own_steps - mine, p.e,
                              second_sums, one);
    const int any = __syncthreads_or(bad);
    if (threadIdx.x == 0) redo[block] = First || !Second ? any != 0 : (redo[block] | (any != 0));
  }
}

}  // namespace

void attention_grad_by_mma(const KernelCall& c, const AttentionPlan& p, int* redo_queries, int* redo_keys) {
  with_kernel(c, c.in[1].spec->dtype, p, [&]<class S, int D, bool Plain>() {
    const GradOperands<S> o{c.in[0].as<const S>(), c.in[1].as<const S>(),     c.in[2].as<const S>(),
                            c.in[3].as<const S>(), c.in[4].as<const float>(), c.in[5].as<const float>()};
    S *const dq = c.out[0].as<S>(), *const dk = c.out[1].as<S>(), *const dv = c.out[2].as<S>();
    const i64 query_tiles = mma_tiles(1, p.m), key_tiles = mma_tiles(1, p.n);
    launch(c, &grad_kernel<S, D, Plain, true, true, false>, blocks_for(p.batches * query_tiles, 1), o, dq, nullptr, p,
           query_tiles, redo_queries);
    const unsigned blocks = blocks_for(p.key_batches * key_tiles, 1);
    if constexpr (D == 64) {
      launch(c, &grad_kernel<S, D, Plain, false, true, true>, blocks, o, dk, dv, p, key_tiles, redo_keys);
    } else {  // both at once would need too many registers
      launch(c, &grad_kernel<S, D, Plain, false, true, false>, blocks, o, dk, nullptr, p, key_tiles, redo_keys);
      launch(c, &grad_kernel<S, D, Plain, false, false, true>, blocks, o, nullptr, dv, p, key_tiles, redo_keys);
    }
  });
}

}  // namespace TANDEM_NS::cuda
