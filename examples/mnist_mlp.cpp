// mnist_mlp: a network with two hidden layers learns to read digits.
//   mnist_mlp                generated digits: a few seconds
//   mnist_mlp --data DIR     MNIST's four files, train-images-idx3-ubyte.gz and so on
// It keeps its run in a folder. Stopped, even by kill -9, and started again, it goes on to the same result.
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/training.hpp"

using namespace tandem;

namespace {

layers::Sequential network() {
  const auto moved = [](const Tensor& images) { return is_training() ? digits::moved(images) : images; };
  return layers::Sequential{moved,
                            layers::Rescaling(1. / 255),
                            layers::Flatten(),
                            layers::Dense(256, nn::relu),
                            layers::Dropout(0.2),
                            layers::Dense(256, nn::relu),
                            layers::Dropout(0.2),
                            layers::Dense(10)};
}

int learn(const training::Options& o) {
  const digits::Digits digits = digits::load(o.data, o.seed);
  const auto batches = data::from_tensor_slices({digits.train.images, digits.train.labels})
                           .shuffle({.seed = o.seed})
                           .batch(o.batch, {.drop_remainder = true});
  const auto held_out = data::from_tensor_slices({digits.test.images, digits.test.labels}).batch(500);

  random::set_seed(o.seed);  // of the initial weights, of dropout and of the images' moves
  const layers::Sequential net = network();
  net.build({none, 28, 28}, DType::uint8);
  fmt::print("{}\n", net.summary());

  train::Trainer trainer(
      net, {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
            .optimizer = optimizers::Adam(optimizers::schedules::ExponentialDecay(2e-3, double(batches.size()), 0.97)),
            .metrics = {metrics::SparseCategoricalAccuracy({.name = "accuracy"})}});
  const train::History history = trainer.fit(
      batches,
      training::fit_options(o, {{"program", "mnist_mlp"}, {"data", digits.source}}, {.validation_data = held_out}));
  if (history.exit_status) return training::interrupted(history, o.run);
  fmt::print("{:.2f} % of {} held-out digits right; weights in {}\n", 100 * history["val_accuracy"].back(),
             digits.test.labels.shape()[0], o.run);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  training::Options o{.run = "mnist_mlp_run", .epochs = 80, .batch = 100};
  CLI::App app("A network with two hidden layers learns to read digits.");
  training::add_options(app, o, "the folder of MNIST's four files; default: generated digits", "digits");
  return program::run("mnist_mlp", app, argc, argv, o, learn);
}
