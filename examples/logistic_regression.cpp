// logistic_regression: who survived the Titanic, by class, sex and age. A table with missing fields becomes features; a
// part of the rows is held out to measure what was learnt.
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/on_device.hpp"

using namespace tandem;

namespace {

struct Passengers {
  Tensor features;  // [n, 5]: a flag for each of three classes, whether female, age / 80
  Tensor survived;  // [n, 1]
};

// From the columns Survived, Pclass, Sex and Age, as Kaggle's train.csv has them.
Passengers passengers(const data::Table& table) {
  const Tensor classes = one_hot(cast(table.numbers("Pclass", {.finite = true}), int32) - 1, 3);
  std::vector<float> female;
  for (const std::string& sex : table.texts("Sex")) female.push_back(sex == "female" ? 1.f : 0.f);
  // Gradient descent wants features of similar size: unscaled ages would need a hundredth of the learning rate.
  const Tensor age = table.numbers({"Age"}, {.missing = 30, .finite = true}) / 80;
  return {concat({classes, expand_dims(constant(female), 1), age}, 1), table.numbers({"Survived"}, {.finite = true})};
}

train::Trainer trainer_of(const Optimizer& optimizer) {
  return {layers::Dense(1),
          {.loss = losses::BinaryCrossentropy({.from_logits = true}),
           .optimizer = optimizer,
           .metrics = {metrics::BinaryAccuracy({.name = "right", .threshold = 0})}}};  // of logits
}
void fit(train::Trainer& trainer, const train::Batches& batches, i64 steps) {
  trainer.fit(batches, {.steps_per_epoch = steps, .progress = {.mode = train::ProgressMode::none}});
}

int predict(const program::Options& o) {
  random::set_seed(o.seed);
  const auto table = o.data.empty() ? data::parse_csv(data::synthetic_titanic(o.seed)) : data::load_csv(o.data);
  if (table.rows() < 10) throw std::runtime_error(o.data + " needs ten rows at least");
  const Passengers all = passengers(table);
  const auto [train, test] = data::split({all.features, all.survived}, {0.7, 0.3}, {.seed = o.seed});

  train::Trainer trainer = trainer_of(optimizers::SGD(0.1));
  fit(trainer, data::from_tensor_slices(train).shuffle({.seed = o.seed}).batch(100), o.steps);
  fmt::print("{} passengers, {} steps: {:.1f} % right of those held out, {:.1f} % of the others\n", table.rows(),
             o.steps, 100 * trainer.evaluate(test[0], test[1])["right"],
             100 * trainer.evaluate(train[0], train[1])["right"]);

  // Without ages the data are a table of counts, and the best fit to all of them does not depend on chance.
  const Tensor class_and_sex = all.features(Ellipsis, Slice(0, 4));
  const optimizers::Adam adam(optimizers::schedules::ExponentialDecay(0.1, 200, 0.5));  // so that it comes to rest
  train::Trainer best = trainer_of(adam);
  fit(best, data::from_tensor_slices({class_and_sex, all.survived}).batch(table.rows()), 2000);
  const train::Values found = best.evaluate(class_and_sex, all.survived, table.rows());
  fmt::print("by class and sex only, to convergence: {:.2f} % of all, loss {:.5f}\n", 100 * found["right"],
             found["loss"]);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::Options o;
  CLI::App app("Logistic regression: who survived the Titanic.");
  program::add_options(app, o,
                       "a CSV file with the columns Survived, Pclass, Sex and Age; default: generated, with the real "
                       "numbers of survivors by class and sex");
  return program::run("logistic_regression", app, argc, argv, o, predict);
}
