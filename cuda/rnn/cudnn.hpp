// LSTM and GRU by cuDNN, for programs that ask for it: its recurrent functions in float32, over all steps of all rows.
// For host code; not here: our own kernels (lstm.cu, gru.cu).
//
// cuDNN leaves for the gradient what it calls the reserve space, of a size of its own. It takes the place of the gates,
// which then are [t, b, any], and the second residual is [t, b, 0]: so the shapes say who computes the gradient. What
// cuDNN does not support is our kernels'. Any other failure of cuDNN is an error, and the next call tries again.
#pragma once
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

enum class RnnCell { lstm, gru };

/// Whether residuals are cuDNN's, by the op's second one.
inline bool is_of_cudnn(const Operand& second, i64 units) { return units > 0 && second.shape()[2] == 0; }

/// The ops lstm and gru, and their gradients, of float32 without lengths.
///   throws  errors::CudaError in the op's name if cuDNN fails, errors::InvalidArgumentError for a gradient whose
///           residuals cuDNN did not make, errors::UnimplementedError in a capture
void rnn_by_cudnn(const KernelCall& c, RnnCell cell);
void rnn_grad_by_cudnn(const KernelCall& c, RnnCell cell);

/// Whether cuDNN computes LSTM and GRU from now on, if it is there. At first what TANDEM_CUDNN_RNN=1 says.
void use_cudnn_rnn(bool use);
/// For tests: whether cuDNN's recurrent functions are there, and how many ops they have computed.
bool has_cudnn_rnn();
u64 cudnn_recurrences();

}  // namespace TANDEM_NS::cuda
