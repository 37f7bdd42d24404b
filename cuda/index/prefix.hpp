// Prefix sums of whole numbers that a function gives: each block adds up a chunk, the sums of the chunks are added up,
// and each block walks its chunk once more. For .cu files.
#pragma once
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {
namespace detail {

struct Chunks {
  i64 n, each;
  unsigned count;
  explicit Chunks(i64 total) : n(total) {
    constexpr i64 most = 1024, tile = block_size;
    each = std::max<i64>((n + most - 1) / most, 1);
    each = (each + tile - 1) / tile * tile;
    count = static_cast<unsigned>((n + each - 1) / each);
  }
};
// The sum of the block's values up to the thread's own. `room` has block_size numbers, of which the last is the whole
// sum until the next barrier.
__device__ inline i64 sum_up_to(i64 value, i64* room) {
  room[threadIdx.x] = value;
  __syncthreads();
  for (unsigned step = 1; step < block_size; step *= 2) {
    const i64 before = threadIdx.x >= step ? room[threadIdx.x - step] : 0;
    __syncthreads();
    room[threadIdx.x] += before;
    __syncthreads();
  }
  return room[threadIdx.x];
}
template <class F>
__global__ void __launch_bounds__(block_size) chunk_sums_kernel(F f, Chunks s, i64* sums) {
  __shared__ i64 room[block_size];
  const i64 begin = blockIdx.x * s.each, end = begin + s.each < s.n ? begin + s.each : s.n;
  i64 sum = 0;
  for (i64 i = begin + threadIdx.x; i < end; i += block_size) sum += f(i);
  sum = sum_up_to(sum, room);
  if (threadIdx.x == block_size - 1) sums[blockIdx.x] = sum;
}
template <class F, class G>
__global__ void __launch_bounds__(block_size) place_kernel(F f, Chunks s, const i64* sums, G g) {
  __shared__ i64 room[block_size];
  i64 before = 0;
  for (unsigned b = threadIdx.x; b < blockIdx.x; b += block_size) before += sums[b];
  (void)sum_up_to(before, room);
  before = room[block_size - 1];
  const i64 begin = blockIdx.x * s.each, end = begin + s.each < s.n ? begin + s.each : s.n;
  for (i64 first = begin; first < end; first += block_size) {
    __syncthreads();
    const i64 i = first + threadIdx.x, own = i < end ? f(i) : 0, up_to = sum_up_to(own, room);
    if (i < end) g(i, own, before + up_to - own);
    before += room[block_size - 1];
  }
}

}  // namespace detail

/// Calls g(i, f(i), the sum of f over what is before i) for each i below n.
template <class F, class G>
void each_prefix(const KernelCall& c, i64 n, const F& f, const G& g) {
  if (n == 0) return;
  const detail::Chunks s(n);
  const Scratch sums(c, s.count * sizeof(i64));
  launch(c, &detail::chunk_sums_kernel<F>, s.count, f, s, sums.as<i64>());
  launch(c, &detail::place_kernel<F, G>, s.count, f, s, sums.as<const i64>(), g);
}

}  // namespace TANDEM_NS::cuda
