// char_rnn: trains a character model on a text, then writes some text of its own.
//   char_rnn                 train for two minutes on the licence texts of a Debian machine (or go on), then sample
//   char_rnn train|sample    one of the two
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <numbers>
#include <stdexcept>

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

volatile std::sig_atomic_t interrupted = 0;

void add_options(CLI::App& app, Options& o) {
  app.add_option("--corpus", o.corpus, "a text file, or a folder of them")->capture_default_str();
  app.add_option("--checkpoint", o.checkpoint, "the model's file")->capture_default_str();
  app.add_option("--minutes", o.minutes, "how long to train, all runs together")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--steps", o.steps, "how many steps to train instead, all runs together")
      ->check(CLI::NonNegativeNumber);
  app.add_option("--checkpoint-every", o.checkpoint_every, "steps between checkpoints")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--cell", o.model.cell, "gru or lstm")->check(CLI::IsMember({"gru", "lstm"}))->capture_default_str();
  app.add_option("--layers", o.model.layers)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--hidden", o.model.hidden, "units a layer")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--batch", o.train.batch)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--window", o.train.window, "characters a window")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--learning-rate", o.train.learning_rate)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--clip", o.train.clip, "bound of the gradients' global norm")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", o.train.seed)->capture_default_str();
  app.add_option("--start", o.sample.start, "the sample's first characters")->capture_default_str();
  app.add_option("--characters", o.sample.characters, "the sample's length")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--temperature", o.sample.temperature, "0: always the likeliest")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

// One line, rewritten in place on a terminal, otherwise written now and then.
class Progress {
 public:
  void show(double share, std::int64_t step, double bits, double characters_per_second, bool now) {
    const auto t = std::chrono::steady_clock::now();
    if (!now && t - last_ < (terminal_ ? std::chrono::milliseconds(200) : std::chrono::milliseconds(10000))) return;
    last_ = t;
    constexpr int width = 24;
    const int done = static_cast<int>(std::min(1.0, share) * width);
    std::printf("%s[%-*.*s] %3.0f %%  step %lld  loss %.3f  %.3f bits/char  %.0f chars/s%s", terminal_ ? "\r" : "",
                width, done, "########################", 100 * std::min(1.0, share), static_cast<long long>(step),
                bits * std::numbers::ln2, bits, characters_per_second, terminal_ ? "   " : "\n");
    std::fflush(stdout);
  }
  void end() const {
    if (terminal_) std::printf("\n");
  }

 private:
  bool terminal_ = ::isatty(1);
  std::chrono::steady_clock::time_point last_{};
};

// Metadata is UTF-8, the model's characters are bytes: each is written as the character of that number (ISO 8859-1).
std::string utf8_of(const std::string& bytes) {
  std::string r;
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    if (b >= 0x80) r += static_cast<char>(0xc0 | b >> 6);
    r += static_cast<char>(b >= 0x80 ? 0x80 | (b & 0x3f) : b);
  }
  return r;
}
std::string bytes_of(const std::string& utf8) {
  std::string r;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto b = static_cast<unsigned char>(utf8[i]);
    const bool two = b >= 0x80 && i + 1 < utf8.size();
    r += two ? static_cast<char>((b & 3) << 6 | (utf8[++i] & 0x3f)) : utf8[i];
  }
  return r;
}

// What the checkpoint must agree on with the command line, and what sampling needs to know.
tandem::train::Metadata describe(const Options& o, const Vocabulary& v) {
  return {{"vocabulary", utf8_of(v.characters())},
          {"cell", o.model.cell},
          {"layers", std::to_string(o.model.layers)},
          {"hidden", std::to_string(o.model.hidden)}};
}
// What describe() wrote; a safetensors file of anybody else lacks it.
tandem::train::Metadata description_of(const std::string& checkpoint) {
  tandem::train::Metadata m = tandem::train::read_metadata(checkpoint);
  for (const char* key : {"vocabulary", "cell", "layers", "hidden"})
    if (!m.contains(key))
      throw std::runtime_error(checkpoint + " is no checkpoint of char_rnn: it has no '" + key + "'");
  m["vocabulary"] = bytes_of(m["vocabulary"]);
  return m;
}
ModelOptions model_of(const tandem::train::Metadata& m) {
  return {.vocabulary = static_cast<std::int64_t>(m.at("vocabulary").size()),
          .cell = m.at("cell"),
          .layers = std::stoi(m.at("layers")),
          .hidden = std::stoll(m.at("hidden"))};
}

int train(Options o) {
  const std::string text = read_corpus(o.corpus);
  const std::string_view all = text, kept = all.substr(0, all.size() - all.size() / 20);
  Windows::check_length(kept.size(), o.train);
  const bool resumed = std::filesystem::exists(o.checkpoint);
  const Vocabulary vocabulary =
      resumed ? Vocabulary(description_of(o.checkpoint).at("vocabulary")) : Vocabulary::of(kept);
  o.model.vocabulary = vocabulary.size();
  tandem::random::set_seed(o.train.seed);  // the initial weights
  Trainer trainer(o.model, o.train, vocabulary.encode(kept), vocabulary.encode(all.substr(kept.size())));
  if (resumed) trainer.checkpoint().restore(o.checkpoint);
  std::printf("%zu characters, %lld different; %s %d x %lld; %s %s\n", text.size(),
              static_cast<long long>(vocabulary.size()), o.model.cell.c_str(), o.model.layers,
              static_cast<long long>(o.model.hidden), resumed ? "going on from" : "writing to", o.checkpoint.c_str());

  const auto save = [&] { trainer.checkpoint().save(o.checkpoint, describe(o, vocabulary)); };
  const auto share = [&] {
    return o.steps ? static_cast<double>(trainer.steps()) / static_cast<double>(o.steps)
                   : trainer.seconds() / (60 * o.minutes);
  };
  Progress progress;
  double bits = 0, rate = 0;
  while (share() < 1 && !interrupted) {
    const auto begin = std::chrono::steady_clock::now();
    const double now_bits = trainer.step() / std::numbers::ln2;
    const double s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    trainer.add_seconds(s);
    bits = bits == 0 ? now_bits : 0.95 * bits + 0.05 * now_bits;
    const double now_rate = static_cast<double>(trainer.characters_per_step()) / s;
    rate = rate == 0 ? now_rate : 0.95 * rate + 0.05 * now_rate;
    progress.show(share(), trainer.steps(), bits, rate, share() >= 1);
    if (trainer.steps() % o.checkpoint_every == 0) {
      save();
      progress.end();
      std::printf("step %lld: %.3f bits/char in training, %.3f held out\n", static_cast<long long>(trainer.steps()),
                  bits, trainer.held_out_bits());
    }
  }
  progress.end();
  save();
  std::printf("%s after %lld steps, %.0f s: %.3f bits/char held out; checkpoint %s\n",
              interrupted ? "interrupted" : "trained", static_cast<long long>(trainer.steps()), trainer.seconds(),
              trainer.held_out_bits(), o.checkpoint.c_str());
  return interrupted ? 130 : 0;
}

int write_sample(const Options& o) {
  const tandem::train::Metadata m = description_of(o.checkpoint);
  const CharRnn model(model_of(m));
  tandem::train::Checkpoint({{"model", model}}).restore(o.checkpoint, {.partial = true});
  sample(model, Vocabulary(m.at("vocabulary")), o.sample, [](char c) {
    std::putchar(c);
    std::fflush(stdout);
  });
  std::putchar('\n');
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
  CLI11_PARSE(app, argc, argv);
  std::signal(SIGINT, [](int) {
    interrupted = 1;
    std::signal(SIGINT, SIG_DFL);  // a second Ctrl-C ends at once
  });
  try {
    if (*only_sample) return write_sample(o);
    const int status = train(o);
    if (status || *only_train) return status;
    std::printf("\nA sample at temperature %g:\n\n", o.sample.temperature);
    return write_sample(o);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "\nchar_rnn: %s\n", e.what());
    return 1;
  }
}
