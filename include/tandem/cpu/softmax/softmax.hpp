// CPU kernels of the softmax family: forward, backward, and the cross entropies that contain a softmax.
// Not here: shape rules, gradients, references (ops/softmax/softmax.hpp, ops/softmax/cross_entropy.hpp).
#pragma once
#include "tandem/attrs/softmax.hpp"
#include "tandem/core/kernel.hpp"

namespace TANDEM_NS::cpu {

enum class SoftmaxOp { softmax, log_softmax, softmax_grad, log_softmax_grad, cross_entropy, cross_entropy_grad };

/// One op, element type and instruction set; pointers are to elements.
struct SoftmaxKernel {
  std::size_t width;
  void (*rows)(const void* const* in, void* out, const i64* step, i64 count, i64 n);
  void (*columns)(const void* const* in, void* out, i64 width, i64 n, i64 stride);
};

TANDEM_API void softmax(const KernelCall& c);                            // x
TANDEM_API void log_softmax(const KernelCall& c);                        // x
TANDEM_API void softmax_grad(const KernelCall& c);                       // g, y
TANDEM_API void log_softmax_grad(const KernelCall& c);                   // g, y
TANDEM_API void softmax_cross_entropy(const KernelCall& c);              // labels, logits
TANDEM_API void softmax_cross_entropy_grad(const KernelCall& c);         // g, labels, logits
TANDEM_API void sparse_softmax_cross_entropy(const KernelCall& c);       // labels, logits
TANDEM_API void sparse_softmax_cross_entropy_grad(const KernelCall& c);  // g, labels, logits
TANDEM_API void one_hot_like(const KernelCall& c);                       // labels, logits

}  // namespace TANDEM_NS::cpu
