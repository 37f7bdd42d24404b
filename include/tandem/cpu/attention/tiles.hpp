// A tile of attention, forward and backward, on numbers wherever they lie: operands in place, or float32 copies of half
// precision. For the definitions of attention.hpp.
// Source: Dao et al. 2022, "FlashAttention", here with tiles that fit the second-level cache.
#pragma once
#include <cstring>
#include <limits>

#include "tandem/cpu/attention/hidden.hpp"
#include "tandem/cpu/attention/plan.hpp"

namespace TANDEM_NS::cpu::detail {

inline constexpr double attention_work = 2e5;  // multiplications worth a thread

/// What a tile of queries reads and writes: its queries and results, which are zeros, and all keys and values.
/// `packed`: the keys, a tile each `step` numbers, or null.
template <class T>
struct ForwardOperands {
  RowsOf<const T> q;
  RowsOf<T> y;
  RowsOf<const T> k, v;
  const T* packed;
};

template <class T>
class AttentionForward {
 public:
  explicit AttentionForward(const KernelCall& c)
      : plan(c, 0, 3),
        queries(plan.m, 64),
        keys(plan.n, 256),
        kernels_(attention_kernels<T>()),
        lse_(c.out[1].as<T>()) {
    const bool pays = plan.d > 0 && plan.m * (plan.batches / std::max<i64>(plan.key_batches, 1)) >= 32;
    step = pays ? (packed_b_size<T>(plan.d, keys.size) + 15) / 16 * 16 : 0;
  }

  const AttentionPlan plan;
  const Tiles queries, keys;
  i64 step;  // numbers of a tile of keys as the right operand of a product; 0 if they are not packed

  void pack(RowsOf<const T> k, i64 tile, T* to) const {
    pack_b(k.from(keys.begin(tile)).x, k.ld, true, plan.d, keys.width(tile), to);
  }
  i64 numbers() const {
    return queries.size * keys.size + (queries.size + 15) / 16 * 16 + plan.dropout_room(queries.size, keys.size) +
           plan.bias_room(queries.size, keys.size);
  }
  i64 grain() const {
    const double work = static_cast<double>(queries.size * plan.n) * static_cast<double>(plan.d + plan.e);
    return static_cast<i64>(attention_work / (work + 1)) + 1;
  }
  /// One tile of queries against all keys.
  void one(i64 batch, i64 tile, const ForwardOperands<T>& o, T* room) const {
    attend(batch, tile, o, room, false);
    const i64 rows = queries.width(tile);
    if (!plan.hides() || are_finite<T>({o.y.x, o.y.ld}, rows, plan.e)) return;
    for (i64 r = 0; r < rows; ++r) std::fill_n(o.y.from(r).x, plan.e, T(0));
    attend(batch, tile, o, room, true);
  }

 private:
  // careful: what is not finite counts only where it is seen.
  void attend(i64 batch, i64 tile, const ForwardOperands<T>& o, T* room, bool careful) const {
    const AttentionPlan& p = plan;
    const i64 first = queries.begin(tile), row = batch * p.m + first;
    AttentionTile<T> t{};
    t.rows = queries.width(tile), t.scale = static_cast<T>(p.scale), t.e = p.e, t.y_ld = o.y.ld;
    t.s = room, t.y = o.y.x, t.highest = lse_ + row, t.sum = room + queries.size * keys.size;
    T* const kept = t.sum + (queries.size + 15) / 16 * 16;
    T* const bias = kept + p.dropout_room(queries.size, keys.size);
    std::fill_n(t.highest, t.rows, -std::numeric_limits<T>::infinity());
    std::fill_n(t.sum, t.rows, T(0));
    for (i64 i = 0; i < keys.count; ++i) {
      const i64 key = keys.begin(i);
      if (p.causal && key >= first + t.rows) break;
      t.n = t.ld = keys.width(i);
      p.visibility(t, first, key);
      p.bias(t, kernels_, batch, first, key, bias);
      p.drop(t, batch, first, key, kept);
      Gemm<T> scores{.m = t.rows, .n = t.n, .k = p.d, .a = o.q.x, .lda = o.q.ld};
      scores.b = o.k.from(key).x, scores.ldb = o.k.ld, scores.transpose_b = true;
      scores.packed_b = o.packed ? o.packed + i * step : nullptr, scores.c = t.s, scores.ldc = t.ld;
      gemm(scores);
      kernels_.forward(t);
      const RowsOf<const T> v = o.v.from(key);
      if (!careful) {
        add_values(t, v);
      } else {
        add_values(t, FiniteRows<T>(v, t.n, p.e));
        add_not_finite(t, t.s, true, v, p.e, {t.y, t.y_ld});
      }
    }
    kernels_.finish(t);
  }
  void add_values(const AttentionTile<T>& t, RowsOf<const T> v) const {
    Gemm<T> values{.m = t.rows, .n = plan.e, .k = t.n, .a = t.s, .lda = t.ld};
    values.b = v.x, values.ldb = v.ld;
    values.c = t.y, values.ldc = t.y_ld, values.accumulate = true;
    gemm(values);
  }

  const AttentionKernels<T> kernels_;
  T* const lse_;
};

/// What the gradient subtracts from each row's products: the sums of g y over the width, [..., heads, steps].
template <class T>
class AttentionDelta {
 public:
  explicit AttentionDelta(const KernelCall& c)
      : places(c.in[0].shape(), c.attrs.get<rules::AttentionAttrs>().steps_first),
        width(c.in[0].shape().dim(-1)),
        queries(c.out[0].shape().dim(-1), 64),
        out_(c.out[0].as<T>()),
        matrices_(queries.n ? c.out[0].size() / queries.n : 0),
        kernels_(attention_kernels<T>()) {}

  const MatrixPlaces places;
  const i64 width;
  const Tiles queries;

  /// Calls f(first, past) for ranges of tiles of all matrices.
  template <class F>
  void share(const F& f) const {
    parallel_for(matrices_ * queries.count, (1 << 15) / (queries.size * width + 1) + 1, f);
  }
  /// Where tile i begins, and its rows.
  i64 begin(i64 i) const { return places.at(i / queries.count, queries.begin(i % queries.count)); }
  i64 rows(i64 i) const { return queries.width(i % queries.count); }
  void one(i64 i, const T* g, const T* y, i64 ld) const {
    T* const out = out_ + i / queries.count * queries.n + queries.begin(i % queries.count);
    kernels_.dots(g, y, ld, rows(i), width, out);
  }

 private:
  T* const out_;
  const i64 matrices_;
  const AttentionKernels<T> kernels_;
};

/// A tile of keys and values, packed, and where their gradients go.
template <class T>
struct KeyTile {
  i64 first, n;
  RowsOf<const T> k, v;
  RowsOf<T> dk, dv;
  const T *packed_k, *packed_v;
};

/// Backward: a task owns some tiles of keys of one batch, and so the gradients of these keys and values. The gradients
/// of the queries are summed over the tasks of a batch, in order.
template <class T>
class AttentionBackward {
 public:
  explicit AttentionBackward(const KernelCall& c)
      : plan(c, 1, 6),
        queries(plan.m, 128),
        keys(plan.n, 128),
        groups(plan.key_batches ? std::min(keys.count, (15 + plan.key_batches) / plan.key_batches) : 1),
        lists_(2 * plan.key_batches + 1 + plan.batches),
        kernels_(attention_kernels<T>()),
        lse_(c.in[4].as<T>()),
        delta_(c.in[5].as<T>()) {
    if (plan.batches * plan.m * plan.n > 0) sort_batches();
  }

  const AttentionPlan plan;
  const Tiles queries, keys;
  const i64 groups;      // tasks of each batch of keys
  bool careful = false;  // what is not finite counts only where it is seen

  i64 packed(i64 width) const { return (packed_b_size<T>(width, keys.size) + 15) / 16 * 16; }
  i64 of_dq() const { return plan.batches * plan.m * plan.d; }
  i64 tile_numbers() const { return queries.size * keys.size; }
  i64 numbers() const {
    return 2 * tile_numbers() + packed(plan.d) + packed(plan.e) + plan.dropout_room(queries.size, keys.size) +
           plan.bias_room(queries.size, keys.size);
  }
  i64 grain() const {
    const double work = static_cast<double>(plan.m * plan.n) * static_cast<double>(plan.d + plan.e) *
                        static_cast<double>(plan.batches) / static_cast<double>(plan.key_batches * groups);
    return static_cast<i64>(attention_work / (2 * work + 1)) + 1;
  }
  /// The batches of queries that use a batch of keys.
  Span<const i64> batches_of(i64 key_batch) const {
    const i64 from = lists_.data()[key_batch];
    return {order() + from, static_cast<std::size_t>(lists_.data()[key_batch + 1] - from)};
  }
  bool sees(i64 query_tile, const KeyTile<T>& t) const {
    return !plan.causal || t.first < queries.begin(query_tile) + queries.width(query_tile);
  }
  void pack(KeyTile<T>& t, T* room) const {
    T *const packed_k = room + 2 * tile_numbers(), *const packed_v = packed_k + packed(plan.d);
    if (plan.d) pack_b(t.k.x, t.k.ld, true, plan.d, t.n, packed_k);
    if (plan.e) pack_b(t.v.x, t.v.ld, true, plan.e, t.n, packed_v);
    t.packed_k = packed_k, t.packed_v = packed_v;
  }
  /// One tile of queries against one of keys.
  void one(i64 batch, i64 query_tile, const KeyTile<T>& keys_at, RowsOf<const T> q, RowsOf<const T> g, RowsOf<T> dq,
           T* room) const {
    const i64 query = queries.begin(query_tile), row = batch * plan.m + query;
    T* const rest = room + 2 * tile_numbers() + packed(plan.d) + packed(plan.e);
    AttentionTile<T> t{};
    t.rows = queries.width(query_tile), t.n = t.ld = keys_at.n, t.scale = static_cast<T>(plan.scale);
    t.s = room, t.ds = room + tile_numbers();
    t.highest = lse_ + row, t.sum = delta_ + row;
    plan.visibility(t, query, keys_at.first);
    plan.drop(t, batch, query, keys_at.first, rest);
    plan.bias(t, kernels_, batch, query, keys_at.first, rest + plan.dropout_room(queries.size, keys.size));
    by_keys(q, plan.d, keys_at.k, keys_at.packed_k, t, t.s);
    by_keys(g, plan.e, keys_at.v, keys_at.packed_v, t, t.ds);
    kernels_.backward(t);
    if (!careful) {
      transposed(t, t.s, g, plan.e, keys_at.dv);
      transposed(t, t.ds, q, plan.d, keys_at.dk);
      by_rows(t, keys_at.k, dq);
    } else {
      transposed(t, t.s, FiniteRows<T>(g, t.rows, plan.e), plan.e, keys_at.dv);
      add_not_finite(t, t.s, false, g, plan.e, keys_at.dv);
      transposed(t, t.ds, FiniteRows<T>(q, t.rows, plan.d), plan.d, keys_at.dk);
      add_not_finite(t, t.ds, false, q, plan.d, keys_at.dk);
      by_rows(t, FiniteRows<T>(keys_at.k, t.n, plan.d), dq);
      add_not_finite(t, t.ds, true, keys_at.k, plan.d, dq);
    }
  }

 private:
  // The batches of queries in the order of the keys that they use.
  void sort_batches() {
    i64* const starts = lists_.data();
    i64 *const next = starts + plan.key_batches + 1, *const sorted = next + plan.key_batches;
    std::fill_n(starts, plan.key_batches + 1, 0);
    for (i64 b = 0; b < plan.batches; ++b) ++starts[plan.keys_of(b) + 1];
    for (i64 i = 0; i < plan.key_batches; ++i) starts[i + 1] += starts[i], next[i] = starts[i];
    for (i64 b = 0; b < plan.batches; ++b) sorted[next[plan.keys_of(b)]++] = b;
  }
  const i64* order() const { return lists_.data() + 2 * plan.key_batches + 1; }
  // out [rows, keys] = x [rows, width] y[keys, width]^T.
  static void by_keys(RowsOf<const T> x, i64 width, RowsOf<const T> y, const T* packed, const AttentionTile<T>& t,
                      T* out) {
    Gemm<T> g{.m = t.rows, .n = t.n, .k = width, .a = x.x, .lda = x.ld, .b = y.x, .ldb = y.ld};
    g.c = out, g.ldc = t.ld, g.transpose_b = true, g.packed_b = width ? packed : nullptr;
    gemm(g);
  }
  // dq [rows, d] += ds k [keys, d].
  void by_rows(const AttentionTile<T>& t, RowsOf<const T> k, RowsOf<T> dq) const {
    Gemm<T> rows{.m = t.rows, .n = plan.d, .k = t.n, .a = t.ds, .lda = t.ld, .b = k.x, .ldb = k.ld};
    rows.c = dq.x, rows.ldc = dq.ld, rows.accumulate = true;
    gemm(rows);
  }
  // to [keys, width] += w [rows, keys]^T x [rows, width].
  static void transposed(const AttentionTile<T>& t, const T* w, RowsOf<const T> x, i64 width, RowsOf<T> to) {
    Gemm<T> g{.m = t.n, .n = width, .k = t.rows, .a = w, .lda = t.ld, .b = x.x, .ldb = x.ld};
    g.c = to.x, g.ldc = to.ld, g.transpose_a = true, g.accumulate = true;
    gemm(g);
  }

  const TileRoom<i64> lists_;  // where each batch's begin, room for sorting, the batches
  const AttentionKernels<T> kernels_;
  T *const lse_, *const delta_;
};

}  // namespace TANDEM_NS::cpu::detail
