// layers::StringLookup: strings to ids, and back. Part of the component tandem::strings.
// Not here: layers::IntegerLookup (nn/layers/discrete.hpp), the tables (lookup.hpp), Vocabulary (vocabulary.hpp).
#pragma once
#include <concepts>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/nn/layers/discrete.hpp"
#include "tandem/strings/lookup.hpp"

namespace TANDEM_NS::layers {

namespace detail {
/// The words of a vocabulary, by their ids less the number of unknown ones.
struct StringVocabulary final : Asset {
  StringVocabulary(const VocabularyLimits& limits, std::string oov_token)
      : limits(limits), oov_token(std::move(oov_token)) {}
  /// The same limits. throws errors::InvalidArgumentError, in the name of StringLookup, for an empty or too large
  /// vocabulary, or one with a word twice
  TANDEM_INLINE StringVocabulary(const StringVocabulary& limits, std::vector<std::string> words, bool is_given);
  const char* kind() const override { return "vocabulary"; }
  TANDEM_INLINE Tensor value() const override;
  TANDEM_INLINE Ref<Asset> with(const Tensor& value) const override;
  VocabularyLimits limits;
  std::string oov_token;
  std::vector<std::string> words;
  Tensor mapping;  // the strings of all ids
  std::optional<lookup::StaticVocabularyTable> table;
};
}  // namespace detail

struct StringLookupOptions {
  detail::ByName by_name = detail::ByName();
  std::optional<i64> max_tokens = {};  ///< the most ids, with those of unknown strings; default: no limit
  i64 num_oov_indices = 1;             ///< ids of strings that are not in the vocabulary, by their hash
  std::string oov_token = "[UNK]";     ///< .invert: the string of these ids, and of ids out of range
  bool invert = false;                 ///< map ids to strings
  detail::CategoryMode output_mode = {};
  DType dtype = DType::float32;  ///< of the encoded modes
};
/// Maps strings to ids: those of the vocabulary to num_oov_indices, num_oov_indices + 1, ..., in its order; others to
/// the ids below. The vocabulary is given, or made by adapt(); copies of the layer share it.
///   x         string, any shape; with .invert int32 or int64
///   returns   int64 in x's shape, or with .output_mode encoded as CategoryEncoding does; with .invert string
///   throws    errors::InvalidArgumentError for an empty vocabulary, a string that occurs twice, x of another dtype,
///             options that do not fit together, or with .num_oov_indices = 0 for a string that is not in the
///             vocabulary; errors::FailedPreconditionError before adapt()
class TANDEM_API StringLookup : public Layer {
 public:
  /// StringLookup({.max_tokens = 100}), with a vocabulary from adapt().
  explicit StringLookup(const StringLookupOptions& options = {});
  /// StringLookup({"a", "b"}), with this vocabulary.
  template <std::same_as<std::vector<std::string>> List = std::vector<std::string>>
  explicit StringLookup(List vocabulary, const StringLookupOptions& options = {}) : StringLookup(options) {
    set_vocabulary(std::move(vocabulary), true);
  }
  Tensor operator()(const Tensor& x) const;
  /// Makes the vocabulary of the strings in `data`: the most frequent ones first, and of those that occur equally often
  /// the last one in the order of bytes first, as in Keras; without .oov_token. Replaces that of an earlier call.
  /// A traced function keeps the vocabulary with which it was traced, whatever adapt() or a checkpoint sets later.
  ///   data      string, any shape, not empty
  ///   throws    errors::FailedPreconditionError if the vocabulary is given; errors::InvalidArgumentError for empty
  ///             data or another dtype
  void adapt(const Tensor& data) const;
  /// The strings of all ids: .oov_token for unknown ones, then the vocabulary.
  std::vector<std::string> get_vocabulary() const;
  /// The number of ids.
  i64 vocabulary_size() const { return static_cast<i64>(vocabulary()->words.size()) + options_.num_oov_indices; }

 private:
  Ref<detail::StringVocabulary> vocabulary() const { return asset<detail::StringVocabulary>(); }
  void set_vocabulary(std::vector<std::string> words, bool is_given) const;
  Tensor ids_of(const Tensor& x, const detail::StringVocabulary& vocabulary) const;
  StringLookupOptions options_;
};

}  // namespace TANDEM_NS::layers
