// The work of the summary scenario: what a training loop pays for its summaries. A run writes so many; the files are
// written meanwhile. What is compared is read from the file. Every competitor's file follows this list.
#pragma once
#include <cstdint>

namespace bench::summary {

inline constexpr std::int64_t calls = 1000;
inline constexpr const char* scalars = "summary/1000_scalars";  // of one tag, at steps 0, 1, 2, ...
/// The number of step i.
inline float number(std::int64_t i) { return static_cast<float>(i % 100) / 64; }

inline constexpr std::int64_t numbers = 100'000;  // bench::normal(numbers, 1), in 30 buckets
inline constexpr const char* histogram = "summary/histogram_100k";
}  // namespace bench::summary
