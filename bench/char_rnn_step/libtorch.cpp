// A training step of the character RNN in LibTorch: its LSTM layer, and (@cells) a loop over cells made of
// elementary operations.
#include "../support/libtorch_lstm.hpp"
#include "work.hpp"

namespace {
using namespace bench::char_rnn;
using bench::torch_from;

at::Tensor kernel_of(int layer) { return torch_from(kernel(layer), {units, 4 * units}); }
at::Tensor recurrent_of(int layer) { return torch_from(recurrent(layer), {units, 4 * units}); }

struct Layers {
  at::Tensor embedding = torch_from(bench::char_rnn::embedding(), {symbols, units}).requires_grad_();
  torch::nn::LSTM lstm{torch::nn::LSTMOptions(units, units).num_layers(layers)};

  Layers() {
    for (int l = 0; l < layers; ++l)
      bench::set_lstm(lstm, "l" + std::to_string(l), kernel_of(l), recurrent_of(l), torch::zeros({4 * units}));
  }
  at::Tensor outputs(const at::Tensor& x) {
    return std::get<0>(lstm(torch::embedding(embedding, x))).view({-1, units});
  }
  std::vector<at::Tensor> parameters() {
    auto all = lstm->parameters();
    all.push_back(embedding);
    return all;
  }
};

struct Cells {
  at::Tensor embedding = torch_from(bench::char_rnn::embedding(), {symbols, units}).requires_grad_();
  std::vector<bench::TorchCell> cells;

  Cells() {
    for (int l = 0; l < layers; ++l) cells.emplace_back(kernel_of(l), recurrent_of(l), torch::zeros({4 * units}));
  }
  at::Tensor outputs(const at::Tensor& x) {
    const at::Tensor embedded = torch::embedding(embedding, x);
    std::vector<at::Tensor> h(layers, torch::zeros({batch, units})), c = h, all;
    for (std::int64_t t = 0; t < steps; ++t) {
      for (int l = 0; l < layers; ++l) cells[l](l == 0 ? embedded[t] : h[l - 1], h[l], c[l]);
      all.push_back(h.back());
    }
    return torch::cat(all, 0);
  }
  std::vector<at::Tensor> parameters() {
    std::vector<at::Tensor> all = {embedding};
    for (auto& cell : cells) all.insert(all.end(), {cell.kernel, cell.bias});
    return all;
  }
};

template <class Body>
struct Training {
  Body body;
  at::Tensor kernel = torch_from(output(), {units, symbols}).t().contiguous().requires_grad_(),
             bias = torch::zeros({symbols}).requires_grad_();
  at::Tensor x = bench::torch_indices({bench::char_rnn::steps, batch}, symbols, input_seed),
             y = bench::torch_indices({bench::char_rnn::steps, batch}, symbols, label_seed).view({-1});
  std::vector<at::Tensor> parameters = body.parameters();
  std::unique_ptr<torch::optim::Adam> adam;

  Training() {
    parameters.insert(parameters.end(), {kernel, bias});
    adam = std::make_unique<torch::optim::Adam>(parameters, torch::optim::AdamOptions(learning_rate).eps(epsilon));
  }

  at::Tensor step() {
    adam->zero_grad();
    const at::Tensor loss = torch::nn::functional::cross_entropy(torch::linear(body.outputs(x), kernel, bias), y);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(parameters, clip);
    adam->step();
    return loss;
  }
};

/// Compared: the first loss and the gradients of the embedding and the last layer (LibTorch's layer has two biases, so
/// later losses differ).
template <class Body>
bench::Work training() {
  auto state = std::make_shared<Training<Body>>();
  return bench::steps(
      [state] { state->step(); },
      [state] {
        return bench::values_of({state->step(), state->body.embedding.grad(), state->kernel.grad().t()});
      });
}

[[maybe_unused]] const bool added[] = {bench::add(name, training<Layers>),
                                       bench::add(std::string(name) + "@cells", training<Cells>)};
}  // namespace
