// Definitions of io/example.hpp.
#pragma once
#include "tandem/base/error.hpp"
#include "tandem/io/example.hpp"
#include "tandem/io/feature_view.hpp"

namespace TANDEM_NS::train {

namespace impl {

using namespace io::detail;

TANDEM_INLINE std::string serialized(const Feature& feature) {
  std::string list, packed;
  if (const auto* const texts = std::get_if<BytesList>(&feature.list)) {
    for (const std::string& s : texts->value) append_field(list, 1, s);
  } else if (const auto* const floats = std::get_if<FloatList>(&feature.list)) {
    packed.assign(reinterpret_cast<const char*>(floats->value.data()), floats->value.size() * sizeof(float));
  } else if (const auto* const numbers = std::get_if<Int64List>(&feature.list)) {
    for (const i64 x : numbers->value) append_varint(packed, static_cast<u64>(x));
  }
  if (!packed.empty()) append_field(list, 1, packed);
  std::string r;
  if (const auto kind = feature.list.index()) append_field(r, static_cast<std::uint32_t>(kind), list);
  return r;
}
TANDEM_INLINE std::string serialized(const FeatureList& list) {
  std::string r;
  for (const Feature& f : list.feature) append_field(r, 1, serialized(f));
  return r;
}
template <class Map>
std::string serialized_map(const Map& map) {
  std::string r;
  for (const auto& [key, value] : map) {
    std::string entry;
    append_field(entry, 1, key);
    append_field(entry, 2, serialized(value));
    append_field(r, 1, entry);
  }
  return r;
}

TANDEM_INLINE bool parse_feature(std::string_view bytes, Feature& to) {
  FeatureView view;
  if (!view_feature(bytes, view)) return false;
  switch (view.kind) {
    case FeatureKind::bytes: {
      auto& list = to.list.emplace<BytesList>();
      return for_each_bytes(view.list, [&](std::string_view s) { list.value.emplace_back(s); });
    }
    case FeatureKind::floats: {
      auto& list = to.list.emplace<FloatList>();
      return for_each_float(view.list, [&](float x) { list.value.push_back(x); });
    }
    case FeatureKind::int64s: {
      auto& list = to.list.emplace<Int64List>();
      return for_each_int64(view.list, [&](i64 x) { list.value.push_back(x); });
    }
    default: to.list = {}; return true;
  }
}
TANDEM_INLINE bool parse_feature_list(std::string_view bytes, FeatureList& to) {
  to = {};
  WireReader r(bytes);
  while (r.next())
    if (r.is(1, WireType::bytes) && !parse_feature(r.bytes(), to.feature.emplace_back())) return false;
  return r.ok();
}
TANDEM_INLINE bool parse_features(std::string_view bytes, Features& to) {
  return for_each_entry(bytes, [&](std::string_view key, std::string_view value) {
    return parse_feature(value, to.feature[std::string(key)]);
  });
}
TANDEM_INLINE bool parse_feature_lists(std::string_view bytes, FeatureLists& to) {
  return for_each_entry(bytes, [&](std::string_view key, std::string_view value) {
    return parse_feature_list(value, to.feature_list[std::string(key)]);
  });
}

}  // namespace impl

TANDEM_INLINE std::string Example::serialize() const {
  std::string r;
  impl::append_field(r, 1, impl::serialized_map(features.feature));
  return r;
}
TANDEM_INLINE Example Example::parse(std::string_view bytes) {
  Example r;
  impl::WireReader reader(bytes);
  bool good = true;
  while (good && reader.next())
    if (reader.is(1, impl::WireType::bytes)) good = impl::parse_features(reader.bytes(), r.features);
  if (!good || !reader.ok()) errors::raise<errors::DataLossError>("Example::parse", "the bytes are not an Example");
  return r;
}
TANDEM_INLINE std::string SequenceExample::serialize() const {
  std::string r;
  impl::append_field(r, 1, impl::serialized_map(context.feature));
  impl::append_field(r, 2, impl::serialized_map(feature_lists.feature_list));
  return r;
}
TANDEM_INLINE SequenceExample SequenceExample::parse(std::string_view bytes) {
  SequenceExample r;
  impl::WireReader reader(bytes);
  bool good = true;
  while (good && reader.next()) {
    if (reader.is(1, impl::WireType::bytes)) good = impl::parse_features(reader.bytes(), r.context);
    else if (reader.is(2, impl::WireType::bytes)) good = impl::parse_feature_lists(reader.bytes(), r.feature_lists);
  }
  if (!good || !reader.ok())
    errors::raise<errors::DataLossError>("SequenceExample::parse", "the bytes are not a SequenceExample");
  return r;
}

}  // namespace TANDEM_NS::train
