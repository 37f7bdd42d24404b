// The kernels of parts.hpp that look at matrices: what is wrong with them, NaN. The others are in factors.cu.
#include "cuda/linalg/parts.hpp"

#include <limits>

#include "cuda/index_map.hpp"
#include "cuda/linalg/elements.hpp"
#include "cuda/report.hpp"

namespace TANDEM_NS::cuda::matrix {
namespace {

constexpr unsigned lanes = 32;
using Found = unsigned long long;

// The largest of these numbers is that of the first matrix, and 0 says that there is none.
__device__ void note(Found* found, i64 m) { atomicMax(found, ~Found(0) - static_cast<Found>(m)); }

__global__ void __launch_bounds__(block_size) report_kernel(const Found* found, Reporter reporter, const char* what) {
  if (first_index() == 0 && *found) reporter.complain("matrix", what, static_cast<i64>(~Found(0) - *found));
}
__global__ void __launch_bounds__(block_size)
    pointers_kernel(void** to, char* base, i64 bytes, IndexMap<2, max_rank> map, std::uint32_t n) {
  for (i64 i = first_index(); i < n; i += index_step()) {
    i64 at[2];
    map.offsets(static_cast<std::uint32_t>(i), at);
    to[at[0]] = base + at[1] * bytes;
  }
}

__global__ void __launch_bounds__(block_size) info_kernel(const int* info, i64 count, Found* found) {
  for (i64 m = first_index(); m < count; m += index_step())
    if (info[m] != 0) note(found, m);
}
template <class S>
__global__ void __launch_bounds__(block_size)
    factor_kernel(const S* l, const S* a, const int* info, i64 count, i64 n, double tolerance, Found* found) {
  for (i64 t = first_index(); t < count * n; t += index_step()) {
    const i64 m = t / n, at = m * n * n + t % n * (n + 1);
    const Modulus<S> root = real_part(l[at]);
    const double square = static_cast<double>(root) * static_cast<double>(root);
    if (info[m] != 0 || !(root > Modulus<S>(0)) || !is_finite(root) ||
        !(square > tolerance * static_cast<double>(real_part(a[at]))))
      note(found, m);
  }
}
template <class S>
__global__ void __launch_bounds__(block_size) zero_diagonal_kernel(const S* a, i64 count, i64 n, Found* found) {
  for (i64 t = first_index(); t < count * n; t += index_step())
    if (a[t / n * n * n + t % n * (n + 1)] == S(0)) note(found, t / n);
}
// A warp sums the terms of a pivot.
template <class S>
__global__ void __launch_bounds__(block_size)
    lost_pivots_kernel(const S* lu, const int* singular, i64 count, i64 n, Found* found) {
  using R = Modulus<S>;
  constexpr i64 rows = block_size / lanes;
  const i64 lane = threadIdx.x % lanes, mine = threadIdx.x / lanes, step = gridDim.x * rows;
  for (i64 first = blockIdx.x * rows; first < count * n; first += step) {  // all threads, for the shuffles
    const i64 row = first + mine, m = row / n, i = row % n;
    const bool is_row = row < count * n;
    const S* const a = lu + m * n * n;
    R sum = 0;
    if (is_row)
      for (i64 k = lane; k < i; k += lanes) sum += magnitude(a[k * n + i]) * magnitude(a[i * n + k]);
    for (int distance = lanes / 2; distance; distance /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, distance);
    if (!is_row || lane != 0) continue;
    const R pivot = magnitude(a[i * n + i]), terms = pivot + sum;
    if (singular[m] != 0 || (pivot <= R(64) * std::numeric_limits<R>::epsilon() * terms && is_finite(terms)))
      note(found, m);
  }
}

template <class S>
__global__ void __launch_bounds__(block_size)
    nonfinite_kernel(const S* a, i64 size, i64 rows, i64 columns, bool lower, int* flags) {
  for (i64 t = first_index(); t < size; t += index_step())
    if ((!lower || t % columns <= t / columns % rows) && !is_finite(a[t])) flags[t / (rows * columns)] = 1;
}
__global__ void __launch_bounds__(block_size) clear_flagged_kernel(int* info, i64 count, const int* flags) {
  for (i64 m = first_index(); m < count; m += index_step())
    if (flags[m]) info[m] = 0;
}
template <class S>
__global__ void __launch_bounds__(block_size) reset_kernel(S* a, i64 size, i64 rows, i64 columns, const int* flags) {
  for (i64 t = first_index(); t < size; t += index_step()) {
    const i64 each = rows * columns;
    if (flags[t / each]) a[t] = t % each % (rows + 1) == 0 ? S(1) : S(0);
  }
}
template <class S>
__global__ void __launch_bounds__(block_size) nan_kernel(S* x, i64 size, i64 each, const int* flags) {
  for (i64 t = first_index(); t < size; t += index_step())
    if (flags[t / each]) x[t] = S(std::numeric_limits<Modulus<S>>::quiet_NaN());
}

Found* of(u64* found) { return reinterpret_cast<Found*>(found); }

}  // namespace

void Failures::report(const char* what) const { launch(c_, &report_kernel, 1, of(found()), Reporter(c_), what); }

void pointers(const KernelCall& c, void** to, const void* base, i64 bytes, const Shape& operand, const Shape& out) {
  AxisList<2, max_rank> list;
  i64 dense[max_rank], from[max_rank], step = 1, own = 1;
  for (int d = out.rank() - 3, o = operand.rank() - 3; d >= 0; --d, --o) {
    const i64 n = o >= 0 ? operand.dim(o) : 1;
    dense[d] = step, from[d] = n == 1 ? 0 : own;
    step *= out.dim(d), own *= n;
  }
  for (int d = 0; d < out.rank() - 2; ++d) {
    const i64 strides[] = {dense[d], from[d]};
    list.add(out.dim(d), strides);
  }
  char* const start = static_cast<char*>(const_cast<void*>(base));
  in_pieces(list, [&](const auto& piece, const i64* at) {
    const i64 n = piece.count();
    launch(c, &pointers_kernel, blocks_for(n), to + at[0], start + at[1] * bytes, bytes, piece.map(),
           static_cast<std::uint32_t>(n));
  });
}

void note_info(const KernelCall& c, const int* info, i64 count, u64* found) {
  launch(c, &info_kernel, blocks_for(count), info, count, of(found));
}
void note_no_factor(const KernelCall& c, DType d, const void* l, const void* a, const int* info, i64 count, i64 n,
                    double tolerance, u64* found) {
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    launch(c, &factor_kernel<S>, blocks_for(count * n), static_cast<const S*>(l), static_cast<const S*>(a), info, count,
           n, tolerance, of(found));
  });
}
void note_zero_diagonal(const KernelCall& c, DType d, const void* a, i64 count, i64 n, u64* found) {
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    launch(c, &zero_diagonal_kernel<S>, blocks_for(count * n), static_cast<const S*>(a), count, n, of(found));
  });
}
void note_lost_pivots(const KernelCall& c, DType d, const void* lu, const int* singular, i64 count, i64 n, u64* found) {
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    launch(c, &lost_pivots_kernel<S>, blocks_for(count * n, block_size / lanes), static_cast<const S*>(lu), singular,
           count, n, of(found));
  });
}

void find_nonfinite(const KernelCall& c, DType d, const void* a, i64 count, i64 rows, i64 columns, bool lower,
                    int* flags) {
  const i64 size = count * rows * columns;
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    launch(c, &nonfinite_kernel<S>, blocks_for(size), static_cast<const S*>(a), size, rows, columns, lower, flags);
  });
}
void clear_flagged(const KernelCall& c, int* info, i64 count, const int* flags) {
  launch(c, &clear_flagged_kernel, blocks_for(count), info, count, flags);
}
void reset_flagged(const KernelCall& c, DType d, void* a, i64 count, i64 rows, i64 columns, const int* flags) {
  const i64 size = count * rows * columns;
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    launch(c, &reset_kernel<S>, blocks_for(size), static_cast<S*>(a), size, rows, columns, flags);
  });
}
void fill_nan(const KernelCall& c, DType d, void* x, i64 count, i64 each, const int* flags) {
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    launch(c, &nan_kernel<S>, blocks_for(count * each), static_cast<S*>(x), count * each, each, flags);
  });
}

}  // namespace TANDEM_NS::cuda::matrix
