// The kernels of strided copies and fills. Elements are moved as unsigned integers of the same width.
#include "cuda/layout/copy.hpp"

#include <cstring>

#include "cuda/driver/device.hpp"
#include "cuda/index_map.hpp"
#include "cuda/number.hpp"
#include "tandem/attrs/create.hpp"

namespace TANDEM_NS::cuda {
namespace {

constexpr int most_axes = cpu::StridedCopy::max_axes;
struct alignas(16) Wide {
  u64 half[2];
};

template <class T, class Map>
__global__ void __launch_bounds__(block_size) copy_kernel(T* to, const T* from, Map map, std::uint32_t n) {
  const std::uint32_t step = gridDim.x * blockDim.x;
  for (std::uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
    i64 at[2];
    map.offsets(i, at);
    to[at[0]] = from[at[1]];
  }
}

// The side of a square tile, whose rows and columns a block moves in whole sectors of memory.
template <class T>
inline constexpr unsigned tile_side = sizeof(T) <= 4 ? 64 : 32;
// Where the rows of a tile are adjacent in `from`, and its columns in `to`. A tile's offsets are those in `to` and
// `from`, and the numbers of its first row and column.
using TileMap = IndexMap<4, most_axes>;
struct Matrix {
  i64 rows, columns, from_step, to_step;  // from one row to the next in `from`, from one column to the next in `to`
};
// Through shared memory, with a column more than needed: a column of the tile then lies in different banks. Four blocks
// to a multiprocessor, so that some load while others store.
template <class T>
__global__ void __launch_bounds__(block_size, 4)
    transpose_kernel(T* to, const T* from, TileMap map, Matrix m, std::uint32_t tiles) {
  constexpr unsigned side = tile_side<T>, high = block_size / side;
  __shared__ T tile[side][side + 1];
  const unsigned x = threadIdx.x % side, y = threadIdx.x / side;
  for (std::uint32_t t = blockIdx.x; t < tiles; t += gridDim.x) {
    i64 at[4];
    map.offsets(t, at);
    const i64 left[] = {m.rows - at[2], m.columns - at[3]};
    const unsigned rows = left[0] < side ? static_cast<unsigned>(left[0]) : side,
                   columns = left[1] < side ? static_cast<unsigned>(left[1]) : side;
    const T* source = from + at[1] + y * m.from_step + x;
    T* target = to + at[0] + y * m.to_step + x;
    T own[side / high]{};  // all loads are under way before the first is waited for
#pragma unroll
    for (unsigned k = 0; k < side / high; ++k, source += high * m.from_step)
      if (y + k * high < rows && x < columns) own[k] = *source;
#pragma unroll
    for (unsigned k = 0; k < side / high; ++k) tile[y + k * high][x] = own[k];
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < side / high; ++k, target += high * m.to_step)
      if (y + k * high < columns && x < rows) *target = tile[x][y + k * high];
    __syncthreads();
  }
}
template <class T>
__global__ void __launch_bounds__(block_size) fill_kernel(T* to, T value, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) to[i] = value;
}
template <class T>
__global__ void __launch_bounds__(block_size) conjugate_kernel(Complex<T>* x, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) x[i].im = -x[i].im;
}
#ifndef TANDEM_CUDA_EMULATED
__global__ void probe_kernel() {}
#endif

// Sorts axes by descending output stride, so that adjacent threads write adjacent elements.
void sort_axes(cpu::StridedCopy& n) {
  for (int i = 1; i < n.axes; ++i)
    for (int k = i; k > 0 && std::abs(n.to[k]) > std::abs(n.to[k - 1]); --k) {
      std::swap(n.to[k], n.to[k - 1]);
      std::swap(n.from[k], n.from[k - 1]);
      std::swap(n.size[k], n.size[k - 1]);
    }
}

// Copies by tiles if elements that are adjacent in `from` are not adjacent in `to`, and there are enough of both.
template <class T>
bool transpose_as(const KernelCall& c, const AxisList<2, most_axes>& list, T* to, const T* from) {
  constexpr i64 side = tile_side<T>, least = 16;
  int row = -1, column = -1;
  for (int d = 0; d < list.axes; ++d)
    if (list.size[d] >= least) {
      if (list.stride[0][d] == 1) row = d;
      if (list.stride[1][d] == 1) column = d;
    }
  if (row < 0 || column < 0 || row == column) return false;
  const Matrix m{list.size[row], list.size[column], list.stride[1][row], list.stride[0][column]};
  AxisList<4, most_axes> tiles;
  for (int d = 0; d < list.axes; ++d) {
    const i64 many = d == row || d == column ? side : 1;
    const i64 step[] = {many * list.stride[0][d], many * list.stride[1][d], d == row ? side : 0,
                        d == column ? side : 0};
    tiles.add((list.size[d] + many - 1) / many, step);
  }
  in_pieces(tiles, [&](const auto& piece, const i64* at) {
    const i64 n = piece.count();
    const Matrix rest{m.rows - at[2], m.columns - at[3], m.from_step, m.to_step};
    launch(c, &transpose_kernel<T>, blocks_for(n, 1), to + at[0], from + at[1], piece.map(), rest,
           static_cast<std::uint32_t>(n));
  });
  return true;
}
template <class T>
void copy_as(const KernelCall& c, const AxisList<2, most_axes>& list, void* to, const void* from) {
  if (transpose_as(c, list, static_cast<T*>(to), static_cast<const T*>(from))) return;
  in_pieces(list, [&](const auto& piece, const i64* at) {
    const i64 n = piece.count();
    launch(c, &copy_kernel<T, IndexMap<2, most_axes>>, blocks_for(n), static_cast<T*>(to) + at[0],
           static_cast<const T*>(from) + at[1], piece.map(), static_cast<std::uint32_t>(n));
  });
}
template <class T>
void fill_as(const KernelCall& c, void* to, const void* element, i64 n) {
  T value;
  std::memcpy(&value, element, sizeof value);
  launch(c, &fill_kernel<T>, blocks_for(n), static_cast<T*>(to), value, n);
}

}  // namespace

void copy_strided(const KernelCall& c, const cpu::StridedCopy& nest, std::size_t width, void* to, const void* from) {
  cpu::StridedCopy n = nest;
  sort_axes(n);
  AxisList<2, most_axes> list;
  for (int d = 0; d < n.axes; ++d) {
    const i64 step[] = {n.to[d], n.from[d]};
    list.add(n.size[d], step);
  }
  if (list.count() == 0) return;
  if (list.axes == 0 || (list.axes == 1 && list.stride[0][0] == 1 && list.stride[1][0] == 1))
    return check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(list.count()) * width, cudaMemcpyDeviceToDevice,
                                 queue_of(c).stream),
                 c.op, "copy");
  switch (width) {
    case 1: return copy_as<std::uint8_t>(c, list, to, from);
    case 2: return copy_as<std::uint16_t>(c, list, to, from);
    case 4: return copy_as<std::uint32_t>(c, list, to, from);
    case 8: return copy_as<u64>(c, list, to, from);
    default: return copy_as<Wide>(c, list, to, from);
  }
}
void fill_elements(const KernelCall& c, void* to, std::size_t width, const void* element, i64 n) {
  if (n == 0) return;
  switch (width) {
    case 1: return fill_as<std::uint8_t>(c, to, element, n);
    case 2: return fill_as<std::uint16_t>(c, to, element, n);
    case 4: return fill_as<std::uint32_t>(c, to, element, n);
    case 8: return fill_as<u64>(c, to, element, n);
    default: return fill_as<Wide>(c, to, element, n);
  }
}
void fill_zero(const KernelCall& c, void* to, std::size_t bytes) {
  if (bytes) check(cudaMemsetAsync(to, 0, bytes, queue_of(c).stream), c.op, "memset");
}
void conjugate(const KernelCall& c, const Operand& x) {
  const i64 n = x.size();
  if (n == 0) return;
  if (x.spec->dtype == DType::complex64) launch(c, &conjugate_kernel<float>, blocks_for(n), x.as<Complex<float>>(), n);
  if (x.spec->dtype == DType::complex128)
    launch(c, &conjugate_kernel<double>, blocks_for(n), x.as<Complex<double>>(), n);
}

cudaError_t probe() {
#ifdef TANDEM_CUDA_EMULATED
  return emulator::supports_device() ? cudaSuccess : cudaErrorNoKernelImageForDevice;
#else
  cudaFuncAttributes a;
  const cudaError_t status = cudaFuncGetAttributes(&a, probe_kernel);
  if (status != cudaSuccess) (void)cudaGetLastError();
  return status;
#endif
}

}  // namespace TANDEM_NS::cuda
