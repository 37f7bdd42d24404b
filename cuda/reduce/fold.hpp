// Reductions on the device: one kernel template over the fold. The order of additions depends on shapes only (never
// on the device or the order in which blocks run), so results are reproducible. For .cu files.
//   a fold F: types In, Acc, Out;  Acc start();  Acc take(In x, i64 place, i64 output);  Acc join(Acc, Acc);
//             Out finish(Acc, i64 output)
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
  std::uint32_t outputs, length, lanes, parts;
  bool inner_folded;
  i64 first_output = 0, first_place = 0;  // the numbers of the piece's first output and folded element
};

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
#pragma unroll
    for (std::uint32_t k = 0; k < ahead; ++k)
      acc = f.join(acc, f.take(next[k], p.first_place + i + k * p.lanes, p.first_output + output));
  }
  for (; i < end; i += p.lanes) acc = f.join(acc, f.take(read(i), p.first_place + i, p.first_output + output));
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
// The lanes of one output are adjacent if the innermost axis is folded; the outputs are adjacent if it is kept.
// Memory is read in order either way.
template <class F>
__global__ void __launch_bounds__(block_size)
    fold_kernel(F f, const typename F::In* x, typename F::Out* y, typename F::Acc* partial, FoldPlan p) {
  // Without `partial` the results are final.
  __shared__ typename F::Acc room[block_size];
  const std::uint32_t wide = block_size / p.lanes;
  const std::uint32_t lane = p.inner_folded ? threadIdx.x % p.lanes : threadIdx.x / wide;
  const std::uint32_t column = p.inner_folded ? threadIdx.x / p.lanes : threadIdx.x % wide;
  const std::uint32_t groups = (p.outputs + wide - 1) / wide, each = (p.length + p.parts - 1) / p.parts;
  const std::uint32_t own = lane * wide + column;
  for (u64 block = blockIdx.x; block < static_cast<u64>(groups) * p.parts; block += gridDim.x) {
    const std::uint32_t part = static_cast<std::uint32_t>(block / groups);
    const u64 output = block % groups * wide + column;
    const u64 begin = static_cast<u64>(part) * each, stop = begin + each;
    const auto end = static_cast<std::uint32_t>(stop < p.length ? stop : p.length);
    const typename F::Acc mine = output < p.outputs ? fold_lane(f, x, p, static_cast<std::uint32_t>(output),
                                                                static_cast<std::uint32_t>(begin) + lane, end)
                                                    : f.start();
    const typename F::Acc all = join_lanes(f, room, mine, own, lane, p.lanes, wide);
    if (lane != 0 || output >= p.outputs) continue;
    if (!partial) y[output] = f.finish(all, p.first_output + static_cast<i64>(output));
    else partial[static_cast<u64>(part) * p.outputs + output] = all;
  }
}
// The parts of an output are joined by `lanes` threads; adjacent threads have adjacent outputs.
template <class F>
__global__ void __launch_bounds__(block_size)
    join_parts_kernel(F f, const typename F::Acc* partial, i64 parts, std::uint32_t outputs, std::uint32_t lanes,
                      i64 first_output, typename F::Out* y) {
  __shared__ typename F::Acc room[block_size];
  const std::uint32_t wide = block_size / lanes, lane = threadIdx.x / wide, column = threadIdx.x % wide;
  for (u64 first = static_cast<u64>(blockIdx.x) * wide; first < outputs; first += static_cast<u64>(gridDim.x) * wide) {
    const u64 o = first + column;
    typename F::Acc acc = f.start();
    if (o < outputs)
      for (i64 k = lane; k < parts; k += lanes) acc = f.join(acc, partial[static_cast<u64>(k) * outputs + o]);
    const typename F::Acc all = join_lanes(f, room, acc, lane * wide + column, lane, lanes, wide);
    if (lane == 0 && o < outputs) y[o] = f.finish(all, first_output + static_cast<i64>(o));
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
  const i64 want = 1024 / groups, most = length / (static_cast<i64>(lanes) * 16);
  const i64 parts = std::max<i64>(std::min(want, most), 1);
  return {s.kept.map(),
          s.folded.map(),
          static_cast<std::uint32_t>(outputs),
          static_cast<std::uint32_t>(length),
          lanes,
          static_cast<std::uint32_t>(parts),
          s.inner_folded};
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
  i64 parts = 0;
  each_fold_piece(shape, first, [&](const FoldPlan& p, i64) { parts += p.parts; });
  const Scratch room(c, parts > 1 ? sizeof(Acc) * static_cast<std::size_t>(parts) * outputs : 0);
  Acc* partial = room.template as<Acc>();
  each_fold_piece(shape, first, [&](const FoldPlan& p, i64 at) {
    const i64 wide = block_size / p.lanes, groups = (p.outputs + wide - 1) / wide;
    launch(c, &fold_kernel<F>, blocks_for(groups * p.parts, 1), f, x + at, y, partial, p);
    if (partial) partial += static_cast<i64>(p.parts) * outputs;
  });
  if (parts == 1) return;
  std::uint32_t lanes = 1;
  while (lanes < block_size && lanes * 4 < parts) lanes *= 2;
  launch(c, &join_parts_kernel<F>, blocks_for(outputs, block_size / lanes), f, room.template as<const Acc>(), parts,
         outputs, lanes, first, y);
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
