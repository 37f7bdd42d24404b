// sequence_classification: is a review friendly, is a mail spam? A recurrent network reads the words one by one and
// judges by the last one.
//   sequence_classification                generated film reviews
//   sequence_classification --data FILE    mails: a TSV file with the columns label, subject and body
#include <cstdio>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

#include "examples/support/bag_of_words.hpp"
#include "examples/support/program.hpp"
#include "examples/support/stopwatch.hpp"
#include "examples/support/word_numbers.hpp"

using namespace tandem;

namespace {

struct Options : program::Options {
  i64 units = 64, embedding = 32, batch = 20;
  i64 words = 10000;  // of the vocabulary
  i64 length = 150;   // of a text: the words behind are left out
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
double error(const Classifier& model, const data::Batches<2>& batches) {
  const metrics::SparseCategoricalAccuracy right;
  for (const auto& [words, labels] : batches.epoch(0)) right.update_state(labels, model(words));
  return 1 - right.result().item<double>();
}

int classify(const Options& o) {
  const Texts texts = o.data.empty() ? reviews(o.seed) : mails(o.data);
  const Tensor words = numbers_of(texts, o);
  const Tensor held_out = range(texts.labels.size()) % 5 == 0, others = logical_not(held_out);
  const data::Batches train({boolean_mask(words, others), boolean_mask(texts.labels, others)},
                            {.batch_size = o.batch, .seed = o.seed});
  const data::Batches test({boolean_mask(words, held_out), boolean_mask(texts.labels, held_out)},
                           {.batch_size = 200, .shuffle = false});
  std::printf("%lld texts, %lld of them held out\n", static_cast<long long>(texts.labels.size()),
              static_cast<long long>(test.rows()));

  random::set_seed(o.seed);  // of the initial weights
  const Classifier model(texts.classes, o);
  const losses::SparseCategoricalCrossentropy loss({.from_logits = true});
  const optimizers::RMSprop rmsprop(0.002);
  const metrics::Mean mean_loss;
  const metrics::SparseCategoricalAccuracy right;
  model(train.batch(0)[0]);  // makes the weights
  const auto step = function([&](const Tensor& words, const Tensor& labels) {
    mean_loss.update_state(rmsprop.minimize(
        [&] {
          const Tensor logits = model(words);
          right.update_state(labels, logits);
          return loss(labels, logits);
        },
        model.trainable_variables()));
  });

  Stopwatch watch;
  i64 done = 0;
  while (done < o.steps && !interrupt::received) {
    const auto [words, labels] = train.batch(done);
    watch.start();
    step(words, labels);
    watch.stop();
    if (++done % 200 != 0) continue;
    std::printf("step %lld: loss %.3f, %.1f %% of the batches' texts wrong, %.1f %% of those held out; %.0f texts/s\n",
                static_cast<long long>(done), mean_loss.result().item<double>(),
                100 * (1 - right.result().item<double>()), 100 * error(model, test),
                static_cast<double>(done * o.batch) / watch.seconds());
    std::fflush(stdout);
    mean_loss.reset_state(), right.reset_state();
  }
  std::printf("%s %lld steps: %.2f %% of the held-out texts right\n",
              interrupt::received ? "interrupted after" : "after", static_cast<long long>(done),
              100 * (1 - error(model, test)));
  return interrupt::received ? 130 : 0;
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
  return program::run("sequence_classification", app, argc, argv, [&] { return classify(o); });
}
