// The work of the tiny_step scenario: 2-8-1 with tanh, batch 4, mean squared error, SGD: dominated by overhead.
#pragma once
#include "../runner.hpp"

namespace bench::tiny {

inline constexpr const char* name = "tiny_step/2_8_1_b4_sgd";
inline constexpr std::int64_t batch = 4, inputs = 2, hidden = 8;
inline constexpr double learning_rate = 1e-2;
inline constexpr int checked_steps = 10;
inline constexpr std::uint32_t input_seed = 1, target_seed = 2, kernel_1_seed = 3, kernel_2_seed = 4;
}  // namespace bench::tiny
