// Definitions of cpu/pointwise/cast.hpp.
#pragma once
#include <bit>
#include <complex>
#include <cstring>

#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/cast.hpp"
#include "tandem/cpu/pointwise/half.hpp"
#include "tandem/cpu/simd/packs.hpp"
#include "tandem/util/scalar_math.hpp"

#define TANDEM_KERNELS "tandem/cpu/pointwise/cast.inc"
#include "tandem/cpu/simd/for_each_isa.inc"
namespace TANDEM_NS::cpu {
namespace detail {

// Rounds to float such that a second rounding, to half precision, equals a single one: an inexact result is made odd.
inline float round_to_odd(double x) {
  const float f = static_cast<float>(x);
  const auto b = std::bit_cast<std::uint32_t>(f);
  if (static_cast<double>(f) == x || x != x || (b & 1u)) return f;
  const bool away = (static_cast<double>(f) > x) == (f > 0);
  return std::bit_cast<float>(away ? b - 1 : b + 1);
}

template <class U, class T>
U converted(T x) {
  constexpr bool from_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
  constexpr bool to_half = std::is_same_v<U, Half> || std::is_same_v<U, BFloat16>;
  if constexpr (std::is_same_v<T, U>) {
    return x;
  } else if constexpr (tandem::detail::ComplexLike<T>) {
    if constexpr (tandem::detail::ComplexLike<U>) return U(x);
    else if constexpr (std::is_same_v<U, bool>) return x != T(0);
    else return converted<U>(x.real());
  } else if constexpr (tandem::detail::ComplexLike<U>) {
    return U(converted<typename U::value_type>(x));
  } else if constexpr (from_half) {
    return converted<U>(static_cast<float>(x));
  } else if constexpr (to_half) {
    if constexpr (std::is_same_v<T, float>) return U(x);
    else return U(round_to_odd(static_cast<double>(x)));
  } else if constexpr (std::is_same_v<U, bool>) {
    return x != T(0);
  } else {
    return rules::convert<U>(x);
  }
}
template <class T, class U>
void cast_one_by_one(const void* const* in, void* out, i64 n, const void*, bool) {
  for (i64 i = 0; i < n; ++i) static_cast<U*>(out)[i] = converted<U>(static_cast<const T*>(in[0])[i]);
}

using CastLoop = decltype(DenseLoop::run);

template <class T, class U, bool ToBool = false>
CastLoop on_this_machine() {
  static constexpr ByIsa<CastLoop> sets{TANDEM_EACH_ISA_IF_COMPILED(cast_loop<T, U, ToBool>)};
  return sets.get();
}
template <class T>
CastLoop vector_loop_from(DType to) {
  switch (to) {
    case DType::float32: return on_this_machine<T, float>();
    case DType::float64: return on_this_machine<T, double>();
    case DType::int32: return on_this_machine<T, std::int32_t>();
    case DType::int64: return on_this_machine<T, std::int64_t>();
    case DType::uint8: return on_this_machine<T, std::uint8_t>();
    case DType::bool_: return on_this_machine<T, std::uint8_t, true>();
    default: return nullptr;
  }
}
TANDEM_INLINE CastLoop vector_loop(DType from, DType to) {
  if (dtypes::half_floating.has(from) && to == DType::float32) return half_rows(from).widen_loop;
  if (dtypes::half_floating.has(to) && from == DType::float32) return half_rows(to).round_loop;
  switch (from) {
    case DType::float32: return vector_loop_from<float>(to);
    case DType::float64: return vector_loop_from<double>(to);
    case DType::int32: return vector_loop_from<std::int32_t>(to);
    case DType::int64: return vector_loop_from<std::int64_t>(to);
    case DType::uint8:
    case DType::bool_: return vector_loop_from<std::uint8_t>(to);
    default: return nullptr;
  }
}

#define TANDEM_CAST_CASES(result)                              \
  case DType::float32: return result(float);                   \
  case DType::float64: return result(double);                  \
  case DType::int8: return result(std::int8_t);                \
  case DType::int16: return result(std::int16_t);              \
  case DType::int32: return result(std::int32_t);              \
  case DType::int64: return result(std::int64_t);              \
  case DType::uint8: return result(std::uint8_t);              \
  case DType::uint16: return result(std::uint16_t);            \
  case DType::uint32: return result(std::uint32_t);            \
  case DType::uint64: return result(std::uint64_t);            \
  case DType::bool_: return result(bool);                      \
  case DType::float16: return result(Half);                    \
  case DType::bfloat16: return result(BFloat16);               \
  case DType::complex64: return result(std::complex<float>);   \
  case DType::complex128: return result(std::complex<double>); \
  case DType::qint8: return result(std::int8_t);               \
  case DType::quint8: return result(std::uint8_t);             \
  case DType::qint32: return result(std::int32_t);             \
  default: return nullptr;
// All other pairs are converted through a wide type that represents every value of the source's kind, a block at a
// time. This takes a loop per dtype and a few per kind instead of one for each of 225 pairs. The intermediate step
// never rounds.
template <class T>
struct WideOf {
  static constexpr bool real = std::is_floating_point_v<T> || std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
  static constexpr bool natural = std::is_unsigned_v<T> && !std::is_same_v<T, bool>;
  using type = std::conditional_t<real, double, std::conditional_t<natural, std::uint64_t, std::int64_t>>;
};
template <class T>
struct WideOf<std::complex<T>> {
  using type = std::complex<double>;
};
template <class T>
using Widened = typename WideOf<T>::type;

template <class W>
CastLoop narrowing_from(DType to) {
  switch (to) {
#define TANDEM_CAST_LOOP(U) &cast_one_by_one<W, U>
    TANDEM_CAST_CASES(TANDEM_CAST_LOOP)
#undef TANDEM_CAST_LOOP
  }
}
TANDEM_INLINE CastLoop narrowing_loop(DType from, DType to) {
  switch (from) {
#define TANDEM_CAST_LOOP(T) narrowing_from<Widened<T>>(to)
    TANDEM_CAST_CASES(TANDEM_CAST_LOOP)
#undef TANDEM_CAST_LOOP
  }
}
TANDEM_INLINE CastLoop widening_loop(DType from) {
  switch (from) {
#define TANDEM_CAST_LOOP(T) &cast_one_by_one<T, Widened<T>>
    TANDEM_CAST_CASES(TANDEM_CAST_LOOP)
#undef TANDEM_CAST_LOOP
  }
}
#undef TANDEM_CAST_CASES

// One thread's share of a cast, for any pair of dtypes.
struct CastRange {
  CastLoop direct;         // null for pairs converted through the wide type
  CastLoop widen, narrow;  // the two steps of those
  i64 width, width_out;    // bytes per element
  bool same;               // the two dtypes are equal

  void operator()(const char* in, char* out, i64 n) const {
    if (same) std::memcpy(out, in, static_cast<std::size_t>(n * width));
    else if (direct) run(direct, in, out, n);
    else through_wide(in, out, n);
  }

 private:
  static void run(CastLoop loop, const void* in, void* out, i64 n) { loop(&in, out, n, nullptr, false); }
  void through_wide(const char* in, char* out, i64 n) const {
    constexpr i64 block = 256;
    alignas(16) char wide[block * sizeof(std::complex<double>)];
    for (i64 i = 0; i < n; i += block) {
      const i64 k = n - i < block ? n - i : block;
      run(widen, in + i * width, wide, k);
      run(narrow, wide, out + i * width_out, k);
    }
  }
};

}  // namespace detail

TANDEM_INLINE void cast(const KernelCall& c) {
  const DType from = c.in[0].spec->dtype, to = c.out[0].spec->dtype;
  const char* const in = c.in[0].as<const char>();
  char* const out = c.out[0].as<char>();
  const auto width = static_cast<i64>(size_of(from)), width_out = static_cast<i64>(size_of(to));
  const detail::CastRange range{detail::vector_loop(from, to),
                                detail::widening_loop(from),
                                detail::narrowing_loop(from, to),
                                width,
                                width_out,
                                from == to};
  parallel_for(c.out[0].size(), 256 * 1024 / (width + width_out),
               [&](i64 begin, i64 end) { range(in + begin * width, out + begin * width_out, end - begin); });
}
TANDEM_INLINE DenseLoop cast_loop(DType from, DType to) { return {detail::vector_loop(from, to)}; }

}  // namespace TANDEM_NS::cpu
