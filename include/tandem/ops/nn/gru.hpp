// The GRU (Cho et al. 2014) as one op over all steps, and as one step of small ops. Gate order z, r, h:
//   reset_after:  h' = z h + (1 - z) tanh(x W + b + r (h U + b2)), as cuDNN has it; z and r: s(x W + b + h U + b2)
//   otherwise:    h' = z h + (1 - z) tanh(x W + (r h) U + b), the classic form, by small ops only
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace nn {

/// One step by small ops, for loops that a user writes.
///   x [b, i], h [b, u], kernel [i, 3u], recurrent_kernel [u, 3u]; one floating dtype
///   bias      [2, 3u] (the input's, the state's); [3u] if not reset_after
///   returns   the new h [b, u]
///   gradient  by the ops it is made of
TANDEM_API Tensor gru_cell(const Tensor& x, const Tensor& h, const Tensor& kernel, const Tensor& recurrent_kernel,
                           const Tensor& bias, bool reset_after = true);

struct GruResult {
  Tensor output;  ///< [t, b, u]
  Tensor state;   ///< [b, u], after the last step of each row
};
struct GruOptions {
  TANDEM_OP_OPTIONS;
  Tensor sequence_length = {};  ///< [b], int32 or int64: past it a row gives zeros and keeps its state
};
/// All steps in one fused kernel, reset_after form.
///   x [t, b, i], initial [b, u], weights as gru_cell; float32 or float64
///   throws    errors::InvalidArgumentError if shapes or dtypes do not fit, or a length is outside of [0, t]
///   gradient  to all but the lengths, through all steps in one fused kernel
TANDEM_API GruResult gru(const Tensor& x, const Tensor& initial, const Tensor& kernel, const Tensor& recurrent_kernel,
                         const Tensor& bias, GruOptions options = {});

}  // namespace nn

extern TANDEM_API const OpDef gru_op, gru_grad_op;
inline constexpr const OpDef* gru_ops[] = {&gru_op, &gru_grad_op};

}  // namespace TANDEM_NS
