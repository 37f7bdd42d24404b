// LSTM layers and cells in LibTorch with given weights, for the recurrent scenarios.
#pragma once
#include "libtorch.hpp"

namespace bench {

/// Weights as [in, 4 units] in the order input, forget, cell, output; LibTorch stores [4 units, in] in the same order.
inline void set_lstm(torch::nn::LSTM& lstm, const std::string& layer, const at::Tensor& kernel,
                     const at::Tensor& recurrent, const at::Tensor& bias) {
  const torch::NoGradGuard guard;
  auto parameters = lstm->named_parameters();
  parameters["weight_ih_" + layer].copy_(kernel.t());
  parameters["weight_hh_" + layer].copy_(recurrent.t());
  parameters["bias_ih_" + layer].copy_(bias);
  parameters["bias_hh_" + layer].zero_();
}

/// An LSTM cell written with elementary operations, as a user would write it.
struct TorchCell {
  at::Tensor kernel, bias;  // [inputs + units, 4 units], [4 units]

  TorchCell(const at::Tensor& k, const at::Tensor& r, const at::Tensor& b)
      : kernel(torch::cat({k, r}, 0).requires_grad_()), bias(b.clone().requires_grad_()) {}

  void operator()(const at::Tensor& x, at::Tensor& h, at::Tensor& c) const {
    const auto gates = (torch::matmul(torch::cat({x, h}, 1), kernel) + bias).chunk(4, 1);
    c = torch::sigmoid(gates[1]) * c + torch::sigmoid(gates[0]) * torch::tanh(gates[2]);
    h = torch::sigmoid(gates[3]) * torch::tanh(c);
  }
};

inline at::Tensor torch_from(std::vector<float> values, at::IntArrayRef shape) {
  return torch::from_blob(values.data(), shape).clone();
}
}  // namespace bench
