// transformer_lm: a small transformer that writes text, a character at a time.
//   transformer_lm                     on the licence texts of a Debian machine
//   transformer_lm --data FILE         on a text file, or on the files of a folder
// It keeps its run in a folder. Stopped, the same command goes on from it; once trained, it only writes.
#include <fmt/core.h>
#include <cmath>
#include <cstdio>
#include <numbers>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/characters.hpp"
#include "examples/support/data_name.hpp"
#include "examples/support/training.hpp"

using namespace tandem;

namespace {

struct Options : training::Options {
  std::string start = "The ";
  i64 layers = 2, width = 128, heads = 4, window = 64, characters = 400;
  double learning_rate = 3e-3, dropout = 0.1, temperature = 0.7;
};

// Predicts each character from those before it in the window.
struct Transformer : Model<Transformer> {
  layers::Embedding characters;
  layers::PositionEmbedding positions;
  layers::Sequential blocks;
  layers::LayerNormalization norm;
  layers::Dense dense;

  Transformer(i64 vocabulary, const Options& o)
      : characters(vocabulary, o.width), positions(o.window), dense(vocabulary) {
    for (i64 i = 0; i < o.layers; ++i)
      blocks.add(layers::TransformerBlock(
          4 * o.width, o.heads,
          {.dropout = o.dropout, .activation = nn::gelu, .normalize_first = true, .use_causal_mask = true}));
  }
  /// ids: int32 [batch, time]. Returns the logits of the character behind each one, [batch, time, vocabulary].
  Tensor operator()(const Tensor& ids) const {
    const Tensor x = characters(ids);
    return dense(norm(blocks(x + positions(x))));
  }
};

// Cuts a text into windows of `length` characters, one every `stride`: int32 [n, length].
Tensor windows(const std::vector<std::int32_t>& text, i64 length, i64 stride) {
  if (std::ssize(text) < length)
    throw std::runtime_error("the text, or its held-out last twentieth, has fewer characters than a window");
  const i64 n = (std::ssize(text) - length) / stride + 1;
  return gather(constant(text), expand_dims(range(n) * stride, 1) + range(length));
}
// The cross entropy of each character of windows [n, length] but the first, in bits: [n, length - 1].
Tensor bits_of(const Transformer& model, const Tensor& windows) {
  const Tensor logits = model(windows(Ellipsis, Slice(0, -1)));
  return nn::sparse_softmax_cross_entropy_with_logits(windows(Ellipsis, Slice(1, none)), logits) / std::numbers::ln2;
}
// The mean of a text. Each character is predicted from at least half a window of those before it.
double bits_a_character(const Transformer& model, const std::vector<std::int32_t>& text, i64 window) {
  const i64 seen = window / 2;
  const metrics::Mean bits;
  const auto batches = data::from_tensor_slices(windows(text, window + 1, window - seen)).batch(64);
  for (const Tensor& batch : batches.epoch(0)) bits.update_state(bits_of(model, batch)(Ellipsis, Slice(seen, none)));
  return bits.result().item<double>();
}

// Continues a text: draws a character, appends it, and reads the last window again.
void write(const Transformer& model, const Vocabulary& vocabulary, const Options& o) {
  std::vector<std::int32_t> text = vocabulary.encode(o.start);
  random::set_seed(o.seed);
  for (const std::int32_t id : text) fmt::print("{}", vocabulary[id]);
  for (i64 i = 0; i < o.characters; ++i) {
    const std::vector<std::int32_t> last(text.end() - std::min(o.window, std::ssize(text)), text.end());
    const Tensor logits = model(expand_dims(constant(last), 0))(0, -1);
    text.push_back(cast(random::sample_with_temperature(logits, o.temperature), int32).item<std::int32_t>());
    fmt::print("{}", vocabulary[text.back()]);
    std::fflush(stdout);
  }
  fmt::print("\n");
}

// A linear warm-up, then half a wave of a cosine.
optimizers::AdamW optimizer(const Options& o) {
  const double steps = static_cast<double>(o.epochs * o.steps_per_epoch), warm_up = std::min(100., steps / 10);
  const optimizers::schedules::CosineDecay rate(
      0, steps - warm_up, {.alpha = 0.05, .warmup_target = o.learning_rate, .warmup_steps = warm_up});
  return optimizers::AdamW({.learning_rate = rate, .weight_decay = 0.01, .global_clipnorm = 1});
}
int learn(const Options& o) {
  const std::string all = read_corpus(o.data);
  const std::string_view text = std::string_view(all).substr(0, all.size() - all.size() / 20);
  const Vocabulary vocabulary = Vocabulary::of(text);
  const std::vector<std::int32_t> held_out = vocabulary.encode(std::string_view(all).substr(text.size()));
  const auto batches = data::from_tensor_slices(windows(vocabulary.encode(text), o.window + 1, o.window))
                           .shuffle({.seed = o.seed})
                           .batch(o.batch);
  windows(held_out, o.window + 1, o.window + 1);  // raises before training if they are too few
  if (vocabulary.encode(o.start).empty())
    throw std::runtime_error("--start: none of its characters is known to the model");

  random::set_seed(o.seed);  // of the initial weights and of dropout
  const Transformer model(vocabulary.size(), o);
  model(zeros({1, 1}, int32));  // makes the weights
  fmt::print("{}\n", model.summary());

  const optimizers::AdamW adam = optimizer(o);
  train::Trainer trainer({{"model", model}, {"optimizer", adam}}, [&](const Tensor& windows) -> train::Outputs {
    return {{"bits a character",
             adam.minimize([&] { return reduce_mean(bits_of(model, windows)); }, model.trainable_variables())}};
  });
  const train::Metadata settings{{"program", "transformer_lm"},
                                 {"data", data_setting(o.data, data::fingerprint(all))},
                                 {"epochs", std::to_string(o.epochs)},
                                 {"window", std::to_string(o.window)},
                                 {"layers", std::to_string(o.layers)},
                                 {"heads", std::to_string(o.heads)},
                                 {"width", std::to_string(o.width)},
                                 {"learning_rate", training::setting(o.learning_rate)},
                                 {"dropout", training::setting(o.dropout)}};
  const train::History history = trainer.fit(batches, training::fit_options(o, settings));
  if (history.exit_status) return training::interrupted(history, o.run);
  const double held_out_bits = bits_a_character(model, held_out, o.window);
  fmt::print("held out: {:.3f} bits a character, perplexity {:.2f}. At temperature {:g} it writes:\n\n", held_out_bits,
             std::exp2(held_out_bits), o.temperature);
  write(model, vocabulary, o);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.data = "/usr/share/common-licenses", o.run = "transformer_lm_run";
  o.epochs = 20, o.steps_per_epoch = 100, o.batch = 16;
  CLI::App app("A small transformer that writes text, a character at a time.");
  training::add_options(app, o, "a text file, plain or compressed by gzip, or a folder of them", "windows");
  const auto add = [&](const char* name, auto& value, const CLI::Validator& check, const char* what) {
    app.add_option(name, value, what)->check(check)->capture_default_str();
  };
  const CLI::Validator count = arguments::whole_number(1);
  add("--layers", o.layers, count, "blocks of attention and dense layers");
  add("--width", o.width, count, "numbers a character, a multiple of --heads");
  add("--heads", o.heads, count, "of attention");
  add("--window", o.window, count, "characters that the model sees");
  add("--dropout", o.dropout, arguments::number_in(0, 1), "share of activations dropped in training");
  add("--learning-rate", o.learning_rate, arguments::positive_number(), "after the warm-up; then a cosine decay");
  add("--temperature", o.temperature, arguments::number_in(0, 1e6), "of what it writes; 0: always the likeliest");
  add("--characters", o.characters, arguments::whole_number(0), "how many it writes");
  app.add_option("--start", o.start, "what the written text begins with")->capture_default_str();
  return program::run("transformer_lm", app, argc, argv, o, learn);
}
