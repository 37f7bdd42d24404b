// Reductions on the device: one kernel template over the fold. The order of additions depends on shapes only (never
// on the device or the order in which blocks run), so results are reproducible. For .cu files.
//   a fold F: types In, Acc, Out;  Acc start();  Acc take(In x, i64 place, i64 output);  Acc join(Acc, Acc);
//             Out finish(Acc, i64 output)
//   optional: Acc take_group(const In (&x)[N]), of N elements of one output at once, where positions do not matter
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>

#include "cuda/index_map.hpp"
#include "cuda/number.hpp"
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

/// A dense array whose axes are kept or folded. Kept and folded elements are counted in row-major order.
struct FoldShape {
  AxisList<1, 2 * max_rank> kept, folded;
  bool inner_folded = true;

  /// Adds an axis inside those added before; strides are computed once all axes are added.
  void add(i64 n, i64 stride, bool fold) {
    if (n == 1) return;
    (fold ? folded : kept).add(n, &stride);
    inner_folded = fold;
  }
};

/// The shape with the axes in `mask` folded.
inline FoldShape fold_shape(const Shape& s, std::uint32_t mask) {
  FoldShape f;
  i64 stride[max_rank], step = 1;
  for (int d = s.rank() - 1; d >= 0; --d) {
    stride[d] = step;
    step *= s[d];
  }
  for (int d = 0; d < s.rank(); ++d) f.add(s[d], stride[d], mask >> d & 1u);
  return f;
}

namespace detail {

// How a block of 256 threads maps to outputs and folded elements of a piece that 32 bits can count, and into how many
// parts its fold is divided.
struct FoldPlan {
  IndexMap<1, 2 * max_rank> kept, folded;
  std::uint32_t outputs, length, lanes, parts, each;  // each: the folded elements of a part
  bool inner_folded, dense;                           // dense: those of an output are adjacent in memory
  i64 first_output = 0, first_place = 0;              // the numbers of the piece's first output and folded element
  i64 first_part = 0, all_parts = 0;                  // all_parts: of all pieces, if this is the last; 0 if not
};

// acc joined with N elements, `hop` places apart.
template <class F, std::uint32_t N>
__device__ __forceinline__ typename F::Acc take_elements(const F& f, typename F::Acc acc, const typename F::In (&x)[N],
                                                         i64 place, std::uint32_t hop, i64 output) {
  if constexpr (requires { f.take_group(x); }) {
    return f.join(acc, f.take_group(x));
  } else {
#pragma unroll
    for (std::uint32_t k = 0; k < N; ++k) acc = f.join(acc, f.take(x[k], place + k * hop, output));
    return acc;
  }
}
template <class F>
__device__ typename F::Acc fold_lane(const F& f, const typename F::In* x, const FoldPlan& p, std::uint32_t output,
                                     std::uint32_t first, std::uint32_t end) {
  typename F::Acc acc = f.start();
  i64 base;
  p.kept.offsets(output, &base);
  const auto read = [&](std::uint32_t i) {
    i64 at;
    p.folded.offsets(i, &at);
    return x[base + at];
  };
  // Loads in flight, for which a chain of additions would wait one by one.
  constexpr std::uint32_t ahead = sizeof(typename F::In) <= 8 ? 8 : 4;
  std::uint32_t i = first;
  for (; i + (ahead - 1) * p.lanes < end; i += ahead * p.lanes) {
    typename F::In next[ahead];
#pragma unroll
    for (std::uint32_t k = 0; k < ahead; ++k) next[k] = read(i + k * p.lanes);
    acc = take_elements(f, acc, next, p.first_place + i, p.lanes, p.first_output + output);
  }
  for (; i < end; i += p.lanes) acc = f.join(acc, f.take(read(i), p.first_place + i, p.first_output + output));
  return acc;
}

// What one load moves.
template <class In>
struct alignas(16) Pack {
  static constexpr std::uint32_t size = 16 / sizeof(In);
  In x[size];
};
// The same of adjacent elements, by packs: lane k has the packs k, k + lanes, ... from `begin` on. So it is where x is
// not aligned, too: its address changes no sum.
template <class F>
__device__ typename F::Acc fold_dense(const F& f, const typename F::In* x, const FoldPlan& p, std::uint32_t output,
                                      std::uint32_t begin, std::uint32_t end, std::uint32_t lane) {
  using In = typename F::In;
  constexpr std::uint32_t size = Pack<In>::size, ahead = sizeof(In) < 4 ? 2 : 4;
  typename F::Acc acc = f.start();
  const auto take = [&](const In(&x)[size], std::uint32_t i) {
    acc = take_elements(f, acc, x, p.first_place + i, 1, p.first_output + output);
  };
  i64 base;
  p.kept.offsets(output, &base);
  const In* const row = x + base;
  const std::uint32_t hop = p.lanes * size;
  std::uint32_t i = begin + lane * size;
  if (reinterpret_cast<std::uintptr_t>(row + begin) % sizeof(Pack<In>) == 0)
    for (; i + (ahead - 1) * hop + size <= end; i += ahead * hop) {
      Pack<In> next[ahead];
#pragma unroll
      for (std::uint32_t k = 0; k < ahead; ++k) next[k] = *reinterpret_cast<const Pack<In>*>(row + i + k * hop);
#pragma unroll
      for (std::uint32_t k = 0; k < ahead; ++k) take(next[k].x, i + k * hop);
    }
  for (; i < end; i += hop) {
    In next[size]{};
#pragma unroll
    for (std::uint32_t e = 0; e < size; ++e)
      if (i + e < end) next[e] = row[i + e];
    if (i + size <= end) {
      take(next, i);
      continue;
    }
#pragma unroll
    for (std::uint32_t e = 0; e < size; ++e)
      if (i + e < end) acc = f.join(acc, f.take(next[e], p.first_place + i + e, p.first_output + output));
  }
  return acc;
}
// Joins the lanes of one output; its first thread has the result.
template <class F>
__device__ typename F::Acc join_lanes(const F& f, typename F::Acc* room, typename F::Acc own, std::uint32_t at,
                                      std::uint32_t lane, std::uint32_t lanes, std::uint32_t wide) {
  room[at] = own;
  __syncthreads();
  for (std::uint32_t half = lanes / 2; half; half /= 2) {
    if (lane < half) room[at] = f.join(room[at], room[at + half * wide]);
    __syncthreads();
  }
  const typename F::Acc r = room[at];
  __syncthreads();
  return r;
}
// Blocks into which the fold of few outputs is divided: about twice what 132 multiprocessors run at once. Blocks of
// less work would spend most of their time on joining what they have read.
constexpr i64 most_blocks = 1024;
// How many blocks have written their part of each group of outputs. Zero between kernels, of which a device runs one
// after the other.
static __device__ std::uint32_t arrived[most_blocks / 2];

// Whether the block is the last of the group to have written its part, and so may read all. Who writes fences before.
__device__ inline bool is_last(std::uint32_t group, std::uint32_t parts) {
  __syncthreads();
  bool last = parts == 1;
  if (!last && threadIdx.x == 0) {
    last = atomicAdd(&arrived[group], 1u) == parts - 1;
    if (last) arrived[group] = 0;
  }
  if (!__syncthreads_or(last)) return false;
  __threadfence();
  return true;
}
// The lanes of one output are adjacent if the innermost axis is folded; the outputs are adjacent if it is kept.
// Memory is read in order either way. The block that is the last of its outputs joins their parts, in their order.
template <class F>
__global__ void __launch_bounds__(block_size)
    fold_kernel(F f, const typename F::In* x, typename F::Out* y, typename F::Acc* partial, FoldPlan p) {
  // Without `partial` the results are final.
  __shared__ typename F::Acc room[block_size];
  const std::uint32_t wide = block_size / p.lanes;
  const std::uint32_t lane = p.inner_folded ? threadIdx.x % p.lanes : threadIdx.x / wide;
  const std::uint32_t column = p.inner_folded ? threadIdx.x / p.lanes : threadIdx.x % wide;
  const std::uint32_t groups = (p.outputs + wide - 1) / wide, own = lane * wide + column;
  for (u64 block = blockIdx.x; block < static_cast<u64>(groups) * p.parts; block += gridDim.x) {
    const auto part = static_cast<std::uint32_t>(block / groups), group = static_cast<std::uint32_t>(block % groups);
    const u64 output = static_cast<u64>(group) * wide + column;
    const bool live = output < p.outputs;
    const auto number = static_cast<std::uint32_t>(output);
    const std::uint32_t begin = part * p.each, end = p.length - begin < p.each ? p.length : begin + p.each;
    typename F::Acc acc = f.start();
    if (live)
      acc = p.dense ? fold_dense(f, x, p, number, begin, end, lane) : fold_lane(f, x, p, number, begin + lane, end);
    acc = join_lanes(f, room, acc, own, lane, p.lanes, wide);
    if (partial) {
      if (live && lane == 0) {
        partial[static_cast<u64>(p.first_part + part) * p.outputs + output] = acc;
        __threadfence();
      }
      if (!p.all_parts || !is_last(group, p.parts)) continue;
      acc = f.start();
      if (live)
#pragma unroll 8
        for (i64 k = lane; k < p.all_parts; k += p.lanes)
          acc = f.join(acc, partial[static_cast<u64>(k) * p.outputs + output]);
      acc = join_lanes(f, room, acc, own, lane, p.lanes, wide);
    }
    if (live && lane == 0) y[output] = f.finish(acc, p.first_output + static_cast<i64>(output));
  }
}

#ifdef TANDEM_CUDA_EMULATED
constexpr i64 fold_limit = i64(1) << 15;  // so that tests reach several pieces
#else
constexpr i64 fold_limit = index_limit;
#endif

inline FoldPlan plan_fold(const FoldShape& s) {
  const i64 outputs = s.kept.count(), length = s.folded.count();
  // Lanes per output: as many as leave four elements to each, but no fewer than a warp reads in order.
  std::uint32_t lanes = s.inner_folded ? 8 : 1;
  while (lanes < block_size && static_cast<i64>(lanes) * 4 < length) lanes *= 2;
  if (!s.inner_folded)
    while (lanes > 8 && static_cast<i64>(block_size / lanes) < outputs && block_size / lanes < 32) lanes /= 2;
  const i64 groups = (outputs + block_size / lanes - 1) / (block_size / lanes);
  const i64 want = most_blocks / groups, most = length / (static_cast<i64>(lanes) * 16);
  // A part begins at a pack, of which the smallest elements have 16.
  const i64 parts = std::max<i64>(std::min(want, most), 1), each = ((length + parts - 1) / parts + 15) / 16 * 16;
  return {s.kept.map(),
          s.folded.map(),
          static_cast<std::uint32_t>(outputs),
          static_cast<std::uint32_t>(length),
          lanes,
          static_cast<std::uint32_t>(std::max<i64>((length + each - 1) / std::max<i64>(each, 1), 1)),
          static_cast<std::uint32_t>(each),
          s.inner_folded,
          s.folded.axes == 1 && s.folded.stride[0][0] == 1};
}
// Calls f(plan, where the piece begins in x) for pieces of the folded elements.
template <class F>
void each_fold_piece(FoldShape s, i64 first_output, const F& f) {
  i64 place = 0;
  in_pieces(
      s.folded,
      [&](const AxisList<1, 2 * max_rank>& folded, const i64(&at)[1]) {
        s.folded = folded;
        FoldPlan p = plan_fold(s);
        p.first_output = first_output, p.first_place = place;
        place += p.length;
        f(p, at[0]);
      },
      fold_limit);
}
// The outputs of a piece that 32 bits can count, whose first is number `first`, to y.
template <class F>
void fold_outputs(const KernelCall& c, const F& f, const typename F::In* x, const FoldShape& shape, i64 first,
                  typename F::Out* y) {
  using Acc = typename F::Acc;
  const auto outputs = static_cast<std::uint32_t>(shape.kept.count());
  i64 all = 0, before = 0;
  each_fold_piece(shape, first, [&](const FoldPlan& p, i64) { all += p.parts; });
  const Scratch room(c, all > 1 ? sizeof(Acc) * static_cast<std::size_t>(all) * outputs : 0);
  each_fold_piece(shape, first, [&](FoldPlan p, i64 at) {
    const i64 wide = block_size / p.lanes, groups = (p.outputs + wide - 1) / wide;
    p.first_part = before, before += p.parts;
    p.all_parts = before == all ? all : 0;
    launch(c, &fold_kernel<F>, blocks_for(groups * p.parts, 1), f, x + at, y,
           all > 1 ? room.template as<Acc>() : nullptr, p);
  });
}

}  // namespace detail

/// y[o] = finish(join over the folded elements of take(x)), for each kept element o. Beyond 2^31 - 1 outputs, or
/// elements folded into one, in pieces.
template <class F>
void fold(const KernelCall& c, const F& f, const typename F::In* x, FoldShape shape, typename F::Out* y) {
  if (shape.kept.count() == 0) return;
  i64 first = 0;
  in_pieces(
      shape.kept,
      [&](const AxisList<1, 2 * max_rank>& kept, const i64(&at)[1]) {
        shape.kept = kept;
        detail::fold_outputs(c, f, x + at[0], shape, first, y + first);
        first += kept.count();
      },
      detail::fold_limit);
}

}  // namespace TANDEM_NS::cuda
