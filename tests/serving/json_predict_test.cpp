// serving/json_predict.hpp: bodies of :predict, :classify and :regress, and their answers.
#include <cmath>
#include <limits>

#include "tandem/io.hpp"
#include "tandem/serving.hpp"
#include "tandem/serving/json_reader.hpp"
#include "tandem/tandem.hpp"
#include "tests/serving/memory_core.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace json_predict_test {

using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using serving::read_predict;
using testing::error_of;
using testing::signature_of;
using Floats = std::vector<float>;
using Texts = std::vector<std::string>;

serving::Signatures one(DType dtype, const Shape& shape = {none}) {
  return {{"serving_default", signature_of({{"x", {shape, dtype}}})}};
}
Tensor value_of(const std::string& json, DType dtype = float32, const Shape& shape = {none}) {
  return read_predict(json, one(dtype, shape)).inputs.at("x");
}
std::string refused(const std::string& json, const serving::Signatures& signatures) {
  return error_of<errors::InvalidArgumentError>([&] { read_predict(json, signatures); });
}
std::string refused(const std::string& json, DType dtype = float32, const Shape& shape = {none}) {
  return refused(json, one(dtype, shape));
}

TEST_CASE("predict body: rows and columns of one input") {
  const serving::PredictBody rows = read_predict(R"({"instances": [1.0, 2, 5e0]})", one(float32));
  CHECK(rows.signature == "serving_default");
  CHECK(rows.is_rows);
  CHECK(rows.inputs.at("x").to_vector<float>() == Floats{1, 2, 5});
  CHECK(rows.inputs.at("x").shape() == Shape{3});
  const serving::PredictBody columns = read_predict(R"({"inputs": [[1, 2], [3, 4], [5, 6]]})", one(float32, {none, 2}));
  CHECK_FALSE(columns.is_rows);
  CHECK(columns.inputs.at("x").shape() == Shape{3, 2});
  CHECK(columns.inputs.at("x").to_vector<float>() == Floats{1, 2, 3, 4, 5, 6});
  CHECK(value_of(R"({"inputs": 7})", float32, {}).item<float>() == 7);
  CHECK(value_of(R"({"inputs": [[], []]})", float32, {none, none}).shape() == Shape{2, 0});
  CHECK(value_of(R"({"inputs": []})", float32, {none, 3}).shape() == Shape{0, 3});
  CHECK(value_of(R"({"instances": [[[1]], [[2]]]})", int32, {none, 1, 1}).shape() == Shape{2, 1, 1});
  CHECK(value_of(" {\"instances\"\n:\t[ 1 ,2\r, 3 ] } ").to_vector<float>() == Floats{1, 2, 3});
}

TEST_CASE("predict body: rows and columns of several inputs, in any order of keys") {
  const serving::Signatures two{
      {"serving_default", signature_of({{"x", {{none, 2}, float32}}, {"s", {{none}, tandem::string}}})}};
  const auto check = [](const serving::NamedTensors& in) {
    CHECK(in.at("x").shape() == Shape{2, 2});
    CHECK(in.at("x").to_vector<float>() == Floats{1, 2, 3, 4});
    CHECK(in.at("s").to_vector<std::string>() == Texts{"a", "b"});
  };
  check(read_predict(R"({"instances":[{"x":[1,2],"s":"a"},{"s":{"b64":"Yg=="},"x":[3,4]}]})", two).inputs);
  check(read_predict(R"({"inputs":{"s":["a","b"],"x":[[1,2],[3,4]]}})", two).inputs);
  const std::string extra = R"({"inputs":{"s":["a","b"],"z":{"a":[{}]},"x":[[1,2],[3,4]]}, "instances_": [1]})";
  check(read_predict(extra, two, {.ignore_extra_inputs = true}).inputs);
  CHECK_THAT(refused(extra, two), ContainsSubstring("named input: z") && ContainsSubstring("takes: x,s"));
  CHECK_THAT(refused(R"({"inputs":{"s":["a"]}})", two),
             ContainsSubstring("Missing named input: x in 'inputs' object."));
  CHECK_THAT(refused(R"({"inputs":[1]})", two), ContainsSubstring("inputs is a plain value/list"));
  CHECK_THAT(refused(R"({"instances":[1]})", two), ContainsSubstring("instances is a plain list"));
  CHECK_THAT(refused(R"({"instances":[{"x":[1,2],"s":"a"},{"x":[3,4]}]})", two),
             ContainsSubstring("Failed to process element: 1") && ContainsSubstring("has no s"));
  CHECK_THAT(refused(R"({"instances":[{}]})", two), ContainsSubstring("has no x"));
  CHECK_THAT(refused(R"({"instances":[{"x":[1,2],"s":"a"},7]})", two), ContainsSubstring("at item 1"));
  CHECK_THAT(refused(R"({"instances":[{"x":[1,2],"x":[1,2],"s":"a"}]})", two), ContainsSubstring("x occurs twice"));
  CHECK_THAT(refused(R"({"inputs":{"x":[[1,2]],"x":[[1,2]],"s":["a"]}})", two), ContainsSubstring("x occurs twice"));
}

TEST_CASE("predict body: the signature's name may stand anywhere") {
  serving::Signatures s = one(float32);
  s.emplace("ints", signature_of({{"i", {{none}, int64}}}));
  for (const char* body :
       {R"({"signature_name":"ints","instances":[1,2]})", R"({"instances":[1,2],"signature_name":"ints"})"}) {
    const serving::PredictBody b = read_predict(body, s);
    CHECK(b.signature == "ints");
    CHECK(b.inputs.at("i").to_vector<i64>() == std::vector<i64>{1, 2});
  }
  CHECK(read_predict(R"({"signature_name":"","instances":[1]})", s).signature == "serving_default");
  CHECK(read_predict(R"({"x":{"signature_name":"ints"},"instances":[1]})", s).signature == "serving_default");
  CHECK_THAT(refused(R"({"signature_name":"no","instances":[1]})", s),
             ContainsSubstring("Serving signature name: \"no\" not found in signature def"));
  CHECK_THAT(refused(R"({"signature_name":1,"instances":[1]})", s), ContainsSubstring("must be a string value"));
}

TEST_CASE("predict body: a signature's name counts with letters that are escaped") {
  const serving::Signatures s{{"serving_default", signature_of({{"x", {{none}, float32}}})},
                              {"other", signature_of({{"x", {{none}, float32}}})}};
  CHECK(read_predict(R"({"\u0073ignature_name":"other","instances":[1]})", s).signature == "other");
  CHECK(read_predict(R"({"instances":[1],"signature\u005fname":"other"})", s).signature == "other");
  CHECK(read_predict(R"({"a":"\u0001","instances":[1]})", s).signature == "serving_default");
}

TEST_CASE("predict body: numbers of all dtypes are exact") {
  const auto first = [](const std::string& number, DType d) { return value_of("{\"inputs\":" + number + "}", d, {}); };
  CHECK(first("9223372036854775807", int64).item<i64>() == INT64_MAX);
  CHECK(first("-9223372036854775808", int64).item<i64>() == INT64_MIN);
  CHECK(first("18446744073709551615", uint64).item<u64>() == UINT64_MAX);
  CHECK(first("-128", int8).item<std::int8_t>() == -128);
  CHECK(first("255", uint8).item<std::uint8_t>() == 255);
  CHECK(first("65535", uint16).item<std::uint16_t>() == 65535);
  CHECK(first("-0", uint32).item<std::uint32_t>() == 0);
  CHECK(first("true", bool_).item<bool>());
  CHECK(first("0.1", float64).item<double>() == 0.1);
  CHECK(first("123456789012345678.0", float64).item<double>() == 123456789012345678.);
  CHECK(first("2.2250738585072011e-308", float64).item<double>() == 2.2250738585072011e-308);
  CHECK(first("7.0064923216240853e-46", float32).item<float>() == 0);  // just below half of the least float
  CHECK(first("7.0064923216240854e-46", float32).item<float>() == std::numeric_limits<float>::denorm_min());
  CHECK(first("16777217.0", float32).item<float>() == 16777216);
  CHECK(first("16777217.0000001", float32).item<float>() == 16777218);
  CHECK(first("33554436", float32).item<float>() == 33554436);
  CHECK(first("1e-999", float32).item<float>() == 0);
  CHECK(std::signbit(first("-0.0", float32).item<float>()));
  CHECK(static_cast<float>(first("0.1", float16).item<Half>()) == static_cast<float>(Half(0.1f)));
  CHECK(static_cast<float>(first("3", bfloat16).item<BFloat16>()) == 3);
  const Tensor special = value_of(R"({"instances":[NaN, Infinity, -Infinity, 1]})");
  CHECK(std::isnan(special.at<float>({0})));
  CHECK(special.at<float>({1}) == INFINITY);
  CHECK(special.at<float>({2}) == -INFINITY);
  CHECK(special.at<float>({3}) == 1);
  CHECK(std::isinf(static_cast<float>(first("-Infinity", float16).item<Half>())));
}

TEST_CASE("predict body: what a dtype cannot hold names the input and the position") {
  const auto check = [](const std::string& number, DType d, const std::string& text) {
    CAPTURE(number);
    CHECK_THAT(refused("{\"instances\":[[" + number + "]]}", d, {none, none}),
               ContainsSubstring("'x'") && ContainsSubstring(name(d)) && ContainsSubstring("at [0][0]") &&
                   ContainsSubstring(text));
    const std::string other = d == DType::string ? "\"s\"" : d == bool_ ? "true" : "0";
    CHECK_THAT(refused("{\"instances\":[[" + other + "," + number + "]]}", d, {none, none}),
               ContainsSubstring("at [0][1]") && ContainsSubstring(text));
  };
  check("1.5", int32, "1.5");
  check("1e2", int64, "1e2");
  check("2147483648", int32, "2147483648");
  check("-1", uint8, "-1");
  check("18446744073709551616", uint64, "18446744073709551616");
  check("NaN", int32, "NaN");
  check("16777217", float32, "16777217");
  check("9007199254740993", float64, "9007199254740993");
  check("1e39", float32, "1e39");
  check("65520", float16, "65520");
  check("1", bool_, "1");
  check("true", float32, "true");
  check("null", float32, "null");
  check("\"1\"", float32, "\"1\"");
  check("1", tandem::string, "1");
  check("{\"b64\":\"AA==\"}", float32, "an object");
  check("{\"b64\":\"A\"}", tandem::string, "not base64");
  check("{\"b64\":1}", tandem::string, "an object that is not");
  check("{\"b64\":\"\",\"c\":1}", tandem::string, "an object that is not");
  CHECK_THAT(refused(R"({"instances":[1.5]})", complex64),
             ContainsSubstring("complex64") && ContainsSubstring("1.5 at [0]"));
}

TEST_CASE("predict body: ragged lists, wrong ranks and sizes") {
  CHECK_THAT(refused(R"({"instances":[[1,2],[3]]})", float32, {none, none}),
             ContainsSubstring("a list at [1] has 1 elements, those before it have 2"));
  CHECK_THAT(refused(R"({"instances":[[1,2],[3,4,5]]})", float32, {none, 2}),
             ContainsSubstring("takes float32[None,2]") && ContainsSubstring("a list at [1] has 3 elements"));
  CHECK_THAT(refused(R"({"instances":[[1,2],3]})", float32, {none, 2}),
             ContainsSubstring("an element in 1 lists at [1]"));
  CHECK_THAT(refused(R"({"instances":[1,[2]]})", float32, {none}), ContainsSubstring("a list at [1]"));
  CHECK_THAT(refused(R"({"instances":[[1]]})", float32, {none}), ContainsSubstring("a list at [0]"));
  CHECK_THAT(refused(R"({"inputs":[1,2,3]})", float32, {2}), ContainsSubstring("a list has 3 elements"));
  CHECK_THAT(refused(R"({"inputs":[1]})", float32, {}), ContainsSubstring("a list"));
  CHECK_THAT(refused(R"({"instances":[1]})", float32, {}), ContainsSubstring("send it in 'inputs'"));
  const serving::Signatures named{{"serving_default", signature_of({{"x", {{none, none}, float32}}})}};
  CHECK_THAT(refused(R"({"instances":[{"x":[1,2]},{"x":[1]}]})", named),
             ContainsSubstring("a list at [1] has 1 elements"));
}

TEST_CASE("predict body: strings are UTF-8, bytes are base64") {
  const auto texts = [](const std::string& json) { return value_of(json, tandem::string).to_vector<std::string>(); };
  CHECK(texts(R"({"instances":["a\u00e4\n\u0000", {"b64":"AP8="}, ""]})") ==
        Texts{std::string("a\xc3\xa4\n\0", 5), std::string("\0\xff", 2), ""});
  CHECK(texts(R"({"instances":[{"b64":"AP8="}, "b"]})") == Texts{std::string("\0\xff", 2), "b"});
  CHECK(texts(R"({"instances":[{"b64":"AP8"}]})") == Texts{std::string("\0\xff", 2)});
  CHECK(value_of(R"({"inputs":{"b64":"YQ=="}})", tandem::string, {}).item<std::string>() == "a");
  const serving::Signatures b64{{"serving_default", signature_of({{"b64", {{none}, tandem::string}}})}};
  CHECK(read_predict(R"({"instances":[{"b64":"a"}]})", b64).inputs.at("b64").to_vector<std::string>() == Texts{"a"});
  CHECK_THAT(refused("{\"instances\":[\"\xff\"]}", tandem::string), ContainsSubstring("not UTF-8"));
  CHECK_THAT(refused(R"({"instances":["\ud800"]})", tandem::string), ContainsSubstring("JSON Parse error: "));
}

TEST_CASE("predict body: a string above 16 MiB is refused by the name of its input") {
  const std::string text(serving::most_string_bytes + 1, 'a');
  CHECK_THAT(
      refused("{\"instances\":[\"\",\"" + text + "\"]}", tandem::string),
      ContainsSubstring("the input 'x'") && ContainsSubstring("a string of 16777217 bytes, more than 16777216 at [1]"));
}

TEST_CASE("predict body: strings of just 16 MiB, in base64 too", "[.thorough]") {
  const auto length_of = [](const std::string& json) {
    return value_of(json, tandem::string).to_vector<std::string>().back().size();
  };
  const std::string most(serving::most_string_bytes, 'a'), head = "{\"instances\":[\"\", ";
  std::string base64;  // of all but the last byte
  for (std::size_t i = 0; i + 3 <= most.size(); i += 3) base64 += "YWFh";
  CHECK(length_of(head + '"' + most + "\"]}") == most.size());
  CHECK(length_of(head + "{\"b64\":\"" + base64 + "YQ==" + "\"}]}") == most.size());
  CHECK_THAT(refused(head + "{\"b64\":\"" + base64 + "YWI=" + "\"}]}", tandem::string),
             ContainsSubstring("the input 'x'") && ContainsSubstring("a string of 16777217 bytes"));
  CHECK_THAT(refused("{\"other\":\"" + most + most + "\",\"instances\":[\"\"]}", tandem::string),
             ContainsSubstring("JSON Parse error: a string has 33554432 bytes, more than 22369624"));
}

TEST_CASE("predict body: what is not JSON, or not a request") {
  for (const char* body : {"",
                           " ",
                           "{",

                           "{\"instances\":[1}",
                           "{\"instances\":[1,]}",
                           "{\"instances\":[01]}",
                           "{\"instances\":[1.]}",
                           "{\"instances\":[.5]}",
                           "{\"instances\":[1, +2]}",
                           "{\"instances\":[1, 2.]}",
                           "{\"instances\":[1 2]}",
                           "{\"instances\":[1,,2]}",
                           "{\"instances\":[1, 2x]}",
                           "{\"instances\":[1, 02]}",
                           "{\"instances\":[nan]}",
                           "{\"instances\":[1e400]}",
                           "{\"instances\":[1]} 1",
                           "{'instances':[1]}",
                           "{\"instances\":[1], }",
                           "{\"instances\":[- 1]}",
                           "{\"instances\":[1]/**/}"}) {
    CAPTURE(body);
    CHECK_THAT(refused(body), ContainsSubstring("JSON Parse error: ") && ContainsSubstring("at offset: "));
  }
  CHECK_THAT(refused(std::string("{\"instances\":[1]}\0", 18)), ContainsSubstring("zero byte"));
  for (const char* body : {"1", "\"a\"", "[]", "null"}) CHECK_THAT(refused(body), ContainsSubstring("not an object"));
  CHECK_THAT(refused("{}"), ContainsSubstring("Missing 'inputs' or 'instances' key"));
  CHECK_THAT(refused(R"({"inputs":[1],"instances":[1]})"), ContainsSubstring("only one of 'inputs' or 'instances'"));
  CHECK_THAT(refused(R"({"instances":[1],"instances":[1]})"), ContainsSubstring("only one of"));
  CHECK_THAT(refused(R"({"instances":[]})"), ContainsSubstring("No values in 'instances' array"));
  CHECK_THAT(refused(R"({"instances":{}})"), ContainsSubstring("'instances' to be an list"));
  CHECK_THAT(refused(R"({"inputs":{}})"), ContainsSubstring("Missing named input: x"));
  CHECK_THAT(refused(R"({"instances":[1]})", serving::Signatures()), ContainsSubstring("not found in signature def"));
}

TEST_CASE("predict body: depth is bounded, whatever its kind") {
  const auto nested = [](std::size_t n, const std::string& open) {
    std::string s = "{\"other\":";
    for (std::size_t i = 0; i < n; ++i) s += open;
    return s;
  };
  for (const char* open : {"[", "{\"a\":", "[{\"a\":"})
    CHECK_THAT(refused(nested(100000, open)), ContainsSubstring("nested deeper than 64 at offset: "));
  CHECK_THAT(refused("{\"instances\":" + std::string(100000, '[')),
             ContainsSubstring("takes float32[None], but has a list"));
  CHECK_THAT(refused(std::string(100000, '[')), ContainsSubstring("not an object"));
  std::string deepest = nested(63, "[") + std::string(63, ']') + ",\"instances\":[1]}";
  CHECK(value_of(deepest).size() == 1);
  const std::string digits(100000, '9');
  CHECK_THAT(refused("{\"instances\":[0, " + digits + "]}"), ContainsSubstring("at [1]"));
  CHECK(value_of("{\"instances\":[0, 0." + digits + "]}").at<float>({1}) == 1);
}

TEST_CASE("predict answer: rows, columns, and how numbers are written") {
  const auto rows = [](const serving::NamedTensors& out) { return serving::write_predict(out, true); };
  const auto columns = [](const serving::NamedTensors& out) { return serving::write_predict(out, false); };
  CHECK(rows({{"y", constant({2.5f, 3.f, 4.5f})}}) == R"({"predictions":[2.5,3.0,4.5]})");
  CHECK(columns({{"y", constant({2.5f, 3.f, 4.5f})}}) == R"({"outputs":[2.5,3.0,4.5]})");
  const serving::NamedTensors two{{"a", constant({{1, 2}, {3, 4}})}, {"b", constant({"x", "y\"\\\n\x01"})}};
  CHECK(rows(two) == "{\"predictions\":[{\"a\":[1,2],\"b\":\"x\"},{\"a\":[3,4],\"b\":\"y\\\"\\\\\\n\\u0001\"}]}");
  CHECK(columns(two) == "{\"outputs\":{\"a\":[[1,2],[3,4]],\"b\":[\"x\",\"y\\\"\\\\\\n\\u0001\"]}}");
  CHECK(columns({{"y", constant(1.f)}}) == R"({"outputs":1.0})");
  CHECK(columns({{"y", constant({0.1f, 1e20f, 1e-7f, 123456.f, 16777216.f, -0.f, NAN, INFINITY, -INFINITY})}}) ==
        R"({"outputs":[0.1,1e+20,1e-07,123456.0,16777216.0,-0.0,NaN,Infinity,-Infinity]})");
  CHECK(columns({{"y", constant(std::vector<double>{0.1, 1. / 3})}}) == R"({"outputs":[0.1,0.3333333333333333]})");
  CHECK(columns({{"y", constant({true, false})}}) == R"({"outputs":[true,false]})");
  CHECK(columns({{"y", cast(constant({0.5f, 2.f}), float16)}}) == R"({"outputs":[0.5,2.0]})");
  CHECK(columns({{"y", cast(constant({-3, 100}), int8)}}) == R"({"outputs":[-3,100]})");
  CHECK(columns({{"y", zeros({2, 0, 3})}}) == R"({"outputs":[[],[]]})");
  CHECK(rows({{"y", zeros({0, 3})}}) == R"({"predictions":[]})");
  CHECK(columns({{"y_bytes", constant({"a"})}}) == R"({"outputs":[{"b64":"YQ=="}]})");
  CHECK(columns({{"y", constant({std::string("\xff")})}}) == R"({"outputs":[{"b64":"/w=="}]})");
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               rows({{"a", zeros({2})}, {"b", zeros({3})}});
             }),
             ContainsSubstring("Tensor name: b has inconsistent batch size: 3 expecting: 2"));
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               rows({{"a", constant(1.f)}});
             }),
             ContainsSubstring("Tensor name: a has no shape"));
  CHECK_THAT(error_of<errors::UnimplementedError>([&] {
               columns({{"a", cast(ones({1}), complex64)}});
             }),
             ContainsSubstring("complex64"));
}

TEST_CASE("predict: random values survive the way through JSON") {
  const Tensor x = random::normal({50, 7}, {.seed = 3}), y = cast(random::normal({50, 3}, {.seed = 4}), float64);
  for (const Tensor& t : {x, y}) {
    const std::string json = serving::write_predict({{"x", t}}, false);
    const Tensor back = value_of("{\"inputs\"" + json.substr(json.find(':')), t.dtype(), {none, none});
    CHECK(back.shape() == t.shape());
    CHECK(reduce_all(equal(back, t)).item<bool>());
  }
}

train::Example example_of(const Tensor& t, i64 i) {
  return train::Example::parse(t.to_vector<std::string>()[static_cast<std::size_t>(i)]);
}

TEST_CASE("examples body: tf.Examples with a context") {
  saved_model::Signature s = signature_of({{"inputs", {{none}, tandem::string}}});
  s.features = {{"age", io::FixedLenFeature{{}, float32}}, {"n", io::FixedLenFeature{{2}, int64}}};
  const serving::Signatures signatures{{"serving_default", s}, {"c", s}};
  const serving::ExamplesBody b = serving::read_examples(
      R"({"signature_name":"c","context":{"country":"DE","age":7},"examples":[{"age":31,"n":[1,true],"x":[1,2.5]},)"
      R"({"image/png":{"b64":"AP8="},"list":["a",{"b64":"Yg=="}],"none":[],"big":NaN}]})",
      signatures);
  CHECK(b.signature == "c");
  CHECK(b.examples.shape() == Shape{2});
  CHECK(example_of(b.examples, 0) == train::Example{{{{"country", train::BytesList{{"DE"}}},
                                                      {"age", train::FloatList{{31}}},
                                                      {"n", train::Int64List{{1, 1}}},
                                                      {"x", train::FloatList{{1, 2.5}}}}}});
  train::Example second = example_of(b.examples, 1);
  CHECK(std::isnan(std::get<train::FloatList>(second.features.feature.at("big").list).value.at(0)));
  second.features.feature.erase("big");
  CHECK(second == train::Example{{{{"country", train::BytesList{{"DE"}}},
                                   {"age", train::FloatList{{7}}},
                                   {"image/png", train::BytesList{{std::string("\0\xff", 2)}}},
                                   {"list", train::BytesList{{"a", "b"}}},
                                   {"none", {}}}}});
}

TEST_CASE("examples body: errors") {
  const serving::Signatures s{{"serving_default", signature_of({{"inputs", {{none}, tandem::string}}})}};
  const auto refused_examples = [&](const std::string& json) {
    return error_of<errors::InvalidArgumentError>([&] { serving::read_examples(json, s); });
  };
  CHECK_THAT(refused_examples("{}"), ContainsSubstring("'examples' is expected and was not found"));
  CHECK_THAT(refused_examples(R"({"examples":[]})"), ContainsSubstring("empty list"));
  CHECK_THAT(refused_examples(R"({"examples":{}})"), ContainsSubstring("an list/array"));
  CHECK_THAT(refused_examples(R"({"examples":[1]})"), ContainsSubstring("Example must be JSON object"));
  CHECK_THAT(refused_examples(R"({"examples":[{}],"context":[]})"), ContainsSubstring("Example must be JSON object"));
  CHECK_THAT(refused_examples(R"({"examples":[{}],"examples":[{}]})"), ContainsSubstring("twice"));
  CHECK_THAT(refused_examples("[]"), ContainsSubstring("not an object"));
  CHECK_THAT(refused_examples("{\"examples\":" + std::string(100000, '[')),
             ContainsSubstring("Example must be JSON object"));
  CHECK_THAT(refused_examples(R"({"signature_name":"d","examples":[{}]})"),
             ContainsSubstring("Serving signature name: \"d\""));
  for (const char* value : {"null", "[null]", "[[1]]", "[1,\"a\"]", "[\"a\",1]", "{}", "{\"b64\":1}", "{\"b64\":\"A\"}",
                            "{\"a\":\"AA==\"}", "{\"b64\":\"AA==\",\"b64\":\"AA==\"}", "[{}]", "{\"b64\":[\"AA==\"]}",
                            "1e39", "9223372036854775808", "{\"b64\":{\"b64\":\"AA==\"}}"}) {
    CAPTURE(value);
    CHECK_THAT(refused_examples(std::string("{\"examples\":[{\"a\":1},{\"f\":") + value + "}]}"),
               ContainsSubstring("Feature: \"f\" of item 1 of 'examples' has"));
  }
  CHECK_THAT(refused_examples(R"({"examples":[{"f":1,"f":2}]})"), ContainsSubstring("given twice"));
}

TEST_CASE("examples body: an example above 16 MiB is refused") {
  const serving::Signatures s{{"serving_default", signature_of({{"inputs", {{none}, tandem::string}}})}};
  const auto with = [](std::size_t bytes) { return "{\"examples\":[{},{\"f\":\"" + std::string(bytes, 'a') + "\"}]}"; };
  CHECK_THAT(
      error_of<errors::InvalidArgumentError>([&] { serving::read_examples(with(serving::most_string_bytes), s); }),
      ContainsSubstring("the input 'inputs': example 1 is a string of 167772") &&
          ContainsSubstring("more than 16777216"));
}

TEST_CASE("classify and regress answers") {
  CHECK(serving::write_classify({{"classes", constant({{"a", "b"}})}, {"scores", constant({{0.25f, 1.f}})}}) ==
        R"({"results":[[["a",0.25],["b",1.0]]]})");
  CHECK(serving::write_classify({{"scores", constant({{0.25f}, {1.f}})}}) == R"({"results":[[["",0.25]],[["",1.0]]]})");
  CHECK(serving::write_classify({{"classes", constant({{"a"}})}}) == R"({"results":[[["a",0.0]]]})");
  CHECK(serving::write_regress({{"outputs", constant({0.5f, 2.f})}}) == R"({"results":[0.5,2.0]})");
  CHECK(serving::write_regress({{"outputs", constant({{0.5f}, {2.f}})}}) == R"({"results":[0.5,2.0]})");
  CHECK_THROWS_AS(serving::write_classify({{"y", ones({1, 1})}}), errors::InternalError);
  CHECK_THROWS_AS(serving::write_classify({{"scores", ones({1, 2})}, {"classes", constant({{"a"}})}}),
                  errors::InternalError);
  CHECK_THROWS_AS(serving::write_regress({{"outputs", ones({1, 2})}}), errors::InternalError);
}

TEST_CASE("examples body: the copies of a context take no more than a request may have") {
  const serving::Signatures s{{"serving_default", signature_of({{"inputs", {{none}, tandem::string}}})}};
  std::string json = R"({"context": {"text": ")" + std::string(1000, 'x') + R"("}, "examples": [{})";
  for (int i = 1; i < 100; ++i) json += ", {}";
  json += "]}";
  CHECK(serving::read_examples(json, s, 110'000).examples.size() == 100);
  CHECK_THROWS_AS(serving::read_examples(json, s, 100'000), errors::ResourceExhaustedError);
}

}  // namespace json_predict_test
