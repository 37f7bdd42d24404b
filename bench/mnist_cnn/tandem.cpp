// A training step of the MNIST CNN in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::mnist_cnn;
using tandem::Tensor;
namespace layers = tandem::layers;

struct Model {
  layers::Sequential net{layers::Conv2D(channels[1], window, tandem::nn::relu, {.padding = tandem::Padding::same}),
                         layers::MaxPooling2D(),
                         layers::Conv2D(channels[2], window, tandem::nn::relu, {.padding = tandem::Padding::same}),
                         layers::MaxPooling2D(),
                         layers::Flatten(),
                         layers::Dense(hidden, tandem::nn::relu),
                         layers::Dense(classes)};
  tandem::optimizers::Adam adam{{.learning_rate = learning_rate, .epsilon = epsilon}};
  Tensor x = bench::tandem_normal({batch, size, size, channels[0]}, input_seed);
  Tensor y = bench::tandem_indices({batch}, classes, label_seed);
  std::vector<tandem::Variable> weights;

  Model() {
    net.build({batch, size, size, channels[0]});
    weights = net.trainable_variables();
    const std::vector<float> kernels[] = {filter(0), filter(1), hidden_kernel(), output_kernel()};
    for (std::size_t i = 0; i < 4; ++i) weights[2 * i].assign(bench::tandem_from(kernels[i], weights[2 * i].shape()));
  }
  Tensor step(const Tensor& in, const Tensor& labels) {
    tandem::GradientTape tape;
    const Tensor loss = tandem::reduce_mean(tandem::nn::sparse_softmax_cross_entropy_with_logits(labels, net(in)));
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  }
};

[[maybe_unused]] const bool added = bench::add_training<Model>(name, checked_steps, "mnist_cnn");
}  // namespace
