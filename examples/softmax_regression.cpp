// softmax_regression: one matrix that maps features to classes. Tells irises apart by four lengths, or spam from other
// mail by the words in it (--task spam).
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/strings.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/on_device.hpp"

using namespace tandem;

namespace {

struct Options : program::Options {
  std::string task = "iris";
  std::int64_t words = 2000;
  std::int64_t splits = 0;  // random ones; 0: every fifth row is held out
};

struct Samples {
  Tensor x;       // [n, features]
  Tensor labels;  // int32 [n]
  i64 classes = 0;
};

// --- iris

// Three clusters with the means and covariances of the 150 flowers that R. A. Fisher published in 1936; sizes in cm.
Samples generated_flowers() {
  struct Species {
    std::vector<std::vector<double>> mean, factor;  // factor times its transpose is the covariance
  };
  const Species all[] = {
      {{{5.006, 3.428, 1.462, 0.246}},
       {{0.352, 0, 0, 0}, {0.281, 0.254, 0, 0}, {0.046, -0.005, 0.167, 0}, {0.029, 0.004, 0.028, 0.097}}},
      {{{5.936, 2.770, 4.260, 1.326}},
       {{0.516, 0, 0, 0}, {0.165, 0.267, 0, 0}, {0.354, 0.091, 0.295, 0}, {0.108, 0.088, 0.091, 0.107}}},
      {{{6.588, 2.974, 5.552, 2.026}},
       {{0.636, 0, 0, 0}, {0.147, 0.287, 0, 0}, {0.477, 0.004, 0.278, 0}, {0.077, 0.126, 0.042, 0.228}}}};
  std::vector<Tensor> clusters;
  for (const Species& s : all) {
    const Tensor z = random::normal({50, 4});
    clusters.push_back(constant(s.mean, float32) + matmul(z, constant(s.factor, float32), {.transpose_b = true}));
  }
  return {concat(clusters, 0), repeat(range(3), 50), 3};
}
Samples load_flowers(const std::string& path) {
  const data::Table table = data::load_csv(path);
  std::vector<std::string> features = table.columns();
  if (table.rows() < 10 || features.size() < 2)
    throw std::runtime_error(path + " needs two columns and ten rows at least");
  const data::Categories classes = table.categories(features.back());
  features.pop_back();
  return {table.numbers(features, {.finite = true}), classes.codes, static_cast<i64>(classes.names.size())};
}

// --- spam

// A row for each text: 1 for those of the most frequent words that it has. float32
Tensor bags(const std::vector<std::string>& texts, i64 words) {
  const Tensor plain = strings::regex_replace(strings::lower(constant(texts)), "[^a-z]+", " ");
  const layers::TextVectorization bag({.max_tokens = words + 1,
                                       .standardize = layers::Standardize::none,
                                       .output_mode = layers::TextOutput::multi_hot});
  bag.adapt(plain);
  return bag(plain)(Ellipsis, Slice(1, none));  // without the column of unknown words
}
Samples load_mails(const Options& o) {
  const data::Table table = data::load_tsv(o.data);
  if (table.rows() < 10) throw std::runtime_error(o.data + " needs ten rows at least");
  std::vector<std::string> texts = table.texts("subject");
  const std::vector<std::string> bodies = table.texts("body");
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i] += " " + bodies[i];
  const data::Categories classes = table.categories("label");
  return {bags(texts, o.words), classes.codes, static_cast<i64>(classes.names.size())};
}
Samples generated_reviews(const Options& o) {
  const data::Reviews reviews = data::synthetic_reviews(3000, o.seed);
  return {bags(reviews.texts, o.words), reviews.labels, 2};
}

// --- both

// One matrix, all zeros at the beginning.
train::Trainer trainer_of(const Samples& s, const Options& o) {
  const layers::Dense model(s.classes, {.kernel_initializer = initializers::Zeros()});
  return {model,
          {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
           .optimizer = o.task == "iris" ? Optimizer(optimizers::SGD(0.01)) : optimizers::Adam(0.01),
           .metrics = {metrics::SparseCategoricalAccuracy({.name = "right"})}}};
}
void fit(train::Trainer& trainer, const train::Batches& batches, const Options& o) {
  trainer.fit(batches, {.steps_per_epoch = o.steps, .progress = {.mode = train::ProgressMode::none}});
}
void report(const char* what, train::Trainer& trainer, const Tensor& x, const Tensor& labels) {
  const train::Values found = trainer.evaluate(x, labels, x.shape()[0]);
  fmt::print("{}: {:.0f} of {} right ({:.1f} %), loss {:.5f}\n", what, found["right"] * double(labels.size()),
             labels.size(), 100 * found["right"], found["loss"]);
}

// Every fifth row is held out.
int classify(const Samples& s, const Options& o) {
  const Tensor held_out = range(s.labels.size()) % 5 == 0;
  const Tensor others = logical_not(held_out);
  const Tensor x = boolean_mask(s.x, others), labels = boolean_mask(s.labels, others);
  train::Trainer trainer = trainer_of(s, o);
  const auto rows = data::from_tensor_slices({x, labels});
  fit(trainer, o.task == "iris" ? rows.batch(x.shape()[0]) : rows.shuffle({.seed = o.seed}).batch(100), o);
  report("held out", trainer, boolean_mask(s.x, held_out), boolean_mask(s.labels, held_out));
  report("training rows", trainer, x, labels);
  return 0;
}
// Again and again other 30 % are held out. A single split of few rows says little.
int classify_by_splits(const Samples& s, const Options& o) {
  double sum = 0, least = 1, most = 0;
  for (std::int64_t seed = o.seed; seed < o.seed + o.splits; ++seed) {
    const auto [rows, held_out] = data::split({s.x, s.labels}, {0.7, 0.3}, {.seed = seed});
    train::Trainer trainer = trainer_of(s, o);
    fit(trainer, data::from_tensor_slices(rows).shuffle({.seed = seed}).batch(100, {.drop_remainder = true}), o);
    const double right = trainer.evaluate(held_out[0], held_out[1])["right"];
    sum += right, least = std::min(least, right), most = std::max(most, right);
  }
  fmt::print("{} random splits: {:.1f} % of the held-out rows right, from {:.1f} to {:.1f} %\n", o.splits,
             100 * sum / static_cast<double>(o.splits), 100 * least, 100 * most);
  return 0;
}

int learn(const Options& o) {
  random::set_seed(o.seed);
  const bool flowers = o.task == "iris";
  const Samples s = flowers ? (o.data.empty() ? generated_flowers() : load_flowers(o.data))
                            : (o.data.empty() ? generated_reviews(o) : load_mails(o));
  return o.splits ? classify_by_splits(s, o) : classify(s, o);
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("Softmax regression: kinds of irises, or spam.");
  program::add_options(app, o,
                       "iris: a CSV file, the class in its last column; default: generated flowers. spam: a TSV file "
                       "with the columns label, subject and body; default: generated reviews");
  app.add_option("--task", o.task, "iris or spam")->check(CLI::IsMember({"iris", "spam"}))->capture_default_str();
  arguments::add(app, "--words", o.words, 1, "of spam: how many of the most frequent words count");
  app.add_option("--splits", o.splits, "hold out 30 % of the rows at random, so many times; default: every fifth row")
      ->check(arguments::whole_number(1));
  return program::run("softmax_regression", app, argc, argv, o, learn);
}
