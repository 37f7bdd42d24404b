// The work of the word2vec scenario: one step of SGD on skip-gram with negative sampling. 1024 word pairs with 64
// shared negatives, two tables of 50,000 rows of 128 with row-sparse gradients.
#pragma once
#include <cstdint>

namespace bench::word2vec {

inline constexpr std::int64_t vocabulary = 50000, width = 128, batch = 1024, negatives = 64;
inline constexpr float scale = 0.1f;  // of the table entries
inline constexpr double learning_rate = 0.1;
inline constexpr const char* step = "word2vec/step_50kx128_b1024_n64";
}  // namespace bench::word2vec
