// The CUDA kernels of unique and setdiff1d: a table of places in a vector, found by the element there. Threads enter
// their places at the same time; of equal elements the first one's stays, so the result does not depend on their order.
#include <bit>
#include <cstdint>
#include <type_traits>

#include "cuda/index/prefix.hpp"
#include "cuda/number.hpp"
#include "tandem/ops/cuda_kernels.hpp"

namespace TANDEM_NS::cuda {
namespace {

using Place = std::uint32_t;
constexpr Place nobody = ~Place(0);

// The table takes the low bits, in which numbers that are multiples of powers of two do not differ.
__device__ inline u64 mixed(u64 x) {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 32);
}
// Equal for elements that are equal: -0 is 0.
template <class T>
__device__ u64 hash_of(const T& x) {
  if constexpr (std::is_integral_v<T>) {
    return mixed(static_cast<u64>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, u64>;
    return mixed(std::bit_cast<Bits>(x == T(0) ? T(0) : x));
  } else {
    return mixed(hash_of(x.re) + 3 * hash_of(x.im));
  }
}
// The element as it is compared.
template <class T>
__device__ ComputeOf_t<T> key_at(const T* x, i64 i) {
  return static_cast<ComputeOf_t<T>>(x[i]);
}
template <class K>
__device__ bool equals_nothing(const K& key) {  // NaN
  return !(key == key);
}

// Places of elements of x; a power of two of them, at least twice as many as elements.
template <class T>
struct PlaceTable {
  const T* x;
  Place* places;
  u64 mask;

  // Enters the place i of a key that is not NaN, if no place before it is there, and returns where that is.
  __device__ u64 enter(const ComputeOf_t<T>& key, Place i) const {
    for (u64 at = hash_of(key) & mask;; at = (at + 1) & mask) {
      Place there = *const_cast<const volatile Place*>(places + at);
      if (there == nobody) there = atomicCAS(places + at, nobody, i);
      if (there == nobody) return at;
      if (!(key_at(x, there) == key)) continue;
      if (i < there) atomicMin(places + at, i);
      return at;
    }
  }
  __device__ bool has(const ComputeOf_t<T>& key) const {
    for (u64 at = hash_of(key) & mask; places[at] != nobody; at = (at + 1) & mask)
      if (key_at(x, places[at]) == key) return true;
    return false;
  }
};
// The table's memory.
class Room {
 public:
  Room(const KernelCall& c, i64 n) : size_(size_for(n)), scratch_(c, size_ * sizeof(Place)) {
    check(cudaMemsetAsync(scratch_.as<void>(), 0xff, size_ * sizeof(Place), queue_of(c).stream), c.op, "memset");
  }
  template <class T>
  PlaceTable<T> table(const T* x) const {
    return {x, scratch_.as<Place>(), size_ - 1};
  }

 private:
  static u64 size_for(i64 n) {
    u64 size = 16;
    while (size < 2 * static_cast<u64>(n)) size *= 2;
    return size;
  }
  u64 size_;
  Scratch scratch_;
};

// `to`: where in the table the place of each element's first equal one is.
template <class T>
__global__ void __launch_bounds__(block_size) enter_kernel(PlaceTable<T> table, Place* to, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const auto key = key_at(table.x, i);
    if (equals_nothing(key)) continue;
    const u64 at = table.enter(key, static_cast<Place>(i));
    if (to) to[i] = static_cast<Place>(at);
  }
}
// firsts = the place of each element's first equal one; NaN equals nothing.
template <class T>
__global__ void __launch_bounds__(block_size) first_kernel(PlaceTable<T> table, Place* firsts, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    firsts[i] = equals_nothing(key_at(table.x, i)) ? static_cast<Place>(i) : table.places[firsts[i]];
}
struct IsFirst {
  const Place* firsts;
  __device__ i64 operator()(i64 i) const { return static_cast<i64>(firsts[i]) == i; }
};
template <class I>
struct WriteNumber {
  I* number;
  bool* first;
  __device__ void operator()(i64 i, i64 is_first, i64 before) const {
    first[i] = is_first != 0;
    if (is_first) number[i] = static_cast<I>(before);
  }
};
template <class I>
__global__ void __launch_bounds__(block_size) number_kernel(const Place* firsts, I* number, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    if (static_cast<i64>(firsts[i]) != i) number[i] = number[firsts[i]];
}
template <class T>
__global__ void __launch_bounds__(block_size) member_kernel(PlaceTable<T> table, const T* x, bool* y, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) {
    const auto key = key_at(x, i);
    y[i] = !equals_nothing(key) && table.has(key);
  }
}

// Calls f.operator()<T>() with the type as which elements are compared; integers and bool_ by their width.
template <class F>
void with_equal_type(const Operand& x, const F& f) {
  switch (x.spec->dtype) {
    case DType::float32: return f.template operator()<float>();
    case DType::float64: return f.template operator()<double>();
    case DType::float16: return f.template operator()<Half>();
    case DType::bfloat16: return f.template operator()<BFloat16>();
    case DType::complex64: return f.template operator()<Complex<float>>();
    case DType::complex128: return f.template operator()<Complex<double>>();
    default: break;
  }
  switch (size_of(x.spec->dtype)) {
    case 1: return f.template operator()<std::uint8_t>();
    case 2: return f.template operator()<std::uint16_t>();
    case 4: return f.template operator()<std::uint32_t>();
    default: return f.template operator()<u64>();
  }
}
template <class I>
void number(const KernelCall& c, Place* firsts, i64 n) {
  each_prefix(c, n, IsFirst{firsts}, WriteNumber<I>{c.out[0].as<I>(), c.out[1].as<bool>()});
  launch(c, &number_kernel<I>, blocks_for(n), firsts, c.out[0].as<I>(), n);
}

}  // namespace

void number_distinct(const KernelCall& c) {
  const Operand& x = c.in[0];
  const i64 n = x.size();
  if (n == 0) return;
  const Scratch scratch(c, static_cast<std::size_t>(n) * sizeof(Place));
  Place* const firsts = scratch.as<Place>();
  with_equal_type(x, [&]<class T>() {
    const Room room(c, n);
    const PlaceTable<T> table = room.table(x.as<const T>());
    launch(c, &enter_kernel<T>, blocks_for(n), table, firsts, n);
    launch(c, &first_kernel<T>, blocks_for(n), table, firsts, n);
  });
  if (c.out[0].spec->dtype == DType::int64) number<i64>(c, firsts, n);
  else number<std::int32_t>(c, firsts, n);
}
void is_member(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.in[1];
  const i64 n = x.size(), others = y.size();
  if (n == 0) return;
  with_equal_type(x, [&]<class T>() {
    const Room room(c, others);
    const PlaceTable<T> table = room.table(y.as<const T>());
    if (others) launch(c, &enter_kernel<T>, blocks_for(others), table, nullptr, others);
    launch(c, &member_kernel<T>, blocks_for(n), table, x.as<const T>(), c.out[0].as<bool>(), n);
  });
}

}  // namespace TANDEM_NS::cuda
