// The kernels of parts.hpp.
#include "cuda/linalg/parts.hpp"

#include <cmath>
#include <limits>

#include "cuda/index_map.hpp"
#include "cuda/number.hpp"
#include "cuda/report.hpp"

namespace TANDEM_NS::cuda::matrix {
namespace {

constexpr DTypes matrices = dtypes::floating | dtypes::complex | DType::complex128;
constexpr unsigned lanes = 32;
using Found = unsigned long long;

template <class S>
struct ModulusOf {
  using type = S;
};
template <class T>
struct ModulusOf<Complex<T>> {
  using type = T;
};
template <class S>
using Modulus = typename ModulusOf<S>::type;

template <class T>
__device__ T real_part(T x) {
  return x;
}
template <class T>
__device__ T real_part(Complex<T> x) {
  return x.re;
}
template <class T>
__device__ T conjugated(T x) {
  return x;
}
template <class T>
__device__ Complex<T> conjugated(Complex<T> x) {
  return {x.re, -x.im};
}
template <class T>
__device__ T absolute(T x) {
  return x < T(0) ? -x : x;
}
/// |re| + |im|, as the CPU's kernels measure pivots.
template <class T>
__device__ T magnitude(T x) {
  return absolute(x);
}
template <class T>
__device__ T magnitude(Complex<T> x) {
  return absolute(x.re) + absolute(x.im);
}
template <class T>
__device__ T modulus(T x) {
  return absolute(x);
}
template <class T>
__device__ T modulus(Complex<T> x) {
  return static_cast<T>(::hypot(static_cast<double>(x.re), static_cast<double>(x.im)));
}
template <class T>
__device__ bool is_finite(T x) {
  return x - x == T(0);
}
template <class T>
__device__ bool is_finite(Complex<T> x) {
  return is_finite(x.re) && is_finite(x.im);
}

__device__ i64 first_index() { return static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ i64 index_step() { return static_cast<i64>(gridDim.x) * blockDim.x; }
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
__global__ void __launch_bounds__(block_size) lost_pivots_kernel(const S* lu, i64 count, i64 n, Found* found) {
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
    if (pivot <= R(64) * std::numeric_limits<R>::epsilon() * terms && is_finite(terms)) note(found, m);
  }
}

// A block has a row, of which it writes what is right of the diagonal.
template <class S>
__global__ void __launch_bounds__(block_size) clear_kernel(S* a, i64 count, i64 n) {
  for (i64 row = blockIdx.x; row < count * n; row += gridDim.x)
    for (i64 j = row % n + 1 + threadIdx.x; j < n; j += blockDim.x) a[row * n + j] = S(0);
}
template <class S>
__global__ void __launch_bounds__(block_size) identity_kernel(S* to, i64 size, i64 rows, i64 columns) {
  for (i64 t = first_index(); t < size; t += index_step()) to[t] = t / columns % rows == t % columns ? S(1) : S(0);
}
template <class S>
__global__ void __launch_bounds__(block_size) upper_kernel(const S* factors, i64 ld, S* r, i64 size, i64 n) {
  for (i64 t = first_index(); t < size; t += index_step()) {
    const i64 i = t / n, j = t % n;
    r[t] = i <= j ? factors[j * ld + i] : S(0);
  }
}

// A thread has a matrix: the product is in the order of the CPU's.
template <class S, class P>
__global__ void __launch_bounds__(block_size)
    determinant_kernel(const S* lu, const P* pivots, i64 count, i64 n, S* sign, Modulus<S>* log) {
  using R = Modulus<S>;
  for (i64 m = first_index(); m < count; m += index_step()) {
    S product(1);
    R sum = 0;
    for (i64 i = 0; i < n; ++i) {
      S pivot = lu[m * n * n + i * (n + 1)];
      if (pivots[m * n + i] != static_cast<P>(i + 1)) pivot = -pivot;
      if (!log) {
        product = product * pivot;
        continue;
      }
      const R size = modulus(pivot);
      sum += static_cast<R>(::log(static_cast<double>(size)));
      product = product * (size == R(0) ? S(0) : pivot / S(size));
    }
    sign[m] = product;
    if (log) log[m] = sum;
  }
}
// The row that is i at the end, followed backward through the exchanges.
template <class P, class I>
__global__ void __launch_bounds__(block_size)
    permutation_kernel(const P* pivots, i64 count, i64 rows, i64 size, I* to) {
  for (i64 t = first_index(); t < count * rows; t += index_step()) {
    const P* const of = pivots + t / rows * size;
    i64 row = t % rows;
    for (i64 k = size; k-- > 0;) {
      const i64 other = static_cast<i64>(of[k]) - 1;
      row = row == k ? other : row == other ? k : row;
    }
    to[t] = static_cast<I>(row);
  }
}

template <class S>
__global__ void __launch_bounds__(block_size)
    nonfinite_kernel(const S* a, i64 size, i64 rows, i64 columns, bool lower, int* flags) {
  for (i64 t = first_index(); t < size; t += index_step())
    if ((!lower || t % columns <= t / columns % rows) && !is_finite(a[t])) flags[t / (rows * columns)] = 1;
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

template <class S>
__global__ void __launch_bounds__(block_size)
    divide_kernel(S* v, const Modulus<S>* s, i64 size, i64 n, i64 k, Modulus<S> cut) {
  using R = Modulus<S>;
  for (i64 t = first_index(); t < size; t += index_step()) {
    const R* const of = s + t / (n * k) * k;
    const R value = of[t % k];
    v[t] = v[t] * S(value <= cut * of[0] ? R(0) : R(1) / value);
  }
}
template <class S>
__global__ void __launch_bounds__(block_size) others_kernel(const Modulus<S>* s, Modulus<S>* others, i64 size, i64 n) {
  for (i64 t = first_index(); t < size; t += index_step()) {
    Modulus<S> product = 1;
    for (i64 k = 0; k < n; ++k)
      if (k != t % n) product *= s[t / n * n + k];
    others[t] = product;
  }
}
template <class S>
__global__ void __launch_bounds__(block_size)
    times_kernel(S* u, const Modulus<S>* others, const S* det_u, const S* det_v, i64 size, i64 n) {
  for (i64 t = first_index(); t < size; t += index_step()) {
    const i64 m = t / (n * n);
    u[t] = conjugated(u[t]) * (det_u[m] * conjugated(det_v[m])) * S(others[m * n + t % n]);
  }
}

template <class F>
void with_matrix(const KernelCall& c, DType d, F&& f) {
  with_dtype<matrices>(c, d, f);
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
  with_matrix(c, d, [&]<class S>() {
    launch(c, &factor_kernel<S>, blocks_for(count * n), static_cast<const S*>(l), static_cast<const S*>(a), info, count,
           n, tolerance, of(found));
  });
}
void note_zero_diagonal(const KernelCall& c, DType d, const void* a, i64 count, i64 n, u64* found) {
  with_matrix(c, d, [&]<class S>() {
    launch(c, &zero_diagonal_kernel<S>, blocks_for(count * n), static_cast<const S*>(a), count, n, of(found));
  });
}
void note_lost_pivots(const KernelCall& c, DType d, const void* lu, i64 count, i64 n, u64* found) {
  with_matrix(c, d, [&]<class S>() {
    launch(c, &lost_pivots_kernel<S>, blocks_for(count * n, block_size / lanes), static_cast<const S*>(lu), count, n,
           of(found));
  });
}

void clear_above(const KernelCall& c, DType d, void* a, i64 count, i64 n) {
  with_matrix(c, d,
              [&]<class S>() { launch(c, &clear_kernel<S>, blocks_for(count * n, 1), static_cast<S*>(a), count, n); });
}
void identities(const KernelCall& c, DType d, void* to, i64 count, i64 rows, i64 columns) {
  const i64 size = count * rows * columns;
  if (size == 0) return;
  with_matrix(c, d, [&]<class S>() {
    launch(c, &identity_kernel<S>, blocks_for(size), static_cast<S*>(to), size, rows, columns);
  });
}
void upper_triangle(const KernelCall& c, DType d, const void* factors, i64 ld, void* r, i64 k, i64 n) {
  with_matrix(c, d, [&]<class S>() {
    launch(c, &upper_kernel<S>, blocks_for(k * n), static_cast<const S*>(factors), ld, static_cast<S*>(r), k * n, n);
  });
}

void determinants(const KernelCall& c, DType d, const void* lu, Pivots p, i64 count, i64 n, void* sign, void* log) {
  with_matrix(c, d, [&]<class S>() {
    const auto run = [&](const auto* pivots) {
      launch(c, &determinant_kernel<S, std::remove_cvref_t<decltype(*pivots)>>, blocks_for(count),
             static_cast<const S*>(lu), pivots, count, n, static_cast<S*>(sign), static_cast<Modulus<S>*>(log));
    };
    if (p.wide) run(static_cast<const i64*>(p.data));
    else run(static_cast<const int*>(p.data));
  });
}
void permutations(const KernelCall& c, Pivots p, i64 count, i64 rows, i64 size, void* to, DType index) {
  const auto run = [&](const auto* pivots, auto* rows_of) {
    launch(c, &permutation_kernel<std::remove_cvref_t<decltype(*pivots)>, std::remove_cvref_t<decltype(*rows_of)>>,
           blocks_for(count * rows), pivots, count, rows, size, rows_of);
  };
  const auto with_pivots = [&](auto* rows_of) {
    if (p.wide) run(static_cast<const i64*>(p.data), rows_of);
    else run(static_cast<const int*>(p.data), rows_of);
  };
  if (index == DType::int32) with_pivots(static_cast<std::int32_t*>(to));
  else with_pivots(static_cast<i64*>(to));
}

void find_nonfinite(const KernelCall& c, DType d, const void* a, i64 count, i64 rows, i64 columns, bool lower,
                    int* flags) {
  const i64 size = count * rows * columns;
  with_matrix(c, d, [&]<class S>() {
    launch(c, &nonfinite_kernel<S>, blocks_for(size), static_cast<const S*>(a), size, rows, columns, lower, flags);
  });
}
void reset_flagged(const KernelCall& c, DType d, void* a, i64 count, i64 rows, i64 columns, const int* flags) {
  const i64 size = count * rows * columns;
  with_matrix(c, d, [&]<class S>() {
    launch(c, &reset_kernel<S>, blocks_for(size), static_cast<S*>(a), size, rows, columns, flags);
  });
}
void fill_nan(const KernelCall& c, DType d, void* x, i64 count, i64 each, const int* flags) {
  with_matrix(c, d, [&]<class S>() {
    launch(c, &nan_kernel<S>, blocks_for(count * each), static_cast<S*>(x), count * each, each, flags);
  });
}

void divide_columns(const KernelCall& c, DType d, void* v, const void* s, i64 count, i64 n, i64 k, double cut) {
  const i64 size = count * n * k;
  with_matrix(c, d, [&]<class S>() {
    launch(c, &divide_kernel<S>, blocks_for(size), static_cast<S*>(v), static_cast<const Modulus<S>*>(s), size, n, k,
           static_cast<Modulus<S>>(cut));
  });
}
void times_others(const KernelCall& c, DType d, void* u, const void* s, const void* det_u, const void* det_v, i64 count,
                  i64 n) {
  with_matrix(c, d, [&]<class S>() {
    const Scratch room(c, static_cast<std::size_t>(count * n) * sizeof(Modulus<S>));
    Modulus<S>* const others = room.as<Modulus<S>>();
    launch(c, &others_kernel<S>, blocks_for(count * n), static_cast<const Modulus<S>*>(s), others, count * n, n);
    launch(c, &times_kernel<S>, blocks_for(count * n * n), static_cast<S*>(u), others, static_cast<const S*>(det_u),
           static_cast<const S*>(det_v), count * n * n, n);
  });
}

}  // namespace TANDEM_NS::cuda::matrix
