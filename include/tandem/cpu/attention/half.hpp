// Attention of float16 and bfloat16. Not in header-only mode, where it is computed as float32 (core/apply_inputs.hpp).
// The logsumexp and delta are float32. For the definitions of attention.hpp.
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu::detail {

void attention_half(const KernelCall& c);
void attention_delta_half(const KernelCall& c);
void attention_grad_half(const KernelCall& c);

}  // namespace TANDEM_NS::cpu::detail
