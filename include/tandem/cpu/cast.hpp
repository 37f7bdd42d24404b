// The kernel of cast: vector loops for the common dtypes, one conversion function for all the others.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out[0] = in[0] converted to out[0]'s dtype; equal shapes, numbers and bool_ (half precision and complex too).
TANDEM_API void cast(const KernelCall& c);
/// The loop of it, for the dtypes that training programs convert between; without `run` for the others.
TANDEM_API DenseLoop cast_loop(DType from, DType to);

}  // namespace TANDEM_NS::cpu

#ifdef TANDEM_IMPLEMENT_CAST
#include <complex>

#include "tandem/cpu/packs.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/ops/scalar_math.hpp"
#define TANDEM_KERNELS "tandem/cpu/cast.inc"
#include "tandem/cpu/for_each_isa.inc"
namespace TANDEM_NS::cpu {
namespace detail {

// Rounds to float so that a second rounding, to half precision, gives what one would: an inexact result is made odd.
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
  static constexpr CastLoop by_isa[3] = TANDEM_EACH_ISA(cast_loop<T, U, ToBool>);
  return by_isa[isa()];
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
  default: return nullptr;
template <class T>
CastLoop plain_loop_from(DType to) {
  switch (to) {
#define TANDEM_CAST_LOOP(U) &cast_one_by_one<T, U>
    TANDEM_CAST_CASES(TANDEM_CAST_LOOP)
#undef TANDEM_CAST_LOOP
  }
}
TANDEM_INLINE CastLoop plain_loop(DType from, DType to) {
  switch (from) {
#define TANDEM_CAST_LOOP(T) plain_loop_from<T>(to)
    TANDEM_CAST_CASES(TANDEM_CAST_LOOP)
#undef TANDEM_CAST_LOOP
  }
}
#undef TANDEM_CAST_CASES

}  // namespace detail

TANDEM_INLINE void cast(const KernelCall& c) {
  const DType from = c.in[0].spec->dtype, to = c.out[0].spec->dtype;
  detail::CastLoop loop = detail::vector_loop(from, to);
  if (!loop) loop = detail::plain_loop(from, to);
  const char* const in = c.in[0].as<const char>();
  char* const out = c.out[0].as<char>();
  const auto wide = static_cast<i64>(size_of(from)), wide_out = static_cast<i64>(size_of(to));
  parallel_for(c.out[0].size(), 256 * 1024 / (wide + wide_out), [=](i64 begin, i64 end) {
    const void* const from_here[] = {in + begin * wide};
    loop(from_here, out + begin * wide_out, end - begin, nullptr, false);
  });
}
TANDEM_INLINE DenseLoop cast_loop(DType from, DType to) { return {detail::vector_loop(from, to)}; }

}  // namespace TANDEM_NS::cpu
#endif
