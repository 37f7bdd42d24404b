// The work of the softmax scenario: softmax over the last axis, and log-softmax with the negative log likelihood of
// given classes.
#pragma once
#include <cstdint>

namespace bench::softmax {

inline constexpr std::int64_t rows = 128, columns = 1000;
inline constexpr std::int64_t tall_rows = 8192, tall_columns = 512;
inline constexpr const char* forward = "softmax/forward_128x1000";
inline constexpr const char* forward_backward = "softmax/forward_backward_128x1000";
inline constexpr const char* nll = "softmax/nll_forward_backward_128x1000";
inline constexpr const char* nll_tall = "softmax/nll_forward_backward_8192x512";
}  // namespace bench::softmax
