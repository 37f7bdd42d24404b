// JsonLinesReader: features of objects, and errors with line and column.
#include "tandem/io/json_lines.hpp"

#include "tandem/ops/create/constant.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace json_lines_test {
using namespace tandem;
using testing::error_of;
using Texts = std::vector<std::string>;

const io::FeatureConfigs configs{{"text", io::FixedLenFeature{{}, tandem::string}},
                                 {"box", io::FixedLenFeature{{2, 2}, float32}},
                                 {"ids", io::VarLenFeature{int64}},
                                 {"score", io::FixedLenFeature{{}, float32, constant(0.5f)}}};

TEST_CASE("JsonLinesReader: texts, nested lists, lists of any length, defaults") {
  const testing::TemporaryFolder folder;
  io::JsonLinesReader reader(folder.file("f", R"({"text": "a\u00e9", "box": [[1, 2.5], [-3, 4e1]], "ids": [1, true]}

{"other": {}, "ids": null, "score": 2, "box": [[0,0],[0,0]], "text": ""})"),
                             configs);
  io::ParsedFeatures record;
  REQUIRE(reader.next(record));
  CHECK(record["text"].item<std::string>() == "a\xc3\xa9");
  CHECK(record["box"].shape() == Shape{2, 2});
  CHECK(record["box"].to_vector<float>() == std::vector<float>{1, 2.5f, -3, 40});
  CHECK(record["ids"].to_vector<i64>() == std::vector<i64>{1, 1});
  CHECK(record["score"].item<float>() == 0.5f);
  const i64 second = reader.position();
  REQUIRE(reader.next(record));
  CHECK(record["ids"].shape() == Shape{0});
  CHECK(record["score"].item<float>() == 2);
  CHECK_FALSE(reader.next(record));
  reader.seek(second);
  CHECK(reader.next(record));
}

TEST_CASE("JsonLinesReader: errors name line, column and feature, and reading goes on") {
  const testing::TemporaryFolder folder;
  const auto error = [&](const std::string& line) {
    io::JsonLinesReader reader(folder.file("f", "\n" + line + "\n" + R"({"text": "x", "box": [[1,1],[1,1]]})"),
                               configs);
    io::ParsedFeatures record;
    const std::string text = error_of([&] { reader.next(record); });
    CHECK((reader.next(record) && record["text"].item<std::string>() == "x"));
    return text;
  };
  CHECK_THAT(error(R"({"text": nul})"), ContainsSubstring("f: line 2 at byte 1, column 13: it is not JSON"));
  CHECK_THAT(error("[1]"), ContainsSubstring("it is not an object, but has type array"));
  CHECK_THAT(error(R"({"text": 1})"), ContainsSubstring("line 2 at byte 1: feature \"text\" must have string values"));
  CHECK_THAT(error("{}"), ContainsSubstring("feature \"text\" is missing and has no default (dtype string)"));
  CHECK_THAT(error(R"({"text": "", "box": [[1, 2]]})"),
             ContainsSubstring("feature \"box\" must have the shape (2, 2), but a list of it has 1 elements"));
  CHECK_THAT(error(R"({"text": "", "box": [[1, 2], 3]})"), ContainsSubstring("has a number in place of a list"));
  const std::string good = R"({"text": "", "box": [[1,1],[1,1]], "ids": )";
  CHECK_THAT(error(good + "[1.5]}"), ContainsSubstring("must have int64 values, not a number"));
  CHECK_THAT(error(good + "[9223372036854775808]}"), ContainsSubstring("must have int64 values"));
  CHECK_THAT(error(good + "3}"), ContainsSubstring("must be a list, not number"));
  CHECK_THAT(error(R"({"text": 1e999})"), ContainsSubstring("line 2"));
}

}  // namespace json_lines_test
