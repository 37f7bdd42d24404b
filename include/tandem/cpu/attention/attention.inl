// Definitions of cpu/attention/attention.hpp for float32 and float64: operands are read in place.
#pragma once
#include "tandem/cpu/attention/attention.hpp"
#include "tandem/cpu/attention/half.hpp"
#include "tandem/cpu/attention/tiles.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

template <class T>
void attention_of(const KernelCall& c) {
  const AttentionForward<T> f(c);
  const AttentionPlan& p = f.plan;
  for (const Operand& o : c.out) std::memset(o.data, 0, o.spec->bytes());
  if (p.batches * p.m * p.n == 0) return;
  const auto keys_at = [&](i64 batch) -> RowsOf<const T> { return {c.in[1].as<T>() + p.of_k.at(batch, 0), p.of_k.ld}; };
  // The keys are packed once for all tiles of queries.
  const i64 tiles = f.keys.count, step = f.step;
  const TileRoom<T> packed(step * tiles * p.key_batches);
  if (step)
    parallel_for(tiles * p.key_batches, (1 << 15) / (f.keys.size * p.d + 1) + 1, [&](i64 begin, i64 end) {
      for (i64 i = begin; i < end; ++i) f.pack(keys_at(i / tiles), i % tiles, packed.data() + i * step);
    });
  parallel_for(p.batches * f.queries.count, f.grain(), [&](i64 begin, i64 end) {
    const TileRoom<T> room(f.numbers());
    for (i64 i = begin; i < end; ++i) {
      const i64 batch = i / f.queries.count, tile = i % f.queries.count, first = f.queries.begin(tile);
      const i64 keys = p.keys_of(batch);
      f.one(batch, tile,
            {{c.in[0].as<T>() + p.of_q.at(batch, first), p.of_q.ld},
             {c.out[0].as<T>() + p.of_y.at(batch, first), p.of_y.ld},
             keys_at(keys),
             {c.in[2].as<T>() + p.of_v.at(keys, 0), p.of_v.ld},
             step ? packed.data() + keys * tiles * step : nullptr},
            room.data());
    }
  });
}

template <class T>
void attention_delta_of(const KernelCall& c) {
  const AttentionDelta<T> d(c);
  d.share([&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) d.one(i, c.in[0].as<T>() + d.begin(i), c.in[1].as<T>() + d.begin(i), d.places.ld);
  });
}

template <class T>
class AttentionGrad {
 public:
  explicit AttentionGrad(const KernelCall& c) : c_(c), b_(c), p_(b_.plan) {}

  void run() {
    compute();
    if (!p_.hides() || are_finite_operands(c_.out)) return;
    b_.careful = true;
    compute();
  }

 private:
  void compute() const {
    for (const Operand& o : c_.out) std::memset(o.data, 0, o.spec->bytes());
    if (p_.batches * p_.m * p_.n == 0) return;
    const i64 groups = b_.groups, of_dq = b_.of_dq();
    const TileRoom<T> partial(groups > 1 ? (groups - 1) * of_dq : 0);
    const auto dq_of = [&](i64 group) { return group ? partial.data() + (group - 1) * of_dq : c_.out[0].as<T>(); };
    if (groups > 1) std::memset(partial.data(), 0, static_cast<std::size_t>((groups - 1) * of_dq) * sizeof(T));
    parallel_for(p_.key_batches * groups, b_.grain(), [&](i64 begin, i64 end) {
      const TileRoom<T> room(b_.numbers());
      for (i64 i = begin; i < end; ++i) task(i / groups, i % groups, dq_of(i % groups), room.data());
    });
    for (i64 g = 1; g < groups; ++g) add(dq_of(g), c_.out[0].as<T>(), of_dq);
  }
  static void add(const T* x, T* to, i64 n) {
    parallel_for(n, 1 << 15, [=](i64 begin, i64 end) {
      for (i64 i = begin; i < end; ++i) to[i] += x[i];
    });
  }
  void task(i64 key_batch, i64 group, T* dq, T* room) const {
    for (i64 i = group * b_.keys.count / b_.groups; i < (group + 1) * b_.keys.count / b_.groups; ++i) {
      const i64 first = b_.keys.begin(i), k = p_.of_k.at(key_batch, first), v = p_.of_v.at(key_batch, first);
      KeyTile<T> keys{first,
                      b_.keys.width(i),
                      {c_.in[2].as<T>() + k, p_.of_k.ld},
                      {c_.in[3].as<T>() + v, p_.of_v.ld},
                      {c_.out[1].as<T>() + k, p_.of_k.ld},
                      {c_.out[2].as<T>() + v, p_.of_v.ld},
                      nullptr,
                      nullptr};
      b_.pack(keys, room);
      for (const i64 batch : b_.batches_of(key_batch))
        for (i64 j = 0; j < b_.queries.count; ++j) {
          if (!b_.sees(j, keys)) continue;
          const i64 at = p_.of_q.at(batch, b_.queries.begin(j)), y = p_.of_y.at(batch, b_.queries.begin(j));
          b_.one(batch, j, keys, {c_.in[1].as<T>() + at, p_.of_q.ld}, {c_.in[0].as<T>() + y, p_.of_y.ld},
                 {dq + at, p_.of_q.ld}, room);
        }
    }
  }

  const KernelCall& c_;
  AttentionBackward<T> b_;
  const AttentionPlan& p_;
};

}  // namespace detail

TANDEM_INLINE void attention(const KernelCall& c) {
  if constexpr (kernels_take_half)
    if (c.in[0].is_half()) return detail::attention_half(c);
  if (c.in[0].spec->dtype == DType::float64) detail::attention_of<double>(c);
  else detail::attention_of<float>(c);
}
TANDEM_INLINE void attention_delta(const KernelCall& c) {
  if constexpr (kernels_take_half)
    if (c.in[0].is_half()) return detail::attention_delta_half(c);
  if (c.in[0].spec->dtype == DType::float64) detail::attention_delta_of<double>(c);
  else detail::attention_delta_of<float>(c);
}
TANDEM_INLINE void attention_grad(const KernelCall& c) {
  if constexpr (kernels_take_half)
    if (c.in[0].is_half()) return detail::attention_grad_half(c);
  if (c.in[0].spec->dtype == DType::float64) detail::AttentionGrad<double>(c).run();
  else detail::AttentionGrad<float>(c).run();
}

}  // namespace TANDEM_NS::cpu
