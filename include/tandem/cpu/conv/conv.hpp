// CPU kernels of convolutions over one to three spatial axes, for float32 and float64. Images are [batch, spatial...,
// channels], filters [spatial..., in, out]; the number of groups is the image's channels divided by the filter's.
// Not here: shape rules and gradients (ops/conv/conv.hpp).
#pragma once
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

/// out = in0 convolved with in1 (cross-correlation). The attributes are rules::ConvAttrs, as for all but one here.
TANDEM_API void conv(const KernelCall& c);
/// The same with an epilogue, activation((y + in2) * in3 + in4), of which inputs may be missing from the end on. The
/// attributes are rules::FusedConvAttrs.
TANDEM_API void fused_conv(const KernelCall& c);
/// out = the transposed convolution: the gradient of conv's input, where in0 is the gradient of its result and in1 the
/// filter.
TANDEM_API void conv_transpose(const KernelCall& c);
/// out = the gradient of conv's filter, where in0 is its input and in1 the gradient of its result.
TANDEM_API void conv_filter_grad(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
