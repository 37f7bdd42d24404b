// Slices of a tensor along an axis, each processed by a group of threads of one block: softmax and normalizations.
// For .cu files.
#pragma once
#include <limits>

#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cuda {

inline constexpr unsigned warp = 32;

// `outer` x `inner` slices of n elements, `inner` apart; a small operand has one value per slice.
struct Slices {
  i64 count, n, inner;
  unsigned lanes;  // threads that share a slice, a power of two

  // Four elements a lane, up to a warp, which needs no barriers and is enough for 1024. By n alone: a slice gives the
  // same bits beside few others and beside many.
  void choose_lanes() {
    while (lanes < (n <= 1024 ? warp : block_size) && lanes * 4 < n) lanes *= 2;
  }
};

// One thread's view of its slice and of the other threads that work on it.
template <class T>
struct Slice {
  i64 base, n, step;
  unsigned lane, lanes;
  T* room;  // of the group

  __device__ i64 at(i64 j) const { return base + j * step; }
  /// Combines one value of each thread by a commutative f; the tree is fixed.
  template <class Join>
  __device__ T join(T x, const Join& f) const {
    for (unsigned distance = (lanes < warp ? lanes : warp) / 2; distance; distance /= 2)
      x = f(x, __shfl_xor_sync(~0u, x, static_cast<int>(distance)));
    if (lanes <= warp) return x;
    if (lane % warp == 0) room[lane / warp] = x;
    __syncthreads();
    T r = room[0];
    for (unsigned k = 1; k < lanes / warp; ++k) r = f(r, room[k]);
    __syncthreads();
    return r;
  }
  __device__ T sum(T x) const {
    return join(x, [](T a, T b) { return a + b; });
  }
  /// The sum of f(j) over the slice.
  template <class F>
  __device__ T sum_of(const F& f) const {
    T s(0);
#pragma unroll 4
    for (i64 j = lane; j < n; j += lanes) s += f(at(j));
    return sum(s);
  }
  __device__ T max_of(const T* x) const {
    T m = -std::numeric_limits<T>::infinity();
#pragma unroll 4
    for (i64 j = lane; j < n; j += lanes) m = rules::max(m, x[at(j)]);
    return join(m, [](T a, T b) { return rules::max(a, b); });
  }
  template <class F>
  __device__ void each(const F& f) const {
    for (i64 j = lane; j < n; j += lanes) f(at(j));
  }
};

// Every thread of a block takes part in every reduction, so groups beyond the last slice process the last one again.
template <class T, class F>
__device__ void for_slices(const Slices& s, const F& f) {
  __shared__ T room[block_size];
  const unsigned lane = threadIdx.x % s.lanes, group = threadIdx.x / s.lanes, groups = block_size / s.lanes;
  for (i64 first = static_cast<i64>(blockIdx.x) * groups; first < s.count;
       first += static_cast<i64>(gridDim.x) * groups) {
    const bool live = first + group < s.count;
    const i64 one = live ? first + group : s.count - 1;
    f(Slice<T>{one / s.inner * s.inner * s.n + one % s.inner, s.n, s.inner, lane, s.lanes, room + group * s.lanes}, one,
      live);
  }
}
inline Slices slices_of(const Shape& x, int axis) {
  Slices s{1, x[axis], 1, 8};
  for (int d = 0; d < axis; ++d) s.count *= x[d];
  for (int d = axis + 1; d < x.rank(); ++d) s.inner *= x[d];
  s.count *= s.inner;
  s.choose_lanes();
  return s;
}
inline unsigned blocks_of(const Slices& s) { return blocks_for(s.count, block_size / s.lanes); }

}  // namespace TANDEM_NS::cuda
