// Queries on trained vectors: nearest words, analogies, principal directions.
#pragma once
#include <tandem/tandem.hpp>

#include <string>
#include <utility>
#include <vector>

#include "vocabulary.hpp"

class Vectors {
 public:
  /// table [words, size]: the vectors; row 0 is that of <unk>
  Vectors(const Vocabulary& vocabulary, const tandem::Tensor& table);

  struct Neighbour {
    std::string word;
    float similarity;  // the cosine of the angle between the vectors
  };
  /// The words most similar to `word`. throws std::runtime_error if it has no vector
  std::vector<Neighbour> nearest(const std::string& word, std::int64_t count) const;
  /// The words d most similar to b - a + c: a is to b as c is to d. Excludes a, b and c.
  std::vector<Neighbour> analogy(const std::string& a, const std::string& b, const std::string& c,
                                 std::int64_t count) const;
  /// The positions of the words from `first_word` up to `last_word` - 1 along the first two principal components of
  /// their vectors, [last_word - first_word, 2].
  tandem::Tensor plane(std::int64_t first_word, std::int64_t last_word) const;

 private:
  std::int64_t id_of(const std::string& word) const;
  std::vector<Neighbour> nearest_to(const tandem::Tensor& direction, const std::vector<std::int64_t>& without,
                                    std::int64_t count) const;
  const Vocabulary& vocabulary_;
  tandem::Tensor units_;  // all vectors, normalized to length 1
};
