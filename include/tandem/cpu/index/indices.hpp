// Index checks, and dispatch on index and element types. For kernels that gather and scatter.
#pragma once
#include <algorithm>
#include <complex>
#include <cstdint>
#include <limits>
#include <string>

#include "tandem/base/bytes.hpp"
#include "tandem/base/error.hpp"
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/index/row_sums.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu::detail {

// The position of a flat index in a shape: "[0,2]".
inline std::string position_text(const Shape& s, i64 flat) {
  std::string r;
  for (int i = s.rank() - 1; i >= 0; --i) {
    r = std::to_string(flat % s.dim(i)) + (r.empty() ? "" : ",") + r;
    flat /= s.dim(i);
  }
  return "[" + r + "]";
}
[[noreturn, gnu::cold, gnu::noinline]] inline void raise_bad_index(const KernelCall& c, const Operand& idx, i64 at,
                                                                   i64 value, i64 low, i64 n) {
  errors::raise<errors::InvalidArgumentError>(
      c.op, "index " + std::to_string(value) + " at position " + position_text(idx.shape(), at) + " of " +
                to_string(*idx.spec) + " is out of range [" + std::to_string(low) + ", " + std::to_string(n) + ")");
}
// Checks that all indices are in [low, n); raises an error for the first that is not.
template <class I>
void check_indices(const KernelCall& c, const Operand& idx, i64 low, i64 n) {
  const I* p = idx.as<const I>();
  const i64 count = idx.size();
  const u64 room = static_cast<u64>(n - low);
  u64 bad = 0;
  for (i64 i = 0; i < count; ++i) bad |= static_cast<u64>(static_cast<u64>(static_cast<i64>(p[i]) - low) >= room);
  if (!bad) [[likely]]
    return;
  for (i64 i = 0; i < count; ++i)
    if (p[i] < low || p[i] >= n) raise_bad_index(c, idx, i, static_cast<i64>(p[i]), low, n);
}

// The number of rows if `last` is the last one's index.
inline i64 rows_up_to(const KernelCall& c, i64 last) {
  if (last == std::numeric_limits<i64>::max())
    errors::raise<errors::InvalidArgumentError>(c.op,
                                                "the value " + std::to_string(last) + " is too large for an index");
  return last + 1;
}
// Calls f with a null pointer to the index type.
template <class F>
void with_index_type(const Operand& idx, F&& f) {
  if (idx.spec->dtype == DType::int64) f(static_cast<i64*>(nullptr));
  else f(static_cast<std::int32_t*>(nullptr));
}
// Calls f with a null pointer to the element type, for dtypes that support addition.
template <class F>
void with_number_type(DType d, F&& f) {
  switch (d) {
    case DType::float32: return f(static_cast<float*>(nullptr));
    case DType::float64: return f(static_cast<double*>(nullptr));
    case DType::int8:
    case DType::uint8: return f(static_cast<std::uint8_t*>(nullptr));
    case DType::int16:
    case DType::uint16: return f(static_cast<std::uint16_t*>(nullptr));
    case DType::int32:
    case DType::uint32: return f(static_cast<std::uint32_t*>(nullptr));
    case DType::int64:
    case DType::uint64: return f(static_cast<u64*>(nullptr));
    case DType::complex128: return f(static_cast<std::complex<double>*>(nullptr));
    default: return f(static_cast<std::complex<float>*>(nullptr));
  }
}
// Calls f with a null pointer to the element type, for dtypes that have an order.
template <class F>
void with_ordered_type(DType d, F&& f) {
  switch (d) {
    case DType::float32: return f(static_cast<float*>(nullptr));
    case DType::float64: return f(static_cast<double*>(nullptr));
    case DType::int8: return f(static_cast<std::int8_t*>(nullptr));
    case DType::int16: return f(static_cast<std::int16_t*>(nullptr));
    case DType::int32: return f(static_cast<std::int32_t*>(nullptr));
    case DType::int64: return f(static_cast<i64*>(nullptr));
    case DType::uint8: return f(static_cast<std::uint8_t*>(nullptr));
    case DType::uint16: return f(static_cast<std::uint16_t*>(nullptr));
    case DType::uint32: return f(static_cast<std::uint32_t*>(nullptr));
    default: return f(static_cast<u64*>(nullptr));
  }
}
// Calls f with a null pointer to a type that is copied the same way as elements of the dtype.
template <class F>
void with_copied_type(DType d, F&& f) {
  if (d == DType::string) return f(static_cast<Bytes*>(nullptr));
  switch (size_of(d)) {
    case 1: return f(static_cast<std::uint8_t*>(nullptr));
    case 2: return f(static_cast<std::uint16_t*>(nullptr));
    case 4: return f(static_cast<std::uint32_t*>(nullptr));
    case 8: return f(static_cast<u64*>(nullptr));
    default: return f(static_cast<std::complex<double>*>(nullptr));
  }
}

// Adds `count` rows of `inner` numbers to the `rows` rows of `to`, in the order of the indices. Threads are assigned
// columns: each element has one writer and a fixed order.
template <class T, class I>
void add_rows(void* to, i64 rows, const void* from, const void* indices, i64 count, i64 inner) {
  const I* const idx = static_cast<const I*>(indices);
  const T* const x = static_cast<const T*>(from);
  const WideRows<T> wide(rows, inner, count, [idx](i64 i) { return static_cast<i64>(idx[i]); });
  const i64 width = 16 * static_cast<i64>(sizeof(T));
  parallel_for((inner + 15) / 16, std::max<i64>(1, (i64(1) << 17) / std::max<i64>(1, count * width)),
               [&](i64 b, i64 e) {
                 const RowSums<T> sums(static_cast<T*>(to), {inner, b * 16, std::min(inner, e * 16), 0, rows}, wide);
                 for (i64 i = 0; i < count; ++i) sums.add(static_cast<i64>(idx[i]), x + i * inner);
               });
}

}  // namespace TANDEM_NS::cpu::detail
