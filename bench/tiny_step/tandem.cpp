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
    second(first(x));  // creates the Variables
    for (const auto& layer : {first, second}) {
      const auto variables = layer.trainable_variables();
      weights.insert(weights.end(), variables.begin(), variables.end());
    }
    first.variables_by_name("kernel")[0].assign(tandem_normal({inputs, hidden}, kernel_1_seed));
    second.variables_by_name("kernel")[0].assign(tandem_normal({hidden, 1}, kernel_2_seed));
  }

  Tensor step(const Tensor& in, const Tensor& wanted) {
    tandem::GradientTape tape;
    const Tensor loss = tandem::reduce_mean(tandem::square(second(first(in)) - wanted));
    sgd.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  }
};

[[maybe_unused]] const bool added = bench::add_training<Model>(name, checked_steps, "tiny_step");
}  // namespace
