// word2vec: trains word vectors on a text, then shows which words are close to each other.
//   word2vec                                 train for two minutes at most on the licence texts of a Debian machine (or
//                                            resume), then print neighbours of a few words
//   word2vec --nearest war                   print the nearest words, by vectors trained before
//   word2vec --analogy france paris italy    france is to paris as italy is to ...
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <stdexcept>

#include <tandem/io.hpp>

#include "examples/support/arguments.hpp"
#include "examples/support/program.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/save_path.hpp"
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
  app.add_option("--size", o.size, "numbers in a vector")->check(arguments::whole_number(2))->capture_default_str();
  app.add_option("--window", o.window, "words to either side at most; less for some, at random")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--negatives", o.negatives, "of an example")->check(arguments::whole_number(1))->capture_default_str();
  app.add_option("--shared-negatives", o.shared, "drawn for a block of 64 words, standing for those of its examples")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--batch", o.batch, "examples a step, where negatives are not shared")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--samples", o.samples, "of nce, for a batch")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
}
void add_train_options(CLI::App& app, TrainOptions& o) {
  app.add_option("--epochs", o.epochs, "how often to read the text at most")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--minutes", o.minutes, "how long to train at most, all runs together")
      ->check(arguments::positive_number())
      ->capture_default_str();
  app.add_option("--learning-rate", o.learning_rate, "at the beginning; default 0.0125, with nce 0.5, which stays")
      ->check(arguments::positive_number());
  app.add_option("--momentum", o.momentum, "default 0, with nce 0.5")->check(arguments::number_in(0, 1));
  app.add_option("--sample", o.sample, "leave out words that are more frequent than this now and then; 0: none")
      ->check(arguments::number_in(0, 1))
      ->capture_default_str();
  app.add_flag("--lines", o.lines, "a line is a text of its own: windows end with it");
  app.add_option("--held-out", o.held_out, "the share of the text, at its end, that measures the loss instead")
      ->check(arguments::number_in(0, 0.9))
      ->capture_default_str();
  app.add_option("--seed", o.seed)->check(arguments::whole_number(0))->capture_default_str();
}
void add_options(CLI::App& app, Options& o) {
  app.add_option("--corpus,--data", o.corpus, "a text file, or a folder of them")->capture_default_str();
  app.add_option("--output", o.output, "the folder for checkpoint, vocabulary and vectors")->capture_default_str();
  app.add_option("--nearest", o.nearest, "print the words nearest to this one, and do not train");
  app.add_option("--analogy", o.analogy, "three words: print what is to the third as the second is to the first")
      ->expected(3);
  app.add_option("--neighbours", o.neighbours, "words to print")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--picture", o.picture, "words in the picture")
      ->check(arguments::whole_number(3))
      ->capture_default_str();
  app.add_option("--min-count", o.vocabulary.min_count, "rarer words have no vector")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--vocabulary", o.vocabulary.max_words, "the number of words at most, <unk> included")
      ->check(arguments::whole_number(3));
  app.add_option("--checkpoint-every", o.checkpoint_every, "seconds between checkpoints")
      ->check(arguments::positive_number())
      ->capture_default_str();
  app.add_option("--threads", o.threads, "default: one for each core")->check(arguments::whole_number(0));
  app.add_option("--device", o.device, "CPU:0 or GPU:0")->capture_default_str();
  add_model_options(app, o.model);
  add_train_options(app, o.train);
}

// The settings in which a checkpoint must match the command line and the vocabulary.
tandem::train::Metadata describe(const Options& o, const Vocabulary& v) {
  return {{"program", "word2vec"},
          {"model", o.model.model},
          {"loss", o.model.loss},
          {"size", std::to_string(o.model.size)},
          {"window", std::to_string(o.model.window)},
          {"seed", std::to_string(o.train.seed)},
          {"lines", o.train.lines ? "ended" : "joined"},
          {"vocabulary", std::to_string(v.checksum())}};
}
void check_description(const std::string& path, const tandem::train::Metadata& wanted) {
  const tandem::train::Metadata found = tandem::train::read_metadata(path);
  for (const auto& [key, value] : wanted) {
    const auto at = found.find(key);
    const std::string text = at == found.end() ? "nothing" : at->second;
    if (text != value)
      throw std::runtime_error(path + " belongs to another run: its " + key + " is " + text + ", not " + value +
                               "; name another folder with --output");
  }
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
    std::printf("mean loss of 100 steps: %.4f at the beginning of this run, %.4f at its end\n", first_, last_);
  }
  std::string rates() const {
    char text[96];
    std::snprintf(text, sizeof text, "%.0f words/s (%.0f after subsampling)", double(words_) / seconds_,
                  double(trained_) / seconds_);
    return text;
  }
  bool has_rates() const { return seconds_ > 0; }
  std::string report(const Trainer& t, const Options& o) const {
    char text[160];
    std::snprintf(text, sizeof text, "epoch %lld/%lld  loss %.4f  rate %.5f  ",
                  static_cast<long long>(std::min(t.epoch() + 1, o.train.epochs)),
                  static_cast<long long>(o.train.epochs), loss_, t.learning_rate());
    return text + rates();
  }

 private:
  std::int64_t words_ = 0, trained_ = 0;
  double seconds_ = 0, loss_ = 0, first_ = 0, last_ = 0;
};

void train_chunks(const Options& o, Trainer& trainer, Pace& pace, const tandem::train::Metadata& description) {
  using Clock = std::chrono::steady_clock;
  Progress progress;
  const Clock::time_point begin = Clock::now();
  const double share_before = trainer.share();
  Clock::time_point saved = begin;
  while (!trainer.is_done() && !interrupt::received) {
    const double before = trainer.seconds();
    const Trainer::Progress p = trainer.train_chunk();
    pace.add(p, trainer.seconds() - before);
    const Clock::time_point now = Clock::now();
    const double share = trainer.share(), done = share - share_before;
    const double left = std::chrono::duration<double>(now - begin).count() * (1 - share) / done;
    progress.show(share, left, pace.report(trainer, o), trainer.is_done());
    if (std::chrono::duration<double>(now - saved).count() >= o.checkpoint_every && !trainer.is_done()) {
      trainer.save(o.file("checkpoint.safetensors"), description);
      progress.end();
      std::printf("checkpoint after %s: loss %.4f, held out %.4f\n", clock_text(trainer.seconds()).c_str(), pace.loss(),
                  trainer.held_out_loss());
      saved = Clock::now();
    }
  }
  progress.end();
}

void print(const std::string& what, const std::vector<Vectors::Neighbour>& words) {
  std::printf("%-14s", (what + ":").c_str());
  for (const Vectors::Neighbour& n : words) std::printf("  %s %.2f", n.word.c_str(), n.similarity);
  std::printf("\n");
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

// The vocabulary in the folder if a checkpoint is next to it, otherwise that of the corpus.
Vocabulary vocabulary_of(const Options& o, bool resumed) {
  if (resumed) return Vocabulary::load(o.file("vocabulary.txt"));
  WordReader reader(o.corpus);
  Vocabulary v = Vocabulary::of(reader, o.vocabulary);
  save_path::make_folder(o.output);
  v.save(o.file("vocabulary.txt"));
  return v;
}

int train_vectors(const Options& o) {
  save_path::check_new_folder(o.output);
  const std::string checkpoint = o.file("checkpoint.safetensors");
  const bool resumed = std::filesystem::exists(checkpoint);
  const Vocabulary vocabulary = vocabulary_of(o, resumed);
  const tandem::train::Metadata description = describe(o, vocabulary);
  if (resumed) check_description(checkpoint, description);
  tandem::random::set_seed(o.train.seed);  // the initial vectors
  Trainer trainer(o.corpus, vocabulary, o.model, o.train);
  if (resumed) trainer.restore(checkpoint);
  std::printf("%lld words, %lld in the vocabulary (%.1f %% of the text); %s, %s, %lld wide; %s %s\n",
              static_cast<long long>(vocabulary.total()), static_cast<long long>(vocabulary.size()),
              100 - 100 * static_cast<double>(vocabulary.count(0)) / static_cast<double>(vocabulary.total()),
              o.model.model.c_str(), o.model.loss.c_str(), static_cast<long long>(o.model.size),
              resumed ? "going on from" : "writing to", o.output.c_str());
  Pace pace;
  train_chunks(o, trainer, pace, description);
  trainer.save(checkpoint, description);
  const tandem::Tensor table = trainer.model().embeddings();
  const Vectors vectors(vocabulary, table);
  write_vectors(o.output, vocabulary, table.cpu());
  write_picture(o.file("words.svg"), vocabulary, vectors.plane(o.picture).cpu());
  std::printf("%s after %s, epoch %lld: ", interrupt::received ? "interrupted" : "trained",
              clock_text(trainer.seconds()).c_str(),
              static_cast<long long>(std::min(trainer.epoch() + 1, o.train.epochs)));
  if (pace.has_rates()) std::printf("%s, loss %.4f, ", pace.rates().c_str(), pace.loss());
  std::printf("held out %.4f\n", trainer.held_out_loss());
  if (pace.has_rates()) pace.print_change();
  std::printf("%s: embeddings.npy, vocabulary.txt, vectors.txt, vectors.tsv, metadata.tsv, words.svg\n",
              o.output.c_str());
  if (interrupt::received) return 130;
  for (const std::string& word : telling_words(vocabulary, 8)) print(word, vectors.nearest(word, o.neighbours));
  return 0;
}

int answer(const Options& o) {
  const Vocabulary vocabulary = Vocabulary::load(o.file("vocabulary.txt"));
  const tandem::Tensor table = tandem::io::load_npy(o.file("embeddings.npy"));
  if (table.rank() != 2 || table.shape()[0] != vocabulary.size() || table.dtype() != tandem::float32)
    throw std::runtime_error(o.file("embeddings.npy") + " does not belong to the vocabulary beside it");
  const Vectors vectors(vocabulary, table);
  if (!o.nearest.empty()) print(o.nearest, vectors.nearest(o.nearest, o.neighbours));
  if (!o.analogy.empty()) {
    const std::vector<std::string>& w = o.analogy;
    print(w[0] + " : " + w[1] + " = " + w[2] + " : ?", vectors.analogy(w[0], w[1], w[2], o.neighbours));
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
    return o.nearest.empty() && o.analogy.empty() ? train_vectors(o) : answer(o);
  });
}
