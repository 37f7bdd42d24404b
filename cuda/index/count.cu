// The CUDA kernels of bincount, histogram_fixed_width and confusion_matrix. Counts are whole numbers, which are added
// atomically; sums of weights are folds of sorted rows (fold_rows.hpp), so results are reproducible.
#include "cuda/index/fold_rows.hpp"
#include "cuda/layout/copy.hpp"
#include "tandem/ops/index/count.hpp"

namespace TANDEM_NS::cuda {
namespace {

using Count = unsigned long long;  // the type of CUDA's atomicAdd

template <class T>
__global__ void __launch_bounds__(block_size) finish_counts_kernel(const Count* counts, T* y, bool once, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const Count k = once && counts[i] > 1 ? 1 : counts[i];
    if constexpr (requires(T z) { z.re; }) y[i] = T(static_cast<typename T::value_type>(k));
    else y[i] = static_cast<T>(k);
  }
}
// The result of one count for each of its elements, which count(counts) adds up.
template <class F>
void counted(const KernelCall& c, bool once, const F& count) {
  const Operand& y = c.out[0];
  const i64 n = y.size();
  const Scratch room(c, static_cast<std::size_t>(n) * sizeof(Count));
  fill_zero(c, room.as<void>(), static_cast<std::size_t>(n) * sizeof(Count));
  count(room.as<Count>());
  if (n == 0) return;
  with_dtype<numbers>(c, y.spec->dtype, [&]<class T>() {
    launch(c, &finish_counts_kernel<T>, blocks_for(n), room.as<const Count>(), y.as<T>(), once, n);
  });
}

// `each` values for a row of `size` counts.
template <class I>
__global__ void __launch_bounds__(block_size) bincount_kernel(const I* x, Count* counts, i64 each, i64 size, i64 n,
                                                              Reporter report, const char* unit, const char* what) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const i64 value = static_cast<i64>(x[i]);
    if (value < 0) report.complain(unit, what, i);
    else if (value < size) atomicAdd(&counts[i / each * size + value], Count(1));
  }
}
template <class T>
__global__ void __launch_bounds__(block_size)
    histogram_kernel(const T* x, const T* range, Count* counts, i64 bins, i64 n, Reporter report, const char* unit,
                     const char* what) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x,
            first = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (!(range[0] < range[1])) {
    if (first == 0) report.complain(unit, what, 0);
    return;
  }
  const double low = static_cast<double>(range[0]), width = static_cast<double>(range[1]) - low,
               last = static_cast<double>(bins - 1);
  for (i64 i = first; i < n; i += step) {
    const double at = (static_cast<double>(x[i]) - low) / width * static_cast<double>(bins);
    atomicAdd(&counts[at > 0 ? static_cast<i64>(at < last ? at : last) : 0], Count(1));  // NaN: the first
  }
}

// The cell of each pair of a label and a prediction; n * n if one is out of range.
template <class I>
__device__ i64 cell_of(const I* labels, const I* found, i64 i, i64 n, const Reporter& report) {
  const i64 row = static_cast<i64>(labels[i]), column = static_cast<i64>(found[i]);
  return report.in_range(row, i, n) && report.in_range(column, i, n) ? row * n + column : n * n;
}
template <class I>
__global__ void __launch_bounds__(block_size)
    confusion_kernel(const I* labels, const I* found, Count* counts, i64 n, i64 count, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    if (const i64 cell = cell_of(labels, found, i, n, report); cell < n * n) atomicAdd(&counts[cell], Count(1));
}
template <class I>
__global__ void __launch_bounds__(block_size)
    confusion_keys_kernel(const I* labels, const I* found, i64* keys, i64* places, i64 n, i64 count, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step)
    keys[i] = cell_of(labels, found, i, n, report), places[i] = i;
}

}  // namespace

void bincount(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::BincountAttrs>();
  const Operand& x = c.in[0];
  const i64 n = x.size(), each = a.rows ? x.shape().dim(-1) : n, size = c.out[0].shape().dim(-1);
  counted(c, a.once, [&](Count* counts) {
    if (n == 0) return;
    with_dtype<dtypes::index>(c, x.spec->dtype, [&]<class I>() {
      launch(c, &bincount_kernel<I>, blocks_for(n), x.as<const I>(), counts, each, size, n, Reporter(c),
             "the value at position", "is negative");
    });
  });
}
void histogram(const KernelCall& c) {
  const Operand &x = c.in[0], &range = c.in[1];
  counted(c, false, [&](Count* counts) {
    with_dtype<dtypes::real>(c, x.spec->dtype, [&]<class T>() {
      launch(c, &histogram_kernel<T>, blocks_for(x.size()), x.as<const T>(), range.as<const T>(), counts,
             c.out[0].size(), x.size(), Reporter(c), "element", "of the range is not below the next one: it is empty");
    });
  });
}
void confusion(const KernelCall& c) {
  const Operand &labels = c.in[0], &found = c.in[1], &y = c.out[0];
  const i64 n = y.shape()[0], count = labels.size();
  with_dtype<dtypes::index>(c, labels.spec->dtype, [&]<class I>() {
    const I *rows = labels.as<const I>(), *columns = found.as<const I>();
    if (c.in.size() < 3)
      return counted(c, false, [&](Count* counts) {
        if (count) launch(c, &confusion_kernel<I>, blocks_for(count), rows, columns, counts, n, count, Reporter(c));
      });
    fill_zero(c, y.data, y.spec->bytes());
    const auto keys = [&](i64* to, i64* places) {
      launch(c, &confusion_keys_kernel<I>, blocks_for(count), rows, columns, to, places, n, count, Reporter(c));
    };
    sorted_by(c, count, 1, n * n, keys, [&](const SortedRows& s) { fold_numbers<Add, false>(c, c.in[2], s); });
  });
}

}  // namespace TANDEM_NS::cuda
