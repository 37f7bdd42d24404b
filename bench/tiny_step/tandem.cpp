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

  Tensor step(const Tensor& in, const Tensor& wanted) {
    tandem::GradientTape tape;
    const Tensor loss = tandem::reduce_mean(tandem::square(second(first(in)) - wanted));
    sgd.apply_gradients(tape.gradient(loss, weights), weights);
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
  return bench::add_trace_cost("trace_cost/tiny_step", [] {
    const auto model = std::make_shared<Model>();
    model->step(model->x, model->y);  // makes the optimizer's Variables
    return std::tuple(step_of(model), model->x, model->y);
  });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
