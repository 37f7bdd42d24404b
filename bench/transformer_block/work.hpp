// The work of the transformer_block scenario: an encoder block, 256 wide, 8 heads, 128 tokens, batch 16: x += attention
// of the normalized x, x += dense 256 of gelu of dense 1024 of the normalized x; mean square of the result, AdamW.
// Matrices are [in, out]; query, key and value are the thirds of one projection.
#pragma once
#include <cstdint>

#include "../runner.hpp"

namespace bench::transformer {

inline constexpr const char* name = "transformer_block/256_8heads_b16_t128_adamw";
inline constexpr std::int64_t batch = 16, tokens = 128, width = 256, heads = 8, inner = 1024;
inline constexpr double learning_rate = 1e-3, epsilon = 1e-8, decay = 0.01, norm_epsilon = 1e-5;
inline constexpr int checked_steps = 3;  // the losses of these steps are compared
inline constexpr std::uint32_t input_seed = 1;

inline constexpr std::int64_t shapes[][2] = {{width, 3 * width}, {width, width}, {width, inner}, {inner, width}};
inline std::vector<float> kernel(int i) {
  return normal(shapes[i][0] * shapes[i][1], 10 + static_cast<std::uint32_t>(i), 0.05f);
}

/// The operations of the products, three times those of the forward pass; the first has no gradient to its input less.
inline double operations() {
  double rows = static_cast<double>(batch * tokens), sum = 0;
  for (const auto& s : shapes) sum += 2 * rows * static_cast<double>(s[0] * s[1]);
  return 3 * (sum + 4 * rows * static_cast<double>(tokens * width));
}
}  // namespace bench::transformer
