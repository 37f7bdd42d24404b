// The CUDA kernels of gather, its gradient, slices_to_dense and one_hot. Sums are computed in the order of the
// indices, so results are reproducible. An index out of range gives zeros and is reported at the next wait.
#include "cuda/index/sort.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/number.hpp"
#include "cuda/report.hpp"
#include "tandem/base/axes.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/mask.hpp"

namespace TANDEM_NS::cuda {
namespace {

// The four counts of a gather: batches, outer elements, indices per batch, elements per row; and the size of the
// axis.
struct GatherShape {
  i64 batch = 1, outer = 1, count = 1, inner = 1, n;

  GatherShape(const Shape& x, const Shape& idx, int axis, int batch_dims) : n(x[axis]) {
    for (int i = 0; i < batch_dims; ++i) batch *= x[i];
    for (int i = batch_dims; i < axis; ++i) outer *= x[i];
    for (int i = batch_dims; i < idx.rank(); ++i) count *= idx[i];
    for (int i = axis + 1; i < x.rank(); ++i) inner *= x[i];
  }
};
struct alignas(16) Wide {
  u64 half[2];
};

// Moves rows in units as wide as their length and addresses allow.
template <class T, class I>
__global__ void __launch_bounds__(block_size)
    gather_kernel(const T* x, const I* indices, T* y, GatherShape s, i64 units, i64 total, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 row = i / units, unit = i - row * units;
    const i64 group = row / s.count, place = group / s.outer * s.count + (row - group * s.count);
    const i64 index = static_cast<i64>(indices[place]);
    y[i] = report.in_range(index, place, s.n) ? x[(group * s.n + index) * units + unit] : T{};
  }
}
template <class T, class I>
void gather_units(const KernelCall& c, const GatherShape& s, i64 bytes) {
  const i64 units = bytes / static_cast<i64>(sizeof(T)), total = s.batch * s.outer * s.count * units;
  launch(c, &gather_kernel<T, I>, blocks_for(total), c.in[0].as<const T>(), c.in[1].as<const I>(), c.out[0].as<T>(), s,
         units, total, Reporter(c));
}
template <class I>
void gather_of(const KernelCall& c, const GatherShape& s) {
  const i64 bytes = s.inner * static_cast<i64>(size_of(c.in[0].spec->dtype));
  if (s.batch * s.outer * s.count * bytes == 0) return;
  const auto bits = static_cast<std::uintptr_t>(bytes) | reinterpret_cast<std::uintptr_t>(c.in[0].data) |
                    reinterpret_cast<std::uintptr_t>(c.out[0].data);
  if (bits % 16 == 0) return gather_units<Wide, I>(c, s, bytes);
  if (bits % 8 == 0) return gather_units<u64, I>(c, s, bytes);
  if (bits % 4 == 0) return gather_units<std::uint32_t, I>(c, s, bytes);
  if (bits % 2 == 0) return gather_units<std::uint16_t, I>(c, s, bytes);
  gather_units<std::uint8_t, I>(c, s, bytes);
}

// The thread of a segment's first position adds one column of all its rows. Keys are batch * n + row.
template <class T>
__global__ void __launch_bounds__(block_size)
    add_rows_kernel(const T* g, const i64* keys, const i64* places, GatherShape s, T* y, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, count = s.batch * s.count;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 k = i / s.inner % count, outer = i / (s.inner * count), column = i % s.inner, key = keys[k];
    const i64 batch = key / s.n;
    if (batch >= s.batch || (k > 0 && keys[k - 1] == key)) continue;
    const T* const from = g + ((batch * s.outer + outer) * s.count - batch * s.count) * s.inner + column;
    using W = typename WideNumber<T>::type;
    W sum = static_cast<W>(from[places[k] * s.inner]);
    for (i64 j = k + 1; j < count && keys[j] == key; ++j)
      sum = static_cast<W>(sum + static_cast<W>(from[places[j] * s.inner]));
    y[((batch * s.outer + outer) * s.n + key - batch * s.n) * s.inner + column] = static_cast<T>(sum);
  }
}
void scatter_add(const KernelCall& c, int axis, int batch_dims) {
  const Operand& y = c.out[0];
  const GatherShape s(y.shape(), c.in[1].shape(), axis, batch_dims);
  fill_zero(c, y.data, y.spec->bytes());
  const i64 count = s.batch * s.count, total = count * s.outer * s.inner;
  if (total == 0 || s.n == 0) return;  // every index is out of range: the forward op reports it
  const Scratch sorted(c, 2 * static_cast<std::size_t>(count) * sizeof(i64));
  i64 *keys = sorted.as<i64>(), *places = keys + count;
  sort_rows(c, c.in[1], s.batch, s.n, keys, places);
  with_dtype<numbers>(c, y.spec->dtype, [&]<class T>() {
    launch(c, &add_rows_kernel<T>, blocks_for(total), c.in[0].as<const T>(), keys, places, s, y.as<T>(), total);
  });
}

template <class T, class I>
__global__ void __launch_bounds__(block_size)
    one_hot_kernel(const I* indices, const T* on, const T* off, T* y, i64 depth, i64 inner, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 outer = i / (depth * inner), rest = i - outer * depth * inner, place = rest / inner;
    y[i] = static_cast<i64>(indices[outer * inner + rest - place * inner]) == place ? *on : *off;
  }
}
template <class T>
void one_hot_of(const KernelCall& c, i64 depth, i64 inner) {
  const i64 total = c.out[0].size();
  const auto run = [&]<class I>(I*) {
    launch(c, &one_hot_kernel<T, I>, blocks_for(total), c.in[0].as<const I>(), c.in[1].as<const T>(),
           c.in[2].as<const T>(), c.out[0].as<T>(), depth, inner, total);
  };
  if (c.in[0].spec->dtype == DType::int64) run(static_cast<i64*>(nullptr));
  else run(static_cast<std::int32_t*>(nullptr));
}

}  // namespace

void gather(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::GatherAttrs>();
  const Shape& x = c.in[0].shape();
  const GatherShape s(x, c.in[1].shape(), resolve_axis(c.op, a.axis, x.rank()), static_cast<int>(a.batch_dims));
  if (c.in[1].spec->dtype == DType::int64) gather_of<i64>(c, s);
  else gather_of<std::int32_t>(c, s);
}
void gather_grad(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::GatherAttrs>();
  scatter_add(c, resolve_axis(c.op, a.axis, c.out[0].shape().rank()), static_cast<int>(a.batch_dims));
}
void slices_to_dense(const KernelCall& c) { scatter_add(c, 0, 0); }
void one_hot(const KernelCall& c) {
  const Shape& y = c.out[0].shape();
  if (y.size() == 0) return;
  const int axis = resolve_axis(c.op, c.attrs.get<rules::OneHotAttrs>().axis, y.rank());
  i64 inner = 1;
  for (int d = axis + 1; d < y.rank(); ++d) inner *= y[d];
  switch (size_of(c.out[0].spec->dtype)) {
    case 1: return one_hot_of<std::uint8_t>(c, y[axis], inner);
    case 2: return one_hot_of<std::uint16_t>(c, y[axis], inner);
    case 4: return one_hot_of<std::uint32_t>(c, y[axis], inner);
    case 8: return one_hot_of<u64>(c, y[axis], inner);
    default: return one_hot_of<Wide>(c, y[axis], inner);
  }
}

}  // namespace TANDEM_NS::cuda
