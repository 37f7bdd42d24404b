// sequence_classification: is a review friendly, is a mail spam? A recurrent network reads the words one by one and
// judges by the last one.
//   sequence_classification                generated film reviews
//   sequence_classification --data FILE    mails: a TSV file with the columns label, subject and body
// It saves a checkpoint every 200 steps and at Ctrl-C. Stopped, even by kill -9, it goes on to the same result.
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

#include "examples/support/bag_of_words.hpp"
#include "examples/support/data_name.hpp"
#include "examples/support/program.hpp"
#include "examples/support/saved_run.hpp"
#include "examples/support/stopwatch.hpp"
#include "examples/support/word_numbers.hpp"

using namespace tandem;

namespace {

struct Options : program::Options {
  i64 units = 64, embedding = 32, batch = 20;
  i64 words = 10000;  // of the vocabulary
  i64 length = 150;   // of a text: the words behind are left out
  double clip = 0;    // of the gradients' global norm; 0: they are not clipped
  std::string checkpoint = "sequence_classification.safetensors";
};

// --- data

struct Texts {
  std::vector<std::vector<std::string>> words;
  Tensor labels;  // int32 [n]
  i64 classes;
};
Texts texts_of(const std::vector<std::string>& texts, const Tensor& labels, i64 classes) {
  Texts t{{}, labels, classes};
  for (const std::string& text : texts) t.words.push_back(words::split(text));
  return t;
}
Texts mails(const std::string& path) {
  const data::Table table = data::load_tsv(path);
  const data::Categories labels = table.categories("label");
  std::vector<std::string> texts = table.texts("subject");
  const std::vector<std::string> bodies = table.texts("body");
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] += " " + bodies[i];
  if (table.rows() < 10 || labels.names.size() < 2)
    throw std::runtime_error(path + " needs ten rows at least, and two different labels");
  return texts_of(texts, labels.codes, static_cast<i64>(labels.names.size()));
}
Texts reviews(i64 seed) {
  const data::Reviews r = data::synthetic_reviews(5000, seed);
  return texts_of(r.texts, r.labels, 2);
}

// The texts as numbers of words, int32 [n, length]: 0 is padding, 1 a word that training does not know.
Tensor numbers_of(const Texts& texts, const Options& o) {
  std::vector<std::vector<std::string>> training;
  for (std::size_t i = 0; i < texts.words.size(); ++i)
    if (i % 5 != 0) training.push_back(texts.words[i]);
  return words::numbers(texts.words, words::vocabulary(training, o.words), o.length, 2).sequences;
}

// --- model

struct Classifier : Model<Classifier> {
  layers::Embedding embedding;
  layers::GRU gru;
  layers::Dense dense;

  Classifier(i64 classes, const Options& o)
      : embedding(o.words + 2, o.embedding),
        gru(o.units),
        dense(classes, {.kernel_initializer = initializers::TruncatedNormal(0, 0.01),
                        .bias_initializer = initializers::Constant(0.1)}) {}
  /// The logits of the classes, [batch, classes]. The network's output is that at the last word of each text.
  Tensor operator()(const Tensor& words) const {
    const Tensor lengths = reduce_sum(cast(words != 0, int32), 1);
    return dense(gru(embedding(words), {.sequence_length = lengths}));
  }
};

// The share of texts that are put into the wrong class.
using Batches = data::Dataset<std::array<Tensor, 2>>;  // words and labels

double error(const Classifier& model, const Batches& batches) {
  const metrics::SparseCategoricalAccuracy right;
  for (const auto& [words, labels] : batches.epoch(0)) right.update_state(labels, model(words));
  return 1 - right.result().item<double>();
}

// A step of training. What it measures is a part of the run's state.
struct Training {
  optimizers::RMSprop rmsprop{0.002};
  metrics::Mean loss;
  metrics::SparseCategoricalAccuracy right;
  Variable largest_norm{0.f, {.name = "largest_norm", .trainable = false}};  // of the gradients that were applied

  void step(const Classifier& model, const Tensor& words, const Tensor& labels, double clip) const {
    const losses::SparseCategoricalCrossentropy loss_of({.from_logits = true});
    const std::vector<Variable> weights = model.trainable_variables();
    GradientTape tape;
    const Tensor logits = model(words), y = loss_of(labels, logits);
    std::vector<Gradient> gradients = tape.gradient(y, weights);
    if (clip > 0) gradients = clip_by_global_norm(gradients, clip).gradients;
    rmsprop.apply_gradients(gradients, weights);
    loss.update_state(y), right.update_state(labels, logits);
    largest_norm.assign(maximum(largest_norm, global_norm(gradients)));
  }
};

// What a run that goes on must agree with.
train::Metadata settings(const Options& o) {
  return {{"program", "sequence_classification"},
          {"data", file_setting(o.data)},
          {"seed", std::to_string(o.seed)},
          {"units", std::to_string(o.units)},
          {"embedding", std::to_string(o.embedding)},
          {"batch", std::to_string(o.batch)},
          {"words", std::to_string(o.words)},
          {"length", std::to_string(o.length)},
          {"clip", number_setting(o.clip)}};
}

int learn(const Classifier& model, const Batches& train, const Batches& test, const Options& o) {
  const Training training;
  model(train.at_step(0)[0]);  // makes the weights
  training.rmsprop.build(model.trainable_variables());
  const auto step =
      function([&](const Tensor& words, const Tensor& labels) { training.step(model, words, labels, o.clip); });
  const SavedRun run(o.checkpoint, settings(o),
                     {{"model", model},
                      {"optimizer", training.rmsprop},
                      {"mean_loss", training.loss},
                      {"right", training.right},
                      {"largest_norm", training.largest_norm}});

  Stopwatch watch;
  const i64 first = training.rmsprop.iterations().item<i64>();
  for (const i64 i : interrupt::steps(first, o.steps)) {
    const auto [words, labels] = train.at_step(i);
    watch.start();
    step(words, labels);
    watch.stop();
    const i64 done = i + 1;
    if (done % 200 != 0 && done != o.steps) continue;
    const double loss = program::checked_loss(training.loss.result().item<double>());
    fmt::print(
        "step {}: loss {:.3f}, {:.1f} % of the batches' texts wrong, {:.1f} % of those held out; {:.0f} texts/s\n",
        done, loss, 100 * (1 - training.right.result().item<double>()), 100 * error(model, test),
        static_cast<double>((done - first) * o.batch) / watch.seconds());
    training.loss.reset_state(), training.right.reset_state();
    run.save();
  }
  if (interrupt::received) return run.interrupted();
  fmt::print("largest norm of a step's gradients{}: {:.3f}\n", o.clip > 0 ? ", clipped" : "",
             training.largest_norm.item<float>());
  fmt::print("after {} steps: {:.2f} % of the held-out texts right\n", training.rmsprop.iterations().item<i64>(),
             100 * (1 - error(model, test)));
  return 0;
}

int classify(const Options& o) {
  const Texts texts = o.data.empty() ? reviews(o.seed) : mails(o.data);
  const Tensor words = numbers_of(texts, o);
  const Tensor held_out = range(texts.labels.size()) % 5 == 0, others = logical_not(held_out);
  const auto train = data::from_tensor_slices({boolean_mask(words, others), boolean_mask(texts.labels, others)})
                         .shuffle({.seed = o.seed})
                         .batch(o.batch);
  const auto test =
      data::from_tensor_slices({boolean_mask(words, held_out), boolean_mask(texts.labels, held_out)}).batch(200);
  fmt::print("{} texts, {} of them held out\n", texts.labels.size(), count_nonzero(held_out).item<i64>());
  random::set_seed(o.seed);  // of the initial weights
  return learn(Classifier(texts.classes, o), train, test, o);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Classification of texts: friendly reviews, or spam.");
  program::add_options(app, o,
                       "a TSV file with the columns label, subject and body, plain or compressed by gzip; default: "
                       "generated reviews");
  const auto add = [&](const char* name, i64& value, const char* what) {
    app.add_option(name, value, what)->check(arguments::whole_number(1))->capture_default_str();
  };
  add("--units", o.units, "of the GRU");
  add("--embedding", o.embedding, "numbers a word");
  add("--words", o.words, "how many of the most frequent words count");
  add("--length", o.length, "words a text at most");
  add("--batch", o.batch, "texts a step");
  app.add_option("--clip", o.clip, "bound of the gradients' global norm; default: none")
      ->check(arguments::positive_number());
  app.add_option("--checkpoint", o.checkpoint, "the file to save to, and to go on from")->capture_default_str();
  return program::run("sequence_classification", app, argc, argv, [&] { return classify(o); });
}
