// fine_tune: a network that PyTorch has trained on the digits 0 to 4 learns 5 to 9 from a few pictures.
//   fine_tune                   generated digits
//   fine_tune --data DIR        MNIST's four files, train-images-idx3-ubyte.gz and so on
// Its first layers get the weights of a safetensors file, its last one is new. It is trained in three ways: all new
// weights; the loaded layers frozen; then all layers, gently.
#include <fmt/core.h>
#include <filesystem>

#include <tandem/data.hpp>
#include <tandem/io.hpp>
#include <tandem/plot.hpp>
#include <tandem/tandem.hpp>
#include <tandem/train.hpp>

#include "examples/support/digits.hpp"
#include "examples/support/on_device.hpp"
#include "weights.hpp"

using namespace tandem;

namespace {

struct Options {
  std::string data, weights = "fine_tune.safetensors", picture = "fine_tune.svg", device = "CPU:0";
  i64 examples = 30, epochs = 10, seed = 1;
};

// The layers of pretrain.py under the same names, but for the last one, which is "out" in the file, of other digits.
struct Net : Module {
  layers::Conv2D conv1{8, 3, {.padding = Padding::same, .activation = Activation::relu}};
  layers::Conv2D conv2{16, 3, {.padding = Padding::same, .activation = Activation::relu}};
  layers::Dense head{5};

  Net() {
    add_module("conv1", conv1), add_module("conv2", conv2), add_module("head", head);
    (*this)(zeros({1, 28, 28, 1}));  // makes the weights
  }
  Tensor operator()(const Tensor& images) const {
    const layers::MaxPooling2D half(2), quarter(4);
    return head(layers::Flatten()(quarter(conv2(half(conv1(images))))));
  }
};

// Writes the file that pretrain.py has made, if it is not there.
void write_weights(const std::string& path) {
  if (std::filesystem::exists(path)) return;
  const std::string hex = pretrained_weights;
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  io::write_file(path, bytes);
}

// Those of 5 to 9: pictures from 0 to 1, [n, 28, 28, 1], and labels from 0 to 4.
std::pair<Tensor, Tensor> five_to_nine(const data::Digits& d) {
  const Tensor labels = cast(d.labels, int32), chosen = labels >= 5;
  return {expand_dims(cast(boolean_mask(d.images, chosen), float32) / 255, -1), boolean_mask(labels, chosen) - 5};
}

struct Way {
  const char* name;
  std::vector<double> accuracy;  // of held-out digits, after each epoch
};

int learn(const Options& o) {
  write_weights(o.weights);
  const digits::Digits digits = digits::load(o.data, o.seed);
  const auto [all, all_labels] = five_to_nine(digits.train);
  const auto [held_out, held_out_labels] = five_to_nine(digits.test);
  if (o.examples > all_labels.size())
    throw std::runtime_error(fmt::format("there are only {} digits from 5 to 9", all_labels.size()));
  const Tensor images = all(Slice(0, o.examples)), labels = all_labels(Slice(0, o.examples));
  const auto batches = data::from_tensor_slices({images, labels}).shuffle({.seed = o.seed}).batch(10);
  const auto test = data::from_tensor_slices({held_out, held_out_labels}).batch(500);

  const i64 tested = held_out.shape()[0];

  std::vector<Way> ways;
  const auto train = [&](const char* name, const Net& net, double rate, i64 epochs) {
    i64 trained = 0;
    for (const Variable& w : net.trainable_variables()) trained += w.size();
    train::Trainer trainer(net, {.loss = losses::SparseCategoricalCrossentropy({.from_logits = true}),
                                 .optimizer = optimizers::Adam(rate),
                                 .metrics = {metrics::SparseCategoricalAccuracy({.name = "accuracy"})}});
    const train::History history = trainer.fit(
        batches, {.epochs = epochs, .validation_data = test, .progress = {.mode = train::ProgressMode::none}});
    ways.push_back({name, history["val_accuracy"]});
    fmt::print("{:28} {:5} weights: {:5.1f} % of {} held-out digits right\n", name, trained,
               100 * ways.back().accuracy.back(), tested);
  };
  random::set_seed(o.seed);  // of the initial weights
  train("new weights", Net(), 2e-3, 2 * o.epochs);

  const Net net;
  const train::RestoreReport report =
      train::load_weights(net, o.weights, {.partial = true, .allow_missing = true, .convert = train::from_pytorch});
  fmt::print("{}: {}\n", o.weights, to_string(report));
  net.conv1.set_trainable(false), net.conv2.set_trainable(false);
  train("loaded and frozen, new head", net, 2e-2, o.epochs);
  net.conv1.set_trainable(true), net.conv2.set_trainable(true);
  train("then all of them", net, 2e-3, o.epochs);

  ways[1].accuracy.insert(ways[1].accuracy.end(), ways[2].accuracy.begin(), ways[2].accuracy.end());
  const std::vector<plot::Series> lines{
      {ways[0].name, ways[0].accuracy},
      {fmt::format("loaded, and frozen in the first {} epochs", o.epochs), ways[1].accuracy}};
  plot::lines(lines, {.title = fmt::format("The digits 5 to 9, learned from {} pictures", o.examples),
                      .x_label = "epoch",
                      .y_label = "held-out digits right"})
      .save(o.picture);
  fmt::print("drawn in {}\n", o.picture);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  CLI::App app("A network that PyTorch has trained on the digits 0 to 4 learns 5 to 9 from a few pictures.");
  app.add_option("--data", o.data, "the folder of MNIST's four files; default: generated digits");
  app.add_option("--weights", o.weights, "a file of pretrain.py; written if it is not there")->capture_default_str();
  app.add_option("--picture", o.picture, "file of the picture")->capture_default_str();
  arguments::add(app, "--examples", o.examples, 1, "pictures to learn from");
  arguments::add(app, "--epochs", o.epochs, 1, "how often to see them");
  arguments::add(app, "--seed", o.seed, 0, "of everything random");
  program::add_device(app, o.device);
  return program::run("fine_tune", app, argc, argv, o, learn);
}
