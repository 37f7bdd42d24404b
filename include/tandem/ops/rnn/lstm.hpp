// The LSTM (Hochreiter & Schmidhuber 1997, with the forget gate of Gers et al. 2000) as one op over all steps, and
// as a single step composed of basic ops. Gate order i, f, g, o:
//  z = x Wx + h Wh + b;  c' = s(z_f) c + s(z_i) tanh(z_g);  h' = s(z_o) tanh(c')        s: the logistic function
#pragma once
#include "tandem/core/apply.hpp"

namespace TANDEM_NS {
namespace nn {

struct LstmState {
  Tensor h, c;  ///< the output and the cell state, [b, u] each
};
/// Computes one LSTM step with basic ops, for hand-written loops.
///   x         [b, i]; h and c: [b, u]; kernel: [i, 4u]; recurrent_kernel: [u, 4u]; bias: [4u]; all of one floating
///             dtype
///   returns   the new h and c, [b, u]
///   gradient  that of the ops it is composed of
TANDEM_API LstmState lstm_cell(const Tensor& x, const LstmState& state, const Tensor& kernel,
                               const Tensor& recurrent_kernel, const Tensor& bias);

struct LstmResult {
  Tensor output;    ///< [t, b, u]
  LstmState state;  ///< after the last step of each row
};
struct LstmOptions {
  TANDEM_OP_OPTIONS;
  Tensor sequence_length = {};  ///< [b], int32 or int64; past its length a row outputs zeros and keeps its
                                ///< state, whatever x is there, NaN included
};
/// Computes all steps of an LSTM in one fused kernel. float16 and bfloat16 are widened some steps at a time (whole in
/// header-only programs and on GPUs); products, the state from step to step and sums over steps are float32. What is
/// stored is rounded: the results, the gates and cells that the gradient reads, and gradients, each once.
///   x         [t, b, i]; state: [b, u]; weights as lstm_cell; floating
///   throws    errors::InvalidArgumentError if shapes or dtypes do not match, or a length is outside [0, t]
///   gradient  to all inputs except the lengths, through all steps in one fused kernel
TANDEM_API LstmResult lstm(const Tensor& x, const LstmState& initial, const Tensor& kernel,
                           const Tensor& recurrent_kernel, const Tensor& bias, LstmOptions options = {});

}  // namespace nn

TANDEM_OPS(lstm_ops, lstm, lstm_grad)

}  // namespace TANDEM_NS
