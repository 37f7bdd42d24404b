// mnist_cnn: a convolutional network learns to read digits, and says which ones it confuses.
//   mnist_cnn                        generated digits
//   mnist_cnn --data DIR             MNIST's four files, train-images-idx3-ubyte.gz and so on
//   mnist_cnn --batch-normalization  normalizes the convolutions' results
// It saves a checkpoint after each epoch and at Ctrl-C; the same command goes on from it.
#include <fmt/format.h>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/program.hpp"
#include "examples/support/progress.hpp"
#include "examples/support/saved_run.hpp"
#include "examples/support/stopwatch.hpp"

using namespace tandem;

namespace {

struct Options {
  std::string data;  // empty: generated digits
  std::string checkpoint = "mnist_cnn.safetensors";
  int epochs = 10, steps = 0, batch = 100, seed = 1;
  bool batch_normalization = false;
};

layers::Sequential network(bool batch_normalization) {
  layers::Sequential net{layers::Rescaling(1. / 255), layers::Reshape({28, 28, 1})};
  for (const i64 filters : {32, 64}) {
    net.add(layers::Conv2D(filters, 5, {.padding = Padding::same}));
    if (batch_normalization) net.add(layers::BatchNormalization({.momentum = 0.9}));
    net.add(layers::ReLU()).add(layers::MaxPooling2D(2));
  }
  net.add(layers::Flatten()).add(layers::Dense(512, nn::relu)).add(layers::Dropout(0.4)).add(layers::Dense(10));
  return net;
}

// How often each digit (row) was taken for each digit (column).
Tensor confusion(const layers::Sequential& net, const data::Digits& digits) {
  const auto batches = data::from_tensor_slices({digits.images, digits.labels}).batch(500);
  Tensor counts = zeros({10, 10}, DType::int32);
  for (const auto& [images, labels] : batches.epoch(0))
    counts = counts + confusion_matrix(labels, argmax(net(images), -1), {.num_classes = 10});
  return counts;
}
double accuracy(const Tensor& confusion) {
  const int right = linalg::trace(confusion).item<int>(), all = reduce_sum(confusion).item<int>();
  return double(right) / all;
}
void print(const Tensor& confusion) {
  const std::vector<int> counts = confusion.to_vector<int>();
  fmt::print("\ndigit   taken for 0    1    2    3    4    5    6    7    8    9\n");
  for (int i = 0; i < 10; ++i)
    fmt::print("{:5}         {:5}\n", i, fmt::join(counts.begin() + 10 * i, counts.begin() + 10 * (i + 1), ""));
}

int learn(const Options& o) {
  const digits::Digits digits = digits::load(o.data, o.seed);
  const auto batches = data::from_tensor_slices({digits.train.images, digits.train.labels})
                           .shuffle({.seed = o.seed})
                           .batch(o.batch, {.drop_remainder = true});
  random::set_seed(o.seed);  // of the initial weights, of dropout and of the images' moves
  const layers::Sequential net = network(o.batch_normalization);
  net.build({none, 28, 28}, DType::uint8);
  fmt::print("{}\n", net.summary());

  const losses::SparseCategoricalCrossentropy loss({.from_logits = true});
  const optimizers::Adam adam(optimizers::schedules::ExponentialDecay(1e-3, double(batches.size()), 0.8));
  const std::vector<Variable> weights = net.trainable_variables();
  adam.build(weights);
  const auto step = function([&](const Tensor& images, const Tensor& labels) {
    const training_scope training(true);
    return adam.minimize([&] { return loss(labels, net(digits::moved(images))); }, weights);
  });

  const metrics::Mean mean_loss;
  const SavedRun run(
      o.checkpoint,
      {{"program", "mnist_cnn"},
       {"data", digits.source},
       {"batch", std::to_string(o.batch)},
       {"seed", std::to_string(o.seed)},
       {"batch normalization", o.batch_normalization ? "on" : "off"}},
      {{"model", net}, {"optimizer", adam}, {"random", random::global_generator().state()}, {"mean_loss", mean_loss}});

  Stopwatch watch;
  Progress progress;
  Tensor counts;
  const i64 first = adam.iterations().item<i64>(), steps = o.steps ? o.steps : o.epochs * batches.size();
  for (const i64 i : interrupt::steps(first, steps)) {
    watch.start();
    const auto [images, labels] = batches.at_step(i);
    mean_loss.update_state(step(images, labels));
    watch.stop();
    const double speed = double((i + 1 - first) * o.batch) / watch.seconds();
    progress.show(double(i + 1) / double(steps), fmt::format("step {}", i + 1));
    if ((i + 1) % batches.size() != 0 && i + 1 != steps) continue;
    progress.end();
    counts = confusion(net, digits.test);
    fmt::print("step {:4}: loss {:.4f}, {:.2f} % of held-out digits right, {:.0f} digits/s\n", i + 1,
               mean_loss.result().item<double>(), 100 * accuracy(counts), speed);
    mean_loss.reset_state();
    run.save();
  }
  if (interrupt::received) return run.interrupted();
  if (!counts.is_set()) counts = confusion(net, digits.test);
  print(counts);
  fmt::print("{:.2f} % of {} held-out digits right; weights in {}\n", 100 * accuracy(counts),
             digits.test.labels.shape()[0], o.checkpoint);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("A convolutional network learns to read digits.");
  app.add_option("--data", o.data, "the folder of MNIST's four files; default: generated digits");
  app.add_option("--checkpoint", o.checkpoint, "the file to save to, and to go on from")->capture_default_str();
  app.add_flag("--batch-normalization", o.batch_normalization, "normalize the results of convolutions");
  app.add_option("--epochs", o.epochs, "how often to see all digits")
      ->check(arguments::whole_number(1))
      ->capture_default_str();
  app.add_option("--steps", o.steps, "how many steps to train, instead")->check(arguments::whole_number(1));
  app.add_option("--batch", o.batch, "digits a step")->check(arguments::whole_number(1))->capture_default_str();
  app.add_option("--seed", o.seed, "of everything random")->check(arguments::whole_number(0))->capture_default_str();
  return program::run("mnist_cnn", app, argc, argv, [&] { return learn(o); });
}
