// The weights of an LSTM or GRU in cuDNN's weight space, and gradients back. For host code; the kernels are in pack.cu.
#pragma once
#include "cuda/queue.hpp"

namespace TANDEM_NS::cuda {

/// Where the weights lie, in numbers from the beginning of the space. By gate in the order of our kernels, those of the
/// input first, then those of the state: a matrix [units, features], which is our [features, units] transposed, and a
/// bias [units].
struct RnnPacking {
  i64 in, units;
  int gates;
  i64 matrix[8], bias[8];
};
/// Our weights: [in, gates units], [units, gates units], and `biases` numbers of [gates units] or [2, gates units].
template <class T>
struct RnnWeights {
  T *kernel, *recurrent, *bias;
  i64 biases;
};

/// Copies the weights into the space. A state bias that our weights lack is 0.
void pack_rnn(const KernelCall& c, const RnnPacking& p, const RnnWeights<const float>& from, float* space);
/// Copies what lies in the space back. Of biases those that we have.
void unpack_rnn(const KernelCall& c, const RnnPacking& p, const float* space, const RnnWeights<float>& to);

}  // namespace TANDEM_NS::cuda
