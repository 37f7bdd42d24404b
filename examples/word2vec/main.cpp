// word2vec: trains word vectors on a text, then shows which words are close to each other.
//   word2vec                                 train for two minutes at most on the licence texts of a Debian machine (or
//                                            resume), then print neighbours of a few words
//   tandem_run -n 2 -- word2vec              two processes, each with half of the rows of the tables and of the text
//   word2vec --nearest war                   print the nearest words, by vectors trained before
//   word2vec --analogy france paris italy    france is to paris as italy is to ...
#include <fmt/core.h>
#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include <tandem/io.hpp>
#include <tandem/train.hpp>

#include "examples/support/arguments.hpp"
#include "examples/support/data_name.hpp"
#include "examples/support/program.hpp"
#include "examples/support/training.hpp"
#include "examples/support/workers.hpp"
#include "files.hpp"
#include "trainer.hpp"
#include "vectors.hpp"

namespace {

struct Options {
  std::string corpus = "/usr/share/common-licenses";
  std::string output = "word2vec";
  std::string device = "CPU:0";
  std::string nearest;
  std::vector<std::string> analogy;
  std::int64_t neighbours = 8;
  std::int64_t picture = 250;    // words in the picture
  double checkpoint_every = 30;  // seconds
  int threads = 0;               // 0: as many as there are cores
  VocabularyOptions vocabulary;
  ModelOptions model;
  TrainOptions train;

  std::string file(const char* name) const { return output + "/" + name; }
};

void add_model_options(CLI::App& app, ModelOptions& o) {
  app.add_option("--model", o.model, "skip-gram: a word predicts those around it; cbow: their mean predicts the word")
      ->check(CLI::IsMember({"skip-gram", "cbow"}))
      ->capture_default_str();
  app.add_option("--loss", o.loss, "negative sampling with negatives that a block of text shares, or own ones; nce")
      ->check(CLI::IsMember({"shared", "own", "nce"}))
      ->capture_default_str();
  arguments::add(app, "--size", o.size, 2, "numbers in a vector");
  arguments::add(app, "--window", o.window, 1, "words to either side at most; less for some, at random");
  arguments::add(app, "--negatives", o.negatives, 1, "of an example");
  arguments::add(app, "--shared-negatives", o.shared, 1,
                 "drawn for a block of 64 words, standing for those of its examples");
  arguments::add(app, "--batch", o.batch, 1, "examples a step, where negatives are not shared");
  arguments::add(app, "--samples", o.samples, 1, "of nce, for a batch");
}
void add_train_options(CLI::App& app, TrainOptions& o) {
  arguments::add(app, "--epochs", o.epochs, 1, "how often to read the text at most");
  app.add_option("--minutes", o.minutes, "how long to train at most, all runs together")
      ->check(arguments::positive_number())
      ->capture_default_str();
  app.add_option("--learning-rate", o.learning_rate,
                 "at the beginning; default 0.0125, with cbow 0.1, with nce 0.5, which stays")
      ->check(arguments::positive_number());
  app.add_option("--momentum", o.momentum, "default 0, with nce 0.5")->check(arguments::number_in(0, 1));
  app.add_option("--sample", o.sample, "leave out words that are more frequent than this now and then; 0: none")
      ->check(arguments::number_in(0, 1))
      ->capture_default_str();
  app.add_flag("--lines", o.lines, "a line is a text of its own: windows end with it");
  app.add_option("--held-out", o.held_out, "the share of the text, at its end, that measures the loss instead")
      ->check(arguments::number_in(0, 0.9))
      ->capture_default_str();
  arguments::add(app, "--seed", o.seed, 0, "of everything random");
}
void add_options(CLI::App& app, Options& o) {
  app.add_option("--corpus,--data", o.corpus, "a text file, plain or compressed by gzip, or a folder of them")
      ->capture_default_str();
  app.add_option("--output", o.output, "the folder for checkpoint, vocabulary and vectors")->capture_default_str();
  app.add_option("--nearest", o.nearest, "print the words nearest to this one, and do not train");
  app.add_option("--analogy", o.analogy, "three words: print what is to the third as the second is to the first")
      ->expected(3);
  arguments::add(app, "--neighbours", o.neighbours, 1, "words to print");
  arguments::add(app, "--picture", o.picture, 3, "words in the picture");
  arguments::add(app, "--min-count", o.vocabulary.min_count, 1, "rarer words have no vector");
  app.add_option("--vocabulary", o.vocabulary.max_words, "the number of words at most, <unk> included")
      ->check(arguments::whole_number(3));
  app.add_option("--checkpoint-every", o.checkpoint_every, "seconds between checkpoints")
      ->check(arguments::positive_number())
      ->capture_default_str();
  app.add_option("--threads", o.threads, "default: one for each core")->check(arguments::whole_number(0));
  program::add_device(app, o.device);
  add_model_options(app, o.model);
  add_train_options(app, o.train);
}

// What a run that goes on must agree with.
tandem::train::Metadata settings(const Options& o, const Corpus& corpus, const Vocabulary& v) {
  return {{"program", "word2vec"},
          {"text", fmt::format("{:016x}", corpus.hash())},
          {"vocabulary", std::to_string(v.checksum())},
          {"model", o.model.model},
          {"loss", o.model.loss},
          {"size", std::to_string(o.model.size)},
          {"window", std::to_string(o.model.window)},
          {"negatives", std::to_string(o.model.negatives)},
          {"shared negatives", std::to_string(o.model.shared)},
          {"batch", std::to_string(o.model.batch)},
          {"samples", std::to_string(o.model.samples)},
          {"seed", std::to_string(o.train.seed)},
          {"sample", training::setting(o.train.sample)},
          {"held out", training::setting(o.train.held_out)},
          {"learning rate", o.train.learning_rate > 0 ? training::setting(o.train.learning_rate) : "default"},
          {"momentum", o.train.momentum >= 0 ? training::setting(o.train.momentum) : "default"},
          {"min count", std::to_string(o.vocabulary.min_count)},
          {"words", o.vocabulary.max_words ? std::to_string(o.vocabulary.max_words) : "all"},
          {"lines", o.train.lines ? "ended" : "joined"}};
}

// The figures shown while training.
class Pace {
 public:
  void add(const Trainer::Progress& p, double seconds) {
    words_ += p.words, trained_ += p.trained_words, seconds_ += seconds;
    if (p.loss == 0) return;  // the last chunk may have no examples
    if (loss_ == 0) first_ = p.first;
    last_ = p.last;
    loss_ = loss_ == 0 ? p.loss : 0.95 * loss_ + 0.05 * p.loss;
  }
  double loss() const { return loss_; }  // a running mean
  void print_change() const {
    fmt::print("mean loss of 100 steps: {:.4f} at the beginning of this run, {:.4f} at its end\n", first_, last_);
  }
  std::string rates() const {
    return fmt::format("{:.0f} words/s ({:.0f} after subsampling)", double(words_) / seconds_,
                       double(trained_) / seconds_);
  }
  bool has_rates() const { return seconds_ > 0; }
  tandem::train::Figures figures(const Trainer& t, const Options& o) const {
    return {{"epoch", double(std::min(t.epoch() + 1, o.train.epochs))}, {"loss", loss_}, {"rate", t.learning_rate()}};
  }

 private:
  std::int64_t words_ = 0, trained_ = 0;
  double seconds_ = 0, loss_ = 0, first_ = 0, last_ = 0;
};

// Trains until all is read, the time is up, or Ctrl-C in a process; returns the exit status.
//   total  words of the text
int train_chunks(const Options& o, std::int64_t total, Trainer& trainer, Pace& pace,
                 tandem::train::CheckpointManager& manager, const workers::Strategy& strategy) {
  using Clock = std::chrono::steady_clock;
  tandem::train::Interrupt interrupt;
  tandem::train::ProgressOptions words = training::progress();
  words.unit = "word";
  if (!workers::is_first(strategy)) words.mode = tandem::train::ProgressMode::none;
  const auto all = static_cast<double>(o.train.epochs * total);  // unless the time is up before
  tandem::train::Progress progress(o.train.epochs * total, words);
  Clock::time_point saved = Clock::now();
  const auto save = [&] {
    trainer.save_state();
    manager.save(trainer.steps());
    saved = Clock::now();
  };
  while (!trainer.is_done() && !workers::any(strategy, interrupt.requested())) {
    const double before = trainer.seconds();
    const Trainer::Progress p = trainer.train_chunk();
    pace.add(p, trainer.seconds() - before);
    progress.step(std::int64_t(std::min(trainer.share(), 1.) * all), [&] { return pace.figures(trainer, o); });
    const bool due = std::chrono::duration<double>(Clock::now() - saved).count() >= o.checkpoint_every;
    if (workers::any(strategy, interrupt.save_requested() || (due && !trainer.is_done()))) {
      save();
      progress.print(fmt::format("checkpoint after {:.0f} s: loss {:.4f}, held out {:.4f}", trainer.seconds(),
                                 pace.loss(), trainer.held_out_loss()));
    }
  }
  save();
  return int(workers::largest(strategy, interrupt.exit_status()));
}

void print(const std::string& what, const std::vector<Vectors::Neighbour>& words) {
  fmt::print("{:14}", what + ":");
  for (const Vectors::Neighbour& n : words) fmt::print("  {} {:.2f}", n.word, n.similarity);
  fmt::print("\n");
}
// Frequent but meaningful words: long ones, excluding the most frequent.
std::vector<std::string> telling_words(const Vocabulary& v, std::size_t count) {
  std::vector<std::string> r;
  std::int64_t next = 20;
  for (std::int64_t i = next; i < v.size() && r.size() < count; ++i)
    if (i >= next && v.word(i).size() >= 6) {
      r.push_back(v.word(i));
      next = i + 15;
    }
  return r;
}

// The vocabulary in the folder if it is that of a run, otherwise that of the corpus.
Vocabulary vocabulary_of(const Options& o, const Corpus& corpus) {
  if (std::filesystem::exists(o.file("run.json"))) return Vocabulary::load(o.file("vocabulary.txt"));
  Vocabulary v = Vocabulary::of(corpus, o.vocabulary);
  tandem::io::ensure_directory(o.output);
  v.save(o.file("vocabulary.txt"));
  std::int64_t repaired = 0;
  for (std::int64_t i = 1; i < v.size(); ++i) repaired += v.word(i).find("\ufffd") != std::string::npos;
  if (repaired)
    fmt::print("{} words have bytes that are not UTF-8, written as U+FFFD; iconv -f latin1 -t utf-8 converts a text\n",
               repaired);
  return v;
}

int train_vectors(const Options& o, const workers::Strategy& strategy) {
  const auto scope = strategy.scope();
  const bool is_first = workers::is_first(strategy);
  const Corpus corpus(o.corpus, o.train.lines);
  // The folder is the first process's, and the ids of words are those of its vocabulary in all.
  const std::string words = workers::shared(strategy, is_first ? vocabulary_of(o, corpus).text() : "");
  const Vocabulary vocabulary = Vocabulary::parse(words, "the vocabulary of the first process");
  std::optional<tandem::train::RunDirectory> run;
  if (is_first) run.emplace(o.output, settings(o, corpus, vocabulary));
  tandem::random::set_seed(o.train.seed);  // the initial vectors
  Trainer trainer(corpus, vocabulary, o.model, o.train, strategy);
  tandem::train::CheckpointManager manager(trainer.checkpoint(), o.file("checkpoints"), {.max_to_keep = 2});
  const auto restored = manager.restore_or_initialize();
  if (restored) trainer.load_state();
  if (is_first && restored) fmt::print("going on from {}\n", restored.path);
  if (is_first)
    fmt::print("{} words, {} in the vocabulary ({:.1f} % of the text); {}, {}, {} wide; writing to {}\n",
               vocabulary.total(), vocabulary.size(),
               100 - 100 * static_cast<double>(vocabulary.count(0)) / static_cast<double>(vocabulary.total()),
               o.model.model, o.model.loss, o.model.size, o.output);
  Pace pace;
  const int status = train_chunks(o, vocabulary.total(), trainer, pace, manager, strategy);
  const tandem::Tensor table = trainer.model().embeddings().table();
  const double held_out = trainer.held_out_loss();
  if (!is_first) return status;
  const Vectors vectors(vocabulary, table);
  write_vectors(o.output, vocabulary, table.cpu());
  write_picture(o.file("words.svg"), vocabulary, vectors, o.picture);
  fmt::print("{} after {:.0f} s, epoch {}: ", status ? "interrupted" : "trained", trainer.seconds(),
             std::min(trainer.epoch() + 1, o.train.epochs));
  if (pace.has_rates()) fmt::print("{}, loss {:.4f}, ", pace.rates(), pace.loss());
  fmt::print("held out {:.4f}\n", held_out);
  if (pace.has_rates()) pace.print_change();
  fmt::print("{}: embeddings.npy, vocabulary.txt, vectors.txt, vectors.tsv, vectors.metadata.tsv, words.svg\n",
             o.output);
  if (status) return status;
  for (const std::string& word : telling_words(vocabulary, 8)) print(word, vectors.nearest(word, o.neighbours));
  return 0;
}

int answer(const Options& o) {
  const Vocabulary vocabulary = Vocabulary::load(o.file("vocabulary.txt"));
  const tandem::Tensor table = tandem::io::load_npy(o.file("embeddings.npy"));
  if (table.rank() != 2 || table.shape()[0] != vocabulary.size() || table.dtype() != tandem::float32)
    throw std::runtime_error(o.file("embeddings.npy") + " does not belong to the vocabulary beside it");
  const Vectors vectors(vocabulary, table);
  if (!o.nearest.empty()) print(o.nearest, vectors.nearest(lower_case(o.nearest), o.neighbours));
  if (!o.analogy.empty()) {
    std::vector<std::string> w;
    for (const std::string& word : o.analogy) w.push_back(lower_case(word));
    print(fmt::format("{} : {} = {} : ?", w[0], w[1], w[2]), vectors.analogy(w[0], w[1], w[2], o.neighbours));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Vectors of words: trains them on a text, then shows which words are near each other.");
  add_options(app, o);
  return program::run("word2vec", app, argc, argv, [&] {
    if (o.threads) tandem::config::set_intra_op_parallelism_threads(o.threads);
    const auto device = tandem::device(o.device);
    const workers::Strategy strategy;  // this process, or all that a launcher has started
    if (o.nearest.empty() && o.analogy.empty()) return train_vectors(o, strategy);
    return workers::is_first(strategy) ? answer(o) : 0;
  });
}
