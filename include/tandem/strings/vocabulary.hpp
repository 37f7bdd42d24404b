// Vocabulary: words and their numbers. Part of the component tandem::strings.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "tandem/strings/lookup.hpp"

namespace TANDEM_NS::lookup {

struct VocabularyOptions {
  TANDEM_OP_OPTIONS;
  std::string unknown = "<unk>";  ///< the word of index 0, which stands for all others
};
struct VocabularyCountOptions {
  TANDEM_OP_OPTIONS;
  i64 max_size = 0;   ///< the most words, with the unknown one; 0: all
  i64 min_count = 1;  ///< rarer words are left out
  std::string unknown = "<unk>";
};
/// A list of different words, of which the first one stands for all unknown words.
class TANDEM_API Vocabulary {
 public:
  /// The unknown word, then `words` in order.
  ///   throws  errors::InvalidArgumentError for a word that occurs twice, naming it
  explicit Vocabulary(std::vector<std::string> words, VocabularyOptions = {});
  /// The words by descending count; those of equal counts in ascending order. A count of the unknown word is ignored.
  ///   throws  errors::InvalidArgumentError for a word that occurs twice, or a negative max_size
  static Vocabulary from_counts(std::vector<std::pair<std::string, i64>> counts, VocabularyCountOptions = {});
  /// Reads a file that save() has written: a word a line, the unknown word first.
  ///   throws  errors::NotFoundError if no such file can be opened; errors::DataLossError if it is empty or has a
  ///           word twice; errors::UnavailableError if it cannot be read
  static Vocabulary load(const std::string& path);
  /// Writes a word a line.
  ///   throws  errors::InvalidArgumentError for a word with a line break; errors::UnavailableError if the file
  ///           cannot be written
  void save(const std::string& path) const;

  i64 size() const { return static_cast<i64>(words_.size()); }
  const std::vector<std::string>& words() const { return words_; }
  /// The word of an index.
  ///   throws  errors::InvalidArgumentError for an index out of range
  const std::string& word(i64 index) const;
  /// The index of a word, 0 if it is unknown.
  i64 index(const std::string& word) const;
  /// The indices of words. Returns int64, the shape of `words`. gradient: none (non-differentiable)
  Tensor encode(const Tensor& words, OpOptions = {}) const;
  /// The words of indices (int32 or int64), the unknown word for those out of range. gradient: none
  /// (non-differentiable)
  Tensor decode(const Tensor& indices, OpOptions = {}) const;

 private:
  std::vector<std::string> words_;
  Tensor mapping_;
  Ref<impl::Table> table_;
};

}  // namespace TANDEM_NS::lookup
