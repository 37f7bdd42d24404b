// Definitions of cpu/attention/attention.hpp.
#pragma once
#include "tandem/cpu/attention/attention.hpp"
#include "tandem/cpu/attention/driver.hpp"
#include "tandem/cpu/attention/half.hpp"

namespace TANDEM_NS::cpu {

TANDEM_INLINE void attention(const KernelCall& c) {
  if constexpr (kernels_take_half)
    if (c.in[0].is_half()) return detail::attention_half(c);
  if (c.in[0].spec->dtype == DType::float64) detail::attention_of<detail::InPlace<double>>(c);
  else detail::attention_of<detail::InPlace<float>>(c);
}
TANDEM_INLINE void attention_delta(const KernelCall& c) {
  if constexpr (kernels_take_half)
    if (c.in[0].is_half()) return detail::attention_delta_half(c);
  if (c.in[0].spec->dtype == DType::float64) detail::attention_delta_of<detail::InPlace<double>>(c);
  else detail::attention_delta_of<detail::InPlace<float>>(c);
}
TANDEM_INLINE void attention_grad(const KernelCall& c) {
  if constexpr (kernels_take_half)
    if (c.in[0].is_half()) return detail::attention_grad_half(c);
  if (c.in[0].spec->dtype == DType::float64) detail::AttentionGrad<detail::InPlace<double>>(c).run();
  else detail::AttentionGrad<detail::InPlace<float>>(c).run();
}

}  // namespace TANDEM_NS::cpu
