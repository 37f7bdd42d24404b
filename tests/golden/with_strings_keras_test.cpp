// layers::TextVectorization against Keras 3, with the options of make_keras.py. StringLookup has Keras' examples in
// tests/strings.
#include <algorithm>

#include "tandem/graph/trace/function.hpp"
#include "tandem/ops/all.hpp"
#include "tandem/strings.hpp"
#include "tests/golden/golden.hpp"

namespace keras_strings_golden_test {

using namespace ::golden;
using layers::Standardize, layers::TextOutput, layers::TextSplit, layers::TextVectorizationOptions;

TEST_CASE("Keras 3: TextVectorization") {
  const std::vector<TextVectorizationOptions> options{
      {},
      {.output_sequence_length = 3},
      {.output_sequence_length = 9},
      {.output_mode = TextOutput::multi_hot},
      {.output_mode = TextOutput::count},
      {.output_mode = TextOutput::tf_idf},
      {.ngrams = {1, 2}},
      {.ngrams = {2}, .output_mode = TextOutput::count},
      {.standardize = Standardize::lower, .split = TextSplit::character},
      {.max_tokens = 4},
      {.max_tokens = 4, .output_mode = TextOutput::count},
      {.standardize = Standardize::none},
      {.standardize = Standardize::strip_punctuation},
      {.max_tokens = 12, .output_mode = TextOutput::tf_idf, .pad_to_max_tokens = true}};
  const std::vector<std::string> data{"The cat, the dog!", "a dog; a CAT  and a bird.", "", "bird"};
  const Tensor texts = constant(std::vector<std::string>{data[1], data[0], data[3], data[2]});
  const auto cases = ::golden::detail::load("keras_strings");
  const auto has_text = [](const auto& named) { return named.first.rfind("layer.TextVectorization", 0) == 0; };
  CHECK(std::count_if(cases.begin(), cases.end(), has_text) == static_cast<std::ptrdiff_t>(options.size()));
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string name = "layer.TextVectorization:" + std::to_string(i);
    const layers::TextVectorization whole(options[i]), one_by_one(options[i]);
    whole.adapt(constant(data));
    one_by_one.adapt(data);
    ::golden::detail::compare(name, whole(texts), cases.at(name).y[0], Of::largest, 2e-7);
    CHECK(whole.get_vocabulary() == one_by_one.get_vocabulary());
    ::golden::detail::compare(name + ", one by one", one_by_one(texts), cases.at(name).y[0], Of::largest, 2e-7);
    const auto traced =
        function([&](const Tensor& x) { return whole(x); }, {.input_signature = {TensorSpec({none}, DType::string)}});
    ::golden::detail::compare(name + ", traced", traced(texts), cases.at(name).y[0], Of::largest, 2e-7);
  }
}

}  // namespace keras_strings_golden_test
