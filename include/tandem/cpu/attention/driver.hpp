// Attention and its gradient for operands of any type: how tiles are divided among threads. An Access (access.hpp)
// knows how the operands are stored. For the definitions of attention.hpp.
#pragma once
#include "tandem/cpu/attention/access.hpp"

namespace TANDEM_NS::cpu::detail {

template <class Access>
void attention_of(const KernelCall& c) {
  using T = typename Access::Number;
  const AttentionForward<T> f(c);
  const AttentionPlan& p = f.plan;
  if (p.batches * p.m * p.n == 0) return clear(c.out);
  Access::begin(c.out);
  const i64 tiles = f.queries.count;
  const typename Access::Keys keys(c, f);
  parallel_for(p.batches * tiles, f.grain(), [&](i64 begin, i64 end) {
    const TileRoom<T> room(f.numbers());
    typename Access::Head head(c, f, keys);
    typename Access::Rows of_queries(c.in[0].spec->dtype, f.queries.size * (p.d + p.e));
    for (i64 i = begin; i < end; ++i) {
      const i64 batch = i / tiles, first = f.queries.begin(i % tiles), rows = f.queries.width(i % tiles);
      head.go_to(p.keys_of(batch));
      of_queries.clear();
      const RowsIn results{c.out[0], p.of_y.at(batch, first), p.of_y.ld, rows, p.e};
      const RowsOf<const T> q = of_queries.read({c.in[0], p.of_q.at(batch, first), p.of_q.ld, rows, p.d});
      const RowsOf<T> y = of_queries.zeros(results);
      f.one(batch, i % tiles, {q, y, head.k, head.v, head.packed}, room.data());
      of_queries.store(y, results);
    }
  });
}

template <class Access>
void attention_delta_of(const KernelCall& c) {
  using T = typename Access::Number;
  const AttentionDelta<T> d(c);
  d.share([&](i64 begin, i64 end) {
    typename Access::Rows rows(c.in[0].spec->dtype, 2 * d.queries.size * d.width);
    for (i64 i = begin; i < end; ++i) {
      rows.clear();
      const RowsOf<const T> g = rows.read({c.in[0], d.begin(i), d.places.ld, d.rows(i), d.width});
      const RowsOf<const T> y = rows.read({c.in[1], d.begin(i), d.places.ld, d.rows(i), d.width});
      d.one(i, g.x, y.x, g.ld);
    }
  });
}

template <class Access>
class AttentionGrad {
  using T = typename Access::Number;
  using QuerySums = typename Access::QuerySums;

 public:
  explicit AttentionGrad(const KernelCall& c) : c_(c), b_(c), p_(b_.plan), dtype_(c.in[1].spec->dtype) {}

  void run() {
    compute();
    if (!p_.hides() || are_finite_operands(c_.out)) return;
    b_.careful = true;
    compute();
  }

 private:
  void compute() const {
    if (p_.batches * p_.m * p_.n == 0) return clear(c_.out);
    // The gradients of the queries are sums over the tasks of a batch, so that several tasks share them.
    const i64 groups = b_.groups;
    Access::begin(c_.out);
    const QuerySums sums(c_, b_);
    parallel_for(p_.key_batches * groups, b_.grain(), [&](i64 begin, i64 end) {
      const TileRoom<T> room(b_.numbers());
      for (i64 i = begin; i < end; ++i) {
        typename QuerySums::Task of_task(sums, i / groups, i % groups);
        task(i / groups, i % groups, of_task, room.data());
        of_task.store();
      }
    });
    sums.finish();
  }
  void task(i64 key_batch, i64 group, const typename QuerySums::Task& sums, T* room) const {
    typename Access::Rows of_keys(dtype_, 2 * b_.keys.size * (p_.d + p_.e));
    typename Access::Rows of_queries(dtype_, b_.queries.size * (p_.d + p_.e));
    const Span<const i64> batches = b_.batches_of(key_batch);
    for (i64 i = group * b_.keys.count / b_.groups; i < (group + 1) * b_.keys.count / b_.groups; ++i) {
      const i64 first = b_.keys.begin(i), n = b_.keys.width(i);
      const auto rows = [&](const Operand& o, const MatrixPlaces& places, i64 width) -> RowsIn {
        return {o, places.at(key_batch, first), places.ld, n, width};
      };
      const RowsIn dk = rows(c_.out[1], p_.of_k, p_.d), dv = rows(c_.out[2], p_.of_v, p_.e);
      of_keys.clear();
      KeyTile<T> keys{first,
                      n,
                      of_keys.read(rows(c_.in[2], p_.of_k, p_.d)),
                      of_keys.read(rows(c_.in[3], p_.of_v, p_.e)),
                      of_keys.zeros(dk),
                      of_keys.zeros(dv),
                      nullptr,
                      nullptr};
      b_.pack(keys, room);
      for (std::size_t b = 0; b < batches.size(); ++b)
        for (i64 j = 0; j < b_.queries.count; ++j)
          if (b_.sees(j, keys))
            one(batches[b], j, keys, of_queries, sums.at(i64(b), batches[b], b_.queries.begin(j)), room);
      of_keys.store(keys.dk, dk);
      of_keys.store(keys.dv, dv);
    }
  }
  void one(i64 batch, i64 tile, const KeyTile<T>& keys, typename Access::Rows& of_queries, RowsOf<T> dq,
           T* room) const {
    const i64 query = b_.queries.begin(tile), rows = b_.queries.width(tile);
    of_queries.clear();
    const RowsOf<const T> q = of_queries.read({c_.in[1], p_.of_q.at(batch, query), p_.of_q.ld, rows, p_.d});
    const RowsOf<const T> g = of_queries.read({c_.in[0], p_.of_y.at(batch, query), p_.of_y.ld, rows, p_.e});
    b_.one(batch, tile, keys, q, g, dq, room);
  }

  const KernelCall& c_;
  AttentionBackward<T> b_;
  const AttentionPlan& p_;
  const DType dtype_;
};

}  // namespace TANDEM_NS::cpu::detail
