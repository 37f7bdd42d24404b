// Definitions of cpu/index/lookup.hpp.
#pragma once
#include <complex>
#include <cstring>
#include <limits>
#include <string_view>

#include "tandem/base/bytes.hpp"
#include "tandem/base/half.hpp"
#include "tandem/core/allocator.hpp"
#include "tandem/cpu/index/indices.hpp"
#include "tandem/cpu/index/lookup.hpp"
#include "tandem/cpu/parallel.hpp"

namespace TANDEM_NS::cpu {

namespace detail {

// An element as it is compared.
template <class T>
const T& comparable(const T& x) {
  return x;
}
inline float comparable(const Half& x) { return static_cast<float>(x); }
inline float comparable(const BFloat16& x) { return static_cast<float>(x); }
inline std::string_view comparable(const Bytes& x) { return x.view(); }

// The table takes the low bits, in which numbers that are multiples of powers of two do not differ.
inline u64 mixed(u64 x) {
  x ^= x >> 32;
  x *= 0x9e3779b97f4a7c15u;
  x ^= x >> 29;
  x *= 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 32);
}
// Equal for elements that are equal: -0 is 0.
template <class T>
u64 hash_of(const T& x) {
  if constexpr (std::is_same_v<T, std::string_view>) {
    return mixed(std::hash<std::string_view>()(x));
  } else if constexpr (std::is_integral_v<T>) {
    return mixed(static_cast<u64>(x));
  } else if constexpr (std::is_floating_point_v<T>) {
    const T positive = x == T(0) ? T(0) : x;
    u64 bits = 0;
    std::memcpy(&bits, &positive, sizeof(T));
    return mixed(bits);
  } else {
    return mixed(hash_of(x.real()) + 3 * hash_of(x.imag()));
  }
}

// A table of places in an array, found by the element there. Places are below 2^32 - 1.
template <class T>
class PlaceTable {
 public:
  PlaceTable(const T* x, i64 n) : x_(x), mask_(capacity(n) - 1), slots_((mask_ + 1) * sizeof(std::uint32_t)) {
    std::memset(slots_.data(), 0, (mask_ + 1) * sizeof(std::uint32_t));
  }
  // The place of an element that equals v; if there is none, -1, after entering `place` if it is not negative.
  i64 find(const T& v, i64 place) {
    const auto& key = comparable(v);
    if (!(key == key)) return -1;  // NaN
    std::uint32_t* const slot = static_cast<std::uint32_t*>(slots_.data());
    for (u64 at = hash_of(std::remove_cvref_t<decltype(key)>(key)) & mask_;; at = (at + 1) & mask_) {
      if (slot[at] == 0) {
        if (place >= 0) slot[at] = static_cast<std::uint32_t>(place + 1);
        return -1;
      }
      if (comparable(x_[slot[at] - 1]) == key) return slot[at] - 1;
    }
  }

 private:
  static u64 capacity(i64 n) {
    u64 c = 16;
    while (c < 2 * static_cast<u64>(n)) c *= 2;
    return c;
  }
  const T* x_;
  u64 mask_;
  memory::Scratch slots_;
};

// Calls f with a null pointer to the type as which elements of the dtype are compared.
template <class F>
void with_equal_type(DType d, F&& f) {
  switch (d) {
    case DType::string: return f(static_cast<Bytes*>(nullptr));
    case DType::float32: return f(static_cast<float*>(nullptr));
    case DType::float64: return f(static_cast<double*>(nullptr));
    case DType::float16: return f(static_cast<Half*>(nullptr));
    case DType::bfloat16: return f(static_cast<BFloat16*>(nullptr));
    case DType::complex64: return f(static_cast<std::complex<float>*>(nullptr));
    case DType::complex128: return f(static_cast<std::complex<double>*>(nullptr));
    default: break;
  }
  switch (size_of(d)) {
    case 1: return f(static_cast<std::uint8_t*>(nullptr));
    case 2: return f(static_cast<std::uint16_t*>(nullptr));
    case 4: return f(static_cast<std::uint32_t*>(nullptr));
    default: return f(static_cast<u64*>(nullptr));
  }
}

template <class T, class I>
void number_distinct_of(const KernelCall& c) {
  const T* const x = c.in[0].as<const T>();
  const i64 n = c.in[0].size();
  I* const number = c.out[0].as<I>();
  bool* const first = c.out[1].as<bool>();
  PlaceTable<T> table(x, n);
  I count = 0;
  for (i64 i = 0; i < n; ++i) {
    const i64 at = table.find(x[i], i);
    first[i] = at < 0;
    number[i] = at < 0 ? count++ : number[at];
  }
}
template <class T>
bool below(T a, T b) {  // NaN is above all numbers
  return a < b || (b != b && a == a);
}
template <class T, class O>
void search_rows(const KernelCall& c, bool right) {
  const Operand &sorted = c.in[0], &values = c.in[1];
  const i64 m = sorted.shape().dim(-1), n = values.shape().dim(-1);
  const T *s = sorted.as<const T>(), *v = values.as<const T>();
  O* const to = c.out[0].as<O>();
  parallel_for(values.size(), 4096, [&](i64 b, i64 e) {
    for (i64 i = b; i < e; ++i) {
      const T* row = s + i / n * m;
      const T x = v[i];
      i64 count = m, at = 0;
      while (count > 0) {  // all elements before `at` are counted, none from at + count on
        const i64 half = count / 2;
        const bool goes = right ? !below(x, row[at + half]) : below(row[at + half], x);
        at = goes ? at + half + 1 : at;
        count = goes ? count - half - 1 : half;
      }
      to[i] = static_cast<O>(at);
    }
  });
}

}  // namespace detail

TANDEM_INLINE void number_distinct(const KernelCall& c) {
  detail::with_equal_type(c.in[0].spec->dtype, [&]<class T>(T*) {
    if (c.out[0].spec->dtype == DType::int64) detail::number_distinct_of<T, i64>(c);
    else detail::number_distinct_of<T, std::int32_t>(c);
  });
}
TANDEM_INLINE void is_member(const KernelCall& c) {
  detail::with_equal_type(c.in[0].spec->dtype, [&]<class T>(T*) {
    const T *x = c.in[0].as<const T>(), *y = c.in[1].as<const T>();
    detail::PlaceTable<T> table(y, c.in[1].size());
    for (i64 i = 0, n = c.in[1].size(); i < n; ++i) table.find(y[i], i);
    for (i64 i = 0, n = c.in[0].size(); i < n; ++i) c.out[0].as<bool>()[i] = table.find(x[i], -1) >= 0;
  });
}
TANDEM_INLINE void invert_permutation(const KernelCall& c) {
  const Operand &idx = c.in[0], &y = c.out[0];
  detail::with_index_type(idx, [&]<class I>(I*) {
    const I* const x = idx.as<const I>();
    const i64 n = idx.size();
    detail::check_indices<I>(c, idx, 0, n);
    I* const to = y.as<I>();
    std::fill_n(to, n, I(-1));
    for (i64 i = 0; i < n; ++i) {
      if (to[x[i]] >= 0)
        errors::raise<errors::InvalidArgumentError>(
            c.op, std::to_string(x[i]) + " occurs at positions " + std::to_string(to[x[i]]) + " and " +
                      std::to_string(i) + "; the input must be a permutation of 0 to " + std::to_string(n - 1));
      to[x[i]] = static_cast<I>(i);
    }
  });
}
TANDEM_INLINE void search_sorted(const KernelCall& c, bool right) {
  const i64 m = c.in[0].shape().dim(-1);
  if (c.out[0].spec->dtype == DType::int32 && m > std::numeric_limits<std::int32_t>::max())
    errors::raise<errors::InvalidArgumentError>(c.op, std::to_string(m) +
                                                          " elements are too many for int32; use "
                                                          ".out_type = int64");
  detail::with_ordered_type(c.in[0].spec->dtype, [&]<class T>(T*) {
    if (c.out[0].spec->dtype == DType::int64) detail::search_rows<T, i64>(c, right);
    else detail::search_rows<T, std::int32_t>(c, right);
  });
}
TANDEM_INLINE void unravel(const KernelCall& c) {
  const Operand &idx = c.in[0], &dims = c.in[1], &y = c.out[0];
  const i64 n = idx.size(), rank = dims.size();
  const i64* const size = dims.as<const i64>();
  i64 all = 1;
  for (i64 d = 0; d < rank; ++d) {
    if (size[d] < 0)
      errors::raise<errors::InvalidArgumentError>(c.op, "the size " + std::to_string(size[d]) + " is negative");
    if (__builtin_mul_overflow(all, size[d], &all))
      errors::raise<errors::InvalidArgumentError>(c.op, "the product of the sizes is too large");
  }
  detail::with_index_type(idx, [&]<class I>(I*) {
    detail::check_indices<I>(c, idx, 0, all);
    for (i64 i = 0; i < n; ++i) {
      i64 rest = idx.as<const I>()[i];
      for (i64 d = rank; d-- > 0; rest /= size[d]) y.as<I>()[d * n + i] = static_cast<I>(rest % size[d]);
    }
  });
}

}  // namespace TANDEM_NS::cpu
