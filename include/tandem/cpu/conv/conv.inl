// Definitions of cpu/conv/conv.hpp.
#pragma once
#include <cstring>

#include "tandem/cpu/conv/conv.hpp"
#include "tandem/cpu/conv/driver.hpp"
#include "tandem/cpu/conv/half.hpp"

namespace TANDEM_NS::cpu {
namespace convolution {

inline void convolve(const KernelCall& c, const rules::ConvAttrs& a, FusedActivation activation) {
  if (c.out[0].size() == 0) return;
  if constexpr (kernels_take_half)
    if (c.out[0].is_half()) return convolve_half(c, a, activation);
  c.out[0].spec->dtype == DType::float64 ? convolve<InPlace<double>>(c, a, activation)
                                         : convolve<InPlace<float>>(c, a, activation);
}
inline void clear(const Operand& y) { std::memset(y.data, 0, y.spec->bytes()); }

}  // namespace convolution

TANDEM_INLINE void conv(const KernelCall& c) {
  convolution::convolve(c, c.attrs.get<rules::ConvAttrs>(), FusedActivation::none);
}
TANDEM_INLINE void fused_conv(const KernelCall& c) {
  const auto& a = c.attrs.get<rules::FusedConvAttrs>();
  convolution::convolve(c, a, a.activation);
}
TANDEM_INLINE void conv_transpose(const KernelCall& c) {
  const Operand &g = c.in[0], &w = c.in[1], &dx = c.out[0];
  if (dx.size() == 0) return;
  if (g.size() == 0 || w.size() == 0) return convolution::clear(dx);
  const auto s = convolution::sizes_of(c.attrs.get<rules::ConvAttrs>(), dx.shape(), w.shape());
  if constexpr (kernels_take_half)
    if (dx.is_half()) return convolution::backward_half(c, s);
  if (dx.spec->dtype == DType::float64) convolution::backward<convolution::InPlace<double>>(c, s);
  else convolution::backward<convolution::InPlace<float>>(c, s);
}
TANDEM_INLINE void conv_filter_grad(const KernelCall& c) {
  const Operand &x = c.in[0], &g = c.in[1], &dw = c.out[0];
  if (dw.size() == 0) return;
  if (x.size() == 0 || g.size() == 0) return convolution::clear(dw);
  const auto s = convolution::sizes_of(c.attrs.get<rules::ConvAttrs>(), x.shape(), dw.shape());
  if constexpr (kernels_take_half)
    if (dw.is_half()) return convolution::filter_gradient_half(c, s);
  if (dw.spec->dtype == DType::float64) convolution::filter_gradient<convolution::InPlace<double>>(c, s);
  else convolution::filter_gradient<convolution::InPlace<float>>(c, s);
}

}  // namespace TANDEM_NS::cpu
