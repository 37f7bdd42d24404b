// Definitions of serving/json_predict.hpp: :classify and :regress.
#pragma once
#include <algorithm>
#include <cmath>

#include "tandem/io/example.hpp"
#include "tandem/serving/json_number.hpp"
#include "tandem/serving/json_predict.hpp"
#include "tandem/serving/json_reader.hpp"
#include "tandem/serving/json_write.hpp"
#include "tandem/util/base64.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::serving {

namespace impl {

TANDEM_INLINE void check_context(std::size_t examples, std::size_t context, std::size_t input, i64 most_bytes) {
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(examples, context, &bytes) || __builtin_add_overflow(bytes, input, &bytes) ||
      bytes > static_cast<std::size_t>(std::max<i64>(most_bytes, 0)))
    errors::raise<errors::ResourceExhaustedError>(
        "serving", std::to_string(examples) + " examples with a context of " + std::to_string(context) +
                       " bytes each take more than the " + std::to_string(most_bytes) + " bytes of a request");
}

TANDEM_INLINE Bytes example_bytes(std::string_view example, std::size_t i) {
  if (example.size() > most_string_bytes)
    errors::raise<errors::InvalidArgumentError>(
        "serving", "the input 'inputs': example " + std::to_string(i) + " is " + too_long(example.size()));
  return Bytes(example);
}

// The values of one feature, as a JSON text has them.
class JsonFeature {
 public:
  JsonFeature() = default;
  JsonFeature(std::string place, const io::FeatureConfigs& features, const std::string& name)
      : place_(std::move(place)) {
    for (const auto& [key, config] : features)
      if (key == name) is_float_ = config.dtype == DType::float32;
  }
  void text(std::string_view bytes) {
    if (!whole_.empty() || !floats_.empty()) fail_kinds();
    texts_.emplace_back(bytes);
  }
  void base64(std::string_view s) {
    std::string bytes;
    if (!tandem::detail::decode_base64(s, bytes, tandem::detail::base64_digits)) fail("what is not base64");
    text(bytes);
  }
  void whole(i64 x) {
    if (!texts_.empty()) fail_kinds();
    whole_.push_back(x);
    floats_.push_back(static_cast<float>(x));
  }
  void number(std::string_view s) {
    if (!texts_.empty()) fail_kinds();
    ScannedNumber n;
    i64 x;
    float f = s.back() == 'N' ? std::nanf("") : s.front() == '-' ? -HUGE_VALF : HUGE_VALF;
    const bool is_scanned = scan_number(s.data(), s.data() + s.size(), n);
    if (is_scanned && n.whole && to_element(n, x)) return whole(x);
    if (is_scanned && (n.whole || !to_element(n, f)))
      fail(std::string(s.substr(0, 40)) + ", which neither int64 nor float32 can hold");
    is_float_ = true;
    floats_.push_back(f);
  }
  [[noreturn]] void fail(const std::string& what) const { refuse_value(place_ + " has " + what); }

  train::Feature finish() {
    if (!texts_.empty()) return train::BytesList{std::move(texts_)};
    if (floats_.empty()) return {};
    if (is_float_) return train::FloatList{std::move(floats_)};
    return train::Int64List{std::move(whole_)};
  }

 private:
  [[noreturn]] static void refuse_value(const std::string& what) {
    errors::raise<errors::InvalidArgumentError>("serving", what);
  }
  [[noreturn]] void fail_kinds() const { fail("texts and numbers"); }

  std::string place_;
  bool is_float_ = false;
  std::vector<std::string> texts_;
  std::vector<i64> whole_;
  std::vector<float> floats_;
};

class ExamplesReader final : public JsonEvents {
 public:
  explicit ExamplesReader(const io::FeatureConfigs& features) : features_(features) {}
  bool on(const JsonEvent& e) override {
    check_places(e);
    if (has_feature_) on_value(e);
    else if (e.kind == JsonEvent::key && is_features()) begin_feature(std::string(e.content));
    path_.on(e);
    return true;
  }
  std::vector<std::string> finish(std::size_t body_bytes, i64 most_bytes) {
    if (!context_.feature.empty())
      check_context(examples_.size(), train::Example{context_}.serialize().size(), body_bytes, most_bytes);
    if (examples_.empty()) refuse("JSON Value: key 'examples' is expected and was not found, or is an empty list");
    std::vector<std::string> r;
    for (train::Features& own : examples_) {
      own.feature.insert(context_.feature.begin(), context_.feature.end());
      r.push_back(train::Example{std::move(own)}.serialize());
    }
    return r;
  }

 private:
  [[noreturn]] static void refuse(const std::string& what) {
    errors::raise<errors::InvalidArgumentError>("serving", what);
  }
  bool is_example() const { return path_.is({"examples", JsonPath::element}); }
  bool is_features() const {
    return (path_.size() == 3 && path_.key(0) == "examples" && path_.is_list(1) && !path_.is_list(2)) ||
           (path_.size() == 2 && path_.key(0) == "context" && !path_.is_list(1));
  }
  // What stands where the body, a list or an example must be.
  void check_places(const JsonEvent& e) {
    const bool is_value = e.kind != JsonEvent::key && e.kind != JsonEvent::end_list && e.kind != JsonEvent::end_object;
    if (!is_value) return;
    if (path_.size() == 0 && e.kind != JsonEvent::begin_object) refuse("JSON Value: the body is not an object");
    if (path_.is({"examples"})) {
      if (e.kind != JsonEvent::begin_list) refuse("JSON Value: Expecting 'examples' value to be an list/array");
      if (!examples_.empty()) refuse("JSON Value: the key 'examples' occurs twice");
    }
    if (path_.is({"context"}) && e.kind != JsonEvent::begin_object)
      refuse("Example must be JSON object, 'context' is not");
    if (!is_example()) return;
    if (e.kind != JsonEvent::begin_object)
      refuse("Example must be JSON object, item " + std::to_string(examples_.size()) + " of 'examples' is not");
    examples_.emplace_back();
  }
  void begin_feature(std::string name) {
    const bool in_context = path_.size() == 2;
    std::string place = "Feature: " + tandem::detail::escaped_text(std::string_view(name).substr(0, 255)) + " of " +
                        (in_context ? "'context'" : "item " + std::to_string(examples_.size() - 1) + " of 'examples'");
    feature_ = JsonFeature(std::move(place), features_, name);
    to_ = in_context ? &context_ : &examples_.back();
    feature_name_ = std::move(name);
    has_feature_ = true;
    level_ = path_.size();
  }
  void on_value(const JsonEvent& e) {
    const std::size_t level = path_.size() - level_;  // of lists and objects around
    const bool in_object = level && !path_.is_list(path_.size() - 1);
    switch (e.kind) {
      case JsonEvent::begin_list:
        if (level) feature_.fail("a list in a list");
        return;
      case JsonEvent::begin_object:
        if (in_object || level > 1) feature_.fail("an object in an object");
        base64_ = expected;
        return;
      case JsonEvent::key:
        if (e.content != "b64" || base64_ != expected) feature_.fail("an object that is not {\"b64\": \"...\"}");
        return;
      case JsonEvent::text:
        if (in_object) feature_.base64(e.content), base64_ = read;
        else feature_.text(e.content);
        break;
      case JsonEvent::end_object:
        if (base64_ != read) feature_.fail("an object that is not {\"b64\": \"...\"}");
        break;
      case JsonEvent::end_list: break;
      default:
        if (in_object || e.kind == JsonEvent::null) feature_.fail("an element with unexpected JSON type");
        if (e.kind == JsonEvent::boolean) feature_.whole(e.value);
        else feature_.number(e.content);
    }
    const std::size_t after = level - (e.kind == JsonEvent::end_object || e.kind == JsonEvent::end_list);
    if (after == 0) end_feature();
  }
  void end_feature() {
    if (!to_->feature.emplace(feature_name_, feature_.finish()).second) feature_.fail("been given twice");
    has_feature_ = false;
  }

  const io::FeatureConfigs& features_;
  JsonPath path_;
  train::Features context_;
  std::vector<train::Features> examples_;
  bool has_feature_ = false;  // whether a feature is being read
  std::string feature_name_;
  JsonFeature feature_;
  train::Features* to_ = nullptr;
  std::size_t level_ = 0;  // of the path at the feature's value
  enum { expected, read } base64_ = expected;
};

[[noreturn]] TANDEM_INLINE void raise_outputs(const char* method) {
  errors::raise<errors::InternalError>("serving",
                                       std::string("the outputs are not those of a ") + method + " signature");
}

}  // namespace impl

TANDEM_INLINE ExamplesBody read_examples(std::string_view json, const Signatures& signatures, i64 most_bytes) {
  const std::string name = impl::find_signature_name(json);
  impl::ExamplesReader reader(impl::signature_named(signatures, name).features);
  impl::read_json(json, reader);
  const std::vector<std::string> examples = reader.finish(json.size(), most_bytes);
  const Tensor t = Tensor::allocate({Shape{static_cast<i64>(examples.size())}, DType::string, {}});
  for (std::size_t i = 0; i < examples.size(); ++i)
    static_cast<Bytes*>(t.raw())[i] = impl::example_bytes(examples[i], i);
  return {name, t};
}

TANDEM_INLINE std::string write_classify(const NamedTensors& outputs) {
  const auto named = [&](const char* name, DType dtype) {
    const auto at = outputs.find(name);
    if (at != outputs.end() && (at->second.rank() != 2 || at->second.dtype() != dtype)) impl::raise_outputs("classify");
    return at == outputs.end() ? Tensor() : at->second.cpu();
  };
  const Tensor classes = named("classes", DType::string), scores = named("scores", float32);
  const Tensor& any = classes.is_set() ? classes : scores;
  if (!any.is_set() || (scores.is_set() && !(scores.shape() == any.shape()))) impl::raise_outputs("classify");
  std::string r = "{\"results\":[";
  const i64 n = any.shape().dim(1);
  for (i64 row = 0; row < any.shape().dim(0); ++row) {
    r += row ? ",[" : "[";
    for (i64 i = row * n; i < (row + 1) * n; ++i) {
      r += i > row * n ? ",[" : "[";
      if (classes.is_set()) impl::append_json_elements(r, classes, i, 1, false);
      else r += "\"\"";
      r += ',';
      if (scores.is_set()) impl::append_json_elements(r, scores, i, 1, false);
      else r += "0.0";
      r += ']';
    }
    r += ']';
  }
  return r + "]}";
}
TANDEM_INLINE std::string write_regress(const NamedTensors& outputs) {
  const auto at = outputs.find("outputs");
  if (at == outputs.end() || at->second.dtype() != float32) impl::raise_outputs("regress");
  const Tensor t = at->second.cpu();
  const bool fits = t.rank() == 1 || (t.rank() == 2 && t.shape().dim(1) == 1);
  if (!fits) impl::raise_outputs("regress");
  std::string r = "{\"results\":[";
  impl::append_json_elements(r, t, 0, t.size(), false);
  return r + "]}";
}

}  // namespace TANDEM_NS::serving
