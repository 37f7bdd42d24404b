// The GRU (Cho et al. 2014) as one op over all steps, and as a single step composed of basic ops. Gate order z, r,
// h:
//  reset_after:  h' = z h + (1 - z) tanh(x W + b + r (h U + b2)), as in cuDNN; z and r: s(x W + b + h U + b2)
//  otherwise:    h' = z h + (1 - z) tanh(x W + (r h) U + b), the original form, composed of basic ops only
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace nn {

/// Computes one GRU step with basic ops, for hand-written loops.
///   x         [b, i]; h: [b, u]; kernel: [i, 3u]; recurrent_kernel: [u, 3u]; all of one floating dtype
///   bias      [2, 3u] (input bias, recurrent bias); [3u] if reset_after is false
///   returns   the new h, [b, u]
///   gradient  that of the ops it is composed of
TANDEM_API Tensor gru_cell(const Tensor& x, const Tensor& h, const Tensor& kernel, const Tensor& recurrent_kernel,
                           const Tensor& bias, bool reset_after = true);

struct GruResult {
  Tensor output;  ///< [t, b, u]
  Tensor state;   ///< [b, u], after the last step of each row
};
struct GruOptions {
  TANDEM_OP_OPTIONS;
  Tensor sequence_length = {};  ///< [b], int32 or int64; past its length a row outputs zeros and keeps its
                                ///< state, whatever x is there, NaN included
};
/// Computes all steps of a GRU (reset_after form) in one fused kernel. float16 and bfloat16 are widened some steps at a
/// time (whole in header-only programs and on GPUs); products, the state from step to step and sums over steps are
/// float32. What is stored is rounded: the results, the gates and sums that the gradient reads, and gradients, each
/// once.
///   x         [t, b, i]; initial: [b, u]; weights as gru_cell; floating
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match, or a length is outside [0, t]
///   gradient  to all inputs except the lengths, through all steps in one fused kernel
TANDEM_API GruResult gru(const Tensor& x, const Tensor& initial, const Tensor& kernel, const Tensor& recurrent_kernel,
                         const Tensor& bias, GruOptions options = {});

}  // namespace nn

TANDEM_OPS(gru_ops, gru, gru_grad)

}  // namespace TANDEM_NS
