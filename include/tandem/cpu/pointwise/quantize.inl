// Definitions of cpu/pointwise/quantize.hpp.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "tandem/attrs/quantize.hpp"
#include "tandem/base/error.hpp"
#include "tandem/cpu/parallel.hpp"
#include "tandem/cpu/pointwise/quantize.hpp"

namespace TANDEM_NS::cpu {
namespace detail {

inline constexpr i64 quantize_grain = 16384;  // elements: about 20 us

// The value of a code is offset + code * step.
struct CodeScale {
  double step, offset, low, high;
};
template <class T>
CodeScale code_scale(const KernelCall& c, const QuantizeAttrs& a) {
  const auto low = static_cast<double>(a.low), high = static_cast<double>(a.high);
  const auto first = static_cast<double>(*c.in[1].as<const T>()), last = static_cast<double>(*c.in[2].as<const T>());
  if (!(first <= last))
    errors::raise<errors::InvalidArgumentError>(
        c.op, "min_range " + std::to_string(first) + " is above max_range " + std::to_string(last));
  if (!a.scaled) return {(last - first) / (high - low), first - low * ((last - first) / (high - low)), low, high};
  return {std::max(low < 0 ? first / low : 0.0, last / high), 0, low, high};
}
template <class T, class Q>
void quantize_as(const KernelCall& c, const QuantizeAttrs& a) {
  const CodeScale s = code_scale<T>(c, a);
  const T* x = c.in[0].as<const T>();
  Q* out = c.out[0].as<Q>();
  parallel_for(c.out[0].size(), quantize_grain, [=, to_even = a.to_even](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) {
      const double code = s.step > 0 ? (static_cast<double>(x[i]) - s.offset) / s.step : 0;
      const double inside = code >= s.low ? (code <= s.high ? code : s.high) : s.low;
      out[i] = static_cast<Q>(to_even ? std::nearbyint(inside) : std::round(inside));
    }
  });
}
template <class T, class Q>
void dequantize_as(const KernelCall& c, const QuantizeAttrs& a) {
  const CodeScale s = code_scale<T>(c, a);
  const Q* x = c.in[0].as<const Q>();
  T* out = c.out[0].as<T>();
  parallel_for(c.out[0].size(), quantize_grain, [=](i64 begin, i64 end) {
    for (i64 i = begin; i < end; ++i) out[i] = static_cast<T>(s.offset + static_cast<double>(x[i]) * s.step);
  });
}

}  // namespace detail

TANDEM_INLINE void quantize(const KernelCall& c) {
  const QuantizeAttrs& a = c.attrs.get<QuantizeAttrs>();
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
  const QuantizeAttrs& a = c.attrs.get<QuantizeAttrs>();
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
