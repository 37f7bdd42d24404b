// The CUDA kernels of searchsorted, sort and top_k. The latter two are a radix sort of all elements by numbers that
// order as they do, then a stable one by row. Not here: the radix sort (sort.cu).
#include <bit>
#include <limits>

#include "cuda/index/sort.hpp"
#include "cuda/number.hpp"
#include "tandem/ops/index/search.hpp"
#include "tandem/ops/index/sort.hpp"

namespace TANDEM_NS::cuda {
namespace {

// As order_key in cpu/index/sort.inl: NaN above all others, -0 as 0; descending order is that of the complement. 64
// bits are compared as signed numbers, fewer without sign.
template <class T>
__device__ i64 order_key(T x, bool descending) {
  constexpr int bits = 8 * sizeof(T);
  constexpr u64 sign = u64(1) << (bits - 1), all = sign | (sign - 1);
  u64 key;
  if constexpr (std::is_floating_point_v<T>) {
    using U = std::conditional_t<sizeof(T) == 4, std::uint32_t, u64>;
    key = x == T(0) ? 0 : std::bit_cast<U>(x);
    key = x != x ? all : key & sign ? ~key & all : key | sign;
  } else {
    key = static_cast<u64>(x) & all;
    if (std::is_signed_v<T>) key ^= sign;
  }
  if (descending) key = ~key & all;
  return static_cast<i64>(bits == 64 ? key ^ sign : key);
}
template <class T>
__global__ void __launch_bounds__(block_size)
    order_keys_kernel(const T* x, bool descending, i64* keys, i64* places, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    keys[i] = order_key(x[i], descending);
    places[i] = i;
  }
}
__global__ void __launch_bounds__(block_size) row_keys_kernel(const i64* places, i64 n, i64* keys, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) keys[i] = places[i] / n;
}
// The first k of each row of n.
template <class T>
__global__ void __launch_bounds__(block_size)
    take_kernel(const T* x, const i64* places, i64 n, i64 k, T* values, std::int32_t* positions, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const i64 from = places[i / k * n + i % k];
    values[i] = x[from];
    positions[i] = static_cast<std::int32_t>(from % n);
  }
}

template <class T>
__device__ bool is_below(T a, T b) {  // NaN is above all numbers
  return a < b || (b != b && a == a);
}
// For each value the number of elements of its row of m below it (right: or equal to it).
template <class T, class O>
__global__ void __launch_bounds__(block_size)
    search_kernel(const T* sorted, i64 m, const T* values, i64 n, bool right, O* y, i64 total) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < total; i += step) {
    const T* const row = sorted + i / n * m;
    const T x = values[i];
    i64 at = 0;
    for (i64 count = m; count > 0;) {  // all elements before `at` are counted, none from at + count on
      const i64 half = count / 2;
      const bool goes = right ? !is_below(x, row[at + half]) : is_below(row[at + half], x);
      at = goes ? at + half + 1 : at;
      count = goes ? count - half - 1 : half;
    }
    y[i] = static_cast<O>(at);
  }
}

template <class T>
void ordered(const KernelCall& c, bool descending) {
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 total = x.size(), n = x.shape().dim(-1), rows = total / n, k = y.shape().dim(-1);
  const Scratch room(c, 4 * static_cast<std::size_t>(total) * sizeof(i64));
  i64 *keys = room.as<i64>(), *places = keys + total, *sorted = keys + 2 * total, *order = keys + 3 * total;
  launch(c, &order_keys_kernel<T>, blocks_for(total), x.as<const T>(), descending, keys, places, total);
  sort_pairs(c, total, 8 * static_cast<int>(sizeof(T)), keys, sorted, places, order);
  if (rows > 1) {
    launch(c, &row_keys_kernel, blocks_for(total), order, n, keys, total);
    sort_pairs(c, total, static_cast<int>(std::bit_width(static_cast<u64>(rows))), keys, sorted, order, places);
    order = places;
  }
  launch(c, &take_kernel<T>, blocks_for(y.size()), x.as<const T>(), order, n, k, y.as<T>(), c.out[1].as<std::int32_t>(),
         y.size());
}
void run(const KernelCall& c, bool descending) {
  if (c.out[0].size() == 0) return;
  with_dtype<dtypes::real>(c, c.in[0].spec->dtype, [&]<class T>() { ordered<T>(c, descending); });
}

}  // namespace

void sort(const KernelCall& c) { run(c, c.attrs.get<rules::SortAttrs>().direction == Direction::descending); }
void top_k(const KernelCall& c) { run(c, true); }
void searchsorted(const KernelCall& c) {
  const Operand &sorted = c.in[0], &values = c.in[1], &y = c.out[0];
  const i64 m = sorted.shape().dim(-1), n = values.shape().dim(-1), total = y.size();
  const bool right = c.attrs.get<rules::SearchSortedAttrs>().side == Side::right;
  if (y.spec->dtype == DType::int32 && m > std::numeric_limits<std::int32_t>::max())
    errors::raise<errors::InvalidArgumentError>(
        c.op, std::to_string(m) + " elements are too many for int32; use .out_type = int64");
  if (total == 0) return;
  with_dtype<dtypes::real>(c, sorted.spec->dtype, [&]<class T>() {
    with_dtype<dtypes::index>(c, y.spec->dtype, [&]<class O>() {
      launch(c, &search_kernel<T, O>, blocks_for(total), sorted.as<const T>(), m, values.as<const T>(), n, right,
             y.as<O>(), total);
    });
  });
}

}  // namespace TANDEM_NS::cuda
