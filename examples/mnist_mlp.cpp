// mnist_mlp: a network with two hidden layers learns to read digits.
//   mnist_mlp                generated digits: a few seconds
//   mnist_mlp --data DIR     MNIST's four files, train-images-idx3-ubyte.gz and so on
// It saves a checkpoint after each epoch. Stopped, even by kill -9, and started again, it goes on to the same result.
#include <fmt/core.h>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/program.hpp"
#include "examples/support/saved_run.hpp"
#include "examples/support/stopwatch.hpp"

using namespace tandem;

namespace {

struct Options {
  std::string data;  // empty: generated digits
  std::string checkpoint = "mnist_mlp.safetensors";
  int epochs = 80, batch = 100, seed = 1;
};

layers::Sequential network() {
  return layers::Sequential{layers::Rescaling(1. / 255),  layers::Flatten(),     //
                            layers::Dense(256, nn::relu), layers::Dropout(0.2),  //
                            layers::Dense(256, nn::relu), layers::Dropout(0.2), layers::Dense(10)};
}

// The share of images whose digit is recognized.
double accuracy(const layers::Sequential& net, const data::Digits& digits) {
  const metrics::SparseCategoricalAccuracy accuracy;
  const auto batches = data::from_tensor_slices({digits.images, digits.labels}).batch(500);
  for (const auto& [images, labels] : batches.epoch(0)) accuracy.update_state(labels, net(images));
  return accuracy.result().item<double>();
}

int learn(const Options& o) {
  const digits::Digits digits = digits::load(o.data, o.seed);
  const auto batches = data::from_tensor_slices({digits.train.images, digits.train.labels})
                           .shuffle({.seed = o.seed})
                           .batch(o.batch, {.drop_remainder = true});

  random::set_seed(o.seed);  // of the initial weights, of dropout and of the images' moves
  const layers::Sequential net = network();
  net.build({none, 28, 28}, DType::uint8);
  fmt::print("{}\n", net.summary());

  const losses::SparseCategoricalCrossentropy loss({.from_logits = true});
  const optimizers::Adam adam(optimizers::schedules::ExponentialDecay(2e-3, double(batches.size()), 0.97));
  const std::vector<Variable> weights = net.trainable_variables();
  adam.build(weights);
  // A step of training, traced into a graph at its first call.
  const auto step = function([&](const Tensor& images, const Tensor& labels) {
    const training_scope training(true);
    return adam.minimize([&] { return loss(labels, net(digits::moved(images))); }, weights);
  });

  // The whole state of a run: the optimizer counts the steps, and the batches are a function of their number.
  const metrics::Mean mean_loss;
  const SavedRun run(
      o.checkpoint,
      {{"program", "mnist_mlp"},
       {"data", digits.source},
       {"batch", std::to_string(o.batch)},
       {"seed", std::to_string(o.seed)}},
      {{"model", net}, {"optimizer", adam}, {"random", random::global_generator().state()}, {"mean_loss", mean_loss}});

  Stopwatch watch;
  const i64 first = adam.iterations().item<i64>();
  for (const i64 i : interrupt::steps(first, o.epochs * batches.size())) {
    watch.start();
    const auto [images, labels] = batches.at_step(i);
    mean_loss.update_state(step(images, labels));
    watch.stop();
    if ((i + 1) % batches.size() != 0) continue;
    fmt::print("epoch {:2}: loss {:.4f}, {:.2f} % of held-out digits right, {:.0f} digits/s\n",
               (i + 1) / batches.size(), mean_loss.result().item<double>(), 100 * accuracy(net, digits.test),
               double((i + 1 - first) * o.batch) / watch.seconds());
    mean_loss.reset_state();
    run.save();
  }
  if (interrupt::received) return run.interrupted();
  fmt::print("{:.2f} % of {} held-out digits right; weights in {}\n", 100 * accuracy(net, digits.test),
             digits.test.labels.shape()[0], o.checkpoint);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("A network with two hidden layers learns to read digits.");
  app.add_option("--data", o.data, "the folder of MNIST's four files; default: generated digits");
  app.add_option("--checkpoint", o.checkpoint, "the file to save to, and to go on from")->capture_default_str();
  app.add_option("--epochs", o.epochs, "how often to see all digits")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--batch", o.batch, "digits a step")->check(arguments::whole_number(1))->capture_default_str();
  app.add_option("--seed", o.seed, "of everything random")->check(arguments::whole_number(0))->capture_default_str();
  return program::run("mnist_mlp", app, argc, argv, [&] { return learn(o); });
}
