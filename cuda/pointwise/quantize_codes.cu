// The CUDA kernels of quantize and dequantize: numbers to codes and back. The ends of the range are in host memory.
#include "cuda/number.hpp"
#include "cuda/queue.hpp"
#include "tandem/cpu/pointwise/code_scale.hpp"

namespace TANDEM_NS::cuda {
namespace {

template <class T, class Q>
__global__ void __launch_bounds__(block_size)
    quantize_kernel(const T* x, Q* y, cpu::CodeScale scale, bool to_even, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    y[i] = static_cast<Q>(scale.code_of(static_cast<double>(x[i]), to_even));
}
template <class T, class Q>
__global__ void __launch_bounds__(block_size) dequantize_kernel(const Q* x, T* y, cpu::CodeScale scale, i64 n) {
  const i64 step = static_cast<i64>(gridDim.x) * blockDim.x;
  for (i64 i = static_cast<i64>(blockIdx.x) * blockDim.x + threadIdx.x; i < n; i += step)
    y[i] = static_cast<T>(scale.offset + static_cast<double>(x[i]) * scale.step);
}

// Calls f.operator()<Q>() with the type of the codes.
template <class F>
void with_codes(DType d, const F& f) {
  switch (d) {
    case DType::quint8: return f.template operator()<std::uint8_t>();
    case DType::qint8: return f.template operator()<std::int8_t>();
    default: return f.template operator()<std::int32_t>();
  }
}

}  // namespace

void quantize(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::QuantizeAttrs>();
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 n = y.size();
  with_dtype<dtypes::floating>(c, x.spec->dtype, [&]<class T>() {
    const cpu::CodeScale scale = cpu::code_scale<T>(c, a);
    if (n == 0) return;
    with_codes(a.dtype, [&]<class Q>() {
      launch(c, &quantize_kernel<T, Q>, blocks_for(n), x.as<const T>(), y.as<Q>(), scale, a.to_even, n);
    });
  });
}
void dequantize(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::QuantizeAttrs>();
  const Operand &x = c.in[0], &y = c.out[0];
  const i64 n = y.size();
  with_dtype<dtypes::floating>(c, a.dtype, [&]<class T>() {
    const cpu::CodeScale scale = cpu::code_scale<T>(c, a);
    if (n == 0) return;
    with_codes(x.spec->dtype, [&]<class Q>() {
      launch(c, &dequantize_kernel<T, Q>, blocks_for(n), x.as<const Q>(), y.as<T>(), scale, n);
    });
  });
}

}  // namespace TANDEM_NS::cuda
