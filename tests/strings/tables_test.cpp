// The promise about string tensors and tables, with its numbers.
#include "tandem/strings.hpp"
#include "tandem/tandem.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/errors.hpp"

namespace features_strings {

using namespace tandem;
using Strings = std::vector<std::string>;

TEST_CASE("strings and tables") {
  CHECK((constant({"a", "b"}) == constant({"a", "c"})).to_vector<bool>() == std::vector<bool>{true, false});
  const Tensor names =
      lookup::index_to_string(constant({0, 2, 9}), constant({"a", "b", "c"}), {.default_value = "UNK"});
  CHECK(names.to_vector<std::string>() == Strings{"a", "c", "UNK"});
  CHECK(strings::to_number(constant("3.5")).item<float>() == 3.5f);
  CHECK_THAT(testing::error_of([] { strings::to_number(constant("x")); }),
             ContainsSubstring("to_number: \"x\" is not a valid float32 (element 0)"));
  CHECK(strings::join({constant({"a", "b"}), constant({"c", "d"})}, {.separator = "-"}).to_vector<std::string>() ==
        Strings{"a-c", "b-d"});
  CHECK(strings::lower(constant("HeLLo")).item<std::string>() == "hello");
  CHECK(strings::upper(constant("HeLLo")).item<std::string>() == "HELLO");
  CHECK(strings::substr(constant("hello"), 1, 3).item<std::string>() == "ell");
  CHECK_THROWS_AS(strings::substr(constant("hello"), 6, 1), errors::InvalidArgumentError);
  CHECK(strings::regex_replace(constant("a1b22"), "[0-9]+", "#").item<std::string>() == "a#b#");
  const lookup::StaticHashTable table(constant({"x", "y"}), constant({1, 2}), constant(-1));
  CHECK(table.lookup(constant({"y", "z"})).to_vector<std::int32_t>() == std::vector<std::int32_t>{2, -1});
}

}  // namespace features_strings
