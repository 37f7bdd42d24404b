// Joining, splitting and cutting of strings, regular expressions, numbers and Unicode.
#include "tandem/strings/text.hpp"

#include <cmath>
#include <complex>
#include <limits>

#include "tandem/autodiff/tape.hpp"
#include "tandem/graph/io/serialize.hpp"
#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/strings/numbers.hpp"
#include "tandem/strings/regex.hpp"
#include "tandem/strings/unicode.hpp"
#include "tandem/strings_op_table.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

using namespace tandem;
using testing::error_of;
using Texts = std::vector<std::string>;
using Ints = std::vector<std::int32_t>;
using Longs = std::vector<i64>;

namespace {
Texts texts(const Tensor& t) { return t.to_vector<std::string>(); }
std::string text(const Tensor& t) { return t.item<std::string>(); }
}  // namespace

TEST_CASE("strings: a saved graph is loaded with strings::all_ops()") {
  auto f = function([](const Tensor& x) { return strings::upper(x); });
  const std::string bytes = serialize(f.get_concrete_function(TensorSpec({2}, string))->graph());
  CHECK_THROWS_AS(parse_graph(bytes, {.ops = all_ops()}), errors::NotFoundError);
  ConcreteFunction loaded(parse_graph(bytes, {.ops = strings::all_ops()}));
  CHECK(texts(loaded(std::vector<Tensor>{constant({"a", "b"})})[0]) == Texts{"A", "B"});
}

TEST_CASE("join: element by element, with broadcasting") {
  const Tensor x = constant({{"a", "b"}, {"c", ""}});
  CHECK(texts(strings::join({x, constant({"1", "2"})}, {.separator = "-"})) == Texts{"a-1", "b-2", "c-1", "-2"});
  CHECK(texts(strings::join({constant("<"), x, constant(">")})) == Texts{"<a>", "<b>", "<c>", "<>"});
  CHECK(texts(strings::join({x})) == texts(x));
  CHECK(strings::join({constant({{"a"}, {"b"}}), constant({"x", "y", "z"})}).shape() == Shape{2, 3});
  CHECK(strings::join({zeros({0, 2}, {.dtype = string}), constant({"1", "2"})}).shape() == Shape{0, 2});
  const std::string bytes("\xff\0b", 3);
  CHECK(text(strings::join({constant(bytes), constant(bytes)})) == bytes + bytes);
  CHECK_THAT(error_of([] { strings::join(std::vector<Tensor>{}); }), ContainsSubstring("join: the list is empty"));
  CHECK_THAT(error_of([&] {
               strings::join({x, constant({"a", "b", "c"})});
             }),
             ContainsSubstring("join: shapes do not broadcast: string[2,2] x string[3]"));
  CHECK_THAT(error_of([&] { strings::join({x, constant({1, 2})}); }), ContainsSubstring("must not be int32"));
  CHECK_THAT(error_of([&] { strings::join({constant(1)}); }), ContainsSubstring("join: no kernel for int32"));
}

TEST_CASE("reduce_join: along axes") {
  const Tensor x = constant({{"a", "b", "c"}, {"d", "e", "f"}});
  CHECK(text(strings::reduce_join(x)) == "abcdef");
  CHECK(texts(strings::reduce_join(x, 0, {.separator = "+"})) == Texts{"a+d", "b+e", "c+f"});
  CHECK(texts(strings::reduce_join(x, -1)) == Texts{"abc", "def"});
  CHECK(text(strings::reduce_join(x, {0, 1})) == "adbecf");
  CHECK(text(strings::reduce_join(x, {1, 0})) == "abcdef");
  CHECK(text(strings::reduce_join(x, {-2, -1}, {.separator = "."})) == "a.d.b.e.c.f");
  CHECK(texts(strings::reduce_join(constant({{{"a", "b"}, {"c", "d"}}, {{"e", "f"}, {"g", "h"}}}), {2, 0})) ==
        Texts{"abef", "cdgh"});
  CHECK(strings::reduce_join(x, 1, {.keepdims = true}).shape() == Shape{2, 1});
  CHECK(texts(strings::reduce_join(zeros({2, 0}, {.dtype = string}), 1)) == Texts{"", ""});
  CHECK(text(strings::reduce_join(constant({"", "", "x"}), {.separator = "."})) == "..x");
  CHECK_THAT(error_of([&] { strings::reduce_join(x, 2); }), ContainsSubstring("reduce_join"));
}

TEST_CASE("split: pieces and how many each string has") {
  const auto at_spaces = strings::split(constant({"hello  world", "", " a\tb c "}));
  CHECK(texts(at_spaces.values) == Texts{"hello", "world", "a", "b", "c"});
  CHECK(at_spaces.row_lengths.to_vector<i64>() == Longs{2, 0, 3});
  const auto at_commas = strings::split(constant({{"a,,b", ""}, {",", "x"}}), ",");
  CHECK(texts(at_commas.values) == Texts{"a", "", "b", "", "", "", "x"});
  CHECK(at_commas.row_lengths.to_vector<i64>() == Longs{3, 1, 2, 1});
  CHECK(at_commas.row_lengths.shape() == Shape{2, 2});
  CHECK(texts(strings::split(constant({"a b  c d"}), {.maxsplit = 2}).values) == Texts{"a", "b", "c d"});
  CHECK(texts(strings::split(constant({"a::b::c"}), {.sep = "::", .maxsplit = 1}).values) == Texts{"a", "b::c"});
  CHECK(texts(strings::split(constant({"a b"}), {.maxsplit = 0}).values) == Texts{"a b"});
  // As Python's str.split.
  CHECK(texts(strings::split(constant({" 1 2 3  ", "a  ", " "}), {.maxsplit = 1}).values) == Texts{"1", "2 3  ", "a"});
  CHECK(texts(strings::split(constant({" a b ", " "}), {.maxsplit = 0}).values) == Texts{"a b "});
  CHECK(strings::split(zeros({0}, {.dtype = string})).values.shape() == Shape{0});
  CHECK_THAT(error_of([] { strings::split(constant("a"), {.maxsplit = -2}); }),
             ContainsSubstring("split: maxsplit is -2"));
}

TEST_CASE("strip, lower, upper, length") {
  CHECK(texts(strings::strip(constant({" \t a b\r\n", "", "  "}))) == Texts{"a b", "", ""});
  CHECK(texts(strings::lower(constant({"AbZ[@\xc3\x84"}))) == Texts{"abz[@\xc3\x84"});
  CHECK(texts(strings::upper(constant({"aBz{`\xc3\xa4"}))) == Texts{"ABZ{`\xc3\xa4"});
  const Tensor x = constant({"", "abc",
                             "\xe2\x82\xac"
                             "5",
                             "\xff\xfe"});
  CHECK(strings::length(x).to_vector<std::int32_t>() == Ints{0, 3, 4, 2});
  CHECK(strings::length(x, {.unit = strings::utf8_char}).to_vector<std::int32_t>() == Ints{0, 3, 2, 2});
}

TEST_CASE("substr: parts, with broadcasting; past the end raises") {
  const Tensor x = constant({"hello", "world!"});
  CHECK(texts(strings::substr(x, 1, 3)) == Texts{"ell", "orl"});
  CHECK(texts(strings::substr(x, constant({0, -1}), constant({i64{2}, i64{9}}))) == Texts{"he", "!"});
  CHECK(texts(strings::substr(constant("hello"), constant({0, 2, 5}), constant(1))) == Texts{"h", "l", ""});
  CHECK(text(strings::substr(constant("a\xe2\x82\xac"
                                      "c\xc3\xa4"),
                             1, 2, {.unit = strings::utf8_char})) ==
        "\xe2\x82\xac"
        "c");
  CHECK(text(strings::substr(constant("a\xe2\x82\xac"
                                      "c"),
                             -2, 1, {.unit = strings::utf8_char})) == "\xe2\x82\xac");
  CHECK_THAT(error_of([&] { strings::substr(x, 6, 1); }),
             ContainsSubstring("substr: position 6 is out of range for \"hello\" of length 5"));
  CHECK_THAT(error_of([&] { strings::substr(x, -6, 1); }),
             ContainsSubstring("position -6 is out of range for \"hello\""));
  CHECK_THAT(error_of([&] { strings::substr(x, 0, -1); }), ContainsSubstring("the length -1 is negative"));
  CHECK_THAT(error_of([&] { strings::substr(x, constant(1.f), constant(1)); }),
             ContainsSubstring("the position must not be float32"));
}

TEST_CASE("ngrams: runs of the last axis") {
  CHECK(texts(strings::ngrams(constant({"a", "b", "c", "d"}), 2)) == Texts{"a b", "b c", "c d"});
  CHECK(texts(strings::ngrams(constant({{"a", "b", "c"}, {"d", "e", "f"}}), 3, {.separator = "-"})) ==
        Texts{"a-b-c", "d-e-f"});
  CHECK(texts(strings::ngrams(constant({"a", "b"}), 1)) == Texts{"a", "b"});
  CHECK(strings::ngrams(constant({{"a", "b"}}), i64{1} << 52).shape() == Shape{1, 0});  // at once
  CHECK(strings::ngrams(constant({"a", "b"}), 4).shape() == Shape{0});
  CHECK_THAT(error_of([] { strings::ngrams(constant({"a"}), 0); }),
             ContainsSubstring("ngram_width must be at least 1"));
  CHECK_THAT(error_of([] { strings::ngrams(constant("a"), 1); }), ContainsSubstring("a scalar has no axis of strings"));
}

TEST_CASE("regex: replacing and matching") {
  const Tensor x = constant({"cat 12", "dog 3 cat 45"});
  CHECK(texts(strings::regex_replace(x, "[0-9]+", "#")) == Texts{"cat #", "dog # cat #"});
  CHECK(texts(strings::regex_replace(x, "([a-z]+) ([0-9]+)", "\\2 \\1", {.replace_global = false})) ==
        Texts{"12 cat", "3 dog cat 45"});
  CHECK(strings::regex_full_match(x, "cat.*").to_vector<bool>() == std::vector<bool>{true, false});
  CHECK(strings::regex_full_match(x, "at").to_vector<bool>() == std::vector<bool>{false, false});
  CHECK(texts(strings::regex_replace(constant({"\xc3\xa4x"}), "^.", "")) == Texts{"x"});
  CHECK_THAT(error_of([&] { strings::regex_replace(x, "(", ""); }),
             ContainsSubstring("regex_replace: the pattern \"(\" is not valid: missing )"));
  CHECK_THAT(error_of([&] { strings::regex_replace(x, "a", "\\1"); }),
             ContainsSubstring("the rewrite \"\\1\" is not valid"));
  CHECK_THAT(error_of([&] { strings::regex_full_match(x, "[z-a]"); }),
             ContainsSubstring("regex_full_match: the pattern"));
}

TEST_CASE("to_number: every dtype, and what is not a number") {
  CHECK(strings::to_number(constant("3.5")).item<float>() == 3.5f);
  CHECK(strings::to_number(constant({" 1e3 ", "+2", "-.5", "inf", "1e999", "-1e999", "1e-999"}), float64)
            .to_vector<double>() == std::vector<double>{1000, 2, -.5, INFINITY, INFINITY, -INFINITY, 0});
  const std::string zeros_400(400, '0');
  CHECK(strings::to_number(constant({"0." + zeros_400 + "1e5", "1" + zeros_400 + "e-5", "-1" + zeros_400 + "e-5",
                                     "-0." + zeros_400 + "1e5", "0." + zeros_400 + "1e999", "12345e-999"}),
                           float64)
            .to_vector<double>() == std::vector<double>{0, INFINITY, -INFINITY, -0., INFINITY, 0});
  CHECK(std::isnan(strings::to_number(constant("nan")).item<float>()));
  CHECK(strings::to_number(constant({"-128", "127"}), int8).to_vector<std::int8_t>() ==
        std::vector<std::int8_t>{-128, 127});
  CHECK(strings::to_number(constant("18446744073709551615"), uint64).item<u64>() == ~u64{0});
  CHECK(strings::to_number(constant("9223372036854775807"), int64).item<i64>() == std::numeric_limits<i64>::max());
  for (const char* bad : {"x", "", "1.5.2", "1 2", "0x", "--1", "+-1", "1,5"}) {
    CAPTURE(bad);
    CHECK_THAT(error_of([&] {
                 strings::to_number(constant({"1", bad}));
               }),
               ContainsSubstring("to_number: \"" + std::string(bad) + "\" is not a valid float32 (element 1)"));
  }
  CHECK_THAT(error_of([] { strings::to_number(constant("128"), int8); }),
             ContainsSubstring("\"128\" is not a valid int8"));
  CHECK_THAT(error_of([] { strings::to_number(constant("1.5"), int32); }), ContainsSubstring("is not a valid int32"));
  CHECK_THAT(error_of([] { strings::to_number(constant("-1"), uint8); }), ContainsSubstring("is not a valid uint8"));
  CHECK_THAT(error_of([] { strings::to_number(constant("1"), bool_); }), ContainsSubstring("cannot parse bool"));
}

TEST_CASE("as_string: printf's formats") {
  const Tensor x = constant({3.14159f, -2.f});
  CHECK(texts(strings::as_string(x)) == Texts{"3.141590", "-2.000000"});
  CHECK(texts(strings::as_string(x, {.precision = 2})) == Texts{"3.14", "-2.00"});
  CHECK(texts(strings::as_string(x, {.precision = 1, .scientific = true})) == Texts{"3.1e+00", "-2.0e+00"});
  CHECK(texts(strings::as_string(x, {.precision = 3, .shortest = true})) == Texts{"3.14", "-2"});
  CHECK(texts(strings::as_string(x, {.precision = 0, .width = 4})) == Texts{"   3", "  -2"});
  CHECK(texts(strings::as_string(x, {.precision = 0, .width = 4, .fill = "0"})) == Texts{"0003", "-002"});
  CHECK(texts(strings::as_string(x, {.precision = 0, .width = 4, .fill = "-"})) == Texts{"3   ", "-2  "});
  CHECK(texts(strings::as_string(constant({5, -7}), {.width = 3, .fill = "+"})) == Texts{" +5", " -7"});
  CHECK(texts(strings::as_string(constant({true, false}))) == Texts{"true", "false"});
  CHECK(text(strings::as_string(constant(std::numeric_limits<i64>::min()))) == "-9223372036854775808");
  CHECK(text(strings::as_string(cast(constant(200), uint8))) == "200");
  CHECK(text(strings::as_string(constant(std::complex<float>(1, -2)), {.precision = 1})) == "(1.0,-2.0)");
  CHECK(texts(strings::as_string(constant({INFINITY, -INFINITY, NAN}), {.width = 5, .fill = "0"})) ==
        Texts{"  inf", " -inf", "  nan"});
  CHECK(text(strings::as_string(cast(constant(1.5f), float16), {.precision = 1})) == "1.5");
  CHECK(text(strings::as_string(constant(1e300, float64), {.precision = 0})).size() == 301);
  CHECK_THAT(error_of([] { strings::as_string(constant(1), {.precision = 2}); }),
             ContainsSubstring("as_string: precision, scientific and shortest are for floating numbers, not int32"));
  CHECK_THAT(error_of([&] { strings::as_string(x, {.fill = "x"}); }), ContainsSubstring("fill is \"x\""));
  CHECK_THAT(error_of([&] { strings::as_string(x, {.precision = 1001}); }), ContainsSubstring("precision is 1001"));
  CHECK_THAT(error_of([&] { strings::as_string(x, {.scientific = true, .shortest = true}); }),
             ContainsSubstring("exclude"));
}

TEST_CASE("format: placeholders and tensors") {
  CHECK(text(strings::format("x = {}!", constant({1, 2, 3}))) == "x = [1, 2, 3]!");
  CHECK(text(strings::format("{} is {}", {constant("pi"), constant(3.5f)})) == "pi is 3.5");
  CHECK(text(strings::format("a%b%", {constant(1), constant(2)}, {.placeholder = "%"})) == "a1b2");
  CHECK(text(strings::format("none", std::vector<Tensor>{})) == "none");
  CHECK(text(strings::format("{}", range(100), {.summarize = 1})).size() < 20);
  CHECK_THAT(error_of([] { strings::format("{} {}", constant(1)); }),
             ContainsSubstring("format: the text \"{} {}\" has 2 placeholders for 1 tensors"));
  CHECK_THAT(error_of([] { strings::format("a", constant(1), {.placeholder = ""}); }),
             ContainsSubstring("placeholder is empty"));
}

TEST_CASE("to_hash_bucket: stable and spread") {
  // Computed by another program from the documented formula; other numbers would break saved models.
  CHECK(strings::impl::stable_hash("") == 0xefd01f60ba992926u);
  CHECK(strings::impl::stable_hash("tandem") == 0x0055fd64538ced97u);
  const Tensor x = strings::as_string(range(4000));
  const Longs bucket = strings::to_hash_bucket(x, 8).to_vector<i64>();
  std::vector<int> count(8);
  for (const i64 b : bucket) {
    REQUIRE((b >= 0 && b < 8));
    ++count[static_cast<std::size_t>(b)];
  }
  for (const int c : count) CHECK((c > 420 && c < 580));
  CHECK(strings::to_hash_bucket(x, 8).to_vector<i64>() == bucket);
  CHECK(strings::to_hash_bucket(constant({"a", "b"}), 1).to_vector<i64>() == Longs{0, 0});
  CHECK_THAT(error_of([&] { strings::to_hash_bucket(x, 0); }),
             ContainsSubstring("num_buckets must be at least 1, not 0"));
}

TEST_CASE("unicode: malformed UTF-8 is replaced by maximal subparts") {
  // As Python's bytes.decode("utf-8", "replace"): one for each maximal subpart.
  const i64 r = 0xfffd;
  const std::pair<std::string, std::vector<i64>> malformed[] = {{"a\xe2\x82"
                                                                 "b",
                                                                 {'a', r, 'b'}},
                                                                {"\xf0\x9f\x98", {r}},
                                                                {"\xf0\x9f\x98\xe2\x82", {r, r}},
                                                                {"\xed\xa0\x80", {r, r, r}},
                                                                {"\xf0\x80\x80"
                                                                 "A",
                                                                 {r, r, r, 'A'}},
                                                                {"\xc0\x80", {r, r}},
                                                                {"\xe2\x82\xac\xe2", {0x20ac, r}},
                                                                {"\xf4\x90\x80\x80", {r, r, r, r}},
                                                                {"\x80\xc3", {r, r}},
                                                                {"\xff\xfe", {r, r}},
                                                                {"\xe0\xa0", {r}},
                                                                {"\xe0\x80\x80", {r, r, r}},
                                                                {"\xf1\x80\x80\xe1\x80\xc2"
                                                                 "b\x80"
                                                                 "c\x80\xbf"
                                                                 "d",
                                                                 {r, r, r, 'b', r, 'c', r, r, 'd'}}};
  for (const auto& [text, points] : malformed) {
    const Tensor s = constant({text});
    CHECK(cast(strings::unicode_decode(s, strings::utf8).values, int64).to_vector<i64>() == points);
    CHECK(strings::length(s, {.unit = strings::utf8_char}).to_vector<std::int32_t>() ==
          Ints{static_cast<std::int32_t>(points.size())});
  }
}

TEST_CASE("unicode: code points and encodings") {
  const std::string euro = "\xe2\x82\xac", clef = "\xf0\x9d\x84\x9e";
  const Tensor x = constant({"a" + euro, "", clef});
  const auto points = strings::unicode_decode(x, strings::utf8);
  CHECK(points.values.to_vector<std::int32_t>() == Ints{'a', 0x20ac, 0x1d11e});
  CHECK(points.row_lengths.to_vector<i64>() == Longs{2, 0, 1});
  CHECK(texts(strings::unicode_encode(points.row_lengths, points.values, strings::utf8)) == texts(x));
  const Tensor wide = strings::unicode_transcode(x, strings::utf8, strings::utf16_be);
  CHECK(texts(wide) == Texts{std::string("\0a\x20\xac", 4), "", "\xd8\x34\xdd\x1e"});
  CHECK(texts(strings::unicode_transcode(wide, strings::utf16_be, strings::utf8)) == texts(x));
  const Tensor full = strings::unicode_transcode(x, strings::utf8, strings::utf32_be);
  CHECK(texts(full)[2] == std::string("\0\x01\xd1\x1e", 4));
  CHECK(texts(strings::unicode_transcode(full, strings::utf32_be, strings::utf8)) == texts(x));
  for (std::int32_t c : {0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff})
    for (const auto e : {strings::utf8, strings::utf16_be, strings::utf32_be}) {
      const Tensor s = strings::unicode_encode(constant({1}), constant({c}), e);
      CHECK(
          strings::unicode_decode(s, e, {.errors = strings::MalformedText::strict}).values.to_vector<std::int32_t>() ==
          Ints{c});
    }
  // Malformed: a lone byte, a half of a pair, half of a character.
  const Tensor bad = constant({"a\xff"
                               "b"}),
               half = constant({std::string("\xd8\x34\0a", 4)});
  CHECK(strings::unicode_decode(bad, strings::utf8).values.to_vector<std::int32_t>() == Ints{'a', 0xfffd, 'b'});
  CHECK(texts(strings::unicode_transcode(bad, strings::utf8, strings::utf8,
                                         {.errors = strings::MalformedText::ignore})) == Texts{"ab"});
  CHECK(strings::unicode_decode(half, strings::utf16_be, {.replacement_char = '?'}).values.to_vector<std::int32_t>() ==
        Ints{'?', 'a'});
  CHECK(strings::unicode_decode(constant({"abc"}), strings::utf32_be).values.to_vector<std::int32_t>() == Ints{0xfffd});
  CHECK_THAT(error_of([&] { strings::unicode_decode(bad, strings::utf8, {.errors = strings::MalformedText::strict}); }),
             ContainsSubstring("unicode_decode: malformed text at byte 1 of element 0"));
  CHECK(texts(strings::unicode_encode(constant({2}), constant({0xd800, 65}), strings::utf8)) == Texts{"\xef\xbf\xbd"
                                                                                                      "A"});
  CHECK_THAT(error_of([] { strings::unicode_encode(constant({2}), constant({65}), strings::utf8); }),
             ContainsSubstring("row length 2"));
  CHECK_THAT(error_of([] {
               strings::unicode_encode(constant({1}), constant({65, 66}), strings::utf8);
             }),
             ContainsSubstring("1 values are left"));
  CHECK_THAT(error_of([&] { strings::unicode_decode(x, strings::utf8, {.replacement_char = 0xd800}); }),
             ContainsSubstring("is not a code point"));
}

TEST_CASE("strings: traced functions give the same texts, also for unknown sizes") {
  const auto f = [](const Tensor& x) {
    const Tensor clean = strings::regex_replace(strings::lower(strings::strip(x)), "[^a-z ]", "");
    return std::vector<Tensor>{strings::split(clean).values, strings::length(clean), strings::ngrams(clean, 2),
                               strings::as_string(strings::to_hash_bucket(clean, 7)),
                               strings::join({clean, constant("!")})};
  };
  auto traced = function(f, {.input_signature = {TensorSpec({none}, string)}});
  for (const Tensor& x : {constant({" Hello, World ", "B"}), constant({"one", "two", "THREE 3"})}) {
    const std::vector<Tensor> want = f(x), have = traced(x);
    REQUIRE(have.size() == want.size());
    for (std::size_t i = 0; i < want.size(); ++i) {
      CHECK(have[i].shape() == want[i].shape());
      if (want[i].dtype() == string) CHECK(texts(have[i]) == texts(want[i]));
      else CHECK(have[i].to_vector<std::int32_t>() == want[i].to_vector<std::int32_t>());
    }
  }
  auto bad = function([](const Tensor& x) { return strings::regex_full_match(x, "("); });
  CHECK_THAT(error_of([&] { bad(constant({"a"})); }), ContainsSubstring("the pattern \"(\" is not valid"));
}

TEST_CASE("strings: many elements on several threads; the first error is raised") {
  constexpr i64 n = 20'000;
  const Tensor x = range(n), digits = strings::as_string(x);
  CHECK(strings::to_number(digits, int32).to_vector<std::int32_t>() == cast(x, int32).to_vector<std::int32_t>());
  const Tensor row = constant({"a", "b"}), column = reshape(digits, {n, 1});
  const Texts joined = texts(strings::join({column, row})), parts = texts(strings::substr(constant(joined), -1, 1));
  for (std::size_t i = 0; i < joined.size(); ++i) {
    REQUIRE(joined[i] == std::to_string(i / 2) + (i % 2 ? "b" : "a"));
    REQUIRE(parts[i] == (i % 2 ? "b" : "a"));
  }
  Texts bad = texts(digits);
  bad[7] = "x", bad[15'000] = "y";
  for (int k = 0; k < 5; ++k) {
    CHECK_THAT(error_of([&] { strings::to_number(constant(bad), int32); }),
               ContainsSubstring("\"x\" is not a valid int32 (element 7)"));
    CHECK_THAT(error_of([&] { strings::substr(digits, 2, 1); }),
               ContainsSubstring("position 2 is out of range for \"0\""));
  }
}

TEST_CASE("strings: gradients stop and name the op") {
  const Tensor x = constant({1.5f, 2.f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = strings::to_number(strings::as_string(x));
  CHECK_THROWS_AS(tape.gradient(y, x).size(), errors::FailedPreconditionError);
}
