// The words that have vectors, by frequency, and the distributions for subsampling and for drawing negatives.
#pragma once
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "words.hpp"

struct VocabularyOptions {
  std::int64_t min_count = 5;  // rarer words have no vector
  std::int64_t max_words = 0;  // including <unk>; 0: no limit
};

/// Words and their counts, most frequent first. Word 0 is <unk>, which represents all words that are not in the
/// vocabulary.
class Vocabulary {
 public:
  /// Counts the words of an entire corpus. If there are more than 20 million distinct words, the rarest are dropped.
  ///   throws  std::runtime_error if fewer than two words are frequent enough
  static Vocabulary of(const Corpus& corpus, const VocabularyOptions& options);
  /// Loads a file that save() wrote. throws std::runtime_error, naming the defect, for any other file
  static Vocabulary load(const std::string& path);
  void save(const std::string& path) const;
  /// The text of such a file: one "word count" per line, the first for <unk>.
  std::string text() const;
  ///   name  of the text, for errors
  static Vocabulary parse(const std::string& text, const std::string& name);

  std::int64_t size() const { return static_cast<std::int64_t>(words_.size()); }
  const std::string& word(std::int64_t id) const { return words_[static_cast<std::size_t>(id)]; }
  std::int64_t count(std::int64_t id) const { return counts_[static_cast<std::size_t>(id)]; }
  /// The number of words in the corpus, including those outside the vocabulary.
  std::int64_t total() const { return total_; }
  /// The id of a word; 0 if it is not in the vocabulary.
  std::int32_t find(std::string_view word) const;
  /// A checksum that distinguishes vocabularies.
  std::uint64_t checksum() const;

 private:
  Vocabulary(std::vector<std::string> words, std::vector<std::int64_t> counts);
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  std::vector<std::string> words_;
  std::vector<std::int64_t> counts_;
  std::unordered_map<std::string, std::int32_t, Hash, std::equal_to<>> ids_;
  std::int64_t total_ = 0;
};

/// The random numbers of one chunk of the corpus: determined by the seed, epoch and chunk.
using Random = std::mt19937_64;

/// Subsampling of frequent words. A word that makes up a fraction f of the corpus is kept with probability
/// sqrt(t / f) + t / f (Mikolov et al. 2013, as in their program).
class Subsampling {
 public:
  /// t: the frequency above which occurrences are dropped; 0: none are
  Subsampling(const Vocabulary& vocabulary, double t);
  bool keeps(std::int32_t id, Random& random) const {
    return static_cast<double>(random() >> 11) * 0x1p-53 < kept_[static_cast<std::size_t>(id)];
  }

 private:
  std::vector<double> kept_;  // by word
};

/// Draws words with probability proportional to count^0.75, never <unk>.
class NoiseWords {
 public:
  explicit NoiseWords(const Vocabulary& vocabulary);
  std::int32_t operator()(Random& random) const;

 private:
  struct Column {  // of the alias method (Walker 1977): yields word k with probability `own`, otherwise `other`
    double own;
    std::int32_t other;
  };
  std::vector<Column> columns_;
};
