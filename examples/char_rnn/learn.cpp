#include "learn.hpp"

#include <fmt/core.h>
#include <tandem/data.hpp>
#include <tandem/train.hpp>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "description.hpp"
#include "examples/support/data_name.hpp"
#include "examples/support/workers.hpp"

using namespace tandem;

namespace {

// The model on windows [batch, window], whose rows the processes of a strategy divide. Logits: [window, batch,
// vocabulary].
struct OfWindows : CharRnn {
  using CharRnn::CharRnn;
  Tensor operator()(const Tensor& windows) const { return CharRnn::operator()(transpose(windows)); }
};
// Labels: [batch, window].
Tensor loss_of_windows(const Tensor& labels, const Tensor& logits) {
  return nn::sparse_softmax_cross_entropy_with_logits(transpose(labels), logits);
}

// Batches of windows that overlap by half, and of what follows each character of them: two int32 [batch, window]. Of
// several processes, each makes its own rows of a batch.
data::Dataset<std::pair<Tensor, Tensor>> batches_of(const std::vector<std::int32_t>& text, const TrainOptions& o,
                                                    const distribute::MultiWorkerMirroredStrategy& strategy) {
  const i64 stride = std::max<i64>(1, o.window / 2), n = (std::ssize(text) - o.window - 1) / stride + 1;
  if (std::ssize(text) < o.window + 1)
    throw std::runtime_error(fmt::format("corpus: {} characters to train on are fewer than a window of {} and one more",
                                         text.size(), o.window));
  const auto numbers = data::range(n).shuffle({.seed = o.seed}).batch(o.batch, {.drop_remainder = n >= o.batch});
  return strategy.distribute_dataset(numbers).map(
      [ids = constant(text), stride, window = o.window](const Tensor& which) {
        const Tensor both = gather(ids, expand_dims(which * stride, 1) + expand_dims(range(window + 1), 0));
        return std::pair(both(Slice(), Slice(0, -1)), both(Slice(), Slice(1, none)));
      });
}

// The mean bits per character. Parallel streams: each one reads its own section of the text, from a zero state, and
// carries its state through it.
double bits_of(const CharRnn& model, const std::vector<std::int32_t>& text) {
  const i64 n = std::ssize(text), streams = std::clamp<i64>(n / 500, 1, 20), length = (n - 1) / streams, chunk = 100;
  const Tensor ids = constant(text), sections = expand_dims(range(streams) * length, 0);
  const metrics::Perplexity perplexity({.from_logits = true});
  State state;
  for (i64 at = 0; at < length; at += chunk) {
    const Tensor places = expand_dims(range(at, std::min(at + chunk, length)), 1) + sections;  // [time, streams]
    perplexity.update_state(gather(ids, places + 1), model(gather(ids, places), state));
  }
  return perplexity.bits().item<double>();
}

}  // namespace

Text::Text(const std::string& path) : source(path), size(0), vocabulary("") {
  const std::string text = read_corpus(path);
  const std::string_view all = text, kept = all.substr(0, all.size() - all.size() / 20);
  source = data_setting(path, data::fingerprint(text)), size = text.size();
  vocabulary = Vocabulary::of(kept);
  train = vocabulary.encode(kept), held_out = vocabulary.encode(all.substr(kept.size()));
}

train::History learn(const char* program, ModelOptions m, const TrainOptions& o, const Text& text,
                     const distribute::MultiWorkerMirroredStrategy& strategy) {
  const auto scope = strategy.scope();
  const auto batches = batches_of(text.train, o, strategy);
  if (text.held_out.size() < 2)
    throw std::runtime_error("corpus: fewer than two known characters are left to be held out");
  m.vocabulary = text.vocabulary.size();
  random::set_seed(o.seed);  // of the initial weights and of dropout
  const OfWindows model(m);
  train::Trainer trainer(
      model, {.loss = losses::Loss("crossentropy", loss_of_windows),
              .optimizer = optimizers::Adam({.learning_rate = o.learning_rate, .global_clipnorm = o.clip})});

  train::Metadata description = describe(m, text.vocabulary);
  description["program"] = program;
  train::Metadata settings = description;
  settings["data"] = text.source;
  settings["window"] = std::to_string(o.window);
  settings["learning_rate"] = training::setting(o.learning_rate), settings["clip"] = training::setting(o.clip);
  settings["dropout"] = training::setting(m.dropout);

  const auto measure = [&](train::Run& run) {
    // A uniform prediction costs log(vocabulary); from far above that, training does not recover.
    if (!(run.values()["loss"] < 20 * std::log(static_cast<double>(m.vocabulary) + 1)))
      throw std::runtime_error("training diverged; lower --learning-rate or --clip");
    run.set_value("held_out", bits_of(model, text.held_out));
  };
  const auto best = std::make_shared<train::EarlyStopping>(
      train::EarlyStoppingOptions{.monitor = "held_out", .patience = o.patience});
  const auto keep = [&](train::Run& run) {
    if (best->best_epoch() == run.epoch() && workers::is_first(strategy))
      train::Checkpoint({{"model", model}}).save(best_weights(o.run), description);
  };
  return trainer.fit(batches,
                     training::fit_options(o, settings,
                                           {.callbacks = {train::LambdaCallback({.on_epoch_end = measure}), best,
                                                          train::LambdaCallback({.on_epoch_end = keep})}}));
}
