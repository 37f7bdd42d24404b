// Definitions of serving/json_infer.hpp.
#pragma once
#include <algorithm>
#include <charconv>
#include <set>

#include "tandem/serving/infer_tensor.hpp"
#include "tandem/serving/json_infer.hpp"
#include "tandem/serving/json_tensor.hpp"
#include "tandem/serving/json_write.hpp"
#include "tandem/util/format.hpp"

namespace TANDEM_NS::serving {

namespace impl {

[[noreturn]] TANDEM_INLINE void refuse_infer(const std::string& what) {
  errors::raise<errors::InvalidArgumentError>("serving", what);
}

// An input of the request, as far as it has been read.
struct InferInput : InferTensor {
  std::optional<u64> binary_bytes;
  std::optional<JsonTensor> data;
  std::string_view unread_data;  // data that came before the datatype
};

// The events of `data` alone.
class InferData final : public JsonEvents {
 public:
  explicit InferData(JsonTensor& to) : to_(to) {}
  bool on(const JsonEvent& e) override {
    to_.on(e);
    return true;
  }

 private:
  JsonTensor& to_;
};

class InferReader final : public JsonEvents {
 public:
  InferBody body;
  std::vector<InferInput> inputs;

  bool on(const JsonEvent& e) override {
    if (tensor_) {
      if (tensor_->on(e)) tensor_ = nullptr;
      return true;
    }
    const bool is_value = e.kind != JsonEvent::key && e.kind != JsonEvent::end_object && e.kind != JsonEvent::end_list;
    if (is_value && path_.size() == 0 && e.kind != JsonEvent::begin_object)
      refuse_infer("the body is not a JSON object");
    if (is_value && on_data(e)) return true;
    if (e.kind == JsonEvent::end_list && path_.is({"inputs", JsonPath::element, "data", JsonPath::element}))
      inputs.back().unread_data = {unread_, static_cast<std::size_t>(e.cursor->at + 1 - unread_)};
    if (is_value) on_value(e);
    path_.on(e);
    return true;
  }

 private:
  static constexpr const char* element = JsonPath::element;

  // Whether the event begins `data` that can be read at once.
  bool on_data(const JsonEvent& e) {
    if (!path_.is({"inputs", element, "data"})) return false;
    InferInput& input = inputs.back();
    if (e.kind != JsonEvent::begin_list) input.fail("has data that are not a list");
    if (input.data || !input.unread_data.empty()) input.fail("has data twice");
    unread_ = e.cursor->at;
    if (!input.dtype) return false;
    tensor_ = &input.data.emplace(input.name, *input.dtype, std::nullopt);
    tensor_->begin(0);
    tensor_->on(e);
    return true;
  }
  void on_value(const JsonEvent& e) {
    if (path_.is({"inputs"}) || path_.is({"outputs"})) {
      if (e.kind != JsonEvent::begin_list) refuse_infer("'" + path_.key(0) + "' must be a list");
    } else if (path_.is({"inputs", element})) {
      if (e.kind != JsonEvent::begin_object) refuse_infer("'inputs' must be a list of objects");
      inputs.emplace_back();
    } else if (path_.is({"outputs", element})) {
      if (e.kind != JsonEvent::begin_object) refuse_infer("'outputs' must be a list of objects");
      body.outputs.emplace_back();
    } else if (path_.is({"id"})) {
      body.id = text(e, "id");
    } else if (path_.is({"parameters", "binary_data_output"})) {
      body.binary_outputs = boolean(e, "binary_data_output");
    } else if (path_.size() > 2 && path_.key(0) == "inputs" && path_.is_list(1)) {
      on_input(e, inputs.back());
    } else if (path_.is({"outputs", element, "name"})) {
      body.outputs.back().name = text(e, "name");
    } else if (path_.is({"outputs", element, "parameters", "binary_data"})) {
      body.outputs.back().is_binary = boolean(e, "binary_data");
    } else if (path_.is({"outputs", element, "parameters", "classification"})) {
      errors::raise<errors::UnimplementedError>("serving",
                                                "the parameter 'classification' of outputs is not supported");
    }
  }
  void on_input(const JsonEvent& e, InferInput& input) {
    if (path_.is({"inputs", element, "name"})) {
      input.name = text(e, "name");
    } else if (path_.is({"inputs", element, "datatype"})) {
      const std::string name = text(e, "datatype");
      input.dtype = dtype_of_infer(name);
      if (!input.dtype) input.fail("has the unknown datatype " + tandem::detail::escaped_text(name.substr(0, 40)));
    } else if (path_.is({"inputs", element, "shape"})) {
      if (e.kind != JsonEvent::begin_list || input.shape) input.fail("has a shape that is not one list of numbers");
      input.shape.emplace();
    } else if (path_.is({"inputs", element, "shape", element})) {
      if (input.shape->rank() == max_rank)
        input.fail("has a shape of more than " + std::to_string(max_rank) + " dimensions");
      input.shape->push_back(static_cast<i64>(number(e, input, "a shape with")));
    } else if (path_.is({"inputs", element, "parameters", "binary_data_size"})) {
      input.binary_bytes = number(e, input, "a binary_data_size of");
    }
  }
  static std::string text(const JsonEvent& e, const char* key) {
    if (e.kind != JsonEvent::text) refuse_infer(std::string("'") + key + "' must be a string");
    return std::string(e.content);
  }
  static bool boolean(const JsonEvent& e, const char* key) {
    if (e.kind != JsonEvent::boolean) refuse_infer(std::string("'") + key + "' must be true or false");
    return e.value;
  }
  static u64 number(const JsonEvent& e, const InferInput& input, const char* what) {
    i64 n = -1;
    const char* const end = e.content.data() + e.content.size();
    if (e.kind != JsonEvent::number) input.fail(std::string("has ") + what + " what is not a number");
    const std::from_chars_result r = std::from_chars(e.content.data(), end, n);
    if (r.ec != std::errc() || r.ptr != end || n < 0)
      input.fail(std::string("has ") + what + " " + std::string(e.content.substr(0, 40)));
    return static_cast<u64>(n);
  }

  JsonPath path_;
  JsonTensor* tensor_ = nullptr;
  const char* unread_ = nullptr;
};

TANDEM_INLINE Tensor json_tensor(InferInput& input) {
  const i64 n = elements_of(input);
  if (!input.unread_data.empty()) {
    InferData events(input.data.emplace(input.name, *input.dtype, std::nullopt));
    input.data->begin(0);
    read_json(input.unread_data, events);
  }
  const Tensor t = input.data->finish();
  const bool is_flat = t.rank() == 1 && t.size() == n;
  if (!is_flat && !(t.shape() == *input.shape))
    input.fail("has the shape " + to_string(*input.shape) + ", but data of the shape " + to_string(t.shape()));
  return n ? Tensor::view_of(t, {*input.shape, *input.dtype, {}}) : Tensor::allocate({*input.shape, *input.dtype, {}});
}
// Takes its binary data from the front of `bytes`.
TANDEM_INLINE Tensor infer_tensor(InferInput& input, std::string_view& bytes) {
  if (!input.dtype || !input.shape) input.fail(std::string("has no ") + (input.dtype ? "shape" : "datatype"));
  const bool has_data = input.data || !input.unread_data.empty();
  if (has_data == input.binary_bytes.has_value())
    input.fail(has_data ? "has both data and binary_data_size" : "has neither data nor binary_data_size");
  if (has_data) return json_tensor(input);
  if (*input.binary_bytes > bytes.size())
    input.fail("has a binary_data_size of " + std::to_string(*input.binary_bytes) + ", but " +
               std::to_string(bytes.size()) + " bytes are left behind the JSON (Inference-Header-Content-Length)");
  const std::size_t size = static_cast<std::size_t>(*input.binary_bytes);
  const Tensor t = binary_tensor(input, bytes.substr(0, size));
  bytes.remove_prefix(size);
  return t;
}

}  // namespace impl

TANDEM_INLINE InferBody read_infer(std::string_view body, std::optional<std::size_t> json_bytes) {
  if (json_bytes && *json_bytes > body.size())
    impl::refuse_infer("Inference-Header-Content-Length is " + std::to_string(*json_bytes) + ", but the body has " +
                       std::to_string(body.size()) + " bytes");
  std::string_view binary = json_bytes ? body.substr(*json_bytes) : std::string_view();
  impl::InferReader reader;
  impl::read_json(json_bytes ? body.substr(0, *json_bytes) : body, reader);
  if (reader.inputs.empty()) impl::refuse_infer("the request has no 'inputs'");
  for (impl::InferInput& input : reader.inputs) {
    if (input.name.empty()) impl::refuse_infer("an input has no name");
    if (!reader.body.inputs.emplace(input.name, impl::infer_tensor(input, binary)).second) input.fail("is there twice");
  }
  std::set<std::string_view> wanted;
  for (const InferBody::Output& output : reader.body.outputs) {
    if (output.name.empty()) impl::refuse_infer("an output has no name");
    if (!wanted.insert(output.name).second)
      impl::refuse_infer("the output " + tandem::detail::escaped_text(std::string_view(output.name).substr(0, 255)) +
                         " is requested twice");
  }
  if (!binary.empty())
    impl::refuse_infer(std::to_string(binary.size()) + " bytes of binary data belong to no input (binary_data_size)");
  return std::move(reader.body);
}

TANDEM_INLINE InferAnswer write_infer(const std::string& model, i64 version, const NamedTensors& outputs,
                                      const InferBody& request) {
  std::vector<InferBody::Output> wanted = request.outputs;
  if (wanted.empty())
    for (const auto& [name, t] : outputs) wanted.push_back({name});
  std::string json = "{\"model_name\":", binary;
  impl::append_json_text(json, model);
  json += ",\"model_version\":\"" + std::to_string(version) + '"';
  if (request.id) impl::append_json_text(json += ",\"id\":", *request.id);
  json += ",\"outputs\":[";
  bool has_binary = false;
  for (const InferBody::Output& output : wanted) {
    const auto at = outputs.find(output.name);
    if (at == outputs.end())
      impl::refuse_infer("the model has no output named " + tandem::detail::escaped_text(output.name));
    const Tensor t = at->second.cpu();
    const char* const datatype = infer_datatype(t.dtype());
    if (!datatype)
      errors::raise<errors::UnimplementedError>("serving", "the output '" + output.name + "' is " + name(t.dtype()) +
                                                               ", which the Open Inference Protocol does not have");
    if (json.back() == '}') json += ',';
    impl::append_json_text(json += "{\"name\":", output.name);
    json += std::string(",\"datatype\":\"") + datatype + "\",\"shape\":[";
    for (int i = 0; i < t.rank(); ++i) json += (i ? "," : "") + std::to_string(t.shape().dim(i));
    if (output.is_binary.value_or(request.binary_outputs)) {
      const std::size_t before = binary.size();
      impl::append_binary(binary, t);
      json += "],\"parameters\":{\"binary_data_size\":" + std::to_string(binary.size() - before) + "}}";
      has_binary = true;
    } else {
      impl::append_json_elements(json += "],\"data\":[", t, 0, t.size(), false);
      json += "]}";
    }
  }
  json += "]}";
  if (!has_binary) return {std::move(json)};
  const std::size_t json_bytes = json.size();
  return {std::move(json += binary), json_bytes};
}

}  // namespace TANDEM_NS::serving
