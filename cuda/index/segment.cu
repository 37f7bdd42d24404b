// The CUDA kernels of the sums, products and extrema of numbered rows, by folds of sorted rows (fold_rows.hpp). An id
// out of range, or out of order where ids must be sorted, is reported at the next wait.
#include <limits>

#include "cuda/index/fold_rows.hpp"
#include "cuda/layout/copy.hpp"

namespace TANDEM_NS::cuda {
namespace {

struct Texts {
  const char *unit, *negative, *unsorted;
};
// The ids as they are: sorted. One that is not has no destination.
template <class I>
__global__ void __launch_bounds__(block_size)
    sorted_keys_kernel(const I* ids, i64 rows, i64* keys, i64* places, i64 n, Reporter report, Texts texts) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const bool falls = i > 0 && ids[i] < ids[i - 1];
    if (ids[i] < 0 || falls) report.complain(texts.unit, ids[i] < 0 ? texts.negative : texts.unsorted, i);
    keys[i] = ids[i] < 0 || falls ? rows : static_cast<i64>(ids[i]);
    places[i] = i;
  }
}

// The value of a segment without rows.
template <class F, class T>
T missing_segment(bool sorted) {
  if constexpr (std::is_same_v<F, Max>) return sorted ? T(0) : std::numeric_limits<T>::lowest();
  else if constexpr (std::is_same_v<F, Min>) return sorted ? T(0) : std::numeric_limits<T>::max();
  else return std::is_same_v<F, Multiply> ? T(1) : T(0);
}
template <class F>
void fill_missing(const KernelCall& c, bool sorted) {
  const Operand& y = c.out[0];
  with_dtype<dtypes::real>(c, y.spec->dtype, [&]<class T>() {
    const T missing = missing_segment<F, T>(sorted);
    fill_elements(c, y.data, sizeof(T), &missing, y.size());
  });
}
template <class F>
void unsorted_segments(const KernelCall& c) {
  fill_missing<F>(c, false);
  NdIndex s(c.out[0].shape(), c.in[1].size());
  s.drops_negative = true;
  by_vectors(c, c.in[1], s, [&](const SortedRows& rows) { fold_numbers<F, true>(c, c.in[0], rows); });
}
template <class F>
void sorted_segments(const KernelCall& c) {
  const Operand &x = c.in[0], &ids = c.in[1], &y = c.out[0];
  fill_missing<F>(c, true);
  const i64 n = ids.size(), rows = y.shape()[0];
  if (n == 0) return;
  const Scratch room(c, 2 * static_cast<std::size_t>(n) * sizeof(i64));
  i64* const keys = room.as<i64>();
  const Texts texts{"the segment id at position", "is negative",
                    "follows a larger one; sort them, or use the op for ids in any order, unsorted_segment_..."};
  with_dtype<dtypes::index>(c, ids.spec->dtype, [&]<class I>() {
    launch(c, &sorted_keys_kernel<I>, blocks_for(n), ids.as<const I>(), rows, keys, keys + n, n, Reporter(c), texts);
  });
  if (y.size()) fold_numbers<F, true>(c, x, SortedRows{keys, keys + n, n, y.size() / rows, rows});
}

}  // namespace

void unsorted_segment_sum(const KernelCall& c) { unsorted_segments<Add>(c); }
void unsorted_segment_prod(const KernelCall& c) { unsorted_segments<Multiply>(c); }
void unsorted_segment_max(const KernelCall& c) { unsorted_segments<Max>(c); }
void unsorted_segment_min(const KernelCall& c) { unsorted_segments<Min>(c); }
void segment_sum(const KernelCall& c) { sorted_segments<Add>(c); }
void segment_prod(const KernelCall& c) { sorted_segments<Multiply>(c); }
void segment_max(const KernelCall& c) { sorted_segments<Max>(c); }
void segment_min(const KernelCall& c) { sorted_segments<Min>(c); }

}  // namespace TANDEM_NS::cuda
