// char_rnn: trains a character model on a text, then generates text.
//   char_rnn                 train for two minutes on the licence texts of a Debian machine (or resume), then sample
//                            from the weights that were best on held-out text
//   char_rnn train|sample    one of the two
#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <stdexcept>

#include "description.hpp"
#include "examples/support/arguments.hpp"
#include "examples/support/characters.hpp"
#include "examples/support/data_name.hpp"
#include "examples/support/program.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/save_path.hpp"
#include "examples/support/saved_run.hpp"
#include "sampler.hpp"
#include "trainer.hpp"

namespace {

struct Options {
  std::string corpus = "/usr/share/common-licenses";
  std::string checkpoint = "char_rnn.safetensors";
  double minutes = 2;
  std::int64_t steps = 0;  // 0: as many as fit in the minutes
  std::int64_t checkpoint_every = 200;
  ModelOptions model;
  TrainOptions train;
  SampleOptions sample;
};

void add_model_options(CLI::App& app, ModelOptions& o) {
  app.add_option("--cell", o.cell, "gru or lstm")->check(CLI::IsMember({"gru", "lstm"}))->capture_default_str();
  app.add_option("--layers", o.layers, "recurrent ones")->check(arguments::whole_number(1))->capture_default_str();
  app.add_option("--hidden", o.hidden, "units a layer")->check(arguments::whole_number(1))->capture_default_str();
  app.add_option("--dropout", o.dropout, "share of each layer's outputs dropped in training")
      ->check(arguments::number_in(0, 1))
      ->capture_default_str();
}
void add_train_options(CLI::App& app, TrainOptions& o) {
  app.add_option("--batch", o.batch, "windows a step")->check(arguments::whole_number(1))->capture_default_str();
  app.add_option("--window", o.window, "characters a window")->check(arguments::whole_number(1))->capture_default_str();
  app.add_option("--learning-rate", o.learning_rate, "of Adam")
      ->check(arguments::positive_number())
      ->capture_default_str();
  app.add_option("--clip", o.clip, "bound of the gradients' global norm")
      ->check(arguments::positive_number())
      ->capture_default_str();
  app.add_option("--patience", o.patience, "evaluations without a better result before training ends")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--seed", o.seed, "of everything random")->check(arguments::whole_number(0))->capture_default_str();
}
void add_sample_options(CLI::App& app, SampleOptions& o) {
  app.add_option("--start", o.start, "the sample's first characters")->capture_default_str();
  app.add_option("--characters", o.characters, "the sample's length")
      ->check(arguments::whole_number(0))
      ->capture_default_str();
  app.add_option("--temperature", o.temperature, "0: always the likeliest")
      ->check(arguments::number_in(0, 1e6))
      ->capture_default_str();
}
void add_options(CLI::App& app, Options& o) {
  app.add_option("--corpus,--data", o.corpus, "a text file, plain or compressed by gzip, or a folder of them")
      ->capture_default_str();
  app.add_option("--checkpoint", o.checkpoint, "the model's file")->capture_default_str();
  app.add_option("--minutes", o.minutes, "how long to train at most, all runs together")
      ->check(arguments::positive_number())
      ->capture_default_str();
  app.add_option("--steps", o.steps, "how many steps to train at most instead, all runs together")
      ->check(arguments::whole_number(1));
  app.add_option("--checkpoint-every", o.checkpoint_every, "steps between evaluations, each with a checkpoint")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  add_model_options(app, o.model);
  add_train_options(app, o.train);
  add_sample_options(app, o.sample);
}

// The progress and speed of a run.
class Pace {
 public:
  Pace(const Options& o, const Trainer& trainer) : o_(o), trainer_(trainer) {}
  double share() const {
    return o_.steps ? static_cast<double>(trainer_.steps()) / static_cast<double>(o_.steps)
                    : trainer_.seconds() / (60 * o_.minutes);
  }
  void add(double nats, double seconds) {
    const bool first = bits_ == 0;
    bits_ = first ? nats / std::numbers::ln2 : 0.95 * bits_ + 0.05 * nats / std::numbers::ln2;
    seconds_a_step_ = first ? seconds : 0.95 * seconds_a_step_ + 0.05 * seconds;
  }
  double bits() const { return bits_; }
  std::string report() const {
    return fmt::format("step {}  loss {:.3f}  {:.3f} bits/char  {:.0f} chars/s", trainer_.steps(),
                       bits_ * std::numbers::ln2, bits_,
                       static_cast<double>(trainer_.characters_per_step()) / seconds_a_step_);
  }

 private:
  const Options& o_;
  const Trainer& trainer_;
  double bits_ = 0, seconds_a_step_ = 0;  // running means
};

// Trains until the time or the steps run out, held-out text stops improving, or Ctrl-C is pressed.
void run_steps(const Options& o, Trainer& trainer, const SavedRun& run) {
  const interrupt::Watch watch;
  Progress progress;
  Pace pace(o, trainer);
  while (pace.share() < 1 && !interrupt::received && !trainer.is_past_best()) {
    const auto begin = std::chrono::steady_clock::now();
    const double nats = trainer.step();
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    trainer.add_seconds(seconds);
    pace.add(nats, seconds);
    progress.show(pace.share(), pace.report(), pace.share() >= 1);
    if (trainer.steps() % o.checkpoint_every == 0) {
      const double held_out = trainer.evaluate();
      run.save();
      progress.end();
      fmt::print("step {}: {:.3f} bits/char in training, {:.3f} held out, perplexity {:.2f}{}\n", trainer.steps(),
                 pace.bits(), held_out, std::exp2(held_out), trainer.best_step() == trainer.steps() ? " (best)" : "");
    }
  }
}

// What a run that goes on must agree with.
tandem::train::Metadata settings(const Options& o, const Vocabulary& vocabulary, const std::string& text) {
  tandem::train::Metadata m = describe(o.model, vocabulary);
  m.merge(tandem::train::Metadata{{"program", "char_rnn"},
                                  {"text", data_setting(o.corpus, stable_hash(text))},
                                  {"seed", std::to_string(o.train.seed)},
                                  {"batch", std::to_string(o.train.batch)},
                                  {"window", std::to_string(o.train.window)},
                                  {"learning_rate", number_setting(o.train.learning_rate)},
                                  {"clip", number_setting(o.train.clip)},
                                  {"dropout", number_setting(o.model.dropout)}});
  return m;
}

int train(Options o) {
  save_path::check_file(o.checkpoint);
  const std::string text = read_corpus(o.corpus);
  const std::string_view all = text, kept = all.substr(0, all.size() - all.size() / 20);
  Windows::check_length(kept.size(), o.train);
  const Vocabulary vocabulary = Vocabulary::of(kept);
  o.model.vocabulary = vocabulary.size();
  tandem::random::set_seed(o.train.seed);  // the initial weights
  Trainer trainer(o.model, o.train, vocabulary.encode(kept), vocabulary.encode(all.substr(kept.size())));
  const SavedRun run(o.checkpoint, settings(o, vocabulary, text), trainer.checkpoint());
  fmt::print("{} characters, {} different; {} {} x {}; writing to {}\n", text.size(), vocabulary.size(), o.model.cell,
             o.model.layers, o.model.hidden, o.checkpoint);

  run_steps(o, trainer, run);
  const double last = trainer.evaluate(false);  // not counted, so that a longer run still stops at the same step
  run.save();
  const char* const why = interrupt::received      ? "interrupted"
                          : trainer.is_past_best() ? "stopped as held-out text got no better"
                                                   : "trained";
  fmt::print(
      "{} after {} steps, {}: {:.3f} bits/char held out at the end, {:.3f} at its best (step {}, perplexity {:.2f}); "
      "checkpoint {}\n",
      why, trainer.steps(), clock_text(trainer.seconds()), last, trainer.best_bits(), trainer.best_step(),
      std::exp2(trainer.best_bits()), o.checkpoint);
  return interrupt::received ? 130 : 0;
}

int write_sample(const Options& o) {
  const tandem::train::Metadata m = description_of(o.checkpoint);
  const CharRnn model(model_of(m));
  tandem::train::Checkpoint({{"best", model}}).restore(o.checkpoint, {.partial = true});
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
  CLI::App app("A character model: trains on a text, then writes some of its own.");
  add_options(app, o);
  app.require_subcommand(0, 1)->fallthrough();
  const CLI::App* only_train = app.add_subcommand("train", "train, without the sample at the end");
  const CLI::App* only_sample = app.add_subcommand("sample", "write text with the checkpoint");
  return program::run("char_rnn", app, argc, argv, [&] {
    if (*only_sample) return write_sample(o);
    const int status = train(o);
    if (status || *only_train) return status;
    fmt::print("\nA sample at temperature {:g}:\n\n", o.sample.temperature);
    return write_sample(o);
  });
}
