// The CUDA kernels that write at indices: scatters and their kin, gradients of gather_nd and take_along_axis, segments
// in any order. Rows are sorted by their destination; one thread folds what goes to an element, in the order of the
// indices, so results are reproducible. An index out of range writes nothing and is reported at the next wait.
#include <bit>
#include <limits>

#include "cuda/index/nd_index.hpp"
#include "cuda/index/sort.hpp"
#include "cuda/layout/copy.hpp"
#include "cuda/reduce/folds.hpp"
#include "tandem/base/axes.hpp"
#include "tandem/ops/index/gather_nd.hpp"

namespace TANDEM_NS::cuda {
namespace {

struct alignas(16) Wide {
  u64 half[2];
};

struct Update {
  template <class T>
  using Value = T;
  template <class T>
  static TANDEM_HD T join(T, T x) {
    return x;
  }
};
struct Add {
  template <class T>
  using Value = typename WideNumber<T>::type;
  template <class T>
  static TANDEM_HD T join(T a, T x) {
    return static_cast<T>(a + x);
  }
};
struct Multiply {
  template <class T>
  using Value = T;
  template <class T>
  static TANDEM_HD T join(T a, T x) {
    return ProdFold<T>().join(a, x);
  }
};
struct Max {
  template <class T>
  using Value = T;
  template <class T>
  static TANDEM_HD T join(T a, T x) {
    return a < x || x != x ? x : a;
  }
};
struct Min {
  template <class T>
  using Value = T;
  template <class T>
  static TANDEM_HD T join(T a, T x) {
    return x < a || x != x ? x : a;
  }
};

// What is folded: the destination row of each of `count` rows, sorted, and where each lies.
struct SortedRows {
  const i64 *keys, *places;
  i64 count, inner, rows;  // keys from `rows` on have no destination
};
// The thread of a destination's first row folds one column of all its rows. Fresh: what was there before is replaced.
template <class F, bool Fresh, class T>
__global__ void __launch_bounds__(block_size) fold_rows_kernel(const T* x, SortedRows s, T* y) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x, total = s.count * s.inner;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 first = i / s.inner, column = i - first * s.inner, key = s.keys[first];
    if (key >= s.rows || (first > 0 && s.keys[first - 1] == key)) continue;
    T& to = y[key * s.inner + column];
    using Value = typename F::template Value<T>;
    const auto row = [&](i64 k) { return static_cast<Value>(x[s.places[k] * s.inner + column]); };
    Value value = Fresh ? row(first) : F::join(static_cast<Value>(to), row(first));
    for (i64 k = first + 1; k < s.count && s.keys[k] == key; ++k) value = F::join(value, row(k));
    to = static_cast<T>(value);
  }
}
template <class I>
__global__ void __launch_bounds__(block_size)
    nd_keys_kernel(const I* indices, NdIndex s, i64 none_of, i64* keys, i64* places, i64 n, Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const i64 at = s.place(indices, i, report);
    keys[i] = at < 0 || s.inner == 0 ? none_of : at / s.inner;
    places[i] = i;
  }
}
template <class I>
__global__ void __launch_bounds__(block_size)
    along_keys_kernel(const I* indices, i64 size, i64 count, i64 inner, i64 none_of, i64* keys, i64* places, i64 n,
                      Reporter report) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const i64 index = static_cast<i64>(indices[i]), outer = i / (count * inner);
    const bool fits = report.in_range(index, i, size, -size);
    keys[i] = fits ? (outer * size + (index < 0 ? index + size : index)) * inner + i % inner : none_of;
    places[i] = i;
  }
}

// Calls fold(rows) for n rows of `inner` elements, whose keys below `rows` make_keys(keys, places) writes.
template <class K, class F>
void sorted_by(const KernelCall& c, i64 n, i64 inner, i64 rows, const K& make_keys, const F& fold) {
  if (n == 0) return;
  const Scratch room(c, 4 * static_cast<std::size_t>(n) * sizeof(i64));
  i64* const keys = room.as<i64>();
  make_keys(keys, keys + n);
  if (inner == 0 || rows == 0) return;
  sort_pairs(c, n, static_cast<int>(std::bit_width(static_cast<u64>(rows))), keys, keys + 2 * n, keys + n,
             keys + 3 * n);
  fold(SortedRows{keys + 2 * n, keys + 3 * n, n, inner, rows});
}
template <class F, bool Fresh, class T>
void fold_rows(const KernelCall& c, const Operand& x, const SortedRows& s) {
  launch(c, &fold_rows_kernel<F, Fresh, T>, blocks_for(s.count * s.inner), x.as<const T>(), s, c.out[0].as<T>());
}
template <class F, bool Fresh>
void fold_numbers(const KernelCall& c, const Operand& x, const SortedRows& s) {
  constexpr DTypes set = std::is_same_v<F, Add> ? numbers : dtypes::real;
  constexpr bool ordered = std::is_same_v<F, Max> || std::is_same_v<F, Min>;
  with_dtype<set>(c, x.spec->dtype, [&]<class S>() {
    fold_rows<F, Fresh, std::conditional_t<ordered, S, typename WrapOf<S>::type>>(c, x, s);
  });
}
template <class F>
void fold_into(const KernelCall& c, const Operand& x, const SortedRows& s) {
  if constexpr (!std::is_same_v<F, Update>) return fold_numbers<F, false>(c, x, s);
  else switch (size_of(x.spec->dtype)) {
      case 1: return fold_rows<Update, true, std::uint8_t>(c, x, s);
      case 2: return fold_rows<Update, true, std::uint16_t>(c, x, s);
      case 4: return fold_rows<Update, true, std::uint32_t>(c, x, s);
      case 8: return fold_rows<Update, true, u64>(c, x, s);
      default: return fold_rows<Update, true, Wide>(c, x, s);
    }
}
template <class F>
void by_vectors(const KernelCall& c, const Operand& indices, const NdIndex& s, const F& fold) {
  const i64 n = s.vectors(), rows = s.inner ? c.out[0].size() / s.inner : 0;
  const auto keys = [&](i64* to, i64* places) {
    with_dtype<dtypes::index>(c, indices.spec->dtype, [&]<class I>() {
      launch(c, &nd_keys_kernel<I>, blocks_for(n), indices.as<const I>(), s, rows, to, places, n, Reporter(c));
    });
  };
  sorted_by(c, n, s.inner, rows, keys, fold);
}
void add_into_zeros(const KernelCall& c, const Operand& indices, const Operand& x, const NdIndex& s) {
  fill_zero(c, c.out[0].data, c.out[0].spec->bytes());
  by_vectors(c, indices, s, [&](const SortedRows& rows) { fold_into<Add>(c, x, rows); });
}
// in0, changed by in2 at the indices in1.
template <class F>
void change(const KernelCall& c, const NdIndex& s) {
  const Operand &x = c.in[0], &y = c.out[0];
  if (y.data != x.data && y.size())
    check(cudaMemcpyAsync(y.data, x.data, y.spec->bytes(), cudaMemcpyDeviceToDevice, queue_of(c).stream), c.op, "copy");
  by_vectors(c, c.in[1], s, [&](const SortedRows& rows) { fold_into<F>(c, c.in[2], rows); });
}
template <class F>
void change_nd(const KernelCall& c) {
  change<F>(c, NdIndex(c.out[0].shape(), c.in[1].shape(), 0));
}

// The value of a segment without rows.
template <class F, class T>
T missing_segment() {
  if constexpr (std::is_same_v<F, Max>) return std::numeric_limits<T>::lowest();
  else if constexpr (std::is_same_v<F, Min>) return std::numeric_limits<T>::max();
  else return std::is_same_v<F, Multiply> ? T(1) : T(0);
}
template <class F>
void segments(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  with_dtype<dtypes::real>(c, y.spec->dtype, [&]<class T>() {
    const T missing = missing_segment<F, T>();
    fill_elements(c, y.data, sizeof(T), &missing, y.size());
  });
  NdIndex s(y.shape(), c.in[1].size());
  s.drops_negative = true;
  by_vectors(c, c.in[1], s, [&](const SortedRows& rows) { fold_numbers<F, true>(c, x, rows); });
}

}  // namespace

void tensor_scatter_nd_update(const KernelCall& c) { change_nd<Update>(c); }
void tensor_scatter_nd_add(const KernelCall& c) { change_nd<Add>(c); }
void tensor_scatter_nd_max(const KernelCall& c) { change_nd<Max>(c); }
void tensor_scatter_nd_min(const KernelCall& c) { change_nd<Min>(c); }
void update_row(const KernelCall& c) { change<Update>(c, NdIndex(c.out[0].shape(), 1)); }
void add_rows(const KernelCall& c) { change<Add>(c, NdIndex(c.out[0].shape(), c.in[1].size())); }

void scatter_nd(const KernelCall& c) {
  add_into_zeros(c, c.in[0], c.in[1], NdIndex(c.out[0].shape(), c.in[0].shape(), 0));
}
void gather_nd_grad(const KernelCall& c) {
  const auto batch_dims = static_cast<int>(c.attrs.get<rules::GatherNdAttrs>().batch_dims);
  add_into_zeros(c, c.in[1], c.in[0], NdIndex(c.out[0].shape(), c.in[1].shape(), batch_dims));
}
void take_along_axis_grad(const KernelCall& c) {
  const Operand &g = c.in[0], &indices = c.in[1], &y = c.out[0];
  const int axis = resolve_axis(c.op, c.attrs.get<rules::AlongAttrs>().axis, y.shape().rank());
  const i64 n = indices.size(), rows = y.size();
  i64 inner = 1;
  for (int d = axis + 1; d < y.shape().rank(); ++d) inner *= y.shape()[d];
  fill_zero(c, y.data, y.spec->bytes());
  const auto keys = [&](i64* to, i64* places) {
    with_dtype<dtypes::index>(c, indices.spec->dtype, [&]<class I>() {
      launch(c, &along_keys_kernel<I>, blocks_for(n), indices.as<const I>(), y.shape()[axis], indices.shape()[axis],
             inner, rows, to, places, n, Reporter(c));
    });
  };
  sorted_by(c, n, 1, rows, keys, [&](const SortedRows& s) { fold_into<Add>(c, g, s); });
}

void unsorted_segment_sum(const KernelCall& c) { segments<Add>(c); }
void unsorted_segment_prod(const KernelCall& c) { segments<Multiply>(c); }
void unsorted_segment_max(const KernelCall& c) { segments<Max>(c); }
void unsorted_segment_min(const KernelCall& c) { segments<Min>(c); }

}  // namespace TANDEM_NS::cuda
