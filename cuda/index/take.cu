// The CUDA kernels that read at indices: gather_nd, take_along_axis, segment_take and shuffle. An index out of range
// gives zeros and is reported at the next wait. Not here: gather (gather.cu), what writes at indices (scatter.cu).
#include <vector>

#include "cuda/index/nd_index.hpp"
#include "cuda/index/width.hpp"
#include "cuda/number.hpp"
#include "tandem/attrs/random.hpp"
#include "tandem/base/axes.hpp"
#include "tandem/cpu/random/sample.hpp"
#include "tandem/ops/index/gather_nd.hpp"

namespace TANDEM_NS::cuda {
namespace {

template <class T, class I>
__global__ void __launch_bounds__(block_size)
    gather_nd_kernel(const T* x, const I* indices, T* y, NdIndex s, i64 total, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 vector = i / s.inner, at = s.place(indices, vector, report);
    y[i] = at < 0 ? T{} : x[at + i - vector * s.inner];
  }
}

// outer x axis x inner, of the indexed tensor (n along the axis) and of the indices (count).
struct AlongShape {
  i64 n, count, inner;
};
template <class T, class I>
__global__ void __launch_bounds__(block_size)
    take_along_kernel(const T* x, const I* indices, T* y, AlongShape s, i64 total, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 index = static_cast<i64>(indices[i]), outer = i / (s.count * s.inner);
    y[i] = report.in_range(index, i, s.n, -s.n)
               ? x[(outer * s.n + (index < 0 ? index + s.n : index)) * s.inner + i % s.inner]
               : T{};
  }
}

// Row i is row order[i] of the other: y's of x, or for the inverse x's of y.
template <class T>
__global__ void __launch_bounds__(block_size)
    shuffle_kernel(const T* x, const i64* order, T* y, i64 inner, bool inverse, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 row = i / inner, other = order[row] * inner + i - row * inner;
    if (inverse) y[other] = x[i];
    else y[i] = x[other];
  }
}

// Calls f.operator()<T, I>() with a type of the elements' width and that of the indices.
template <class F>
void with_types(const KernelCall& c, const Operand& indices, const F& f) {
  with_dtype<dtypes::index>(c, indices.spec->dtype, [&]<class I>() {
    with_width(c.out[0].spec->dtype, [&]<class T>() { f.template operator()<T, I>(); });
  });
}
void take_rows(const KernelCall& c, const NdIndex& s) {
  const i64 total = c.out[0].size();
  if (total == 0) return;
  with_types(c, c.in[1], [&]<class T, class I>() {
    launch(c, &gather_nd_kernel<T, I>, blocks_for(total), c.in[0].as<const T>(), c.in[1].as<const I>(),
           c.out[0].as<T>(), s, total, Reporter(c));
  });
}

}  // namespace

void gather_nd(const KernelCall& c) {
  take_rows(
      c, NdIndex(c.in[0].shape(), c.in[1].shape(), static_cast<int>(c.attrs.get<rules::GatherNdAttrs>().batch_dims)));
}
void segment_take(const KernelCall& c) {
  NdIndex s(c.in[0].shape(), c.in[1].size());
  s.drops_negative = true;
  take_rows(c, s);
}
void take_along_axis(const KernelCall& c) {
  const Shape &x = c.in[0].shape(), &y = c.out[0].shape();
  const int axis = resolve_axis(c.op, c.attrs.get<rules::AlongAttrs>().axis, x.rank());
  AlongShape s{x[axis], y[axis], 1};
  for (int d = axis + 1; d < y.rank(); ++d) s.inner *= y[d];
  const i64 total = y.size();
  if (total == 0) return;
  with_types(c, c.in[1], [&]<class T, class I>() {
    launch(c, &take_along_kernel<T, I>, blocks_for(total), c.in[0].as<const T>(), c.in[1].as<const I>(),
           c.out[0].as<T>(), s, total, Reporter(c));
  });
}

// The permutation depends on the key alone, which is in host memory, and is drawn one number after the other: by the
// host.
void shuffle(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 n = x.shape().dim(0), total = x.size();
  if (total == 0) return;
  std::vector<i64> order(static_cast<std::size_t>(n));
  cpu::shuffle_order(c.in[1].as<const i64>(), order.data(), n);
  const std::size_t bytes = order.size() * sizeof(i64);
  const Scratch room(c, bytes);
  copy_from_host(queue_of(c), room.as<void>(), order.data(), bytes, c.op);
  const bool inverse = c.attrs.get<rules::ShuffleAttrs>().inverse;
  with_width(c.out[0].spec->dtype, [&]<class T>() {
    launch(c, &shuffle_kernel<T>, blocks_for(total), x.as<const T>(), room.as<const i64>(), y.as<T>(), total / n,
           inverse, total);
  });
}

}  // namespace TANDEM_NS::cuda
