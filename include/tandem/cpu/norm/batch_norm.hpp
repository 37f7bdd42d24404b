// CPU kernels of fused_batch_norm in training, forward and backward, for channels on any axis.
// Not here: shape rules, decompositions, inference (ops/norm/batch_norm.hpp).
#pragma once
#include "tandem/attrs/norm.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

TANDEM_API void batch_norm(const KernelCall& c);       // x scale offset -> y mean variance
TANDEM_API void batch_norm_grad(const KernelCall& c);  // g x scale mean variance -> dx dscale doffset
/// The bytes of scratch that both need.
TANDEM_API std::size_t batch_norm_workspace(const Spec& x, const rules::BatchNormAttrs& a);

}  // namespace TANDEM_NS::cpu
