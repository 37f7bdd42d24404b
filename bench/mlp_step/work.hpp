// The work of the mlp_step scenario: 784-256-256-10 with relu, batch 128, mean cross entropy, Adam; weights as [in,
// out].
#pragma once
#include <cstdint>

#include "../runner.hpp"

namespace bench::mlp {

inline constexpr const char* name = "mlp_step/784_256_256_10_b128_adam";
inline constexpr int layers = 3;
inline constexpr std::int64_t widths[layers + 1] = {784, 256, 256, 10};
inline constexpr std::int64_t batch = 128, classes = 10;
inline constexpr double learning_rate = 1e-3, epsilon = 1e-8;
inline constexpr int checked_steps = 3;  // the losses of these steps are compared
inline constexpr std::uint32_t input_seed = 1, label_seed = 2;

inline std::vector<float> weights(int layer) {
  return normal(widths[layer] * widths[layer + 1], 10 + static_cast<std::uint32_t>(layer), 0.05f);
}

/// The operations of the forward pass, the gradient of the weights and the gradient of the activations
/// (not of the input).
inline double operations() {
  double sum = 0;
  for (int l = 0; l < layers; ++l)
    sum += (l == 0 ? 2 : 3) * 2.0 * batch * static_cast<double>(widths[l] * widths[l + 1]);
  return sum;
}
}  // namespace bench::mlp
