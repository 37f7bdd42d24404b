// The features of a serialized Example, where they lie in its bytes. For the definitions of io/example.hpp and
// io/parse_example.hpp. The messages, from tensorflow/core/example/{example,feature}.proto:
//   Example {Features features = 1}              SequenceExample {Features context = 1; FeatureLists feature_lists = 2}
//   Features {map<string, Feature> feature = 1}  FeatureLists {map<string, FeatureList> feature_list = 1}
//   Feature {oneof {BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3}}
//   FeatureList {repeated Feature feature = 1}   the three lists {repeated value = 1}, numbers packed
#pragma once
#include <string_view>

#include "tandem/io/wire.hpp"

namespace TANDEM_NS::io::detail {

enum class FeatureKind : std::uint8_t { none = 0, bytes = 1, floats = 2, int64s = 3 };  // the fields of Feature

inline constexpr const char* feature_kind_name(FeatureKind kind) {
  constexpr const char* names[] = {"no", "bytes", "float", "int64"};
  return names[static_cast<int>(kind)];
}

/// The list of a feature, not decoded.
struct FeatureView {
  FeatureKind kind = FeatureKind::none;
  std::string_view list;
};

/// False if the bytes are not a Feature.
inline bool view_feature(std::string_view bytes, FeatureView& to) {
  to = {};
  WireReader r(bytes);
  while (r.next())
    if (r.type() == WireType::bytes && r.field() <= 3) to = {static_cast<FeatureKind>(r.field()), r.bytes()};
  return r.ok();
}
/// Calls f(key, value) for each entry of a map whose values are messages: in Features and FeatureLists. False if the
/// bytes are damaged, or if f returns false.
template <class F>
bool for_each_entry(std::string_view map, const F& f) {
  WireReader r(map);
  while (r.next()) {
    if (!r.is(1, WireType::bytes)) continue;
    std::string_view key, value;
    WireReader entry(r.bytes());
    while (entry.next()) {
      if (entry.is(1, WireType::bytes)) key = entry.bytes();
      else if (entry.is(2, WireType::bytes)) value = entry.bytes();
    }
    if (!entry.ok() || !f(key, value)) return false;
  }
  return r.ok();
}

/// Calls f(value) for each value of a list: std::string_view, float or i64. False if it is damaged.
template <class F>
bool for_each_bytes(std::string_view list, const F& f) {
  WireReader r(list);
  while (r.next())
    if (r.is(1, WireType::bytes)) f(r.bytes());
  return r.ok();
}
template <class F>
bool for_each_float(std::string_view list, const F& f) {
  WireReader r(list);
  while (r.next()) {
    float x;
    if (r.is(1, WireType::bytes)) {
      std::string_view packed = r.bytes();
      if (packed.size() % sizeof x) return false;
      while (read_fixed(packed, x)) f(x);
    } else if (r.is(1, WireType::fixed32)) {
      const auto bits = static_cast<std::uint32_t>(r.number());
      std::memcpy(&x, &bits, sizeof x);
      f(x);
    }
  }
  return r.ok();
}
template <class F>
bool for_each_int64(std::string_view list, const F& f) {
  WireReader r(list);
  while (r.next()) {
    u64 x;
    if (r.is(1, WireType::bytes)) {
      for (std::string_view packed = r.bytes(); !packed.empty();) {
        if (!read_varint(packed, x)) return false;
        f(static_cast<i64>(x));
      }
    } else if (r.is(1, WireType::varint)) {
      f(static_cast<i64>(r.number()));
    }
  }
  return r.ok();
}

}  // namespace TANDEM_NS::io::detail
