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
    forward(x);  // makes the Variables
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

/// `step` with the model that it trains.
template <class Step>
bench::Work training(std::shared_ptr<Model> model, Step step) {
  return bench::steps([model, step] { step(model->x, model->y); },
                      [model, step] {
                        std::vector<float> losses;
                        for (int i = 0; i < checked_steps; ++i)
                          losses.push_back(step(model->x, model->y).template item<float>());
                        return losses;
                      });
}

auto step_of(std::shared_ptr<Model> model) {
  return [model](const Tensor& x, const Tensor& y) { return model->step(x, y); };
}

bool add_all() {
  bench::add(name, [] {
    const auto model = std::make_shared<Model>();
    return training(model, step_of(model));
  });
  bench::add(std::string(name) + "@traced", [] {
    const auto model = std::make_shared<Model>();
    return training(model, tandem::function(step_of(model)));
  });
  return bench::add_trace_cost("trace_cost/mlp_step", [] {
    const auto model = std::make_shared<Model>();
    model->step(model->x, model->y);  // makes the optimizer's Variables
    return std::tuple(step_of(model), model->x, model->y);
  });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
