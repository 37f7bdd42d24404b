// Batches of matrix products over cpu/gemm: which matrices are multiplied, and which operand is conjugated first.
// Not here: shape rules (ops/linalg/matmul), the product itself (gemm.hpp).
#pragma once
#include "tandem/core/kernel.hpp"
#include "tandem/cpu/gemm/gemm.hpp"

namespace TANDEM_NS::cpu {

struct MatmulFlags {
  bool transpose_a = false, transpose_b = false;
  bool conjugate_a = false, conjugate_b = false;
};

/// out[..., m, n] = op(in0)[..., m, k] op(in1)[..., k, n], leading axes broadcast.
TANDEM_API void matmul(const KernelCall& c, const MatmulFlags& flags);
/// The bytes of scratch that `matmul` needs for operands of these specs.
TANDEM_API std::size_t matmul_workspace(const Spec& a, const Spec& b, const MatmulFlags& flags);

/// Computes activation([rows, k] x [k, n] + bias) as one product, for float32 and float64.
TANDEM_API void dense(const KernelCall& c, FusedActivation activation);
TANDEM_API std::size_t dense_workspace(const Spec& x, const Spec& w);

}  // namespace TANDEM_NS::cpu
