// Code shared by the LSTM and GRU device kernels: sizes, lengths of rows, products and sums over all steps.
// For .cu files. Values are time-major: x [t, b, i], y [t, b, u].
#pragma once
#include "cuda/gemm/gemm.hpp"
#include "cuda/reduce/fold.hpp"
#include "cuda/reduce/folds.hpp"
#include "cuda/report.hpp"

namespace TANDEM_NS::cuda {

struct RnnSizes {
  i64 steps, batch, in, units;
  RnnSizes(const Shape& x, const Shape& h0) : steps(x[0]), batch(x[1]), in(x[2]), units(h0[1]) {}
  i64 rows() const { return steps * batch; }
};

/// The number of steps of each row of the batch; all steps if no lengths are given. A length beyond the number of
/// steps is reported.
struct StepCounts {
  const void* lengths = nullptr;
  bool wide = false;
  i64 steps = 0;
  Reporter report;

  StepCounts(const KernelCall& c, std::size_t input, const RnnSizes& s) : steps(s.steps), report(c) {
    if (c.in.size() <= input) return;
    lengths = c.in[input].data;
    wide = c.in[input].spec->dtype == DType::int64;
  }
  __device__ bool runs(i64 row, i64 step) const {
    if (!lengths) return true;
    const i64 n = wide ? static_cast<const i64*>(lengths)[row] : static_cast<const std::int32_t*>(lengths)[row];
    return report.in_range(n, row, steps + 1) && step < n;
  }
};

/// c[m, n] (+)= op(a) op(b), with the sizes of gemm.hpp's Product.
template <class T>
void multiply(const KernelCall& c, Product p) {
  p.dtype = dtype_of<T>();
  gemm(c, p);
}
/// y[rows, n] = x[rows, k] w[k, n] + bias.
template <class T>
void affine(const KernelCall& c, const T* x, i64 rows, i64 k, const T* w, i64 n, const T* bias, T* y) {
  const bool fused = sizeof(T) == 4 && k > 0;
  multiply<T>(c, {.m = rows, .n = n, .k = k, .a = x, .b = w, .c = y, .bias = fused ? bias : nullptr});
  if (!fused) finish_rows(c, dtype_of<T>(), y, bias, rows, n, Finish::none);
}
/// out[k, n] (+)= a^T b over the rows of a [rows, k] and b [rows, n]; rows of b have stride ldb, rows of out ldc.
template <class T>
void weight_gradient(const KernelCall& c, const T* a, i64 k, const T* b, i64 ldb, i64 n, i64 rows, T* out, i64 ldc,
                     bool accumulate) {
  multiply<T>(c, {.m = k,
                  .n = n,
                  .k = rows,
                  .a = a,
                  .b = b,
                  .c = out,
                  .ldb = ldb,
                  .ldc = ldc,
                  .transpose_a = true,
                  .accumulate = accumulate});
}
/// out[n] = the sums of the columns of x [rows, n].
template <class T>
void column_sums(const KernelCall& c, const T* x, i64 rows, i64 n, T* out) {
  FoldShape s;
  s.add(rows, n, true);
  s.add(n, 1, false);
  fold(c, SumFold<T>{}, x, s, out);
}
template <class T>
void copy_numbers(const KernelCall& c, T* to, const T* from, i64 n) {
  if (n)
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T), cudaMemcpyDeviceToDevice,
                          queue_of(c).stream),
          c.op, "copy");
}

}  // namespace TANDEM_NS::cuda
