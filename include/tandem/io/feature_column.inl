// Definitions of io/feature_column.hpp.
#pragma once
#include <algorithm>

#include "tandem/io/feature_column.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::io::detail {

TANDEM_INLINE void FeaturePlace::raise(std::size_t number, const std::string& what) const {
  const std::string where = unit ? std::string(unit) + " " + std::to_string(number) + ", " : std::string();
  errors::raise<errors::InvalidArgumentError>(op, where + "feature " + tandem::detail::escaped_text(key) + ": " + what);
}
TANDEM_INLINE void FeaturePlace::raise_damaged(std::size_t number) const {
  const std::string where = unit ? " of " + std::string(unit) + " " + std::to_string(number) : std::string();
  errors::raise<errors::DataLossError>(op, "feature " + tandem::detail::escaped_text(key) + where + " is damaged");
}

TANDEM_INLINE FeatureKind kind_of(DType dtype) {
  return dtype == DType::string    ? FeatureKind::bytes
         : dtype == DType::float32 ? FeatureKind::floats
         : dtype == DType::int64   ? FeatureKind::int64s
                                   : FeatureKind::none;
}
TANDEM_INLINE i64 count_values(const FeatureView& f) {
  i64 n = 0;
  bool good = true;
  switch (f.kind) {
    case FeatureKind::bytes: good = for_each_bytes(f.list, [&](std::string_view) { ++n; }); break;
    case FeatureKind::floats: good = for_each_float(f.list, [&](float) { ++n; }); break;
    case FeatureKind::int64s: good = for_each_int64(f.list, [&](i64) { ++n; }); break;
    case FeatureKind::none: break;
  }
  return good ? n : -1;
}
TANDEM_INLINE void decode_values(const FeatureView& f, void* to) {
  switch (f.kind) {
    case FeatureKind::bytes: {
      auto* p = static_cast<Bytes*>(to);
      for_each_bytes(f.list, [&](std::string_view s) { *p++ = Bytes(s); });
      break;
    }
    case FeatureKind::floats: {
      auto* p = static_cast<float*>(to);
      for_each_float(f.list, [&](float x) { *p++ = x; });
      break;
    }
    case FeatureKind::int64s: {
      auto* p = static_cast<i64*>(to);
      for_each_int64(f.list, [&](i64 x) { *p++ = x; });
      break;
    }
    case FeatureKind::none: break;
  }
}

TANDEM_INLINE void check_kind(const FeaturePlace& place, DType dtype, const FeatureView& f, std::size_t number) {
  if (f.kind != FeatureKind::none && f.kind != kind_of(dtype))
    place.raise(number,
                std::string("it has ") + feature_kind_name(f.kind) + " values, but its dtype is " + name(dtype));
}
TANDEM_INLINE void decode_fixed(const FeaturePlace& place, DType dtype, i64 size, const void* missing,
                                Span<const FeatureView> features, char* to) {
  const std::size_t bytes = static_cast<std::size_t>(size) * size_of(dtype);
  for (std::size_t i = 0; i < features.size(); ++i, to += bytes) {
    const FeatureView& f = features[i];
    check_kind(place, dtype, f, i);
    if (f.kind == FeatureKind::none) {
      if (!missing) place.raise(i, std::string("it is missing and has no default (dtype ") + name(dtype) + ")");
      if (dtype == DType::string) std::copy_n(static_cast<const Bytes*>(missing), size, reinterpret_cast<Bytes*>(to));
      else if (bytes) std::memcpy(to, missing, bytes);
      continue;
    }
    const i64 n = count_values(f);
    if (n < 0) place.raise_damaged(i);
    if (n != size) place.raise(i, "it has " + std::to_string(n) + " values instead of " + std::to_string(size));
    decode_values(f, to);
  }
}
TANDEM_INLINE Tensor decode_varying(const FeaturePlace& place, DType dtype, Span<const FeatureView> features,
                                    i64* row_lengths) {
  i64 all = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    check_kind(place, dtype, features[i], i);
    const i64 n = count_values(features[i]);
    if (n < 0) place.raise_damaged(i);
    row_lengths[i] = n;
    all += n;
  }
  const Tensor values = Tensor::allocate({Shape{all}, dtype, {}});
  char* to = static_cast<char*>(values.raw());
  for (std::size_t i = 0; i < features.size(); ++i) {
    decode_values(features[i], to);
    to += static_cast<std::size_t>(row_lengths[i]) * size_of(dtype);
  }
  return values;
}

TANDEM_INLINE std::shared_ptr<const std::vector<std::string>> check_configs(const char* op,
                                                                            const FeatureConfigs& features,
                                                                            bool of_steps) {
  auto keys = std::make_shared<std::vector<std::string>>();
  for (const auto& [key, config] : features) {
    const FeaturePlace place{op, nullptr, key};
    if (std::find(keys->begin(), keys->end(), key) != keys->end()) place.raise(0, "there are two of that name");
    if (kind_of(config.dtype) == FeatureKind::none)
      place.raise(0, std::string("its dtype must be float32, int64 or string, not ") + name(config.dtype));
    if (config.kind == (of_steps ? FeatureConfig::fixed : FeatureConfig::sequence))
      place.raise(0, of_steps ? "that of a sequence must be a FixedLenSequenceFeature or a VarLenFeature"
                              : "only a SequenceExample has a FixedLenSequenceFeature");
    if (std::any_of(config.shape.begin(), config.shape.end(), [](i64 d) { return d < 0; }))
      place.raise(0, "its shape has an unknown or negative dimension: " + to_string(config.shape));
    const Tensor& d = config.default_value;
    if (d.is_set() && (d.is_symbolic() || d.dtype() != config.dtype || d.size() != config.shape.size() ||
                       d.device().kind != Device::cpu))
      place.raise(0, "its default value " + to_string(d.spec()) + " is not one of " + to_string(config.shape) + " " +
                         name(config.dtype));
    keys->push_back(key);
  }
  return keys;
}

}  // namespace TANDEM_NS::io::detail
