// A training step of the transformer block in LibTorch.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::transformer;

struct Model {
  torch::nn::Linear dense[4] = {nullptr, nullptr, nullptr, nullptr};
  torch::nn::LayerNorm norm[2] = {nullptr, nullptr};
  torch::nn::Sequential all;
  std::unique_ptr<torch::optim::AdamW> adam;
  at::Tensor x = bench::torch_normal({batch, tokens, width}, input_seed);

  Model() {
    const torch::NoGradGuard guard;
    for (int i = 0; i < 4; ++i) {
      dense[i] = torch::nn::Linear(shapes[i][0], shapes[i][1]);
      std::vector<float> w = kernel(i);
      dense[i]->weight.copy_(torch::from_blob(w.data(), {shapes[i][0], shapes[i][1]}).t());
      dense[i]->bias.zero_();
      all->push_back(dense[i]);
    }
    for (auto& n : norm) {
      n = torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(norm_epsilon));
      all->push_back(n);
    }
    adam = std::make_unique<torch::optim::AdamW>(
        all->parameters(), torch::optim::AdamWOptions(learning_rate).eps(epsilon).weight_decay(decay));
  }
  at::Tensor attention(const at::Tensor& in) {
    const auto split = dense[0](in).view({batch, tokens, 3, heads, width / heads}).permute({2, 0, 3, 1, 4});
    const at::Tensor mixed = at::scaled_dot_product_attention(split[0], split[1], split[2]);
    return dense[1](mixed.transpose(1, 2).reshape({batch, tokens, width}));
  }
  at::Tensor step() {
    adam->zero_grad();
    at::Tensor h = x + attention(norm[0](x));
    h = h + dense[3](torch::gelu(dense[2](norm[1](h))));
    const at::Tensor loss = h.square().mean();
    loss.backward();
    adam->step();
    return loss;
  }
};

[[maybe_unused]] const bool added = bench::add(
    name, [] { return bench::training([model = std::make_shared<Model>()] { return model->step(); }, checked_steps); });
}  // namespace
