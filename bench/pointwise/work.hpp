// The work of the pointwise scenario: which operations at which sizes. Every competitor's file follows this list.
#pragma once
#include <cstdint>
#include <string>

namespace bench::pointwise {

inline constexpr std::int64_t million = std::int64_t{1} << 20;
inline constexpr std::int64_t sixteen_million = std::int64_t{1} << 24;

inline std::string name(const char* operation, std::int64_t count) {
  return std::string("pointwise/") + operation + (count == million ? "_1M" : "_16M");
}

// The chain of nine operations: x * 0.5 * (1 + tanh(0.79788 * (x + 0.044715 * x * x * x))).
inline constexpr float half = 0.5f, inner = 0.7978845608f, cubic = 0.044715f;
}  // namespace bench::pointwise
