// A training step of the MLP in Tandem.
#include "../support/tandem.hpp"
#include "work.hpp"

namespace {
using namespace bench::mlp;
using tandem::Activation;
using tandem::Tensor;

struct Model {
  tandem::layers::Dense dense[layers] = {tandem::layers::Dense{widths[1], {.activation = Activation::relu}},
                                         tandem::layers::Dense{widths[2], {.activation = Activation::relu}},
                                         tandem::layers::Dense{widths[3]}};
  tandem::optimizers::Adam adam{{.learning_rate = learning_rate, .epsilon = epsilon}};
  Tensor x = bench::tandem_normal({batch, widths[0]}, input_seed);
  Tensor y = bench::tandem_indices({batch}, classes, label_seed);
  std::vector<tandem::Variable> weights;

  Model() {
    forward(x);  // creates the Variables
    for (int l = 0; l < layers; ++l) {
      const auto variables = dense[l].trainable_variables();
      weights.insert(weights.end(), variables.begin(), variables.end());
      const auto w = bench::mlp::weights(l);
      dense[l].variables_by_name("kernel")[0].assign(bench::tandem_from(w, {widths[l], widths[l + 1]}));
    }
  }

  Tensor forward(const Tensor& in) const { return dense[2](dense[1](dense[0](in))); }

  Tensor step(const Tensor& in, const Tensor& labels) {
    tandem::GradientTape tape;
    const Tensor loss = tandem::reduce_mean(tandem::nn::sparse_softmax_cross_entropy_with_logits(labels, forward(in)));
    adam.apply_gradients(tape.gradient(loss, weights), weights);
    return loss;
  }
};

[[maybe_unused]] const bool added = bench::add_training<Model>(name, checked_steps, "mlp_step");
}  // namespace
