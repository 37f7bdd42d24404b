// Definitions of serving/openapi.hpp.
#pragma once
#include <limits>
#include <utility>
#include <vector>

#include "tandem/base/error.hpp"
#include "tandem/serving/json_infer.hpp"
#include "tandem/serving/json_write.hpp"
#include "tandem/serving/openapi.hpp"

namespace TANDEM_NS::serving::impl {

// JSON, put together of texts of JSON.
using JsonFields = std::vector<std::pair<std::string, std::string>>;

TANDEM_INLINE std::string json_text(std::string_view s) {
  std::string r;
  append_json_text(r, s);
  return r;
}
TANDEM_INLINE std::string json_object(const JsonFields& fields) {
  std::string r = "{";
  for (const auto& [name, value] : fields) (r += r.size() > 1 ? "," : "") += json_text(name) + ':' + value;
  return r + '}';
}
TANDEM_INLINE std::string json_list(const std::vector<std::string>& values) {
  std::string r = "[";
  for (const std::string& value : values) (r += r.size() > 1 ? "," : "") += value;
  return r + ']';
}

// JSON Schemas. "false" allows nothing; "anyOf" and "enum" must not be empty.
TANDEM_INLINE std::string any_of(const std::vector<std::string>& schemas) {
  if (schemas.empty()) return "false";
  return schemas.size() == 1 ? schemas[0] : json_object({{"anyOf", json_list(schemas)}});
}
TANDEM_INLINE std::string constant_schema(std::string_view text) { return json_object({{"const", json_text(text)}}); }
TANDEM_INLINE std::string enum_schema(const std::vector<std::string>& values) {
  return values.empty() ? "false" : json_object({{"enum", json_list(values)}});
}
TANDEM_INLINE std::string reference(const std::string& schema) {
  return json_object({{"$ref", json_text("#/components/schemas/" + schema)}});
}
// fewest, most  how many items there are; none: any number
TANDEM_INLINE std::string list_schema(const std::string& items, i64 fewest = none, i64 most = none) {
  JsonFields r{{"type", "\"array\""}, {"items", items}};
  if (fewest != none) r.emplace_back("minItems", std::to_string(fewest));
  if (most != none) r.emplace_back("maxItems", std::to_string(most));
  return json_object(r);
}
// others  the schema of properties that are not named
TANDEM_INLINE std::string object_schema(const JsonFields& properties, const std::vector<std::string>& required,
                                        const std::string& others = "true") {
  JsonFields r{{"type", "\"object\""}, {"properties", json_object(properties)}};
  std::vector<std::string> names;
  for (const std::string& name : required) names.push_back(json_text(name));
  if (!names.empty()) r.emplace_back("required", json_list(names));
  if (others != "true") r.emplace_back("additionalProperties", others);
  return json_object(r);
}
// An object that must have all of the properties.
TANDEM_INLINE std::string all_required(const JsonFields& properties, const std::string& others) {
  std::vector<std::string> names;
  for (const auto& [name, schema] : properties) names.push_back(name);
  return object_schema(properties, names, others);
}
template <class T>
std::string integer_schema() {
  return json_object({{"type", "\"integer\""},
                      {"minimum", std::to_string(std::numeric_limits<T>::lowest())},
                      {"maximum", std::to_string(std::numeric_limits<T>::max())}});
}
// largest  the largest number in a request: of float32 the largest that is rounded to a finite one. Answers may have
//          infinities.
TANDEM_INLINE std::string number_schema(const char* largest, bool is_answer) {
  if (is_answer) return R"({"type":"number"})";
  return json_object(
      {{"type", "\"number\""}, {"minimum", std::string("-") + largest}, {"maximum", std::string(largest)}});
}
TANDEM_INLINE std::string element_schema(DType d, bool is_answer) {
  switch (d) {
    case DType::float64: return R"({"type":"number"})";
    case DType::float32: return number_schema("3.4028235677973366e38", is_answer);
    case DType::bfloat16: return number_schema("3.3895313e38", is_answer);
    case DType::float16: return number_schema("65504", is_answer);
    case DType::int8: return integer_schema<std::int8_t>();
    case DType::int16: return integer_schema<std::int16_t>();
    case DType::int32: return integer_schema<std::int32_t>();
    case DType::int64: return integer_schema<i64>();
    case DType::uint8: return integer_schema<std::uint8_t>();
    case DType::uint16: return integer_schema<std::uint16_t>();
    case DType::uint32: return integer_schema<std::uint32_t>();
    case DType::uint64: return integer_schema<u64>();
    case DType::bool_: return R"({"type":"boolean"})";
    case DType::string: return reference("Bytes");
    default: return "false";  // complex and quantized numbers have no JSON
  }
}
// A tensor as nested lists, from an axis on.
TANDEM_INLINE std::string tensor_schema(const Spec& spec, int axis, bool is_answer) {
  std::string r = element_schema(spec.dtype, is_answer);
  for (int i = spec.shape.rank() - 1; i >= axis; --i) r = list_schema(r, spec.shape.dim(i), spec.shape.dim(i));
  return r;
}
TANDEM_INLINE JsonFields tensor_fields(const std::vector<TensorInfo>& tensors, int axis, bool is_answer) {
  JsonFields r;
  for (const TensorInfo& t : tensors) r.emplace_back(t.name, tensor_schema(t.spec, axis, is_answer));
  return r;
}
TANDEM_INLINE bool has_rows(const std::vector<TensorInfo>& tensors) {
  for (const TensorInfo& t : tensors)
    if (t.spec.shape.rank() == 0) return false;
  return !tensors.empty();
}

// A body that has the name of the signature, unless that is the one that is meant without a name.
TANDEM_INLINE std::string named_body(const std::string& signature, JsonFields properties,
                                     std::vector<std::string> required) {
  const bool is_default = signature == "serving_default";
  properties.emplace_back("signature_name",
                          is_default ? R"({"enum":["serving_default",""]})" : constant_schema(signature));
  if (!is_default) required.emplace_back("signature_name");
  return object_schema(properties, required);
}
TANDEM_INLINE std::vector<std::string> predict_bodies(const std::string& name, const saved_model::Signature& s,
                                                      bool takes_others) {
  const char* const others = takes_others ? "true" : "false";
  std::vector<std::string> columns{all_required(tensor_fields(s.inputs, 0, false), others)}, rows, r;
  if (has_rows(s.inputs)) rows.push_back(list_schema(all_required(tensor_fields(s.inputs, 1, false), others), 1));
  if (s.inputs.size() == 1) columns.push_back(tensor_schema(s.inputs[0].spec, 0, false));
  if (s.inputs.size() == 1 && !rows.empty()) rows.push_back(list_schema(tensor_schema(s.inputs[0].spec, 1, false), 1));
  if (!rows.empty()) r.push_back(named_body(name, {{"instances", any_of(rows)}, {"inputs", "false"}}, {"instances"}));
  r.push_back(named_body(name, {{"inputs", any_of(columns)}, {"instances", "false"}}, {"inputs"}));
  return r;
}
TANDEM_INLINE std::vector<std::string> predict_answers(const saved_model::Signature& s) {
  const auto part = [&](int axis) {
    return s.outputs.size() == 1 ? tensor_schema(s.outputs[0].spec, axis, true)
                                 : all_required(tensor_fields(s.outputs, axis, true), "false");
  };
  std::vector<std::string> r{all_required({{"outputs", part(0)}}, "false")};
  if (has_rows(s.outputs)) r.push_back(all_required({{"predictions", list_schema(part(1))}}, "false"));
  return r;
}
TANDEM_INLINE std::string feature_schema(const io::FeatureConfig& feature) {
  std::string element = element_schema(feature.dtype, false);
  if (feature.dtype != DType::string) element = any_of({element, R"({"type":"boolean"})"});  // 0 or 1
  if (feature.kind != io::FeatureConfig::fixed) return any_of({element, list_schema(element)});
  const i64 n = feature.shape.size();
  const std::string list = list_schema(element, n, n);
  return n == 1 ? any_of({element, list}) : list;
}
TANDEM_INLINE std::string examples_body(const std::string& name, const saved_model::Signature& s) {
  JsonFields features;
  std::vector<std::string> required;
  for (const auto& [key, feature] : s.features) {
    features.emplace_back(key, feature_schema(feature));
    if (feature.kind == io::FeatureConfig::fixed && !feature.default_value.is_set()) required.push_back(key);
  }
  const std::string example = object_schema(features, required, reference("Feature"));
  return named_body(name,
                    {{"examples", list_schema(example, 1)}, {"context", object_schema({}, {}, reference("Feature"))}},
                    {"examples"});
}

// The Open Inference Protocol, which has one signature.
TANDEM_INLINE std::string infer_body(const saved_model::Signature& s) {
  std::vector<std::string> inputs, outputs;
  for (const TensorInfo& t : s.inputs) {
    const i64 rank = t.spec.shape.rank();
    std::vector<std::string> data{list_schema(element_schema(t.spec.dtype, false))};
    if (rank > 1) data.push_back(tensor_schema(t.spec, 0, false));
    const char* const datatype = infer_datatype(t.spec.dtype);
    inputs.push_back(all_required({{"name", constant_schema(t.name)},
                                   {"datatype", datatype ? constant_schema(datatype) : "false"},
                                   {"shape", list_schema(R"({"type":"integer","minimum":0})", rank, rank)},
                                   {"data", any_of(data)}},
                                  "true"));
  }
  for (const TensorInfo& t : s.outputs) outputs.push_back(json_text(t.name));
  const auto n = static_cast<i64>(s.inputs.size());
  const std::string output = object_schema({{"name", enum_schema(outputs)}}, {"name"});
  return object_schema({{"id", R"({"type":"string"})"},
                        {"inputs", list_schema(any_of(inputs), n, n)},
                        {"outputs", list_schema(output, 0, static_cast<i64>(outputs.size()))}},
                       {"inputs"});
}
TANDEM_INLINE std::string infer_answer(const saved_model::Signature& s) {
  std::vector<std::string> outputs;
  for (const TensorInfo& t : s.outputs) {
    const i64 rank = t.spec.shape.rank();
    const char* const datatype = infer_datatype(t.spec.dtype);
    outputs.push_back(object_schema({{"name", constant_schema(t.name)},
                                     {"datatype", datatype ? constant_schema(datatype) : "false"},
                                     {"shape", list_schema(R"({"type":"integer"})", rank, rank)},
                                     {"data", list_schema(element_schema(t.spec.dtype, true))}},
                                    {"name", "datatype", "shape"}));
  }
  const std::string text = R"({"type":"string"})";
  return object_schema(
      {{"model_name", text}, {"model_version", text}, {"id", text}, {"outputs", list_schema(any_of(outputs))}},
      {"model_name", "model_version", "outputs"});
}

// Operations.
TANDEM_INLINE std::string json_content(const std::string& schema) {
  return json_object({{"application/json", json_object({{"schema", schema}})}});
}
TANDEM_INLINE std::string answer_of(const char* description, const std::string& content) {
  return json_object({{"description", json_text(description)}, {"content", content}});
}
struct Operation {
  std::string summary, answer;                      // the content of an answer with the status 200
  std::string body = {}, tag = {}, not_ready = {};  // the schema of a POST; the content of one with 503
  bool needs_token = true;
};
TANDEM_INLINE std::string path_item(const Operation& o) {
  JsonFields answers{{"200", answer_of("the answer", o.answer)}};
  if (!o.not_ready.empty()) answers.emplace_back("503", answer_of("not ready", o.not_ready));
  answers.emplace_back("default", R"({"$ref":"#/components/responses/Error"})");
  JsonFields r{{"summary", json_text(o.summary)}, {"responses", json_object(answers)}};
  if (!o.tag.empty()) r.emplace_back("tags", json_list({json_text(o.tag)}));
  if (!o.needs_token) r.emplace_back("security", "[]");
  if (!o.body.empty())
    r.emplace_back("requestBody", json_object({{"required", "true"}, {"content", json_content(o.body)}}));
  return json_object({{o.body.empty() ? "get" : "post", json_object(r)}});
}

inline constexpr const char* openapi_schemas = R"("Bytes":{"anyOf":[{"type":"string"},{"type":"object","properties":{
"b64":{"type":"string","contentEncoding":"base64",
"pattern":"^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"}},
"required":["b64"],"additionalProperties":false}]},
"Number":{"anyOf":[{"type":"number","minimum":-3.4028235677973366e38,"maximum":3.4028235677973366e38},
{"type":"boolean"}]},
"Feature":{"anyOf":[{"$ref":"#/components/schemas/Number"},{"type":"array",
"items":{"$ref":"#/components/schemas/Number"}},
{"$ref":"#/components/schemas/Bytes"},{"type":"array","items":{"$ref":"#/components/schemas/Bytes"}}]},
"Error":{"type":"object","properties":{"error":{"type":"string"}},"required":["error"]},
"Status":{"type":"object","properties":{"model_version_status":{"type":"array","items":{"type":"object","properties":{
"version":{"type":"string"},"state":{"enum":["START","LOADING","AVAILABLE","UNLOADING","END"]},
"status":{"type":"object","properties":{"error_code":{"type":"string"},"error_message":{"type":"string"}}}},
"required":["version","state","status"]}}},"required":["model_version_status"]},
"Metadata":{"type":"object","properties":{"model_spec":{"type":"object"},"metadata":{"type":"object"}},
"required":["model_spec","metadata"]},
"InferTensor":{"type":"object","properties":{"name":{"type":"string"},"datatype":{"type":"string"},
"shape":{"type":"array","items":{"type":"integer"}}},"required":["name","datatype","shape"]},
"InferMetadata":{"type":"object","properties":{"name":{"type":"string"},
"versions":{"type":"array","items":{"type":"string"}},
"platform":{"type":"string"},"inputs":{"type":"array","items":{"$ref":"#/components/schemas/InferTensor"}},
"outputs":{"type":"array","items":{"$ref":"#/components/schemas/InferTensor"}}},"required":["name","platform"]},
"Server":{"type":"object","properties":{"name":{"type":"string"},"version":{"type":"string"},
"extensions":{"type":"array","items":{"type":"string"}}},"required":["name","version","extensions"]},
"Live":{"type":"object","properties":{"live":{"type":"boolean"}},"required":["live"]},
"Ready":{"type":"object","properties":{"ready":{"type":"boolean"}},"required":["ready"]},
"Classify":{"type":"object","properties":{"results":{"type":"array","items":{"type":"array","items":{"type":"array",
"items":{"anyOf":[{"$ref":"#/components/schemas/Bytes"},{"type":"number"}]},
"minItems":2,"maxItems":2}}}},"required":["results"]},
"Regress":{"type":"object","properties":{"results":{"type":"array",
"items":{"type":"number"}}},"required":["results"]})";

// Gathers the paths of a server, and the schemas that they refer to.
class OpenApi {
 public:
  OpenApi(Core& core, const RestOptions& options) : core_(core), options_(options) {}

  std::string text() {
    add_server();
    for (const std::string& name : core_.models()) add_model(name);
    std::string schemas = json_object(schemas_);
    schemas.insert(1, std::string(openapi_schemas) + (schemas_.empty() ? "" : ","));
    JsonFields components{
        {"schemas", schemas},
        {"responses", json_object({{"Error", answer_of("an error", json_content(reference("Error")))}})}};
    JsonFields r{{"openapi", "\"3.1.0\""}, {"info", info()}, {"paths", json_object(paths_)}};
    if (options_.needs_token) {
      components.emplace_back("securitySchemes", R"({"token":{"type":"http","scheme":"bearer"}})");
      r.emplace_back("security", R"([{"token":[]}])");
    }
    r.emplace_back("components", json_object(components));
    return json_object(r);
  }

 private:
  static std::string info() {
    constexpr const char* description =
        "TensorFlow Serving's REST interface and the Open Inference Protocol. A header X-Request-Timeout-Ms shortens "
        "the time that a request may take. Lists of one level have one length; data of the Open Inference Protocol has "
        "as many elements as shape says, or follows the JSON as bytes.";
    const std::string version = std::to_string(TANDEM_VERSION_MAJOR) + "." + std::to_string(TANDEM_VERSION_MINOR) +
                                "." + std::to_string(TANDEM_VERSION_PATCH);
    return json_object({{"title", json_text("Tandem model server")},
                        {"version", json_text(version)},
                        {"description", json_text(description)}});
  }
  void add(const std::string& path, const Operation& o) { paths_.emplace_back(path, path_item(o)); }
  // Refers to a schema that is there once.
  std::string content(const std::string& key, const std::string& schema) {
    schemas_.emplace_back(key, schema);
    return reference(key);
  }
  void add_server() {
    const std::string ready = json_content(reference("Ready"));
    add("/v2", {"name, version and extensions of the server", json_content(reference("Server"))});
    add("/v2/health/live", {"whether the server runs", json_content(reference("Live")), {}, {}, {}, false});
    add("/v2/health/ready", {"whether all models answer", ready, {}, {}, ready, false});
    add("/openapi.json", {"this text", json_content(R"({"type":"object"})")});
    if (!options_.metrics) return;
    const std::string text = R"({"text/plain":{"schema":{"type":"string"}}})";
    add("/metrics", {"metrics for Prometheus", text});
    if (options_.metrics_path != "/metrics") add(options_.metrics_path, {"metrics for Prometheus", text});
  }
  void add_model(const std::string& name) {
    const std::string path = escaped(name), key = "m" + std::to_string(count_++);
    bool is_newest = true;
    try {
      for (const VersionStatus& v : core_.states({name})) {
        if (v.state != State::available) continue;
        const std::string number = "/versions/" + std::to_string(v.version);
        std::vector<std::string> v1{"/v1/models/" + path + number}, v2{"/v2/models/" + path + number};
        if (std::exchange(is_newest, false)) v1.push_back("/v1/models/" + path), v2.push_back("/v2/models/" + path);
        for (const std::string& label : v.labels) v1.push_back("/v1/models/" + path + "/labels/" + escaped(label));
        i64 version = 0;
        const auto signatures = core_.signatures({.name = name, .version = v.version}, version);
        add_version(name, key + "v" + std::to_string(version), *signatures, v1, v2);
      }
    } catch (const errors::NotFoundError&) {
      // The model, or a version of it, has gone meanwhile.
    }
  }
  void add_version(const std::string& tag, const std::string& key, const Signatures& signatures,
                   const std::vector<std::string>& v1, const std::vector<std::string>& v2) {
    for (const std::string& path : v1) {
      add(path, {"the states of versions", json_content(reference("Status")), {}, tag});
      add(path + "/metadata", {"the signatures", json_content(reference("Metadata")), {}, tag});
    }
    std::vector<std::string> predicts, answers, classifies, regresses;
    for (const auto& [name, s] : signatures) {
      if (s.method == saved_model::classify_method) classifies.push_back(examples_body(name, s));
      else if (s.method == saved_model::regress_method) regresses.push_back(examples_body(name, s));
      if (s.method != saved_model::predict_method) continue;
      for (std::string& body : predict_bodies(name, s, options_.ignore_extra_inputs))
        predicts.push_back(std::move(body));
      for (std::string& answer : predict_answers(s)) answers.push_back(std::move(answer));
    }
    if (!predicts.empty())
      add_verb(v1, tag, ":predict", content(key + ".predict", any_of(predicts)),
               content(key + ".answer", any_of(answers)));
    if (!classifies.empty())
      add_verb(v1, tag, ":classify", content(key + ".classify", any_of(classifies)), reference("Classify"));
    if (!regresses.empty())
      add_verb(v1, tag, ":regress", content(key + ".regress", any_of(regresses)), reference("Regress"));
    add_infer(tag, key, signatures, v2);
  }
  void add_verb(const std::vector<std::string>& paths, const std::string& tag, const char* verb,
                const std::string& body, const std::string& answer) {
    for (const std::string& path : paths) add(path + verb, {"runs a signature", json_content(answer), body, tag});
  }
  void add_infer(const std::string& tag, const std::string& key, const Signatures& signatures,
                 const std::vector<std::string>& paths) {
    const std::string ready = json_content(reference("Ready"));
    for (const std::string& path : paths) {
      add(path, {"versions, inputs and outputs", json_content(reference("InferMetadata")), {}, tag});
      add(path + "/ready", {"whether the model answers", ready, {}, tag, ready});
    }
    const auto at = signatures.find("serving_default");
    if (at == signatures.end() || at->second.method != saved_model::predict_method) return;
    const std::string body = content(key + ".infer", infer_body(at->second)),
                      answer = content(key + ".inferred", infer_answer(at->second));
    for (const std::string& path : paths)
      add(path + "/infer", {"runs the signature serving_default", json_content(answer), body, tag});
  }
  // As a part of a path: all but letters, digits and -._~ by their bytes.
  static std::string escaped(const std::string& name) {
    std::string r;
    for (const char c : name) {
      const auto byte = static_cast<unsigned char>(c);
      const bool is_plain = (byte | 32) >= 'a' && (byte | 32) <= 'z';
      if (is_plain || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == '~') r += c;
      else ((r += '%') += "0123456789ABCDEF"[byte / 16]) += "0123456789ABCDEF"[byte % 16];
    }
    return r;
  }

  Core& core_;
  const RestOptions& options_;
  JsonFields paths_, schemas_;
  int count_ = 0;
};

TANDEM_INLINE std::string openapi_json(Core& core, const RestOptions& options) { return OpenApi(core, options).text(); }

}  // namespace TANDEM_NS::serving::impl
