// Code shared by the LSTM and GRU kernels. For the definitions of cpu/rnn/rnn.hpp.
#pragma once
#include "tandem/base/error.hpp"
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

/// out += the sums of the columns of x [rows, columns].
template <class T>
void add_column_sums(const T* x, i64 rows, i64 columns, T* out) {
  static constexpr auto add = TANDEM_SETS_OF(T, add_row<T>);
  parallel_for(columns, std::max<i64>(64, (1 << 16) / std::max<i64>(1, rows)), [&](i64 begin, i64 end) {
    for (i64 r = 0; r < rows; ++r) add.get()(out + begin, x + r * columns + begin, end - begin);
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
