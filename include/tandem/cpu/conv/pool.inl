// Definitions of cpu/conv/pool.hpp.
#pragma once
#include "tandem/base/half.hpp"
#include "tandem/cpu/conv/pool.hpp"
#include "tandem/cpu/conv/pool_driver.hpp"
#include "tandem/cpu/conv/pool_half.hpp"

namespace TANDEM_NS::cpu {
namespace pooling {

template <class T>
void forward(const KernelCall& c, Pool<T> kernel) {
  if constexpr (kernels_take_half && std::is_same_v<T, float>)
    if (c.out[0].is_half()) return half_forward(c, kernel);
  forward_of<PoolInPlace<T>>(c, kernel);
}
template <class T>
void backward(const KernelCall& c, TwoInputs<T> kernel, bool reads_x) {
  if constexpr (kernels_take_half && std::is_same_v<T, float>)
    if (c.out[0].is_half()) return half_backward(c, kernel, reads_x);
  backward_of<PoolInPlace<T>>(c, kernel, reads_x);
}
template <class T>
void pick(const KernelCall& c) {
  const auto kernel = TANDEM_POOL_KERNEL(T, TwoInputs, pooling::pool_pick<T>);
  if constexpr (kernels_take_half && std::is_same_v<T, float>)
    if (c.out[0].is_half()) return half_pick(c, kernel);
  pick_of<PoolInPlace<T>>(c, kernel);
}

template <class T>
i64 winner_at(const PoolPlan& p, const T* image, i64 z, i64 y, i64 x, i64 channel) {
  using Number = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  i64 at = -1;
  Number best{};
  const auto inside = [](const WindowAxis& a, i64 t, i64 k) {
    const i64 q = t * a.stride - a.before + k * a.dilation;
    return q >= 0 && q < a.in ? q : -1;
  };
  for (i64 i = 0; i < p.axis[0].window; ++i)
    for (i64 j = 0; j < p.axis[1].window; ++j)
      for (i64 l = 0; l < p.axis[2].window; ++l) {
        const i64 pz = inside(p.axis[0], z, i), py = inside(p.axis[1], y, j), px = inside(p.axis[2], x, l);
        if (pz < 0 || py < 0 || px < 0) continue;
        const i64 q = ((pz * p.axis[1].in + py) * p.axis[2].in + px) * p.channels + channel;
        const Number v = static_cast<Number>(image[q]);
        if (at < 0 || v > best || (v != v && best == best)) best = v, at = q;
      }
  return at;
}
template <class T>
void argmax(const KernelCall& c) {
  const PoolPlan p = plan_of(c, c.in[0].shape());
  if (c.out[0].size() == 0) return;
  const bool batch = c.attrs.get<rules::PoolAttrs>().include_batch;
  const i64 size = c.in[0].size() / p.batch;
  each_row(p, [&](const PoolPart& r) {
    const T* const image = c.in[0].as<const T>() + r.image * size;
    i64* to =
        c.out[0].as<i64>() + ((r.image * p.axis[0].out + r.plane) * p.axis[1].out + r.row) * p.axis[2].out * p.channels;
    for (i64 t = 0; t < p.axis[2].out; ++t)
      for (i64 channel = 0; channel < p.channels; ++channel) {
        const i64 at = winner_at(p, image, r.plane, r.row, t, channel);
        *to++ = batch && at >= 0 ? at + r.image * size : at;
      }
  });
}

/// f(static_cast<T*>(nullptr)) for the type of a real dtype.
template <class F>
void with_real_type(DType d, F&& f) {
  switch (d) {
    case DType::float64: return f(static_cast<double*>(nullptr));
    case DType::int8: return f(static_cast<std::int8_t*>(nullptr));
    case DType::int16: return f(static_cast<std::int16_t*>(nullptr));
    case DType::int32: return f(static_cast<std::int32_t*>(nullptr));
    case DType::int64: return f(static_cast<i64*>(nullptr));
    case DType::uint8: return f(static_cast<std::uint8_t*>(nullptr));
    case DType::uint16: return f(static_cast<std::uint16_t*>(nullptr));
    case DType::uint32: return f(static_cast<std::uint32_t*>(nullptr));
    case DType::uint64: return f(static_cast<u64*>(nullptr));
    default: return f(static_cast<float*>(nullptr));
  }
}
template <class T>
void mean(const KernelCall& c) {
  forward<T>(c, TANDEM_POOL_KERNEL(T, Pool, pooling::avg_pool<T>));
}
template <class T>
void max_gradient(const KernelCall& c) {
  backward<T>(c, TANDEM_POOL_KERNEL(T, TwoInputs, pooling::max_pool_grad<T>), true);
}
template <class T>
void mean_gradient(const KernelCall& c) {
  backward<T>(c, TANDEM_POOL_KERNEL(T, TwoInputs, pooling::avg_pool_grad<T>), false);
}
inline bool is_double(const KernelCall& c) { return c.out[0].spec->dtype == DType::float64; }

}  // namespace pooling

TANDEM_INLINE void max_pool(const KernelCall& c) {
  pooling::with_real_type(c.out[0].spec->dtype, [&]<class T>(T*) {
    pooling::forward<T>(c, TANDEM_POOL_KERNEL(T, pooling::Pool, pooling::max_pool<T>));
  });
}
TANDEM_INLINE void max_pool_grad(const KernelCall& c) {
  pooling::is_double(c) ? pooling::max_gradient<double>(c) : pooling::max_gradient<float>(c);
}
TANDEM_INLINE void max_pool_pick(const KernelCall& c) {
  pooling::is_double(c) ? pooling::pick<double>(c) : pooling::pick<float>(c);
}
TANDEM_INLINE void max_pool_argmax(const KernelCall& c) {
  if constexpr (kernels_take_half)
    if (c.in[0].is_half())
      return c.in[0].spec->dtype == DType::float16 ? pooling::argmax<Half>(c) : pooling::argmax<BFloat16>(c);
  pooling::with_real_type(c.in[0].spec->dtype, [&]<class T>(T*) { pooling::argmax<T>(c); });
}
TANDEM_INLINE void avg_pool(const KernelCall& c) {
  pooling::is_double(c) ? pooling::mean<double>(c) : pooling::mean<float>(c);
}
TANDEM_INLINE void avg_pool_grad(const KernelCall& c) {
  pooling::is_double(c) ? pooling::mean_gradient<double>(c) : pooling::mean_gradient<float>(c);
}

}  // namespace TANDEM_NS::cpu
