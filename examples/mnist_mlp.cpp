// mnist_mlp: a network with two hidden layers learns to read digits.
//   mnist_mlp                generated digits: a few seconds
//   mnist_mlp --data DIR     MNIST's four files, train-images-idx3-ubyte.gz and so on
// It keeps its run in a folder. Stopped, even by kill -9, and started again, it goes on to the same result.
#include <fmt/core.h>
#include <iostream>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/program.hpp"

using namespace tandem;

namespace {

struct Options {
  std::string data;  // empty: generated digits
  std::string run = "mnist_mlp_run";
  int epochs = 80, batch = 100, seed = 1;
};

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

int learn(const Options& o) {
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
  const train::History history =
      trainer.fit(batches, {.epochs = o.epochs,
                            .validation_data = held_out,
                            .progress = {.output = &std::cout},
                            .directory = o.run,
                            .configuration = {{"program", "mnist_mlp"},
                                              {"data", digits.source.substr(digits.source.rfind('#') + 1)},
                                              {"batch", std::to_string(o.batch)},
                                              {"seed", std::to_string(o.seed)}}});
  if (history.exit_status) {
    fmt::print("interrupted; the same command goes on from {}\n", o.run);
    return history.exit_status;
  }
  fmt::print("{:.2f} % of {} held-out digits right; weights in {}\n", 100 * history["val_accuracy"].back(),
             digits.test.labels.shape()[0], o.run);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("A network with two hidden layers learns to read digits.");
  app.add_option("--data", o.data, "the folder of MNIST's four files; default: generated digits");
  app.add_option("--run", o.run, "the folder of the run, from which the same command goes on")->capture_default_str();
  app.add_option("--epochs", o.epochs, "how often to see all digits")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--batch", o.batch, "digits a step")->check(arguments::whole_number(1))->capture_default_str();
  app.add_option("--seed", o.seed, "of everything random")->check(arguments::whole_number(0))->capture_default_str();
  return program::run("mnist_mlp", app, argc, argv, [&] { return learn(o); });
}
