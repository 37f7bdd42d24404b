// Definitions of serving/json_predict.hpp: :predict.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "tandem/serving/json_predict.hpp"
#include "tandem/serving/json_tensor.hpp"
#include "tandem/serving/json_write.hpp"

namespace TANDEM_NS::serving {

namespace impl {

inline constexpr const char* default_signature = "serving_default";

[[noreturn]] TANDEM_INLINE void refuse_body(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("serving", what);
}
TANDEM_INLINE const saved_model::Signature& signature_named(const Signatures& signatures, const std::string& name) {
  const auto at = signatures.find(name.empty() ? default_signature : name);
  if (at != signatures.end()) return at->second;
  std::string all;
  for (const auto& [known, s] : signatures) all += (all.empty() ? "" : ", ") + known;
  refuse_body("Serving signature name: \"" + name + "\" not found in signature def (there are: " + all + ")");
}

// Passes over a value.
class JsonSkipper {
 public:
  void begin() { is_on_ = true, levels_ = 0; }
  bool is_on() const { return is_on_; }
  void on(const JsonEvent& e) {
    if (e.kind == JsonEvent::begin_object || e.kind == JsonEvent::begin_list) ++levels_;
    if (e.kind == JsonEvent::end_object || e.kind == JsonEvent::end_list) --levels_;
    is_on_ = levels_ > 0;
  }

 private:
  bool is_on_ = false;
  int levels_ = 0;
};

class SignatureNameFinder final : public JsonEvents {
 public:
  std::string name = default_signature;
  bool on(const JsonEvent& e) override {
    if (!path_.size() && e.kind != JsonEvent::begin_object) refuse_body("JSON Value: the body is not an object");
    if (path_.is({"signature_name"}) && e.kind != JsonEvent::key && e.kind != JsonEvent::end_object) {
      if (e.kind != JsonEvent::text) refuse_body("JSON Value: the 'signature_name' key must be a string value.");
      if (!e.content.empty()) name = e.content;
      return false;
    }
    path_.on(e);
    return true;
  }

 private:
  JsonPath path_;
};
// Whether the JSON may have an escape of '_' or a letter, as in "\u005f"; most escapes are of other characters.
TANDEM_INLINE bool has_escaped_letters(std::string_view json) {
  constexpr std::string_view escape = "\\u00";
  for (std::size_t at = json.find(escape); at != json.npos; at = json.find(escape, at)) {
    at += escape.size();
    if (at < json.size() && json[at] >= '5' && json[at] <= '7') return true;
  }
  return false;
}
TANDEM_INLINE std::string find_signature_name(std::string_view json) {
  SignatureNameFinder finder;
  // The letters of the key may be escaped.
  if (json.find("\"signature_name\"") != json.npos || has_escaped_letters(json)) read_json(json, finder);
  return finder.name;
}

// Reads the inputs of one signature. The states are named after what comes next.
class PredictReader final : public JsonEvents {
 public:
  PredictReader(const Signatures& signatures, std::string name, PredictOptions options)
      : name_(std::move(name)), options_(options), inputs_(signature_named(signatures, name_).inputs) {}

  bool on(const JsonEvent& e) override {
    if (skipper_.is_on()) skipper_.on(e);
    else if (!tensor_) on_structure(e);
    else if (tensor_->on(e)) tensor_ = nullptr;
    return true;
  }
  NamedTensors finish() {
    if (!has_data_) refuse_body("Missing 'inputs' or 'instances' key");
    NamedTensors r;
    for (JsonTensor& t : tensors_) {
      if (!t.is_begun()) refuse_body("Missing named input: " + t.name() + " in 'inputs' object.");
      r.emplace(t.name(), t.finish());
    }
    return r;
  }
  bool is_rows() const { return is_rows_; }

 private:
  enum State { begin, body, instances, first_instance, first_key, instance, inputs, column };

  void on_structure(const JsonEvent& e) {
    switch (state_) {
      case begin: return expect(e, JsonEvent::begin_object, "JSON Value: the body is not an object", body);
      case body: return member(e);
      case instances:
        return expect(e, JsonEvent::begin_list, "JSON Value: Excepting 'instances' to be an list/array",
                      first_instance);
      case first_instance: return on_first_instance(e);
      case first_key: return on_first_key(e);
      case instance:
        if (e.kind == JsonEvent::end_list) return void(state_ = body);
        return expect(e, JsonEvent::begin_object,
                      "Expecting object but got a value or list at item " + std::to_string(row_) + " of input list",
                      column);
      case inputs:
        if (e.kind != JsonEvent::begin_object)
          return plain({}, e, "inputs is a plain value/list, but expecting an object");
        state_ = first_key;
        return;
      case column: return on_column(e);
    }
  }
  void expect(const JsonEvent& e, JsonEvent::Kind kind, const std::string& otherwise, State next) {
    if (e.kind != kind) refuse_body(otherwise);
    state_ = next;
  }
  // A key of the body.
  void member(const JsonEvent& e) {
    if (e.kind != JsonEvent::key) return;
    const bool rows = e.content == "instances";
    if (!rows && e.content != "inputs") return skipper_.begin();  // the signature's name is looked for by itself
    if (has_data_)
      refuse_body("JSON Value: Not formatted correctly expecting only one of 'inputs' or 'instances' keys to exist");
    has_data_ = true, is_rows_ = rows;
    state_ = rows ? instances : inputs;
    for (const saved_model::TensorInfo& t : inputs_) {
      if (rows && t.spec.shape.rank() == 0)
        refuse_body("the input '" + t.name +
                    "' is a scalar and has no rows; send it in 'inputs' instead of 'instances'");
      tensors_.emplace_back(t.name, t.spec.dtype, t.spec.shape);
    }
  }
  // The value of the only input, some of whose events have come before it was known to be one.
  void plain(std::initializer_list<JsonEvent> before, const JsonEvent& e, const std::string& otherwise) {
    if (tensors_.size() != 1) refuse_body(otherwise + " as multiple input tensors required as per tensorinfo_map");
    state_ = body;
    tensor_ = &tensors_[0];
    tensor_->begin(0);
    for (JsonEvent event : before) {
      event.cursor = e.cursor;
      tensor_->on(event);
    }
    if (tensor_->on(e)) tensor_ = nullptr;
  }
  void on_first_instance(const JsonEvent& e) {
    if (e.kind == JsonEvent::end_list) refuse_body("JSON Value: No values in 'instances' array");
    if (e.kind == JsonEvent::begin_object) state_ = first_key;
    else plain({{JsonEvent::begin_list}}, e, "instances is a plain list, but expecting list of objects");
  }
  // In the first object of `instances`, or that of `inputs`, which may be {"b64": ...}.
  void on_first_key(const JsonEvent& e) {
    state_ = column;
    const bool encoded = e.kind == JsonEvent::key && e.content == "b64" && tensors_.size() == 1 &&
                         inputs_[0].spec.dtype == DType::string && inputs_[0].name != "b64";
    if (!encoded) return on_column(e);
    if (is_rows_) plain({{JsonEvent::begin_list}, {JsonEvent::begin_object}}, e, "");
    else plain({{JsonEvent::begin_object}}, e, "");
  }
  void on_column(const JsonEvent& e) {
    if (e.kind == JsonEvent::end_object) return is_rows_ ? end_instance() : void(state_ = body);
    const auto at =
        std::find_if(tensors_.begin(), tensors_.end(), [&](const JsonTensor& t) { return t.name() == e.content; });
    if (at == tensors_.end()) {
      if (options_.ignore_extra_inputs) return skipper_.begin();
      refuse_body(place() + "JSON object: does not have named input: " + std::string(e.content.substr(0, 255)) +
                  takes());
    }
    if (is_rows_ ? at->is_begun() && at->rows() > row_ : at->is_begun())
      refuse_body(place() + "the key " + at->name() + " occurs twice");
    tensor_ = &*at;
    tensor_->begin(is_rows_ ? 1 : 0);
  }
  void end_instance() {
    for (const JsonTensor& t : tensors_)
      if (!t.is_begun() || t.rows() != row_ + 1)
        refuse_body(place() + "JSON object: has no " + t.name() + ", keys must be equal to: " + names());
    ++row_;
    state_ = instance;
  }
  std::string place() const {
    return is_rows_ ? "Failed to process element: " + std::to_string(row_) + " of 'instances' list. " : "";
  }
  std::string names() const {
    std::string r;
    for (const saved_model::TensorInfo& t : inputs_) r += (r.empty() ? "" : ",") + t.name;
    return r;
  }
  std::string takes() const { return " (the signature " + name_ + " takes: " + names() + ")"; }

  std::string name_;
  PredictOptions options_;
  const std::vector<saved_model::TensorInfo>& inputs_;
  State state_ = begin;
  bool has_data_ = false, is_rows_ = false;
  i64 row_ = 0;
  std::vector<JsonTensor> tensors_;  // in the order of inputs_
  JsonTensor* tensor_ = nullptr;     // whose value is being read
  JsonSkipper skipper_;
};

}  // namespace impl

TANDEM_INLINE PredictBody read_predict(std::string_view json, const Signatures& signatures, PredictOptions options) {
  const std::string name = impl::find_signature_name(json);
  impl::PredictReader reader(signatures, name, options);
  impl::read_json(json, reader);
  NamedTensors inputs = reader.finish();
  return {name, reader.is_rows(), std::move(inputs)};
}

namespace impl {

TANDEM_INLINE bool is_bytes_output(const std::string& name) { return name.ends_with("_bytes"); }
TANDEM_INLINE std::string write_rows(const NamedTensors& outputs) {
  const i64 none_yet = -1;
  i64 rows = none_yet;
  for (const auto& [name, t] : outputs) {
    if (t.rank() == 0)
      refuse_body("Tensor name: " + name + " has no shape information (a scalar has no rows: send 'inputs')");
    if (rows != none_yet && rows != t.shape().dim(0))
      refuse_body("Tensor name: " + name + " has inconsistent batch size: " + std::to_string(t.shape().dim(0)) +
                  " expecting: " + std::to_string(rows) + " (send 'inputs' instead of 'instances')");
    rows = t.shape().dim(0);
  }
  std::string r = "{\"predictions\":[";
  for (i64 row = 0; row < rows; ++row) {
    if (row) r += ',';
    if (outputs.size() > 1) r += '{';
    const char* comma = "";
    for (const auto& [name, t] : outputs) {
      if (outputs.size() > 1) append_json_text(r += comma, name), r += ':';
      append_json_tensor(r, t, 1, row * (t.size() / rows), is_bytes_output(name));
      comma = ",";
    }
    if (outputs.size() > 1) r += '}';
  }
  return r + "]}";
}
TANDEM_INLINE std::string write_columns(const NamedTensors& outputs) {
  std::string r = "{\"outputs\":";
  if (outputs.size() == 1) {
    append_json_tensor(r, outputs.begin()->second, 0, 0, is_bytes_output(outputs.begin()->first));
    return r + '}';
  }
  const char* comma = "{";
  for (const auto& [name, t] : outputs) {
    append_json_text(r += comma, name), r += ':';
    append_json_tensor(r, t, 0, 0, is_bytes_output(name));
    comma = ",";
  }
  return r + "}}";
}

}  // namespace impl

TANDEM_INLINE std::string write_predict(const NamedTensors& outputs, bool is_rows) {
  NamedTensors on_host;
  for (const auto& [name, t] : outputs) on_host.emplace(name, t.cpu());
  if (on_host.empty()) errors::raise<errors::InternalError>("serving", "the signature has returned no output");
  return is_rows ? impl::write_rows(on_host) : impl::write_columns(on_host);
}

}  // namespace TANDEM_NS::serving
