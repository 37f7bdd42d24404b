// layers::StringLookup: strings to ids, and back. Part of the component tandem::strings.
// Not here: layers::IntegerLookup (nn/layers/preprocessing.hpp), the tables (lookup.hpp), Vocabulary (vocabulary.hpp).
#pragma once
#include <string>
#include <vector>

#include "tandem/nn/layers/layer.hpp"
#include "tandem/strings/lookup.hpp"

namespace TANDEM_NS::layers {

struct StringLookupOptions {
  i64 num_oov_indices = 1;          ///< ids of strings that are not in the vocabulary, by their hash
  std::string oov_token = "[UNK]";  ///< .invert: the string of these ids, and of ids out of range
  bool invert = false;              ///< map ids to strings
};
/// Maps strings to ids: those of the vocabulary to num_oov_indices, num_oov_indices + 1, ..., in its order; others to
/// the ids below.
///   x         string, any shape; with .invert int32 or int64
///   returns   int64 in x's shape; with .invert string
///   throws    errors::InvalidArgumentError for an empty vocabulary, a string that occurs twice, x of another dtype, or
///             with .num_oov_indices = 0 for a string that is not in the vocabulary
class TANDEM_API StringLookup : public Layer {
 public:
  explicit StringLookup(std::vector<std::string> vocabulary, StringLookupOptions options = {});
  Tensor operator()(const Tensor& x) const;
  /// The number of ids.
  i64 vocabulary_size() const { return words_ + options_.num_oov_indices; }

 private:
  StringLookupOptions options_;
  i64 words_;
  Tensor mapping_;  // the strings of all ids
  lookup::StaticVocabularyTable table_;
};

}  // namespace TANDEM_NS::layers
