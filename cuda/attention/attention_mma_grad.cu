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
// A block's own side: the queries, or the keys. First: the gradient of queries or keys, a product of the gradients of
// scores, is computed; Second: that of values, a product of weights.
template <class S, int Width, bool NoMask, bool Queries, bool WantsFirst, bool WantsSecond>
struct GradKind {
  using Number = S;
  static constexpr int D = Width;
  static constexpr bool Plain = NoMask, OwnQueries = Queries, First = WantsFirst, Second = WantsSecond;
};

// Products of a warp's rows, from `mine` on, and those of a tile, from `from` on, become weights after dropout, and dp,
// the products of gradients and values, the gradients of scores over their scale.
template <class K, int N>
__device__ __forceinline__ void set_weights(float (&s)[N][4], float (&dp)[K::First ? N : 1][4],
                                            const ScoreRule<typename K::Number, float>& rule,
                                            const GradOperands<typename K::Number>& o,
                                            QueryPair<typename K::Number>& of_query, i64 mine, i64 from) {
  using S = typename K::Number;
  const AttentionPlan& p = rule.p;
  const auto scale = static_cast<float>(p.scale);
  const MmaPlace at;
  const i64 own_steps = K::OwnQueries ? p.m : p.n, steps = K::OwnQueries ? p.n : p.m;
  const bool all = mine + 16 <= own_steps && from + N * 8 <= steps &&
                   !(p.causal && (K::OwnQueries ? from + N * 8 - 1 > mine : mine + 15 > from));
  Seen seen[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const i64 row = mine + at.group + half * 8;
    seen[half] = K::OwnQueries ? Seen::keys(p, row, from) : Seen::queries(p, row, from);
  }
#pragma unroll
  for (int n = 0; n < N; ++n) {
    if constexpr (!K::OwnQueries)
      of_query.load(o, rule.batch * p.m, from + n * 8 + 2 * static_cast<int>(at.lane), 1, p.m);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int near = n * 8 + 2 * static_cast<int>(at.lane) + i % 2, of = K::OwnQueries ? i / 2 : i % 2;
      const i64 row = mine + at.group + i / 2 * 8;
      const i64 query = K::OwnQueries ? row : from + near, key = K::OwnQueries ? from + near : row;
      float exponent, score, kept = 1;
      bool sees = all || seen[i / 2].has(near);
      if constexpr (K::Plain) {
        exponent = ::fmaf(s[n][i], scale, -of_query.lse[of]);
      } else {
        sees = rule.sees(query, key, s[n][i], score);
        exponent = score - of_query.lse[of];
        if (p.key) kept = rule.kept(query, key);
      }
      const float plain = sees ? weight_of<S>(exponent) : 0;
      if constexpr (K::First) dp[n][i] = sees ? plain * (dp[n][i] * kept - of_query.delta[of]) : 0;
      s[n][i] = plain * kept;
    }
  }
}

template <class K, class S>
__global__ void __launch_bounds__(block_size)
    grad_kernel(GradOperands<S> o, S* first_to, S* second_to, AttentionPlan p, i64 tiles, int* redo) {
  constexpr int D = K::D;
  constexpr bool OwnQueries = K::OwnQueries;
  using T = Tile<S, D>;
  constexpr int N = T::rows / 8;
  __shared__ typename T::Room room, gradient_room;
  const i64 matrices = OwnQueries ? p.batches : p.key_batches, own_steps = OwnQueries ? p.m : p.n;
  for (i64 block = blockIdx.x; block < matrices * tiles; block += gridDim.x) {
    const i64 matrix = block / tiles, start = block % tiles * mma_rows, mine = start + threadIdx.x / 32 * 16;
    OwnRows<S, D> own, own_gradient;  // queries and gradients of the result, or keys and values
    own.load(rows_from(OwnQueries ? o.q : o.k, OwnQueries ? p.of_q : p.of_k, matrix, mine, own_steps), p.d);
    if constexpr (K::First)
      own_gradient.load(rows_from(OwnQueries ? o.g : o.v, OwnQueries ? p.of_y : p.of_v, matrix, mine, own_steps), p.e);
    QueryPair<S> of_query;
    if constexpr (OwnQueries) of_query.load(o, matrix * p.m, mine + MmaPlace().group, 8, p.m);
    float first_sums[K::First ? D / 8 : 1][4] = {}, second_sums[K::Second ? D / 8 : 1][4] = {};
    for (i64 user = 0; user < (OwnQueries ? 1 : p.users); ++user) {
      const i64 batch = OwnQueries ? matrix : p.user_of(matrix, user), steps = OwnQueries ? p.n : p.m;
      const i64 others = OwnQueries ? p.keys_of(matrix) : batch;
      const ScoreRule<S, float> rule(p, batch);
      const i64 begin = !OwnQueries && p.causal ? start / T::rows * T::rows : 0;
      const i64 end = OwnQueries && p.causal && start + mma_rows < steps ? start + mma_rows : steps;
      T other, other_gradient;
      const auto fetch = [&](i64 from) {
        other.fetch(rows_from(OwnQueries ? o.k : o.q, OwnQueries ? p.of_k : p.of_q, others, from, steps), p.d);
        other_gradient.fetch(rows_from(OwnQueries ? o.v : o.g, OwnQueries ? p.of_v : p.of_y, others, from, steps), p.e);
      };
      if (begin < end) fetch(begin);
      for (i64 from = begin; from < end; from += T::rows) {
        __syncthreads();
        other.put(room), other_gradient.put(gradient_room);
        __syncthreads();
        if (from + T::rows < end) fetch(from + T::rows);
        float s[N][4], dp[K::First ? N : 1][4];
        own.times(room, s);
        if constexpr (K::First) own_gradient.times(gradient_room, dp);
        set_weights<K>(s, dp, rule, o, of_query, mine, from);
        if constexpr (K::First) add_products<S, D>(first_sums, dp, room);
        if constexpr (K::Second) add_products<S, D>(second_sums, s, gradient_room);
      }
    }
    const auto scale = static_cast<float>(p.scale);  // at the end: small numbers of half precision would round to 0
    const float scales[2] = {scale, scale}, one[2] = {1, 1};
    const MatrixPlaces& places = OwnQueries ? p.of_q : p.of_k;
    bool bad = false;
    if constexpr (K::First)
      bad = write_rows<S, D>(first_to + places.at(matrix) + mine * places.ld, places.ld, own_steps - mine, p.d,
                             first_sums, scales);
    if constexpr (K::Second)
      bad |= write_rows<S, D>(second_to + p.of_v.at(matrix) + mine * p.of_v.ld, p.of_v.ld, own_steps - mine, p.e,
                              second_sums, one);
    const int any = __syncthreads_or(bad);
    if (threadIdx.x == 0) redo[block] = K::First || !K::Second ? any != 0 : (redo[block] | (any != 0));
  }
}

}  // namespace

void attention_grad_by_mma(const KernelCall& c, const AttentionPlan& p, int* redo_queries, int* redo_keys) {
  with_kernel(c, c.in[1].spec->dtype, p, [&]<class S, int D, bool Plain>() {
    const GradOperands<S> o{c.in[0].as<const S>(), c.in[1].as<const S>(),     c.in[2].as<const S>(),
                            c.in[3].as<const S>(), c.in[4].as<const float>(), c.in[5].as<const float>()};
    S *const dq = c.out[0].as<S>(), *const dk = c.out[1].as<S>(), *const dv = c.out[2].as<S>();
    const i64 query_tiles = mma_tiles(1, p.m), key_tiles = mma_tiles(1, p.n);
    launch(c, &grad_kernel<GradKind<S, D, Plain, true, true, false>, S>, blocks_for(p.batches * query_tiles, 1), o, dq,
           nullptr, p, query_tiles, redo_queries);
    const unsigned blocks = blocks_for(p.key_batches * key_tiles, 1);
    if constexpr (D == 64) {
      launch(c, &grad_kernel<GradKind<S, D, Plain, false, true, true>, S>, blocks, o, dk, dv, p, key_tiles, redo_keys);
    } else {  // both at once would need too many registers
      launch(c, &grad_kernel<GradKind<S, D, Plain, false, true, false>, S>, blocks, o, dk, nullptr, p, key_tiles,
             redo_keys);
      launch(c, &grad_kernel<GradKind<S, D, Plain, false, false, true>, S>, blocks, o, nullptr, dv, p, key_tiles,
             redo_keys);
    }
  });
}

}  // namespace TANDEM_NS::cuda
