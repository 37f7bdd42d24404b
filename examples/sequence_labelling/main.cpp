// sequence_labelling: a label for each step of a sequence, by a network that reads it from left to right, and by one
// that reads it both ways.
//   sequence_labelling                            words in pictures of letters; some look alike, and only the letter
//                                                 behind them tells which they are
//   sequence_labelling --task tags --data FILE    parts of speech: a sentence a line, word/tag word/tag ...
// It keeps the run of each network in a folder. Stopped, even by kill -9, it goes on to the same result.
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/strings.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/data_name.hpp"
#include "examples/support/training.hpp"
#include "tagged_text.hpp"

using namespace tandem;

namespace {

struct Options : training::Options {
  std::string task = "letters";
  i64 units = 300;
  i64 embedding = 100, words = 30000, length = 30;  // of tags: numbers a word, known words, words a sentence
};

// --- data

struct Sequences {
  Tensor inputs;           // [n, time, ...]
  Tensor labels, lengths;  // int32 [n, time] and [n]: what is behind the length does not count
};
struct Task {
  Sequences train, test;
  i64 labels;
};

Task letters(i64 seed) {
  const data::Letters d = data::synthetic_letters(3000, seed);
  const Tensor images = reshape(d.images, {3000, 14, 16 * 8});
  const auto [train, test] = data::split({images, d.labels, d.lengths}, {0.66, 0.34}, {.seed = seed});
  return {{train[0], train[1], train[2]}, {test[0], test[1], test[2]}, 26};
}

void report(const char* how, double accuracy) {
  fmt::print("{:26} {:.2f} % right, {:.2f} % wrong\n", how, 100 * accuracy, 100 * (1 - accuracy));
}

// Every tenth line is held out.
Task tags(const Options& o) {
  const tagged::Split text = tagged::read(o.data, o.length);
  const layers::StringLookup words({.max_tokens = o.words + 1}), tags({.num_oov_indices = 0});  // word 0: unknown
  words.adapt(constant(text.train.words));
  tags.adapt(concat({constant(text.train.tags), constant(text.test.tags)}, 0));
  const auto sequences = [&](const tagged::Sentences& s) {
    const Tensor lengths = constant(s.lengths);
    const auto rows = [&](const Tensor& ids) {
      return data::Ragged::from_row_lengths(cast(ids, int32), lengths).to_tensor();
    };
    return Sequences{rows(words(constant(s.words))), rows(tags(constant(s.tags))), lengths};
  };
  const std::size_t held_out = text.test.lengths.size();
  fmt::print("{} sentences, {} of them held out; {} words, {} tags\n", text.train.lengths.size() + held_out, held_out,
             words.vocabulary_size() - 1, tags.vocabulary_size());
  report("commonest tag of each word", tagged::commonest_tags(text));
  return {sequences(text.train), sequences(text.test), tags.vocabulary_size()};
}

// --- model

// What the recurrent layer reads: pixels, or a vector for each word.
layers::Sequential features(const Options& o) {
  if (o.task == "tags") return layers::Sequential(layers::Embedding(o.words + 1, o.embedding));
  return layers::Sequential(layers::Lambda([](const Tensor& pixels) { return cast(pixels, float32); }));
}

template <class Rnn>
struct Labeller : Model<Labeller<Rnn>> {
  layers::Sequential features;
  Rnn rnn;
  layers::Dense dense;  // the same for all steps

  Labeller(const layers::Sequential& features, const Rnn& rnn, i64 labels)
      : features(features), rnn(rnn), dense(labels) {}
  /// Logits [batch, time, labels].
  Tensor operator()(const Tensor& inputs, const Tensor& lengths) const {
    return dense(rnn(features(inputs), {.sequence_length = lengths}));
  }
};

// Batches of inputs, lengths, labels and their weights. What is behind the length does not count: it has the label -1.
auto batches_of(const data::Dataset<std::array<Tensor, 3>>& sequences, i64 batch) {
  return sequences.batch(batch).map([](const Tensor& inputs, const Tensor& labels, const Tensor& lengths) {
    const Tensor counts = sequence_mask(lengths, labels.shape()[1]);
    return std::array{inputs, lengths, where(counts, labels, -1), cast(counts, float32)};
  });
}

// Trains a model and reports the share of right labels in the held-out sequences. Returns the exit status.
template <class Rnn>
int train(const char* how, const char* suffix, const Rnn& rnn, const Task& task, const Options& o) {
  random::set_seed(o.seed);
  const Labeller<Rnn> model(features(o), rnn, task.labels);
  const auto rows = [](const Sequences& s) { return data::from_tensor_slices({s.inputs, s.labels, s.lengths}); };
  const auto batches = batches_of(rows(task.train).shuffle({.seed = o.seed}), o.batch);
  train::Trainer trainer(model,
                         {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true, .ignore_class = -1}),
                          .optimizer = optimizers::RMSprop({.learning_rate = 0.002, .global_clipnorm = 5}),
                          .weighted_metrics = {metrics::SparseCategoricalAccuracy({.name = "accuracy"})}});
  const train::Metadata settings{{"program", "sequence_labelling"},
                                 {"network", how},
                                 {"task", o.task},
                                 {"data", file_setting(o.data)},
                                 {"units", std::to_string(o.units)},
                                 {"embedding", std::to_string(o.embedding)},
                                 {"words", std::to_string(o.words)},
                                 {"length", std::to_string(o.length)}};
  fmt::print("{}:\n", how);
  train::FitOptions fit = training::fit_options(o, settings);
  fit.directory += suffix;
  const train::History history = trainer.fit(batches, fit);
  if (history.exit_status) return training::interrupted(history, fit.directory);
  report(how, trainer.evaluate(batches_of(rows(task.test), 100))["accuracy"]);
  return 0;
}

int label(const Options& o) {
  if ((o.task == "tags") == o.data.empty())
    throw std::runtime_error("--task tags needs --data, and letters are generated: give both options or neither");
  const Task task = o.task == "tags" ? tags(o) : letters(o.seed);
  const layers::GRU gru(o.units, {.return_sequences = true});
  if (const int status = train("one way", "_one_way", gru, task, o)) return status;
  return train("both ways", "_both_ways", layers::Bidirectional(gru), task, o);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("A label for each step of a sequence: letters of words, or parts of speech.");
  o.run = "sequence_labelling_run", o.epochs = 5, o.batch = 10, o.steps_per_epoch = 200;
  training::add_options(
      app, o, "of tags: a text file, plain or compressed by gzip, with lines of word/tag word/tag ...", "sequences");
  app.add_option("--task", o.task, "letters or tags")->check(CLI::IsMember({"letters", "tags"}))->capture_default_str();
  arguments::add(app, "--units", o.units, 1, "of a GRU");
  arguments::add(app, "--embedding", o.embedding, 1, "of tags: numbers a word");
  arguments::add(app, "--words", o.words, 1, "of tags: how many of the most frequent words are known");
  arguments::add(app, "--length", o.length, 1, "of tags: words a sentence at most");
  return program::run("sequence_labelling", app, argc, argv, o, label);
}
