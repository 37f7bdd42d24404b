// Convolutions of float16 and bfloat16. Not in header-only mode, where they are computed as float32
// (core/apply_inputs.hpp). For the definitions of conv.hpp, which check for empty operands.
#pragma once
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/conv/make_plan.hpp"

namespace TANDEM_NS::cpu::convolution {

void convolve_half(const KernelCall& c, const rules::ConvAttrs& a, FusedActivation activation);
void backward_half(const KernelCall& c, const Sizes& s);
void filter_gradient_half(const KernelCall& c, const Sizes& s);

}  // namespace TANDEM_NS::cpu::convolution
