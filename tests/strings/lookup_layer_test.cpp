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
  CHECK_THROWS_WITH(layers::StringLookup({}), ContainsSubstring("StringLookup: the vocabulary is empty"));
  CHECK_THROWS_WITH(layers::StringLookup({"a", "a"}), ContainsSubstring("\"a\" occurs twice"));
  CHECK_THROWS_AS(lookup(constant(1)), errors::InvalidArgumentError);
}
