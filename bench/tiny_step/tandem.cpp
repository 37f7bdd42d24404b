// The tiny training step in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::tiny;
using bench::tandem_normal;
using tandem::Tensor;

struct Model {
  tandem::layers::Dense first{hidden, {.activation = tandem::Activation::tanh}}, second{1};
  tandem::optimizers::SGD sgd{{.learning_rate = learning_rate}};
  Tensor x = tandem_normal({batch, inputs}, input_seed), y = tandem_normal({batch, 1}, target_seed);
  std::vector<tandem::Variable> weights;

  Model() {
    second(first(x));  // makes the Variables
    for (const auto& layer : {first, second}) {
      const auto variables = layer.trainable_variables();
      weights.insert(weights.end(), variables.begin(), variables.end());
    }
    first.variables_by_name("kernel")[0].assign(tandem_normal({inputs, hidden}, kernel_1_seed));
    second.variables_by_name("kernel")[0].assign(tandem_normal({hidden, 1}, kernel_2_seed));
  }

  Tensor step() {
    tandem::GradientTape tape;
    const Tensor loss = tandem::reduce_mean(tandem::square(second(first(x)) - y));
    sgd.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  }
};

bench::Work training_step() {
  auto model = std::make_shared<Model>();
  return bench::steps([model] { model->step(); },
                      [model] {
                        std::vector<float> losses;
                        for (int i = 0; i < checked_steps; ++i) losses.push_back(model->step().item<float>());
                        return losses;
                      });
}

[[maybe_unused]] const bool added = bench::add(name, training_step);
}  // namespace
