// Definitions of io/json_lines.hpp.
#pragma once
#include <limits>
#include <nlohmann/json.hpp>

#include "tandem/io/feature_column.hpp"
#include "tandem/io/json_lines.hpp"
#include "tandem/ops/create/outside_trace.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::io {

namespace detail {

using Json = nlohmann::json;

// A feature of one line.
class JsonFeature {
 public:
  JsonFeature(std::string place, const FeatureConfig& config) : place_(std::move(place)), config_(config) {}

  Tensor read(const Json* value) const {
    if (!value || value->is_null()) return missing();
    Shape shape = config_.shape;
    if (config_.kind == FeatureConfig::varying) {
      if (!value->is_array()) fail("must be a list, not " + std::string(value->type_name()));
      shape = {static_cast<i64>(value->size())};
    }
    const Tensor r = Tensor::allocate({shape, config_.dtype, {}});
    std::size_t at = 0;
    write(*value, shape, 0, r.raw(), at);
    return r;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    errors::raise<errors::InvalidArgumentError>("JsonLinesReader", place_ + " " + what);
  }
  Tensor missing() const {
    if (config_.kind == FeatureConfig::varying) return Tensor::allocate({Shape{0}, config_.dtype, {}});
    if (!config_.default_value.is_set())
      fail(std::string("is missing and has no default (dtype ") + name(config_.dtype) + ")");
    return Tensor::view_of(config_.default_value, {config_.shape, config_.dtype, {}});
  }
  // Writes nested lists of a shape from an axis on; `at` counts the elements.
  void write(const Json& value, const Shape& shape, int axis, void* to, std::size_t& at) const {
    if (axis == shape.rank()) return write_scalar(value, to, at++);
    if (!value.is_array() || static_cast<i64>(value.size()) != shape.dim(axis))
      fail("must have the shape " + to_string(shape) + ", but " +
           (value.is_array() ? "a list of it has " + std::to_string(value.size()) + " elements"
                             : "has a " + std::string(value.type_name()) + " in place of a list"));
    for (const Json& item : value) write(item, shape, axis + 1, to, at);
  }
  static bool is_int64(const Json& value) {
    return value.is_number_unsigned() ? value.get<u64>() <= static_cast<u64>(std::numeric_limits<i64>::max())
                                      : value.is_number_integer();
  }
  void write_scalar(const Json& value, void* to, std::size_t at) const {
    if (config_.dtype == DType::string && value.is_string())
      static_cast<Bytes*>(to)[at] = Bytes(value.get_ref<const std::string&>());
    else if (config_.dtype == DType::float32 && value.is_number()) static_cast<float*>(to)[at] = value.get<float>();
    else if (config_.dtype == DType::int64 && is_int64(value)) static_cast<i64*>(to)[at] = value.get<i64>();
    else if (config_.dtype == DType::int64 && value.is_boolean()) static_cast<i64*>(to)[at] = value.get<bool>();
    else fail(std::string("must have ") + name(config_.dtype) + " values, not a " + value.type_name());
  }

  std::string place_;
  const FeatureConfig& config_;
};

// The object in a line; raises with the column of what is wrong.
TANDEM_INLINE Json json_object(std::string_view line, const TextLineReader& lines) {
  const auto fail = [&](const std::string& what) {
    errors::raise<errors::DataLossError>("JsonLinesReader", lines.place() + what);
  };
  Json object;
  try {
    object = Json::parse(line);
  } catch (const Json::parse_error& e) {
    fail(", column " + std::to_string(e.byte) + ": it is not JSON");
  } catch (const Json::exception&) {  // a number out of range
    fail(": it has a value that JSON numbers cannot have");
  }
  if (!object.is_object()) fail(": it is not an object, but has type " + std::string(object.type_name()));
  return object;
}

}  // namespace detail

TANDEM_INLINE JsonLinesReader::JsonLinesReader(const std::string& path, const FeatureConfigs& features,
                                               TextLineOptions o)
    : lines_(path, o), keys_(detail::check_configs("JsonLinesReader", features, false)) {
  for (const auto& [key, config] : features) configs_.push_back(config);
}
TANDEM_INLINE bool JsonLinesReader::next(ParsedFeatures& record) {
  const tandem::detail::OutsideTrace outside;
  std::string_view line;
  do {
    if (!lines_.next(line)) return false;
  } while (line.find_first_not_of(" \t\r") == line.npos);
  const detail::Json object = detail::json_object(line, lines_);
  ParsedFeatures r;
  r.keys_ = keys_;
  r.row_lengths_.resize(configs_.size()), r.steps_.resize(configs_.size());
  for (std::size_t i = 0; i < configs_.size(); ++i) {
    const auto found = object.find((*keys_)[i]);
    const std::string place = lines_.place() + ": feature " + tandem::detail::escaped_text((*keys_)[i]);
    r.values_.push_back(detail::JsonFeature(place, configs_[i]).read(found == object.end() ? nullptr : &*found));
  }
  record = std::move(r);
  return true;
}

}  // namespace TANDEM_NS::io
