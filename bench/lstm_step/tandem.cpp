// LSTM training in Tandem: the fused op over all steps, and (@cells) a loop over a cell made of small operations.
#include "../support/tandem_lstm.hpp"
#include "work.hpp"

namespace {
using bench::tandem_from;
using bench::lstm::Case;
using tandem::Tensor;
using tandem::Variable;

struct Layer {
  bench::TandemLstm lstm;
  Tensor x;
  std::vector<Variable> weights;

  explicit Layer(const Case& c)
      : lstm{Variable(tandem_from(c.kernel(), {c.inputs, 4 * c.units})),
             Variable(tandem_from(c.recurrent(), {c.units, 4 * c.units})),
             Variable(tandem_from(c.bias(), {4 * c.units}))},
        x(tandem_from(c.x(), {c.steps, c.batch, c.inputs})),
        weights{lstm.kernel, lstm.recurrent, lstm.bias} {}

  Tensor outputs() const { return lstm.outputs(x); }
};

struct Cells : Layer {
  using Layer::Layer;
  Tensor outputs() const {
    tandem::nn::LstmState state = lstm.zero_state(x.shape()[1]);
    const Tensor kernel = lstm.kernel, recurrent = lstm.recurrent, bias = lstm.bias;
    std::vector<Tensor> all;
    for (std::int64_t t = 0; t < x.shape()[0]; ++t) {
      state = tandem::nn::lstm_cell(x[t], state, kernel, recurrent, bias);
      all.push_back(state.h);
    }
    return tandem::stack(all);
  }
};

/// The kernels' gradients.
std::vector<Tensor> of_kernels(const std::vector<tandem::Gradient>& gradients) {
  return {gradients[0].dense(), gradients[1].dense()};
}

template <class Model>
struct Training {
  Model model{bench::lstm::training};
  tandem::optimizers::Adam adam{{.learning_rate = bench::lstm::learning_rate, .epsilon = bench::lstm::epsilon}};

  std::vector<Tensor> step() {  // the loss and the kernels' gradients
    tandem::GradientTape tape;
    const Tensor loss = tandem::reduce_sum(model.outputs());
    const auto gradients = tape.gradient(loss, model.weights);
    adam.apply_gradients(gradients, model.weights);
    return {loss, gradients[0].dense(), gradients[1].dense()};
  }
};

template <class Model>
bench::Work training() {
  auto state = std::make_shared<Training<Model>>();
  return bench::steps([state] { state->step(); }, [state] { return bench::values_of(state->step()); });
}

template <class Model>
bench::Work small() {
  auto model = std::make_shared<Model>(bench::lstm::small);
  const auto step = [model] {
    tandem::GradientTape tape;
    return of_kernels(tape.gradient(tandem::reduce_sum(model->outputs()[-1]), model->weights));
  };
  return bench::steps([step] { step(); }, [step] { return bench::values_of(step()); });
}

const std::string training_name = bench::lstm::training.name, small_name = bench::lstm::small.name;
[[maybe_unused]] const bool added[] = {
    bench::add(training_name, training<Layer>), bench::add(training_name + "@cells", training<Cells>),
    bench::add(small_name, small<Layer>), bench::add(small_name + "@cells", small<Cells>)};
}  // namespace
