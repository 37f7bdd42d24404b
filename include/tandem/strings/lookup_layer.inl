// Definitions of strings/lookup_layer.hpp.
#pragma once
#include <algorithm>

#include "tandem/layers/by_frequency.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/special.hpp"
#include "tandem/strings/lookup_layer.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::layers {

namespace detail {
TANDEM_INLINE std::vector<std::string> strings_by_id(const StringVocabulary& v) {
  std::vector<std::string> r(static_cast<std::size_t>(v.options.num_oov_indices), v.options.oov_token);
  if (v.options.mask_token) r.insert(r.begin(), *v.options.mask_token);
  r.insert(r.end(), v.words.begin(), v.words.end());
  return r;
}
TANDEM_INLINE bool strip_special_strings(const StringVocabulary& v, std::vector<std::string>& words) {
  const StringLookupOptions& o = v.options;
  return strip_specials(v.layer, words, strings_by_id(v), o.mask_token ? &*o.mask_token : nullptr,
                        o.invert ? &o.oov_token : nullptr,
                        [](const std::string& word) { return tandem::detail::escaped_text(word); });
}
TANDEM_INLINE StringVocabulary::StringVocabulary(const StringLookupOptions& o, std::vector<std::string> list,
                                                 bool is_given, const char* of)
    : TensorAsset(is_given), options(o), layer(of), words(std::move(list)) {
  if (words.empty()) errors::raise<errors::InvalidArgumentError>(layer, "the vocabulary is empty");
  most_tokens(limits(), words.size());
  std::vector<std::string> keys = words;
  if (o.mask_token) keys.push_back(*o.mask_token);
  table.emplace(constant(keys),
                lookup::StaticVocabularyTableOptions{.num_oov_buckets = std::max<i64>(o.num_oov_indices, 1)});
  mapping = constant(strings_by_id(*this));
}
TANDEM_INLINE Tensor StringVocabulary::value() const { return words.empty() ? Tensor() : constant(words); }
TANDEM_INLINE Ref<Asset> StringVocabulary::with_value(const Tensor& value) const {
  check_list(layer, value, DType::string);
  std::vector<std::string> found = value.to_vector<std::string>();
  check_given(layer, is_given(), words, found,
              [](const std::string& word) { return tandem::detail::escaped_text(word); });
  return Ref<Asset>(new StringVocabulary(options, std::move(found), is_given(), layer));
}
// The table has the words, the mask and the unknown ones; the ids are those of the mask, the unknown ones and the
// words.
TANDEM_INLINE Tensor ids_of_strings(const StringVocabulary& v, const Tensor& x) {
  Tensor places = v.table->lookup(x);
  if (v.options.num_oov_indices == 0) places = gather(range(i64(0), v.size()), places, {.name = v.layer});
  if (v.limits().specials() == 0) return places;
  return floormod(places + v.limits().specials(), constant(v.size(), {.dtype = DType::int64}));
}
}  // namespace detail

TANDEM_INLINE StringLookup::StringLookup(const StringLookupOptions& options) : Layer("string_lookup") {
  detail::check_lookup({"StringLookup", options}, options.invert, options.output_mode);
  add_asset("vocabulary", Ref<Asset>(new detail::StringVocabulary(options)));
  build_once([] {});  // there are no Variables to come
}
TANDEM_INLINE void StringLookup::set_vocabulary(std::vector<std::string> words, bool is_given) const {
  set_asset(0, Ref<Asset>(new detail::StringVocabulary(vocabulary()->options, std::move(words), is_given)));
}
TANDEM_INLINE void StringLookup::give_vocabulary(std::vector<std::string> words) const {
  detail::strip_special_strings(*vocabulary(), words);
  set_vocabulary(std::move(words), true);
}
TANDEM_INLINE void StringLookup::adapt(const Tensor& data) const {
  Counts counts = begin_adapt();
  count(data, counts);
  learn(std::move(counts));
}
TANDEM_INLINE StringLookup::Counts StringLookup::begin_adapt() const {
  detail::check_adapt("StringLookup", vocabulary()->is_given());
  return {};
}
TANDEM_INLINE void StringLookup::count(const Tensor& data, Counts& counts) {
  if (data.dtype() != DType::string)
    errors::raise<errors::InvalidArgumentError>("StringLookup",
                                                "the data must be string, not " + to_string(data.spec()));
  for (std::string& word : data.to_vector<std::string>()) ++counts[std::move(word)];
}
TANDEM_INLINE void StringLookup::learn(Counts counts) const {
  if (counts.empty()) detail::raise_empty("StringLookup");
  const Ref<detail::StringVocabulary> v = vocabulary();
  counts.erase(v->options.oov_token);
  if (v->options.mask_token) counts.erase(*v->options.mask_token);
  set_vocabulary(detail::by_frequency(counts, detail::most_tokens(v->limits(), 0)), false);
}
TANDEM_INLINE std::vector<std::string> StringLookup::get_vocabulary() const {
  return detail::strings_by_id(*vocabulary());
}
TANDEM_INLINE Tensor StringLookup::operator()(const Tensor& x) const {
  const InCall here(*this);
  const Ref<detail::StringVocabulary> v = vocabulary();
  if (!v->table) detail::raise_unadapted("StringLookup", "vocabulary");
  const StringLookupOptions& o = v->options;
  if (o.invert) return lookup::index_to_string(x, v->mapping, {.default_value = o.oov_token});
  return o.output_mode(detail::ids_of_strings(*v, x), v->limits().depth(v->size()), o.dtype);
}

}  // namespace TANDEM_NS::layers
