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

// How a kernel holds contiguous slices in registers: `each` elements in each of `lanes` threads. None: of any length
// and step, and read from memory again on each pass.
template <unsigned Lanes, unsigned Each>
struct Share {
  static constexpr unsigned lanes = Lanes, each = Each;
};
using Streamed = Share<0, 0>;

// One of the elements that a thread has of a slice: its offset, and its number among them if they are held.
struct Element {
  i64 at;
  unsigned k;
};
// The values of a thread's elements, in registers.
template <class T, unsigned Each>
struct Held {
  T value[Each];
  __device__ T operator()(Element e) const { return value[e.k]; }
};

// One thread's view of its slice and of the other threads that work on it. Its functions f(e) take an Element. The
// thread has the elements lane, lane + lanes, ..., and adds them in this order, whether they are held or not.
template <class T, class S = Streamed>
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
  /// Calls f for each of the thread's elements.
  template <class F>
  __device__ void each(const F& f) const {
    if constexpr (S::each) {
      const unsigned length = static_cast<unsigned>(n);
      const i64 own = base + lane;
#pragma unroll
      for (unsigned k = 0; k < S::each; ++k)
        if (lane + k * S::lanes < length) f(Element{own + k * S::lanes, k});
    } else {
#pragma unroll 4
      for (i64 j = lane; j < n; j += lanes) f(Element{at(j), 0});
    }
  }
  /// f's values, computed once if they are held; f itself, to be called again on each pass, if not. Where it is held,
  /// f is also called for places behind the slice, so it must not read memory.
  template <class F>
  __device__ auto keep(const F& f) const {
    if constexpr (S::each) {
      Held<T, S::each> held;
#pragma unroll
      for (unsigned k = 0; k < S::each; ++k) held.value[k] = f(Element{0, k});
      return held;
    } else {
      return f;
    }
  }
  /// The same of an f that reads memory, which is called for elements of the slice alone.
  template <class F>
  __device__ auto read(const F& f) const {
    if constexpr (S::each) {
      Held<T, S::each> held{};
      each([&](Element e) { held.value[e.k] = f(e); });
      return held;
    } else {
      return f;
    }
  }
  __device__ auto read(const T* x) const {
    return read([x](Element e) { return x[e.at]; });
  }
  template <class F>
  __device__ T sum_of(const F& f) const {
    T s(0);
    each([&](Element e) { s += f(e); });
    return sum(s);
  }
  template <class F>
  __device__ T max_of(const F& f) const {
    T m = -std::numeric_limits<T>::infinity();
    each([&](Element e) { m = rules::max(m, f(e)); });
    return join(m, [](T a, T b) { return rules::max(a, b); });
  }
};

// Every thread of a block takes part in every reduction, so groups beyond the last slice process the last one again.
template <class T, class S = Streamed, class F>
__device__ void for_slices(const Slices& s, const F& f) {
  __shared__ T room[block_size];
  const unsigned lanes = S::each ? S::lanes : s.lanes;
  const i64 inner = S::each ? 1 : s.inner;
  const unsigned lane = threadIdx.x % lanes, group = threadIdx.x / lanes, groups = block_size / lanes;
  for (i64 first = static_cast<i64>(blockIdx.x) * groups; first < s.count;
       first += static_cast<i64>(gridDim.x) * groups) {
    const bool live = first + group < s.count;
    const i64 one = live ? first + group : s.count - 1;
    f(Slice<T, S>{one / inner * inner * s.n + one % inner, s.n, inner, lane, lanes, room + group * lanes}, one, live);
  }
}
/// Calls f.operator()<S>() with the Share S for the slices. By their shape alone; the lanes are those of choose_lanes.
template <class F>
void with_share(const Slices& s, const F& f) {
  if (s.inner != 1 || s.n <= 2 * warp || s.n > 16 * block_size) f.template operator()<Streamed>();
  else if (s.n <= 8 * warp) f.template operator()<Share<warp, 8>>();
  else if (s.n <= 32 * warp) f.template operator()<Share<warp, 32>>();
  else f.template operator()<Share<block_size, 16>>();
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
