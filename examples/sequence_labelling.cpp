// sequence_labelling: a label for each step of a sequence, by a network that reads it from left to right, and by one
// that reads it both ways.
//   sequence_labelling                            words in pictures of letters; some look alike, and only the letter
//                                                 behind them tells which they are
//   sequence_labelling --task tags --data FILE    parts of speech: a sentence a line, word/tag word/tag ...
// It saves a checkpoint of each network every 200 steps and at Ctrl-C. Stopped, even by kill -9, it goes on to the same
// result.
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

#include "examples/support/bag_of_words.hpp"
#include "examples/support/data_name.hpp"
#include "examples/support/program.hpp"
#include "examples/support/saved_run.hpp"
#include "examples/support/stopwatch.hpp"
#include "examples/support/tagged_text.hpp"
#include "examples/support/word_numbers.hpp"

using namespace tandem;

namespace {

struct Options : program::Options {
  std::string task = "letters", checkpoint = "sequence_labelling.safetensors";
  i64 units = 300, batch = 10;
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
  auto all_tags = text.train.tags;
  all_tags.insert(all_tags.end(), text.test.tags.begin(), text.test.tags.end());
  const auto tag_numbers = words::vocabulary(all_tags, 1'000'000);
  const auto vocabulary = words::vocabulary(text.train.words, o.words);
  const auto sequences = [&](const tagged::Sentences& s) {  // word 0 is the unknown one
    const data::PaddedSequences words = words::numbers(s.words, vocabulary, o.length, 1);
    return Sequences{words.sequences, words::numbers(s.tags, tag_numbers, o.length, 0).sequences, words.lengths};
  };
  const std::size_t held_out = text.test.words.size();
  fmt::print("{} sentences, {} of them held out; {} words, {} tags\n", text.train.words.size() + held_out, held_out,
             vocabulary.size(), tag_numbers.size());
  report("commonest tag of each word", tagged::commonest_tags(text));
  return {sequences(text.train), sequences(text.test), static_cast<i64>(tag_numbers.size())};
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

template <class Rnn>
double accuracy(const Labeller<Rnn>& model, const Sequences& s) {
  const metrics::SparseCategoricalAccuracy right;
  const auto batches = data::from_tensor_slices({s.inputs, s.labels, s.lengths}).batch(100);
  for (const auto& [inputs, labels, lengths] : batches.epoch(0))
    right.update_state(labels, model(inputs, lengths), sequence_mask(lengths, labels.shape()[1]));
  return right.result().template item<double>();
}

// What a run that goes on must agree with.
train::Metadata settings(const char* how, const Options& o) {
  return {{"program", "sequence_labelling"},
          {"network", how},
          {"task", o.task},
          {"data", file_setting(o.data)},
          {"seed", std::to_string(o.seed)},
          {"units", std::to_string(o.units)},
          {"batch", std::to_string(o.batch)},
          {"embedding", std::to_string(o.embedding)},
          {"words", std::to_string(o.words)},
          {"length", std::to_string(o.length)}};
}

// Trains a model and reports the share of right labels in the held-out sequences. Returns the exit status.
template <class Rnn>
int train(const char* how, const char* suffix, const Rnn& rnn, const Task& task, const Options& o) {
  random::set_seed(o.seed);
  const Labeller<Rnn> model(features(o), rnn, task.labels);
  const auto& [inputs, labels, lengths] = task.train;
  const auto batches = data::from_tensor_slices({inputs, labels, lengths}).shuffle({.seed = o.seed}).batch(o.batch);
  const optimizers::RMSprop rmsprop({.learning_rate = 0.002, .global_clipnorm = 5});
  const metrics::Mean loss;
  model(batches.at_step(0)[0], batches.at_step(0)[2]);  // makes the weights
  const std::vector<Variable> weights = model.trainable_variables();
  rmsprop.build(weights);
  const auto step = function([&](const Tensor& inputs, const Tensor& labels, const Tensor& lengths) {
    loss.update_state(rmsprop.minimize(
        [&] {
          const Tensor each = nn::sparse_softmax_cross_entropy_with_logits(labels, model(inputs, lengths));
          return nn::masked_mean(each, sequence_mask(lengths, labels.shape()[1]));
        },
        weights));
  });
  const SavedRun run(with_suffix(o.checkpoint, suffix), settings(how, o),
                     {{"model", model}, {"optimizer", rmsprop}, {"mean_loss", loss}});

  Stopwatch watch;
  const i64 first = rmsprop.iterations().template item<i64>();
  for (const i64 i : interrupt::steps(first, o.steps)) {
    const auto [inputs, labels, lengths] = batches.at_step(i);
    watch.start();
    step(inputs, labels, lengths);
    watch.stop();
    const i64 done = i + 1;
    if (done % 200 != 0 && done != o.steps) continue;
    fmt::print("{}, step {}: loss {:.3f}; {:.0f} sequences/s\n", how, done,
               program::checked_loss(loss.result().template item<double>()),
               static_cast<double>((done - first) * o.batch) / watch.seconds());
    loss.reset_state();
    run.save();
  }
  if (interrupt::received) return run.interrupted();
  report(how, accuracy(model, task.test));
  return 0;
}

int label(const Options& o) {
  if ((o.task == "tags") == o.data.empty())
    throw std::runtime_error("--task tags needs --data, and letters are generated: give both options or neither");
  save_path::check_file(o.checkpoint);
  const Task task = o.task == "tags" ? tags(o) : letters(o.seed);
  const layers::GRU gru(o.units, {.return_sequences = true});
  if (const int status = train("one way", "one_way", gru, task, o)) return status;
  return train("both ways", "both_ways", layers::Bidirectional(gru), task, o);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("A label for each step of a sequence: letters of words, or parts of speech.");
  program::add_options(app, o,
                       "of tags: a text file, plain or compressed by gzip, with lines of word/tag word/tag ...");
  app.add_option("--task", o.task, "letters or tags")->check(CLI::IsMember({"letters", "tags"}))->capture_default_str();
  const auto add = [&](const char* name, i64& value, const char* what) {
    app.add_option(name, value, what)->check(arguments::whole_number(1))->capture_default_str();
  };
  app.add_option("--checkpoint", o.checkpoint,
                 "the file to save to, and to go on from; its name gets _one_way or _both_ways before the extension")
      ->capture_default_str();
  add("--units", o.units, "of a GRU");
  add("--batch", o.batch, "sequences a step");
  add("--embedding", o.embedding, "of tags: numbers a word");
  add("--words", o.words, "of tags: how many of the most frequent words are known");
  add("--length", o.length, "of tags: words a sentence at most");
  return program::run("sequence_labelling", app, argc, argv, [&] { return label(o); });
}
