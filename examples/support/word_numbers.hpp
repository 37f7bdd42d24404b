// Texts as sequences of numbers, one for each word.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <tandem/data.hpp>
#include <vector>

namespace words {

/// The numbers of the words of each text, int32 [texts, maxlen], and how many they are. What is behind maxlen is left
/// out, shorter texts end with 0.
///   first   the number of the vocabulary's word 0; words that the vocabulary does not have get the number before it
inline tandem::data::PaddedSequences numbers(const std::vector<std::vector<std::string>>& texts,
                                             const std::map<std::string, std::size_t>& vocabulary, std::int64_t maxlen,
                                             std::int32_t first) {
  std::vector<std::vector<std::int32_t>> rows(texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (const std::string& word : texts[i]) {
      const auto at = vocabulary.find(word);
      rows[i].push_back(at == vocabulary.end() ? first - 1 : first + static_cast<std::int32_t>(at->second));
    }
  using tandem::data::Side;
  return tandem::data::pad_sequences(rows, {.maxlen = maxlen, .padding = Side::post, .truncating = Side::post});
}

}  // namespace words
