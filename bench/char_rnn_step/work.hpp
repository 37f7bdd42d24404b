// The work of the char_rnn_step scenario: embedding 80 x 256, two LSTM layers of 256, dense to 80 symbols; batch 50, 50
// steps, mean cross entropy, gradients clipped to a global norm of 5, Adam. Gates and kernels as in lstm_step.
#pragma once
#include "../runner.hpp"

namespace bench::char_rnn {

inline constexpr const char* name = "char_rnn_step/2x256_b50_T50_v80_adam";
inline constexpr std::int64_t symbols = 80, units = 256, batch = 50, steps = 50;
inline constexpr int layers = 2;
inline constexpr double learning_rate = 2e-3, epsilon = 1e-8, clip = 5;
inline constexpr std::uint32_t input_seed = 1, label_seed = 2;

inline std::vector<float> embedding() { return normal(symbols * units, 3, 0.05f); }
inline std::vector<float> kernel(int layer) {
  return normal(units * 4 * units, 10 + static_cast<std::uint32_t>(layer), 0.05f);
}
inline std::vector<float> recurrent(int layer) {
  return normal(units * 4 * units, 20 + static_cast<std::uint32_t>(layer), 0.05f);
}
inline std::vector<float> output() { return normal(units * symbols, 4, 0.05f); }

inline double operations() {
  const double rows = static_cast<double>(batch * steps), h = static_cast<double>(units);
  return 3 * 2.0 * rows * (layers * 2 * h * 4 * h + h * static_cast<double>(symbols));
}
}  // namespace bench::char_rnn
