// Definitions of cpu/attention/half.hpp: each thread widens the keys and values of one head (backward: of a tile), and
// queries a tile at a time, and rounds what the float32 kernels computed of them.
#pragma once
#include "tandem/cpu/attention/driver.hpp"
#include "tandem/cpu/attention/half.hpp"
#include "tandem/cpu/pointwise/half_tile.hpp"

#if !TANDEM_IS_HEADER_ONLY
namespace TANDEM_NS::cpu::detail {

/// Rows as float32 copies, and float32 results that are rounded once.
class HalfTileRows {
 public:
  HalfTileRows(DType d, i64 numbers) : tile_(d, numbers) {}
  void clear() { tile_.clear(); }
  RowsOf<const float> read(const RowsIn& r) {
    return {tile_.widen(r.operand.as<const std::uint16_t>() + r.at, r.ld, r.rows, r.width), r.width};
  }
  RowsOf<float> zeros(const RowsIn& r) {
    float* const x = tile_.room(r.rows * r.width);
    std::fill_n(x, r.rows * r.width, 0.f);
    return {x, r.width};
  }
  void store(RowsOf<float> x, const RowsIn& r) const {
    tile_.round(x.x, r.operand.as<std::uint16_t>() + r.at, r.ld, r.rows, r.width);
  }

 private:
  HalfTile tile_;
};

/// Threads share nothing of the keys.
struct NoKeys {
  NoKeys(const KernelCall&, const AttentionForward<float>&) {}
};

/// The keys, or their packed tiles, and the values of one matrix after another.
class HalfHead {
 public:
  HalfHead(const KernelCall& c, const AttentionForward<float>& f, const NoKeys&)
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

/// Float32 sums, rounded once: of a task that has the queries of its batches for itself in a tile, otherwise of all
/// tasks.
class HalfQuerySums {
 public:
  HalfQuerySums(const KernelCall& c, const AttentionBackward<float>& b)
      : dq_(c.out[0]), b_(b), groups_(b.groups), n_(groups_ > 1 ? b.of_dq() : 0), partial_(groups_ * n_) {
    std::fill_n(partial_.data(), groups_ * n_, 0.f);
  }
  void finish() const {
    float* const sums = partial_.data();
    parallel_for(n_, 1 << 15, [&](i64 begin, i64 end) {
      for (i64 g = 1; g < groups_; ++g)
        for (i64 i = begin; i < end; ++i) sums[i] += sums[g * n_ + i];
      half_rows(dq_.spec->dtype).round(sums + begin, 0, dq_.as<std::uint16_t>() + begin, 0, 1, end - begin);
    });
  }

  class Task {
   public:
    Task(const HalfQuerySums& sums, i64 key_batch, i64 group)
        : all_(sums),
          batches_(sums.b_.batches_of(key_batch)),
          own_(sums.n_ ? 0 : static_cast<i64>(batches_.size()) * size()),
          dq_(sums.n_ ? sums.partial_.data() + group * sums.n_ : own_.data()) {
      if (!all_.n_) std::fill_n(dq_, static_cast<i64>(batches_.size()) * size(), 0.f);
    }
    RowsOf<float> at(i64 number, i64 batch, i64 query) const {
      const AttentionPlan& p = all_.b_.plan;
      if (all_.n_) return {dq_ + p.of_q.at(batch, query), p.of_q.ld};
      return {dq_ + number * size() + query * p.d, p.d};
    }
    void store() const {
      if (all_.n_) return;
      const AttentionPlan& p = all_.b_.plan;
      const HalfRows& rows = half_rows(all_.dq_.spec->dtype);
      for (std::size_t i = 0; i < batches_.size(); ++i) {
        const float* const from = dq_ + static_cast<i64>(i) * size();
        std::uint16_t* const to = all_.dq_.as<std::uint16_t>() + p.of_q.at(batches_[i]);
        if (p.of_q.ld == p.d) rows.round(from, 0, to, 0, 1, size());
        else rows.round(from, p.d, to, p.of_q.ld, p.m, p.d);
      }
    }

   private:
    i64 size() const { return all_.b_.plan.m * all_.b_.plan.d; }  // of a batch

    const HalfQuerySums& all_;
    const Span<const i64> batches_;
    const TileRoom<float> own_;
    float* const dq_;
  };

 private:
  const Operand& dq_;
  const AttentionBackward<float>& b_;
  const i64 groups_, n_;
  const TileRoom<float> partial_;
};

/// How half precision is read and written (access.hpp): a tile, or the keys and values of a head, at a time.
struct Widened {
  using Number = float;
  static void begin(Span<const Operand>) {}
  using Rows = HalfTileRows;
  using Keys = NoKeys;
  using Head = HalfHead;
  using QuerySums = HalfQuerySums;
};

TANDEM_INLINE void attention_half(const KernelCall& c) { attention_of<Widened>(c); }
TANDEM_INLINE void attention_delta_half(const KernelCall& c) { attention_delta_of<Widened>(c); }
TANDEM_INLINE void attention_grad_half(const KernelCall& c) { AttentionGrad<Widened>(c).run(); }

}  // namespace TANDEM_NS::cpu::detail
#endif
