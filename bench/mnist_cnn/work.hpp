// The work of the mnist_cnn scenario: conv 5x5x32, max pool, conv 5x5x64, max pool, 1024, 10 with relu on [128, 28, 28,
// 1], mean cross entropy, Adam. Filters are [5, 5, in, out], matrices [in, out], pictures channels last.
#pragma once
#include <cstdint>

#include "../runner.hpp"

namespace bench::mnist_cnn {

inline constexpr const char* name = "mnist_cnn/conv32_conv64_1024_10_b128_adam";
inline constexpr std::int64_t batch = 128, size = 28, window = 5, classes = 10;
inline constexpr std::int64_t channels[] = {1, 32, 64};
inline constexpr std::int64_t flat = 7 * 7 * 64, hidden = 1024;
inline constexpr double learning_rate = 1e-3, epsilon = 1e-8;
inline constexpr int checked_steps = 3;  // the losses of these steps are compared
inline constexpr std::uint32_t input_seed = 1, label_seed = 2;

inline std::vector<float> filter(int layer) {
  return normal(window * window * channels[layer] * channels[layer + 1], 10 + static_cast<std::uint32_t>(layer), 0.05f);
}
inline std::vector<float> hidden_kernel() { return normal(flat * hidden, 20, 0.02f); }
inline std::vector<float> output_kernel() { return normal(hidden * classes, 21, 0.02f); }

/// The operations of the products: forward, gradients of the weights, and of the inputs except the pictures.
inline double operations() {
  const double pixels = static_cast<double>(batch * size * size);
  const double first = 2 * pixels * 25 * 32, second = 2 * pixels / 4 * 25 * 32 * 64;
  const double dense = 2.0 * batch * static_cast<double>(flat * hidden + hidden * classes);
  return 2 * first + 3 * second + 3 * dense;
}
}  // namespace bench::mnist_cnn
