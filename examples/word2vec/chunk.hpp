// Chunks of the corpus as training sees them. A chunk depends only on its position, so a run may stop and resume
// between any two chunks.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "vocabulary.hpp"
#include "words.hpp"

struct Chunk {
  std::vector<std::int32_t> ids;         // the words left after dropping unknown ones and subsampling
  std::vector<int> radius;               // the window of each word: this many words to the left and to the right
  std::vector<std::int64_t> begin, end;  // of the text that each word is in: its line, or the chunk
  std::int64_t words = 0;                // number of words read from the corpus
  Place after;
  Random random;  // for all further random draws

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
  std::int64_t words = 10'000;  // words read per chunk
  std::int64_t window = 5;      // radii are drawn uniformly from 1 to this
  bool lines = false;           // each line is a text of its own, at which windows end
  std::int64_t seed = 1;
};

/// Reads chunk `number` of an epoch from the position of `reader`; it ends at `end` at the latest.
Chunk read_chunk(WordReader& reader, const Vocabulary& vocabulary, const Subsampling& keep, const ChunkOptions& options,
                 std::int64_t epoch, std::int64_t number, Place end);
/// Reads past a chunk that another process trains on.
void skip_chunk(WordReader& reader, const ChunkOptions& options, Place end);
