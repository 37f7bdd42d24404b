// Products of integers, and the epilogue of a product or a convolution.
#include "cuda/gemm/gemm.hpp"
#include "cuda/number.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cuda {
namespace {

constexpr int tile = 16;
static_assert(tile * tile == block_size);

// Each block computes one tile of C from tiles of A and B in shared memory.
template <class T>
__global__ void __launch_bounds__(block_size) whole_kernel(Product p, i64 tiles_m, i64 tiles_n) {
  __shared__ T a[tile][tile], b[tile][tile];
  const int x = static_cast<int>(threadIdx.x) % tile, y = static_cast<int>(threadIdx.x) / tile;
  for (i64 block = blockIdx.x; block < p.count * tiles_m * tiles_n; block += gridDim.x) {
    const i64 matrix = block / (tiles_m * tiles_n), rest = block % (tiles_m * tiles_n);
    const i64 row = rest / tiles_n * tile + y, column = rest % tiles_n * tile + x;
    const T* const pa = static_cast<const T*>(p.a) + matrix * p.a_step;
    const T* const pb = static_cast<const T*>(p.b) + matrix * p.b_step;
    T sum = 0;
    for (i64 k = 0; k < p.k; k += tile) {
      const i64 ka = k + x, kb = k + y;
      a[y][x] = row < p.m && ka < p.k ? pa[p.transpose_a ? ka * p.lda + row : row * p.lda + ka] : T(0);
      b[y][x] = column < p.n && kb < p.k ? pb[p.transpose_b ? column * p.ldb + kb : kb * p.ldb + column] : T(0);
      __syncthreads();
      for (int i = 0; i < tile; ++i) sum += a[y][i] * b[i][x];
      __syncthreads();
    }
    if (row >= p.m || column >= p.n) continue;
    T& to = static_cast<T*>(p.c)[matrix * p.c_step + row * p.ldc + column];
    to = p.accumulate ? to + sum : sum;
  }
}

template <Finish F, class T>
__global__ void __launch_bounds__(block_size)
    finish_kernel(T* y, const T* bias, const T* scale, const T* offset, i64 total, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    using W = ComputeOf_t<T>;
    W x = static_cast<W>(y[i]);
    if (bias) x = x + static_cast<W>(bias[i % n]);
    if (scale) x = x * static_cast<W>(scale[i % n]);
    if (offset) x = x + static_cast<W>(offset[i % n]);
    if constexpr (F == Finish::relu) x = rules::max(x, W(0));
    if constexpr (F == Finish::tanh) x = rules::tanh(x);
    if constexpr (F == Finish::sigmoid) x = rules::logistic(x);
    y[i] = static_cast<T>(x);
  }
}

}  // namespace

void whole_gemm(const KernelCall& c, const Product& p) {
  const i64 tiles_m = (p.m + tile - 1) / tile, tiles_n = (p.n + tile - 1) / tile;
  const unsigned blocks = blocks_for(p.count * tiles_m * tiles_n, 1);
  if (size_of(p.dtype) == 4) launch(c, &whole_kernel<std::uint32_t>, blocks, p, tiles_m, tiles_n);
  else launch(c, &whole_kernel<u64>, blocks, p, tiles_m, tiles_n);
}
void finish_rows(const KernelCall& c, DType dtype, void* y, const RowVectors& v, i64 rows, i64 n, Finish activation) {
  const i64 total = rows * n;
  if (total == 0 || (!v.bias && !v.scale && !v.offset && activation == Finish::none)) return;
  with_dtype<dtypes::floating | dtypes::half_floating>(c, dtype, [&]<class T>() {
    const auto run = [&](auto kernel) {
      launch(c, kernel, blocks_for(total), static_cast<T*>(y), static_cast<const T*>(v.bias),
             static_cast<const T*>(v.scale), static_cast<const T*>(v.offset), total, n);
    };
    switch (activation) {
      case Finish::none: return run(&finish_kernel<Finish::none, T>);
      case Finish::relu: return run(&finish_kernel<Finish::relu, T>);
      case Finish::tanh: return run(&finish_kernel<Finish::tanh, T>);
      case Finish::sigmoid: return run(&finish_kernel<Finish::sigmoid, T>);
    }
  });
}

}  // namespace TANDEM_NS::cuda
