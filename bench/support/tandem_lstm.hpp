// The weights of one LSTM layer as Variables, for the recurrent scenarios.
#pragma once
#include "tandem.hpp"

namespace bench {

struct TandemLstm {
  tandem::Variable kernel, recurrent, bias;

  tandem::nn::LstmState zero_state(std::int64_t batch) const {
    const tandem::Tensor zeros = tandem::zeros({batch, recurrent.shape()[0]});
    return {zeros, zeros};
  }

  /// All steps by the fused op: [t, b, i] -> [t, b, u].
  tandem::Tensor outputs(const tandem::Tensor& x) const {
    return tandem::nn::lstm(x, zero_state(x.shape()[1]), kernel, recurrent, bias).output;
  }
};
}  // namespace bench
