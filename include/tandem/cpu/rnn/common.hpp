// Code shared by the LSTM and GRU kernels. For the definitions of cpu/rnn/rnn.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/cpu/reduce/engine.hpp"
#include "tandem/cpu/rnn/chunks.hpp"
#include "tandem/cpu/rnn/rnn.hpp"

namespace TANDEM_NS::cpu::detail {

/// The number of steps of each row of the batch; all steps if input `at` is not given.
class StepCounts {
 public:
  StepCounts(const KernelCall& c, std::size_t at, const RnnSizes& s)
      : lengths_(c.in.size() > at ? &c.in[at] : nullptr) {
    if (!lengths_) return;
    for (i64 b = 0; b < s.batch; ++b)
      if (const i64 n = of(b); n < 0 || n > s.steps)
        errors::raise<errors::InvalidArgumentError>(c.op, "length " + std::to_string(n) + " of row " +
                                                              std::to_string(b) + " is outside of [0, " +
                                                              std::to_string(s.steps) + "]");
  }
  bool runs(i64 row, i64 step) const { return !lengths_ || step < of(row); }

 private:
  i64 of(i64 b) const {
    return lengths_->spec->dtype == DType::int32 ? lengths_->as<std::int32_t>()[b] : lengths_->as<i64>()[b];
  }
  const Operand* lengths_;
};

/// Divides the batch into one share per thread; few rows are not worth another thread.
///   flops, all   of this call, and of the kernel
template <class F>
void for_batch_shares(i64 batch, double flops, double all, const F& f) {
  const i64 most = std::max<i64>(1, batch / 4), threads = config::intra_op_parallelism_threads();
  const i64 parts = flops < 2e6 ? 1 : std::min(most, threads);
  parallel_parts(parts, all > 2e7, [&](i64 begin, i64 end) {
    for (i64 p = begin; p < end; ++p) f(batch * p / parts, batch * (p + 1) / parts);
  });
}

/// The sums of the columns of gradients that are computed a chunk of steps at a time, for biases. Those of each chunk
/// are kept, and added at the end as a reduction adds them, so that the error does not grow with the number of chunks.
template <class T>
class ColumnSums {
 public:
  ColumnSums(const KernelCall& c, const Chunks& chunks, i64 columns)
      : fold_(fold_kernel_of<Fold::sum, &sum_of_inexact>(dtype_of_v<T>, c.op)),
        chunks_(chunks),
        columns_(columns),
        sums_(chunks.count * columns) {
    std::fill_n(sums_.data(), chunks.count * columns, T(0));
  }
  /// Columns [at, at + n) of the chunk that begins at a step, from x [rows, n].
  void set(StepRange steps, i64 at, const T* x, i64 rows, i64 n) const {
    T* const out = sums_.data() + steps.begin / chunks_.size * columns_ + at;
    parallel_for(n, std::max<i64>(64, (1 << 16) / std::max<i64>(1, rows)),
                 [&](i64 begin, i64 end) { fold_.columns(x + begin, rows, n, end - begin, nullptr, out + begin); });
  }
  /// out [columns] = the sums over all chunks.
  void write(T* out) const {
    std::fill_n(out, columns_, T(0));
    fold_.columns(sums_.data(), chunks_.count, columns_, columns_, nullptr, out);
  }

 private:
  const FoldKernel& fold_;
  const Chunks& chunks_;
  const i64 columns_;
  const Numbers<T> sums_;  // [chunks, columns]
};

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

/// out = the products of the states before the steps and the gradients of their sums. y: the states after them.
template <class T>
void recurrent_gradient(const T* h0, const StepRows<const T>& y, const StepRows<T>& sums, StepRange steps, T* out,
                        bool accumulate) {
  const i64 u = y.width, batch = y.batch, n = sums.width;
  if (steps.begin == 0) weight_gradient(h0, u, sums.at(0), n, n, batch, out, n, accumulate);
  const i64 t = std::max<i64>(1, steps.begin);
  if (t < steps.end)
    weight_gradient(y.at(t - 1), u, sums.at(t), n, n, (steps.end - t) * batch, out, n, accumulate || steps.begin == 0);
}

}  // namespace TANDEM_NS::cpu::detail
