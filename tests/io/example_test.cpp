// tf.Example and SequenceExample: exact bytes, agreement with protoc, parsing to tensors, damage.
#include "tandem/io/example.hpp"

#include <cstdio>
#include <limits>

#include "tandem/io/parse_example.hpp"
#include "tandem/ops/create/constant.hpp"
#include "tests/io/files.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/derivatives.hpp"
#include "tests/support/errors.hpp"
#include "tests/support/protoc.hpp"

namespace example_test {
using namespace tandem;
using testing::error_of;
using testing::from_hex;
using train::BytesList, train::FloatList, train::Int64List, train::Example, train::SequenceExample;
using Ints = std::vector<i64>;
using Texts = std::vector<std::string>;

const Example example{{{{"label", Int64List{{7}}},
                        {"image", BytesList{{std::string("\0\1\xff", 3)}}},
                        {"weights", FloatList{{0.5f, -2, 1e30f}}},
                        {"ids", Int64List{{-1, 0, 300, std::numeric_limits<i64>::min()}}},
                        {"words", BytesList{{"a", "", "bc"}}},
                        {"nothing", train::Feature()}}}};

TEST_CASE("Example: the bytes of the protocol buffer") {
  CHECK(Example{{{{"label", BytesList{{"\1"}}}}}}.serialize() ==
        from_hex("0a 10 0a 0e 0a 05 6c 61 62 65 6c 12 05 0a 03 0a 01 01"));
  CHECK(Example().serialize() == from_hex("0a 00"));
  CHECK(Example{{{{"n", Int64List{{1, 300}}}}}}.serialize() ==
        from_hex("0a 0e 0a 0c 0a 01 6e 12 07 1a 05 0a 03 01 ac 02"));
}

TEST_CASE("Example: what is written is read; unpacked numbers and unknown fields too") {
  CHECK(Example::parse(example.serialize()) == example);
  // {"n": int64s 1, 2 not packed, and floats 1.5, 2 in another feature; field 9 of several types is unknown}
  const std::string bytes = from_hex(
      "48 05 0a 10 0a 09 0a 01 6e 12 04 1a 02 08 01 4d 00 00 00 00 0a 13 0a 11 0a 01 66 12 0c 12 0a 0d 00 00 c0 3f 0d "
      "00 "
      "00 00 40 49 00 00 00 00 00 00 00 00 4a 01 78");
  CHECK(Example::parse(bytes) == Example{{{{"n", Int64List{{1}}}, {"f", FloatList{{1.5f, 2}}}}}});
}

constexpr char definitions[] = R"(syntax = "proto3";
package tensorflow;
message BytesList { repeated bytes value = 1; }
message FloatList { repeated float value = 1 [packed = true]; }
message Int64List { repeated int64 value = 1 [packed = true]; }
message Feature { oneof kind { BytesList bytes_list = 1; FloatList float_list = 2; Int64List int64_list = 3; } }
message Features { map<string, Feature> feature = 1; }
message Example { Features features = 1; }
message FeatureList { repeated Feature feature = 1; }
message FeatureLists { map<string, FeatureList> feature_list = 1; }
message SequenceExample { Features context = 1; FeatureLists feature_lists = 2; }
)";

TEST_CASE("Example: protoc reads what is written, and what it writes is read") {
  if (!testing::Protoc::found()) TANDEM_SKIP("there is no protoc");
  const testing::Protoc protoc(definitions);
  const std::string text = protoc.run("--decode=tensorflow.Example", example.serialize());
  CHECK_THAT(text, ContainsSubstring("value: -9223372036854775808"));
  CHECK_THAT(text, ContainsSubstring("value: \"\\000\\001\\377\""));
  CHECK_THAT(text, ContainsSubstring("value: 1e+30"));
  CHECK(Example::parse(protoc.run("--encode=tensorflow.Example", text)) == example);

  const SequenceExample sequence{{{{"length", Int64List{{2}}}}},
                                 {{{"tokens", {{Int64List{{1}}, Int64List{{2, 3}}}}}, {"empty", {}}}}};
  const std::string steps = protoc.run("--decode=tensorflow.SequenceExample", sequence.serialize());
  CHECK(SequenceExample::parse(protoc.run("--encode=tensorflow.SequenceExample", steps)) == sequence);
}

const io::FeatureConfigs configs{{"label", io::FixedLenFeature{{}, int64}},
                                 {"image", io::FixedLenFeature{{}, tandem::string}},
                                 {"weights", io::FixedLenFeature{{3}, float32}},
                                 {"ids", io::VarLenFeature{int64}},
                                 {"words", io::VarLenFeature{tandem::string}},
                                 {"absent", io::FixedLenFeature{{2}, float32, constant({1.f, 2.f})}},
                                 {"nothing", io::FixedLenFeature{{}, tandem::string, constant("none")}}};

TEST_CASE("parse_single_example: fixed and varying features, defaults") {
  const io::ParsedFeatures p = io::parse_single_example(example.serialize(), configs);
  CHECK(p["label"].item<i64>() == 7);
  CHECK(p["label"].shape() == Shape{});
  CHECK(p["image"].item<std::string>() == std::string("\0\1\xff", 3));
  CHECK(p["weights"].to_vector<float>() == std::vector<float>{0.5f, -2, 1e30f});
  CHECK(p["ids"].to_vector<i64>() == Ints{-1, 0, 300, std::numeric_limits<i64>::min()});
  CHECK(p["words"].to_vector<std::string>() == Texts{"a", "", "bc"});
  CHECK(p["absent"].to_vector<float>() == std::vector<float>{1, 2});
  CHECK(p["nothing"].item<std::string>() == "none");
  CHECK_FALSE(p.row_lengths("ids").is_set());
  CHECK_THAT(error_of<errors::NotFoundError>([&] { (void)p["lable"]; }),
             ContainsSubstring("\"lable\" among \"label\""));
  CHECK(io::parse_single_example(constant(example.serialize()), configs)["label"].item<i64>() == 7);
}

TEST_CASE("parse_example: a batch") {
  const auto one = [](i64 label, Ints ids) {
    return Example{{{{"ids", Int64List{ids}}, {"label", Int64List{{label}}}, {"x", FloatList{{1, float(label)}}}}}};
  };
  const Texts bytes{one(1, {5, 6}).serialize(), one(2, {}).serialize(), one(3, {7}).serialize()};
  const io::FeatureConfigs some{{"label", io::FixedLenFeature{{}, int64}},
                                {"ids", io::VarLenFeature{int64}},
                                {"x", io::FixedLenFeature{{1, 2}, float32}}};
  const io::ParsedFeatures p = io::parse_example(constant(bytes), some);
  CHECK(p["label"].to_vector<i64>() == Ints{1, 2, 3});
  CHECK(p["ids"].to_vector<i64>() == Ints{5, 6, 7});
  CHECK(p.row_lengths("ids").to_vector<i64>() == Ints{2, 0, 1});
  CHECK(p["x"].shape() == Shape{3, 1, 2});
  CHECK(p["x"].to_vector<float>() == std::vector<float>{1, 1, 1, 2, 1, 3});
  CHECK(io::parse_example(Span<const std::string_view>(), some)["x"].shape() == Shape{0, 1, 2});
  CHECK_THROWS_AS(io::parse_example(constant("scalar"), some), errors::InvalidArgumentError);
}

TEST_CASE("parse_example: errors name the feature and the example") {
  const std::string good = example.serialize();
  const auto error = [&](io::FeatureConfigs c) {
    return error_of<errors::InvalidArgumentError>([&] { io::parse_single_example(good, c); });
  };
  CHECK_THAT(error({{"age", io::FixedLenFeature{{}, int64}}}),
             ContainsSubstring("feature \"age\": it is missing and has no default (dtype int64)"));
  CHECK_THAT(error({{"label", io::FixedLenFeature{{}, float32}}}),
             ContainsSubstring("feature \"label\": it has int64 values, but its dtype is float32"));
  CHECK_THAT(error({{"weights", io::FixedLenFeature{{2}, float32}}}),
             ContainsSubstring("it has 3 values instead of 2"));
  CHECK_THAT(error({{"label", io::FixedLenFeature{{}, int32}}}),
             ContainsSubstring("its dtype must be float32, int64 or string, not int32"));
  CHECK_THAT(error({{"label", io::FixedLenFeature{{-1}, int64}}}), ContainsSubstring("negative dimension"));
  CHECK_THAT(error({{"a", io::FixedLenFeature{{2}, int64, constant({1.f, 2.f})}}}), ContainsSubstring("default value"));
  CHECK_THAT(error({{"a", io::VarLenFeature{int64}}, {"a", io::VarLenFeature{int64}}}),
             ContainsSubstring("two of that name"));
  CHECK_THAT(error({{"a", io::FixedLenSequenceFeature{{}, int64}}}), ContainsSubstring("SequenceExample"));
  const std::string_view two[] = {good, "\x0a\x05zz"};
  CHECK_THAT(error_of<errors::DataLossError>([&] { io::parse_example(two, configs); }),
             ContainsSubstring("element 1 is not an Example"));
  const std::string none = Example().serialize();
  const std::string_view missing[] = {good, none};
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] { io::parse_example(missing, configs); }),
             ContainsSubstring("example 1, feature \"label\""));
}

TEST_CASE("parse_sequence_example: context, steps, padding") {
  const SequenceExample a{
      {{{"id", Int64List{{1}}}}},
      {{{"x", {{FloatList{{1, 2}}, FloatList{{3, 4}}}}}, {"w", {{Int64List{{5}}, Int64List{{6, 7}}}}}}}};
  const SequenceExample b{{{{"id", Int64List{{2}}}}}, {{{"x", {{FloatList{{8, 9}}}}}}}};
  const io::FeatureConfigs context{{"id", io::FixedLenFeature{{}, int64}}};
  const io::FeatureConfigs lists{{"x", io::FixedLenSequenceFeature{{2}, float32}}, {"w", io::VarLenFeature{int64}}};
  const io::ParsedSequence single = io::parse_single_sequence_example(a.serialize(), context, lists);
  CHECK(single.context["id"].item<i64>() == 1);
  CHECK(single.feature_lists["x"].shape() == Shape{2, 2});
  CHECK(single.feature_lists["x"].to_vector<float>() == std::vector<float>{1, 2, 3, 4});
  CHECK(single.feature_lists["w"].to_vector<i64>() == Ints{5, 6, 7});
  CHECK(single.feature_lists.row_lengths("w").to_vector<i64>() == Ints{1, 2});
  const std::string first = a.serialize(), second = b.serialize();
  const std::string_view both[] = {first, second};
  const io::ParsedSequence batch = io::parse_sequence_example(both, context, lists);
  CHECK(batch.context["id"].to_vector<i64>() == Ints{1, 2});
  CHECK(batch.feature_lists["x"].shape() == Shape{2, 2, 2});
  CHECK(batch.feature_lists["x"].to_vector<float>() == std::vector<float>{1, 2, 3, 4, 8, 9, 0, 0});
  CHECK(batch.feature_lists.steps("x").to_vector<i64>() == Ints{2, 1});
  CHECK(batch.feature_lists.steps("w").to_vector<i64>() == Ints{2, 0});
  CHECK_THAT(error_of<errors::InvalidArgumentError>([&] {
               io::parse_single_sequence_example(second, context, {{"y", io::FixedLenSequenceFeature{{}, int64}}});
             }),
             ContainsSubstring("feature \"y\": it is missing"));
  const io::FeatureConfigs optional{{"y", io::FixedLenSequenceFeature{{3}, int64, true}}};
  CHECK(io::parse_sequence_example(both, {}, optional).feature_lists["y"].shape() == Shape{2, 0, 3});
}

TEST_CASE("Example: cut or with flipped bits, it is read or refused") {
  int refused = 0, read = 0;
  const io::ExampleParser parser(configs);
  testing::for_each_damage(example.serialize(), [&](const std::string& bytes, bool) {
    const bool raised = testing::raises([&] { (void)Example::parse(bytes); });
    const bool parsed = !testing::raises([&] { (void)parser.parse_single(bytes); });
    if (raised) CHECK_FALSE((parsed && Example::parse(bytes) == example));
    ++(raised ? refused : read);
  });
  CHECK(refused > 100);
  CHECK(read > 100);
}

}  // namespace example_test
