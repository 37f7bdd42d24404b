// The kernels of parts.hpp that make something of factors: triangles, permutations, determinants.
#include "cuda/linalg/parts.hpp"

#include <limits>

#include "cuda/linalg/elements.hpp"

namespace TANDEM_NS::cuda::matrix {
namespace {

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
__global__ void __launch_bounds__(block_size)
    upper_kernel(const S* factors, i64 ld, i64 each, S* r, i64 size, i64 k, i64 n) {
  for (i64 t = first_index(); t < size; t += index_step()) {
    const i64 i = t / n % k, j = t % n;
    r[t] = i <= j ? factors[t / (k * n) * each + j * ld + i] : S(0);
  }
}
// A thread has a column of q, which it begins as one of the identity. The last reflection comes first; those behind the
// column's number leave it as it is.
template <class S>
__global__ void __launch_bounds__(block_size)
    orthogonal_kernel(const S* factors, i64 each, const S* tau, S* q, i64 columns, i64 m, i64 k, i64 size) {
  for (i64 t = first_index(); t < columns; t += index_step()) {
    const i64 matrix = t / k, column = t % k;
    const S* const f = factors + matrix * each;
    S* const y = q + matrix * m * k + column;
    for (i64 i = 0; i < m; ++i) y[i * k] = i == column ? S(1) : S(0);
    for (i64 h = column < size ? column : size - 1; h >= 0; --h) {
      const S* const v = f + h * m;  // its element h is 1
      S dot = y[h * k];
      for (i64 i = h + 1; i < m; ++i) dot = dot + conjugated(v[i]) * y[i * k];
      dot = dot * tau[matrix * size + h];
      y[h * k] = y[h * k] - dot;
      for (i64 i = h + 1; i < m; ++i) y[i * k] = y[i * k] - v[i] * dot;
    }
  }
}

// The numbers of modulus 1 that the rows of r are multiples of; 1 for rows whose diagonal is real.
template <class T>
__global__ void __launch_bounds__(block_size)
    phase_kernel(const Complex<T>* r, i64 size, i64 k, i64 n, Complex<T>* phases) {
  for (i64 t = first_index(); t < size; t += index_step()) {
    const i64 row = t % k;
    const Complex<T> z = row < n ? r[t * n + row] : Complex<T>(T(1));
    phases[t] = z.im == T(0) ? Complex<T>(T(1)) : z / Complex<T>(modulus(z));
  }
}
template <class T>
__global__ void __launch_bounds__(block_size)
    turn_rows_kernel(Complex<T>* r, i64 size, i64 k, i64 n, const Complex<T>* phases) {
  for (i64 t = first_index(); t < size; t += index_step()) {
    r[t] = r[t] * conjugated(phases[t / n]);
    if (t / n % k == t % n) r[t].im = T(0);
  }
}
template <class T>
__global__ void __launch_bounds__(block_size)
    turn_columns_kernel(Complex<T>* q, i64 size, i64 m, i64 k, const Complex<T>* phases) {
  for (i64 t = first_index(); t < size; t += index_step()) q[t] = q[t] * phases[t / (m * k) * k + t % k];
}

// A thread has a matrix: the product is in the order of the CPU's.
template <class S, class P>
__global__ void __launch_bounds__(block_size)
    determinant_kernel(const S* lu, const P* pivots, const int* singular, i64 count, i64 n, S* sign, Modulus<S>* log) {
  using R = Modulus<S>;
  for (i64 m = first_index(); m < count; m += index_step()) {
    if (singular[m]) {
      sign[m] = S(0);
      if (log) log[m] = -std::numeric_limits<R>::infinity();
      continue;
    }
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
template <class P>
__global__ void __launch_bounds__(block_size) clamp_kernel(P* pivots, i64 total, i64 rows, i64 size) {
  for (i64 t = first_index(); t < total; t += index_step()) {
    const P least = static_cast<P>(t % size + 1);
    if (pivots[t] < least || pivots[t] > static_cast<P>(rows)) pivots[t] = least;
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

}  // namespace

void clear_above(const KernelCall& c, DType d, void* a, i64 count, i64 n) {
  with_dtype<matrix_dtypes>(
      c, d, [&]<class S>() { launch(c, &clear_kernel<S>, blocks_for(count * n, 1), static_cast<S*>(a), count, n); });
}
void identities(const KernelCall& c, DType d, void* to, i64 count, i64 rows, i64 columns) {
  const i64 size = count * rows * columns;
  if (size == 0) return;
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    launch(c, &identity_kernel<S>, blocks_for(size), static_cast<S*>(to), size, rows, columns);
  });
}
void upper_triangle(const KernelCall& c, DType d, const void* factors, i64 ld, i64 each, void* r, i64 count, i64 k,
                    i64 n) {
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    launch(c, &upper_kernel<S>, blocks_for(count * k * n), static_cast<const S*>(factors), ld, each, static_cast<S*>(r),
           count * k * n, k, n);
  });
}
void orthogonal_factors(const KernelCall& c, DType d, const void* factors, i64 each, const void* tau, void* q,
                        i64 count, i64 m, i64 k, i64 size) {
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    launch(c, &orthogonal_kernel<S>, blocks_for(count * k), static_cast<const S*>(factors), each,
           static_cast<const S*>(tau), static_cast<S*>(q), count * k, m, k, size);
  });
}

void make_diagonal_real(const KernelCall& c, DType d, void* q, void* r, i64 count, i64 m, i64 k, i64 n) {
  const auto run = [&]<class T>(T) {
    using S = Complex<T>;
    const Scratch room(c, static_cast<std::size_t>(count * k) * sizeof(S));
    S *const phases = room.as<S>(), *const rows = static_cast<S*>(r);
    launch(c, &phase_kernel<T>, blocks_for(count * k), rows, count * k, k, n, phases);
    launch(c, &turn_rows_kernel<T>, blocks_for(count * k * n), rows, count * k * n, k, n, phases);
    launch(c, &turn_columns_kernel<T>, blocks_for(count * m * k), static_cast<S*>(q), count * m * k, m, k, phases);
  };
  if (d == DType::complex64) run(float());
  if (d == DType::complex128) run(double());
}

void determinants(const KernelCall& c, DType d, const void* lu, Pivots p, const int* singular, i64 count, i64 n,
                  void* sign, void* log) {
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    const auto run = [&](const auto* pivots) {
      launch(c, &determinant_kernel<S, std::remove_cvref_t<decltype(*pivots)>>, blocks_for(count),
             static_cast<const S*>(lu), pivots, singular, count, n, static_cast<S*>(sign),
             static_cast<Modulus<S>*>(log));
    };
    if (p.wide) run(static_cast<const i64*>(p.data));
    else run(static_cast<const int*>(p.data));
  });
}
void clamp_pivots(const KernelCall& c, void* pivots, bool wide, i64 count, i64 rows, i64 size) {
  const i64 total = count * size;
  if (wide) launch(c, &clamp_kernel<i64>, blocks_for(total), static_cast<i64*>(pivots), total, rows, size);
  else launch(c, &clamp_kernel<int>, blocks_for(total), static_cast<int*>(pivots), total, rows, size);
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

void divide_columns(const KernelCall& c, DType d, void* v, const void* s, i64 count, i64 n, i64 k, double cut) {
  const i64 size = count * n * k;
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    launch(c, &divide_kernel<S>, blocks_for(size), static_cast<S*>(v), static_cast<const Modulus<S>*>(s), size, n, k,
           static_cast<Modulus<S>>(cut));
  });
}
void times_others(const KernelCall& c, DType d, void* u, const void* s, const void* det_u, const void* det_v, i64 count,
                  i64 n) {
  with_dtype<matrix_dtypes>(c, d, [&]<class S>() {
    const Scratch room(c, static_cast<std::size_t>(count * n) * sizeof(Modulus<S>));
    Modulus<S>* const others = room.as<Modulus<S>>();
    launch(c, &others_kernel<S>, blocks_for(count * n), static_cast<const Modulus<S>*>(s), others, count * n, n);
    launch(c, &times_kernel<S>, blocks_for(count * n * n), static_cast<S*>(u), others, static_cast<const S*>(det_u),
           static_cast<const S*>(det_v), count * n * n, n);
  });
}

}  // namespace TANDEM_NS::cuda::matrix
