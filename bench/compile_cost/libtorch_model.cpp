// Measures the cost of compiling a small model and its training step in LibTorch.
#include <torch/torch.h>

#include <cstdio>

int main() {
  torch::nn::Sequential model(torch::nn::Linear(2, 8), torch::nn::Tanh(), torch::nn::Linear(8, 1));
  torch::optim::Adam adam(model->parameters(), 1e-2);
  const at::Tensor x = torch::randn({4, 2}), y = torch::randn({4, 1});
  for (int i = 0; i < 100; ++i) {
    adam.zero_grad();
    const at::Tensor loss = torch::nn::functional::mse_loss(model->forward(x), y);
    loss.backward();
    adam.step();
    if (i % 10 == 0) std::printf("%g\n", loss.item<float>());
  }
}
