// Definitions of cpu/pointwise/quantize.hpp.
#pragma once
#include "tandem/attrs/quantize.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/code_scale.hpp"
#include "tandem/cpu/pointwise/quantize.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

inline constexpr i64 quantize_grain = 16384;  // elements: about 20 us

template <class T, class Q>
void quantize_as(const KernelCall& c, const rules::QuantizeAttrs& a) {
  const CodeScale s = code_scale<T>(c, a);
  const T* x = c.in[0].as<const T>();
  Q* out = c.out[0].as<Q>();
  parallel_for(c.out[0].size(), quantize_grain, [=, to_even = a.to_even](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) out[i] = static_cast<Q>(s.code_of(static_cast<double>(x[i]), to_even));
  });
}
template <class T, class Q>
void dequantize_as(const KernelCall& c, const rules::QuantizeAttrs& a) {
  const CodeScale s = code_scale<T>(c, a);
  const Q* x = c.in[0].as<const Q>();
  T* out = c.out[0].as<T>();
  parallel_for(c.out[0].size(), quantize_grain, [=](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) out[i] = static_cast<T>(s.offset + static_cast<double>(x[i]) * s.step);
  });
}

}  // namespace detail

TANDEM_INLINE void quantize(const KernelCall& c) {
  const rules::QuantizeAttrs& a = c.attrs.get<rules::QuantizeAttrs>();
  const bool single = c.in[0].spec->dtype == DType::float32;
  switch (a.dtype) {
    case DType::quint8:
      return single ? detail::quantize_as<float, std::uint8_t>(c, a) : detail::quantize_as<double, std::uint8_t>(c, a);
    case DType::qint8:
      return single ? detail::quantize_as<float, std::int8_t>(c, a) : detail::quantize_as<double, std::int8_t>(c, a);
    default:
      return single ? detail::quantize_as<float, std::int32_t>(c, a) : detail::quantize_as<double, std::int32_t>(c, a);
  }
}
TANDEM_INLINE void dequantize(const KernelCall& c) {
  const rules::QuantizeAttrs& a = c.attrs.get<rules::QuantizeAttrs>();
  const bool single = a.dtype == DType::float32;
  switch (c.in[0].spec->dtype) {
    case DType::quint8:
      return single ? detail::dequantize_as<float, std::uint8_t>(c, a)
                    : detail::dequantize_as<double, std::uint8_t>(c, a);
    case DType::qint8:
      return single ? detail::dequantize_as<float, std::int8_t>(c, a)
                    : detail::dequantize_as<double, std::int8_t>(c, a);
    default:
      return single ? detail::dequantize_as<float, std::int32_t>(c, a)
                    : detail::dequantize_as<double, std::int32_t>(c, a);
  }
}

}  // namespace TANDEM_NS::cpu
