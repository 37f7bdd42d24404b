// How a product is divided among threads, and the choice of kernel by instruction set and shape. For the definitions of
// gemm.hpp.
#pragma once
#include <algorithm>

#include "tandem/core/allocator.hpp"
#include "tandem/cpu/gemm/gemm.hpp"
#include "tandem/cpu/gemm/plain.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/simd/isa.hpp"
#include "tandem/cpu/simd/packs.hpp"

#define TANDEM_KERNELS "tandem/cpu/gemm/vec.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#define TANDEM_KERNELS "tandem/cpu/gemm/tile.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#define TANDEM_KERNELS "tandem/cpu/gemm/pack.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#define TANDEM_KERNELS "tandem/cpu/gemm/finish.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#define TANDEM_KERNELS "tandem/cpu/gemm/loops.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
#define TANDEM_KERNELS "tandem/cpu/gemm/gemv.inc"
#include "tandem/cpu/simd/for_each_isa.inc"

namespace TANDEM_NS::cpu::product {

template <class T>
struct Kernels {
  static constexpr auto part = TANDEM_SETS_OF(T, product::part<T>);
  static constexpr auto scratch_size = TANDEM_SETS_OF(T, product::scratch_size<T>);
  static constexpr auto packed_size = TANDEM_SETS_OF(T, product::packed_size<T>);
  static constexpr auto pack_b = TANDEM_SETS_OF(T, product::pack_b<T>);
  static constexpr auto finish = TANDEM_SETS_OF(T, product::finish_product<T>);
  static constexpr auto gemv_rows = TANDEM_SETS_OF(T, product::gemv_rows<T>);
  static constexpr auto gemv_columns = TANDEM_SETS_OF(T, product::gemv_columns<T>);
};

// Columns are divided in units that are whole panels for every instruction set.
inline constexpr i64 column_unit = 32;
// The number of multiplications worth handing to a waiting thread, and to a sleeping one.
inline constexpr double worth_sharing = 1e5, worth_waking = 4e6;

/// A grid of row_parts x column_parts parts.
struct Split {
  i64 row_parts = 1, column_parts = 1;
  i64 rows = 0, columns = 0;  // of one part
  i64 parts() const { return row_parts * column_parts; }
};

inline Split grid(i64 m, i64 n, i64 row_parts, i64 column_parts) {
  const i64 units = (n + column_unit - 1) / column_unit;
  Split s;
  s.rows = (m + row_parts - 1) / row_parts;
  s.columns = (units + column_parts - 1) / column_parts * column_unit;
  s.row_parts = (m + s.rows - 1) / s.rows;
  s.column_parts = (n + s.columns - 1) / s.columns;
  return s;
}

/// The grid whose largest part is cheapest: its products, and its packing (a row of A costs more than one of B).
inline Split choose_split(i64 m, i64 n, i64 k, int threads) {
  const double work = double(m) * double(n) * double(k);
  // One part per thread: more parts would pack more, which costs as much as the better balance gains.
  const i64 parts = std::min<i64>(threads, i64(work / worth_sharing));
  if (parts <= 1) return {1, 1, m, n};
  Split best{1, 1, m, n};
  double best_cost = 1e300;
  for (i64 r = 1; r <= parts; ++r) {
    if (parts % r) continue;
    const Split s = grid(m, n, r, parts / r);
    const double rows = double(s.rows), columns = double(s.columns);
    const double cost = rows * columns / 16 + rows * 0.5 + columns * 0.2;
    if (cost < best_cost) best_cost = cost, best = s;
  }
  return best;
}

inline int threads_now() { return in_parallel_region() ? 1 : config::intra_op_parallelism_threads(); }

template <class T>
void run_part(const Gemm<T>& g, const Split& s, i64 index, i64 scratch_numbers) {
  const i64 row_part = s.parts() == 1 ? 0 : index / s.column_parts;
  const i64 row = row_part * s.rows, column = (index - row_part * s.column_parts) * s.columns;
  const i64 row_end = std::min(row + s.rows, g.m), column_end = std::min(column + s.columns, g.n);
  const auto part = Kernels<T>::part.get();
  const std::size_t bytes = std::size_t(scratch_numbers) * sizeof(T);
  if (bytes <= 16384) {
    alignas(64) unsigned char small[16384];
    return part(g, row, row_end, column, column_end, reinterpret_cast<T*>(small));
  }
  if (g.workspace && g.workspace_bytes >= bytes * std::size_t(s.parts()))
    return part(g, row, row_end, column, column_end, static_cast<T*>(g.workspace) + index * scratch_numbers);
  const memory::Scratch scratch(bytes);
  part(g, row, row_end, column, column_end, static_cast<T*>(scratch.data()));
}

template <class T>
void matrix_matrix(const Gemm<T>& g) {
  const Split s = choose_split(g.m, g.n, g.k, threads_now());
  const i64 scratch = Kernels<T>::scratch_size.get()(s.rows, s.columns, g.k);
  if (s.parts() == 1) return run_part(g, s, 0, scratch);
  const bool wake = double(g.m) * double(g.n) * double(g.k) > worth_waking;
  parallel_parts(s.parts(), wake, [&](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) run_part(g, s, i, scratch);
  });
}

// These products are memory-bound: a thread is worth using from a quarter of the L2 cache on.
template <class T>
inline constexpr i64 gemv_grain = (256 << 10) / i64(sizeof(T));

/// Calls body(begin, end) for ranges of the n results of a product of a vector and k x n numbers.
///   across   whether a range is a part of every row of the matrix. Then each thread gets one range, the same one
///            each time: short ranges are slow to read, and the data in a core's cache serves the next call.
template <class T, class F>
void share_vector(i64 n, i64 k, bool across, F body) {
  constexpr i64 unit = 64;
  const i64 units = (n + unit - 1) / unit;
  const auto some_units = [&](i64 begin, i64 end) { body(begin * unit, std::min(end * unit, n)); };
  if (!across) return parallel_for(units, std::max<i64>(1, gemv_grain<T> / (unit * k)), some_units);
  const i64 threads = threads_now(), grains = n * k / gemv_grain<T>;
  const i64 parts = std::clamp<i64>(std::min(grains, units), 1, threads);
  // Sleeping threads are woken for as much work as in parallel_for.
  parallel_parts(parts, grains >= 4 * threads,
                 [&](i64 begin, i64 end) { some_units(begin * units / parts, end * units / parts); });
}

/// y = x B for a row vector x.
template <class T>
void row_matrix(const Gemm<T>& g, const T* x) {
  const auto columns = Kernels<T>::gemv_columns.get();
  const auto rows = Kernels<T>::gemv_rows.get();
  share_vector<T>(g.n, g.k, !g.transpose_b, [&](i64 j, i64 j_end) {
    if (g.transpose_b) rows(g.b + j * g.ldb, g.ldb, x, j_end - j, g.k, g.c + j, 1, g.accumulate);
    else columns(x, g.b + j, g.ldb, g.k, j_end - j, g.c + j, g.accumulate);
    Kernels<T>::finish.get()(g, 0, 1, j, j_end);
  });
}

/// y = A x for a column vector x.
template <class T>
void matrix_column(const Gemm<T>& g, const T* x) {
  const auto columns = Kernels<T>::gemv_columns.get();
  const auto rows = Kernels<T>::gemv_rows.get();
  share_vector<T>(g.m, g.k, g.transpose_a, [&](i64 i, i64 i_end) {
    if (g.transpose_a) columns(x, g.a + i, g.lda, g.k, i_end - i, g.c + i, g.accumulate);
    else rows(g.a + i * g.lda, g.lda, x, i_end - i, g.k, g.c + i * g.ldc, g.ldc, g.accumulate);
    Kernels<T>::finish.get()(g, i, i_end, 0, 1);
  });
}

/// Calls f with the k numbers at x with stride `step`, copied to contiguous memory if needed.
template <class T, class F>
void with_contiguous(const T* x, i64 step, i64 k, F f) {
  if (step == 1 || k == 1) return f(x);
  const memory::Scratch scratch(std::size_t(k) * sizeof(T));
  T* copy = static_cast<T*>(scratch.data());
  for (i64 p = 0; p < k; ++p) copy[p] = x[p * step];
  f(copy);
}

/// The product of a row and a column: one number.
template <class T>
void row_column(const Gemm<T>& g, const T* x, const T* y) {
  Kernels<T>::gemv_rows.get()(x, g.k, y, 1, g.k, g.c, 1, g.accumulate);
  Kernels<T>::finish.get()(g, 0, 1, 0, 1);
}

template <class T>
void zeros(const Gemm<T>& g) {
  for (i64 i = 0; i < g.m && !g.accumulate; ++i) std::fill_n(g.c + i * g.ldc, g.n, T(0));
  Kernels<T>::finish.get()(g, 0, g.m, 0, g.n);
}

template <class T>
void run(const Gemm<T>& g) {
  if (g.m <= 0 || g.n <= 0) return;
  if (g.k <= 0) return zeros(g);
  if (g.m == 1 && g.n == 1 && !g.packed_b) {
    with_contiguous(g.a, g.transpose_a ? g.lda : 1, g.k, [&](const T* x) {
      with_contiguous(g.b, g.transpose_b ? 1 : g.ldb, g.k, [&](const T* y) { row_column(g, x, y); });
    });
  } else if (g.m == 1 && !g.packed_b) {
    with_contiguous(g.a, g.transpose_a ? g.lda : 1, g.k, [&](const T* x) { row_matrix(g, x); });
  } else if (g.n == 1 && !g.packed_b && (g.ldc == 1 || !g.transpose_a)) {
    with_contiguous(g.b, g.transpose_b ? 1 : g.ldb, g.k, [&](const T* x) { matrix_column(g, x); });
  } else {
    matrix_matrix(g);
  }
}

template <class T>
void pack(const T* b, i64 ldb, bool transposed, i64 k, i64 n, T* out) {
  const i64 units = (n + column_unit - 1) / column_unit;
  parallel_for(units, std::max<i64>(1, (64 << 10) / (k * column_unit + 1)), [&](i64 first, i64 last) {
    Kernels<T>::pack_b.get()(b, ldb, transposed, k, n, first * column_unit, std::min(last * column_unit, n), out);
  });
}

template <class T>
std::size_t workspace(i64 m, i64 n, i64 k) {
  const Split s = choose_split(m, n, k, threads_now());
  return std::size_t(s.parts()) * std::size_t(Kernels<T>::scratch_size.get()(s.rows, s.columns, k)) * sizeof(T);
}

}  // namespace TANDEM_NS::cpu::product
