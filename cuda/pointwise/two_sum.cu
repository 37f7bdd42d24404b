// The CUDA kernels of sums that also give their rounding errors. Rows that meet at one destination are added by one
// thread, in their order (index/fold_rows.hpp).
#include "cuda/index/fold_rows.hpp"

namespace TANDEM_NS::cuda {
namespace {

// The error of s = x + y; 0 where s is not finite.
template <class T>
__device__ T error_of_sum(T x, T y, T s) {
  const T added = s - x, error = (x - (s - added)) + (y - added);
  return error - error == T(0) ? error : T(0);
}
template <class T>
__global__ void __launch_bounds__(block_size) two_sum_kernel(const T* x, const T* y, T* sum, T* error, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const T a = x[i], b = y[i], s = a + b;
    sum[i] = s;
    error[i] = error_of_sum(a, b, s);
  }
}
// `width`: the numbers of a row.
template <class T>
__global__ void __launch_bounds__(block_size)
    two_sum_rows_kernel(const T* x, SortedRows rows, i64 width, T* sums, T* errors) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, total = rows.count * width;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 first = i / width, column = i - first * width, key = rows.keys[first];
    if (key >= rows.rows || (first > 0 && rows.keys[first - 1] == key)) continue;
    T sum = sums[key * width + column], error = errors[key * width + column];
    for (i64 k = first; k < rows.count && rows.keys[k] == key; ++k) {
      const T row = x[rows.places[k] * width + column] + error, s = sum + row;
      error = error_of_sum(sum, row, s);
      sum = s;
    }
    sums[key * width + column] = sum, errors[key * width + column] = error;
  }
}
// Calls f with a null pointer to the type of the real numbers of which an element has one or two, and how many.
template <class F>
void with_real_type(DType d, const F& f) {
  const i64 numbers = is_complex(d) ? 2 : 1;
  if (d == DType::float32 || d == DType::complex64) f(static_cast<float*>(nullptr), numbers);
  else f(static_cast<double*>(nullptr), numbers);
}

}  // namespace

void two_sum(const KernelCall& c) {
  if (c.in[0].size() == 0) return;
  with_real_type(c.in[0].spec->dtype, [&]<class T>(T*, i64 numbers) {
    const i64 n = c.in[0].size() * numbers;
    launch(c, &two_sum_kernel<T>, blocks_for(n), c.in[0].as<const T>(), c.in[1].as<const T>(), c.out[0].as<T>(),
           c.out[1].as<T>(), n);
  });
}
void two_sum_rows(const KernelCall& c) {
  for (std::size_t k = 0; k < 2; ++k)
    if (c.out[k].data != c.in[k].data && c.in[k].size())
      check(cudaMemcpyAsync(c.out[k].data, c.in[k].data, c.in[k].spec->bytes(), cudaMemcpyDeviceToDevice,
                            queue_of(c).stream),
            c.op, "copy");
  by_vectors(c, c.in[2], NdIndex(c.out[0].shape(), c.in[2].size()), [&](const SortedRows& rows) {
    with_real_type(c.in[0].spec->dtype, [&]<class T>(T*, i64 numbers) {
      const i64 width = rows.inner * numbers;
      launch(c, &two_sum_rows_kernel<T>, blocks_for(rows.count * width), c.in[3].as<const T>(), rows, width,
             c.out[0].as<T>(), c.out[1].as<T>());
    });
  });
}

}  // namespace TANDEM_NS::cuda
