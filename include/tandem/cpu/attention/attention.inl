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
        pack_b(k + p.of_k.at(i / tiles.count, tiles.begin(tile)), p.of_k.ld, true, p.d, tiles.width(tile),
               room.data() + i * step);
      }
    });
  }
  const T* at(i64 batch, i64 tile) const { return step ? room.data() + (batch * tiles.count + tile) * step : nullptr; }
};

template <class T>
void attention_of(const KernelCall& c) {
  const AttentionPlan p(c, 0, 3);
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
    t.rows = queries.width(tile), t.scale = static_cast<T>(p.scale), t.e = p.e, t.y_ld = p.of_y.ld;
    t.s = room, t.y = y + p.of_y.at(batch, first), t.highest = lse + row, t.sum = room + queries.size * keys.size;
    T* const kept = t.sum + (queries.size + 15) / 16 * 16;
    T* const bias = kept + p.dropout_room(queries.size, keys.size);
    std::fill_n(t.highest, t.rows, -std::numeric_limits<T>::infinity());
    std::fill_n(t.sum, t.rows, T(0));
    for (i64 i = 0; i < keys.count; ++i) {
      const i64 key = keys.begin(i);
      if (p.causal && key >= first + t.rows) break;
      t.n = t.ld = keys.width(i);
      p.visibility(t, first, key);
      p.bias(t, kernels, batch, first, key, bias);
      p.drop(t, batch, first, key, kept);
      Gemm<T> scores{.m = t.rows, .n = t.n, .k = p.d, .a = q + p.of_q.at(batch, first), .lda = p.of_q.ld};
      scores.b = k + p.of_k.at(of_keys, key), scores.ldb = p.of_k.ld, scores.transpose_b = true;
      scores.packed_b = packed.at(of_keys, i), scores.c = t.s, scores.ldc = t.ld;
      gemm(scores);
      kernels.forward(t);
      Gemm<T> values{.m = t.rows, .n = p.e, .k = t.n, .a = t.s, .lda = t.ld};
      values.b = v + p.of_v.at(of_keys, key), values.ldb = p.of_v.ld;
      values.c = t.y, values.ldc = t.y_ld, values.accumulate = true;
      gemm(values);
    }
    kernels.finish(t);
  };
  const double work = static_cast<double>(queries.size * p.n) * static_cast<double>(p.d + p.e);
  const i64 numbers = queries.size * keys.size + (queries.size + 15) / 16 * 16 +
                      p.dropout_room(queries.size, keys.size) + p.bias_room(queries.size, keys.size);
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
      : c_(c), p_(c, 1, 6), kernels_(attention_kernels<T>()), queries_(p_.m, 128), keys_(p_.n, 128) {}

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
    return 2 * tile_numbers() + packed(p_.d) + packed(p_.e) + p_.dropout_room(queries_.size, keys_.size) +
           p_.bias_room(queries_.size, keys_.size);
  }
  static void add(const T* x, T* to, i64 n) {
    parallel_for(n, 1 << 15, [=](i64 begin, i64 end) {
      for (i64 i = begin; i < end; ++i) to[i] += x[i];
    });
  }
  void task(i64 key_batch, i64 group, T* dq, T* room) const {
    T *const packed_k = room + 2 * tile_numbers(), *const packed_v = packed_k + packed(p_.d);
    T* const rest = packed_v + packed(p_.e);
    const i64 first = group * keys_.count / groups_, last = (group + 1) * keys_.count / groups_;
    for (i64 i = first; i < last; ++i) {
      const Keys keys = keys_at(key_batch, i);
      if (p_.d) pack_b(keys.k, p_.of_k.ld, true, p_.d, keys.n, packed_k);
      if (p_.e) pack_b(keys.v, p_.of_v.ld, true, p_.e, keys.n, packed_v);
      for (i64 b = starts_[key_batch]; b < starts_[key_batch + 1]; ++b) {
        for (i64 j = 0; j < queries_.count; ++j) {
          if (p_.causal && keys.first >= queries_.begin(j) + queries_.width(j)) continue;
          one(order_[b], j, keys, dq, room, packed_k, packed_v, rest);
        }
      }
    }
  }
  // A tile of keys and values, and where their gradients go.
  struct Keys {
    i64 first, n;
    const T *k, *v;
    T *dk, *dv;
  };
  Keys keys_at(i64 key_batch, i64 tile) const {
    const i64 first = keys_.begin(tile), k = p_.of_k.at(key_batch, first), v = p_.of_v.at(key_batch, first);
    return {first,
            keys_.width(tile),
            c_.in[2].as<T>() + k,
            c_.in[3].as<T>() + v,
            c_.out[1].as<T>() + k,
            c_.out[2].as<T>() + v};
  }
  // One tile of queries against one of keys.
  void one(i64 batch, i64 query_tile, const Keys& keys, T* dq, T* room, const T* packed_k, const T* packed_v,
           T* rest) const {
    const i64 query = queries_.begin(query_tile), row = batch * p_.m + query;
    AttentionTile<T> t{};
    t.rows = queries_.width(query_tile), t.n = t.ld = keys.n, t.scale = static_cast<T>(p_.scale);
    t.s = room, t.ds = room + tile_numbers();
    t.highest = c_.in[4].as<T>() + row, t.sum = c_.in[5].as<T>() + row;
    p_.visibility(t, query, keys.first);
    p_.drop(t, batch, query, keys.first, rest);
    p_.bias(t, kernels_, batch, query, keys.first, rest + p_.dropout_room(queries_.size, keys_.size));
    const i64 at = p_.of_q.at(batch, query);
    const Rows q{c_.in[1].as<T>() + at, p_.of_q.ld, p_.d};
    const Rows g{c_.in[0].as<T>() + p_.of_y.at(batch, query), p_.of_y.ld, p_.e};
    by_keys(q, keys.k, p_.of_k.ld, packed_k, t, t.s);
    by_keys(g, keys.v, p_.of_v.ld, packed_v, t, t.ds);
    kernels_.backward(t);
    transposed(t, t.s, g, keys.dv, p_.of_v.ld);
    transposed(t, t.ds, q, keys.dk, p_.of_k.ld);
    Gemm<T> rows{.m = t.rows, .n = p_.d, .k = t.n, .a = t.ds, .lda = t.ld, .b = keys.k, .ldb = p_.of_k.ld};
    rows.c = dq + at, rows.ldc = p_.of_q.ld, rows.accumulate = true;
    gemm(rows);
  }
  struct Rows {
    const T* x;
    i64 ld, width;
  };
  // out [rows, keys] = x [rows, width] y[keys, width]^T.
  static void by_keys(const Rows& x, const T* y, i64 ldy, const T* packed, const AttentionTile<T>& t, T* out) {
    Gemm<T> g{.m = t.rows, .n = t.n, .k = x.width, .a = x.x, .lda = x.ld, .b = y, .ldb = ldy};
    g.c = out, g.ldc = t.ld, g.transpose_b = true, g.packed_b = x.width ? packed : nullptr;
    gemm(g);
  }
  // to [keys, width] += w [rows, keys]^T x [rows, width].
  static void transposed(const AttentionTile<T>& t, const T* w, const Rows& x, T* to, i64 ld) {
    Gemm<T> g{.m = t.n, .n = x.width, .k = t.rows, .a = w, .lda = t.ld, .b = x.x, .ldb = x.ld};
    g.c = to, g.ldc = ld, g.transpose_a = true, g.accumulate = true;
    gemm(g);
  }

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
