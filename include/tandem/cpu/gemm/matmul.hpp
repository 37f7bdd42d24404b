// Batches of matrix products over cpu/gemm: which matrices meet, and which operand is conjugated first.
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
/// Bytes of scratch that `matmul` wants for operands of these specs.
TANDEM_API std::size_t matmul_workspace(const Spec& a, const Spec& b, const MatmulFlags& flags);

/// One product [rows, k] x [k, n] + bias, activated, for float32 and float64.
TANDEM_API void dense(const KernelCall& c, Activation activation);
TANDEM_API std::size_t dense_workspace(const Spec& x, const Spec& w);

}  // namespace TANDEM_NS::cpu
