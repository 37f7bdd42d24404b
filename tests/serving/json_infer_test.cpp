// serving/json_infer.hpp: bodies of the Open Inference Protocol, with tensors in JSON and as bytes.
#include <bit>
#include <cmath>

#include "tandem/serving.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/hex.hpp"

namespace json_infer_test {

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using serving::read_infer;
using testing::error_of;
using testing::from_hex;
using Floats = std::vector<float>;
using Texts = std::vector<std::string>;

std::string input(const std::string& rest) { return "{\"inputs\":[{\"name\":\"x\"," + rest + "}]}"; }
Tensor value_of(const std::string& rest) { return read_infer(input(rest)).inputs.at("x"); }
std::string refused(const std::string& json, std::optional<std::size_t> json_bytes = {}) {
  return error_of<errors::InvalidArgumentError>([&] { read_infer(json, json_bytes); });
}
// A request with binary data behind its JSON.
serving::InferBody with_bytes(const std::string& json, const std::string& bytes) {
  return read_infer(json + bytes, json.size());
}
std::string binary_input(const std::string& datatype, const std::string& shape, std::size_t bytes) {
  return input("\"shape\":" + shape + ",\"datatype\":\"" + datatype +
               "\",\"parameters\":{\"binary_data_size\":" + std::to_string(bytes) + "}");
}

TEST_CASE("infer body: flat and nested data, in any order of keys") {
  const serving::InferBody b = read_infer(
      R"({"id":"42","parameters":{"a":1},"inputs":[{"name":"x","shape":[2,2],"datatype":"FP32","data":[1,2.5,3,4]},)"
      R"({"data":[["a"],["b"]],"datatype":"BYTES","name":"s","shape":[2,1]}],"outputs":[{"name":"y"}]})");
  CHECK(b.id == "42");
  CHECK(b.inputs.at("x").shape() == Shape{2, 2});
  CHECK(b.inputs.at("x").to_vector<float>() == Floats{1, 2.5, 3, 4});
  CHECK(b.inputs.at("s").shape() == Shape{2, 1});
  CHECK(b.inputs.at("s").to_vector<std::string>() == Texts{"a", "b"});
  REQUIRE(b.outputs.size() == 1);
  CHECK(b.outputs[0].name == "y");
  CHECK_FALSE(b.outputs[0].is_binary.has_value());
  CHECK_FALSE(b.binary_outputs);
  CHECK(value_of(R"("data":[[[1,2],[3,4]]],"shape":[1,2,2],"datatype":"INT8")").to_vector<std::int8_t>() ==
        std::vector<std::int8_t>{1, 2, 3, 4});
  CHECK(value_of(R"("shape":[1],"datatype":"BYTES","data":[{"b64":"AP8="}])").item<std::string>() ==
        std::string("\0\xff", 2));
  CHECK(value_of(R"("shape":[],"datatype":"FP64","data":[0.1])").item<double>() == 0.1);
  CHECK(value_of(R"("shape":[0,3],"datatype":"FP32","data":[])").shape() == Shape{0, 3});
  CHECK(std::isnan(value_of(R"("shape":[1],"datatype":"FP32","data":[NaN])").item<float>()));
}

TEST_CASE("infer body: every datatype, in JSON and as bytes") {
  const struct {
    const char* name;
    DType dtype;
    const char *json, *hex;  // of two elements
  } cases[] = {{"BOOL", bool_, "true,false", "07 00"},
               {"UINT8", uint8, "1,255", "01 ff"},
               {"UINT16", uint16, "1,65535", "0100 ffff"},
               {"UINT32", uint32, "1,4294967295", "01000000 ffffffff"},
               {"UINT64", uint64, "1,18446744073709551615", "0100000000000000 ffffffffffffffff"},
               {"INT8", int8, "1,-1", "01 ff"},
               {"INT16", int16, "1,-1", "0100 ffff"},
               {"INT32", int32, "1,-1", "01000000 ffffffff"},
               {"INT64", int64, "1,-1", "0100000000000000 ffffffffffffffff"},
               {"FP16", float16, "1.0,-2.0", "003c 00c0"},
               {"BF16", bfloat16, "1.0,-2.0", "803f 00c0"},
               {"FP32", float32, "1.0,-2.0", "0000803f 000000c0"},
               {"FP64", float64, "1.0,-2.0", "000000000000f03f 00000000000000c0"},
               {"BYTES", tandem::string, "\"a\",\"\"", "01000000 61 00000000"}};
  for (const auto& c : cases) {
    CAPTURE(c.name);
    const std::string bytes = from_hex(c.hex);
    const Tensor json =
        value_of(std::string("\"shape\":[2],\"datatype\":\"") + c.name + "\",\"data\":[" + c.json + "]");
    const serving::InferBody b = with_bytes(binary_input(c.name, "[2]", bytes.size()), bytes);
    CHECK(json.dtype() == c.dtype);
    CHECK(b.inputs.at("x").dtype() == c.dtype);
    CHECK(serving::infer_datatype(c.dtype) == std::string(c.name));
    for (const Tensor& t : {json, b.inputs.at("x")}) {
      serving::InferBody request;
      CHECK(serving::write_infer("m", 1, {{"y", t}}, request).body ==
            std::string("{\"model_name\":\"m\",\"model_version\":\"1\",\"outputs\":[{\"name\":\"y\",\"datatype\":\"") +
                c.name + "\",\"shape\":[2],\"data\":[" + c.json + "]}]}");
      request.binary_outputs = true;
      const serving::InferAnswer a = serving::write_infer("m", 1, {{"y", t}}, request);
      REQUIRE(a.json_bytes.has_value());
      CHECK(a.body.substr(*a.json_bytes) == (c.dtype == bool_ ? from_hex("01 00") : bytes));
      CHECK(a.body.substr(0, *a.json_bytes)
                .ends_with("\"parameters\":{\"binary_data_size\":" + std::to_string(bytes.size()) + "}}]}"));
    }
  }
  CHECK(serving::infer_datatype(complex64) == nullptr);
}

TEST_CASE("infer body: several binary inputs, and outputs of both kinds") {
  const std::string json = R"({"parameters":{"binary_data_output":true},"inputs":[)"
                           R"({"name":"a","shape":[2],"datatype":"UINT8","parameters":{"binary_data_size":2}},)"
                           R"({"name":"b","shape":[1],"datatype":"INT16","data":[5]},)"
                           R"({"name":"c","shape":[1],"datatype":"BYTES","parameters":{"binary_data_size":6}}],)"
                           R"("outputs":[{"name":"c","parameters":{"binary_data":false}},{"name":"a"}]})";
  const serving::InferBody b = with_bytes(json, from_hex("0102 02000000 6869"));
  CHECK(b.inputs.at("a").to_vector<std::uint8_t>() == std::vector<std::uint8_t>{1, 2});
  CHECK(b.inputs.at("b").item<std::int16_t>() == 5);
  CHECK(b.inputs.at("c").item<std::string>() == "hi");
  const serving::InferAnswer a = serving::write_infer("m", 7, b.inputs, b);
  REQUIRE(a.json_bytes.has_value());
  CHECK(a.body.substr(0, *a.json_bytes) ==
        R"({"model_name":"m","model_version":"7","outputs":[{"name":"c","datatype":"BYTES","shape":[1],"data":["hi"]},)"
        R"({"name":"a","datatype":"UINT8","shape":[2],"parameters":{"binary_data_size":2}}]})");
  CHECK(a.body.substr(*a.json_bytes) == from_hex("0102"));
}

TEST_CASE("infer body: errors name the input") {
  CHECK_THAT(refused("[]"), ContainsSubstring("not a JSON object"));
  CHECK_THAT(refused("{"), ContainsSubstring("JSON Parse error"));
  CHECK_THAT(refused("{}"), ContainsSubstring("no 'inputs'"));
  CHECK_THAT(refused(R"({"inputs":{}})"), ContainsSubstring("'inputs' must be a list"));
  CHECK_THAT(refused(R"({"inputs":[1]})"), ContainsSubstring("list of objects"));
  CHECK_THAT(refused(R"({"id":1,"inputs":[]})"), ContainsSubstring("'id' must be a string"));
  CHECK_THAT(refused(R"({"inputs":[{"shape":[1],"datatype":"FP32","data":[1]}]})"),
             ContainsSubstring("an input has no name"));
  const std::string one = R"({"name":"x","shape":[1],"datatype":"FP32","data":[1]})";
  CHECK_THAT(refused("{\"inputs\":[" + one + "," + one + "]}"), ContainsSubstring("\"x\" is there twice"));
  const struct {
    const char *rest, *text;
  } cases[] = {
      {R"("datatype":"FP32","data":[1])", "no shape"},
      {R"("shape":[288230376151711744,0],"datatype":"FP32","data":[])", "no elements, but sizes that are too large"},
      {R"("shape":[1],"data":[1])", "no datatype"},
      {R"("shape":[1],"datatype":"FP33","data":[1])", "unknown datatype \"FP33\""},
      {R"("shape":[1],"datatype":"FP32")", "neither data nor"},
      {R"("shape":[1],"datatype":"FP32","data":[1],"parameters":{"binary_data_size":4})", "both data and"},
      {R"("shape":[1],"datatype":"FP32","data":[1],"data":[1])", "data twice"},
      {R"("shape":[1],"datatype":"FP32","data":1)", "not a list"},
      {R"("shape":[2],"datatype":"FP32","data":[1])", "data of the shape (1,)"},
      {R"("shape":[2,2],"datatype":"FP32","data":[[1,2,3,4]])", "data of the shape (1, 4)"},
      {R"("shape":[4,1],"datatype":"FP32","data":[[1,2],[3,4]])", "data of the shape (2, 2)"},
      {R"("shape":[2,2],"datatype":"FP32","data":[[1,2],[3]])", "a list at [1] has 1 elements"},
      {R"("shape":[2],"datatype":"INT32","data":[1,2.5])", "2.5"},
      {R"("data":[1,2.5],"shape":[2],"datatype":"INT32")", "at [1]"},
      {R"("shape":[-1],"datatype":"FP32","data":[1])", "a shape with -1"},
      {R"("shape":[1.5],"datatype":"FP32","data":[1])", "a shape with 1.5"},
      {R"("shape":["1"],"datatype":"FP32","data":[1])", "not a number"},
      {R"("shape":1,"datatype":"FP32","data":[1])", "not one list"},
      {R"("shape":[1,1,1,1,1,1,1,1,1],"datatype":"FP32","data":[1])", "more than 8 dimensions"},
      {R"("shape":[4611686018427387904,4611686018427387904,0],"datatype":"FP32","data":[])",
       "more elements than there can be"},
      {R"("shape":[0,4611686018427387904,4611686018427387904],"datatype":"FP32","data":[])",
       "more elements than there can be"},
      {R"("shape":[1],"datatype":"FP32","parameters":{"binary_data_size":4})", "0 bytes are left"}};
  for (const auto& c : cases) {
    CAPTURE(c.rest);
    CHECK_THAT(refused(input(c.rest)),
               ContainsSubstring("the input") && ContainsSubstring("x") && ContainsSubstring(c.text));
  }
  CHECK_THROWS_AS(read_infer(R"({"inputs":[],"outputs":[{"name":"y","parameters":{"classification":3}}]})"),
                  errors::UnimplementedError);
}

TEST_CASE("infer body: binary data that do not fit") {
  const auto refused_bytes = [](const std::string& json, const std::string& bytes) {
    return refused(json + bytes, json.size());
  };
  CHECK_THAT(refused("{}", 3), ContainsSubstring("Inference-Header-Content-Length is 3, but the body has 2 bytes"));
  CHECK_THAT(refused_bytes(binary_input("FP32", "[2]", 8), "1234567"), ContainsSubstring("7 bytes are left"));
  CHECK_THAT(refused_bytes(binary_input("FP32", "[2]", 7), "1234567"), ContainsSubstring("does not have 7 bytes"));
  CHECK_THAT(refused_bytes(binary_input("FP32", "[2]", 8), "123456789"),
             ContainsSubstring("1 bytes of binary data belong to no input"));
  CHECK_THAT(refused_bytes(binary_input("FP32", "[1152921504606846975]", 8), "12345678"),
             ContainsSubstring("more elements than there can be"));
  CHECK_THAT(refused_bytes(binary_input("FP64", "[288230376151711743]", 8), "12345678"),
             ContainsSubstring("does not have 8 bytes"));
  CHECK_THAT(refused_bytes(binary_input("BYTES", "[1000000000000]", 4), from_hex("00000000")),
             ContainsSubstring("too few for 1000000000000 lengths"));
  CHECK_THAT(refused_bytes(binary_input("BYTES", "[1]", 5), from_hex("02000000 61")),
             ContainsSubstring("end in element 0"));
  CHECK_THAT(refused_bytes(binary_input("BYTES", "[2]", 8), from_hex("01000000 61 010000")),
             ContainsSubstring("end in element 1"));
  CHECK_THAT(refused_bytes(binary_input("BYTES", "[1]", 8), from_hex("ffffffff 00000000")),
             ContainsSubstring("end in element 0"));
  CHECK_THAT(refused_bytes(binary_input("BYTES", "[1]", 6), from_hex("01000000 6162")),
             ContainsSubstring("1 bytes of binary data behind its last"));
  CHECK_THAT(refused_bytes(binary_input("FP32", "[1]", 4) + '\0', "1234"), ContainsSubstring("zero byte"));
}

TEST_CASE("infer body: binary data of BYTES have at most 16 MiB each") {
  const std::string most(serving::most_string_bytes, 'a');
  const auto length_of = [](const char* length, const std::string& text) {
    const std::string bytes = from_hex("00000000") + from_hex(length) + text;
    const serving::InferBody b = with_bytes(binary_input("BYTES", "[2]", bytes.size()), bytes);
    return b.inputs.at("x").to_vector<std::string>()[1].size();
  };
  CHECK(length_of("00000001", most) == most.size());
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { length_of("01000001", most + 'a'); }),
             ContainsSubstring("the input \"x\" has in element 1 a string of 16777217 bytes") &&
                 ContainsSubstring("more than 16777216"));
}

TEST_CASE("infer body: a text of BYTES has at most 16 MiB, before and behind its datatype", "[.thorough]") {
  const std::string text(serving::most_string_bytes + 1, 'a');
  const auto is_refused = [&](const std::string& rest) {
    CHECK_THAT(refused(input(rest)), ContainsSubstring("the input 'x'") && ContainsSubstring("16777217 bytes"));
  };
  is_refused(R"("shape":[1],"datatype":"BYTES","data":[")" + text + "\"]");
  is_refused(R"("shape":[1],"data":[")" + text + R"("],"datatype":"BYTES")");
}

TEST_CASE("infer answer: the id, and outputs that there are not") {
  serving::InferBody request;
  request.id = "a\"b";
  CHECK(
      serving::write_infer("m\n", 3, {{"y", constant(1.f)}}, request).body ==
      R"({"model_name":"m\n","model_version":"3","id":"a\"b","outputs":[{"name":"y","datatype":"FP32","shape":[],"data":[1.0]}]})");
  request.outputs = {{"z"}};
  CHECK_THROWS_AS(serving::write_infer("m", 1, {{"y", ones({1})}}, request), errors::InvalidArgumentError);
  request.outputs = {};
  CHECK_THROWS_AS(serving::write_infer("m", 1, {{"y", cast(ones({1}), complex64)}}, request),
                  errors::UnimplementedError);
}

TEST_CASE("infer body: an output that is requested twice is refused") {
  const std::string body = R"({"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [1]}],)"
                           R"( "outputs": [{"name": "y"}, {"name": "z"}, {"name": "y"}]})";
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { serving::read_infer(body); }),
             ContainsSubstring("is requested twice"));
}

}  // namespace json_infer_test
