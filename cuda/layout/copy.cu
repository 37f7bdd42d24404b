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

template <class T>
void copy_as(const KernelCall& c, const AxisList<2, most_axes>& list, void* to, const void* from) {
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
