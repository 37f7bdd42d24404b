// CPU kernels of scaled dot-product attention, forward and backward, tile by tile: the matrix of weights is never
// stored as a whole. Not here: shape rules, decompositions (ops/attention).
#pragma once
#include "tandem/attrs/attention.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

TANDEM_API void attention(const KernelCall& c);        // q k v [mask] -> y lse
TANDEM_API void attention_delta(const KernelCall& c);  // g y -> delta
TANDEM_API void attention_grad(const KernelCall& c);   // g q k v lse delta [mask] -> dq dk dv

}  // namespace TANDEM_NS::cpu
