// serving/rest.hpp: paths, and whole requests without a socket. Not here: what HTTP adds (rest_http_test.cpp).
#include <nlohmann/json.hpp>

#include "tandem/saved_model.hpp"
#include "tandem/serving.hpp"
#include "tandem/tandem.hpp"
#include "tests/saved_model/models.hpp"
#include "tests/serving/rest_calls.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/hex.hpp"
#include "tests/support/temporary_folder.hpp"

namespace rest_test {

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using serving::HttpAnswer;
using serving::RestPath;
using testing::Half;
using testing::header;
using testing::MemoryCore;
using testing::predict_path;
using testing::request;
using testing::Servable;
using testing::three_rows;

TEST_CASE("rest: half_plus_two as TensorFlow Serving answers it") {
  Half h;
  HttpAnswer a = h.post(predict_path, three_rows);
  CHECK(a.status == 200);
  CHECK(header(a, "Content-Type") == "application/json");
  CHECK(a.body == R"({"predictions":[2.5,3.0,4.5]})");
  CHECK(h.core.last.model.version == 3);
  CHECK(h.core.last.protocol == std::string("rest"));
  CHECK(h.post(predict_path, R"({"inputs":[1.0,2.0,5.0]})").body == R"({"outputs":[2.5,3.0,4.5]})");
  CHECK(h.post("/v1/models/half/versions/1:predict", three_rows).status == 200);
  CHECK(h.core.last.model.version == 1);
  CHECK(h.post("/V1/Models/half/LABELS/stable:PREDICT?x=1", three_rows).status == 200);
  CHECK(h.core.last.model.version == 1);
  const std::string state = R"({"version":"1","state":"AVAILABLE","status":{"error_code":"OK","error_message":""}})";
  CHECK(h.get("/v1/models/half/versions/1").body == "{\"model_version_status\":[" + state + "]}");
  CHECK(h.get("/v1/models/half/labels/stable").body == "{\"model_version_status\":[" + state + "]}");
  CHECK_THAT(h.get("/v1/models/half").body, ContainsSubstring("[{\"version\":\"3\"") && ContainsSubstring("," + state));
}

TEST_CASE("rest: the texts of errors that clients match") {
  Half h;
  const auto check = [](const HttpAnswer& a, int status, const std::string& body) {
    CHECK(a.status == status);
    CHECK(header(a, "Content-Type") == "application/json");
    CHECK(a.body == body);
  };
  check(h.post("/v1/models/nope:predict", three_rows), 404,
        R"_({"error":"Servable not found for request: Latest(nope)"})_");
  check(h.post("/v1/models/half/versions/2:predict", three_rows), 404,
        R"_({"error":"Servable not found for request: Specific(half, 2)"})_");
  check(h.get("/v1/models/nope"), 404, R"_({"error":"Servable not found for request: Latest(nope)"})_");
  check(h.post("/v1/modelz/half:predict", ""), 400, R"({"error":"Malformed request: POST /v1/modelz/half:predict"})");
  check(h.get("/v1/models/half:explain"), 400, R"({"error":"Malformed request: GET /v1/models/half:explain"})");
  check(h.get("/v1/models"), 400, R"({"error":"Missing model name in request."})");
  check(h.post(predict_path, "{}"), 400, R"({"error":"Missing 'inputs' or 'instances' key"})");
  check(h.post(predict_path, ""), 400, R"({"error":"JSON Parse error: The document is empty. at offset: 0"})");
  check(h.post(predict_path, R"({"signature_name":"x","instances":[1]})"), 400,
        R"_({"error":"Serving signature name: \"x\" not found in signature def (there are: serving_default)"})_");
  check(h.post("/v1/models/half/versions/99999999999999999999:predict", ""), 400,
        R"({"error":"Failed to convert version: 99999999999999999999 to numeric."})");
  check(h.get("/nothing"), 404, R"({"error":"Not found: /nothing"})");
  CHECK(h.post("/v1/models/half/labels/none:predict", three_rows).status == 404);
  CHECK(h.post("/v1/models/half:classify", R"({"examples":[{"x":1}]})").status == 400);  // another method
  CHECK(h.post(predict_path, "{\"instances\":" + std::string(100000, '[')).status == 400);
}

TEST_CASE("rest: paths") {
  const auto kind = [](const char* path) { return serving::parse_rest_path(path).kind; };
  CHECK(kind("/v1/models/a/versions/2/metadata") == RestPath::metadata);
  CHECK(kind("/v1/models/a/metadata") == RestPath::metadata);
  CHECK(kind("/v1/models/a:regress") == RestPath::regress);
  CHECK(kind("/v2") == RestPath::server);
  CHECK(kind("/v2/Health/Live") == RestPath::live);
  CHECK(kind("/v2/health/ready?x") == RestPath::ready);
  CHECK(kind("/v2/models/a/versions/1/infer") == RestPath::infer);
  CHECK(kind("/v2/models/ready/ready") == RestPath::infer_ready);
  CHECK(kind("/monitoring/prometheus/metrics") == RestPath::metrics);
  for (const char* path :
       {"", "/", "*", "v1", "/v1x", "/v2x", "/v2/", "/v3/models", "/v2/models", "/v2/models/", "/v2/models//infer",
        "/v2/models/a/b", "/v2/models/a/labels/b", "/v2/models/a/versions/1/x/infer", "/v2/models/%zz"}) {
    CAPTURE(path);
    CHECK(kind(path) == (std::string(path) == "/v2/" ? RestPath::server : RestPath::unknown));
  }
  for (const char* path : {"/v1", "/v1/", "/v1/modelsx", "/v1/models//versions/1", "/v1/models/a/versions",
                           "/v1/models/a/b", "/v1/models/a/:predict", "/v1/models/a:predict:predict",
                           "/v1/models/a:predict/", "/v1/models/a/metadata:predict", "/v1/models/a/labels/:predict",
                           "/v1/models/a/versions/1/labels/b", "/v1/models/%4:predict", "/v1/models/:predict"}) {
    CAPTURE(path);
    CHECK(kind(path) == RestPath::malformed);
  }
  CHECK(kind("/v1/models/") == RestPath::nameless);
  CHECK(serving::parse_rest_path("/v1/models/my%20%2Fmodel%3a:predict").model.name == "my /model:");
  for (const char* path : {"/v1/models/a/versions/-1", "/v1/models/a/versions/1a", "/v2/models/a/versions/x/infer"})
    CHECK_THROWS_AS(serving::parse_rest_path(path), errors::InvalidArgumentError);
}

TEST_CASE("rest: metadata has TensorFlow Serving's form") {
  Half h;
  const HttpAnswer a = h.get("/v1/models/half/metadata");
  CHECK(a.status == 200);
  CHECK(
      a.body ==
      R"({"model_spec":{"name":"half","signature_name":"","version":"3"},"metadata":{"signature_def":{"signature_def":{)"
      R"("serving_default":{"inputs":{"x":{"dtype":"DT_FLOAT","tensor_shape":{"dim":[{"size":"-1","name":""}],"unknown_rank":false},"name":"x"}},)"
      R"("outputs":{"y":{"dtype":"DT_FLOAT","tensor_shape":{"dim":[{"size":"-1","name":""}],"unknown_rank":false},"name":"y"}},)"
      R"("method_name":"tensorflow/serving/predict"}}}}})");
  CHECK(h.get("/v1/models/half/versions/1/metadata").body.find("\"version\":\"1\"") != std::string::npos);
  CHECK(h.get("/v1/models/nope/metadata").status == 404);
  h.core.models_by_name["many"][1] = testing::echo({{"a\"b", {{}, int64}}, {"c", {{2, none}, tandem::string}}});
  const auto json = nlohmann::json::parse(h.get("/v1/models/many/metadata").body);
  const auto& inputs = json["metadata"]["signature_def"]["signature_def"]["serving_default"]["inputs"];
  CHECK(inputs["a\"b"]["dtype"] == "DT_INT64");
  CHECK(inputs["a\"b"]["tensor_shape"]["dim"].empty());
  CHECK(inputs["c"]["tensor_shape"]["dim"][0]["size"] == "2");
}

TEST_CASE("rest: a failed version's state has its error") {
  struct Failed : MemoryCore {
    std::vector<serving::VersionStatus> states(const serving::ModelSpec&) override {
      return {{2, serving::State::end, "graph \"g\" is damaged", 15}, {1, serving::State::loading}};
    }
  } core;
  CHECK(
      serving::Rest(core).handle(request("GET", "/v1/models/m")).body ==
      R"({"model_version_status":[{"version":"2","state":"END","status":{"error_code":"DATA_LOSS","error_message":"graph \"g\" is damaged"}},)"
      R"({"version":"1","state":"LOADING","status":{"error_code":"OK","error_message":""}}]})");
}

TEST_CASE("rest: a request is bound to one version, and read again if that is gone") {
  // Version 1 takes floats and is unloaded between the reading and the call; version 2 takes integers.
  struct Moving : MemoryCore {
    int calls = 0;
    serving::Response predict(const serving::Request& r) override {
      if (++calls == 1) models_by_name["m"].erase(1), models_by_name["m"][2] = testing::echo({{"x", {{none}, int64}}});
      return MemoryCore::predict(r);
    }
  };
  Moving core;
  core.models_by_name["m"][1] = testing::echo({{"x", {{none}, float32}}});
  HttpAnswer a = serving::Rest(core).handle(request("POST", "/v1/models/m:predict", {}, R"({"instances":[7]})"));
  CHECK(a.status == 200);
  CHECK(a.body == R"({"predictions":[7]})");
  CHECK(core.calls == 2);
  Moving other;
  other.models_by_name["m"][1] = testing::echo({{"x", {{none}, float32}}});
  a = serving::Rest(other).handle(request("POST", "/v1/models/m/versions/1:predict", {}, R"({"instances":[7]})"));
  CHECK(a.status == 404);
  CHECK(a.body == R"_({"error":"Servable not found for request: Specific(m, 1)"})_");
}

TEST_CASE("rest: health, readiness and metadata of the Open Inference Protocol") {
  Half h;
  const auto server = nlohmann::json::parse(h.get("/v2").body);
  CHECK(server["name"] == "tandem");
  CHECK(server["extensions"][0] == "binary_tensor_data");
  CHECK(h.get("/v2/health/live").body == R"({"live":true})");
  CHECK(h.get("/v2/health/ready").body == R"({"ready":true})");
  CHECK(h.get("/v2/models/half/ready").body == R"({"name":"half","ready":true})");
  CHECK(h.get("/v2/models/half/versions/2/ready").status == 503);
  CHECK(h.get("/v2/models/nope/ready").status == 503);
  CHECK(
      h.get("/v2/models/half").body ==
      R"({"name":"half","versions":["1","3"],"platform":"tandem","inputs":[{"name":"x","datatype":"FP32","shape":[-1]}],)"
      R"("outputs":[{"name":"y","datatype":"FP32","shape":[-1]}]})");
  CHECK(h.get("/v2/models/nope").status == 404);
  h.core.ready = false;
  CHECK(h.get("/v2/health/live").status == 200);
  CHECK(h.get("/v2/health/ready").status == 503);
  CHECK(h.get("/v2/health/ready").body == R"({"ready":false})");
  CHECK(h.get("/v2/models/half/ready").status == 503);
}

TEST_CASE("rest: infer with JSON and with bytes") {
  Half h;
  const std::string path = "/v2/models/half/infer";
  HttpAnswer a =
      h.post(path, R"({"id":"7","inputs":[{"name":"x","shape":[3],"datatype":"FP32","data":[1.0,2.0,5.0]}]})");
  CHECK(a.status == 200);
  CHECK(header(a, "Content-Type") == "application/json");
  CHECK(header(a, "Inference-Header-Content-Length").empty());
  CHECK(
      a.body ==
      R"({"model_name":"half","model_version":"3","id":"7","outputs":[{"name":"y","datatype":"FP32","shape":[3],"data":[2.5,3.0,4.5]}]})");
  const std::string json =
      R"({"inputs":[{"name":"x","shape":[2],"datatype":"FP32","parameters":{"binary_data_size":8}}],)"
      R"("outputs":[{"name":"y","parameters":{"binary_data":true}}]})";
  const std::string length = std::to_string(json.size());
  a = h.post("/v2/models/half/versions/1/infer", json + testing::from_hex("0000803f 0000a040"),
             {{"inference-header-content-length", length}});
  CHECK(a.status == 200);
  CHECK(header(a, "Content-Type") == "application/octet-stream");
  const std::string answered =
      R"({"model_name":"half","model_version":"1","outputs":[{"name":"y","datatype":"FP32","shape":[2],"parameters":{"binary_data_size":8}}]})";
  CHECK(header(a, "Inference-Header-Content-Length") == std::to_string(answered.size()));
  CHECK(a.body == answered + testing::from_hex("00002040 00009040"));
  CHECK(h.core.last.outputs == std::vector<std::string>{"y"});
  CHECK(h.post(path, json, {{"Inference-Header-Content-Length", "x"}}).status == 400);
  CHECK(h.post(path, "{}").status == 400);
  CHECK(
      h.post("/v2/models/nope/infer", R"({"inputs":[{"name":"x","shape":[1],"datatype":"FP32","data":[1]}]})").status ==
      404);
}

TEST_CASE("rest: metrics on both paths") {
  Half h;
  for (const char* path : {"/metrics", "/monitoring/prometheus/metrics"}) {
    const HttpAnswer a = h.get(path);
    CHECK(a.status == 200);
    CHECK(header(a, "Content-Type").starts_with("text/plain; version=0.0.4"));
    CHECK(a.body == h.core.metrics());
  }
}

TEST_CASE("rest: metrics on a path of the options, or nowhere") {
  Half there({.metrics_path = "/of/models"});
  CHECK(there.get("/metrics").status == 200);
  CHECK(there.get("/of/models?x=1").body == there.core.metrics());
  CHECK(there.get("/monitoring/prometheus/metrics").status == 404);
  CHECK(there.post("/of/models", "").status == 405);
  Half off({.metrics = false});
  for (const char* path : {"/metrics", "/monitoring/prometheus/metrics"}) CHECK(off.get(path).status == 404);
}

TEST_CASE("rest: a saved model with predict, classify and regress") {
  const testing::TemporaryFolder folder;
  const Variable w(constant({{1.f, 0.f}, {0.f, 2.f}}));
  const auto scores = function([&](const Tensor& x) { return matmul(x, w); });
  const auto sum = function([&](const Tensor& x) { return reduce_sum(x, {.axis = 1}); });
  const io::FeatureConfigs x{{"x", io::FixedLenFeature{{2}, float32}}};
  saved_model::save(folder / "m/1", {{"serving_default", testing::HalfPlusTwo().predict()},
                                     {"classify", saved_model::classify(scores, {.features = x}, {"scores"})},
                                     {"regress", saved_model::regress(sum, {.features = x})}});
  MemoryCore core;
  core.models_by_name["m"][1] = Servable::of(saved_model::load(folder / "m/1"));
  serving::Rest rest(core);
  const auto post = [&](const char* verb, const std::string& body) {
    const std::string target = std::string("/v1/models/m:") + verb;
    return rest.handle(request("POST", target, {}, body));
  };
  CHECK(post("predict", three_rows).body == R"({"predictions":[2.5,3.0,4.5]})");
  CHECK(post("classify", R"({"signature_name":"classify","examples":[{"x":[1,2]},{"x":[3.5,4]}]})").body ==
        R"({"results":[[["",1.0],["",4.0]],[["",3.5],["",8.0]]]})");
  CHECK(post("regress", R"({"examples":[{},{"x":[3,4]}],"context":{"x":[1,1]},"signature_name":"regress"})").body ==
        R"({"results":[2.0,7.0]})");
  const HttpAnswer wrong = post("regress", R"({"signature_name":"classify","examples":[{"x":[1,2]}]})");
  CHECK(wrong.status == 400);
  CHECK(post("classify", R"({"signature_name":"classify","examples":[{"x":[1]}]})").status == 400);
  CHECK(post("predict", R"({"signature_name":"classify","instances":[{"b64":""}]})").status == 400);
}

}  // namespace rest_test
