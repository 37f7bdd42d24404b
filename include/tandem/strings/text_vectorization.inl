// Definitions of strings/text_vectorization.hpp.
#pragma once
#include <cmath>
#include <set>

#include "tandem/layers/by_frequency.hpp"
#include "tandem/ops/cast.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tandem/ops/create/fill.hpp"
#include "tandem/ops/create/range.hpp"
#include "tandem/ops/index/gather.hpp"
#include "tandem/ops/index/gather_nd.hpp"
#include "tandem/ops/index/mask.hpp"
#include "tandem/ops/pointwise/arith.hpp"
#include "tandem/ops/pointwise/compare.hpp"
#include "tandem/ops/reduce/reduce.hpp"
#include "tandem/ops/reduce/scan.hpp"
#include "tandem/ops/shape/concat.hpp"
#include "tandem/ops/shape/repeat.hpp"
#include "tandem/ops/shape/reshape.hpp"
#include "tandem/ops/shape/shape_of.hpp"
#include "tandem/strings/regex.hpp"
#include "tandem/strings/text_vectorization.hpp"
#include "tandem/strings/unicode.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::layers {

namespace detail {
inline constexpr const char* text_layer = "TextVectorization";

TANDEM_INLINE Tensor IdfWeights::value() const { return weights.empty() ? Tensor() : constant(weights); }
TANDEM_INLINE Ref<Asset> IdfWeights::with_value(const Tensor& value) const {
  check_list(text_layer, value, DType::float64);
  std::vector<double> found = value.to_vector<double>();
  check_given(text_layer, is_given(), weights, found, [](double x) { return tandem::detail::shortest_text(x); });
  return Ref<Asset>(new IdfWeights(std::move(found), is_given()));
}
TANDEM_INLINE StringLookupOptions lookup_options(const TextVectorizationOptions& o) {
  StringLookupOptions r{.max_tokens = o.max_tokens, .pad_to_max_tokens = o.pad_to_max_tokens};
  if (o.output_mode == TextOutput::integer) r.mask_token = "";
  return r;
}
// Ids are int64, whatever .dtype is: its default is that of the other modes.
TANDEM_INLINE void check_text_dtype(TextOutput mode, DType dtype) {
  const auto fail = [&](const std::string& what) {
    errors::raise<errors::InvalidArgumentError>(text_layer, what + ", not " + tandem::name(dtype));
  };
  if (mode == TextOutput::integer && dtype != DType::int64 && dtype != TextVectorizationOptions().dtype)
    fail("ids are int64, .dtype is that of the other modes: cast the ids, or leave .dtype out; it must be int64");
  if (mode == TextOutput::tf_idf && !is_floating(dtype)) fail(".dtype of TextOutput::tf_idf must be floating");
  if (mode != TextOutput::integer && !(dtypes::real | dtypes::half_floating).has(dtype))
    fail(".dtype must be that of real numbers");
}
TANDEM_INLINE void check_text_options(const TextVectorizationOptions& o) {
  const auto fail = [&](const char* what) { errors::raise<errors::InvalidArgumentError>(text_layer, what); };
  for (const i64 width : o.ngrams)
    if (width < 1) fail("a width of ngrams is below 1");
  if (o.output_sequence_length && o.output_mode != TextOutput::integer)
    fail(".output_sequence_length needs TextOutput::integer");
  if (o.output_sequence_length) positive(text_layer, "output_sequence_length", *o.output_sequence_length);
  if (!o.idf_weights.empty() && o.output_mode != TextOutput::tf_idf) fail(".idf_weights needs TextOutput::tf_idf");
  check_text_dtype(o.output_mode, o.dtype);
  check_lookup({text_layer, lookup_options(o)}, false, OutputMode::integer);
}
TANDEM_INLINE std::vector<i64> widths_of(const TextVectorizationOptions& o) {
  return o.ngrams.empty() ? std::vector<i64>{1} : o.ngrams;
}
/// The weights of tokens, and before them that of unknown ones, their mean.
TANDEM_INLINE std::vector<double> with_unknown(std::vector<double> idf) {
  double sum = 0;
  for (const double weight : idf) sum += weight;
  idf.insert(idf.begin(), idf.empty() ? 0 : sum / static_cast<double>(idf.size()));
  return idf;
}
/// The number of elements of a list, as an entry of a shape.
TANDEM_INLINE DimValue length_of(const Tensor& list) { return get_shape(list)[0]; }
TANDEM_INLINE Tensor places(const DimValue& n) { return n.is_known() ? range(n.number) : range(n.tensor); }

/// All n-grams of all texts in turn.
struct Grams {
  Tensor tokens, rows, columns;  // with the text of each, and its place among those of the text
};
/// Runs of `width` tokens that lie in one text, placed behind `before` others.
TANDEM_INLINE Grams grams_of(const strings::Pieces& p, const Tensor& rows, const Tensor& columns, i64 width,
                             const Tensor& before) {
  if (width == 1) return {p.values, rows, columns + gather(before, rows)};
  const Tensor all = strings::ngrams(p.values, width), first = places(length_of(all));
  const Tensor row = gather(rows, first), column = gather(columns, first);
  const Tensor is_one = column + width <= gather(p.row_lengths, row);
  const Tensor at = column + gather(before, row);
  return {boolean_mask(all, is_one), boolean_mask(row, is_one), boolean_mask(at, is_one)};
}
}  // namespace detail

TANDEM_INLINE TextVectorization::TextVectorization(const TextVectorizationOptions& options)
    : Layer("text_vectorization"), options_(options) {
  detail::check_text_options(options);
  add_asset("vocabulary",
            Ref<Asset>(new detail::StringVocabulary(detail::lookup_options(options), detail::text_layer)));
  if (options.output_mode == TextOutput::tf_idf) add_asset("idf_weights", Ref<Asset>(new detail::IdfWeights()));
  build_once([] {});  // there are no Variables to come
}
TANDEM_INLINE void TextVectorization::set_vocabulary(std::vector<std::string> words, bool is_given,
                                                     std::vector<double> idf) const {
  const Ref<Asset> found(
      new detail::StringVocabulary(vocabulary()->options, std::move(words), is_given, detail::text_layer));
  if (options_.output_mode == TextOutput::tf_idf)
    set_asset(1, Ref<Asset>(new detail::IdfWeights(std::move(idf), is_given)));
  set_asset(0, found);
}
TANDEM_INLINE void TextVectorization::give_vocabulary(std::vector<std::string> words) const {
  if (options_.output_mode == TextOutput::tf_idf && options_.idf_weights.size() != words.size())
    errors::raise<errors::InvalidArgumentError>(
        detail::text_layer, "has " + std::to_string(options_.idf_weights.size()) + " idf_weights for a vocabulary of " +
                                std::to_string(words.size()));
  std::vector<double> idf = options_.idf_weights;
  const bool has_unknown = detail::strip_special_strings(*vocabulary(), words);
  set_vocabulary(std::move(words), true, has_unknown ? std::move(idf) : detail::with_unknown(std::move(idf)));
}
TANDEM_INLINE std::vector<std::string> TextVectorization::get_vocabulary() const {
  return detail::strings_by_id(*vocabulary());
}

TANDEM_INLINE strings::Pieces TextVectorization::tokens_of(const Tensor& x) const {
  const bool is_split = options_.split != TextSplit::none;
  const bool fits = x.rank() == 1 || (x.rank() == 2 && (!is_split || x.shape().dim(1) == 1));
  if (x.dtype() != DType::string || !fits)
    errors::raise<errors::InvalidArgumentError>(
        detail::text_layer, std::string("needs string [batch]") + (is_split ? " or [batch, 1]" : " or [batch, n]") +
                                ", not " + to_string(x.spec()));
  const Standardize s = options_.standardize;
  Tensor text = is_split ? reshape(x, {-1}) : x;
  if (s == Standardize::lower || s == Standardize::lower_and_strip_punctuation) text = strings::lower(text);
  if (s == Standardize::strip_punctuation || s == Standardize::lower_and_strip_punctuation)
    text = strings::regex_replace(text, "[[:punct:]]", "");
  if (options_.split == TextSplit::whitespace) return strings::split(text);
  if (options_.split == TextSplit::character) {
    const strings::Pieces p = strings::unicode_decode(text, strings::utf8);
    const Tensor ones = ones_like(p.values, {.dtype = DType::int64});
    return {p.row_lengths, strings::unicode_encode(ones, p.values, strings::utf8)};
  }
  const DimValue batch = detail::length_of(text);
  const Tensor each = text.rank() == 2 ? get_shape(text)[1].value() : constant(i64{1});
  return {fill({batch}, each), reshape(text, {-1})};
}

TANDEM_INLINE Tensor TextVectorization::operator()(const Tensor& x) const {
  const InCall here(*this);
  const Ref<detail::StringVocabulary> known = vocabulary();
  if (!known->table) detail::raise_unadapted(detail::text_layer, "vocabulary");
  const strings::Pieces p = tokens_of(x);
  const DimValue batch = detail::length_of(p.row_lengths);
  const tandem::detail::ShapeChecks lenient(false);
  const Tensor rows = repeat(detail::places(batch), p.row_lengths);
  const Tensor begin = cumsum(p.row_lengths, {.exclusive = true});
  const Tensor columns = detail::places(detail::length_of(p.values)) - gather(begin, rows);
  Tensor lengths = zeros_like(p.row_lengths);
  std::vector<Tensor> tokens, at_rows, at_columns;
  for (const i64 width : detail::widths_of(options_)) {
    const detail::Grams g = detail::grams_of(p, rows, columns, width, lengths);
    tokens.push_back(g.tokens), at_rows.push_back(g.rows), at_columns.push_back(g.columns);
    lengths = lengths + maximum(p.row_lengths - (width - 1), 0);
  }
  const Tensor all = concat(tokens, 0), row = concat(at_rows, 0), column = concat(at_columns, 0);
  if (options_.output_mode != TextOutput::integer) {
    const Tensor is_token = not_equal(all, constant(""));
    return encoded(boolean_mask(row, is_token), detail::ids_of_strings(*known, boolean_mask(all, is_token)), batch);
  }
  const Tensor ids = detail::ids_of_strings(*known, all);
  if (!options_.output_sequence_length) {
    const Tensor longest = reduce_max(concat({lengths, zeros({1}, {.dtype = DType::int64})}, 0));
    return scatter_nd(stack({row, column}, {.axis = 1}), ids, {batch, longest});
  }
  const i64 most = *options_.output_sequence_length;
  const Tensor within = column < most;
  const Tensor at = stack({boolean_mask(row, within), boolean_mask(column, within)}, {.axis = 1});
  return scatter_nd(at, boolean_mask(ids, within), {batch, most});
}
TANDEM_INLINE Tensor TextVectorization::encoded(const Tensor& rows, const Tensor& ids, const Dim& batch) const {
  const Ref<detail::StringVocabulary> known = vocabulary();
  const i64 depth = known->limits().depth(known->size());
  const Tensor ones = ones_like(ids, {.dtype = options_.dtype});
  const Tensor counts = scatter_nd(stack({rows, ids}, {.axis = 1}), ones, {batch, depth});
  if (options_.output_mode == TextOutput::multi_hot) return cast(counts > 0, options_.dtype);
  if (options_.output_mode == TextOutput::count) return counts;
  std::vector<double> weights = asset<detail::IdfWeights>(1)->weights;
  if (weights.size() > static_cast<std::size_t>(depth) || weights.empty())  // restored from a layer of another mode
    detail::raise_unadapted(detail::text_layer, "weights");
  weights.resize(static_cast<std::size_t>(depth));
  return counts * constant(weights, {.dtype = options_.dtype});
}

TANDEM_INLINE void TextVectorization::adapt(const Tensor& data) const {
  Counts counts = begin_adapt();
  count(data, counts);
  learn(counts);
}
TANDEM_INLINE TextVectorization::Counts TextVectorization::begin_adapt() const {
  detail::check_adapt(detail::text_layer, vocabulary()->is_given());
  return {};
}
TANDEM_INLINE void TextVectorization::count(const Tensor& data, Counts& counts) const {
  const strings::Pieces p = tokens_of(data.rank() == 0 ? reshape(data, {1}) : data);
  const std::vector<std::string> words = p.values.to_vector<std::string>();
  std::size_t begin = 0;
  for (const i64 length : p.row_lengths.to_vector<i64>()) {
    const std::size_t end = begin + static_cast<std::size_t>(length);
    std::set<std::string> of_text;
    for (const i64 width : detail::widths_of(options_))
      for (std::size_t i = begin; i + static_cast<std::size_t>(width) <= end; ++i) {
        std::string token = words[i];
        for (std::size_t k = 1; k < static_cast<std::size_t>(width); ++k) token += " " + words[i + k];
        ++counts.tokens[token];
        of_text.insert(std::move(token));
      }
    for (const std::string& token : of_text) ++counts.texts[token];
    ++counts.all_texts;
    begin = end;
  }
}
TANDEM_INLINE void TextVectorization::learn(const Counts& counts) const {
  std::map<std::string, i64> tokens = counts.tokens;
  const Ref<detail::StringVocabulary> known = vocabulary();
  tokens.erase(known->options.oov_token);
  tokens.erase("");
  if (tokens.empty()) detail::raise_empty(detail::text_layer);
  std::vector<std::string> words = detail::by_frequency(tokens, detail::most_tokens(known->limits(), 0));
  std::vector<double> idf;
  for (const std::string& word : words)
    idf.push_back(std::log1p(static_cast<double>(counts.all_texts) / (1 + static_cast<double>(counts.texts.at(word)))));
  set_vocabulary(std::move(words), false, detail::with_unknown(std::move(idf)));
}

}  // namespace TANDEM_NS::layers
