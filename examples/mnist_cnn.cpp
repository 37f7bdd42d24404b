// mnist_cnn: a convolutional network learns to read digits, and says which ones it confuses.
//   mnist_cnn                        generated digits
//   mnist_cnn --data DIR             MNIST's four files, train-images-idx3-ubyte.gz and so on
//   mnist_cnn --batch-normalization  normalizes the convolutions' results
//   tandem_run -n 2 -- mnist_cnn     two processes compute the gradients of each batch
// It keeps its run in a folder; stopped, the same command goes on from it.
#include <fmt/format.h>

#include <tandem/data.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/training.hpp"
#include "examples/support/workers.hpp"

using namespace tandem;

namespace {

struct Options : training::Options {
  bool batch_normalization = false;
};

layers::Sequential network(bool batch_normalization) {
  const auto moved = [](const Tensor& images) { return is_training() ? digits::moved(images) : images; };
  layers::Sequential net{moved, layers::Rescaling(1. / 255), layers::Reshape({28, 28, 1})};
  for (const i64 filters : {32, 64}) {
    net.add(layers::Conv2D(filters, 5, {.padding = Padding::same}));
    if (batch_normalization) net.add(layers::BatchNormalization({.momentum = 0.9, .synchronized = true}));
    net.add(layers::ReLU()).add(layers::MaxPooling2D(2));
  }
  net.add(layers::Flatten()).add(layers::Dense(512, nn::relu)).add(layers::Dropout(0.4)).add(layers::Dense(10));
  return net;
}

// Prints how often each digit (row) was taken for each digit (column).
void print(const Tensor& confusion) {
  const std::vector<int> counts = confusion.to_vector<int>();
  fmt::print("\ndigit   taken for 0    1    2    3    4    5    6    7    8    9\n");
  for (int i = 0; i < 10; ++i)
    fmt::print("{:5}         {:5}\n", i, fmt::join(counts.begin() + 10 * i, counts.begin() + 10 * (i + 1), ""));
}

int learn(const Options& o) {
  const distribute::MultiWorkerMirroredStrategy strategy;  // this process, or all that a launcher has started
  const auto scope = strategy.scope();
  const digits::Digits digits = digits::load(o.data, o.seed);
  const auto batches = data::from_tensor_slices({digits.train.images, digits.train.labels})
                           .shuffle({.seed = o.seed})
                           .batch(o.batch, {.drop_remainder = true});
  const auto held_out = data::from_tensor_slices({digits.test.images, digits.test.labels}).batch(500);
  random::set_seed(o.seed);  // of the initial weights, of dropout and of the images' moves
  const layers::Sequential net = network(o.batch_normalization);
  net.build({none, 28, 28}, DType::uint8);
  if (workers::is_first(strategy)) fmt::print("{}\n", net.summary());

  train::Trainer trainer(
      net, {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
            .optimizer = optimizers::Adam(optimizers::schedules::ExponentialDecay(1e-3, double(batches.size()), 0.8)),
            .metrics = {metrics::SparseCategoricalAccuracy({.name = "accuracy"})}});
  const train::Metadata settings{
      {"program", "mnist_cnn"}, {"data", digits.source}, {"batch normalization", o.batch_normalization ? "on" : "off"}};
  const train::History history =
      trainer.fit(strategy.distribute_dataset(batches),
                  training::fit_options(o, settings, {.validation_data = strategy.distribute_dataset(held_out)}));
  if (!workers::is_first(strategy)) return history.exit_status;
  if (history.exit_status) return training::interrupted(history, o.run);
  print(confusion_matrix(digits.test.labels, argmax(trainer.predict(held_out), -1), {.num_classes = 10}));
  fmt::print("{:.2f} % of {} held-out digits right; weights in {}\n", 100 * history["val_accuracy"].back(),
             digits.test.labels.shape()[0], o.run);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  o.run = "mnist_cnn_run", o.epochs = 10, o.batch = 100;
  CLI::App app("A convolutional network learns to read digits.");
  training::add_options(app, o, "the folder of MNIST's four files; default: generated digits", "digits");
  app.add_flag("--batch-normalization", o.batch_normalization, "normalize the results of convolutions");
  return program::run("mnist_cnn", app, argc, argv, o, learn);
}
