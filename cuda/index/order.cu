// The CUDA kernels of searchsorted, sort and top_k. The latter two are a radix sort of all elements by numbers that
// order as they do, then a stable one by row; of rows that 32 bits can count, at once. Not here: the radix sort
// (sort.cu).
#include <algorithm>
#include <bit>
#include <limits>

#include "cuda/index/sort.hpp"
#include "cuda/index_map.hpp"
#include "cuda/number.hpp"
#include "tandem/ops/index/search.hpp"
#include "tandem/ops/index/sort.hpp"

namespace TANDEM_NS::cuda {
namespace {

using Place = std::uint32_t;
template <class T>
using KeyOf = std::conditional_t<sizeof(T) <= 4, std::uint32_t, u64>;

// As order_key in cpu/index/sort.inl: NaN above all others, -0 as 0; descending order is that of the complement.
template <class T>
__device__ KeyOf<T> order_key(T x, bool descending) {
  using Key = KeyOf<T>;
  constexpr Key sign = Key(1) << (8 * sizeof(T) - 1), all = sign | (sign - 1);
  Key key;
  if constexpr (std::is_floating_point_v<T>) {
    key = x == T(0) ? 0 : std::bit_cast<Key>(x);
    key = x != x ? all : key & sign ? ~key & all : key | sign;
  } else {
    key = static_cast<Key>(x) & all;
    if (std::is_signed_v<T>) key ^= sign;
  }
  return descending ? ~key & all : key;
}
template <class T>
__global__ void __launch_bounds__(block_size)
    order_keys_kernel(const T* x, bool descending, KeyOf<T>* keys, Place* places, Place total) {
  const Place step = gridDim.x * blockDim.x;
  for (Place i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
    keys[i] = order_key(x[i], descending);
    places[i] = i;
  }
}
__global__ void __launch_bounds__(block_size)
    row_keys_kernel(const Place* places, FastDivisor n, std::uint32_t* keys, Place total) {
  const Place step = gridDim.x * blockDim.x;
  for (Place i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) keys[i] = n.quotient(places[i]);
}
// The first k of each row of n.
template <class T>
__global__ void __launch_bounds__(block_size) take_kernel(const T* x, const Place* places, Place n, FastDivisor k,
                                                          T* values, std::int32_t* positions, Place total) {
  const Place step = gridDim.x * blockDim.x;
  for (Place i = blockIdx.x * blockDim.x + threadIdx.x; i < total; i += step) {
    const Place row = k.quotient(i), first = row * n, from = places[first + (i - row * k.divisor)];
    values[i] = x[from];
    positions[i] = static_cast<std::int32_t>(from - first);
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

// The first k of each of `rows` rows of n, which are less than 2^31 elements.
template <class T>
void order_rows(const KernelCall& c, bool descending, i64 rows, i64 n, i64 k, const T* x, T* values,
                std::int32_t* positions) {
  using Key = KeyOf<T>;
  const i64 total = rows * n, results = rows * k;
  const Scratch room(c, 2 * static_cast<std::size_t>(total) * (sizeof(Key) + sizeof(Place)));
  Key *keys = room.as<Key>(), *sorted = keys + total;
  auto *places = reinterpret_cast<Place*>(sorted + total), *order = places + total;
  launch(c, &order_keys_kernel<T>, blocks_for(total), x, descending, keys, places, static_cast<Place>(total));
  sort_pairs(c, total, 8 * static_cast<int>(sizeof(T)), keys, sorted, places, order);
  if (rows > 1) {
    auto *numbers = reinterpret_cast<std::uint32_t*>(keys), *by_row = reinterpret_cast<std::uint32_t*>(sorted);
    launch(c, &row_keys_kernel, blocks_for(total), order, FastDivisor(static_cast<std::uint32_t>(n)), numbers,
           static_cast<Place>(total));
    sort_pairs(c, total, static_cast<int>(std::bit_width(static_cast<u64>(rows - 1))), numbers, by_row, order, places);
    order = places;
  }
  launch(c, &take_kernel<T>, blocks_for(results), x, order, static_cast<Place>(n),
         FastDivisor(static_cast<std::uint32_t>(k)), values, positions, static_cast<Place>(results));
}
#ifdef TANDEM_CUDA_EMULATED
constexpr i64 order_limit = i64(1) << 10;  // so that tests reach several pieces
#else
constexpr i64 order_limit = index_limit;
#endif
template <class T>
void ordered(const KernelCall& c, bool descending) {
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 n = x.shape().dim(-1), rows = x.size() / n, k = y.shape().dim(-1);
  const i64 most = std::max<i64>(order_limit / n, 1);
  for (i64 first = 0; first < rows; first += most)
    order_rows<T>(c, descending, std::min(most, rows - first), n, k, x.as<const T>() + first * n, y.as<T>() + first * k,
                  c.out[1].as<std::int32_t>() + first * k);
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
