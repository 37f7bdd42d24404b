// The work of the pool scenario: maxima and means of windows of 2x2 pixels, channels last.
#pragma once
#include <cstdint>

namespace bench::pool {

inline constexpr std::int64_t batch = 128, size = 28, channels = 32;
inline constexpr std::int64_t pixels_in = batch * size * size, pixels_out = pixels_in / 4;
inline constexpr const char* max_forward = "pool/max_forward_128x28x28x32";
inline constexpr const char* max_forward_backward = "pool/max_forward_backward_128x28x28x32";
inline constexpr const char* avg_forward = "pool/avg_forward_128x28x28x32";
inline constexpr const char* avg_forward_backward = "pool/avg_forward_backward_128x28x28x32";
}  // namespace bench::pool
