// gRPC: tensorflow.serving.PredictionService and ModelService, with messages that are made by hand.
#include <bit>

#include "tandem/io.hpp"
#include "tests/serving_grpc/client.hpp"

namespace grpc_prediction_test {

using namespace tandem;
using serving::Server;
using testing::append_field;
using testing::append_integer;
using testing::append_message;
using testing::at;
using testing::GrpcAnswer;
using testing::GrpcClient;
using testing::model_spec;
using testing::grpc_predict_path;
using testing::predict_request;

std::string service(const char* method) { return std::string("/tensorflow.serving.PredictionService/") + method; }

/// A served model: half, x -> x / 2 + 2; and examples, with a feature "a" of two floats.
struct Served {
  testing::TemporaryFolder folder;
  std::optional<Server> server;
  std::optional<GrpcClient> client;

  explicit Served(bool ignore_extra_inputs = false) {
    testing::save_half(folder / "half/1");
    const auto scores = function([](const Tensor& a) { return a * 2.f; });
    const auto sum = function([](const Tensor& a) { return reduce_sum(a, {1}); });
    const saved_model::ExampleOptions features{{{"a", io::FixedLenFeature{{2}, float32}}}};
    saved_model::save(folder / "examples/7", {{"serving_default", saved_model::classify(scores, features, {"scores"})},
                                              {"sum", saved_model::regress(sum, features)}});
    serving::Options options = testing::grpc_options(folder.path, "half");
    options.models.push_back({.name = "examples", .base_path = folder / "examples"});
    options.ignore_extra_inputs = ignore_extra_inputs;
    server.emplace(options, serving::grpc_listener);
    server->engine().settle();
    client.emplace(server->port());
  }
  GrpcAnswer ask(const std::string& method, const std::string& message) { return client->call(method, message); }
};

std::string example(float a, float b) { return train::Example{{{{"a", train::FloatList{{a, b}}}}}}.serialize(); }
/// An Input as field 2, with these examples and a context.
std::string input_of(const std::vector<std::string>& examples, const std::string& context = {}) {
  std::string r;
  append_message(r, 2, [&] {
    append_message(r, context.empty() ? 1 : 2, [&] {
      for (const std::string& e : examples) append_field(r, 1, e);
      if (!context.empty()) append_field(r, 2, context);
    });
  });
  return r;
}

TEST_CASE("grpc: Predict answers with tensor_content and the version") {
  Served s;
  const GrpcAnswer a = s.ask(grpc_predict_path, predict_request("half", {1, 2, 5}));
  REQUIRE(a.code == 0);
  CHECK(testing::outputs_of(a) == std::vector<float>{2.5f, 3, 4.5f});
  CHECK(at(a.message, {1, 1}) == "y");
  CHECK(at(a.message, {2, 1}) == "half");
  CHECK(at(a.message, {2, 2, 1}) == "1");
  CHECK(at(a.message, {2, 3}) == "serving_default");
  CHECK(testing::metric(
            s.server->engine(),
            "tandem_requests_total{code=\"OK\",model=\"half\",protocol=\"grpc\",signature=\"serving_default\","
            "version=\"1\"}") == 1);
}

TEST_CASE("grpc: Predict of a message in many slices") {
  Served s;
  std::vector<float> x(300'000);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 1000);
  const GrpcAnswer a = s.ask(grpc_predict_path, predict_request("half", x));
  REQUIRE(a.code == 0);
  for (float& v : x) v = v / 2 + 2;
  CHECK(testing::outputs_of(a) == x);
}

TEST_CASE("grpc: what Predict refuses") {
  Served s;
  const auto refused = [&](const std::string& message, int code, const char* text) {
    const GrpcAnswer a = s.ask(grpc_predict_path, message);
    CHECK(a.code == code);
    CHECK_THAT(a.text, ContainsSubstring(text));
  };
  refused(predict_request("none", {1}), 5, "Servable not found for request: Latest(none)");
  refused(predict_request("half", {1}, "x", 3), 5, "Specific(half, 3)");
  refused(predict_request("half", {1}, "z"), 3, "z");
  refused(model_spec(1, "half", 0, "absent"), 3, "Serving signature name: \"absent\" not found in signature def");
  std::string filtered = predict_request("half", {1});
  append_field(filtered, 3, "absent");
  refused(filtered, 3, "output tensor alias not found in signature: absent");
  refused("\xff\xff", 3, "damaged");
  refused(predict_request("half", {1}).substr(0, 12), 3, "damaged");
  std::string huge = model_spec(1, "half");
  huge += std::string("\x12\xff\xff\xff\xff\x0f", 6);  // an input of 4 GiB
  refused(huge, 3, "damaged");
  CHECK(s.ask("/tensorflow.serving.PredictionService/None", "").code == 12);
  CHECK(s.ask("/none", "").code == 12);
}

TEST_CASE("grpc: surplus inputs are refused, or passed over") {
  std::string message = predict_request("half", {1});
  message += predict_request("half", {1}, "more").substr(model_spec(1, "half").size());
  CHECK(Served().ask(grpc_predict_path, message).code == 3);
  const GrpcAnswer a = Served(true).ask(grpc_predict_path, message);
  CHECK(a.code == 0);
  CHECK(testing::outputs_of(a) == std::vector<float>{2.5f});
}

TEST_CASE("grpc: Classify, Regress and MultiInference of tf.Examples") {
  Served s;
  const GrpcAnswer classes =
      s.ask(service("Classify"), model_spec(1, "examples") + input_of({example(1, 2), example(3, 4)}));
  REQUIRE(classes.code == 0);
  const float two = 2;
  CHECK(at(classes.message, {1, 1, 1, 2}) ==
        std::to_string(std::bit_cast<std::uint32_t>(two)));  // the first score of the first example
  CHECK(at(classes.message, {2, 2, 1}) == "7");

  const std::string context = train::Example{{{{"a", train::FloatList{{5, 6}}}}}}.serialize();
  const std::string empty = train::Example{}.serialize();
  const GrpcAnswer sums =
      s.ask(service("Regress"), model_spec(1, "examples", 0, "sum") + input_of({empty, example(1, 2)}, context));
  REQUIRE(sums.code == 0);
  CHECK(at(sums.message, {1, 1, 1}) == std::to_string(std::bit_cast<std::uint32_t>(11.f)));
  CHECK_THAT(sums.message, ContainsSubstring(std::string("\x0d\x00\x00\x40\x40", 5)));  // 3.f, of its own features

  std::string tasks;
  for (const char* method : {saved_model::classify_method, saved_model::regress_method})
    append_message(tasks, 1, [&] {
      tasks += model_spec(1, "examples", 0, method == saved_model::regress_method ? "sum" : "");
      append_field(tasks, 2, method);
    });
  const GrpcAnswer both = s.ask(service("MultiInference"), tasks + input_of({example(1, 2)}));
  REQUIRE(both.code == 0);
  CHECK(at(both.message, {1, 2, 1, 1, 2}) == std::to_string(std::bit_cast<std::uint32_t>(two)));
  CHECK_THAT(both.message, ContainsSubstring(std::string("\x0d\x00\x00\x40\x40", 5)));
}

TEST_CASE("grpc: what Classify and MultiInference refuse") {
  Served s;
  const auto refused = [&](const char* method, const std::string& message, int code, const char* text) {
    const GrpcAnswer a = s.ask(service(method), message);
    CHECK(a.code == code);
    CHECK_THAT(a.text, ContainsSubstring(text));
  };
  refused("Classify", model_spec(1, "examples"), 3, "Input is empty");
  refused("Classify", model_spec(1, "examples") + input_of({"\xff"}), 3, "");
  refused("Classify", model_spec(1, "examples") + input_of({"a"}, "\xff"), 3, "");
  refused("Classify", model_spec(1, "half") + input_of({example(1, 2)}), 3,
          "Expected tensorflow/serving/classify for the signature 'serving_default'");
  std::string task;
  append_message(task, 1, [&] {
    task += model_spec(1, "examples");
    append_field(task, 2, saved_model::predict_method);
  });
  refused("MultiInference", task + input_of({example(1, 2)}), 12, "Unsupported signature method_name");
  std::string other;
  for (const char* name : {"examples", "half"})
    append_message(other, 1, [&] {
      other += model_spec(1, name);
      append_field(other, 2, saved_model::classify_method);
    });
  refused("MultiInference", other + input_of({example(1, 2)}), 3, "must access the same model name");
}

TEST_CASE("grpc: GetModelMetadata and GetModelStatus") {
  Served s;
  std::string message = model_spec(1, "half");
  append_field(message, 2, "signature_def");
  const GrpcAnswer a = s.ask(service("GetModelMetadata"), message);
  REQUIRE(a.code == 0);
  CHECK(at(a.message, {1, 2, 1}) == "1");
  CHECK(at(a.message, {2, 1}) == "signature_def");
  CHECK(at(a.message, {2, 2, 1}) == "type.googleapis.com/tensorflow.serving.SignatureDefMap");
  const std::vector<std::uint32_t> signature{2, 2, 2, 1, 2};
  const auto in = [&](std::vector<std::uint32_t> path) {
    path.insert(path.begin(), signature.begin(), signature.end());
    return at(a.message, path);
  };
  CHECK(in({1, 1}) == "x");
  CHECK(in({1, 2, 2}) == "1");
  CHECK(in({1, 2, 3, 2, 1}) == "18446744073709551615");  // -1
  CHECK(in({2, 1}) == "y");
  CHECK(in({3}) == "tensorflow/serving/predict");
  CHECK(s.ask(service("GetModelMetadata"), model_spec(1, "half")).code == 3);
  CHECK(s.ask(service("GetModelMetadata"), message + "\x12\x01z").code == 3);

  const GrpcAnswer states = s.ask("/tensorflow.serving.ModelService/GetModelStatus", model_spec(1, "half"));
  REQUIRE(states.code == 0);
  CHECK(at(states.message, {1, 1}) == "1");
  CHECK(at(states.message, {1, 2}) == "30");
  CHECK(at(states.message, {1, 3}).empty());
  CHECK(s.ask("/tensorflow.serving.ModelService/GetModelStatus", model_spec(1, "none")).code == 5);
}

}  // namespace grpc_prediction_test
