// layers::TextVectorization: modes, options, edges, traces, checkpoints, errors. Keras' numbers are in
// tests/golden/with_strings_keras_test.cpp.
#include "tandem/strings/text_vectorization.hpp"

#include <cmath>

#include "tandem/graph/trace/function.hpp"
#include "tandem/module/model.hpp"
#include "tandem/ops/all.hpp"
#include "tests/support/catch.hpp"

namespace text_vectorization_test {
using namespace tandem;
using Catch::Matchers::ContainsSubstring;
using layers::TextOutput, layers::TextSplit, layers::TextVectorization;
using Words = std::vector<std::string>;
using Ids = std::vector<i64>;

Tensor texts(const Words& words) { return constant(words, {.shape = Shape{static_cast<i64>(words.size())}}); }

TEST_CASE("TextVectorization: a given vocabulary; ids, counts, n-grams, characters, tokens") {
  const TextVectorization ids({"cat", "dog"});
  const Tensor x = texts({"A dog, a CAT!", "cat"});
  const Tensor y = ids(x);
  CHECK(y.shape() == Shape{2, 4});
  CHECK(y.dtype() == int64);
  CHECK(y.to_vector<i64>() == Ids{1, 3, 1, 2, 2, 0, 0, 0});
  CHECK(ids(expand_dims(x, -1)).to_vector<i64>() == y.to_vector<i64>());
  CHECK(ids.get_vocabulary() == Words{"", "[UNK]", "cat", "dog"});
  CHECK(ids.vocabulary_size() == 4);
  const TextVectorization counts({"cat", "dog"}, {.output_mode = TextOutput::count, .dtype = float64});
  CHECK(counts(x).to_vector<double>() == std::vector<double>{2, 1, 1, 0, 1, 0});
  CHECK(counts.get_vocabulary() == Words{"[UNK]", "cat", "dog"});
  const TextVectorization weighted({"cat", "dog"}, {.output_mode = TextOutput::tf_idf, .idf_weights = {.5, 1.5}});
  CHECK(weighted(x).to_vector<float>() == std::vector<float>{2, .5f, 1.5f, 0, .5f, 0});
  const TextVectorization grams({"a dog", "dog a"}, {.ngrams = {2, 3}});
  CHECK(grams(x).to_vector<i64>() == Ids{2, 3, 1, 1, 1, 0, 0, 0, 0, 0});
  const TextVectorization characters({"\xc3\xa4", "b"}, {.split = TextSplit::character});
  CHECK(characters(texts({"B\xc3\xa4", "c"})).to_vector<i64>() == Ids{3, 2, 1, 0});
  const TextVectorization tokens({"b", "a"}, {.split = TextSplit::none, .output_mode = TextOutput::multi_hot});
  CHECK(tokens(constant({{"A", "a"}, {"", "x"}})).to_vector<float>() == std::vector<float>{0, 0, 1, 1, 0, 0});
  CHECK(TextVectorization({"b", "a"}, {.split = TextSplit::none})(texts({"a", "c"})).to_vector<i64>() == Ids{3, 1});
}
TEST_CASE("TextVectorization: empty texts and batches, traces of unknown batches, a later adapt()") {
  const TextVectorization ids({"cat"});
  CHECK(ids(texts({"", "  "})).shape() == Shape{2, 0});
  CHECK(ids(texts({})).shape() == Shape{0, 0});
  const TextVectorization fixed({"cat"}, {.output_sequence_length = 2});
  CHECK(fixed(texts({})).shape() == Shape{0, 2});
  CHECK(fixed(texts({"", "cat cat cat"})).to_vector<i64>() == Ids{0, 0, 2, 2});
  const TextVectorization counts({"cat"}, {.ngrams = {3}, .output_mode = TextOutput::count});
  CHECK(counts(texts({"", "a cat"})).to_vector<float>() == std::vector<float>{0, 0, 0, 0});
  const TextVectorization learned({.output_mode = TextOutput::tf_idf});
  learned.adapt(texts({"a a b", "a"}));
  const auto f =
      function([&](const Tensor& x) { return learned(x); }, {.input_signature = {TensorSpec({none}, DType::string)}});
  const Tensor x = texts({"b a", "c"});
  CHECK(f(x).to_vector<float>() == learned(x).to_vector<float>());
  CHECK(learned(x).to_vector<float>()[1] == Approx(std::log(1 + 2. / 3)));
  learned.adapt(Words{"c", "c b"});
  CHECK(learned.get_vocabulary() == Words{"[UNK]", "c", "b"});
  CHECK(f(x).to_vector<float>() == learned(x).to_vector<float>());
  CHECK(f.trace_count() == 2);
}
TEST_CASE("TextVectorization: assets have the vocabulary and the weights; clones have their own") {
  struct Net : Model<Net> {
    TextVectorization text{{.output_mode = TextOutput::tf_idf}};
    Tensor operator()(const Tensor& x) const { return text(x); }
  };
  const Net net;
  net.text.adapt(texts({"a b", "a"}));
  const auto assets = net.named_assets();
  REQUIRE(assets.size() == 2);
  const Net other;
  const auto own = other.named_assets();
  for (std::size_t i = 0; i < 2; ++i) {
    std::vector<Tensor> values;
    for (const Asset::Part& part : assets[i].asset->parts()) values.push_back(part.value);
    Module::replace(own[i], own[i].asset->with(values));
  }
  const Tensor x = texts({"b b", "c"});
  CHECK(other(x).to_vector<float>() == net(x).to_vector<float>());
  const Net half;  // the vocabulary of a layer of another mode, which has no weights
  Module::replace(half.named_assets()[0], half.named_assets()[0].asset->with({assets[0].asset->parts()[0].value}));
  CHECK_THROWS_WITH(half(x), ContainsSubstring("TextVectorization: has no weights"));
  const Net copy = net.clone();
  net.text.adapt(texts({"c"}));
  CHECK(copy.text.get_vocabulary() == Words{"[UNK]", "a", "b"});
  CHECK_THROWS_WITH(own[0].asset->with({constant({1, 2})}), ContainsSubstring("TextVectorization: needs a list of"));
}
TEST_CASE("TextVectorization: get_vocabulary() is a vocabulary, also with the weight of unknown tokens") {
  const Tensor x = texts({"dog cat x cat", "", "[UNK]"});
  const TextVectorization ids({"cat", "dog"}), same(ids.get_vocabulary());
  CHECK(same.get_vocabulary() == Words{"", "[UNK]", "cat", "dog"});
  CHECK(same(x).to_vector<i64>() == ids(x).to_vector<i64>());
  TextVectorization learned({.output_mode = TextOutput::tf_idf});
  learned.adapt(x);
  const Words words = learned.get_vocabulary();
  const TextVectorization given(words, {.output_mode = TextOutput::tf_idf, .idf_weights = {.25, 2, 3, 4, 5}});
  REQUIRE(words == Words{"[UNK]", "cat", "x", "unk", "dog"});
  CHECK(given.get_vocabulary() == words);
  CHECK(given(texts({"y y x", "dog"})).to_vector<float>() == std::vector<float>{.5f, 0, 3, 0, 0, 0, 0, 0, 0, 5});
  CHECK_THROWS_WITH(TextVectorization({"cat", ""}),
                    ContainsSubstring("TextVectorization: the vocabulary has the mask") &&
                        ContainsSubstring("omit the special tokens"));
  CHECK_THROWS_WITH(TextVectorization(words, {.output_mode = TextOutput::tf_idf, .idf_weights = {2, 3, 4, 5}}),
                    ContainsSubstring("4 idf_weights for a vocabulary of 5"));
}
TEST_CASE("TextVectorization: errors") {
  const TextVectorization ids({"cat"}), learned;
  CHECK_THROWS_WITH(learned(texts({"a"})), ContainsSubstring("TextVectorization: has no vocabulary"));
  CHECK_THROWS_WITH(learned.adapt(texts({"", " "})),
                    ContainsSubstring("TextVectorization: cannot adapt to empty data"));
  CHECK_THROWS_AS(ids.adapt(texts({"a"})), errors::FailedPreconditionError);
  CHECK_THROWS_WITH(ids(constant({1})), ContainsSubstring("needs string [batch] or [batch, 1], not int32[1]"));
  CHECK_THROWS_WITH(ids(constant({{"a", "b"}})), ContainsSubstring("needs string"));
  CHECK_THROWS_WITH(TextVectorization({"a", "a"}), ContainsSubstring("occurs twice"));
  CHECK_THROWS_WITH(TextVectorization(Words{}), ContainsSubstring("TextVectorization: the vocabulary is empty"));
  CHECK_THROWS_WITH(TextVectorization({.ngrams = {0}}), ContainsSubstring("a width of ngrams is below 1"));
  CHECK_THROWS_WITH(TextVectorization({.output_mode = TextOutput::count, .output_sequence_length = 2}),
                    ContainsSubstring(".output_sequence_length needs TextOutput::integer"));
  CHECK_THROWS_WITH(TextVectorization({.max_tokens = 2}), ContainsSubstring("max_tokens"));
  CHECK_THROWS_WITH(TextVectorization({"a", "b"}, {.max_tokens = 3}), ContainsSubstring("max_tokens"));
  CHECK_THROWS_WITH(TextVectorization({"a"}, {.output_mode = TextOutput::tf_idf}), ContainsSubstring("0 idf_weights"));
  CHECK_THROWS_WITH(TextVectorization({"a"}, {.idf_weights = {1}}), ContainsSubstring(".idf_weights needs"));
  CHECK_THROWS_WITH(TextVectorization({.pad_to_max_tokens = true}), ContainsSubstring("pad_to_max_tokens"));
  const auto refuses = [](TextOutput mode, DType dtype, const std::string& what) {
    CHECK_THROWS_WITH(TextVectorization({.output_mode = mode, .dtype = dtype}),
                      ContainsSubstring("TextVectorization: ") && ContainsSubstring(what));
  };
  for (const DType dtype : {float64, int32, bool_, DType::string}) refuses(TextOutput::integer, dtype, "ids are int64");
  for (const DType dtype : {bool_, complex64, DType::string}) {
    refuses(TextOutput::count, dtype, ".dtype must be that of real numbers");
    refuses(TextOutput::multi_hot, dtype, ".dtype must be that of real numbers");
  }
  refuses(TextOutput::tf_idf, int64, ".dtype of TextOutput::tf_idf must be floating, not int64");
  CHECK(TextVectorization({"cat"}, {.dtype = int64})(texts({"cat"})).dtype() == int64);
  CHECK(TextVectorization({"cat"}, {.output_mode = TextOutput::count, .dtype = int32})(texts({"cat cat"}))
            .to_vector<std::int32_t>() == std::vector<std::int32_t>{0, 2});
}
}  // namespace text_vectorization_test
