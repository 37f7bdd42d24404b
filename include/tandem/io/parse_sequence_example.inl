// Definitions of io/parse_example.hpp: SequenceExamples.
#pragma once
#include <algorithm>

#include "tandem/io/feature_column.hpp"
#include "tandem/io/parse_example.hpp"
#include "tandem/ops/create/outside_trace.hpp"

namespace TANDEM_NS::io {

namespace detail {

// The steps of one feature in all records, one record after the other.
struct Steps {
  std::vector<FeatureView> views;
  std::vector<i64> of_record;
};
// Finds the steps of a feature list. False if it is damaged.
inline bool find_steps(std::string_view list, std::vector<FeatureView>& to) {
  WireReader r(list);
  while (r.next())
    if (r.is(1, WireType::bytes) && !view_feature(r.bytes(), to.emplace_back())) return false;
  return r.ok();
}
// Finds the steps of all features that the keys name.
TANDEM_INLINE std::vector<Steps> find_all_steps(const char* op, Span<const std::string_view> serialized,
                                                const std::vector<std::string>& keys,
                                                const std::vector<FeatureConfig>& configs) {
  std::vector<Steps> r(keys.size());
  std::size_t guess = 0;
  for (std::size_t k = 0; k < serialized.size(); ++k) {
    std::vector<std::string_view> lists(keys.size());
    std::vector<bool> found(keys.size());
    WireReader record(serialized[k]);
    bool good = true;
    while (good && record.next())
      if (record.is(2, WireType::bytes))
        good = find_features(record.bytes(), keys, guess, [&](std::size_t at, std::string_view value) {
          lists[at] = value, found[at] = true;
          return true;
        });
    good = good && record.ok();
    for (std::size_t i = 0; good && i < keys.size(); ++i) {
      const std::size_t before = r[i].views.size();
      if (!found[i] && configs[i].kind == FeatureConfig::sequence && !configs[i].allow_missing)
        FeaturePlace{op, "example", keys[i]}.raise(k, "it is missing; allow_missing would give it no steps");
      good = find_steps(lists[i], r[i].views);
      r[i].of_record.push_back(static_cast<i64>(r[i].views.size() - before));
    }
    if (!good) errors::raise<errors::DataLossError>(op, "element " + std::to_string(k) + " is not a SequenceExample");
  }
  return r;
}
// [records, most steps, shape...], or [steps, shape...] of a single record; shorter records end in zeros.
TANDEM_INLINE Tensor decode_sequence(const FeaturePlace& place, const FeatureConfig& c, const Steps& steps,
                                     bool single) {
  const i64 most = steps.of_record.empty() ? 0 : *std::max_element(steps.of_record.begin(), steps.of_record.end());
  if (c.shape.rank() + 2 > max_rank) place.raise(0, "its batch would have too many axes");
  Shape shape;
  if (!single) shape.push_back(static_cast<i64>(steps.of_record.size()));
  shape.push_back(most);
  for (int i = 0; i < c.shape.rank(); ++i) shape.push_back(c.shape.dim(i));
  const Tensor r = Tensor::allocate({shape, c.dtype, {}});
  const std::size_t step_bytes = static_cast<std::size_t>(c.shape.size()) * size_of(c.dtype);
  char* to = static_cast<char*>(r.raw());
  const FeatureView* at = steps.views.data();
  for (const i64 n : steps.of_record) {
    decode_fixed(place, c.dtype, c.shape.size(), nullptr, {at, static_cast<std::size_t>(n)}, to);
    const std::size_t filled = static_cast<std::size_t>(n) * step_bytes,
                      room = static_cast<std::size_t>(most) * step_bytes;
    if (c.dtype != DType::string && room > filled) std::memset(to + filled, 0, room - filled);  // strings begin empty
    at += n, to += room;
  }
  return r;
}

}  // namespace detail

TANDEM_INLINE SequenceExampleParser::SequenceExampleParser(const FeatureConfigs& context_features,
                                                           const FeatureConfigs& sequence_features)
    : context_(context_features), keys_(detail::check_configs("parse_sequence_example", sequence_features, true)) {
  for (const auto& [key, config] : sequence_features) configs_.push_back(config);
}
TANDEM_INLINE ParsedFeatures SequenceExampleParser::lists(Span<const std::string_view> serialized, bool single) const {
  const tandem::detail::OutsideTrace outside;
  const char* const op = single ? "parse_single_sequence_example" : "parse_sequence_example";
  const std::vector<detail::Steps> all = detail::find_all_steps(op, serialized, *keys_, configs_);
  ParsedFeatures r;
  r.keys_ = keys_;
  r.values_.resize(configs_.size()), r.row_lengths_.resize(configs_.size()), r.steps_.resize(configs_.size());
  for (std::size_t i = 0; i < configs_.size(); ++i) {
    const detail::FeaturePlace place{op, "step", (*keys_)[i]};
    if (configs_[i].kind == FeatureConfig::varying) {
      r.row_lengths_[i] = Tensor::allocate({Shape{static_cast<i64>(all[i].views.size())}, DType::int64, {}});
      r.values_[i] =
          detail::decode_varying(place, configs_[i].dtype, all[i].views, static_cast<i64*>(r.row_lengths_[i].raw()));
    } else {
      r.values_[i] = detail::decode_sequence(place, configs_[i], all[i], single);
    }
    r.steps_[i] = Tensor::allocate({single ? Shape{} : Shape{static_cast<i64>(serialized.size())}, DType::int64, {}});
    std::copy(all[i].of_record.begin(), all[i].of_record.end(), static_cast<i64*>(r.steps_[i].raw()));
  }
  return r;
}
TANDEM_INLINE ParsedSequence SequenceExampleParser::parse_single(std::string_view serialized) const {
  return {context_.parse_single(serialized), lists({&serialized, 1}, true)};
}
TANDEM_INLINE ParsedSequence SequenceExampleParser::parse(Span<const std::string_view> serialized) const {
  return {context_.parse(serialized), lists(serialized, false)};
}

TANDEM_INLINE ParsedSequence parse_single_sequence_example(std::string_view serialized,
                                                           const FeatureConfigs& context_features,
                                                           const FeatureConfigs& sequence_features) {
  return SequenceExampleParser(context_features, sequence_features).parse_single(serialized);
}
TANDEM_INLINE ParsedSequence parse_sequence_example(Span<const std::string_view> serialized,
                                                    const FeatureConfigs& context_features,
                                                    const FeatureConfigs& sequence_features) {
  return SequenceExampleParser(context_features, sequence_features).parse(serialized);
}

}  // namespace TANDEM_NS::io
