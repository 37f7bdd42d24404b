// The work of the lstm_step scenario. Gates in the order input, forget, cell, output; kernels as [in, 4 units]; forget
// bias 1, other biases 0.
#pragma once
#include "../runner.hpp"

namespace bench::lstm {

struct Case {
  const char* name;
  std::int64_t batch, steps, inputs, units;

  std::vector<float> x() const { return normal(steps * batch * inputs, 1); }  // [steps, batch, inputs]
  std::vector<float> kernel() const { return normal(inputs * 4 * units, 2, 0.05f); }
  std::vector<float> recurrent() const { return normal(units * 4 * units, 3, 0.05f); }
  std::vector<float> bias() const {
    std::vector<float> values(static_cast<std::size_t>(4 * units));
    for (std::int64_t i = units; i < 2 * units; ++i) values[i] = 1;
    return values;
  }

  /// The operations of the forward pass, the gradient of the kernels and the gradient of the state
  /// (not of the input).
  double operations() const {
    const double gates = 2.0 * static_cast<double>(steps * batch) * 4 * static_cast<double>(units);
    return gates * (2.0 * static_cast<double>(inputs) + 3.0 * static_cast<double>(units));
  }
};

/// Forward, backward of the sum of all outputs, Adam. Compared: the sum and the kernels' gradients of the first step.
inline constexpr Case training = {"lstm_step/b64_T50_h256_in128_adam", 64, 50, 128, 256};
inline constexpr double learning_rate = 1e-4, epsilon = 1e-8;

/// Forward and backward of the sum of the last output; dominated by overhead.
inline constexpr Case small = {"lstm_step/b1_T50_h32_forward_backward", 1, 50, 32, 32};
}  // namespace bench::lstm
