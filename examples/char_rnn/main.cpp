// char_rnn: trains a character model on a text, then generates text.
//   char_rnn                 train on the licence texts of a Debian machine (or go on), then sample from the weights
//                            that were best on held-out text
//   char_rnn train|sample    one of the two
//   tandem_run -n 2 -- char_rnn train   two processes compute the gradients of each batch
// It keeps its run in a folder. Stopped, even by kill -9, it goes on to the same result.
#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "description.hpp"
#include "examples/support/program.hpp"
#include "examples/support/workers.hpp"
#include "learn.hpp"
#include "sampler.hpp"

namespace {

struct Options {
  ModelOptions model;
  TrainOptions train;
  SampleOptions sample;
};

void add_model_options(CLI::App& app, ModelOptions& o) {
  app.add_option("--cell", o.cell, "gru or lstm")->check(CLI::IsMember({"gru", "lstm"}))->capture_default_str();
  arguments::add(app, "--layers", o.layers, 1, "recurrent ones");
  arguments::add(app, "--hidden", o.hidden, 1, "units a layer");
  app.add_option("--dropout", o.dropout, "share of each layer's outputs dropped in training")
      ->check(arguments::number_in(0, 1))
      ->capture_default_str();
}
void add_train_options(CLI::App& app, TrainOptions& o) {
  arguments::add(app, "--window", o.window, 1, "characters a window");
  app.add_option("--learning-rate", o.learning_rate, "of Adam")
      ->check(arguments::positive_number())
      ->capture_default_str();
  app.add_option("--clip", o.clip, "bound of the gradients' global norm")
      ->check(arguments::positive_number())
      ->capture_default_str();
  arguments::add(app, "--patience", o.patience, 1,
                 "epochs without a better result on held-out text before training ends");
}
void add_sample_options(CLI::App& app, SampleOptions& o) {
  app.add_option("--start", o.start, "the sample's first characters")->capture_default_str();
  arguments::add(app, "--characters", o.characters, 0, "the sample's length");
  app.add_option("--temperature", o.temperature, "0: always the likeliest")
      ->check(arguments::number_in(0, 1e6))
      ->capture_default_str();
}

int train_model(const Options& o, const tandem::distribute::MultiWorkerMirroredStrategy& strategy) {
  const Text text(o.train.data);
  if (workers::is_first(strategy))
    fmt::print("{} characters, {} different; {} {} x {}; writing to {}\n", text.size, text.vocabulary.size(),
               o.model.cell, o.model.layers, o.model.hidden, o.train.run);
  const tandem::train::History history = learn("char_rnn", o.model, o.train, text, strategy);
  if (!workers::is_first(strategy)) return history.exit_status;
  if (history.exit_status) return training::interrupted(history, o.train.run);
  const std::vector<double> bits = history["held_out"];
  const auto best = std::min_element(bits.begin(), bits.end());
  fmt::print(
      "{} after {} epochs: {:.3f} bits/char held out at the end, {:.3f} at its best (epoch {}, perplexity {:.2f}), "
      "whose weights are {}\n",
      history.stop_reason.empty() ? "trained" : "stopped as held-out text got no better", bits.size(), bits.back(),
      *best, best - bits.begin() + 1, std::exp2(*best), best_weights(o.train.run));
  return 0;
}

int write_sample(const Options& o) {
  const std::string file = best_weights(o.train.run);
  const tandem::train::Metadata m = description_of(file);
  const CharRnn model(model_of(m));
  tandem::train::Checkpoint({{"model", model}}).restore(file);
  sample(model, Vocabulary(m.at("vocabulary")), o.sample, [](char c) {
    fmt::print("{}", c);
    std::fflush(stdout);
  });
  fmt::print("\n");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.train.data = "/usr/share/common-licenses", o.train.run = "char_rnn_run";
  o.train.epochs = 7, o.train.steps_per_epoch = 200, o.train.batch = 100;
  CLI::App app("A character model: trains on a text, then writes some of its own.");
  training::add_options(app, o.train, "a text file, plain or compressed by gzip, or a folder of them", "windows");
  add_model_options(app, o.model);
  add_train_options(app, o.train);
  add_sample_options(app, o.sample);
  app.require_subcommand(0, 1)->fallthrough();
  const CLI::App* only_train = app.add_subcommand("train", "train, without the sample at the end");
  const CLI::App* only_sample = app.add_subcommand("sample", "write text with the best weights of a run");
  return program::run("char_rnn", app, argc, argv, [&] {
    const auto scope = tandem::device(o.train.device);
    o.sample.seed = o.train.seed;
    if (*only_sample) return write_sample(o);
    const tandem::distribute::MultiWorkerMirroredStrategy strategy;  // this process, or all that a launcher has started
    const int status = train_model(o, strategy);
    if (status || *only_train || !workers::is_first(strategy)) return status;
    fmt::print("\nA sample at temperature {:g}:\n\n", o.sample.temperature);
    return write_sample(o);
  });
}
