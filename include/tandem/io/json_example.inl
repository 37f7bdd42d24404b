// decode_json_example of io/parse_example.hpp.
#pragma once
#include <charconv>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "tandem/base/error.hpp"
#include "tandem/io/example.hpp"
#include "tandem/io/parse_example.hpp"
#include "tandem/util/base64.hpp"

namespace TANDEM_NS::io {

namespace detail {

// An Example in the JSON form of protocol buffers: names of fields as in a .proto file or in camel case; null for a
// field that is not set; 64-bit integers and numbers that JSON does not have as texts; bytes in base64.
class JsonExample {
 public:
  using Value = nlohmann::json;
  explicit JsonExample(i64 number) : place_("Example " + std::to_string(number) + ": ") {}

  train::Example read(std::string_view text) const {
    Value json;
    try {
      json = Value::parse(text);
    } catch (const Value::parse_error& e) {
      fail("it is not JSON, byte " + std::to_string(e.byte));
    } catch (const Value::exception&) {
      fail("it has a number that float64 does not have");
    }
    train::Example r;
    check_object(json, "it");
    for (const auto& field : json.items())
      if (field.key() != "features") fail_unknown(field.key(), "an Example");
      else if (!field.value().is_null()) r.features = features(field.value());
    return r;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    errors::raise<errors::InvalidArgumentError>("decode_json_example", place_ + what);
  }
  [[noreturn]] void fail_unknown(const std::string& key, const std::string& of) const {
    fail("'" + key + "' is not a field of " + of);
  }
  // For errors. A list or an object may be nested more deeply than dump() can descend.
  static std::string text_of(const Value& value) {
    constexpr std::size_t most = 80;
    if (value.is_structured()) return value.type_name();
    std::string text = value.dump(-1, ' ', true);  // ASCII, so that it can be cut anywhere
    if (text.size() > most) text.replace(most, std::string::npos, "...");
    return text;
  }
  void check_object(const Value& value, const std::string& what) const {
    if (!value.is_object()) fail(what + " must be an object, not " + value.type_name());
  }

  train::Features features(const Value& value) const {
    train::Features r;
    check_object(value, "'features'");
    for (const auto& field : value.items()) {
      if (field.key() != "feature") fail_unknown(field.key(), "Features");
      if (field.value().is_null()) continue;
      check_object(field.value(), "'feature'");
      for (const auto& entry : field.value().items()) r.feature[entry.key()] = feature(entry.key(), entry.value());
    }
    return r;
  }
  train::Feature feature(const std::string& name, const Value& value) const {
    const std::string place = "feature '" + name + "'";
    train::Feature r;
    if (value.is_null()) return r;
    check_object(value, place);
    for (const auto& field : value.items()) {
      const std::string& key = field.key();
      const bool is_bytes = key == "bytesList" || key == "bytes_list";
      const bool is_float = key == "floatList" || key == "float_list";
      if (!is_bytes && !is_float && key != "int64List" && key != "int64_list") fail_unknown(key, place);
      if (field.value().is_null()) continue;
      if (r.list.index() != 0) fail(place + " has two lists");
      if (is_bytes) r.list = list<train::BytesList>(place, field.value(), &JsonExample::bytes);
      else if (is_float) r.list = list<train::FloatList>(place, field.value(), &JsonExample::float_number);
      else r.list = list<train::Int64List>(place, field.value(), &JsonExample::integer);
    }
    return r;
  }
  template <class List, class Read>
  List list(const std::string& place, const Value& value, Read read_one) const {
    List r;
    check_object(value, "the list of " + place);
    for (const auto& field : value.items()) {
      if (field.key() != "value") fail_unknown(field.key(), "the list of " + place);
      if (field.value().is_null()) continue;
      if (!field.value().is_array()) fail("'value' of " + place + " must be a list, not " + field.value().type_name());
      r.value.resize(field.value().size());
      for (std::size_t i = 0; i < r.value.size(); ++i)
        if (!read_one(field.value()[i], r.value[i]))
          fail("value " + std::to_string(i) + " of " + place + " cannot be " + text_of(field.value()[i]));
    }
    return r;
  }

  static bool bytes(const Value& value, std::string& to) {
    if (!value.is_string()) return false;
    const std::string& text = value.get_ref<const std::string&>();
    using namespace tandem::detail;
    if (decode_base64(text, to, base64_digits)) return true;
    to.clear();
    return decode_base64(text, to, base64_url_digits);
  }
  template <class N>
  static bool parse(const std::string& text, N& to) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, to);
    return error == std::errc() && stop == end;
  }
  static bool float_number(const Value& value, float& to) {
    double x = 0;
    if (value.is_number()) {
      x = value.get<double>();
    } else if (!value.is_string()) {
      return false;
    } else {
      const std::string& text = value.get_ref<const std::string&>();
      constexpr float infinity = std::numeric_limits<float>::infinity();
      if (text == "NaN") return to = std::numeric_limits<float>::quiet_NaN(), true;
      if (text == "Infinity") return to = infinity, true;
      if (text == "-Infinity") return to = -infinity, true;
      if (!parse(text, x) || !std::isfinite(x)) return false;
    }
    to = static_cast<float>(x);
    return std::isfinite(to);
  }
  static bool integer(const Value& value, i64& to) {
    if (value.is_string()) return parse(value.get_ref<const std::string&>(), to);
    if (value.is_number_float()) {
      const double x = value.get<double>();
      if (!(x >= -0x1p63 && x < 0x1p63) || x != std::floor(x)) return false;
      return to = static_cast<i64>(x), true;
    }
    if (!value.is_number()) return false;
    if (value.is_number_unsigned() && value.get<u64>() > static_cast<u64>(std::numeric_limits<i64>::max()))
      return false;
    return to = value.get<i64>(), true;
  }

  std::string place_;
};

}  // namespace detail

TANDEM_INLINE Tensor decode_json_example(const Tensor& json_examples) {
  tandem::detail::check_value("decode_json_example", json_examples);
  if (json_examples.dtype() != DType::string)
    errors::raise<errors::InvalidArgumentError>("decode_json_example",
                                                "needs texts, not " + to_string(json_examples.spec()));
  const Tensor r = Tensor::allocate(json_examples.spec());
  const Bytes* const from = static_cast<const Bytes*>(json_examples.raw());
  for (i64 i = 0; i < r.size(); ++i)
    static_cast<Bytes*>(r.raw())[i] = Bytes(detail::JsonExample(i).read(from[i].view()).serialize());
  return r;
}

}  // namespace TANDEM_NS::io
