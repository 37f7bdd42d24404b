// layers::TextVectorization: texts to ids of their words, or to counts. Part of the component tandem::strings.
// Not here: layers::StringLookup (lookup_layer.hpp), the ops on strings (text.hpp).
#pragma once
#include <concepts>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tandem/ops/dims.hpp"
#include "tandem/strings/lookup_layer.hpp"
#include "tandem/strings/text.hpp"

namespace TANDEM_NS::layers {

/// What is done to a text before it is split. Letters and punctuation are those of ASCII.
enum class Standardize : std::uint8_t { lower_and_strip_punctuation, lower, strip_punctuation, none };
/// How a text is split into tokens.
enum class TextSplit : std::uint8_t {
  whitespace,  ///< at runs of white space, without empty tokens
  character,   ///< into the characters of UTF-8
  none         ///< not at all: x has tokens, [batch, n], or [batch] for one each
};
/// What becomes of the tokens of a text.
enum class TextOutput : std::uint8_t {
  integer,    ///< their ids, int64, 0 behind the last one (Keras: "int")
  multi_hot,  ///< 1 for the tokens that occur
  count,      ///< the numbers of occurrences
  tf_idf      ///< count, times the inverse document frequency of each token
};
struct TextVectorizationOptions {
  detail::ByName by_name = detail::ByName();
  std::optional<i64> max_tokens = {};  ///< the most ids, with that of unknown tokens and of padding; default: any
  Standardize standardize = Standardize::lower_and_strip_punctuation;
  TextSplit split = TextSplit::whitespace;
  std::vector<i64> ngrams = {};  ///< widths of runs of tokens, joined by spaces; {1, 2} is Keras' 2. Default: {1}
  TextOutput output_mode = TextOutput::integer;
  std::optional<i64> output_sequence_length = {};  ///< of integer: the columns; default: the longest text's
  bool pad_to_max_tokens = false;                  ///< the other modes have max_tokens columns
  DType dtype = DType::float32;                    ///< of the other modes: real numbers, for tf_idf floating
  /// With tf_idf and a given vocabulary: one for each of its words, and for "[UNK]" if it begins with it.
  std::vector<double> idf_weights = {};
};
namespace detail {
/// The inverse document frequencies of all ids.
struct IdfWeights final : TensorAsset {
  explicit IdfWeights(std::vector<double> list = {}, bool is_given = false)
      : TensorAsset(is_given), weights(std::move(list)) {}
  const char* kind() const override { return "idf_weights"; }
  TANDEM_INLINE Tensor value() const override;
  TANDEM_INLINE Ref<Asset> with_value(const Tensor& value) const override;
  std::vector<double> weights;
};
}  // namespace detail
/// Standardizes texts, splits them into tokens, joins n-grams, and maps them to ids or counts. The vocabulary is given,
/// or made by adapt(); copies of the layer share it. The id 0 is padding, which Embedding masks with .mask_zero, 1 is
/// that of unknown tokens, and the vocabulary follows; the other modes have no column for padding.
///   x         string [batch] or [batch, 1]; a traced function may leave the batch unknown
///   returns   integer: int64 [batch, tokens of the longest text, or .output_sequence_length]; other modes:
///             [batch, vocabulary_size()], or .max_tokens columns
///   throws    errors::InvalidArgumentError for x of another rank or dtype, an empty vocabulary, one with a token
///             twice, or options that do not fit together; errors::FailedPreconditionError before adapt()
///   gradient  none (non-differentiable)
///   source    Keras 3, TextVectorization
class TANDEM_API TextVectorization : public Layer {
 public:
  /// TextVectorization({.max_tokens = 10000}), with a vocabulary from adapt().
  explicit TextVectorization(const TextVectorizationOptions& options = {});
  /// TextVectorization({"cat", "dog"}), with this vocabulary. It may begin with the special tokens, as get_vocabulary()
  /// has them.
  template <std::same_as<std::vector<std::string>> List = std::vector<std::string>>
  explicit TextVectorization(List vocabulary, const TextVectorizationOptions& options = {})
      : TextVectorization(options) {
    give_vocabulary(std::move(vocabulary));
  }
  Tensor operator()(const Tensor& x) const;
  /// Makes the vocabulary of the tokens in `data`, as StringLookup::adapt, and with tf_idf the weights: log(1 + texts /
  /// (1 + texts with the token)); unknown tokens have their mean. Replaces those of an earlier call.
  ///   data      string [batch] or [batch, 1], not empty
  ///   throws    errors::FailedPreconditionError if the vocabulary is given; errors::InvalidArgumentError for data
  ///             without tokens or another dtype
  void adapt(const Tensor& data) const;
  /// The same of the elements of a data set: batches or single texts, one pass. Memory grows with the number of
  /// different tokens alone.
  template <detail::Batches Data>
  void adapt(const Data& data) const {
    Counts counts = begin_adapt();
    detail::each_batch(data, [&](const Tensor& x) { count(x, counts); });
    learn(counts);
  }
  /// The tokens of all ids: "" for padding with TextOutput::integer, "[UNK]" for unknown ones, the vocabulary.
  std::vector<std::string> get_vocabulary() const;
  /// The number of ids.
  i64 vocabulary_size() const { return vocabulary()->size(); }

 private:
  struct Counts {
    std::map<std::string, i64> tokens, texts;  // occurrences, and in how many texts
    i64 all_texts = 0;
  };
  Counts begin_adapt() const;
  void count(const Tensor& data, Counts& counts) const;
  void learn(const Counts& counts) const;
  void give_vocabulary(std::vector<std::string> words) const;
  void set_vocabulary(std::vector<std::string> words, bool is_given, std::vector<double> idf) const;
  Ref<detail::StringVocabulary> vocabulary() const { return asset<detail::StringVocabulary>(); }
  strings::Pieces tokens_of(const Tensor& x) const;
  Tensor encoded(const Tensor& rows, const Tensor& ids, const Dim& batch) const;
  TextVectorizationOptions options_;
};

}  // namespace TANDEM_NS::layers
