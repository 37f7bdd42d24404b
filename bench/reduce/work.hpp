// The work of the reduce scenario: sums of a 4096 x 4096 matrix over either axis.
#pragma once
#include <cstdint>

namespace bench::reduce {

inline constexpr std::int64_t n = 4096;
inline constexpr const char* sum_axis0 = "reduce/sum_axis0_4096";
inline constexpr const char* sum_axis1 = "reduce/sum_axis1_4096";
}  // namespace bench::reduce
