// Definitions of strings/lookup_layer.hpp.
#pragma once
#include <algorithm>
#include <map>

#include "tandem/base/format.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/strings/lookup_layer.hpp"

namespace TANDEM_NS::layers {

namespace detail {
TANDEM_INLINE StringVocabulary::StringVocabulary(const StringVocabulary& like, std::vector<std::string> list,
                                                 bool is_given)
    : Asset(is_given), limits(like.limits), oov_token(like.oov_token), words(std::move(list)) {
  if (words.empty()) errors::raise<errors::InvalidArgumentError>("StringLookup", "the vocabulary is empty");
  const i64 oov = limits.num_oov_indices;
  most_tokens("StringLookup", limits.max_tokens, oov, words.size());
  table.emplace(constant(words), lookup::StaticVocabularyTableOptions{.num_oov_buckets = std::max<i64>(oov, 1)});
  std::vector<std::string> all(static_cast<std::size_t>(oov), oov_token);
  all.insert(all.end(), words.begin(), words.end());
  mapping = constant(all);
}
TANDEM_INLINE Tensor StringVocabulary::value() const { return words.empty() ? Tensor() : constant(words); }
TANDEM_INLINE Ref<Asset> StringVocabulary::with(const Tensor& value) const {
  check_list("StringLookup", value, DType::string);
  std::vector<std::string> found = value.to_vector<std::string>();
  check_given("StringLookup", is_given(), words, found,
              [](const std::string& word) { return tandem::detail::escaped_text(word); });
  return Ref<Asset>(new StringVocabulary(*this, std::move(found), is_given()));
}
}  // namespace detail

TANDEM_INLINE StringLookup::StringLookup(const StringLookupOptions& options)
    : Layer("string_lookup"), options_(options) {
  if (options.invert && options.output_mode != OutputMode::integer)
    errors::raise<errors::InvalidArgumentError>("StringLookup", ".invert needs OutputMode::integer");
  detail::most_tokens("StringLookup", options.max_tokens, options.num_oov_indices, 0);
  add_asset("vocabulary",
            Ref<Asset>(new detail::StringVocabulary({options.max_tokens, options.num_oov_indices}, options.oov_token)));
  build_once([] {});  // there are no Variables to come
}
TANDEM_INLINE void StringLookup::set_vocabulary(std::vector<std::string> words, bool is_given) const {
  set_asset(0, Ref<Asset>(new detail::StringVocabulary(*vocabulary(), std::move(words), is_given)));
}
TANDEM_INLINE void StringLookup::adapt(const Tensor& data) const {
  detail::check_adapt("StringLookup", vocabulary()->is_given(), data);
  if (data.dtype() != DType::string)
    errors::raise<errors::InvalidArgumentError>("StringLookup",
                                                "the data must be string, not " + to_string(data.spec()));
  std::map<std::string, i64> counts;
  for (const std::string& word : data.to_vector<std::string>()) ++counts[word];
  counts.erase(options_.oov_token);
  const i64 most = detail::most_tokens("StringLookup", options_.max_tokens, options_.num_oov_indices, 0);
  set_vocabulary(detail::by_frequency(counts, most), false);
}
TANDEM_INLINE std::vector<std::string> StringLookup::get_vocabulary() const {
  const Ref<detail::StringVocabulary> v = vocabulary();
  std::vector<std::string> all(static_cast<std::size_t>(options_.num_oov_indices), options_.oov_token);
  all.insert(all.end(), v->words.begin(), v->words.end());
  return all;
}
TANDEM_INLINE Tensor StringLookup::operator()(const Tensor& x) const {
  const Ref<detail::StringVocabulary> v = vocabulary();
  if (!v->table) detail::raise_unadapted("StringLookup", "vocabulary");
  if (options_.invert) return lookup::index_to_string(x, v->mapping, {.default_value = options_.oov_token});
  return options_.output_mode(ids_of(x, *v), static_cast<i64>(v->words.size()) + options_.num_oov_indices,
                              options_.dtype);
}
TANDEM_INLINE Tensor StringLookup::ids_of(const Tensor& x, const detail::StringVocabulary& v) const {
  const i64 oov = options_.num_oov_indices, words = static_cast<i64>(v.words.size());
  const Tensor ids = v.table->lookup(x);  // the table has the unknown ones behind the words
  if (oov == 0) return gather(range(i64(0), words), ids, {.name = "StringLookup"});
  return floormod(ids + oov, constant(oov + words, {.dtype = DType::int64}));
}

}  // namespace TANDEM_NS::layers
