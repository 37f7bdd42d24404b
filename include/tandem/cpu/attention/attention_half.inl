// Definitions of cpu/attention/half.hpp: each thread widens the keys and values of one head (backward: of a tile), and
// queries a tile at a time, and rounds what the float32 kernels computed of them.
#pragma once
#include "tandem/cpu/attention/half.hpp"
#include "tandem/cpu/attention/tiles.hpp"
#include "tandem/cpu/pointwise/half_tile.hpp"

#if !TANDEM_IS_HEADER_ONLY
namespace TANDEM_NS::cpu::detail {

/// The keys, or their packed tiles, and the values of one matrix after another.
class HalfHead {
 public:
  HalfHead(const KernelCall& c, const AttentionForward<float>& f)
      : f_(f),
        k_(c.in[1].as<const std::uint16_t>()),
        v_(c.in[2].as<const std::uint16_t>()),
        tile_(c.in[0].spec->dtype, numbers(f)) {}

  /// Goes to matrix `batch` of keys and values.
  void go_to(i64 batch) {
    if (batch == batch_) return;
    const AttentionPlan& p = f_.plan;
    batch_ = batch;
    tile_.clear();
    v = {tile_.widen(v_ + p.of_v.at(batch, 0), p.of_v.ld, p.n, p.e), p.e};
    if (!f_.step) {
      k = {tile_.widen(k_ + p.of_k.at(batch, 0), p.of_k.ld, p.n, p.d), p.d};
      return;
    }
    float* const to = tile_.room(f_.step * f_.keys.count);
    HalfTile few(tile_.dtype(), f_.keys.size * p.d);
    for (i64 i = 0; i < f_.keys.count; ++i) {
      few.clear();
      const float* const rows = few.widen(k_ + p.of_k.at(batch, f_.keys.begin(i)), p.of_k.ld, f_.keys.width(i), p.d);
      pack_b(rows, p.d, true, p.d, f_.keys.width(i), to + i * f_.step);
    }
    packed = to, k = {to, 0};  // only the packed keys are read
  }
  RowsOf<const float> k = {}, v = {};
  const float* packed = nullptr;

 private:
  static i64 numbers(const AttentionForward<float>& f) {
    return f.plan.n * f.plan.e + (f.step ? f.step * f.keys.count : f.plan.n * f.plan.d);
  }

  const AttentionForward<float>& f_;
  const std::uint16_t *const k_, *const v_;
  HalfTile tile_;
  i64 batch_ = -1;
};

TANDEM_INLINE void attention_half(const KernelCall& c) {
  const AttentionForward<float> f(c);
  const AttentionPlan& p = f.plan;
  if (p.batches * p.m * p.n == 0) {
    for (const Operand& o : c.out) std::memset(o.data, 0, o.spec->bytes());
    return;
  }
  const i64 tiles = f.queries.count;
  parallel_for(p.batches * tiles, f.grain(), [&](i64 begin, i64 end) {
    const TileRoom<float> room(f.numbers());
    HalfHead head(c, f);
    HalfTile few(c.in[0].spec->dtype, f.queries.size * (p.d + p.e));
    for (i64 i = begin; i < end; ++i) {
      const i64 batch = i / tiles, first = f.queries.begin(i % tiles), rows = f.queries.width(i % tiles);
      head.go_to(p.keys_of(batch));
      few.clear();
      const float* const q =
          few.widen(c.in[0].as<const std::uint16_t>() + p.of_q.at(batch, first), p.of_q.ld, rows, p.d);
      float* const y = few.room(rows * p.e);
      std::fill_n(y, rows * p.e, 0.f);
      f.one(batch, i % tiles, {{q, p.d}, {y, p.e}, head.k, head.v, head.packed}, room.data());
      few.round(y, c.out[0].as<std::uint16_t>() + p.of_y.at(batch, first), p.of_y.ld, rows, p.e);
    }
  });
}

TANDEM_INLINE void attention_delta_half(const KernelCall& c) {
  const AttentionDelta<float> d(c);
  d.share([&](i64 begin, i64 end) {
    HalfTile tile(c.in[0].spec->dtype, 2 * d.queries.size * d.width);
    for (i64 i = begin; i < end; ++i) {
      tile.clear();
      const auto widened = [&](std::size_t k) {
        return tile.widen(c.in[k].as<const std::uint16_t>() + d.begin(i), d.places.ld, d.rows(i), d.width);
      };
      const float *const g = widened(0), *const y = widened(1);
      d.one(i, g, y, d.width);
    }
  });
}

class HalfAttentionGrad {
 public:
  explicit HalfAttentionGrad(const KernelCall& c) : c_(c), b_(c), p_(b_.plan), dtype_(c.in[1].spec->dtype) {}

  void run() {
    compute();
    if (!p_.hides() || are_finite_operands(c_.out)) return;
    b_.careful = true;
    compute();
  }

 private:
  void compute() const {
    if (p_.batches * p_.m * p_.n == 0) {
      for (const Operand& o : c_.out) std::memset(o.data, 0, o.spec->bytes());
      return;
    }
    // The gradients of the queries are float32 sums over the tasks of a batch, so that several tasks share them.
    const i64 groups = b_.groups, of_dq = groups > 1 ? b_.of_dq() : 0;
    const TileRoom<float> partial(groups * of_dq);
    std::fill_n(partial.data(), groups * of_dq, 0.f);
    parallel_for(p_.key_batches * groups, b_.grain(), [&](i64 begin, i64 end) {
      const TileRoom<float> room(b_.numbers());
      for (i64 i = begin; i < end; ++i)
        if (groups > 1) shared_task(i / groups, i % groups, partial.data() + i % groups * of_dq, room.data());
        else own_task(i, room.data());
    });
    if (groups > 1) round_sums(partial.data(), groups, of_dq);
  }
  const std::uint16_t* in(std::size_t i, i64 at) const { return c_.in[i].as<const std::uint16_t>() + at; }
  std::uint16_t* out(std::size_t i, i64 at) const { return c_.out[i].as<std::uint16_t>() + at; }

  /// The only task of a batch of keys: it has the gradients of its queries for itself.
  void own_task(i64 key_batch, float* room) const {
    const Span<const i64> batches = b_.batches_of(key_batch);
    const i64 each = p_.m * p_.d, n = static_cast<i64>(batches.size());
    HalfTile sums(dtype_, n * each);
    float* const dq = sums.room(n * each);
    std::fill_n(dq, n * each, 0.f);
    task(key_batch, 0, room, [&](i64 number, i64 query) -> RowsOf<float> {
      return {dq + number * each + query * p_.d, p_.d};
    });
    for (i64 i = 0; i < n; ++i)
      sums.round(dq + i * each, out(0, p_.of_q.at(batches[static_cast<std::size_t>(i)], 0)), p_.of_q.ld, p_.m, p_.d);
  }
  void shared_task(i64 key_batch, i64 group, float* dq, float* room) const {
    const Span<const i64> batches = b_.batches_of(key_batch);
    task(key_batch, group, room, [&](i64 number, i64 query) -> RowsOf<float> {
      return {dq + p_.of_q.at(batches[static_cast<std::size_t>(number)], query), p_.of_q.ld};
    });
  }
  /// dq_at(number of the batch among those of the keys, query): where the gradients of a tile of queries go.
  template <class F>
  void task(i64 key_batch, i64 group, float* room, const F& dq_at) const {
    const i64 most = b_.keys.size, width = p_.d + p_.e;
    HalfTile of_keys(dtype_, 2 * most * width), of_queries(dtype_, b_.queries.size * width);
    for (i64 i = group * b_.keys.count / b_.groups; i < (group + 1) * b_.keys.count / b_.groups; ++i) {
      const i64 first = b_.keys.begin(i), n = b_.keys.width(i);
      const i64 k = p_.of_k.at(key_batch, first), v = p_.of_v.at(key_batch, first);
      of_keys.clear();
      KeyTile<float> keys{first,
                          n,
                          {of_keys.widen(in(2, k), p_.of_k.ld, n, p_.d), p_.d},
                          {of_keys.widen(in(3, v), p_.of_v.ld, n, p_.e), p_.e},
                          {of_keys.room(n * p_.d), p_.d},
                          {of_keys.room(n * p_.e), p_.e},
                          nullptr,
                          nullptr};
      std::fill_n(keys.dk.x, n * p_.d, 0.f);
      std::fill_n(keys.dv.x, n * p_.e, 0.f);
      b_.pack(keys, room);
      const Span<const i64> batches = b_.batches_of(key_batch);
      for (std::size_t b = 0; b < batches.size(); ++b)
        for (i64 j = 0; j < b_.queries.count; ++j)
          if (b_.sees(j, keys)) one(batches[b], j, keys, of_queries, dq_at(i64(b), b_.queries.begin(j)), room);
      of_keys.round(keys.dk.x, out(1, k), p_.of_k.ld, n, p_.d);
      of_keys.round(keys.dv.x, out(2, v), p_.of_v.ld, n, p_.e);
    }
  }
  void one(i64 batch, i64 query_tile, const KeyTile<float>& keys, HalfTile& tile, RowsOf<float> dq, float* room) const {
    const i64 query = b_.queries.begin(query_tile), rows = b_.queries.width(query_tile);
    tile.clear();
    const float* const q = tile.widen(in(1, p_.of_q.at(batch, query)), p_.of_q.ld, rows, p_.d);
    const float* const g = tile.widen(in(0, p_.of_y.at(batch, query)), p_.of_y.ld, rows, p_.e);
    b_.one(batch, query_tile, keys, {q, p_.d}, {g, p_.e}, dq, room);
  }
  void round_sums(float* partial, i64 groups, i64 n) const {
    parallel_for(n, 1 << 15, [&](i64 begin, i64 end) {
      for (i64 g = 1; g < groups; ++g)
        for (i64 i = begin; i < end; ++i) partial[i] += partial[g * n + i];
      half_rows(dtype_).round(partial + begin, 0, out(0, begin), 0, 1, end - begin);
    });
  }

  const KernelCall& c_;
  AttentionBackward<float> b_;
  const AttentionPlan& p_;
  const DType dtype_;
};

TANDEM_INLINE void attention_grad_half(const KernelCall& c) { HalfAttentionGrad(c).run(); }

}  // namespace TANDEM_NS::cpu::detail
#endif
