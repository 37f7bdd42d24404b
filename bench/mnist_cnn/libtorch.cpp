// A training step of the MNIST CNN in LibTorch, with its channels-last memory format.
#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::mnist_cnn;

struct Model {
  torch::nn::Conv2d conv[2] = {nullptr, nullptr};
  torch::nn::Linear dense[2] = {nullptr, nullptr};
  torch::nn::Sequential all;
  std::unique_ptr<torch::optim::Adam> adam;
  at::Tensor x = bench::torch_normal({batch, size, size, channels[0]}, input_seed).permute({0, 3, 1, 2});
  at::Tensor y = bench::torch_indices({batch}, classes, label_seed);

  Model() {
    const torch::NoGradGuard guard;
    for (int i = 0; i < 2; ++i) {
      conv[i] = torch::nn::Conv2d(torch::nn::Conv2dOptions(channels[i], channels[i + 1], window).padding(window / 2));
      std::vector<float> w = filter(i);
      conv[i]->weight.set_data(torch::from_blob(w.data(), {window, window, channels[i], channels[i + 1]})
                                   .permute({3, 2, 0, 1})
                                   .clone(at::MemoryFormat::ChannelsLast));
      conv[i]->bias.zero_();
      all->push_back(conv[i]);
    }
    const std::int64_t widths[] = {flat, hidden, classes};
    std::vector<float> kernels[] = {hidden_kernel(), output_kernel()};
    for (int i = 0; i < 2; ++i) {
      dense[i] = torch::nn::Linear(widths[i], widths[i + 1]);
      dense[i]->weight.copy_(torch::from_blob(kernels[i].data(), {widths[i], widths[i + 1]}).t());
      dense[i]->bias.zero_();
      all->push_back(dense[i]);
    }
    adam =
        std::make_unique<torch::optim::Adam>(all->parameters(), torch::optim::AdamOptions(learning_rate).eps(epsilon));
  }
  at::Tensor step() {
    adam->zero_grad();
    at::Tensor h = torch::max_pool2d(torch::relu(conv[0](x)), 2);
    h = torch::max_pool2d(torch::relu(conv[1](h)), 2);
    h = h.permute({0, 2, 3, 1}).reshape({batch, flat});  // as the shared weights have it; a view in this format
    const at::Tensor loss = torch::nn::functional::cross_entropy(dense[1](torch::relu(dense[0](h))), y);
    loss.backward();
    adam->step();
    return loss;
  }
};

[[maybe_unused]] const bool added = bench::add(
    name, [] { return bench::training([model = std::make_shared<Model>()] { return model->step(); }, checked_steps); });
}  // namespace
