// LSTM training in LibTorch: its layer, and (@cells) a loop over a cell made of elementary operations. The small
// case is the loop; its @layer variant is the layer.
#include "../support/libtorch_lstm.hpp"
#include "work.hpp"

namespace {
using bench::torch_from;
using bench::lstm::Case;

struct Weights {
  at::Tensor kernel, recurrent, bias, x;
  explicit Weights(const Case& c)
      : kernel(torch_from(c.kernel(), {c.inputs, 4 * c.units})),
        recurrent(torch_from(c.recurrent(), {c.units, 4 * c.units})),
        bias(torch_from(c.bias(), {4 * c.units})),
        x(torch_from(c.x(), {c.steps, c.batch, c.inputs})) {}
};

struct Layer {
  torch::nn::LSTM lstm;
  at::Tensor x;
  explicit Layer(const Case& c) : lstm(c.inputs, c.units) {
    const Weights w(c);
    bench::set_lstm(lstm, "l0", w.kernel, w.recurrent, w.bias);
    x = w.x;
  }
  at::Tensor outputs() { return std::get<0>(lstm(x)); }
  std::vector<at::Tensor> parameters() { return lstm->parameters(); }
  std::vector<at::Tensor> gradients() {  // of the kernels, as [in, 4 units]
    auto p = lstm->named_parameters();
    return {p["weight_ih_l0"].grad().t(), p["weight_hh_l0"].grad().t()};
  }
};

struct Cells {
  Case shape;
  bench::TorchCell cell;
  at::Tensor x;
  explicit Cells(const Case& c) : Cells(c, Weights(c)) {}
  Cells(const Case& c, const Weights& w) : shape(c), cell(w.kernel, w.recurrent, w.bias), x(w.x) {}

  at::Tensor outputs() {
    at::Tensor h = torch::zeros({shape.batch, shape.units}), c = torch::zeros({shape.batch, shape.units});
    std::vector<at::Tensor> all;
    for (std::int64_t t = 0; t < shape.steps; ++t) {
      cell(x[t], h, c);
      all.push_back(h);
    }
    return torch::stack(all);
  }
  std::vector<at::Tensor> parameters() { return {cell.kernel, cell.bias}; }
  std::vector<at::Tensor> gradients() {
    const at::Tensor g = cell.kernel.grad();
    return {g.slice(0, 0, shape.inputs), g.slice(0, shape.inputs)};
  }
};

template <class Model>
struct Training {
  Model model;
  torch::optim::Adam adam;
  explicit Training(const Case& c)
      : model(c),
        adam(model.parameters(), torch::optim::AdamOptions(bench::lstm::learning_rate).eps(bench::lstm::epsilon)) {}

  at::Tensor step() {
    adam.zero_grad();
    const at::Tensor loss = model.outputs().sum();
    loss.backward();
    adam.step();
    return loss;
  }
};

template <class Model>
bench::Work training() {
  auto state = std::make_shared<Training<Model>>(bench::lstm::training);
  return bench::steps([state] { state->step(); },
                      [state] {
                        std::vector<at::Tensor> compared = {state->step()};
                        for (auto& g : state->model.gradients()) compared.push_back(g);
                        return bench::values_of(compared);
                      });
}

template <class Model>
bench::Work small() {
  auto model = std::make_shared<Model>(bench::lstm::small);
  const auto step = [model] {
    for (auto& p : model->parameters()) p.mutable_grad().reset();
    model->outputs()[-1].sum().backward();
  };
  return bench::steps(step, [=] {
    step();
    return bench::values_of(model->gradients());
  });
}

const std::string training_name = bench::lstm::training.name, small_name = bench::lstm::small.name;
[[maybe_unused]] const bool added[] = {
    bench::add(training_name, training<Layer>), bench::add(training_name + "@cells", training<Cells>),
    bench::add(small_name, small<Cells>), bench::add(small_name + "@layer", small<Layer>)};
}  // namespace
