// Tandem's side of time_to_loss/program.py: trains a network on given batches from given weights.
//   time_to_loss mlp|cnn THREADS INPUTS.npz OUTPUTS.npz
// INPUTS has images uint8 [n, 28, 28], labels int64 [n], order int32 [steps, batch], learning_rate float32 [], epsilon
// float64 [], and the kernels weight_0, weight_1, ...; OUTPUTS gets losses float32 [steps] and seconds float64 [steps],
// since the start.
#include <fmt/format.h>

#include <tandem/io.hpp>
#include <tandem/tandem.hpp>

#include <chrono>
#include <cstdio>
#include <map>
#include <string>

namespace {
using namespace tandem;

layers::Sequential network(const std::string& model) {
  layers::Sequential net{layers::Rescaling(1. / 255)};
  if (model == "cnn") {
    net.add(layers::Reshape({28, 28, 1}));
    for (const i64 filters : {32, 64})
      net.add(layers::Conv2D(filters, 5, nn::relu, {.padding = Padding::same})).add(layers::MaxPooling2D());
    net.add(layers::Flatten()).add(layers::Dense(1024, nn::relu)).add(layers::Dense(10));
  } else {
    net.add(layers::Flatten()).add(layers::Dense(256, nn::relu)).add(layers::Dense(256, nn::relu));
    net.add(layers::Dense(10));
  }
  return net;
}

void train(const std::string& model, std::map<std::string, Tensor> given, const std::string& outputs) {
  const layers::Sequential net = network(model);
  net.build({none, 28, 28}, DType::uint8);
  const std::vector<Variable> weights = net.trainable_variables();
  for (std::size_t i = 0; 2 * i < weights.size(); ++i)  // kernels; the biases between them are zeros
    weights[2 * i].assign(given.at("weight_" + std::to_string(i)));

  const losses::SparseCategoricalCrossentropy loss({.from_logits = true});
  const optimizers::Adam adam(
      {.learning_rate = given.at("learning_rate").item<float>(), .epsilon = given.at("epsilon").item<double>()});
  const auto step = function([&](const Tensor& rows) {
    const Tensor x = gather(given.at("images"), rows), y = gather(given.at("labels"), rows);
    return adam.minimize([&] { return loss(y, net(x)); }, weights);
  });

  const std::vector<Tensor> order = unstack(given.at("order"));
  std::vector<float> reached;
  std::vector<double> seconds;
  const auto begin = std::chrono::steady_clock::now();
  for (const Tensor& rows : order) {
    reached.push_back(step(rows).item<float>());
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  io::save_npz(outputs, {{"losses", constant(reached)}, {"seconds", constant(seconds)}});
}
}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    fmt::print(stderr, "usage: time_to_loss mlp|cnn THREADS INPUTS.npz OUTPUTS.npz (see program.py)\n");
    return 2;
  }
  try {
    config::set_intra_op_parallelism_threads(std::stoi(argv[2]));
    std::map<std::string, Tensor> given;
    for (const auto& [name, value] : io::load_npz(argv[3])) given[name] = value;
    train(argv[1], std::move(given), argv[4]);
  } catch (const std::exception& e) {
    fmt::print(stderr, "time_to_loss: {}\n", e.what());
    return 1;
  }
}
