// CPU kernels of the reductions, and the fold on which they and the softmax family are built.
// Not here: shape rules and gradients (ops/reduce), arg-reductions and scans (cpu/reduce/arg_reduce.hpp,
// cpu/reduce/scan.hpp).
#pragma once
#include "tandem/attrs/reduce.hpp"
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/reduce/fold.hpp"
#include "tandem/cpu/reduce/plan.hpp"

namespace TANDEM_NS::cpu {

/// Folds the axes in `mask` of a dense array, on several threads where that pays. The result depends on the shape and
/// the instruction set, not on the number of threads.
///   param   one value for each output, or null
///   out     dense, the kept axes in order
///   parts   how many numbers make an element (2 for complex sums)
TANDEM_API void fold(const FoldKernel& k, const void* x, const Shape& shape, std::uint32_t mask, const void* param,
                     void* out, i64 parts = 1);

TANDEM_API void sum_to_like(const KernelCall& c);
TANDEM_API void broadcast_like(const KernelCall& c);
TANDEM_API void size_of(const KernelCall& c);

TANDEM_API void reduce_sum(const KernelCall& c);
TANDEM_API void reduce_mean(const KernelCall& c);
TANDEM_API void reduce_prod(const KernelCall& c);
TANDEM_API void reduce_max(const KernelCall& c);
TANDEM_API void reduce_min(const KernelCall& c);
TANDEM_API void reduce_any(const KernelCall& c);
TANDEM_API void reduce_all(const KernelCall& c);
TANDEM_API void reduce_logsumexp(const KernelCall& c);
TANDEM_API void reduce_variance(const KernelCall& c);
TANDEM_API void reduce_std(const KernelCall& c);
TANDEM_API void reduce_euclidean_norm(const KernelCall& c);
TANDEM_API void count_nonzero(const KernelCall& c);

}  // namespace TANDEM_NS::cpu
