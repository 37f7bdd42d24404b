// A training step of the MLP in LibTorch.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::mlp;

struct Model {
  torch::nn::Sequential net;
  std::unique_ptr<torch::optim::Adam> adam;
  at::Tensor x = bench::torch_normal({batch, widths[0]}, input_seed);
  at::Tensor y = bench::torch_indices({batch}, classes, label_seed);

  Model() {
    const torch::NoGradGuard guard;
    for (int l = 0; l < layers; ++l) {
      torch::nn::Linear linear(widths[l], widths[l + 1]);
      std::vector<float> w = weights(l);
      linear->weight.copy_(torch::from_blob(w.data(), {widths[l], widths[l + 1]}).t());
      linear->bias.zero_();
      net->push_back(linear);
      if (l + 1 < layers) net->push_back(torch::nn::ReLU());
    }
    adam =
        std::make_unique<torch::optim::Adam>(net->parameters(), torch::optim::AdamOptions(learning_rate).eps(epsilon));
  }

  at::Tensor step() {
    adam->zero_grad();
    const at::Tensor loss = torch::nn::functional::cross_entropy(net->forward(x), y);
    loss.backward();
    adam->step();
    return loss;
  }
};

[[maybe_unused]] const bool added = bench::add(
    name, [] { return bench::training([model = std::make_shared<Model>()] { return model->step(); }, checked_steps); });
}  // namespace
