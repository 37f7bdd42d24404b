// Code shared by the LSTM and GRU kernels. For the definitions of cpu/rnn/rnn.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/cpu/rnn/rnn.hpp"

namespace TANDEM_NS::cpu::detail {

struct RnnSizes {
  i64 steps, batch, in, units;
  RnnSizes(const Shape& x, const Shape& h0) : steps(x.dim(0)), batch(x.dim(1)), in(x.dim(2)), units(h0.dim(1)) {}
};

/// The number of steps of each row of the batch; all steps if no lengths are given.
class StepCounts {
 public:
  StepCounts(const KernelCall& c, const Operand* lengths, const RnnSizes& s) : lengths_(lengths) {
    if (!lengths) return;
    for (i64 b = 0; b < s.batch; ++b)
      if (const i64 n = at(b); n < 0 || n > s.steps)
        errors::raise<errors::InvalidArgumentError>(c.op, "length " + std::to_string(n) + " of row " +
                                                              std::to_string(b) + " is outside of [0, " +
                                                              std::to_string(s.steps) + "]");
  }
  bool given() const { return lengths_; }
  bool runs(i64 row, i64 step) const { return !lengths_ || step < at(row); }

 private:
  i64 at(i64 b) const {
    return lengths_->spec->dtype == DType::int32 ? lengths_->as<std::int32_t>()[b] : lengths_->as<i64>()[b];
  }
  const Operand* lengths_;
};

/// Scratch for numbers, for a scope.
template <class T>
struct Numbers {
  memory::Scratch scratch;
  explicit Numbers(i64 n) : scratch(static_cast<std::size_t>(n) * sizeof(T)) {}
  T* data() const { return static_cast<T*>(scratch.data()); }
};

/// The B operand of a product that is repeated in every step.
template <class T>
struct PackedWeights {
  Numbers<T> room;
  PackedWeights(const T* w, i64 ld, bool transposed, i64 k, i64 n) : room(packed_b_size<T>(k, n)) {
    pack_b(w, ld, transposed, k, n, room.data());
  }
};

/// Divides the batch into one share per thread; few rows are not worth another thread.
template <class F>
void for_batch_shares(i64 batch, double flops, const F& f) {
  const i64 most = std::max<i64>(1, batch / 4), threads = config::intra_op_parallelism_threads();
  const i64 parts = flops < 2e6 ? 1 : std::min(most, threads);
  parallel_parts(parts, flops > 2e7, [&](i64 begin, i64 end) {
    for (i64 p = begin; p < end; ++p) f(batch * p / parts, batch * (p + 1) / parts);
  });
}

template <class T>
void column_sums(const T* x, i64 rows, i64 columns, i64 ld, T* out) {
  static constexpr void (*add[])(T*, const T*, i64) = TANDEM_EACH_ISA(add_row<T>);
  parallel_for(columns, std::max<i64>(64, (1 << 16) / std::max<i64>(1, rows)), [&](i64 begin, i64 end) {
    std::fill(out + begin, out + end, T(0));
    for (i64 r = 0; r < rows; ++r) add[isa()](out + begin, x + r * ld + begin, end - begin);
  });
}

/// out[k, n] = a^T b over the rows of a [rows, k] and b [rows, n].
template <class T>
void weight_gradient(const T* a, i64 k, const T* b, i64 ldb, i64 n, i64 rows, T* out, i64 ldc, bool accumulate) {
  gemm(Gemm<T>{.m = k,
               .n = n,
               .k = rows,
               .a = a,
               .lda = k,
               .b = b,
               .ldb = ldb,
               .c = out,
               .ldc = ldc,
               .transpose_a = true,
               .accumulate = accumulate});
}

}  // namespace TANDEM_NS::cpu::detail
