// Definitions of cpu/attention/attention.hpp.
// Source: Dao et al. 2022, "FlashAttention", here with tiles that fit the second-level cache.
#pragma once
#include <cstring>
#include <limits>

#include "tandem/cpu/attention/attention.hpp"
#include "tandem/cpu/attention/plan.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

inline constexpr double attention_work = 2e5;  // multiplications worth a thread

// The keys of each tile as the right operand of a product, packed once for all tiles of queries.
template <class T>
struct PackedKeys {
  Tiles tiles;
  i64 step = 0;  // numbers per tile
  TileRoom<T> room;

  PackedKeys(const AttentionPlan& p, const Tiles& tiles, bool pays)
      : tiles(tiles),
        step(pays ? (packed_b_size<T>(p.d, tiles.size) + 15) / 16 * 16 : 0),
        room(step * tiles.count * p.key_batches) {}
  void fill(const AttentionPlan& p, const T* k) const {
    if (!step) return;
    parallel_for(tiles.count * p.key_batches, (1 << 15) / (tiles.size * p.d + 1) + 1, [&](i64 begin, i64 end) {
      for (i64 i = begin; i < end; ++i) {
        const i64 tile = i % tiles.count;
        pack_b(k + (i / tiles.count * p.n + tiles.begin(tile)) * p.d, p.d, true, p.d, tiles.width(tile),
               room.data() + i * step);
      }
    });
  }
  const T* at(i64 batch, i64 tile) const { return step ? room.data() + (batch * tiles.count + tile) * step : nullptr; }
};

template <class T>
void attention_of(const KernelCall& c) {
  const AttentionPlan p(c, c.in[0].shape(), c.in[1].shape(), c.in[2].shape(), c.in.size() > 3 ? &c.in[3] : nullptr);
  const T *const q = c.in[0].as<T>(), *const k = c.in[1].as<T>(), *const v = c.in[2].as<T>();
  T *const y = c.out[0].as<T>(), *const lse = c.out[1].as<T>();
  std::memset(y, 0, c.out[0].spec->bytes());
  std::memset(lse, 0, c.out[1].spec->bytes());
  if (p.batches * p.m * p.n == 0) return;
  const AttentionKernels<T> kernels = attention_kernels<T>();
  const Tiles queries(p.m, 64), keys(p.n, 256);
  const PackedKeys<T> packed(p, keys, p.d > 0 && p.m * (p.batches / std::max<i64>(p.key_batches, 1)) >= 32);
  packed.fill(p, k);
  const auto one = [&](i64 batch, i64 tile, T* room) {
    const i64 first = queries.begin(tile), row = batch * p.m + first, of_keys = p.keys_of(batch);
    AttentionTile<T> t{};
    t.rows = queries.width(tile), t.scale = static_cast<T>(p.scale), t.e = p.e;
    t.s = room, t.y = y + row * p.e, t.highest = lse + row, t.sum = room + queries.size * keys.size;
    T* const bias = t.sum + (queries.size + 15) / 16 * 16;
    std::fill_n(t.highest, t.rows, -std::numeric_limits<T>::infinity());
    std::fill_n(t.sum, t.rows, T(0));
    for (i64 i = 0; i < keys.count; ++i) {
      const i64 key = keys.begin(i);
      if (p.causal && key >= first + t.rows) break;
      t.n = t.ld = keys.width(i);
      p.visibility(t, first, key);
      p.bias(t, kernels, batch, first, key, bias);
      Gemm<T> scores{.m = t.rows, .n = t.n, .k = p.d, .a = q + row * p.d, .lda = p.d};
      scores.b = k + (of_keys * p.n + key) * p.d, scores.ldb = p.d, scores.transpose_b = true;
      scores.packed_b = packed.at(of_keys, i), scores.c = t.s, scores.ldc = t.ld;
      gemm(scores);
      kernels.forward(t);
      Gemm<T> values{.m = t.rows, .n = p.e, .k = t.n, .a = t.s, .lda = t.ld};
      values.b = v + (of_keys * p.n + key) * p.e, values.ldb = p.e;
      values.c = t.y, values.ldc = p.e, values.accumulate = true;
      gemm(values);
    }
    kernels.finish(t);
  };
  const double work = static_cast<double>(queries.size * p.n) * static_cast<double>(p.d + p.e);
  const i64 numbers = queries.size * keys.size + (queries.size + 15) / 16 * 16 + p.bias_room(queries.size, keys.size);
  parallel_for(p.batches * queries.count, static_cast<i64>(attention_work / (work + 1)) + 1, [&](i64 begin, i64 end) {
    const TileRoom<T> room(numbers);
    for (i64 i = begin; i < end; ++i) one(i / queries.count, i % queries.count, room.data());
  });
}

// Backward: a task owns some tiles of keys of one batch, and so the gradients of these keys and values. The gradients
// of the queries are summed over the tasks of a batch, in order.
template <class T>
class AttentionGrad {
 public:
  explicit AttentionGrad(const KernelCall& c)
      : c_(c),
        p_(c, c.in[1].shape(), c.in[2].shape(), c.in[3].shape(), c.in.size() > 6 ? &c.in[6] : nullptr),
        kernels_(attention_kernels<T>()),
        queries_(p_.m, 128),
        keys_(p_.n, 128) {}

  void run() {
    for (const Operand& o : c_.out) std::memset(o.data, 0, o.spec->bytes());
    if (p_.batches * p_.m * p_.n == 0) return;
    const TileRoom<i64> lists(2 * p_.key_batches + 1 + p_.batches);
    sort_batches(lists.data());
    groups_ = std::min(keys_.count, (15 + p_.key_batches) / p_.key_batches);
    const i64 of_dq = p_.batches * p_.m * p_.d;
    const TileRoom<T> partial(groups_ > 1 ? (groups_ - 1) * of_dq : 0);
    const auto dq_of = [&](i64 group) { return group ? partial.data() + (group - 1) * of_dq : c_.out[0].as<T>(); };
    const double work = static_cast<double>(p_.m * p_.n) * static_cast<double>(p_.d + p_.e) *
                        static_cast<double>(p_.batches) / static_cast<double>(p_.key_batches * groups_);
    if (groups_ > 1) std::memset(partial.data(), 0, static_cast<std::size_t>((groups_ - 1) * of_dq) * sizeof(T));
    parallel_for(p_.key_batches * groups_, static_cast<i64>(attention_work / (2 * work + 1)) + 1,
                 [&](i64 begin, i64 end) {
                   const TileRoom<T> room(numbers());
                   for (i64 i = begin; i < end; ++i) task(i / groups_, i % groups_, dq_of(i % groups_), room.data());
                 });
    for (i64 g = 1; g < groups_; ++g) add(dq_of(g), c_.out[0].as<T>(), of_dq);
  }

 private:
  // The batches of queries in the order of the keys that they use; those of keys k from starts_[k] on.
  void sort_batches(i64* room) {
    i64* const starts = room;
    i64 *const next = room + p_.key_batches + 1, *const order = next + p_.key_batches;
    std::fill_n(starts, p_.key_batches + 1, 0);
    for (i64 b = 0; b < p_.batches; ++b) ++starts[p_.keys_of(b) + 1];
    for (i64 i = 0; i < p_.key_batches; ++i) starts[i + 1] += starts[i], next[i] = starts[i];
    for (i64 b = 0; b < p_.batches; ++b) order[next[p_.keys_of(b)]++] = b;
    starts_ = starts, order_ = order;
  }
  i64 tile_numbers() const { return queries_.size * keys_.size; }
  i64 packed(i64 width) const { return (packed_b_size<T>(width, keys_.size) + 15) / 16 * 16; }
  i64 numbers() const {
    return 2 * tile_numbers() + packed(p_.d) + packed(p_.e) + p_.bias_room(queries_.size, keys_.size);
  }
  static void add(const T* x, T* to, i64 n) {
    parallel_for(n, 1 << 15, [=](i64 begin, i64 end) {
      for (i64 i = begin; i < end; ++i) to[i] += x[i];
    });
  }
  void task(i64 key_batch, i64 group, T* dq, T* room) const {
    T *const packed_k = room + 2 * tile_numbers(), *const packed_v = packed_k + packed(p_.d);
    T* const bias = packed_v + packed(p_.e);
    const i64 first = group * keys_.count / groups_, last = (group + 1) * keys_.count / groups_;
    for (i64 i = first; i < last; ++i) {
      const i64 at = key_batch * p_.n + keys_.begin(i), n = keys_.width(i);
      if (p_.d) pack_b(k() + at * p_.d, p_.d, true, p_.d, n, packed_k);
      if (p_.e) pack_b(v() + at * p_.e, p_.e, true, p_.e, n, packed_v);
      for (i64 b = starts_[key_batch]; b < starts_[key_batch + 1]; ++b) {
        for (i64 j = 0; j < queries_.count; ++j) {
          if (p_.causal && keys_.begin(i) >= queries_.begin(j) + queries_.width(j)) continue;
          one(order_[b], j, i, at, dq, room, packed_k, packed_v, bias);
        }
      }
    }
  }
  // One tile of queries against one of keys, whose rows in k and v begin at `at`.
  void one(i64 batch, i64 query_tile, i64 key_tile, i64 at, T* dq, T* room, const T* packed_k, const T* packed_v,
           T* bias) const {
    const i64 query = queries_.begin(query_tile), key = keys_.begin(key_tile), row = batch * p_.m + query;
    AttentionTile<T> t{};
    t.rows = queries_.width(query_tile), t.n = t.ld = keys_.width(key_tile), t.scale = static_cast<T>(p_.scale);
    t.s = room, t.ds = room + tile_numbers();
    t.highest = c_.in[4].as<T>() + row, t.sum = c_.in[5].as<T>() + row;
    p_.visibility(t, query, key);
    p_.bias(t, kernels_, batch, query, key, bias);
    const T *const q = c_.in[1].as<T>() + row * p_.d, *const g = c_.in[0].as<T>() + row * p_.e;
    by_keys(q, p_.d, k() + at * p_.d, packed_k, t, t.s);
    by_keys(g, p_.e, v() + at * p_.e, packed_v, t, t.ds);
    kernels_.backward(t);
    transposed(t, t.s, g, p_.e, c_.out[2].as<T>() + at * p_.e);
    transposed(t, t.ds, q, p_.d, c_.out[1].as<T>() + at * p_.d);
    Gemm<T> rows{.m = t.rows, .n = p_.d, .k = t.n, .a = t.ds, .lda = t.ld, .b = k() + at * p_.d, .ldb = p_.d};
    rows.c = dq + row * p_.d, rows.ldc = p_.d, rows.accumulate = true;
    gemm(rows);
  }
  // out [rows, keys] = x [rows, width] y[keys, width]^T.
  static void by_keys(const T* x, i64 width, const T* y, const T* packed, const AttentionTile<T>& t, T* out) {
    Gemm<T> g{.m = t.rows, .n = t.n, .k = width, .a = x, .lda = width, .b = y, .ldb = width};
    g.c = out, g.ldc = t.ld, g.transpose_b = true, g.packed_b = width ? packed : nullptr;
    gemm(g);
  }
  // to [keys, width] += w [rows, keys]^T x [rows, width].
  static void transposed(const AttentionTile<T>& t, const T* w, const T* x, i64 width, T* to) {
    Gemm<T> g{.m = t.n, .n = width, .k = t.rows, .a = w, .lda = t.ld, .b = x, .ldb = width};
    g.c = to, g.ldc = width, g.transpose_a = true, g.accumulate = true;
    gemm(g);
  }
  const T* k() const { return c_.in[2].as<T>(); }
  const T* v() const { return c_.in[3].as<T>(); }

  const KernelCall& c_;
  const AttentionPlan p_;
  const AttentionKernels<T> kernels_;
  const Tiles queries_, keys_;
  i64 groups_ = 1;
  const i64 *starts_ = nullptr, *order_ = nullptr;
};

}  // namespace detail

TANDEM_INLINE void attention(const KernelCall& c) {
  if (c.in[0].spec->dtype == DType::float64) detail::attention_of<double>(c);
  else detail::attention_of<float>(c);
}
TANDEM_INLINE void attention_grad(const KernelCall& c) {
  if (c.in[0].spec->dtype == DType::float64) detail::AttentionGrad<double>(c).run();
  else detail::AttentionGrad<float>(c).run();
}

}  // namespace TANDEM_NS::cpu
