// One LSTM layer with its weights as Variables, for the recurrent scenarios.
#pragma once
#include "tandem.hpp"

namespace bench {

struct TandemLstm {
  tandem::Variable kernel, recurrent, bias;

  tandem::nn::LstmState zero_state(std::int64_t batch) const {
    const tandem::Tensor zeros = tandem::zeros({batch, recurrent.shape()[0]});
    return {zeros, zeros};
  }

  /// Runs all steps with the fused op: [t, b, i] -> [t, b, u].
  tandem::Tensor outputs(const tandem::Tensor& x) const {
    return tandem::nn::lstm(x, zero_state(x.shape()[1]), kernel, recurrent, bias).output;
  }

  /// The same as a loop over a cell made of elementary operations.
  tandem::Tensor outputs_by_cells(const tandem::Tensor& x) const {
    tandem::nn::LstmState state = zero_state(x.shape()[1]);
    const tandem::Tensor k = kernel, r = recurrent, b = bias;
    std::vector<tandem::Tensor> all;
    for (std::int64_t t = 0; t < x.shape()[0]; ++t) {
      state = tandem::nn::lstm_cell(x[t], state, k, r, b);
      all.push_back(state.h);
    }
    return tandem::stack(all);
  }
};
}  // namespace bench
