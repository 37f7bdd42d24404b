// decode_json_example: Examples in the JSON form of protocol buffers, and errors that say where.
#include <cmath>
#include <limits>

#include "tandem/io/example.hpp"
#include "tandem/io/parse_example.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace json_example_test {
using namespace tandem;
using testing::error_of;

train::Example decoded(const std::string& json) {
  return train::Example::parse(io::decode_json_example(constant(json)).item<std::string>());
}
train::Feature feature(const std::string& json) {
  return decoded(R"({"features": {"feature": {"x": )" + json + "}}}").features.feature.at("x");
}

TEST_CASE("decode_json_example: lists of each kind, names in both forms") {
  const train::Example want{{{{"a", train::BytesList{{"hello", std::string("\0\xff", 2), ""}}},
                              {"b", train::FloatList{{1.5f, -2, 1e10f}}},
                              {"c", train::Int64List{{7, -8, std::numeric_limits<i64>::min()}}}}}};
  CHECK(decoded(R"({"features": {"feature": {
          "a": {"bytesList": {"value": ["aGVsbG8=", "AP8=", ""]}},
          "b": {"floatList": {"value": [1.5, "-2", 1e10]}},
          "c": {"int64List": {"value": ["7", -8, "-9223372036854775808"]}}}}})") == want);
  CHECK(decoded(R"({"features": {"feature": {
          "a": {"bytes_list": {"value": ["aGVsbG8", "AP8", ""]}},
          "b": {"float_list": {"value": ["1.5", -2, "1e10"]}},
          "c": {"int64_list": {"value": [7.0, "-8", -9223372036854775808]}}}}})") == want);
}

TEST_CASE("decode_json_example: the shape is kept, and the bytes are those of an Example") {
  const std::string one = R"({"features": {"feature": {"label": {"bytesList": {"value": ["AQ=="]}}}}})";
  const Tensor r = io::decode_json_example(constant({{one, "{}", one}}));
  CHECK(r.shape() == Shape{1, 3});
  CHECK(r.dtype() == tandem::string);
  const std::string bytes("\x0a\x10\x0a\x0e\x0a\x05label\x12\x05\x0a\x03\x0a\x01\x01", 18);
  CHECK(r.at<std::string>({0, 0}) == bytes);
  CHECK(train::Example::parse(r.at<std::string>({0, 1})) == train::Example{});
  CHECK(io::parse_example(io::decode_json_example(constant({one, one})),
                          {{"label", io::FixedLenFeature{{}, string}}})["label"]
            .to_vector<std::string>() == std::vector<std::string>{"\x01", "\x01"});
  CHECK(io::decode_json_example(Tensor::allocate({{0}, string, {}})).shape() == Shape{0});
}

TEST_CASE("decode_json_example: null is a field that is not set; special numbers; both alphabets") {
  for (const char* json : {"{}", R"({"features": null})", R"({"features": {}})", R"({"features": {"feature": null}})"})
    CHECK(decoded(json) == train::Example{});
  CHECK(feature("{}") == train::Feature{});
  CHECK(feature("null") == train::Feature());
  CHECK(feature(R"({"bytesList": null, "int64List": {"value": null}})") == train::Feature(train::Int64List{}));
  CHECK(feature(R"({"floatList": {}})") == train::Feature(train::FloatList{}));
  const auto floats =
      std::get<train::FloatList>(feature(R"({"floatList": {"value": ["NaN", "Infinity", "-Infinity", 1e-60]}})").list)
          .value;
  REQUIRE(floats.size() == 4);
  CHECK(std::isnan(floats[0]));
  CHECK(floats[1] == INFINITY);
  CHECK(floats[2] == -INFINITY);
  CHECK(floats[3] == 0);
  CHECK(feature(R"({"bytesList": {"value": ["+/8=", "-_8=", "-_8"]}})") ==
        train::Feature(train::BytesList{{"\xfb\xff", "\xfb\xff", "\xfb\xff"}}));
}

TEST_CASE("decode_json_example: what is wrong, and where") {
  const auto fails = [](const std::string& json, const std::string& text) {
    CAPTURE(json);
    const std::string error = error_of<errors::InvalidArgumentError>([&] {
      (void)io::decode_json_example(constant({std::string("{}"), json}));
    });
    CHECK_THAT(error, ContainsSubstring("decode_json_example: Example 1: ") && ContainsSubstring(text));
  };
  const auto wrong = [&](const std::string& json, const std::string& text) {
    fails(R"({"features": {"feature": {"x": )" + json + "}}}", text);
  };
  fails("{", "it is not JSON, byte 2");
  fails("", "it is not JSON");
  fails("[]", "it must be an object, not array");
  fails(R"({"feature": {}})", "'feature' is not a field of an Example");
  fails(R"({"features": {"x": {}}})", "'x' is not a field of Features");
  fails(R"({"features": 1})", "'features' must be an object, not number");
  wrong("[]", "feature 'x' must be an object, not array");
  wrong(R"({"textList": {}})", "'textList' is not a field of feature 'x'");
  wrong(R"({"bytesList": {}, "int64_list": {}})", "feature 'x' has two lists");
  wrong(R"({"bytesList": {"values": []}})", "'values' is not a field of the list of feature 'x'");
  wrong(R"({"bytesList": {"value": "QQ=="}})", "'value' of feature 'x' must be a list, not string");
  wrong(R"({"bytesList": {"value": ["QQ==", "?"]}})", "value 1 of feature 'x' cannot be \"?\"");
  wrong(R"({"bytesList": {"value": [1]}})", "value 0 of feature 'x' cannot be 1");
  for (const char* x : {"1.5", "\"1.0x\"", "\"\"", "9223372036854775808", "1e30", "true", "null", "[]"})
    wrong(std::string(R"({"int64List": {"value": [)") + x + "]}}", "value 0 of feature 'x' cannot be ");
  for (const char* x : {"1e39", "\"1e39\"", "\"inf\"", "\"\"", "true", "null", "{}"})
    wrong(std::string(R"({"floatList": {"value": [)") + x + "]}}", "value 0 of feature 'x' cannot be ");
  CHECK_THROWS_AS(io::decode_json_example(constant(1)), errors::InvalidArgumentError);
}

TEST_CASE("decode_json_example: errors name wrong values of any depth and length in few words") {
  const auto wrong = [](const std::string& json, const std::string& why) {
    const std::string error = error_of<errors::InvalidArgumentError>([&] { (void)feature(json); });
    CHECK(error.size() < 300);
    CHECK(error.find(why) != std::string::npos);
  };
  const std::string deep = std::string(1'000'000, '[') + std::string(1'000'000, ']');
  wrong(R"({"int64List": {"value": [)" + deep + "]}}", "value 0 of feature 'x' cannot be array");
  const std::string text(1'000'000, 'a');
  wrong(R"({"int64List": {"value": [")" + text + "\"]}}", "cannot be \"" + text.substr(0, 79) + "...");
}

}  // namespace json_example_test
