// Element types, sets of element types, and the mapping from C++ types. Does not depend on tensors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "tandem/base/half.hpp"
#include "tandem/config.hpp"

namespace TANDEM_NS {

using i64 = std::int64_t;
using u64 = std::uint64_t;

/// The element types. float16 and bfloat16 are accepted wherever float32 is: an op without half-precision loops
/// computes in float32 and rounds its results. complex128 and the quantized types can be created, copied, cast and
/// printed; few ops compute in them.
enum class DType : std::uint8_t {
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  uint8,
  bool_,
  string,
  complex64,
  float16,
  bfloat16,
  uint16,
  uint32,
  uint64,
  complex128,
  qint8,
  quint8,
  qint32
};
inline constexpr int dtype_count = 19;

inline constexpr DType float32 = DType::float32, float64 = DType::float64, int8 = DType::int8, int16 = DType::int16,
                       int32 = DType::int32, int64 = DType::int64, uint8 = DType::uint8, bool_ = DType::bool_,
                       string = DType::string, complex64 = DType::complex64, float16 = DType::float16,
                       bfloat16 = DType::bfloat16, uint16 = DType::uint16, uint32 = DType::uint32,
                       uint64 = DType::uint64, complex128 = DType::complex128, qint8 = DType::qint8,
                       quint8 = DType::quint8, qint32 = DType::qint32;

namespace detail {
// At namespace scope, because a table local to size_of would be copied to the stack by each call.
inline constexpr std::uint8_t dtype_sizes[dtype_count] = {4, 8, 1, 2, 4,  8, 1, 1, sizeof(void*), 8, 2,
                                                          2, 2, 4, 8, 16, 1, 1, 4};
}  // namespace detail
/// Bytes of one element (a string element is one pointer).
constexpr std::size_t size_of(DType d) { return detail::dtype_sizes[static_cast<int>(d)]; }

/// The name as printed: "float32", "bool", ...
constexpr const char* name(DType d) {
  constexpr const char* names[] = {"float32", "float64",    "int8",      "int16",   "int32",    "int64",  "uint8",
                                   "bool",    "string",     "complex64", "float16", "bfloat16", "uint16", "uint32",
                                   "uint64",  "complex128", "qint8",     "quint8",  "qint32"};
  return names[static_cast<int>(d)];
}

/// A set of dtypes, as op definitions declare it.
struct DTypes {
  std::uint32_t bits = 0;
  constexpr bool has(DType d) const { return bits >> static_cast<int>(d) & 1u; }
  friend constexpr DTypes operator|(DTypes a, DTypes b) { return {a.bits | b.bits}; }
  friend constexpr DTypes operator|(DTypes a, DType b) { return {a.bits | 1u << static_cast<int>(b)}; }
};

template <class... D>
constexpr DTypes dtypes_of(D... d) {
  return {((1u << static_cast<int>(d)) | ... | 0u)};
}

namespace dtypes {
inline constexpr DTypes floating = dtypes_of(DType::float32, DType::float64);
inline constexpr DTypes half_floating = dtypes_of(DType::float16, DType::bfloat16);
inline constexpr DTypes complex = dtypes_of(DType::complex64);
inline constexpr DTypes signed_integer = dtypes_of(DType::int8, DType::int16, DType::int32, DType::int64);
inline constexpr DTypes unsigned_integer = dtypes_of(DType::uint8, DType::uint16, DType::uint32, DType::uint64);
inline constexpr DTypes integer = signed_integer | unsigned_integer;
inline constexpr DTypes index = dtypes_of(DType::int32, DType::int64);
inline constexpr DTypes boolean = dtypes_of(DType::bool_);
inline constexpr DTypes quantized = dtypes_of(DType::qint8, DType::quint8, DType::qint32);
inline constexpr DTypes real = floating | integer;  ///< ordered numbers
inline constexpr DTypes number = real | complex;
inline constexpr DTypes all{(1u << dtype_count) - 1};
}  // namespace dtypes

constexpr bool is_floating(DType d) { return (dtypes::floating | dtypes::half_floating).has(d); }
constexpr bool is_integer(DType d) { return dtypes::integer.has(d); }
constexpr bool is_complex(DType d) { return d == DType::complex64 || d == DType::complex128; }
/// Whether numbers of the dtype have gradients: floating and complex ones.
constexpr bool is_differentiable(DType d) { return is_floating(d) || is_complex(d); }

namespace detail {
// std::complex without <complex>, which includes the stream headers.
template <class T>
concept ComplexLike = requires(T z) {
  typename T::value_type;
  z.real();
  z.imag();
};
template <class T>
struct DTypeOf {};
template <>
struct DTypeOf<float> {
  static constexpr DType value = DType::float32;
};
template <>
struct DTypeOf<double> {
  static constexpr DType value = DType::float64;
};
template <>
struct DTypeOf<bool> {
  static constexpr DType value = DType::bool_;
};
template <>
struct DTypeOf<Half> {
  static constexpr DType value = DType::float16;
};
template <>
struct DTypeOf<BFloat16> {
  static constexpr DType value = DType::bfloat16;
};
template <>
struct DTypeOf<std::string> {
  static constexpr DType value = DType::string;
};
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
struct DTypeOf<T> {
  static constexpr DType of(bool is_signed, std::size_t size) {
    return is_signed ? (size == 1   ? DType::int8
                        : size == 2 ? DType::int16
                        : size == 4 ? DType::int32
                                    : DType::int64)
                     : (size == 1   ? DType::uint8
                        : size == 2 ? DType::uint16
                        : size == 4 ? DType::uint32
                                    : DType::uint64);
  }
  static constexpr DType value = of(std::is_signed_v<T>, sizeof(T));
};
template <ComplexLike T>
struct DTypeOf<T> {
  static constexpr DType value = sizeof(typename T::value_type) == 4 ? DType::complex64 : DType::complex128;
};
}  // namespace detail

/// The dtype for elements of the C++ type T: dtype_of<float> == float32.
template <class T>
inline constexpr DType dtype_of_v = detail::DTypeOf<std::remove_cv_t<T>>::value;
template <class T>
constexpr DType dtype_of() {
  static_assert(
      requires { detail::DTypeOf<std::remove_cv_t<T>>::value; }, "no dtype holds values of this C++ type");
  return dtype_of_v<T>;
}

}  // namespace TANDEM_NS
