// The work of the beam_search scenario: 16 sequences of 50 tokens, 8 hypotheses each, of a recurrent model
// h' = tanh(E[id] + h U), logits = h' W with 80 tokens and 256 units. The result: the hypotheses' log-probabilities.
#pragma once
#include <cstdint>

namespace bench::beam_search {

inline constexpr std::int64_t batch = 16, width = 8, length = 50, tokens = 80, units = 256;
inline constexpr float embedding_scale = 0.5f, recurrent_scale = 0.06f, output_scale = 0.2f;
inline constexpr const char* search = "beam_search/b16_w8_t50";
}  // namespace bench::beam_search
