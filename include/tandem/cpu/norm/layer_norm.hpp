// CPU kernels of layer_norm and rms_norm, forward and backward.
// Not here: shape rules, decompositions (ops/norm/layer_norm.hpp), batch statistics (batch_norm.hpp).
#pragma once
#include "tandem/attrs/norm.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

TANDEM_API void layer_norm(const KernelCall& c);       // x [scale] [offset] -> y
TANDEM_API void layer_norm_grad(const KernelCall& c);  // g x [scale] -> dx [dscale] [doffset]
TANDEM_API void rms_norm(const KernelCall& c);         // x [scale] -> y
TANDEM_API void rms_norm_grad(const KernelCall& c);    // g x [scale] -> dx [dscale]
/// The bytes of scratch that the backward kernels need: partial sums of the parameters' gradients.
TANDEM_API std::size_t layer_norm_grad_workspace(const Spec& x, const rules::LayerNormAttrs& a);

}  // namespace TANDEM_NS::cpu
