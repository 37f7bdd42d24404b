// Definitions of strings/lookup_layer.hpp.
#pragma once
#include <algorithm>
#include <map>

#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/strings/lookup_layer.hpp"

namespace TANDEM_NS::layers {

TANDEM_INLINE StringLookup::StringLookup(const StringLookupOptions& options)
    : Layer("string_lookup"), options_(options), is_given_(false), vocabulary_(new detail::StringVocabulary) {
  if (options.invert && options.output_mode != OutputMode::integer)
    errors::raise<errors::InvalidArgumentError>("StringLookup", ".invert needs OutputMode::integer");
  detail::most_tokens("StringLookup", options.max_tokens, options.num_oov_indices, 0);
}
TANDEM_INLINE void StringLookup::set_vocabulary(std::vector<std::string> words) const {
  if (words.empty()) errors::raise<errors::InvalidArgumentError>("StringLookup", "the vocabulary is empty");
  const i64 oov = options_.num_oov_indices;
  detail::most_tokens("StringLookup", options_.max_tokens, oov, words.size());
  const lookup::StaticVocabularyTable table(constant(words), {.num_oov_buckets = std::max<i64>(oov, 1)});
  std::vector<std::string> all(static_cast<std::size_t>(oov), options_.oov_token);
  all.insert(all.end(), words.begin(), words.end());
  vocabulary_->mapping = constant(all);
  vocabulary_->table = table;
  vocabulary_->words = std::move(words);
}
TANDEM_INLINE void StringLookup::adapt(const Tensor& data) const {
  detail::check_adapt("StringLookup", is_given_, data);
  if (data.dtype() != DType::string)
    errors::raise<errors::InvalidArgumentError>("StringLookup",
                                                "the data must be string, not " + to_string(data.spec()));
  std::map<std::string, i64> counts;
  for (const std::string& word : data.to_vector<std::string>()) ++counts[word];
  counts.erase(options_.oov_token);
  const i64 most = detail::most_tokens("StringLookup", options_.max_tokens, options_.num_oov_indices, 0);
  set_vocabulary(detail::by_frequency(counts, most));
}
TANDEM_INLINE std::vector<std::string> StringLookup::get_vocabulary() const {
  std::vector<std::string> all(static_cast<std::size_t>(options_.num_oov_indices), options_.oov_token);
  all.insert(all.end(), vocabulary_->words.begin(), vocabulary_->words.end());
  return all;
}
TANDEM_INLINE Tensor StringLookup::operator()(const Tensor& x) const {
  if (!vocabulary_->table) detail::raise_unadapted("StringLookup", "vocabulary");
  if (options_.invert) return lookup::index_to_string(x, vocabulary_->mapping, {.default_value = options_.oov_token});
  return options_.output_mode(ids_of(x), vocabulary_size(), options_.dtype);
}
TANDEM_INLINE Tensor StringLookup::ids_of(const Tensor& x) const {
  const i64 oov = options_.num_oov_indices, words = static_cast<i64>(vocabulary_->words.size());
  const Tensor ids = vocabulary_->table->lookup(x);  // the table has the unknown ones behind the words
  if (oov == 0) return gather(range(i64(0), words), ids, {.name = "StringLookup"});
  return floormod(ids + oov, constant(oov + words, {.dtype = DType::int64}));
}

}  // namespace TANDEM_NS::layers
