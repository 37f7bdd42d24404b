// logistic_regression: who survived the Titanic, by class, sex and age. A table with missing fields becomes features; a
// part of the rows is held out to measure what was learnt.
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

#include "examples/support/finite_numbers.hpp"
#include "examples/support/program.hpp"

using namespace tandem;

namespace {

struct Passengers {
  Tensor features;  // [n, 5]: a flag for each of three classes, whether female, age / 80
  Tensor survived;  // [n, 1]
};

// From the columns Survived, Pclass, Sex and Age, as Kaggle's train.csv has them.
Passengers passengers(const std::string& path, const data::Table& table) {
  const Tensor classes = one_hot(cast(squeeze(finite_numbers(path, table, {"Pclass"}), {1}), int32) - 1, 3);
  std::vector<float> female;
  for (const std::string& sex : table.texts("Sex")) female.push_back(sex == "female" ? 1.f : 0.f);
  // Gradient descent wants features of similar size: unscaled ages would need a hundredth of the learning rate.
  const Tensor age = finite_numbers(path, table, {"Age"}, {.missing = 30}) / 80;
  return {concat({classes, expand_dims(constant(female), 1), age}, 1), finite_numbers(path, table, {"Survived"})};
}

struct Model : tandem::Model<Model> {
  layers::Dense dense{1};
  Tensor operator()(const Tensor& x) const { return dense(x); }  // logits
};
Tensor loss_of(const Model& model, const Tensor& x, const Tensor& y) {
  return reduce_mean(nn::sigmoid_cross_entropy_with_logits(y, model(x)));
}
double accuracy(const Model& model, const Passengers& p) {
  return 100 * reduce_mean(metrics::binary_accuracy(p.survived, sigmoid(model(p.features)))).item<float>();
}

// A step on some rows; the weights are made at the first call.
auto make_step(const Model& model, const Optimizer& optimizer) {
  return function([&](const Tensor& x, const Tensor& y) {
    GradientTape tape;
    const Tensor loss = loss_of(model, x, y);
    const std::vector<Variable> weights = model.trainable_variables();
    optimizer.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  });
}

int predict(const program::Options& o) {
  random::set_seed(o.seed);
  const auto table = o.data.empty() ? data::parse_csv(data::synthetic_titanic(o.seed)) : data::load_csv(o.data);
  if (table.rows() < 10) throw std::runtime_error(o.data + " needs ten rows at least");
  const Passengers all = passengers(o.data, table);
  const auto [train, test] = data::split({all.features, all.survived}, {0.7, 0.3}, {.seed = o.seed});

  const Model model;
  const optimizers::SGD sgd(0.1);
  const auto step = make_step(model, sgd);
  const auto batches = data::from_tensor_slices(train).shuffle({.seed = o.seed}).batch(100);
  for (std::int64_t i = 0; i < o.steps; ++i) {
    const auto [x, y] = batches.at_step(i);
    step(x, y);
  }
  fmt::print("{} passengers, {} steps: {:.1f} % right of those held out, {:.1f} % of the others\n", table.rows(),
             o.steps, accuracy(model, {test[0], test[1]}), accuracy(model, {train[0], train[1]}));

  // Without ages the data are a table of counts, and the best fit to all of them does not depend on chance.
  const Passengers by_class_and_sex{all.features(Ellipsis, Slice(0, 4)), all.survived};
  const Model best;
  const optimizers::Adam adam(optimizers::schedules::ExponentialDecay(0.1, 200, 0.5));  // so that it comes to rest
  const auto fit = make_step(best, adam);
  for (int i = 0; i < 2000; ++i) fit(by_class_and_sex.features, by_class_and_sex.survived);
  fmt::print("by class and sex only, to convergence: {:.2f} % of all, loss {:.5f}\n", accuracy(best, by_class_and_sex),
             loss_of(best, by_class_and_sex.features, by_class_and_sex.survived).item<float>());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  program::Options o;
  CLI::App app("Logistic regression: who survived the Titanic.");
  program::add_options(app, o,
                       "a CSV file with the columns Survived, Pclass, Sex and Age; default: generated, with the real "
                       "numbers of survivors by class and sex");
  return program::run("logistic_regression", app, argc, argv, [&] { return predict(o); });
}
