// The work of the layer_norm scenario: layer normalization over the last axis with scale and offset, and batch
// normalization in training.
#pragma once
#include <cstdint>

namespace bench::layer_norm {

inline constexpr double epsilon = 1e-3;
inline constexpr std::int64_t rows = 128, columns = 1000;
inline constexpr std::int64_t batch = 64, steps = 128, features = 512;
inline constexpr std::int64_t images = 128, side = 14, channels = 64;
inline constexpr const char* forward = "layer_norm/forward_128x1000";
inline constexpr const char* forward_backward = "layer_norm/forward_backward_128x1000";
inline constexpr const char* sequence = "layer_norm/forward_backward_64x128x512";
inline constexpr const char* batch_forward = "layer_norm/batch_norm_forward_128x14x14x64";
inline constexpr const char* batch_forward_backward = "layer_norm/batch_norm_forward_backward_128x14x14x64";
}  // namespace bench::layer_norm
