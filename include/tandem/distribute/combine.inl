// Definitions of combine_fn and divide, distribute/communicator.hpp: elements of two ranks.
#pragma once
#include <complex>
#include <type_traits>

#include "tandem/base/half.hpp"
#include "tandem/distribute/communicator.hpp"

namespace TANDEM_NS::distribute {

namespace impl {

// The type in which T is added and multiplied: half precision in float32, rounded once for each rank; integers wrap.
template <class T>
auto wide() {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) return 0.0f;
  else if constexpr (std::is_integral_v<T>) return u64{};
  else return T{};
}
template <class T>
using Wide = decltype(wide<T>());
template <class T>
T sum_of(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) + static_cast<Wide<T>>(b));
}
template <class T>
T product_of(T a, T b) {
  return static_cast<T>(static_cast<Wide<T>>(a) * static_cast<Wide<T>>(b));
}
// NaN wins, as in the reductions of tensors. Half precision compares as float32.
template <class T>
auto comparable(T x) {
  if constexpr (std::is_same_v<Wide<T>, float>) return static_cast<float>(x);
  else return x;
}
template <class T>
bool is_nan(T x) {
  return comparable(x) != comparable(x);
}
template <class T>
T lesser(T a, T b) {
  return comparable(b) < comparable(a) || is_nan(b) ? b : a;
}
template <class T>
T greater(T a, T b) {
  return comparable(a) < comparable(b) || is_nan(b) ? b : a;
}

template <class T, T (*f)(T, T)>
void combine(const void* from, void* into, i64 count) {
  const T* const x = static_cast<const T*>(from);
  T* const y = static_cast<T*>(into);
  for (i64 i = 0; i < count; ++i) y[i] = f(y[i], x[i]);
}

template <class T>
CombineFn number_fn(ReduceOp op) {
  if (op == ReduceOp::min) return &combine<T, &lesser<T>>;
  if (op == ReduceOp::max) return &combine<T, &greater<T>>;
  return op == ReduceOp::prod ? &combine<T, &product_of<T>> : &combine<T, &sum_of<T>>;
}
template <class T>
CombineFn complex_fn(ReduceOp op) {
  if (op == ReduceOp::min || op == ReduceOp::max) return nullptr;
  return op == ReduceOp::prod ? &combine<T, &product_of<T>> : &combine<T, &sum_of<T>>;
}
inline bool both(bool a, bool b) { return a && b; }
inline bool either(bool a, bool b) { return a || b; }

TANDEM_INLINE CombineFn combine_fn(ReduceOp op, DType dtype) {
  switch (dtype) {
    case DType::float32: return number_fn<float>(op);
    case DType::float64: return number_fn<double>(op);
    case DType::float16: return number_fn<Half>(op);
    case DType::bfloat16: return number_fn<BFloat16>(op);
    case DType::int8: return number_fn<std::int8_t>(op);
    case DType::int16: return number_fn<std::int16_t>(op);
    case DType::int32: return number_fn<std::int32_t>(op);
    case DType::int64: return number_fn<i64>(op);
    case DType::uint8: return number_fn<std::uint8_t>(op);
    case DType::uint16: return number_fn<std::uint16_t>(op);
    case DType::uint32: return number_fn<std::uint32_t>(op);
    case DType::uint64: return number_fn<u64>(op);
    case DType::complex64: return complex_fn<std::complex<float>>(op);
    case DType::complex128: return complex_fn<std::complex<double>>(op);
    case DType::bool_:  // min: whether all are true; max: whether any is
      if (op == ReduceOp::min) return &combine<bool, &both>;
      return op == ReduceOp::max ? &combine<bool, &either> : nullptr;
    default: return nullptr;
  }
}

template <class T>
void divide_by(void* data, i64 count, int ranks) {
  T* const x = static_cast<T*>(data);
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    for (i64 i = 0; i < count; ++i) x[i] = T(static_cast<float>(x[i]) / static_cast<float>(ranks));
  } else {
    const auto p = static_cast<T>(static_cast<float>(ranks));
    for (i64 i = 0; i < count; ++i) x[i] /= p;
  }
}
TANDEM_INLINE void divide(void* data, DType dtype, i64 count, int ranks) {
  switch (dtype) {
    case DType::float32: return divide_by<float>(data, count, ranks);
    case DType::float64: return divide_by<double>(data, count, ranks);
    case DType::float16: return divide_by<Half>(data, count, ranks);
    case DType::bfloat16: return divide_by<BFloat16>(data, count, ranks);
    case DType::complex64: return divide_by<std::complex<float>>(data, count, ranks);
    default: return divide_by<std::complex<double>>(data, count, ranks);
  }
}

}  // namespace impl
}  // namespace TANDEM_NS::distribute
