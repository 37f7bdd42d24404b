// layers::StringLookup.
#include "tandem/strings/lookup_layer.hpp"

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

using namespace tandem;
using Catch::Matchers::ContainsSubstring;

TEST_CASE("StringLookup: ids of a vocabulary, and back") {
  const layers::StringLookup lookup({"a", "b", "c"});
  const Tensor x = constant(std::vector<std::string>{"b", "d", "a", "c"}, {.shape = Shape{2, 2}});
  CHECK(lookup(x).to_vector<i64>() == std::vector<i64>{2, 0, 1, 3});
  CHECK(lookup(x).shape() == Shape{2, 2});
  CHECK(lookup.vocabulary_size() == 4);
  const auto f = function([&](const Tensor& t) { return lookup(t); });
  CHECK(f(x).to_vector<i64>() == std::vector<i64>{2, 0, 1, 3});
  const layers::StringLookup back({"a", "b", "c"}, {.oov_token = "?", .invert = true});
  CHECK(back(lookup(x)).to_vector<std::string>() == std::vector<std::string>{"b", "?", "a", "c"});
  const layers::StringLookup several({"a", "b"}, {.num_oov_indices = 3});
  const std::vector<i64> ids = several(x).to_vector<i64>();
  CHECK(ids[0] == 4);
  CHECK(ids[2] == 3);
  CHECK((ids[1] >= 0 && ids[1] < 3));
  const layers::StringLookup strict({"a", "b", "c"}, {.num_oov_indices = 0});
  CHECK(strict(constant("c")).item<i64>() == 2);
  CHECK_THROWS_WITH(strict(x), ContainsSubstring("StringLookup") && ContainsSubstring("3"));
  CHECK_THROWS_WITH(layers::StringLookup(std::vector<std::string>{}),
                    ContainsSubstring("StringLookup: the vocabulary is empty"));
  CHECK_THROWS_WITH(layers::StringLookup({"a", "a"}), ContainsSubstring("\"a\" occurs twice"));
  CHECK_THROWS_AS(lookup(constant(1)), errors::InvalidArgumentError);
}

TEST_CASE("StringLookup: adapts, with Keras' example; limits; modes") {
  using Words = std::vector<std::string>;
  const Tensor data = constant(Words{"a", "c", "d", "d", "z", "b"}, {.shape = Shape{2, 3}});
  const layers::StringLookup lookup;
  CHECK_THROWS_WITH(lookup(data), ContainsSubstring("adapt"));
  const layers::StringLookup copy = lookup;
  lookup.adapt(data);
  CHECK(copy.get_vocabulary() == Words{"[UNK]", "d", "z", "c", "b", "a"});
  CHECK(lookup(data).to_vector<i64>() == std::vector<i64>{5, 3, 1, 1, 2, 4});
  const auto f = function([&](const Tensor& t) { return lookup(t); });
  CHECK(f(data).to_vector<i64>() == lookup(data).to_vector<i64>());
  const layers::StringLookup two({.max_tokens = 3, .output_mode = layers::OutputMode::multi_hot});
  two.adapt(data);
  CHECK(two.vocabulary_size() == 3);
  CHECK(two(data).to_vector<float>() == std::vector<float>{1, 1, 0, 1, 1, 1});
  const layers::StringLookup rows({"a", "b"}, {.output_mode = layers::OutputMode::one_hot});
  CHECK(rows(constant(Words{"b", "x"})).to_vector<float>() == std::vector<float>{0, 0, 1, 1, 0, 0});
  const layers::StringLookup counts({"d"}, {.num_oov_indices = 0, .output_mode = layers::OutputMode::count});
  CHECK(counts(constant(Words{"d", "d"})).to_vector<float>() == std::vector<float>{2});
  const layers::StringLookup back({.oov_token = "a", .invert = true});
  back.adapt(data);
  CHECK(back(constant({0, 1})).to_vector<std::string>() == Words{"a", "d"});
  CHECK(back.vocabulary_size() == 5);
  CHECK_THROWS_AS(rows.adapt(data), errors::FailedPreconditionError);
  CHECK_THROWS_WITH(lookup.adapt(constant({1})), ContainsSubstring("string"));
  CHECK_THROWS_WITH(lookup.adapt(zeros({0}, {.dtype = DType::string})), ContainsSubstring("empty"));
  CHECK_THROWS_WITH(layers::StringLookup({"a", "b"}, {.max_tokens = 2}), ContainsSubstring("max_tokens"));
  CHECK_THROWS_WITH(layers::StringLookup({"a"}, {.invert = true, .output_mode = layers::OutputMode::count}),
                    ContainsSubstring("invert"));
}

TEST_CASE("StringLookup: a mask has the id 0, unknown strings have the next ones") {
  using Words = std::vector<std::string>;
  const layers::StringLookup lookup({.mask_token = ""});
  lookup.adapt(constant(Words{"", "", "", "b", "b", "a"}));
  CHECK(lookup.get_vocabulary() == Words{"", "[UNK]", "b", "a"});
  CHECK(lookup(constant(Words{"a", "", "x", "b"})).to_vector<i64>() == std::vector<i64>{3, 0, 1, 2});
  const layers::StringLookup back({"b", "a"}, {.mask_token = "", .invert = true});
  CHECK(back(constant({0, 1, 2, 3})).to_vector<std::string>() == Words{"", "[UNK]", "b", "a"});
  const layers::StringLookup several({"b", "a"}, {.num_oov_indices = 3, .mask_token = ""});
  for (const i64 id : several(constant(Words{"x", "y", "z", "w"})).to_vector<i64>()) CHECK((id >= 1 && id <= 3));
  CHECK(several(constant(Words{"", "b", "a"})).to_vector<i64>() == std::vector<i64>{0, 4, 5});
  const layers::StringLookup strict({"b"}, {.num_oov_indices = 0, .mask_token = ""});
  CHECK(strict(constant(Words{"b", ""})).to_vector<i64>() == std::vector<i64>{1, 0});
  CHECK_THROWS_AS(strict(constant(Words{"x"})), errors::InvalidArgumentError);
  const layers::StringLookup wide(
      {"b"}, {.max_tokens = 4, .output_mode = layers::OutputMode::one_hot, .pad_to_max_tokens = true});
  CHECK(wide(constant(Words{"b"})).to_vector<float>() == std::vector<float>{0, 1, 0, 0});
  CHECK_THROWS_WITH(layers::StringLookup({"", "b"}, {.mask_token = ""}), ContainsSubstring("mask_token \"\" at 0"));
}

TEST_CASE("StringLookup: get_vocabulary() is a vocabulary; special tokens at other places raise") {
  using Words = std::vector<std::string>;
  const Tensor x = constant(Words{"b", "", "a", "[UNK]", "x"});
  const auto again = [&](const layers::StringLookupOptions& o) {
    const layers::StringLookup lookup({"a", "b"}, o), other(lookup.get_vocabulary(), o);
    CHECK(other.get_vocabulary() == lookup.get_vocabulary());
    if (o.invert) CHECK(other(constant({0, 2})).to_vector<std::string>() == Words{lookup.get_vocabulary()[0], "a"});
    else CHECK(other(x).to_vector<i64>() == lookup(x).to_vector<i64>());
  };
  again({});
  again({.mask_token = ""});
  again({.num_oov_indices = 3, .mask_token = "", .oov_token = "?"});
  again({.mask_token = "", .invert = true});
  const auto refuses = [](const Words& words, const layers::StringLookupOptions& o, const std::string& what) {
    CHECK_THROWS_WITH(layers::StringLookup(words, o),
                      ContainsSubstring("StringLookup: the vocabulary has the " + what));
  };
  refuses({"[UNK]", "", "a"}, {.mask_token = ""}, "mask_token \"\" at 1");
  refuses({"", "[UNK]", "a", ""}, {.mask_token = ""}, "mask_token \"\" at 3");
  refuses({"", "[UNK]", "[UNK]", "a"}, {.mask_token = "", .invert = true}, "oov_token \"[UNK]\" at 2");
  refuses({"a", "[UNK]"}, {.invert = true}, "oov_token \"[UNK]\" at 1");
  CHECK(layers::StringLookup({"a", "[UNK]"})(x).to_vector<i64>() == std::vector<i64>{0, 0, 1, 2, 0});  // as in Keras
}

TEST_CASE("StringLookup: a traced function sees the vocabulary of a later adapt()") {
  using Words = std::vector<std::string>;
  const layers::StringLookup lookup, back({.invert = true});
  const Tensor x = constant(Words{"a", "b"});
  lookup.adapt(constant("a")), back.adapt(constant("a"));
  const auto f = function([&](const Tensor& t) { return back(lookup(t)); });
  CHECK(f(x).to_vector<std::string>() == Words{"a", "[UNK]"});
  lookup.adapt(constant("b"));
  CHECK(f(x).to_vector<std::string>() == Words{"[UNK]", "a"});
  back.adapt(constant("b"));
  CHECK(f(x).to_vector<std::string>() == Words{"[UNK]", "b"});
  CHECK(f.trace_count() == 3);
}

TEST_CASE("StringLookup: adapts to strings that come one after another") {
  using Words = std::vector<std::string>;
  const layers::StringLookup whole({.max_tokens = 3}), texts({.max_tokens = 3}), batches({.max_tokens = 3});
  const Words words{"b", "a", "c", "c", "a", "d", "c"};
  whole.adapt(constant(words));
  texts.adapt(words);
  batches.adapt(std::vector<Tensor>{constant(Words{"b", "a", "c"}), constant("c"), constant(Words{"a", "d", "c"})});
  CHECK(whole.get_vocabulary() == Words{"[UNK]", "c", "a"});
  CHECK(texts.get_vocabulary() == whole.get_vocabulary());
  CHECK(batches.get_vocabulary() == whole.get_vocabulary());
  CHECK_THROWS_WITH(texts.adapt(Words{}), ContainsSubstring("StringLookup: cannot adapt to empty data"));
  CHECK_THROWS_WITH(texts.adapt(std::vector<int>{1}), ContainsSubstring("must be string"));
}
