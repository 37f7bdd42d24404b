// LSTM training in Tandem: the fused op over all steps, and (@cells) a loop over a cell made of elementary
// operations; each one eager and traced.
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

  Tensor outputs(const Tensor& in) const { return lstm.outputs(in); }
};

struct Cells : Layer {
  using Layer::Layer;
  Tensor outputs(const Tensor& in) const { return lstm.outputs_by_cells(in); }
};

/// The kernels' gradients.
std::vector<Tensor> of_kernels(const std::vector<tandem::Gradient>& gradients) {
  return {gradients[0].dense(), gradients[1].dense()};
}

template <class Model>
struct Training {
  Model model{bench::lstm::training};
  tandem::optimizers::Adam adam{{.learning_rate = bench::lstm::learning_rate, .epsilon = bench::lstm::epsilon}};

  std::vector<Tensor> step(const Tensor& x) {  // the loss and the kernels' gradients
    tandem::GradientTape tape;
    const Tensor loss = tandem::reduce_sum(model.outputs(x));
    const auto gradients = tape.gradient(loss, model.weights);
    adam.apply_gradients(gradients, model.weights);
    return {loss, gradients[0].dense(), gradients[1].dense()};
  }
};

/// The step and its argument.
template <class Model>
auto training() {
  const auto state = std::make_shared<Training<Model>>();
  return std::tuple([state](const Tensor& x) { return state->step(x); }, state->model.x);
}

template <class Model>
auto small() {
  const auto model = std::make_shared<Model>(bench::lstm::small);
  const auto step = [model](const Tensor& x) {
    tandem::GradientTape tape;
    return of_kernels(tape.gradient(tandem::reduce_sum(model->outputs(x)[-1]), model->weights));
  };
  return std::tuple(step, model->x);
}

template <class F>
bench::Work run(F f, const Tensor& x) {
  return bench::steps([=] { f(x); }, [=] { return bench::values_of(f(x)); });
}

/// The step, eager and as a traced function.
template <class Make>
void add(const std::string& name, const std::string& traced_name, Make make) {
  bench::add(name, [=] {
    const auto [f, x] = make();
    return run(f, x);
  });
  bench::add(traced_name, [=] {
    const auto [f, x] = make();
    return run(tandem::function(f), x);
  });
}

bool add_all() {
  const std::string training_name = bench::lstm::training.name, small_name = bench::lstm::small.name;
  add(training_name, training_name + "@traced", training<Layer>);
  add(training_name + "@cells", training_name + "@cells_traced", training<Cells>);
  add(small_name, small_name + "@traced", small<Layer>);
  add(small_name + "@cells", small_name + "@cells_traced", small<Cells>);
  return bench::add_trace_cost("trace_cost/lstm_step_cells", [] {
    const auto made = training<Cells>();
    std::apply([](const auto& f, const Tensor& x) { f(x); }, made);  // creates the optimizer's Variables
    return made;
  });
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
