// sequence_classification: is a review friendly, is a mail spam? A recurrent network reads the words one by one and
// judges by the last one.
//   sequence_classification                generated film reviews
//   sequence_classification --data FILE    mails: a TSV file with the columns label, subject and body
// It keeps its run in a folder. Stopped, even by kill -9, it goes on to the same result.
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/strings.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/data_name.hpp"
#include "examples/support/training.hpp"

using namespace tandem;

namespace {

struct Options : training::Options {
  i64 units = 64, embedding = 32;
  i64 words = 10000;  // of the vocabulary
  i64 length = 150;   // of a text: the words behind are left out
  double clip = 0;    // of the gradients' global norm; 0: they are not clipped
};

// --- data

struct Texts {
  std::vector<std::string> texts;
  Tensor labels;  // int32 [n]
  i64 classes;
};
Texts mails(const std::string& path) {
  const data::Table table = data::load_tsv(path);
  const data::Categories labels = table.categories("label");
  std::vector<std::string> texts = table.texts("subject");
  const std::vector<std::string> bodies = table.texts("body");
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] += " " + bodies[i];
  if (table.rows() < 10 || labels.names.size() < 2)
    throw std::runtime_error(path + " needs ten rows at least, and two different labels");
  return {texts, labels.codes, static_cast<i64>(labels.names.size())};
}
Texts reviews(i64 seed) {
  const data::Reviews r = data::synthetic_reviews(5000, seed);
  return {r.texts, r.labels, 2};
}

// The texts as numbers of words, int32 [n, length]: 0 is padding, 1 a word that training does not know.
Tensor numbers_of(const Texts& t, const Tensor& training, const Options& o) {
  const Tensor plain = strings::regex_replace(strings::lower(constant(t.texts)), "[^a-z]+", " ");
  const layers::TextVectorization numbers(
      {.max_tokens = o.words + 2, .standardize = layers::Standardize::none, .output_sequence_length = o.length});
  numbers.adapt(boolean_mask(plain, training));
  return cast(numbers(plain), int32);
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

int classify(const Options& o) {
  const Texts texts = o.data.empty() ? reviews(o.seed) : mails(o.data);
  const Tensor held_out = range(texts.labels.size()) % 5 == 0, others = logical_not(held_out);
  const Tensor words = numbers_of(texts, others, o);
  const auto batches = data::from_tensor_slices({boolean_mask(words, others), boolean_mask(texts.labels, others)})
                           .shuffle({.seed = o.seed})
                           .batch(o.batch);
  const auto test =
      data::from_tensor_slices({boolean_mask(words, held_out), boolean_mask(texts.labels, held_out)}).batch(200);
  fmt::print("{} texts, {} of them held out\n", texts.labels.size(), count_nonzero(held_out).item<i64>());

  random::set_seed(o.seed);  // of the initial weights
  const Classifier model(texts.classes, o);
  optimizers::RMSpropOptions rmsprop{.learning_rate = 0.002};
  if (o.clip > 0) rmsprop.global_clipnorm = o.clip;
  train::Trainer trainer(model, {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                                 .optimizer = optimizers::RMSprop(rmsprop),
                                 .metrics = {metrics::SparseCategoricalAccuracy({.name = "accuracy"})}});
  const train::Metadata settings{{"program", "sequence_classification"}, {"data", file_setting(o.data)},
                                 {"units", std::to_string(o.units)},     {"embedding", std::to_string(o.embedding)},
                                 {"words", std::to_string(o.words)},     {"length", std::to_string(o.length)},
                                 {"clip", training::setting(o.clip)}};
  const train::History history = trainer.fit(batches, training::fit_options(o, settings, {.validation_data = test}));
  if (history.exit_status) return training::interrupted(history, o.run);
  fmt::print("after {} steps: {:.2f} % of the held-out texts right\n", trainer.step(),
             100 * history["val_accuracy"].back());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.run = "sequence_classification_run", o.epochs = 5, o.batch = 20;
  CLI::App app("Classification of texts: friendly reviews, or spam.");
  training::add_options(app, o,
                        "a TSV file with the columns label, subject and body, plain or compressed by gzip; default: "
                        "generated reviews",
                        "texts");
  arguments::add(app, "--units", o.units, 1, "of the GRU");
  arguments::add(app, "--embedding", o.embedding, 1, "numbers a word");
  arguments::add(app, "--words", o.words, 1, "how many of the most frequent words count");
  arguments::add(app, "--length", o.length, 1, "words a text at most");
  app.add_option("--clip", o.clip, "bound of the gradients' global norm; default: none")
      ->check(arguments::positive_number());
  return program::run("sequence_classification", app, argc, argv, o, classify);
}
