// Adam in LibTorch: its optimizer class, and (@fused) the fused kernel that its Python front end can choose.
#include <ATen/ops/_fused_adam.h>

#include "../support/libtorch.hpp"
#include "work.hpp"

namespace {
using namespace bench::adam;

std::vector<at::Tensor> parameters(const Case& c) {
  std::vector<at::Tensor> all;
  for (const std::int64_t n : c.parts()) {
    all.push_back(bench::torch_normal({n}, 1).requires_grad_());
    all.back().mutable_grad() = bench::torch_normal({n}, 2);
  }
  return all;
}

bench::Work optimizer_class(const Case& c) {
  const auto weights = parameters(c);
  auto optimizer = std::make_shared<torch::optim::Adam>(weights, torch::optim::AdamOptions(learning_rate).eps(epsilon));
  return bench::steps([optimizer] { optimizer->step(); },
                      [=] {
                        optimizer->step();
                        return bench::values_of(weights);
                      });
}

struct Fused {
  std::vector<at::Tensor> weights, gradients, first, second, largest, counts;

  explicit Fused(const Case& c) : weights(parameters(c)) {
    for (auto& w : weights) {
      gradients.push_back(w.grad());
      first.push_back(torch::zeros_like(w));
      second.push_back(torch::zeros_like(w));
      counts.push_back(torch::zeros({}));
    }
  }

  void step() {
    const torch::NoGradGuard guard;
    for (auto& count : counts) count.add_(1);
    at::_fused_adam_(weights, gradients, first, second, largest, counts, learning_rate, beta_1, beta_2, 0., epsilon,
                     false, false);
  }
};

bench::Work fused_kernel(const Case& c) {
  auto fused = std::make_shared<Fused>(c);
  return bench::steps([fused] { fused->step(); },
                      [fused] {
                        fused->step();
                        return bench::values_of(fused->weights);
                      });
}

bool add_all() {
  for (const Case& c : cases) {
    bench::add(c.name, [&c] { return optimizer_class(c); });
    bench::add(std::string(c.name) + "@fused", [&c] { return fused_kernel(c); });
  }
  return true;
}
[[maybe_unused]] const bool added = add_all();
}  // namespace
