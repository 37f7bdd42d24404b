// The work of the embedding scenario: lookup of 1024 rows in a table of 50,000 rows of 128, and its gradient.
#pragma once
#include <cstdint>

namespace bench::embedding {

inline constexpr std::int64_t vocabulary = 50000, width = 128, batch = 1024;
inline constexpr const char* gather = "embedding/gather_1024_of_50kx128";
inline constexpr const char* sparse = "embedding/gather_and_sparse_gradient";
inline constexpr const char* dense = "embedding/gather_and_dense_gradient";
}  // namespace bench::embedding
