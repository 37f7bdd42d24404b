// The CUDA kernel of cast, for every pair of dtypes. Rounding and saturation as cpu/pointwise/cast.hpp.
#include "cuda/pointwise/cast.hpp"

#include <bit>

#include "cuda/number.hpp"
#include "tandem/util/scalar_math.hpp"

namespace TANDEM_NS::cuda {
namespace {

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<Complex<T>> = true;

// Rounds to float such that a second rounding, to half precision, equals a single one: an inexact result is made odd.
__device__ inline float round_to_odd(double x) {
  const float f = static_cast<float>(x);
  const auto b = std::bit_cast<std::uint32_t>(f);
  if (static_cast<double>(f) == x || x != x || (b & 1u)) return f;
  const bool away = (static_cast<double>(f) > x) == (f > 0);
  return std::bit_cast<float>(away ? b - 1 : b + 1);
}
template <class U, class T>
__device__ U converted(T x) {
  if constexpr (std::is_same_v<T, U>) {
    return x;
  } else if constexpr (is_complex_number<T>) {
    if constexpr (is_complex_number<U>)
      return U(static_cast<typename U::value_type>(x.re), static_cast<typename U::value_type>(x.im));
    else if constexpr (std::is_same_v<U, bool>) return x != T(0);
    else return converted<U>(x.re);
  } else if constexpr (is_complex_number<U>) {
    return U(converted<typename U::value_type>(x));
  } else if constexpr (is_half<T>) {
    return converted<U>(static_cast<float>(x));
  } else if constexpr (is_half<U>) {
    if constexpr (std::is_same_v<T, float>) return U(x);
    else return U(round_to_odd(static_cast<double>(x)));
  } else if constexpr (std::is_same_v<U, bool>) {
    return x != T(0);
  } else {
    return rules::convert<U>(x);
  }
}
template <class T, class U>
__global__ void __launch_bounds__(block_size) cast_kernel(const T* x, U* y, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step) y[i] = converted<U>(x[i]);
}
constexpr DTypes castable = dtypes::number | dtypes::half_floating | dtypes::boolean | DType::complex128;

}  // namespace

void cast_elements(const KernelCall& c, DType from_dtype, const void* from, DType to_dtype, void* to, i64 n) {
  if (n == 0) return;
  with_dtype<castable>(c, from_dtype, [&]<class T>() {
    with_dtype<castable>(c, to_dtype, [&]<class U>() {
      launch(c, &cast_kernel<T, U>, blocks_for(n), static_cast<const T*>(from), static_cast<U*>(to), n);
    });
  });
}
void cast(const KernelCall& c) {
  const Operand &x = c.in[0], &y = c.out[0];
  cast_elements(c, x.spec->dtype, x.data, y.spec->dtype, y.data, y.size());
}

}  // namespace TANDEM_NS::cuda
