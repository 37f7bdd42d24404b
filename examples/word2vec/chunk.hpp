// Chunks of the corpus as training sees them.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "vocabulary.hpp"
#include "words.hpp"

struct Chunk {
  std::vector<std::int32_t> ids;         // the words left after dropping unknown ones and subsampling
  std::vector<int> radius;               // the window of each word: this many words to the left and to the right
  std::vector<std::int64_t> begin, end;  // of the text that each word is in: its line, or the chunk
  std::int64_t words = 0;                // number of words read from the corpus
  Random random;                         // for all further random draws

  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
  /// The number of words to the left and right of word i, limited by its window and its text.
  std::int64_t left(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return std::min<std::int64_t>(radius[at], i - begin[at]);
  }
  std::int64_t right(std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    return std::min<std::int64_t>(radius[at], end[at] - 1 - i);
  }
};

struct ChunkOptions {
  std::int64_t window = 5;  // radii are drawn uniformly from 1 to this
  bool lines = false;       // each line is a text of its own, at which windows end
};

/// The chunk of a text.
Chunk chunk_of(std::string_view text, const Vocabulary& vocabulary, const Subsampling& keep,
               const ChunkOptions& options, Random random);
