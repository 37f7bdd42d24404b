// Products of float16 and bfloat16. Not in header-only mode, where they are computed as float32
// (core/apply_inputs.hpp).
#pragma once
#include "tandem/cpu/gemm/gemm.hpp"
#include "tandem/cpu/gemm/half_kernels.hpp"

#if !TANDEM_IS_HEADER_ONLY
namespace TANDEM_NS::cpu {
namespace product {

template <class H>
struct HalfKernels {
  static constexpr auto part = TANDEM_SETS_OF(H, product::half_part<H>);
  static constexpr auto scratch_size = TANDEM_SETS_OF(H, product::half_scratch_size);
  static constexpr auto finish = TANDEM_SETS_OF(H, product::finish_half<H>);
  static constexpr auto widen = TANDEM_SETS_OF(H, widen_rows<H>);
  static constexpr auto gemv_rows = TANDEM_SETS_OF(H, product::gemv_rows<H>);
  static constexpr auto gemv_columns = TANDEM_SETS_OF(H, product::gemv_columns<H>);
};

template <class H>
void half_matrix_matrix(const Gemm<H>& g) {
  const Split s = choose_split(g.m, g.n, g.k, threads_now());
  const i64 numbers = HalfKernels<H>::scratch_size.get()(s.rows, s.columns, g.k);
  const bool wake = double(g.m) * double(g.n) * double(g.k) > worth_waking;
  parallel_parts(s.parts(), wake, [&](i64 begin, i64 end) {
    const memory::Scratch scratch(std::size_t(numbers) * sizeof(float));
    for (i64 i = begin; i < end; ++i) {
      const i64 row = i / s.column_parts * s.rows, column = i % s.column_parts * s.columns;
      HalfKernels<H>::part.get()(g, row, std::min(row + s.rows, g.m), column, std::min(column + s.columns, g.n),
                                 static_cast<float*>(scratch.data()));
    }
  });
}

/// n numbers of float32 scratch.
struct Floats {
  explicit Floats(i64 n) : scratch(std::size_t(n) * sizeof(float)), data(static_cast<float*>(scratch.data())) {}
  memory::Scratch scratch;
  float* data;
};

/// The product with one row or one column: x is the vector, y the results; only the matrix is read in place.
///   rows   whether each result is the product of x and a row of the matrix
template <class H>
void half_vector(const Gemm<H>& g, const float* x, const H* matrix, i64 ld, i64 n, bool rows, bool is_row) {
  share_vector<H>(n, g.k, !rows, [&](i64 i, i64 end) {
    const Floats y(end - i);
    if (rows) HalfKernels<H>::gemv_rows.get()(matrix + i * ld, ld, x, end - i, g.k, y.data, 1, false);
    else HalfKernels<H>::gemv_columns.get()(x, matrix + i, ld, g.k, end - i, y.data, false);
    if (is_row) HalfKernels<H>::finish.get()(g, y.data, end - i, 0, 1, i, end - i);
    else HalfKernels<H>::finish.get()(g, y.data, 1, i, end - i, 0, 1);
  });
}

template <class H>
void run_half(const Gemm<H>& g) {
  if (g.m <= 0 || g.n <= 0) return;
  const auto widened = [&](const H* from, i64 step, float* to) {
    if (step == 1) HalfKernels<H>::widen.get()(from, 0, to, 0, 1, g.k);
    else HalfKernels<H>::widen.get()(from, step, to, 1, g.k, 1);
  };
  if (g.k <= 0) {
    const Floats zeros(g.n);
    for (i64 i = 0; i < g.m; ++i) {
      std::fill_n(zeros.data, g.n, 0.f);
      HalfKernels<H>::finish.get()(g, zeros.data, g.n, i, 1, 0, g.n);
    }
  } else if (g.m == 1) {  // a column as well: a row of the matrix is then a column of B
    const Floats x(g.k);
    widened(g.a, g.transpose_a ? g.lda : 1, x.data);
    const bool rows = g.transpose_b || (g.n == 1 && g.ldb == 1);
    half_vector(g, x.data, g.b, g.transpose_b || !rows ? g.ldb : g.k, g.n, rows, true);
  } else if (g.n == 1 && (g.ldc == 1 || !g.transpose_a)) {
    const Floats x(g.k);
    widened(g.b, g.transpose_b ? 1 : g.ldb, x.data);
    half_vector(g, x.data, g.a, g.lda, g.m, !g.transpose_a, false);
  } else {
    half_matrix_matrix(g);
  }
}

}  // namespace product

TANDEM_INLINE void gemm(const Gemm<Half>& g) { product::run_half(g); }
TANDEM_INLINE void gemm(const Gemm<BFloat16>& g) { product::run_half(g); }

}  // namespace TANDEM_NS::cpu
#endif
