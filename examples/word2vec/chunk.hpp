// Stretches of the corpus as training sees them: each is made from its place alone, so that a run may stop and go on
// between any two.
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "vocabulary.hpp"
#include "words.hpp"

struct Chunk {
  std::vector<std::int32_t> ids;  // what is left after unknown words and subsampling
  std::vector<int> radius;        // the window of each: so many words to the left and to the right
  std::int64_t words = 0;         // read from the corpus
  Place after;
  Random random;  // for what else is drawn

  std::int64_t size() const { return static_cast<std::int64_t>(ids.size()); }
  /// The words around word i: as many as its window and the chunk have.
  std::int64_t left(std::int64_t i) const { return std::min<std::int64_t>(radius[static_cast<std::size_t>(i)], i); }
  std::int64_t right(std::int64_t i) const {
    return std::min<std::int64_t>(radius[static_cast<std::size_t>(i)], size() - 1 - i);
  }
};

struct ChunkOptions {
  std::int64_t words = 10'000;  // a chunk reads
  std::int64_t window = 5;      // radii are drawn evenly from 1 to this
  std::int64_t seed = 1;
};

/// The chunk number `number` of an epoch, read from where `reader` stands; it ends at the place `end` at the latest.
Chunk read_chunk(WordReader& reader, const Vocabulary& vocabulary, const Subsampling& keep, const ChunkOptions& options,
                 std::int64_t epoch, std::int64_t number, Place end);
