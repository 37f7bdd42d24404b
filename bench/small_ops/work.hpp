// The work of the small_ops scenario: single operations on tensors of a few dozen elements, all overhead.
#pragma once
#include <cstdint>

namespace bench::small_ops {

inline constexpr std::int64_t rows = 5, columns = 9, vocabulary = 40;
}  // namespace bench::small_ops
