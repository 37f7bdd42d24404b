// Pooling of float16 and bfloat16 by the kernels of float32. Not in header-only mode. For the definitions of pool.hpp.
#pragma once
#include "tandem/cpu/conv/pool_plan.hpp"

namespace TANDEM_NS::cpu::pooling {

void half_forward(const KernelCall& c, Pool<float> kernel);
void half_pick(const KernelCall& c, TwoInputs<float> kernel);
/// reads_x: the kernel reads in1, and not only its shape matters.
void half_backward(const KernelCall& c, TwoInputs<float> kernel, bool reads_x);

}  // namespace TANDEM_NS::cpu::pooling
