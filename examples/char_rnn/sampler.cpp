#include "sampler.hpp"

#include <stdexcept>

using namespace tandem;

void sample(const CharRnn& model, const Vocabulary& vocabulary, const SampleOptions& options,
            const std::function<void(char)>& write) {
  const std::vector<std::int32_t> start = vocabulary.encode(options.start);
  if (start.empty()) throw std::runtime_error("--start: none of its characters is known to the model");
  random::set_seed(options.seed);
  State state;
  Tensor logits;
  for (std::int32_t id : start) {
    write(vocabulary[id]);
    logits = model(constant(std::vector<std::int32_t>{id}, {.shape = {1, 1}}), state);
  }
  for (std::int64_t i = 0; i < options.characters; ++i) {
    const Tensor log_p = nn::log_softmax(reshape(logits, {1, vocabulary.size()}));
    const Tensor id = random::sample_with_temperature(log_p, options.temperature);
    write(vocabulary[cast(id, int64).item<std::int64_t>()]);
    logits = model(reshape(cast(id, int32), {1, 1}), state);
  }
}
