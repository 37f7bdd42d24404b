// The work of the random scenario: normal numbers, and dropout of a million elements.
#pragma once
#include <cstdint>

namespace bench::random_numbers {

inline constexpr std::int64_t draws = 300000, dropped = std::int64_t{1} << 20;
inline constexpr double rate = 0.3;
inline constexpr const char* normal = "random/normal_300k";
inline constexpr const char* uniform = "random/uniform_300k";
inline constexpr const char* dropout = "random/dropout_1M";
}  // namespace bench::random_numbers
