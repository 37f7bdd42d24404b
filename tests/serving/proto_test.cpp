// Protocol buffers of requests, as the wire has them and as text: what TensorFlow writes is read, what is damaged
// refused.
#include "tandem/serving/examples_proto.hpp"
#include "tandem/serving/predict_proto.hpp"
#include "tandem/serving/tensor_proto.hpp"
#include "tests/serving/models.hpp"
#include "tests/support/hex.hpp"

namespace proto_test {

using namespace tandem;
using serving::impl::parse_tensor;
using testing::error_of;
using testing::from_hex;
using Floats = std::vector<float>;

constexpr i64 most_filled = 64 << 20;
Tensor tensor_of(const char* hex, i64 fill = most_filled) { return parse_tensor(from_hex(hex), "x", fill); }
std::string text_of(const char* hex) {
  const Tensor t = tensor_of(hex);
  return to_string(t.spec()) + " " + to_string(t);
}

// The bytes are those of TensorFlow 2.21.
TEST_CASE("proto: tensors as TensorFlow writes them, with content or values") {
  CHECK(tensor_of("08011208120208021202080222100000803f000000400000404000008040").to_vector<float>() ==
        Floats{1, 2, 3, 4});
  CHECK(tensor_of("08011204120208032a0c0000803f00002040000040c0").to_vector<float>() == Floats{1, 2.5f, -3});
  CHECK(tensor_of("0801120812020802120208022a040000e040").to_vector<float>() == Floats{7, 7, 7, 7});
  CHECK(tensor_of("08021204120208023210000000000000f83f00000000000000c0").to_vector<double>() ==
        std::vector<double>{1.5, -2});
  CHECK(tensor_of("08031204120208033a0d01feffffffffffffffff01ac02").to_vector<int>() == std::vector<int>{1, -2, 300});
  CHECK_THAT(text_of("08061204120208023a0bffffffffffffffffff017f"),
             ContainsSubstring("int8[2]") && ContainsSubstring("-1, 127"));
  CHECK(tensor_of("08091204120208025210ffffffffffffffffff01808080808020").to_vector<i64>() ==
        std::vector<i64>{-1, i64{1} << 40});
  CHECK_THAT(text_of("080a1204120208035a03010001"),
             ContainsSubstring("bool[3]") && ContainsSubstring("true, false, true"));
  CHECK(cast(tensor_of("08131204120208026a058078808003"), float32).to_vector<float>() == Floats{1, -2});
  CHECK_THAT(text_of("080712041202080242016142026263"), ContainsSubstring("string[2]") && ContainsSubstring("\"bc\""));
  CHECK_THAT(text_of("08171204120208018a010affffffffffffffffff01"), ContainsSubstring("18446744073709551615"));
  CHECK_THAT(text_of("08081204120208014a080000803f000000c0"), ContainsSubstring("complex64[1]"));
  CHECK_THAT(text_of("08071204120208024201784202797a"), ContainsSubstring("\"yz\""));
}

TEST_CASE("proto: tensors come back as they were written") {
  for (const DType d : {float32, float64, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                        bool_, complex64, complex128, string}) {
    for (const Shape& shape : {Shape{}, Shape{0}, Shape{3}, Shape{2, 1, 2}}) {
      const Tensor x = d == string ? fill(shape, "a\0b") : reshape(cast(range(shape.size()), d), shape);
      std::string bytes;
      serving::impl::append_tensor(bytes, 1, x);
      io::detail::WireReader in(bytes);
      REQUIRE(in.next());
      i64 fill = 0;
      const Tensor y = parse_tensor(in.bytes(), "x", fill);
      CHECK(y.spec() == x.spec());
      CHECK(to_string(y) == to_string(x));
      CHECK_FALSE(in.next());
      CHECK(in.ok());
    }
  }
}

TEST_CASE("proto: damaged and hostile tensors are refused, and take no memory") {
  CHECK_THAT(error_of([] { tensor_of("1204120208032a04"); }), ContainsSubstring("damaged"));
  CHECK_THAT(error_of([] { tensor_of("120412020803"); }), ContainsSubstring("has no dtype"));
  CHECK_THAT(error_of([] { tensor_of("0814"); }), ContainsSubstring("dtype 20"));
  CHECK_THAT(error_of([] { tensor_of("0801120412020803220400000000"); }),
             ContainsSubstring("4 bytes of values, its shape (3,) takes 3"));
  CHECK_THAT(error_of([] { tensor_of("08011202 1801"); }), ContainsSubstring("unknown rank"));
  // 2^40 numbers from one value, 2^62 twice, a negative size, nine dimensions.
  CHECK_THAT(error_of([] { tensor_of("08011209 1207 08808080808020 2a040000e040"); }),
             ContainsSubstring("takes 1099511627776"));
  CHECK_THAT(error_of([] { tensor_of("0801 1218 120a 08808080808080808040 120a 08808080808080808040"); }),
             ContainsSubstring("too large"));
  CHECK_THAT(error_of([] { tensor_of("0801 120d 1207 08808080808020 1202 0800"); }),
             ContainsSubstring("no elements, but sizes that are too large"));
  CHECK_THAT(error_of([] { tensor_of("0801 120d 120b 08ffffffffffffffffff01"); }), ContainsSubstring("not valid"));
  CHECK_THAT(error_of([] {
               tensor_of("0801 1224 12020801 12020801 12020801 12020801 12020801 12020801 12020801 12020801 12020801");
             }),
             ContainsSubstring("more than 8 dimensions"));
  CHECK_THAT(error_of([] { tensor_of("0807 1209 1207 08808080808020 420161"); }), ContainsSubstring("strings"));
}

TEST_CASE("proto: requests, records of warm-up and responses as TensorFlow Serving has them") {
  const std::string request =
      from_hex("0a0d0a0468616c66120208031a016612170a01781212080112041202080222080000803f000000401a0179");
  const serving::Request r = serving::impl::parse_predict_request(request);
  CHECK(r.model.name == "half");
  CHECK(r.model.version == 3);
  CHECK(r.model.signature == "f");
  CHECK(r.inputs.at("x").to_vector<float>() == Floats{1, 2});
  CHECK(r.outputs == std::vector<std::string>{"y"});
  const auto log = serving::impl::parse_prediction_log(from_hex("322d0a2b") + request);
  REQUIRE(log.size() == 1);
  CHECK(log[0].model.name == "half");
  // ClassifyLog and RegressLog: requests for the signature "c" with an Input of the examples "a" and "b".
  const std::string examples = from_hex("0a090a0468616c661a0163 1208 0a06 0a0161 0a0162");
  for (const char* of_log : {"12170a15", "1a170a15"}) {
    const auto of_examples = serving::impl::parse_prediction_log(from_hex(of_log) + examples);
    REQUIRE(of_examples.size() == 1);
    CHECK(of_examples[0].model.signature == "c");
    CHECK(of_examples[0].method ==
          (of_log[0] == '1' && of_log[1] == '2' ? saved_model::classify_method : saved_model::regress_method));
    CHECK_THAT(to_string(of_examples[0].inputs.at("inputs")), ContainsSubstring("a") && ContainsSubstring("b"));
  }
  CHECK_THAT(error_of([&] { serving::impl::parse_prediction_log(from_hex("12170a15") + examples.substr(0, 20)); }),
             ContainsSubstring("damaged"));
  CHECK(serving::impl::predict_response(r.model, {3, {{"y", constant({2.5f, 3.f})}}}) ==
        from_hex("0a170a01791212080112041202080222080000204000004040120d0a0468616c66120208031a0166"));
  CHECK_THAT(error_of([&] { serving::impl::parse_predict_request(request.substr(0, 30)); }),
             ContainsSubstring("damaged"));
}

TEST_CASE("proto: configuration files are read, and errors have the line") {
  const auto models = serving::parse_model_config(R"(
# two models
model_config_list: {
  config { name: "half", base_path: '/m/half'; model_platform: "tandem"
    model_version_policy < specific { versions: [1, 2] versions: 4 } >
    version_labels { key: "stable" value: 1 } version_labels { key: "canary" value: 2 } }
  config { name: "a" "b" base_path: "/m\"x" model_version_policy { latest { num_versions: 3 } } }
})",
                                                  "f");
  REQUIRE(models.size() == 2);
  CHECK(models[0].name == "half");
  CHECK(models[0].base_path == "/m/half");
  CHECK(models[0].policy.versions == std::vector<i64>{1, 2, 4});
  CHECK(models[0].version_labels == std::map<std::string, i64>{{"canary", 2}, {"stable", 1}});
  CHECK(models[1].name == "ab");
  CHECK(models[1].base_path == "/m\"x");
  CHECK(models[1].policy.num_versions == 3);
  const auto error = [](const std::string& text) {
    return error_of([&] { serving::parse_model_config(text, "models.config"); });
  };
  CHECK_THAT(error("model_config_list {\n config {\n nam: \"x\" } }"),
             ContainsSubstring("models.config:3: there is no field 'nam'; there are: name, base_path"));
  CHECK_THAT(error("model_config_list {"), ContainsSubstring("models.config:1: a '}' is missing"));
  CHECK_THAT(error("model_config_list { config { name \"x\" } }"), ContainsSubstring("a ':' is missing behind name"));
  CHECK_THAT(error("model_config_list { config { name: \"x } }"), ContainsSubstring("does not end in its line"));
  CHECK_THAT(error("model_config_list { config { version_labels { key: \"a\" value: \"b\" } } }"),
             ContainsSubstring("value is an integer, not 'b'"));
  CHECK_THAT(error("model_config_list { config: 3 }"), ContainsSubstring("config is a message"));
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "a {";
  CHECK_THAT(error(deep), ContainsSubstring("nested more than 32 deep"));
  const serving::Batching b = serving::parse_batching(
      "max_batch_size { value: 128 } batch_timeout_micros { value: 500 } allowed_batch_sizes: 64 allowed_batch_sizes: "
      "128 pad_variable_length_inputs: true max_enqueued_batches { value: 7 } num_batch_threads { value: 3 }",
      "b");
  CHECK(b.max_batch_size == 128);
  CHECK(b.pad_variable_length_inputs);
  CHECK(b.batch_timeout_micros == 500);
  CHECK(b.max_enqueued_batches == 7);
  CHECK(b.num_batch_threads == 3);
  CHECK_THAT(error_of([] { serving::parse_batching("\nnum_batch_threads { value: 0 }", "b"); }),
             ContainsSubstring("b:2: num_batch_threads is 0, but must be positive"));
  CHECK(b.allowed_batch_sizes == std::vector<i64>{64, 128});
  CHECK_THAT(error_of([] { serving::parse_batching("max_batch_size: 1 x: 2", "b"); }),
             ContainsSubstring("b:1: there is no field 'x'"));
}

TEST_CASE("proto: configuration files may be JSON") {
  const auto models = serving::parse_model_config(R"({
  "model_config_list": {"config": [
    {"name": "half", "base_path": "/m/half", "model_platform": "tandem",
     "modelVersionPolicy": {"specific": {"versions": ["1", 2]}},
     "version_labels": {"stable": 1, "isNew": "2"}},
    {"name": "a\u00e4\ud83d\ude00\/\n", "basePath": "/m", "model_version_policy": {"latest": {"numVersions": 3}},
     "version_labels": null}
  ]}
})",
                                                  "f");
  REQUIRE(models.size() == 2);
  CHECK(models[0].name == "half");
  CHECK(models[0].policy.kind == serving::VersionPolicy::specific);
  CHECK(models[0].policy.versions == std::vector<i64>{1, 2});
  CHECK(models[0].version_labels == std::map<std::string, i64>{{"isNew", 2}, {"stable", 1}});
  CHECK(models[1].name == "a\xc3\xa4\xf0\x9f\x98\x80/\n");
  CHECK(models[1].base_path == "/m");
  CHECK(models[1].policy.num_versions == 3);
  const auto error = [](const std::string& text) {
    return error_of([&] { serving::parse_model_config(text, "models.json"); });
  };
  CHECK_THAT(error("{\"model_config_list\": {\n\"config\": [\n{\"nam\": \"x\"}]}}"),
             ContainsSubstring("models.json:3: there is no field 'nam'; there are: name, base_path"));
  CHECK_THAT(error("{\"model_config_list\": {}} {"), ContainsSubstring("something follows behind the last '}'"));
  CHECK_THAT(error("{\"model_config_list\": {\"config\": []}"), ContainsSubstring("a '}' is missing"));
  CHECK_THAT(error("{\"model_config_list\" {}}"), ContainsSubstring("a ':' is missing behind model_config_list"));
  CHECK_THAT(error("{\"model_config_list\": {\"config\": [{\"name\": \"\\ud83d\"}]}}"),
             ContainsSubstring("an escape in a text is not valid"));
  CHECK_THAT(error(R"({"model_config_list": {"config": [{"version_labels": {"a": 1, "a": 2}}]}})"),
             ContainsSubstring("the label 'a' is given twice"));
  CHECK(serving::parse_batching(R"({"max_batch_size": 8, "allowedBatchSizes": [4, 8]})", "b").allowed_batch_sizes ==
        std::vector<i64>{4, 8});
}

TEST_CASE("proto: a MonitoringConfig says whether there are metrics, and where") {
  const auto parse = [](const char* text) { return serving::parse_monitoring(text, "m"); };
  const serving::Monitoring there = parse("prometheus_config { enable: true, path: \"/of/models\" }");
  CHECK(there.enable);
  CHECK(there.path == "/of/models");
  CHECK(parse(R"({"prometheusConfig": {"enable": true}})").path == "/monitoring/prometheus/metrics");
  CHECK(parse("prometheus_config: < enable: true path: '' >").path == "/monitoring/prometheus/metrics");
  CHECK_FALSE(parse("").enable);
  CHECK_FALSE(parse("prometheus_config { path: '/of/models' }").enable);
  CHECK_THAT(error_of([&] { parse("prometheus_config {\n port: 1 }"); }),
             ContainsSubstring("m:2: there is no field 'port'; there are: enable, path"));
  CHECK_THAT(error_of([&] { parse("statsd_config {}"); }), ContainsSubstring("there are: prometheus_config"));
}

TEST_CASE("proto: a string of a tensor, and an example, have at most 16 MiB") {
  const std::string most(serving::most_string_bytes, 'a');
  const auto texts = [](const std::string& second) {
    std::string message = from_hex("08071204 12020802 420161");  // string [2], "a"
    io::detail::append_field(message, 8, second);
    i64 fill = 0;
    return parse_tensor(message, "the tensor 'x'", fill).to_vector<std::string>()[1].size();
  };
  CHECK(texts(most) == most.size());
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { texts(most + 'a'); }),
             ContainsSubstring("the tensor 'x': it has in element 1 a string of 16777217 bytes, more than 16777216"));
  const auto examples = [](const std::string& second) {
    std::string input;
    io::detail::append_message(input, 1, [&] {
      io::detail::append_field(input, 1, "");
      io::detail::append_field(input, 1, second);
    });
    return serving::impl::parse_examples(input).to_vector<std::string>()[1].size();
  };
  CHECK(examples(most) == most.size());
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { examples(most + 'a'); }),
             ContainsSubstring("the input 'inputs': example 1 is a string of 16777217 bytes"));
}

TEST_CASE("proto: values that are repeated take no more than a message may have") {
  // A float [256] from one value, 1020 bytes of which are filled.
  const char* const tensor = "08011205 1203088002 2a040000e040";
  CHECK(tensor_of(tensor, 1020).size() == 256);
  CHECK_THROWS_AS(tensor_of(tensor, 1019), errors::ResourceExhaustedError);
  CHECK_THROWS_AS(tensor_of("08071205 1203088002 420161", 1019), errors::ResourceExhaustedError);
  // All tensors of a request together, also those of one name.
  std::string request;
  for (const char* name : {"x", "y", "y"})
    io::detail::append_message(request, 2, [&] {
      io::detail::append_field(request, 1, name);
      io::detail::append_field(request, 2, from_hex(tensor));
    });
  CHECK(serving::impl::parse_predict_request(request, 3 * 1020).inputs.size() == 2);
  CHECK_THROWS_AS(serving::impl::parse_predict_request(request, 3 * 1020 - 1), errors::ResourceExhaustedError);
  CHECK_THAT(text_of("080a1204120208015a028002"), ContainsSubstring("true"));
}

}  // namespace proto_test
