// /openapi.json: the paths, bodies and answers of the models that are loaded, as tools read them.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "tests/saved_model/models.hpp"
#include "tests/serving/models.hpp"
#include "tests/serving/rest_calls.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_folder.hpp"

namespace openapi_test {

using namespace tandem;
using nlohmann::json;
using testing::Half;
using testing::MemoryCore;
using testing::request;
using testing::Servable;

json openapi_of(serving::Core& core, const serving::RestOptions& options = {}) {
  const serving::HttpAnswer a = serving::Rest(core, options).handle(request("GET", "/openapi.json"));
  REQUIRE(a.status == 200);
  CHECK(testing::header(a, "Content-Type") == "application/json");
  return json::parse(a.body);
}
// The schema of the body of a path, or of its answer, behind one reference.
json behind_reference(const json& api, const json& schema) {
  if (!schema.contains("$ref")) return schema;
  return api.at(json::json_pointer(schema["$ref"].get<std::string>().substr(1)));
}
json body_of(const json& api, const char* path) {
  return behind_reference(api, api["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]);
}
json answer_of(const json& api, const char* path, const char* method = "post") {
  return behind_reference(api, api["paths"][path][method]["responses"]["200"]["content"]["application/json"]["schema"]);
}
// Every "$ref" must lead somewhere.
void check_references(const json& api, const json& at) {
  if (at.is_object() && at.contains("$ref"))
    CHECK(api.contains(json::json_pointer(at["$ref"].get<std::string>().substr(1))));
  if (at.is_structured())
    for (const json& part : at) check_references(api, part);
}

TEST_CASE("openapi: the paths of both protocols, for each version that is available") {
  Half h;
  const json api = openapi_of(h.core);
  CHECK(api["openapi"] == "3.1.0");
  CHECK_FALSE(api.contains("security"));
  check_references(api, api);
  std::vector<std::string> paths;
  for (const auto& [path, item] : api["paths"].items()) paths.push_back(path);
  std::vector<std::string> wanted{
      "/metrics", "/monitoring/prometheus/metrics", "/openapi.json", "/v2", "/v2/health/live", "/v2/health/ready"};
  for (const char* model : {"half", "half/versions/1", "half/versions/3"}) {
    for (const char* rest : {"", "/metadata", ":predict"}) wanted.push_back(std::string("/v1/models/") + model + rest);
    for (const char* rest : {"", "/infer", "/ready"}) wanted.push_back(std::string("/v2/models/") + model + rest);
  }
  std::sort(wanted.begin(), wanted.end());
  std::sort(paths.begin(), paths.end());
  CHECK(paths == wanted);
  for (const auto& [path, item] : api["paths"].items()) {  // each is what the server answers
    const bool is_post = item.contains("post");
    CHECK(h.rest.handle(request(is_post ? "POST" : "GET", path)).status == (is_post ? 400 : 200));
    CHECK(h.rest.handle(request(is_post ? "GET" : "POST", path)).status == 405);
  }
  CHECK_FALSE(openapi_of(h.core, {.metrics = false})["paths"].contains("/metrics"));
  CHECK(openapi_of(h.core, {.metrics_path = "/of/models"})["paths"].contains("/of/models"));
}

TEST_CASE("openapi: bodies and answers are those of the signature") {
  Half h;
  const json number = {{"type", "number"}},
             bounded = {{"type", "number"}, {"minimum", -3.4028235677973366e38}, {"maximum", 3.4028235677973366e38}};
  const json api = openapi_of(h.core);
  const json body = body_of(api, testing::predict_path);
  REQUIRE(body["anyOf"].size() == 2);
  const json rows = body["anyOf"][0]["properties"]["instances"]["anyOf"];
  CHECK(rows[0]["items"]["properties"]["x"] == bounded);
  CHECK(rows[0]["items"]["additionalProperties"] == false);
  CHECK(rows[1] == json{{"type", "array"}, {"items", bounded}, {"minItems", 1}});
  CHECK(body["anyOf"][0]["properties"]["inputs"] == false);
  CHECK(body["anyOf"][0]["required"] == json::array({"instances"}));
  CHECK(body["anyOf"][1]["properties"]["inputs"]["anyOf"][1] == json{{"type", "array"}, {"items", bounded}});
  const json answer = answer_of(api, testing::predict_path);
  CHECK(answer["anyOf"][0]["properties"]["outputs"] == json{{"type", "array"}, {"items", number}});
  CHECK(answer["anyOf"][1]["properties"]["predictions"] == json{{"type", "array"}, {"items", number}});
  const json input = body_of(api, "/v2/models/half/infer")["properties"]["inputs"];
  CHECK(input["items"]["properties"]["datatype"] == json{{"const", "FP32"}});
  CHECK(input["items"]["properties"]["shape"]["maxItems"] == 1);
  CHECK(input["maxItems"] == 1);
  const json open = openapi_of(h.core, {.ignore_extra_inputs = true});
  CHECK_FALSE(body_of(open, testing::predict_path)["anyOf"][0]["properties"]["instances"]["anyOf"][0]["items"].contains(
      "additionalProperties"));
}

// JSON Schema wants at least one element in each of these.
void check_not_empty(const json& at) {
  for (const char* key : {"anyOf", "enum", "required"})
    if (at.is_object() && at.contains(key) && at[key].is_array()) CHECK_FALSE(at[key].empty());
  if (at.is_structured())
    for (const json& part : at) check_not_empty(part);
}

TEST_CASE("openapi: signatures without inputs, and without outputs") {
  MemoryCore core;
  const saved_model::TensorInfo number{"y", {{none}, float32}};
  const auto with = [](const saved_model::Signature& s) { return Servable{{{"serving_default", s}}, {}}; };
  core.models_by_name["source"][1] = with(testing::signature_of({}, {number}));
  core.models_by_name["sink"][1] = with(testing::signature_of({number}));
  core.models_by_name["nothing"][1] = with(testing::signature_of({}));
  const json api = openapi_of(core);
  check_references(api, api);
  check_not_empty(api);
  const json none_of_them = {{"type", "array"}, {"items", false}, {"minItems", 0}, {"maxItems", 0}};
  for (const char* path : {"/v2/models/source/infer", "/v2/models/nothing/infer"})
    CHECK(body_of(api, path)["properties"]["inputs"] == none_of_them);
  CHECK(body_of(api, "/v2/models/source/infer")["properties"]["outputs"]["items"]["properties"]["name"] ==
        json{{"enum", json::array({"y"})}});
  CHECK(body_of(api, "/v2/models/sink/infer")["properties"]["outputs"]["items"]["properties"]["name"] == false);
  CHECK(answer_of(api, "/v2/models/sink/infer")["properties"]["outputs"]["items"] == false);
  CHECK(body_of(api, "/v1/models/source:predict")["properties"]["inputs"]["properties"] == json::object());
}

TEST_CASE("openapi: all dtypes, fixed sizes, several inputs") {
  MemoryCore core;
  std::vector<saved_model::TensorInfo> tensors;
  const std::vector<std::pair<DType, json>> types{
      {DType::bool_, {{"type", "boolean"}}},
      {int8, {{"type", "integer"}, {"minimum", -128}, {"maximum", 127}}},
      {uint64, {{"type", "integer"}, {"minimum", 0}, {"maximum", 18446744073709551615u}}},
      {int64, {{"type", "integer"}, {"minimum", INT64_MIN}, {"maximum", INT64_MAX}}},
      {float64, {{"type", "number"}}},
      {DType::string, {{"$ref", "#/components/schemas/Bytes"}}},
      {DType::complex64, false}};
  for (const auto& [dtype, schema] : types) tensors.push_back({name(dtype), {{none, 3}, dtype}});
  tensors.push_back({"scalar", {Shape{}, DType::float16}});
  core.models_by_name["a/b"][1] = testing::echo(tensors);
  const json api = openapi_of(core);
  check_references(api, api);
  const json body = body_of(api, "/v1/models/a%2Fb:predict");
  const json inputs = body["properties"]["inputs"];  // a scalar has no rows: there are no instances
  CHECK(inputs["required"].size() == tensors.size());
  for (const auto& [dtype, schema] : types) {
    const json row = {{"type", "array"}, {"items", schema}, {"minItems", 3}, {"maxItems", 3}};
    CHECK(inputs["properties"][name(dtype)] == json{{"type", "array"}, {"items", row}});
  }
  CHECK(inputs["properties"]["scalar"]["maximum"] == 65504);
}

TEST_CASE("openapi: classify and regress have the features of their examples") {
  const testing::TemporaryFolder folder;
  const auto scores = function([](const Tensor& x, const Tensor& y) { return x + cast(y, float32); });
  const io::FeatureConfigs features{{"x", io::FixedLenFeature{{2}, float32}},
                                    {"y", io::FixedLenFeature{{1}, int64, constant(std::vector<i64>{0})}}};
  saved_model::save(folder / "m/1", {{"serving_default", testing::HalfPlusTwo().predict()},
                                     {"classify", saved_model::classify(scores, {.features = features}, {"scores"})}});
  MemoryCore core;
  core.models_by_name["m"][1] = Servable::of(saved_model::load(folder / "m/1"));
  const json api = openapi_of(core, {.needs_token = true});
  check_references(api, api);
  CHECK(api["security"] == json::parse(R"([{"token":[]}])"));
  CHECK(api["paths"]["/v2/health/live"]["get"]["security"] == json::array());
  CHECK(api["components"]["securitySchemes"]["token"]["scheme"] == "bearer");
  const json body = body_of(api, "/v1/models/m:classify");
  CHECK(body["properties"]["signature_name"] == json{{"const", "classify"}});
  CHECK(body["required"] == json::array({"examples", "signature_name"}));
  const json example = body["properties"]["examples"]["items"];
  CHECK(example["required"] == json::array({"x"}));
  CHECK(example["properties"]["x"]["minItems"] == 2);
  CHECK(example["properties"]["x"]["items"]["anyOf"][1] == json{{"type", "boolean"}});
  CHECK(example["properties"]["y"]["anyOf"].size() == 2);
  CHECK_FALSE(api["paths"].contains("/v1/models/m:regress"));
}

TEST_CASE("openapi: labels are paths, models that are not loaded have none") {
  const testing::TemporaryFolder folder;
  testing::save_half(folder / "half/1");
  serving::Options options = testing::options_for(folder.path);
  options.models[0].version_labels = {{"stable", 1}, {"next", 2}};
  options.models.push_back({.name = "none", .base_path = folder / "none"});
  serving::Engine engine(options);
  engine.settle();
  CHECK(engine.states({"half"}).at(0).labels == std::vector<std::string>{"stable"});
  const json paths = openapi_of(engine)["paths"];
  CHECK(paths.contains("/v1/models/half/labels/stable:predict"));
  CHECK_FALSE(paths.contains("/v1/models/half/labels/next:predict"));
  CHECK_FALSE(paths.contains("/v2/models/half/labels/stable"));
  CHECK_FALSE(paths.contains("/v1/models/none"));
}

}  // namespace openapi_test
