// The work of the attention scenario: scaled dot-product attention of 8 heads of width 64 over sequences of equal
// length.
#pragma once
#include <cstdint>

namespace bench::attention {

inline constexpr std::int64_t heads = 8, width = 64;
inline constexpr std::int64_t short_length = 128, long_length = 2048;
inline constexpr const char* forward_short = "attention/forward_8x128x64";
inline constexpr const char* forward_long = "attention/forward_8x2048x64";
inline constexpr const char* forward_causal = "attention/forward_causal_8x2048x64";
inline constexpr const char* forward_backward_short = "attention/forward_backward_8x128x64";
inline constexpr const char* forward_backward_long = "attention/forward_backward_8x2048x64";
}  // namespace bench::attention
