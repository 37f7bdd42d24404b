// layers::StringLookup: strings to ids, and back. Part of the component tandem::strings.
// Not here: layers::TextVectorization (text_vectorization.hpp), layers::IntegerLookup (layers/discrete.hpp), the tables
// (lookup.hpp), Vocabulary (vocabulary.hpp).
#pragma once
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/layers/discrete.hpp"
#include "tandem/strings/lookup.hpp"

namespace TANDEM_NS::layers {

struct StringLookupOptions {
  detail::ByName by_name = detail::ByName();
  std::optional<i64> max_tokens = {};  ///< the most ids, with those of unknown strings and the mask; default: any
  i64 num_oov_indices = 1;             ///< ids of strings that are not in the vocabulary, by their hash
  std::optional<std::string> mask_token = {};  ///< stands for padding: it has the id 0, and the others move up by one
  std::string oov_token = "[UNK]";             ///< .invert: the string of the ids of unknown ones, and out of range
  bool invert = false;                         ///< map ids to strings
  detail::CategoryMode output_mode = {};
  bool pad_to_max_tokens = false;  ///< the encoded modes have max_tokens columns
  DType dtype = DType::float32;    ///< of the encoded modes
};
namespace detail {
/// The words of a vocabulary.
struct StringVocabulary final : TensorAsset {
  explicit StringVocabulary(const StringLookupOptions& o, const char* of = "StringLookup") : options(o), layer(of) {}
  /// throws errors::InvalidArgumentError, in the name of the layer, for an empty or too large vocabulary, or one with a
  /// word twice
  TANDEM_INLINE StringVocabulary(const StringLookupOptions& options, std::vector<std::string> words, bool is_given,
                                 const char* layer = "StringLookup");
  const char* kind() const override { return "vocabulary"; }
  TANDEM_INLINE Tensor value() const override;
  TANDEM_INLINE Ref<Asset> with_value(const Tensor& value) const override;
  LookupLimits limits() const { return {layer, options}; }
  i64 size() const { return static_cast<i64>(words.size()) + limits().specials(); }
  StringLookupOptions options;
  const char* layer;
  std::vector<std::string> words;
  Tensor mapping;                                      // the strings of all ids
  std::optional<lookup::StaticVocabularyTable> table;  // of the words, and the mask behind them
};
/// The strings of all ids, and the ids of strings.
TANDEM_API std::vector<std::string> strings_by_id(const StringVocabulary& v);
/// strip_specials for a vocabulary that is given to the layer of `v`.
TANDEM_API bool strip_special_strings(const StringVocabulary& v, std::vector<std::string>& words);
TANDEM_API Tensor ids_of_strings(const StringVocabulary& v, const Tensor& x);
}  // namespace detail
/// Maps strings to ids: those of the vocabulary to num_oov_indices, num_oov_indices + 1, ..., in its order (with a mask
/// from num_oov_indices + 1 on); others to the ids below. The vocabulary is given, or made by adapt(); copies of the
/// layer share it. With .mask_token = "" padding has the id 0, which Embedding masks with .mask_zero.
///   x         string, any shape; with .invert int32 or int64
///   returns   int64 in x's shape, or with .output_mode encoded as CategoryEncoding does; with .invert string
///   throws    errors::InvalidArgumentError for an empty vocabulary, a string that occurs twice, x of another dtype,
///             options that do not fit together, or with .num_oov_indices = 0 for a string that is not in the
///             vocabulary; errors::FailedPreconditionError before adapt()
class TANDEM_API StringLookup : public Layer {
 public:
  /// StringLookup({.max_tokens = 100}), with a vocabulary from adapt().
  explicit StringLookup(const StringLookupOptions& options = {});
  /// StringLookup({"a", "b"}), with this vocabulary. It may begin with the special tokens, as get_vocabulary() has
  /// them.
  template <std::same_as<std::vector<std::string>> List = std::vector<std::string>>
  explicit StringLookup(List vocabulary, const StringLookupOptions& options = {}) : StringLookup(options) {
    give_vocabulary(std::move(vocabulary));
  }
  Tensor operator()(const Tensor& x) const;
  /// Makes the vocabulary of the strings in `data`: the most frequent ones first, and of those that occur equally often
  /// the last one in the order of bytes first, as in Keras; without .oov_token and .mask_token. Replaces that of an
  /// earlier call. A traced function is traced again when adapt() or a checkpoint has set another vocabulary.
  ///   data      string, any shape, not empty
  ///   throws    errors::FailedPreconditionError if the vocabulary is given; errors::InvalidArgumentError for empty
  ///             data or another dtype
  void adapt(const Tensor& data) const;
  /// The same of the elements of a data set, as if they were one tensor: batches or single strings, one pass. Memory
  /// grows with the number of different strings alone.
  template <detail::Batches Data>
  void adapt(const Data& data) const {
    Counts counts = begin_adapt();
    detail::each_batch(data, [&](const Tensor& x) { count(x, counts); });
    learn(std::move(counts));
  }
  /// The strings of all ids: the mask if there is one, .oov_token for unknown ones, the vocabulary.
  std::vector<std::string> get_vocabulary() const;
  /// The number of ids.
  i64 vocabulary_size() const { return vocabulary()->size(); }

 private:
  using Counts = std::map<std::string, i64>;
  Counts begin_adapt() const;
  static void count(const Tensor& data, Counts& counts);
  void learn(Counts counts) const;
  Ref<detail::StringVocabulary> vocabulary() const { return asset<detail::StringVocabulary>(); }
  void give_vocabulary(std::vector<std::string> words) const;
  void set_vocabulary(std::vector<std::string> words, bool is_given) const;
};

}  // namespace TANDEM_NS::layers
