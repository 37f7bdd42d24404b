// Sorting of index rows, by CUB's radix sort (part of the toolkit's headers).
#include "cuda/index/sort.hpp"

#include <cub/device/device_radix_sort.cuh>

#include <bit>

#include "cuda/report.hpp"

namespace TANDEM_NS::cuda {
namespace {

template <class I>
__global__ void __launch_bounds__(block_size)
    keys_kernel(const I* indices, i64 n, i64 batch, i64 limit, i64* keys, i64* places, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, each = n / batch;
  for (i64 k = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; k < n; k += step) {
    const i64 row = static_cast<i64>(indices[k]);
    keys[k] = report.in_range(row, k, limit) ? k / each * limit + row : batch * limit;
    places[k] = k;
  }
}

// N: the type that counts, on which CUB's kernels depend.
template <class N, class K, class V>
void sort_by(const KernelCall& c, i64 count, int bits, const K* keys, K* sorted, const V* values, V* places) {
  const cudaStream_t stream = queue_of(c).stream;
  const N n = static_cast<N>(count);
  std::size_t bytes = 0;
  check(cub::DeviceRadixSort::SortPairs(nullptr, bytes, keys, sorted, values, places, n, 0, bits, stream), c.op,
        "sort");
  const Scratch room(c, bytes);
  check(cub::DeviceRadixSort::SortPairs(room.as<void>(), bytes, keys, sorted, values, places, n, 0, bits, stream), c.op,
        "sort");
}

}  // namespace

void sort_pairs(const KernelCall& c, i64 n, int bits, const i64* keys, i64* sorted, const i64* values, i64* places) {
  sort_by<i64>(c, n, bits, keys, sorted, values, places);
}
void sort_pairs(const KernelCall& c, i64 n, int bits, const u64* keys, u64* sorted, const std::uint32_t* values,
                std::uint32_t* places) {
  sort_by<std::int32_t>(c, n, bits, keys, sorted, values, places);
}
void sort_pairs(const KernelCall& c, i64 n, int bits, const std::uint32_t* keys, std::uint32_t* sorted,
                const std::uint32_t* values, std::uint32_t* places) {
  sort_by<std::int32_t>(c, n, bits, keys, sorted, values, places);
}

void sort_rows(const KernelCall& c, const Operand& indices, i64 batch, i64 limit, i64* keys, i64* places) {
  const i64 n = indices.size();
  if (n == 0) return;
  const Scratch unsorted(c, 2 * static_cast<std::size_t>(n) * sizeof(i64));
  i64 *raw = unsorted.as<i64>(), *values = raw + n;
  if (indices.spec->dtype == DType::int64)
    launch(c, &keys_kernel<i64>, blocks_for(n), indices.as<const i64>(), n, batch, limit, raw, values, Reporter(c));
  else
    launch(c, &keys_kernel<std::int32_t>, blocks_for(n), indices.as<const std::int32_t>(), n, batch, limit, raw, values,
           Reporter(c));
  sort_pairs(c, n, static_cast<int>(std::bit_width(static_cast<u64>(batch * limit))), raw, keys, values, places);
}

}  // namespace TANDEM_NS::cuda
