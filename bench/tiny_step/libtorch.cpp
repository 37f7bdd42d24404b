// The tiny training step in LibTorch.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::tiny;
using bench::torch_normal;

struct Model {
  torch::nn::Linear first{inputs, hidden}, second{hidden, 1};
  torch::nn::Sequential net;
  std::unique_ptr<torch::optim::SGD> sgd;
  at::Tensor x = torch_normal({batch, inputs}, input_seed), y = torch_normal({batch, 1}, target_seed);

  Model() {
    const torch::NoGradGuard guard;
    first->weight.copy_(torch_normal({inputs, hidden}, kernel_1_seed).t());
    second->weight.copy_(torch_normal({hidden, 1}, kernel_2_seed).t());
    first->bias.zero_();
    second->bias.zero_();
    net = torch::nn::Sequential(first, torch::nn::Tanh(), second);
    sgd = std::make_unique<torch::optim::SGD>(net->parameters(), learning_rate);
  }

  at::Tensor step() {
    sgd->zero_grad();
    const at::Tensor loss = torch::nn::functional::mse_loss(net->forward(x), y);
    loss.backward();
    sgd->step();
    return loss;
  }
};

[[maybe_unused]] const bool added = bench::add(
    name, [] { return bench::training([model = std::make_shared<Model>()] { return model->step(); }, checked_steps); });
}  // namespace
