// How attention reads and writes its operands. InPlace is for float32 and float64; attention_half.inl has the other
// one, for half precision, with the same members:
//   begin()   comes before all rows of results
//   Number    what the kernels compute with
//   Rows      some rows of operands as Numbers, and rows of results
//   Head      the keys and values of one matrix after another
//   Keys      what all threads share of the keys
//   QuerySums the gradients of the queries
// For the definitions of attention.hpp.
#pragma once
#include <cstring>

#include "tandem/cpu/attention/tiles.hpp"

namespace TANDEM_NS::cpu::detail {

/// `rows` rows of `width` elements of an operand, from element `at` on, which are `ld` elements apart.
struct RowsIn {
  const Operand& operand;
  i64 at, ld, rows, width;
};

inline void clear(Span<const Operand> all) {
  for (const Operand& o : all) std::memset(o.data, 0, o.spec->bytes());
}

template <class T>
struct InPlace {
  using Number = T;
  /// Large blocks are set to zero faster than a tile at a time.
  static void begin(Span<const Operand> results) { clear(results); }

  struct Rows {
    Rows(DType, i64 /*numbers*/) {}
    void clear() {}
    RowsOf<const T> read(const RowsIn& r) const { return {r.operand.as<const T>() + r.at, r.ld}; }
    /// Zeros, which store() makes a result of what has been added to them.
    RowsOf<T> zeros(const RowsIn& r) const { return {r.operand.as<T>() + r.at, r.ld}; }
    void store(RowsOf<T>, const RowsIn&) const {}
  };

  /// The keys, packed once for all tiles of queries.
  struct Keys {
    const TileRoom<T> packed;

    Keys(const KernelCall& c, const AttentionForward<T>& f) : packed(f.step * f.keys.count * f.plan.key_batches) {
      const i64 tiles = f.keys.count;
      if (!f.step) return;
      parallel_for(tiles * f.plan.key_batches, (1 << 15) / (f.keys.size * f.plan.d + 1) + 1, [&](i64 begin, i64 end) {
        for (i64 i = begin; i < end; ++i) f.pack(keys_at(c, f, i / tiles), i % tiles, packed.data() + i * f.step);
      });
    }
    static RowsOf<const T> keys_at(const KernelCall& c, const AttentionForward<T>& f, i64 batch) {
      return {c.in[1].as<const T>() + f.plan.of_k.at(batch, 0), f.plan.of_k.ld};
    }
  };

  class Head {
   public:
    Head(const KernelCall& call, const AttentionForward<T>& f, const Keys& keys) : c_(call), f_(f), keys_(keys) {}
    void go_to(i64 batch) {
      k = Keys::keys_at(c_, f_, batch);
      v = {c_.in[2].as<const T>() + f_.plan.of_v.at(batch, 0), f_.plan.of_v.ld};
      packed = f_.step ? keys_.packed.data() + batch * f_.keys.count * f_.step : nullptr;
    }
    RowsOf<const T> k = {}, v = {};
    const T* packed = nullptr;

   private:
    const KernelCall& c_;
    const AttentionForward<T>& f_;
    const Keys& keys_;
  };

  /// The first task of each batch of keys adds to the result, the others to partial sums.
  class QuerySums {
   public:
    QuerySums(const KernelCall& c, const AttentionBackward<T>& b)
        : dq_(c.out[0].as<T>()), of_q_(b.plan.of_q), groups_(b.groups), n_(b.of_dq()), partial_((groups_ - 1) * n_) {
      std::fill_n(partial_.data(), (groups_ - 1) * n_, T(0));
    }
    /// Adds the partial sums to the result, in order.
    void finish() const {
      for (i64 g = 1; g < groups_; ++g) {
        const T* const x = partial_.data() + (g - 1) * n_;
        parallel_for(n_, 1 << 15, [this, x](i64 begin, i64 end) {
          for (i64 i = begin; i < end; ++i) dq_[i] += x[i];
        });
      }
    }

    /// Those of one task.
    class Task {
     public:
      Task(const QuerySums& sums, i64 /*key_batch*/, i64 group)
          : dq_(group ? sums.partial_.data() + (group - 1) * sums.n_ : sums.dq_), of_q_(sums.of_q_) {}
      /// Where those of the queries from `query` on are, of batch `batch`: the one of that number among the task's.
      RowsOf<T> at(i64 /*number*/, i64 batch, i64 query) const { return {dq_ + of_q_.at(batch, query), of_q_.ld}; }
      void store() const {}

     private:
      T* const dq_;
      const MatrixPlaces& of_q_;
    };

   private:
    T* const dq_;
    const MatrixPlaces& of_q_;
    const i64 groups_, n_;
    const TileRoom<T> partial_;
  };
};

}  // namespace TANDEM_NS::cpu::detail
