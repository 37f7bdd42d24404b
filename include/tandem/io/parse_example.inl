// Definitions of io/parse_example.hpp. A record is gone through once to find where its features are (FeatureView); then
// each feature is decoded for all records.
#pragma once
#include "tandem/io/feature_column.hpp"
#include "tandem/io/parse_example.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::io {

namespace detail {

inline constexpr const char* parse_example_op = "parse_example";
inline constexpr const char* parse_sequence_op = "parse_sequence_example";

[[noreturn]] inline void raise_not_message(const char* op, bool single, std::size_t number) {
  errors::raise<errors::DataLossError>(
      op, (single ? std::string("the bytes are") : "element " + std::to_string(number) + " is") +
              " not an Example (a damaged record, or not a protocol buffer)");
}
// The features of all records that the keys name: those of record i begin at views[i * keys.size()].
inline std::vector<FeatureView> find_all(const char* op, bool single, Span<const std::string_view> serialized,
                                         const std::vector<std::string>& keys) {
  std::vector<FeatureView> views(serialized.size() * keys.size());
  std::size_t guess = 0;
  for (std::size_t i = 0; i < serialized.size(); ++i) {
    FeatureView* const row = views.data() + i * keys.size();
    WireReader record(serialized[i]);
    bool good = true;
    while (good && record.next())
      if (record.is(1, WireType::bytes))
        good = find_features(record.bytes(), keys, guess,
                             [&](std::size_t at, std::string_view value) { return view_feature(value, row[at]); });
    if (!good || !record.ok()) raise_not_message(op, single, i);
  }
  return views;
}
inline Shape batched(i64 n, const Shape& shape) {
  Shape r{n};
  for (int i = 0; i < shape.rank(); ++i) r.push_back(shape.dim(i));
  return r;
}
inline void check_rank(const FeaturePlace& place, const Shape& shape, int more) {
  if (shape.rank() + more > max_rank)
    place.raise(0, "its batch would have more than the " + std::to_string(max_rank) + " axes that a tensor can have");
}

// The features of the configuration as tensors; `of(i)` has where feature i is in all records.
struct Columns {
  const char* op;
  bool single;
  const std::vector<std::string>& keys;
  const std::vector<FeatureConfig>& configs;

  void decode(std::size_t i, Span<const FeatureView> column, Tensor& values, Tensor& row_lengths) const {
    const FeatureConfig& c = configs[i];
    const FeaturePlace place{op, single ? nullptr : "example", keys[i]};
    const i64 n = static_cast<i64>(column.size());
    if (c.kind == FeatureConfig::varying) {
      const Tensor lengths = Tensor::allocate({Shape{n}, DType::int64, {}});
      values = decode_varying(place, c.dtype, column, static_cast<i64*>(lengths.raw()));
      if (!single) row_lengths = lengths;
      return;
    }
    check_rank(place, c.shape, !single);
    values = Tensor::allocate({single ? c.shape : batched(n, c.shape), c.dtype, {}});
    decode_fixed(place, c.dtype, c.shape.size(), c.default_value.is_set() ? c.default_value.raw() : nullptr, column,
                 static_cast<char*>(values.raw()));
  }
};

inline std::vector<FeatureConfig> configs_of(const FeatureConfigs& features) {
  std::vector<FeatureConfig> r;
  for (const auto& [key, config] : features) r.push_back(config);
  return r;
}
// The elements of a string tensor.
inline std::vector<std::string_view> texts_of(const char* op, const Tensor& x, int rank) {
  tandem::detail::check_value(op, x);
  if (x.dtype() != DType::string || x.rank() != rank)
    errors::raise<errors::InvalidArgumentError>(op, std::string("serialized must be a string ") +
                                                        (rank ? "vector" : "scalar") + ", not " + to_string(x.spec()));
  std::vector<std::string_view> r;
  const auto* const texts = static_cast<const Bytes*>(x.raw());
  for (i64 i = 0; i < x.size(); ++i) r.push_back(texts[i].view());
  return r;
}

}  // namespace detail

TANDEM_INLINE std::size_t ParsedFeatures::index_of(std::string_view key) const {
  if (keys_)
    for (std::size_t i = 0; i < keys_->size(); ++i)
      if ((*keys_)[i] == key) return i;
  std::string all;
  if (keys_)
    for (const std::string& k : *keys_) all += (all.empty() ? "" : ", ") + tandem::detail::escaped_text(k);
  errors::raise<errors::NotFoundError>("ParsedFeatures", "there is no feature " + tandem::detail::escaped_text(key) +
                                                             " among " + (all.empty() ? "none" : all));
}

TANDEM_INLINE ExampleParser::ExampleParser(const FeatureConfigs& features)
    : keys_(detail::check_configs(detail::parse_example_op, features, false)), configs_(detail::configs_of(features)) {}
TANDEM_INLINE ParsedFeatures ExampleParser::parse_single(std::string_view serialized) const {
  const tandem::detail::OutsideTrace outside;
  const auto views = detail::find_all("parse_single_example", true, {&serialized, 1}, *keys_);
  const detail::Columns columns{"parse_single_example", true, *keys_, configs_};
  ParsedFeatures r;
  r.keys_ = keys_;
  r.values_.resize(configs_.size()), r.row_lengths_.resize(configs_.size()), r.steps_.resize(configs_.size());
  for (std::size_t i = 0; i < configs_.size(); ++i) columns.decode(i, {&views[i], 1}, r.values_[i], r.row_lengths_[i]);
  return r;
}
TANDEM_INLINE ParsedFeatures ExampleParser::parse(Span<const std::string_view> serialized) const {
  const tandem::detail::OutsideTrace outside;
  const auto views = detail::find_all(detail::parse_example_op, false, serialized, *keys_);
  const detail::Columns columns{detail::parse_example_op, false, *keys_, configs_};
  ParsedFeatures r;
  r.keys_ = keys_;
  r.values_.resize(configs_.size()), r.row_lengths_.resize(configs_.size()), r.steps_.resize(configs_.size());
  std::vector<detail::FeatureView> column(serialized.size());
  for (std::size_t i = 0; i < configs_.size(); ++i) {
    for (std::size_t k = 0; k < column.size(); ++k) column[k] = views[k * configs_.size() + i];
    columns.decode(i, column, r.values_[i], r.row_lengths_[i]);
  }
  return r;
}

TANDEM_INLINE ParsedFeatures parse_single_example(std::string_view serialized, const FeatureConfigs& features) {
  return ExampleParser(features).parse_single(serialized);
}
TANDEM_INLINE ParsedFeatures parse_single_example(const Tensor& serialized, const FeatureConfigs& features) {
  return parse_single_example(detail::texts_of("parse_single_example", serialized, 0)[0], features);
}
TANDEM_INLINE ParsedFeatures parse_example(Span<const std::string_view> serialized, const FeatureConfigs& features) {
  return ExampleParser(features).parse(serialized);
}
TANDEM_INLINE ParsedFeatures parse_example(const Tensor& serialized, const FeatureConfigs& features) {
  return parse_example(detail::texts_of(detail::parse_example_op, serialized, 1), features);
}

}  // namespace TANDEM_NS::io
